"""Turns a decoded scenario into a counterexample that has been executed, or into nothing.

The concrete step machine (``cfrc.model.judge``) runs the scenario under ``docs/semantics.md`` §2; only a legal run in
which the same formula is false at the same node counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from cfrc.model.scenario import Scenario, Trace, Violation
from cfrc.model.values import Value
from cfrc.model.verdict import Counterexample, Difference, Step
from cfrc.verify.condition import Condition
from cfrc.verify.paths import Paths

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
        # a joint assignment may fail at another obligation of the group; what is open elsewhere is another finding
        return v.obligation in (o.name for o in condition.together)
    pair = {v.node, *v.others}
    return v.node is None or condition.node is None or v.node == condition.node or condition.node in pair


def story(paths: Paths, condition: Condition, found: Confirmed, idle: set[int]) -> Counterexample:
    """The replayed run as data for a reviewer; ``idle`` are the events whose answers do not matter."""
    from cfrc.model.closing import show_owed
    from cfrc.model.show import show_expr

    tools = {n.id: n.tool for n in paths.proposal.nodes if hasattr(n, "tool")}
    steps = [
        Step(
            e.node,
            tools.get(e.node, ""),
            WORDS[e.outcome],
            found.trace.args.get(e.node, ()),
            e.result,
            i not in idle,
        )
        for i, e in enumerate(found.scenario.events)
    ]
    branch = []
    for run in paths.runs:
        if run.call.when is not None and run.call.id in found.trace.outcomes:
            branch.append((run.call.id, found.trace.outcomes[run.call.id] != "skip"))
    v = found.violation
    difference: tuple[Difference, ...] = ()
    if v.before is not None or v.after is not None:
        what = (v.failing or condition.code).removeprefix("within ")
        difference = (Difference(what, v.before or "", v.after or ""),)
    failing = v.failing or (show_expr(condition.failing) if condition.failing is not None else None)
    if condition.together:
        failing = " and ".join(show_owed(o) for o in condition.together)
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
