"""Turns the world that the receipts imply into facts, and what must not have changed into reasons where it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfrc.handoff.freezing.past import Past
from cfrc.handoff.freezing.reasons import note, reason
from cfrc.model.canon import canonical
from cfrc.model.contract import Fact, Name, Obligation, Origin, StateGoal
from cfrc.model.evaluate import Env, Undefined, equal, evaluate
from cfrc.model.expr import Apply, Expr, FluentRead, Lit, conjuncts
from cfrc.model.instances import Instance
from cfrc.model.show import show_expr, show_instance, show_value
from cfrc.model.types import BOOL
from cfrc.model.values import Value
from cfrc.model.verdict import Finding

Names = Mapping[str, Name]


def facts(past: Past, keep: set[Instance]) -> tuple[Fact, ...]:
    """What holds now, by the latest receipt. ``keep`` are the instances that were owed as they are now: they must stay
    so. A kept value that has changed stands beside the value of now: the contract says what was broken."""
    said = {_instance(past, f): f for f in past.before.facts if not f.kept}
    kept = {_instance(past, f): f for f in past.before.facts if f.kept}
    found: list[Fact] = []
    for instance, value in past.world.values.items():
        old = kept.get(instance)
        if old is not None:
            found.append(old)
            if not _changed(past, old):
                continue
        mine = said.get(instance)
        if mine is not None and instance not in past.told and instance not in keep:
            found.append(mine)
            continue
        found.append(Fact(*instance, value, instance in keep, _origin(past, instance, mine)))
    return tuple(found)


def _origin(past: Past, instance: Instance, mine: Fact | None) -> Origin | None:
    receipt = past.told.get(instance)
    if receipt is None:
        return mine.origin if mine is not None else None
    return Origin("receipt", receipt=receipt.id, tool=receipt.tool)


def _instance(past: Past, f: Fact) -> Instance:
    return f.fluent, past.world.signatures.fluent(f.fluent, f.args)


def _changed(past: Past, f: Fact) -> bool:
    """Whether the record says that a kept value is another one by now."""
    declared = past.before.domain.fluents[f.fluent]
    value = past.world.values.get(_instance(past, f))
    return _instance(past, f) in past.world.values and not equal(value, canonical(declared.type, f.value))


def broken(past: Past) -> Iterator[Finding]:
    """Kept values that a receipt changed."""
    for f in past.before.facts:
        if f.kept and _changed(past, f):
            instance = _instance(past, f)
            declared = past.before.domain.fluents[f.fluent]
            receipt = past.told.get(instance)
            by = f" by receipt `{receipt.id}`" if receipt is not None else ""
            now = show_value(past.world.values[instance], declared.type)
            yield reason(
                "FRZ003",
                f"`{show_instance(f.fluent, f.args, declared.params)}` was to stay "
                f"{show_value(f.value, declared.type)}, and was changed to {now}{by}",
                "say whether that was wanted: drop the kept value, or owe the old one",
                receipt.span if receipt is not None else f.span,
            )


def to_verify(past: Past) -> Iterator[Obligation]:
    """Kept values that a call without an answer may have changed: nobody may rest on them before they are seen again,
    so they are owed as states."""
    for f in past.before.facts:
        if f.kept and _instance(past, f) not in past.world.values:
            declared = past.before.domain.fluents[f.fluent]
            args = tuple(Lit(value=v, type=t) for v, (_, t) in zip(f.args, declared.params, strict=True))
            read = FluentRead(fluent=f.fluent, args=args, type=declared.type)
            condition = Apply(op="==", args=(read, Lit(value=f.value, type=declared.type)), type=BOOL)
            yield Obligation(f"still_{f.fluent}", (StateGoal(condition),), origin=f.origin)


def kept_states(past: Past, names: Names, o: Obligation, goal: StateGoal) -> tuple[set[Instance], tuple[Finding, ...]]:
    """The fluent instances that a discharged state obligation asked to be as they are; a note where its condition is
    not simply that some values are what they are."""
    found: set[Instance] = set()
    for c in conjuncts(goal.condition):
        instance = None if o.exists else _equated(past, names, c)
        if instance is None:
            return set(), (
                note(
                    "FRZ010",
                    f"`{o.name}` holds now and is not owed any more; nothing says that it must stay so: "
                    f"`{show_expr(goal.condition)}`",
                    "keep the values that matter (`kept f(x) == v`), if a later call might change them",
                    o.span, o.name,
                ),
            )  # fmt: skip
        found.add(instance)
    return found, ()


def _equated(past: Past, names: Names, c: Expr) -> Instance | None:
    """The instance of ``f(x) == v``, ``f(x)`` or ``not f(x)``, with everything known and nobody else to change it."""
    read: Expr = c
    if isinstance(c, Apply) and c.op == "not":
        read = c.args[0]
    elif isinstance(c, Apply) and c.op == "==":
        read, other = c.args if isinstance(c.args[0], FluentRead) else (c.args[1], c.args[0])
        if _values(names, (other,)) is None:
            return None
    if not isinstance(read, FluentRead) or past.before.domain.fluents[read.fluent].volatile:
        return None
    args = _values(names, read.args)
    if args is None:
        return None
    instance = (read.fluent, past.world.signatures.fluent(read.fluent, args))
    return instance if instance in past.world.values else None


def _values(names: Names, exprs: tuple[Expr, ...]) -> tuple[Value, ...] | None:
    """What the expressions stand for by the contract's names alone; ``None`` where that is not known."""
    env = Env({("name", n.name): n.value for n in names.values()})
    try:
        return tuple(evaluate(e, env) for e in exprs)
    except Undefined:
        return None
