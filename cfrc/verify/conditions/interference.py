"""Turns footprints into conditions: two unordered calls that may both run are independent.

``docs/semantics.md`` §4, *Independence*. When all such pairs are independent, every linearization of a branch has the
same receipts and final state (order collapse), which is what makes checking one linearization enough. Literal
instances are compared cell by cell, in linear time when they are ordered; only unordered pairs become formulas, and of
a large group of like pairs no more are asked once one is refuted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.verify.assignment import Assignments
from cfrc.verify.condition import Condition, Conditions, few, positions, spans
from cfrc.verify.conditions.preservation import project
from cfrc.verify.frame import Key
from cfrc.verify.paths import Paths
from cfrc.verify.receipts import receipt_after
from cfrc.verify.runs import Instance, Run, match
from cfrc.verify.shapes import equal, leaves, literal
from cfrc.verify.state import Write
from cfrc.verify.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class Item:
    """One footprint item: ``mode`` is ``read``, ``set``, ``cause``, ``undo``, ``witness``, ``refute``; ``cond`` when it
    is touched."""

    symbol: str
    args: tuple[Key | None, ...]
    mode: str
    pos: int
    cond: Term
    write: Write | None = None


def conditions(paths: Paths) -> Conditions:
    seen: set[tuple[int, int, int]] = set()
    yield from few(
        lambda: _undeclared_pairs(paths),
        lambda first, second: _condition(
            paths, first, second, _both(paths, first, second, paths.terms.true),
            "a tool without declared effects is independent of nothing",
        ),
    )  # fmt: skip
    for meetings in _meetings(paths):
        yield from few(meetings, lambda a, b: _clash(paths, a, b, seen))


def _clash(paths: Paths, a: Item, b: Item, seen: set[tuple[int, int, int]]) -> Condition | None:
    bad = _conflict(paths, a, b)
    if bad is not paths.terms.false:
        bad = _both(paths, a.pos, b.pos, bad)
    key = (min(a.pos, b.pos), max(a.pos, b.pos), bad.id)
    if bad is paths.terms.false or key in seen:
        return None
    seen.add(key)
    return _condition(paths, key[0], key[1], bad, f"both touch `{a.symbol}` and one writes it")


def _both(paths: Paths, first: int, second: int, bad: Term) -> Term:
    """That both calls are made, the one after the other in some order."""
    t = paths.terms
    one, two = paths.runs[first], paths.runs[second]
    return t.and_(one.called, two.called, bad, t.or_(_then(paths, one, two), _then(paths, two, one)))


def _then(paths: Paths, one: Run, two: Run) -> Term:
    """That the run goes on after the first call (after a poll whatever ``until`` says), and what the second one then
    returns."""
    polled = one.call.until is not None and one.call.polls > 1
    cont = () if polled else one.cont
    return paths.terms.and_(*one.ready, *one.required, *one.base, *cont, *receipt_after(paths, two, one))


def _undeclared_pairs(paths: Paths) -> Iterator[tuple[int, int]]:
    opaque = [r.tool is not None and r.tool.undeclared for r in paths.runs]
    mask = 0
    for pos, own in enumerate(opaque):
        met = ((1 << pos) - 1 if own else mask) & ~paths.order.anc[pos]
        yield from ((other, pos) for other in positions(met))
        mask |= own << pos


def _items(paths: Paths) -> Iterator[Item]:
    t = paths.terms
    constrained = any(o.before for o in paths.contract.obligations)
    active = Assignments(paths).active
    for run in paths.runs:
        for fluent, key, cond in dict.fromkeys((r.fluent, r.key, r.cond or run.happened) for r in run.reads):
            yield Item(fluent, (key,), "read", run.pos, cond)
        for w in run.writes:
            yield Item(w.fluent, (w.key,), "set", run.pos, w.cond, w)
        kinds = ((run.causes, "cause"), (run.undoes, "undo"), (run.witnesses, "witness"), (run.refutes, "refute"))
        for instances, mode in kinds:
            for i in instances:
                yield Item(i.effect, i.args, mode, run.pos, t.and_(run.called, i.cond), None)
        if constrained:
            yield from _order_reads(paths, active, run.pos, (*run.causes, *run.witnesses))


def _order_reads(
    paths: Paths, active: Callable[[Obligation], Term], pos: int, instances: tuple[Instance, ...]
) -> Iterator[Item]:
    """A call that may realize the later side of an ``a before b`` reads whether the earlier side is realized, where
    both are owed at all."""
    by_name = {o.name: o for o in paths.contract.obligations}
    touched = {i.effect for i in instances}
    for earlier in paths.contract.obligations:
        for later in earlier.before:
            if later in by_name and _effects(by_name[later]) & touched:
                for goal in earlier.goals:
                    realized = (i.cond for i in instances if i.effect in _effects(by_name[later]))
                    cond = paths.terms.and_(paths.terms.or_(*realized), active(earlier), active(by_name[later]))
                    if isinstance(goal, StateGoal):
                        for fluent in sorted(
                            {x.fluent for x in ex.walk(goal.condition) if isinstance(x, ex.FluentRead)}
                        ):
                            yield Item(fluent, (None,), "read", pos, cond)
                    if isinstance(goal, EffectGoal):
                        args = tuple(
                            tuple(leaves(paths.terms, literal(paths.terms, a.value, a.type)))
                            if isinstance(a, ex.Lit) else None
                            for a in goal.args
                        )  # fmt: skip
                        yield Item(goal.effect, args, "read", pos, cond)


def _effects(o: Obligation) -> set[str]:
    return {g.effect for g in o.goals if isinstance(g, EffectGoal)}


def _meetings(paths: Paths) -> Iterator[Callable[[], Iterator[tuple[Item, Item]]]]:
    """Unordered pairs that may touch the same instance so that the order matters: a group for every literal instance,
    and one for every symbol's instances that are not literal."""
    cells: dict[tuple[str, tuple[Key | None, ...]], list[tuple[Item, bool]]] = defaultdict(list)
    every: dict[str, list[tuple[Item, bool]]] = defaultdict(list)
    symbolic: set[str] = set()
    for item in _items(paths):
        effect = paths.domain.effects.get(item.symbol)
        key = project(paths, item.symbol, item.args) if effect is not None and effect.once else item.args
        ground = all(a is not None and all(t.ground for t in a) for a in key)
        if ground:
            cells[item.symbol, key].append((item, False))
        else:
            symbolic.add(item.symbol)
        every[item.symbol].append((item, not ground))
    for items in cells.values():
        if len(items) > 1:
            yield partial(_met, paths, items, True)
    for symbol in every:
        if symbol in symbolic:
            yield partial(_met, paths, every[symbol], False)


def _met(paths: Paths, items: list[tuple[Item, bool]], literal_too: bool) -> Iterator[tuple[Item, Item]]:
    """Each item with the earlier ones that it may clash with. Items of ordered calls cost nothing. Unless
    ``literal_too``, one of the two is marked as not literal."""
    once = {n for n, e in paths.domain.effects.items() if e.once}
    marked, plain = Touched(paths.terms), Touched(paths.terms)
    for item, mark in items:
        others = (marked, plain) if mark or literal_too else (marked,)
        free = ~(paths.order.anc[item.pos] | 1 << item.pos)
        for known in others:
            for p in positions(known.against(item, item.symbol in once) & free):
                yield from ((other, item) for other in known.items[p])
        (marked if mark else plain).add(item)


class Touched:
    """The items so far of some calls, by their manner: bitsets of positions."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.items: dict[int, list[Item]] = defaultdict(list)
        self._masks: dict[str, int] = defaultdict(int)
        self._equal: dict[tuple[int, ...], int] = defaultdict(int)
        self._sets: int = 0

    def add(self, item: Item) -> None:
        own = 1 << item.pos
        self.items[item.pos].append(item)
        self._masks[_manner(item)] |= own
        if _manner(item) == "set":
            value = self._value(item)
            if self._sets & own and not self._equal[value] & own:
                for known in self._equal:
                    self._equal[known] &= ~own  # two values: equal to no other call's
            else:
                self._equal[value] |= own
            self._sets |= own

    def against(self, item: Item, once: bool) -> int:
        """The calls that an item may clash with; two sets of one value never do."""
        manner = _manner(item)
        mask = 0
        for other in CLASHES[manner]:
            mask |= self._masks[other]
        if manner == "set":
            mask |= self._masks["set"] & ~self._equal.get(self._value(item), 0)
        if manner == "cause" and once:
            mask |= self._masks["cause"]
        return mask

    def _value(self, item: Item) -> tuple[int, ...]:
        assert item.write is not None
        return tuple([t.id for t in leaves(self.terms, item.write.value)])


CLASHES = {
    "read": ("set", "add", "cause", "undo", "witness"),
    "set": ("read", "add"),
    "add": ("read", "set"),
    "refute": ("cause", "undo"),
    "cause": ("read", "refute", "undo", "witness"),
    "undo": ("read", "refute", "cause", "witness"),
    "witness": ("read", "cause", "undo"),
}
"""The manners whose order matters. Increments commute, and so do two witnesses or two undoings; sets of one value and
causes of an effect that is not ``once`` are looked at more closely. What one receipt witnesses no other one refutes, in
either order (Res), unless one of them causes or undoes it as well."""


def _manner(item: Item) -> str:
    return "add" if item.write is not None and item.write.amount is not None else item.mode


def _conflict(paths: Paths, a: Item, b: Item) -> Term:
    """Whether both are touched, name the same instance, and their order could matter."""
    t = paths.terms
    left, right = a.args, b.args
    modes = {a.mode, b.mode}
    if b.mode not in ("set", "cause") and b.mode not in CLASHES[a.mode]:
        return t.false
    if modes == {"cause"}:
        if not paths.domain.effects[a.symbol].once:
            return t.false
        left, right = project(paths, a.symbol, left), project(paths, a.symbol, right)
    both = t.and_(a.cond, b.cond, match(t, left, right))
    if both is t.false:
        return both
    if modes == {"set"}:
        assert a.write is not None and b.write is not None
        if a.write.amount is not None and b.write.amount is not None:
            return t.false
        if a.write.amount is not None or b.write.amount is not None:
            return both  # an increment adds to what the other one has set, or is lost
        return t.and_(both, t.not_(equal(t, a.write.value, b.write.value)))
    if modes == {"set", "read"}:
        w = a.write if a.write is not None else b.write
        assert w is not None
        held = paths.world.read(w.fluent, w.args, paths.order.anc[w.pos], w.pos)
        return t.and_(both, t.not_(equal(t, held, w.value)))  # a set to the value already held is a read
    return both


def _condition(paths: Paths, first: int, second: int, bad: Term, why: str) -> Condition:
    one, two = paths.runs[first].call, paths.runs[second].call
    return Condition(
        kind="preservation",
        code="PRS007",
        bad=bad,
        message=f"`{one.id}` and `{two.id}` are not ordered and not independent: {why}",
        help=f"order them, for example `after {one.id}` on `{two.id}`",
        mask=paths.order.anc[first] | paths.order.anc[second],
        returned=1 << first | 1 << second,
        step=second,
        node=two.id,
        where=two.span,
        clauses=spans((f"`{one.id}`", one.span)),
        others=(one.id,),
    )
