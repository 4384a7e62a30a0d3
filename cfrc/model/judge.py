"""Turns a scenario into the list of formulas of ``docs/semantics.md`` §3 that are false along its run.

:func:`replay` executes the scenario on the step machine. At every call it judges authority, binding and ``requires``
before the call, preservation, scope, limits and interference of what the call does, and at END coverage and evidence.
After a fault the run goes on with the effect applied, except where an argument is undefined or ``requires`` is false:
later events are then ignored. Where a scenario stops early, the calls that are enabled then are judged as well, as far
as that needs no outcome (``index`` is the number of events).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from cfrc.model.closing import close
from cfrc.model.contract import Approval, Contract
from cfrc.model.coverage import Evidence
from cfrc.model.evaluate import equal
from cfrc.model.graph import Proposal
from cfrc.model.instances import Instance
from cfrc.model.machine import Machine, Step
from cfrc.model.plan import identifiers, prepare
from cfrc.model.rulebook import Rulebook, make_rulebook
from cfrc.model.run import Run
from cfrc.model.scenario import Event, Scenario, Trace
from cfrc.model.show import show_expr, show_value
from cfrc.model.state import Illegal
from cfrc.model.stepping import judge_effects, judge_leftovers, judge_tool, show_limit
from cfrc.model.values import Value

_WORDS = {"skipped": "skip", "failed": "fail"}
"""x as ``docs/semantics.md`` §2 writes it, where guards use another word."""


class Replayer:
    """Replays scenarios of one proposal under one contract; prepared once.

    ``today`` is the time against which approvals expire when the contract names none; with neither they do not expire.
    """

    def __init__(self, contract: Contract, proposal: Proposal, today: date | datetime | None = None) -> None:
        self.plan = prepare(contract, proposal)
        self.book: Rulebook = make_rulebook(self.plan)
        self.now = contract.as_of if contract.as_of is not None else today

    def replay(self, scenario: Scenario) -> Trace:
        """The trace of a scenario. One that is no run of the semantics gives an illegal trace, never an error."""
        return self.examine(scenario)[0]

    def examine(self, scenario: Scenario) -> tuple[Trace, Mapping[str, Mapping[Instance, list[Evidence]]]]:
        """The trace, and what the run is evidence of: by effect and identity."""
        try:
            machine = Machine(self.plan, scenario.world)
        except Illegal as problem:
            return Trace(False, str(problem), (), False), {}
        run = Run(self.book, machine)
        for total in run.totals:
            if total.exceeded and not total.unknown:  # the empty prefix is one, too
                run.report("SCP004", None, failing=show_limit(total))
        try:
            for event in scenario.events:
                if machine.over in ("stuck", "requires"):
                    break
                self._step(run, event)
            ended, terminals = self._finish(run, scenario)
        except Illegal as problem:
            return self._trace(run, False, str(problem), False, ()), {}
        return self._trace(run, True, None, ended, terminals), run.evidence

    def _trace(self, run: Run, legal: bool, problem: str | None, ended: bool, terminals: tuple[str, ...]) -> Trace:
        outcomes = {n: _WORDS.get(s, s) for n, s in run.machine.state.status.items()}
        return Trace(legal, problem, tuple(run.violations), ended, terminals, outcomes, run.args)

    def _step(self, run: Run, event: Event) -> None:
        machine = run.machine
        step = machine.begin(event)
        run.args[step.node] = tuple(step.args.items())
        approval = self.before(run, step)
        if step.false is not None:
            self._unmet(run, step, event)
            return
        machine.result(step, event)
        if step.found is not None:
            judge_effects(run, step, step.found)
        elif step.leftovers:
            judge_leftovers(run, step)
        machine.commit(step, event)
        if approval is not None and step.found is not None:
            machine.state.used.add(approval)
        run.after(step)

    def _unmet(self, run: Run, step: Step, event: Event) -> None:
        """``requires`` is false: the run goes no further, but what this very call would do is judged all the same, so
        that a repeated effect is named as such even where its tool would refuse it. It is not made in any order, so
        that it interferes with nothing."""
        machine = run.machine
        try:
            machine.result(step, event)
        except Illegal:
            step.found = None  # no such receipt: nothing to judge
        step.footprint = None
        if step.found is not None:
            judge_effects(run, step, step.found)
        machine.over = "requires"

    def _finish(self, run: Run, scenario: Scenario) -> tuple[bool, tuple[str, ...]]:
        machine = run.machine
        fired = machine.end(scenario.changes)
        if machine.stuck is not None:
            node, expr = machine.stuck
            run.report("DEP003", node, failing=show_expr(expr), others=(show_expr(expr),))
        if fired is None:
            if machine.over is None:
                for name in machine.ready:
                    if machine.plan.nodes[name].malformed is None:
                        self.before(run, machine.inspect(name))
            return False, ()
        close(run, fired)
        return True, tuple(t.id for t in fired)

    # -- before a call ----------------------------------------------------------------------------------------------

    def before(self, run: Run, step: Step) -> int | None:
        """Authority, binding, ``requires``; returns the approval that the call would use."""
        for bound in step.entry.bounds:
            value = step.args[bound.param]
            if bound.code == "BND002":
                wrong = not all(equal(value, v) for v in bound.values[""])
            else:
                found = identifiers(value, bound.type)
                wrong = any(t in bound.values and v not in bound.values[t] for t, v in found)
            if wrong:
                run.report(bound.code, step.node, failing=f"{bound.param}: {show_value(value, bound.type)}")
        judge_tool(run, step)
        approval = self._authority(run, step)
        if step.false is not None:
            run.report("DEP004", step.node, failing=show_expr(step.false))
        return approval

    def _authority(self, run: Run, step: Step) -> int | None:
        for pattern in self.plan.denials.get(step.tool.name, ()):
            if all(n in step.args and equal(step.args[n], v) for n, v in pattern.items()):
                run.report("AUT005", step.node, failing=f"denied {step.tool.name}({_named(pattern)})")
        if not step.approval:
            return None
        known = self.plan.approvals.get(step.tool.name, ())
        fitting = [i for i, a, args in known if self._valid(a) and _same_args(args, step.args)]
        free = next((i for i in fitting if i not in run.machine.state.used), None)
        if free is None:
            code = "AUT004" if fitting else "AUT003" if known else "AUT002"
            run.report(code, step.node, failing=f"approved {step.tool.name}({_named(step.args)})")
        return free

    def _valid(self, approval: Approval) -> bool:
        """Not expired, and of the policy version in force."""
        policy = self.plan.contract.policy
        if policy is not None and approval.policy != policy:
            return False
        return approval.expires is None or self.now is None or not _not_after(approval.expires, self.now)


def replay(contract: Contract, proposal: Proposal, scenario: Scenario, today: date | datetime | None = None) -> Trace:
    """Runs a scenario and reports every violation (``docs/semantics.md`` §2, §3). Prepares anew: see
    :class:`Replayer`."""
    return Replayer(contract, proposal, today).replay(scenario)


def _same_args(approved: dict[str, Value], args: dict[str, Value]) -> bool:
    return approved.keys() == args.keys() and all(equal(v, args[n]) for n, v in approved.items())


def _named(args: dict[str, Value]) -> str:
    return ", ".join(f"{n}: {show_value(v)}" for n, v in args.items())


def _not_after(expires: date | datetime, now: date | datetime) -> bool:
    """Whether ``expires <= now``. A date expires at its start; dates and instants meet at midnight UTC."""
    return _instant(expires) <= _instant(now)


def _instant(t: date | datetime) -> datetime:
    if isinstance(t, datetime):
        return t if t.tzinfo is not None else t.replace(tzinfo=UTC)
    return datetime(t.year, t.month, t.day, tzinfo=UTC)
