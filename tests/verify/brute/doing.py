"""Turns a call and the result it returned into the state after it, and into what the step violates (semantics §2, §3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cfrc.model.domain import EffectClause, FluentClause, Tool
from cfrc.model.expr import Expr, Lit
from cfrc.model.graph import Call
from cfrc.model.types import Type
from cfrc.model.values import Value
from tests.verify.brute.evaluate import Scene, canonical, ev, force, raw
from tests.verify.brute.feet import ANY, Footprint, covers, increment, independent, read_instances
from tests.verify.brute.goals import choices, holding, licensed, matches, references
from tests.verify.brute.setting import Setting
from tests.verify.brute.state import Happening, Instance, Raw, Slot, State

Finding = tuple[str, str]


class Illegal(Exception):
    """The result is not one that the domain allows (outside Res)."""


@dataclass(slots=True)
class Step:
    """One attempt to carry out a call: the state before, what the call sees, and what it does."""

    z: Setting
    call: Call
    tool: Tool
    pre: State
    scene: Scene
    found: set[Finding]
    undoes: list[Instance] = field(default_factory=list)
    causes: list[Instance] = field(default_factory=list)
    sets: list[tuple[Instance, str, Value, Value]] = field(default_factory=list)
    witnesses: list[Instance] = field(default_factory=list)
    refutes: list[Instance] = field(default_factory=list)
    observes: list[tuple[Instance, Expr]] = field(default_factory=list)
    reads: set[Instance] = field(default_factory=set)
    pins: list[tuple[Instance, Raw]] = field(default_factory=list)


def filled(step: Step) -> dict[str, Value]:
    return {n: force(v) for n, v in step.scene.params.items()}


def full_args(z: Setting, tool: str, args: Iterable[tuple[str, Value]]) -> frozenset[tuple[str, Value]]:
    """Arguments of a recorded call in canonical form, with defaults filled in."""
    values = dict(args)
    found: dict[str, Value] = {}
    for p in z.domain.tools[tool].params:
        if p.name in values:
            found[p.name] = canonical(values[p.name], p.type)
        elif isinstance(p.default, Lit):
            found[p.name] = canonical(p.default.value, p.type)
    return frozenset(found.items())


def instances(clause: EffectClause, scene: Scene) -> list[Instance]:
    """The instance of a clause whose condition holds (``ANY`` in place of ``_``)."""
    if clause.when is not None and not ev(clause.when, scene):
        return []
    types = [t for _, t in scene.domain.effects[clause.effect].params]
    args = (ANY if a is None else canonical(ev(a, scene), t) for a, t in zip(clause.args, types, strict=True))
    return [(clause.effect, tuple(args))]


def carry_out(step: Step) -> State:
    """Reads the clauses in the pre-state, then undoes, causes, sets, and lets observations hold in the post-state."""
    _clauses(step)
    _consistent(step)
    after = step.pre.copy()
    _undo(step, after)
    _cause(step, after)
    _set(step, after)
    _witness(step, after)
    _observe(step, after)
    _limits(step, after)
    _before(step, after)
    _scope(step)
    return after


def _clauses(step: Step) -> None:
    t, scene = step.tool, step.scene
    effects = (
        (t.undoes, step.undoes),
        (t.causes, step.causes),
        (t.witnesses, step.witnesses),
        (t.refutes, step.refutes),
    )
    for clauses, into in effects:
        for c in clauses:
            step.reads.update(read_instances(c.when, scene))
            found = instances(c, scene)
            into.extend(found)
            for a in c.args if found else ():
                step.reads.update(read_instances(a, scene))
    for s in t.sets:
        step.reads.update(read_instances(s.when, scene))
        if s.when is None or ev(s.when, scene):
            step.sets.append(_write(step, s))
    for o in t.observes:
        step.reads.update(read_instances(o.when, scene))
        if o.when is None or ev(o.when, scene):
            types = [p for _, p in scene.domain.fluents[o.fluent].params]
            inst = o.fluent, tuple(canonical(ev(a, scene), p) for a, p in zip(o.args, types, strict=True))
            step.reads.add(inst)
            step.observes.append((inst, o.value))
    for r in (*t.requires, t.approved):
        step.reads.update(read_instances(r, scene))


def _write(step: Step, clause: FluentClause) -> tuple[Instance, str, Value, Value]:
    """What the clause writes: instance, manner, what the footprint shows of it, and the new value."""
    scene = step.scene
    decl = scene.domain.fluents[clause.fluent]
    args = tuple(canonical(ev(a, scene), p) for a, (_, p) in zip(clause.args, decl.params, strict=True))
    for a in clause.args:
        step.reads.update(read_instances(a, scene))
    value = canonical(ev(clause.value, scene), decl.type)
    amount = increment(clause)
    if amount is not None:
        step.reads.update(read_instances(amount, scene))
        return (clause.fluent, args), "inc", ev(amount, scene), value
    step.reads.update(read_instances(clause.value, scene))
    # Whether the value is held already matters to calls that are not ordered with this one, and to nothing else.
    if step.z.unordered[step.call.id] and force(scene.fluent((clause.fluent, args))) == value:
        return (clause.fluent, args), "same", value, value
    return (clause.fluent, args), "set", value, value


def _consistent(step: Step) -> None:
    """Res, second part: not witnessing what was refuted, nor refuting what is realized."""
    real = step.pre.realized() | step.z.kept
    out = step.pre.refuted
    if any(covers(p, w) for w in step.witnesses for p in (*out, *step.refutes)):
        raise Illegal
    if any(covers(p, i) for p in step.refutes for i in real):
        raise Illegal


def _undo(step: Step, after: State) -> None:
    z = step.z
    for p in step.undoes:
        if any(covers(p, k) for k in z.kept):
            step.found.add(("preservation", "PRS003"))
        hit = [h for h in after.happened if covers(p, h.identity)]
        if any(z.domain.effects[h.effect].once and h.how == "c" and h.alive for h in hit):
            step.found.add(("preservation", "PRS004"))
        after.happened = _sorted(h._replace(alive=False) if h in hit else h for h in after.happened)


def _sorted(happened: Iterable[Happening]) -> tuple[Happening, ...]:
    return tuple(sorted(happened, key=repr))


def _cause(step: Step, after: State) -> None:
    for i in step.causes:
        _repeats(step, after, i)
        after.happened = _sorted((*after.happened, Happening(i[0], i[1], "c", step.call.id, True)))
        after.happened = _sorted(h._replace(alive=True) if h.identity == i else h for h in after.happened)
        after.refuted = frozenset(r for r in after.refuted if not covers(r, i))


def _repeats(step: Step, after: State, inst: Instance) -> None:
    z = step.z
    once = z.domain.effects[inst[0]].once
    key = z.key(inst)
    if inst in z.kept:
        step.found.add(("preservation", "PRS001"))
    if once and (key in z.kept_keys or any(z.key(h.identity) == key for h in after.happened)):
        step.found.add(("preservation", "PRS002"))
    mine = (step.tool.name, frozenset(filled(step).items())) if after.doubts else None
    for doubt, status, call in after.doubts:
        if status == "no" or not (doubt == inst or (once and z.key(doubt) == key)):
            continue
        if not (step.tool.idempotent and call == mine):
            step.found.add(("preservation", "PRS006"))


def _set(step: Step, after: State) -> None:
    for inst, _, _, new in step.sets:
        if inst in step.z.kept_facts and step.z.kept_facts[inst] != new:
            step.found.add(("preservation", "PRS005"))
        after.w[inst] = new


def _witness(step: Step, after: State) -> None:
    marks = {i: status for i, status, _ in after.doubts}
    for i in step.witnesses:
        after.happened = _sorted({*after.happened, Happening(i[0], i[1], "w", step.call.id, True)})
        after.happened = _sorted(h._replace(alive=True) if h.identity == i else h for h in after.happened)
        if i in marks:
            marks[i] = "yes"
    for p in step.refutes:
        after.refuted |= {p}
        for i in marks:
            if covers(p, i):
                marks[i] = "no"
    after.doubts = tuple((i, marks[i], c) for i, _, c in after.doubts)


def _observe(step: Step, after: State) -> None:
    """What is observed holds afterwards; two unknowns that are seen to be equal become one."""
    scene = replace(step.scene, state=after)
    for inst, source in step.observes:
        decl = step.z.domain.fluents[inst[0]]
        seen = raw(source, replace(step.scene, state=after))
        if not isinstance(seen, Slot):
            seen = canonical(seen, decl.type)
        if isinstance(seen, Slot) and seen.type != decl.type:
            seen = canonical(force(seen), decl.type)
        if decl.volatile and inst in after.w and inst not in {s[0] for s in step.sets}:
            after.w[inst] = seen  # Res: a volatile fluent may differ from what an earlier call saw
            continue
        there = scene.fluent(inst)
        if isinstance(there, Slot) and isinstance(seen, Slot):
            if there != seen:
                _link(after, inst, there, seen)
            if there.where[0] == "v":
                step.pins.append((inst, seen))
        elif isinstance(there, Slot) or isinstance(seen, Slot):
            slot, value = (there, seen) if isinstance(there, Slot) else (seen, there)
            assert isinstance(slot, Slot)
            new = after.assume(slot, value)  # type: ignore[arg-type]
            after.w, after.res, after.now, after.initial, after.log = new.w, new.res, new.now, new.initial, new.log
        elif there != seen:
            raise Illegal
        if inst in after.now:
            after.w[inst] = after.now[inst]
        elif inst not in after.w:
            after.w[inst] = seen


def _link(after: State, inst: Instance, there: Slot, seen: Slot) -> None:
    """Makes one slot of two: everything that held either now holds ``seen``."""
    after.rename(there, seen)
    if there.where[0] == "r" and after.polls[there.where[1]] == there.where[2]:
        after.res.setdefault((there.where[1], there.where[3]), seen)
    if there.where[0] == "f":
        after.w.setdefault(there.where[1], seen)
    after.w[inst] = seen


def _limits(step: Step, after: State) -> None:
    if exceeded(step.z, after, step.scene):
        step.found.add(("scope", "SCP004"))


def exceeded(z: Setting, state: State, scene: Scene) -> bool:
    """Whether some limit does not hold over K + U (not refuted) + what was caused so far."""
    for limit in z.contract.limits:
        instances = [*z.kept, *(i for i, s, _ in state.doubts if s != "no")]
        instances += [h.identity for h in state.happened if h.how == "c"]
        total: Value = 0
        for effect, args in instances:
            bound: dict[str, Value] = {}
            types = [t for _, t in z.domain.effects[effect].params]
            if effect == limit.effect and _fits(limit.params, args, types, bound, scene):
                amount = 1 if limit.amount is None else ev(limit.amount, replace(scene, bound=bound))
                total += amount  # type: ignore[operator]
        if total > limit.bound:  # type: ignore[operator]
            return True
    return False


def _fits(params: tuple[str | Expr | None, ...], args: tuple[Value, ...], types: list[Type],
          bound: dict[str, Value], scene: Scene) -> bool:  # fmt: skip
    for p, a, t in zip(params, args, types, strict=True):
        if isinstance(p, str):
            bound[p] = a
        elif p is not None and canonical(ev(p, scene), t) != a:
            return False
    return True


def _new(step: Step) -> list[Instance]:
    return [i for i in (*step.causes, *step.witnesses) if i not in step.z.kept]


def _meets(step: Step, name: str, instances: Iterable[Instance], state: State) -> bool:
    """Whether one of the identities is one that the obligation asks for."""
    o = step.z.obligations[name]
    return any(
        matches(step.z, o, g, i, state, r)
        for r in choices(step.z, references(o), state)
        for g in o.goals
        if not hasattr(g, "condition")
        for i in instances
    )


def _before(step: Step, after: State) -> None:
    """Notes what the step realizes, where the contract orders obligations."""
    if after.steps:
        earlier = {i for new, _ in after.steps for i in new}
        after.steps = (*after.steps, (frozenset(_new(step)) - earlier, holding(step.z, after)))


def _scope(step: Step) -> None:
    z = step.z
    before = step.pre
    causes = (licensed(z, "cause", i, before) for i in step.causes)
    if not all(causes) or not all(licensed(z, "undo", i, before) for i in step.undoes):
        step.found.add(("scope", "SCP001"))
    if any(not licensed(z, "fluent", i, before) for i, *_ in step.sets):
        step.found.add(("scope", "SCP002"))
    if step.tool.undeclared and not any(s.kind == "tool" and s.name == step.tool.name for s in z.contract.scope or ()):
        step.found.add(("scope", "SCP003"))


def compare(step: Step, after: State) -> None:
    """Compares the call with those that ran before it and are not ordered with it."""
    z, name = step.z, step.call.id
    mine = _footprint(step, after)
    once = {n: e.key for n, e in z.domain.effects.items() if e.once}
    for other, theirs in step.pre.feet.items():
        if other in z.unordered[name] and not independent(theirs, mine, once):
            step.found.add(("preservation", "PRS007"))
    if z.unordered[name]:
        after.feet[name] = mine


def _footprint(step: Step, after: State) -> Footprint:
    z = step.z
    ordered = [(o.name, b) for o in z.contract.obligations for b in o.before if {o.name, b} <= after.active]
    touched = [*_new(step), *step.undoes]
    needs = {a for a, b in ordered if _meets(step, b, _new(step), after)}
    for a in needs:
        for g in z.obligations[a].goals:
            step.reads.update(read_instances(getattr(g, "condition", None), step.scene))
    return Footprint(
        frozenset(step.reads), frozenset(w[:3] for w in step.sets), frozenset(step.causes), frozenset(step.undoes),
        frozenset(step.witnesses), frozenset(step.refutes), frozenset(needs),
        frozenset(a for a, _ in ordered if _meets(step, a, touched, after)), step.tool.undeclared,
    )  # fmt: skip
