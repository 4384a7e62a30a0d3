"""Turns a decoded scenario into a counterexample that has been executed, or into nothing.

The concrete step machine (``cfrc.model.judge``) runs the scenario under ``semantics.md`` §2; only a legal run in which
the same formula is false at the same node counts. The run is then shrunk: events and values that do not matter go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from cfrc.model.evaluate import default_value
from cfrc.model.judge import replay
from cfrc.model.scenario import Event, Scenario, Trace, Violation
from cfrc.model.values import Value
from cfrc.model.verdict import Counterexample, Difference, Step
from cfrc.verify.condition import Condition
from cfrc.verify.paths import Paths

SHRINK_STEPS = 200
"""Replays spent on making one counterexample smaller."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A scenario that was replayed, and the violation that it shows."""

    scenario: Scenario
    trace: Trace
    violation: Violation


def confirm(paths: Paths, condition: Condition, scenario: Scenario, today: date | None = None) -> Confirmed | None:
    """The confirmed counterexample, or ``None`` when the concrete evaluator does not agree."""
    trace = replay(paths.contract, paths.proposal, scenario, today)
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


def shrink(paths: Paths, condition: Condition, found: Confirmed, today: date | None = None) -> tuple[Confirmed, set[str]]:
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
    idle = set()
    for i, event in enumerate(events):
        run = paths.run_of(event.node)
        if budget <= 0 or run is None or run.tool is None or event.outcome != "ok":
            continue
        budget -= 1
        plain = Event(event.node, event.outcome, default_value(run.tool.result), event.changes)
        if plain.result == event.result:
            continue
        other = replace(found.scenario, events=(*events[:i], plain, *events[i + 1 :]))
        if confirm(paths, condition, other, today) is not None:
            idle.add(event.node)
    return found, idle


def story(paths: Paths, condition: Condition, found: Confirmed, idle: set[str]) -> Counterexample:
    """The replayed run as data for a reviewer."""
    from cfrc.model.show import show_expr

    tools = {n.id: n.tool for n in paths.proposal.nodes if hasattr(n, "tool")}
    word = {"ok": "ok", "fail": "failed", "poll": "poll", "doubt": "ok"}
    steps = [
        Step(e.node, tools.get(e.node, ""), word[e.outcome], found.trace.args.get(e.node, ()), e.result, e.node not in idle)  # type: ignore[arg-type]
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
