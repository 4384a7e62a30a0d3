"""Turns obligations and licences into the identities that match them, and a finished run into what it discharges."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cfrc.model.contract import EffectGoal, Licence, Obligation, StateGoal
from cfrc.model.expr import Discharge, Expr, FluentRead, Var, walk
from cfrc.model.types import Type
from cfrc.model.values import Value
from tests.verify.brute.evaluate import Scene, canonical, ev
from tests.verify.brute.setting import Setting
from tests.verify.brute.state import Happening, Instance, State, Undefined

Receipts = Mapping[str, str]


def references(o: Obligation) -> set[str]:
    """The obligations whose receipts the obligation's goals read."""
    exprs: list[Expr] = [] if o.where is None else [o.where]
    for g in o.goals:
        exprs.extend([g.condition] if isinstance(g, StateGoal) else [a for a in g.args if a is not None])
    return {x.obligation for e in exprs for x in walk(e) if isinstance(x, Discharge)}


def true(e: Expr, scene: Scene) -> bool:
    """Whether the condition holds; an undefined one does not."""
    try:
        return bool(ev(e, scene))
    except Undefined:
        return False


def defined(e: Expr, scene: Scene) -> bool:
    """Whether the expression has a value."""
    try:
        ev(e, scene)
    except Undefined:
        return False
    return True


def bindings(
    z: Setting, args: Sequence[Expr | None], exists: Sequence[tuple[str, Type]], where: Expr | None,
    values: Sequence[Value], types: Sequence[Type], scene: Scene,
) -> bool:  # fmt: skip
    """Whether the values match the argument patterns, for some values of the existentials that satisfy ``where``."""
    found: dict[str, Value] = {}
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Var) and arg.kind == "exists" and found.setdefault(arg.name, value) != value:
            return False
    open_names = [(n, t) for n, t in exists if n not in found]
    for rest in itertools.product(*(z.universe.values(t) for _, t in open_names)):
        s = replace(scene, exists=found | dict(zip([n for n, _ in open_names], rest, strict=True)))
        try:
            same = all(a is None or canonical(ev(a, s), t) == v for a, v, t in zip(args, values, types, strict=True))
        except Undefined:
            continue
        if same and (where is None or true(where, s)):
            return True
    return False


def matches(z: Setting, o: Obligation, goal: EffectGoal, inst: Instance, state: State, receipts: Receipts) -> bool:
    """Whether the identity is one that the goal asks for, with these receipts of the obligations that it refers to."""
    if goal.effect != inst[0]:
        return False
    types = [t for _, t in z.domain.effects[goal.effect].params]
    return bindings(z, goal.args, o.exists, o.where, inst[1], types, z.scene(state, receipts=receipts))


def counting(z: Setting, state: State) -> list[Happening]:
    """The receipts' identities that can discharge something: not in K, still alive."""
    return [h for h in state.happened if h.alive and h.identity not in z.kept]


def dischargers(z: Setting, o: Obligation, state: State) -> Iterator[Happening]:
    """The happenings that realize the obligation, for some receipts of those that it refers to."""
    for h in counting(z, state):
        for receipts in choices(z, references(o), state):
            if any(isinstance(g, EffectGoal) and matches(z, o, g, h.identity, state, receipts) for g in o.goals):
                yield h
                break


def choices(z: Setting, names: Iterable[str], state: State) -> Iterator[Receipts]:
    """All ways to pick a receipt for each of the obligations."""
    wanted = sorted(names)
    pools = [sorted({h.node for h in dischargers(z, z.obligations[n], state)}) for n in wanted]
    for nodes in itertools.product(*pools):
        yield dict(zip(wanted, nodes, strict=True))


def realized(z: Setting, o: Obligation, state: State) -> bool:
    """Whether the obligation is met in this state, seen alone."""
    met = sum(isinstance(g, StateGoal) and true(g.condition, z.scene(state)) for g in o.goals)
    found = list(dischargers(z, o, state))
    return met > 0 or len(separate(found) if o.count > 1 else found) >= o.count


def separate(happened: Sequence[Happening]) -> list[Happening]:
    """The separate occurrences: every cause, and a witness of what nothing else among them shows."""
    caused = [h for h in happened if h.how == "c"]
    seen = {h.identity for h in caused}
    out = list(caused)
    for h in happened:
        if h.how != "c" and h.identity not in seen:
            seen.add(h.identity)
            out.append(h)
    return out


def licensed(z: Setting, kind: str, inst: Instance, state: State) -> bool:
    """Whether scope S covers a ``cause``, an ``undo`` or a ``fluent`` write of the instance, seen before the step."""
    if z.contract.scope is not None:
        return any(_item(z, item, kind, inst, state) for item in z.contract.scope)
    return any(_tight(z, o, kind, inst, state) for o in z.contract.obligations)


def _item(z: Setting, item: Licence, kind: str, inst: Instance, state: State) -> bool:
    if item.kind != ("fluent" if kind == "fluent" else "effect") or item.name != inst[0]:
        return False
    params = (z.domain.fluents if kind == "fluent" else z.domain.effects)[inst[0]].params
    args = item.args or (None,) * len(params)
    refs = {x.obligation for a in (*args, item.where) if a is not None for x in walk(a) if isinstance(x, Discharge)}
    return any(
        bindings(z, args, item.exists, item.where, inst[1], [t for _, t in params], z.scene(state, receipts=r))
        for r in choices(z, refs, state)
    )


def _tight(z: Setting, o: Obligation, kind: str, inst: Instance, state: State) -> bool:
    for r in choices(z, references(o), state):
        for g in o.goals:
            if isinstance(g, EffectGoal):
                if kind == "cause" and matches(z, o, g, inst, state, r):
                    return True
            elif kind == "fluent":
                for read in walk(g.condition):
                    if isinstance(read, FluentRead) and read.fluent == inst[0]:
                        types = [t for _, t in z.domain.fluents[read.fluent].params]
                        if bindings(z, read.args, o.exists, None, inst[1], types, z.scene(state, receipts=r)):
                            return True
    return False


def assign(z: Setting, wanted: Sequence[Obligation], state: State, ordered: bool = False) -> bool:
    """Whether receipts can be assigned to all these obligations at once (state goals are judged apart).

    What refers to the receipt of an obligation that is not active has no value.
    ``ordered``: such that each ``a before b`` holds too.
    """
    names = {o.name for o in wanted} if ordered else set()
    todo = {o.name: o for o in wanted}
    stack = list(wanted)
    while stack:
        for r in (references(stack.pop()) & state.active) - set(todo):
            todo[r] = z.obligations[r]
            stack.append(z.obligations[r])
    rest: list[Obligation] = []
    while len(rest) < len(todo):
        done = {o.name for o in rest}
        rest.extend(o for o in todo.values() if o.name not in done and references(o) & set(todo) <= done)
    return _assign(z, rest, names, state, {}, frozenset(), {})


def in_order(z: Setting, names: set[str], chosen: Mapping[str, Sequence[Instance]], state: State) -> bool:
    """Whether each ``a before b`` of these obligations holds: a is realized no later than the step that realizes b.

    An identity is realized by the first step that causes or witnesses it, a state by the step that makes it true.
    """
    for a, b in ((o.name, b) for o in z.contract.obligations for b in o.before):
        if not {a, b} <= names:
            continue
        if chosen.get(b):
            at = min(_first(state, i) for i in chosen[b])
        else:
            rising = [n for n in range(1, len(state.steps)) if b in state.steps[n][1] - state.steps[n - 1][1]]
            if not rising:
                continue
            at = rising[0]
        if chosen.get(a):
            if max(_first(state, i) for i in chosen[a]) > at:
                return False
        elif a not in state.steps[at][1]:
            return False
    return True


def _first(state: State, inst: Instance) -> int:
    return next(n for n, (new, _) in enumerate(state.steps) if inst in new)


def holding(z: Setting, state: State) -> frozenset[str]:
    """The obligations of order constraints that a state goal of theirs meets in this state."""
    names = {n for o in z.contract.obligations for n in ((o.name, *o.before) if o.before else ())}
    return frozenset(
        n
        for n in names
        if any(isinstance(g, StateGoal) and true(g.condition, z.scene(state)) for g in z.obligations[n].goals)
    )


def _assign(
    z: Setting, rest: Sequence[Obligation], wanted: set[str], state: State, receipts: Receipts,
    taken: frozenset[Instance],
    chosen: Mapping[str, Sequence[Instance]],
) -> bool:  # fmt: skip
    if not rest:
        return not wanted or in_order(z, wanted, chosen, state)
    o, *others = rest
    if all(isinstance(g, StateGoal) for g in o.goals):
        return _assign(z, others, wanted, state, receipts, taken, chosen)
    if any(isinstance(g, StateGoal) and true(g.condition, z.scene(state)) for g in o.goals):
        return _assign(z, others, wanted, state, receipts, taken, chosen)
    distinct = bool(o.exists) and not o.shared
    pool = [
        (i, h)
        for i, h in enumerate(counting(z, state))
        if any(isinstance(g, EffectGoal) and matches(z, o, g, h.identity, state, receipts) for g in o.goals)
        and not (distinct and h.identity in taken)
    ]
    if o.count > 1:
        apart = separate([h for _, h in pool])
        pool = [(i, h) for i, h in pool if any(h is a for a in apart)]
    for group in itertools.combinations(pool, o.count):
        ids = {h.identity for _, h in group}
        if distinct and len(ids) < o.count:
            continue
        now_taken = taken | ids if distinct else taken
        picked = {**chosen, o.name: tuple(ids)}
        if _assign(z, others, wanted, state, {**receipts, o.name: group[0][1].node}, now_taken, picked):
            return True
    return False
