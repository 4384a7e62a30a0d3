"""Turns a plan and a scenario's events, one by one, into state changes: the step machine of ``docs/semantics.md`` §2.

It executes and decides what is a step at all; whether a step is *right* is for ``judge``. Decisions of detail:

* A node is looked at as soon as all of pred(n) is settled: it becomes dead, skipped or ready, and its arguments are
  evaluated then. Where a guard or argument is undefined the run stops at once. If the undefined part is the result of a
  node that returned none, that is a fault of the proposal (``stuck``); if it is a projection of a result, it is the
  implied expectation of ``docs/semantics.md``: the run is handed back, whether or not the failure is handled.
* ``expect`` false or undefined, and ``until`` undefined, are failures after the call's effects; ``until`` false is a
  poll, and the k-th of a node is such a failure. Both are read in the state after the call.
* ``ensures`` is read in the state before the call. Clauses that are undefined do not take place.
* Terminals settle at END. One that names nodes in ``after`` is dead like any other node; one without ``after`` waits
  for whatever can still run, and depends on nothing but its guard.
* A pinned volatile fluent keeps its value towards ``requires`` and conditions (§2, ENV), but a new receipt may say
  otherwise: Res binds it to non-volatile observations only. Then the new value is the pinned one.
* A failed call of a tool with ``failure may cause …`` leaves those effects in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cfrc.model.canon import canonical, has_type
from cfrc.model.domain import Tool
from cfrc.model.evaluate import Env, Undefined, equal, holds
from cfrc.model.expr import Expr, NodeResult, conjuncts
from cfrc.model.footprint import Footprint, matches
from cfrc.model.graph import Call, Terminal
from cfrc.model.instances import (
    Instance,
    Instances,
    Pattern,
    call_footprint,
    call_instances,
    failure_instances,
    recording,
)
from cfrc.model.plan import NodePlan, Plan, canonical_args
from cfrc.model.scenario import Event
from cfrc.model.state import Illegal, InDoubt, State, initial_state
from cfrc.model.values import Value


@dataclass(slots=True)
class Step:
    """One call that is being made. ``false`` is the conjunct of ``requires`` that does not hold (undefined counts).

    ``found`` is there when the call returned (``footprint`` too, unless all calls are ordered), ``leftovers`` when it
    failed; ``after`` is the node's x after the step.
    """

    index: int
    node: str
    entry: NodePlan
    tool: Tool
    args: dict[str, Value]
    env: Env
    reads: set[Instance]
    false: Expr | None = None
    approval: bool = False
    found: Instances | None = None
    footprint: Footprint | None = None
    leftovers: Sequence[Pattern] = ()
    after: str = ""


class Machine:
    """One run. ``ready`` holds the enabled calls with their arguments; ``over`` says why no further call is possible:
    ``yield`` (an unhandled failure), ``implied`` (an undefined projection), ``doubt``, ``stuck`` or ``requires``.
    ``lenient`` takes ``ok`` and ``poll`` for one outcome, told apart by ``until`` alone."""

    def __init__(self, plan: Plan, world: Mapping[Instance, Value]) -> None:
        self.plan = plan
        self.state: State = initial_state(plan, world)
        self.read = plan.sig.reader(self.state.world)
        self.env = Env(plan.names, self.state.results, self.state.status, self.read)
        self.ready: dict[str, dict[str, Value]] = {}
        self.over: str | None = None
        self.stuck: tuple[str, Expr] | None = None
        self.index = 0
        self.lenient = False
        self._waiting = {n: len(e.preds) for n, e in plan.nodes.items() if isinstance(e.node, Call)}
        for name in [n for n, k in self._waiting.items() if k == 0]:
            if name not in self.state.status and not self.over:
                self._look(name)

    # -- settling ---------------------------------------------------------------------------------------------------

    def _dead(self, entry: NodePlan) -> bool:
        status = self.state.status
        for p in entry.preds:
            s = status.get(p)
            if s == "dead" or (s == "failed" and p not in entry.handles):
                return True
        return False

    def _look(self, name: str) -> None:
        """Decides about a call whose predecessors are all settled."""
        entry = self.plan.nodes[name]
        assert isinstance(entry.node, Call)
        if self._dead(entry):
            self._settle(name, "dead")
            return
        try:
            if not holds(entry.node.when, self.env):
                self._settle(name, "skipped")
            elif entry.tool is not None and entry.malformed is None:
                self.ready[name] = canonical_args(entry, self.env)
            else:
                self.ready[name] = {}
        except Undefined as u:
            self.halt_undefined(name, u.expr)

    def halt_undefined(self, name: str, expr: Expr) -> None:
        """Stops the run at an undefined guard or argument."""
        if self._missing(expr):
            self.over, self.stuck = "stuck", (name, expr)
        else:
            self.over = "implied"

    def _missing(self, expr: Expr) -> bool:
        """Whether the undefined part is a result that was never returned, rather than a projection of one."""
        return isinstance(expr, NodeResult) and expr.node not in self.state.results

    def _settle(self, name: str, status: str) -> None:
        self.state.status[name] = status
        self.ready.pop(name, None)
        for s in self.plan.successors[name]:
            if s in self._waiting:
                self._waiting[s] -= 1
                if self._waiting[s] == 0 and not self.over:
                    self._look(s)

    # -- one call ---------------------------------------------------------------------------------------------------

    def begin(self, event: Event) -> Step:
        """The call of an event, before its outcome: ENV, arguments, ``requires``. Raises :class:`Illegal`."""
        if self.over:
            raise Illegal("the run is over")
        if event.changes:
            self.state.change(event.changes)
        if event.node not in self.ready:
            raise Illegal(f"{event.node} is not enabled")
        return self.inspect(event.node)

    def inspect(self, node: str) -> Step:
        """What can be said of an enabled call in this state. Raises :class:`Illegal` for a malformed one."""
        entry = self.plan.nodes[node]
        if entry.tool is None or entry.malformed is not None:
            raise Illegal(f"{node} is not a well-formed call: {entry.malformed}")
        args = self.ready[node]
        reads: set[Instance] = set()
        env = Env({("param", n): v for n, v in args.items()}, read=recording(self.read, reads))
        step = Step(self.index, node, entry, entry.tool, args, env, reads)
        for requirement in entry.tool.requires:
            if not self.met(requirement, env):
                step.false = next((c for c in conjuncts(requirement) if not self.met(c, env)), requirement)
                break
        approved = entry.tool.approved
        if approved is not None:
            # Where the condition is undefined an approval is needed: the safe side.
            step.approval = _true(approved, env, undefined=True)
        return step

    def met(self, condition: Expr, env: Env) -> bool:
        """Whether a ``requires`` or ``ensures`` holds; an undefined one does not."""
        return _true(condition, env)

    def result(self, step: Step, event: Event) -> None:
        """Works out what the outcome does. Raises :class:`Illegal` for a result outside Res."""
        if event.outcome == "fail":
            step.leftovers = failure_instances(step.tool, step.env, self.plan.sig)
            return
        if event.outcome == "doubt":
            return
        result_type = step.tool.result
        value = canonical(result_type, event.result) if step.entry.spelled else event.result
        if not has_type(value, result_type):
            raise Illegal(f"the result of {step.node} is not a {result_type}")
        step.env.vars["result", "result"] = value
        for ensured in step.tool.ensures:
            if not self.met(ensured, step.env):
                raise Illegal(f"the result of {step.node} does not satisfy what the tool ensures")
        step.found = call_instances(step.tool, step.env, self.read, self.plan.sig, step.reads)
        self._consistent(step, step.found)
        if self.plan.linear:
            return
        doubts = self.state.doubts
        in_doubt = (lambda i: any(True for _ in self.state.doubted(i))) if doubts else (lambda _: False)
        step.footprint = call_footprint(step.tool, step.found, self.plan.sig, in_doubt)

    def _consistent(self, step: Step, found: Instances) -> None:
        """Res: agrees with what cannot have changed, does not witness what was refuted nor refute what is realized."""
        state, fluents = self.state, self.plan.contract.domain.fluents
        own = {(w.fluent, w.args): w.value for w in found.writes} if found.observes else {}
        for fluent, args, value in found.observes:
            key = (fluent, args)
            if fluents[fluent].volatile and key not in own:
                own[key] = value  # one receipt does not say two things about one instance
                continue
            actual = own[key] if key in own else self.read(fluent, args)
            if not equal(actual, value):
                raise Illegal(f"the result of {step.node} contradicts the state of {fluent}")
        for instance in found.witnesses:
            if state.refuted and state.is_refuted(instance) and instance not in found.causes:
                raise Illegal(f"{step.node} witnesses what was refuted")
        for pattern in found.refutes:
            for target in state.matching(pattern):
                if not any(u[0] == target[0] and matches(u[1], target[1]) for u in found.undoes):
                    raise Illegal(f"{step.node} refutes what is realized")

    def commit(self, step: Step, event: Event) -> None:
        """Applies the outcome: undo, cause, set, observe, witness, refute; then settles what can be settled."""
        self.index += 1
        if event.outcome == "doubt":
            self.state.status[step.node] = step.after = "doubt"
            self.over = "doubt"
            return
        if event.outcome == "fail":
            call = (step.tool.name, step.args)
            self.state.doubts.extend(InDoubt(e, a, call, step.node) for e, a in step.leftovers)
            self._fail(step)
            return
        assert step.found is not None
        self._apply(step, step.found)
        self._conclude(step, event)

    def _apply(self, step: Step, found: Instances) -> None:
        state = self.state
        for pattern in found.undoes:
            state.undo(pattern)
        for instance in found.causes:
            state.realize(instance, step.index, step.node, True)
        for write in found.writes:
            state.write(write)
        for fluent, args, value in found.observes:
            state.observe(fluent, args, value)
        for instance in found.witnesses:
            state.realize(instance, step.index, step.node, False)
        for pattern in found.refutes:
            state.refute(pattern)

    def _conclude(self, step: Step, event: Event) -> None:
        """``until`` and ``expect``, which may read the node's own result."""
        call = step.entry.node
        assert isinstance(call, Call)
        results = self.state.results
        results[step.node] = step.env.vars["result", "result"]
        if call.until is None and event.outcome == "poll" and not self.lenient:
            raise Illegal(f"{step.node} does not poll")
        if call.until is not None or call.expect is not None:
            outcome = self._verdict(call, event)
            if outcome != "ok":
                del results[step.node]
                if outcome == "poll":
                    step.after = self.state.status[step.node] = "poll"
                else:
                    self._fail(step)
                return
        step.after = "ok"
        self._settle(step.node, "ok")

    def _verdict(self, call: Call, event: Event) -> str:
        if call.until is not None:
            try:
                done = holds(call.until, self.env)
            except Undefined as u:
                return self._undefined(call, u.expr)
            if done != (event.outcome == "ok") and not self.lenient:
                raise Illegal(f"`until` of {call.id} is {'true' if done else 'false'}")
            if not done:
                polls = self.state.polls[call.id] = self.state.polls.get(call.id, 0) + 1
                return "failed" if polls >= call.polls else "poll"
        try:
            return "ok" if holds(call.expect, self.env) else "failed"
        except Undefined as u:
            return self._undefined(call, u.expr)

    def _undefined(self, call: Call, expr: Expr) -> str:
        """``until`` or ``expect`` that reads another node's missing result is a fault; otherwise a failure."""
        if self._missing(expr):
            self.halt_undefined(call.id, expr)
        return "failed"

    def _fail(self, step: Step) -> None:
        step.after = "failed"
        if step.node not in self.plan.handled and not self.over:
            self.over = "yield"
        self._settle(step.node, "failed")

    # -- END --------------------------------------------------------------------------------------------------------

    def end(self, changes: tuple[tuple[str, tuple[Value, ...], Value], ...] = ()) -> list[Terminal] | None:
        """END(T): the terminals that fire, or ``None`` while the run has not ended (or cannot end)."""
        if self.over or self.ready:
            return None
        if changes:
            self.state.change(changes)
        fired = []
        for name, entry in self.plan.nodes.items():
            if not isinstance(entry.node, Terminal):
                continue
            if self._dead(entry):
                self.state.status[name] = "dead"
                continue
            try:
                if holds(entry.node.when, self.env):
                    fired.append(entry.node)
            except Undefined as u:
                self.halt_undefined(name, u.expr)
                return None
        return fired


def _true(condition: Expr, env: Env, undefined: bool = False) -> bool:
    try:
        return holds(condition, env)
    except Undefined:
        return undefined
