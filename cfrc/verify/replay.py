"""Turns a decoded scenario into a counterexample that has been executed, or into nothing.

The concrete step machine (``cfrc.model.judge``) runs the scenario under ``semantics.md`` §2; only a legal run in which
the same formula is false at the same node counts. The run is then shrunk: events and values that do not matter go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import islice
from typing import Literal

from cfrc.model import types as ty
from cfrc.model.canon import default_value
from cfrc.model.scenario import Scenario, Trace, Violation
from cfrc.model.values import Record, Value, record
from cfrc.model.verdict import Counterexample, Difference, Step
from cfrc.verify.condition import Condition
from cfrc.verify.paths import Paths

SHRINK_STEPS = 200
"""Replays spent on making one counterexample smaller."""

MOST_VARIATIONS = 24
"""Other values of one receipt that are tried to see whether it matters."""


WORDS: dict[str, Literal["ok", "failed", "poll"]] = {"ok": "ok", "fail": "failed", "poll": "poll", "doubt": "ok"}
"""How a reviewer reads an event; a call that went wrong before it returned is shown as made."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A scenario that was replayed, and the violation that it shows."""

    scenario: Scenario
    trace: Trace
    violation: Violation


def confirm(paths: Paths, condition: Condition, scenario: Scenario, today: date | None = None) -> Confirmed | None:
    """The confirmed counterexample, or ``None`` when the concrete evaluator does not agree."""
    trace = paths.replay(scenario, today)
    if not trace.legal:
        return None
    for v in trace.violations:
        if same(condition, v):
            return Confirmed(scenario, trace, v)
    return None


def same(condition: Condition, v: Violation) -> bool:
    """Whether a concrete violation is the one that the condition is about."""
    if v.code != condition.code:
        return False
    if v.obligation is not None and condition.obligation is not None and v.obligation != condition.obligation:
        return v.code == "COV001"  # a joint assignment may be reported at another obligation of the group
    pair = {v.node, *v.others}
    return v.node is None or condition.node is None or v.node == condition.node or condition.node in pair


def shrink(
    paths: Paths, condition: Condition, found: Confirmed, today: date | None = None
) -> tuple[Confirmed, set[str]]:
    """A smaller run that still goes wrong the same way, and the nodes whose values do not matter."""
    budget = SHRINK_STEPS
    events = list(found.scenario.events)
    for i in range(len(events) - 1, -1, -1):
        if budget <= 0 or condition.step is None:
            break
        budget -= 1
        shorter = replace(found.scenario, events=tuple(events[:i] + events[i + 1 :]))
        smaller = confirm(paths, condition, shorter, today)
        if smaller is not None:
            found, events = smaller, list(smaller.scenario.events)
    found = _plainest(paths, condition, found, today)
    events = list(found.scenario.events)
    idle = {e.node for i, e in enumerate(events) if not _matters(paths, condition, found, i, today)}
    return found, idle


def _plainest(paths: Paths, condition: Condition, found: Confirmed, today: date | None) -> Confirmed:
    """The same run with the plainest values that still go wrong, so that it does not depend on which model the solver
    happened to find: the first enum member, false, absent, 0 or 1, tried leaf by leaf in a fixed order."""
    budget = SHRINK_STEPS
    for index in range(len(found.scenario.events)):
        run = paths.run_of(found.scenario.events[index].node)
        if run is None or run.tool is None or found.scenario.events[index].outcome not in ("ok", "poll"):
            continue
        for path, t in list(_leaves(run.tool.result, ())):
            for value in _plain_values(t):
                event = found.scenario.events[index]
                changed = _put(event.result, path, value)
                if changed is None or budget <= 0:
                    continue
                if changed == event.result:
                    break
                budget -= 1
                events = list(found.scenario.events)
                events[index] = replace(event, result=changed)
                simpler = confirm(paths, condition, replace(found.scenario, events=tuple(events)), today)
                if simpler is not None:
                    found = simpler
                    break
    return found


def _leaves(t: ty.Type, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ty.Type]]:
    """The paths of the record leaves that have plain values to try."""
    if isinstance(t, ty.RecordOf):
        for n, f in t.fields:
            yield from _leaves(f, (*path, n))
    else:
        yield path, t


def _plain_values(t: ty.Type) -> tuple[Value, ...]:
    match t:
        case ty.Optional(i):
            return (None, *_plain_values(i))
        case ty.Enum(_, members):
            return members
        case ty.Prim("bool"):
            return (False, True)
        case ty.Prim("int"):
            return (0, 1)
        case ty.Prim("decimal"):
            return (Fraction(0), Fraction(1))
    return ()


def _put(value: Value, path: tuple[str, ...], leaf: Value) -> Value | None:
    """The value with another leaf; ``None`` where there is no such place."""
    if not path:
        return leaf
    if not isinstance(value, Record) or path[0] not in value:
        return None
    inner = _put(value.get(path[0]), path[1:], leaf)
    if inner is None and len(path) > 1:
        return None
    return record({**dict(value.items), path[0]: inner})


def _matters(paths: Paths, condition: Condition, found: Confirmed, index: int, today: date | None) -> bool:
    """Whether some other value of the result at ``index`` would make the run go right (each leaf is varied by
    itself)."""
    event = found.scenario.events[index]
    run = paths.run_of(event.node)
    if run is None or run.tool is None or event.outcome not in ("ok", "poll"):
        return True
    for result in islice(variations(run.tool.result, event.result), MOST_VARIATIONS):
        events = (*found.scenario.events[:index], replace(event, result=result), *found.scenario.events[index + 1 :])
        trace = paths.replay(replace(found.scenario, events=events), today)
        if trace.legal and not any(same(condition, v) for v in trace.violations):
            return True
        if not trace.legal and trace.problem is not None and "until" in trace.problem:
            return True
    return False


def variations(t: ty.Type, value: Value) -> Iterator[Value]:
    """The value with one leaf changed at a time."""
    match t, value:
        case ty.RecordOf(_, fields), Record():
            for n, f in fields:
                if n in value:
                    for other in variations(f, value.get(n)):
                        yield record({**dict(value.items), n: other})
        case ty.Optional(i), _:
            yield from [default_value(i)] if value is None else [None, *variations(i, value)]
        case ty.Enum(_, members), _:
            yield from (m for m in members if m != value)
        case ty.Prim("bool"), bool():
            yield not value
        case ty.Prim("int" | "decimal"), int() | Fraction():
            yield from (value + 1, value - 1, type(value)(0))
        case ((ty.Id() | ty.Prim("text" | "string")), str()):
            yield f"{value}-other"
        case _:
            plain = default_value(t)
            if plain != value:
                yield plain


def story(paths: Paths, condition: Condition, found: Confirmed, idle: set[str]) -> Counterexample:
    """The replayed run as data for a reviewer."""
    from cfrc.model.show import show_expr

    tools = {n.id: n.tool for n in paths.proposal.nodes if hasattr(n, "tool")}
    steps = [
        Step(
            e.node,
            tools.get(e.node, ""),
            WORDS[e.outcome],
            found.trace.args.get(e.node, ()),
            e.result,
            e.node not in idle,
        )
        for e in found.scenario.events
    ]
    branch = []
    for run in paths.runs:
        if run.call.when is not None and run.call.id in found.trace.outcomes:
            branch.append((run.call.id, found.trace.outcomes[run.call.id] != "skip"))
    v = found.violation
    difference: tuple[Difference, ...] = ()
    if v.before is not None or v.after is not None:
        difference = (Difference(v.failing or condition.code, v.before or "", v.after or ""),)
    failing = v.failing or (show_expr(condition.failing) if condition.failing is not None else None)
    return Counterexample(
        order=tuple(steps),
        step=condition.node,
        world=_world(paths, found),
        branch=tuple(branch),
        difference=difference,
        failing=failing,
        failing_span=condition.failing.span if condition.failing is not None else None,
    )


def _world(paths: Paths, found: Confirmed) -> tuple[tuple[str, Value], ...]:
    """The initial values that the contract does not already fix."""
    from cfrc.model.show import show_value

    fixed = {(f.fluent, f.args) for f in paths.contract.facts}
    shown = []
    for (fluent, args), value in found.scenario.world.items():
        if (fluent, args) not in fixed:
            inner = ", ".join(show_value(a) for a in args)
            shown.append((f"{fluent}({inner})" if args else fluent, value))
    return tuple(shown)
