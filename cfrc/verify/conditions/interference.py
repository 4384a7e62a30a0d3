"""Turns footprints into conditions: two unordered calls that may both run are independent.

``semantics.md`` §4, *Independence*. When all such pairs are independent, every linearization of a branch has the same
receipts and final state (order collapse), which is what makes checking one linearization enough. Literal instances are
compared cell by cell in linear time when they are ordered; only unordered symbolic pairs become formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.verify.condition import Condition, spans
from cfrc.verify.conditions.preservation import project
from cfrc.verify.frame import Key
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance, match
from cfrc.verify.shapes import equal, leaves, literal
from cfrc.verify.state import Write
from cfrc.verify.terms import Term


@dataclass(frozen=True, slots=True)
class Item:
    """One footprint item: ``mode`` is ``read``, ``set``, ``cause``, ``undo``, ``witness``; ``cond`` when it is
    touched."""

    symbol: str
    args: tuple[Key | None, ...]
    mode: str
    pos: int
    cond: Term
    write: Write | None = None


def conditions(paths: Paths) -> Iterator[Condition]:
    seen: set[tuple[int, int, int]] = set()
    for first, second in _undeclared_pairs(paths):
        both = paths.terms.and_(paths.runs[first].called, paths.runs[second].called)
        yield _condition(paths, first, second, both, "a tool without declared effects is independent of nothing")
    for a, b in _pairs(paths):
        bad = _conflict(paths, a, b)
        key = (min(a.pos, b.pos), max(a.pos, b.pos), bad.id)
        if bad is not paths.terms.false and key not in seen:
            seen.add(key)
            yield _condition(paths, key[0], key[1], bad, f"both touch `{a.symbol}` and one writes it")


def _undeclared_pairs(paths: Paths) -> Iterator[tuple[int, int]]:
    for run in paths.runs:
        if run.tool is not None and run.tool.undeclared:
            for other in paths.runs:
                later_twin = other.tool is not None and other.tool.undeclared and other.pos < run.pos
                if other.pos != run.pos and not later_twin and not paths.order.ordered(run.pos, other.pos):
                    yield min(run.pos, other.pos), max(run.pos, other.pos)


def _items(paths: Paths) -> Iterator[Item]:
    t = paths.terms
    constrained = {b: o for o in paths.contract.obligations for b in o.before}
    for run in paths.runs:
        for r in dict.fromkeys((r.fluent, r.key) for r in run.reads):
            yield Item(r[0], (r[1],), "read", run.pos, run.called)
        for w in run.writes:
            yield Item(w.fluent, (w.key,), "set", run.pos, w.cond, w)
        kinds = ((run.causes, "cause"), (run.undoes, "undo"), (run.witnesses, "witness"), (run.refutes, "read"))
        for instances, mode in kinds:
            for i in instances:
                yield Item(i.effect, i.args, mode, run.pos, t.and_(run.called, i.cond), None)
        if constrained:
            yield from _order_reads(paths, run.pos, (*run.causes, *run.witnesses))


def _order_reads(paths: Paths, pos: int, instances: tuple[Instance, ...]) -> Iterator[Item]:
    """A call that may realize the later side of an ``a before b`` reads whether the earlier side is realized."""
    by_name = {o.name: o for o in paths.contract.obligations}
    touched = {i.effect for i in instances}
    for earlier in paths.contract.obligations:
        for later in earlier.before:
            if later in by_name and _effects(by_name[later]) & touched:
                for goal in earlier.goals:
                    cond = paths.terms.or_(*(i.cond for i in instances if i.effect in _effects(by_name[later])))
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


def _pairs(paths: Paths) -> Iterator[tuple[Item, Item]]:
    """Unordered pairs that may touch the same instance, one of them writing."""
    cells: dict[tuple[str, tuple[Key | None, ...]], list[Item]] = defaultdict(list)
    ground: dict[str, list[Item]] = defaultdict(list)
    symbolic: dict[str, list[Item]] = defaultdict(list)
    for item in _items(paths):
        effect = paths.domain.effects.get(item.symbol)
        key = project(paths, item.symbol, item.args) if effect is not None and effect.once else item.args
        if all(a is not None and all(t.ground for t in a) for a in key):
            cells[item.symbol, key].append(item)
            ground[item.symbol].append(item)
        else:
            symbolic[item.symbol].append(item)
    for items in cells.values():
        if len(items) > 1:
            yield from _cell_pairs(paths, items)
    for symbol, items in symbolic.items():
        for n, a in enumerate(items):
            for b in (*ground[symbol], *items[:n]):
                if a.pos != b.pos and _writing(a, b) and not paths.order.ordered(a.pos, b.pos):
                    yield a, b


def _writing(a: Item, b: Item) -> bool:
    return a.mode != "read" or b.mode != "read"


def _cell_pairs(paths: Paths, items: list[Item]) -> Iterator[tuple[Item, Item]]:
    """Linear when each access is ordered after the last write and the reads since; all pairs otherwise."""
    items = sorted(items, key=lambda i: i.pos)
    last: Item | None = None
    reads: list[Item] = []
    for item in items:
        against = [*([last] if last is not None else []), *(reads if item.mode != "read" else [])]
        if any(o.pos != item.pos and not paths.order.anc[item.pos] >> o.pos & 1 for o in against):
            break
        if item.mode == "read":
            reads.append(item)
        else:
            last, reads = item, []
    else:
        return
    for i, a in enumerate(items):
        for b in items[i + 1 :]:
            if a.pos != b.pos and _writing(a, b) and not paths.order.ordered(a.pos, b.pos):
                yield a, b


def _conflict(paths: Paths, a: Item, b: Item) -> Term:
    """Whether both are touched, name the same instance, and their order could matter."""
    t = paths.terms
    left, right = a.args, b.args
    modes = {a.mode, b.mode}
    if modes == {"cause"}:
        if not paths.domain.effects[a.symbol].once:
            return t.false
        left, right = project(paths, a.symbol, left), project(paths, a.symbol, right)
    if modes in ({"witness"}, {"undo"}):
        return t.false  # both leave the instance in the same state: equal sets
    both = t.and_(a.cond, b.cond, match(t, left, right))
    if both is t.false:
        return both
    if modes == {"set"}:
        assert a.write is not None and b.write is not None
        if a.write.delta and b.write.delta:
            return t.false
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
