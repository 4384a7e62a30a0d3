"""Turns an admitted plan and the answers of real tools, one by one, into the calls that are enabled next.

It is the step machine of ``cfrc.model.machine`` (``docs/semantics.md`` §2) where nobody knows the whole world: a
fluent has a value only if the contract states one or a receipt has told it. What admission proved for every world
needs no value. What a receipt says is held against everything that is known: one outside Res ends the run before its
fields flow on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from cfrc.model.canon import canonical
from cfrc.model.closing import close
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.evaluate import Env, Undefined, evaluate, holds
from cfrc.model.expr import Apply, Expr, FluentRead, conjuncts
from cfrc.model.graph import Proposal
from cfrc.model.instances import Instance, Instances, Signatures, World
from cfrc.model.judge import Replayer
from cfrc.model.ledger import Status
from cfrc.model.machine import Machine, Step
from cfrc.model.plan import Plan
from cfrc.model.receipts import World as Told
from cfrc.model.rulebook import make_rulebook
from cfrc.model.run import Run
from cfrc.model.scenario import Event, Violation
from cfrc.model.state import Illegal
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: ``done`` with live evidence for everything owed, ``yield`` (handed back, as the plan says or
    because a step failed), or ``held``: ⊥, something that admission relied on did not hold, or is in doubt.

    ``terminal`` is the node that fired, ``node`` the step that ended the run, ``reason`` says why in words."""

    kind: Literal["done", "yield", "held"]
    reason: str
    terminal: str | None = None
    node: str | None = None
    violations: tuple[Violation, ...] = ()


class Barred(Exception):
    """An enabled call that must not be made after all: an assumption of its admission does not hold now."""

    def __init__(self, node: str, violations: tuple[Violation, ...]) -> None:
        super().__init__(f"{node}: {', '.join(v.code for v in violations)}")
        self.node, self.violations = node, violations


class _Open(Signatures):
    """Reads a world where an instance that nobody has told has no value. ``unknown`` notes that one was asked for."""

    __slots__ = ("unknown",)

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.unknown = False

    def lookup(self, world: World, fluent: str, args: tuple[Value, ...]) -> Value:
        if None in args and not self.present("fluent", fluent, args):
            raise LookupError(fluent)
        key = (fluent, self.fluent(fluent, args))
        if key not in world:
            self.unknown = True
            raise LookupError(fluent)
        return world[key]


class _OpenMachine(Machine):
    """The step machine over such a world."""

    def __init__(self, plan: Plan, sig: _Open) -> None:
        self.sig = sig
        super().__init__(plan, {})
        self.lenient = True
        for fact in plan.contract.facts:
            if plan.contract.domain.fluents[fact.fluent].volatile and not fact.kept:
                # True at the freeze, but others may have changed it since (Init).
                self.state.world.pop((fact.fluent, sig.fluent(fact.fluent, fact.args)), None)

    def met(self, condition: Expr, env: Env) -> bool:
        """Whether nothing that is known speaks against the condition."""
        return all(self._met(c, env) for c in conjuncts(condition))

    def _met(self, condition: Expr, env: Env) -> bool:
        self.sig.unknown = False
        try:
            return holds(condition, env)
        except Undefined:
            if self.sig.unknown and ("result", "result") in env.vars:
                self._learn(condition, env)
                return True
            return self.sig.unknown

    def _learn(self, ensured: Expr, env: Env) -> None:
        """What an ``ensures`` of a receipt says about a fluent that nobody knew: later receipts must agree with it."""
        match ensured:
            case Apply(op="==", args=(a, b)):
                for told, other in ((a, b), (b, a)):
                    value = _known(other, env)
                    if value is not None:
                        self._tell(told, value, env)
            case FluentRead():
                self._tell(ensured, True, env)
            case Apply(op="not", args=(FluentRead() as told,)):
                self._tell(told, False, env)

    def _tell(self, told: Expr, value: Value, env: Env) -> None:
        if not isinstance(told, FluentRead):
            if value is True:
                self._learn(told, env)
            return
        declared = self.plan.contract.domain.fluents[told.fluent]
        where = tuple([_known(a, env) for a in told.args])
        if not declared.volatile and None not in where:
            key = (told.fluent, self.sig.fluent(told.fluent, where))
            self.state.world.setdefault(key, canonical(declared.type, value))

    def inspect(self, node: str) -> Step:
        step = super().inspect(node)
        if step.approval and step.tool.approved is not None:
            # Where the condition reads what nobody knows, one part that is false settles it.
            step.approval = not any(_is_false(c, step.env) for c in conjuncts(step.tool.approved))
        return step

    def _consistent(self, step: Step, found: Instances) -> None:
        """Res, after learning what the receipt is the first to tell. A run that it ends is over: nothing reads on."""
        world = self.state.world
        told = Told(self.plan.contract.domain)
        told.values = world
        for pattern in told.unsettled(step.tool, step.args, step.env.vars["result", "result"]):
            told.forget(pattern)
        own = {(w.fluent, w.args) for w in found.writes}
        for fluent, args, value in found.observes:
            if (fluent, args) not in own:
                world.setdefault((fluent, args), value)
        super()._consistent(step, found)


def _is_false(condition: Expr, env: Env) -> bool:
    try:
        return not holds(condition, env)
    except Undefined:
        return False


def _known(e: Expr, env: Env) -> Value:
    """The value of an expression, or ``None`` where nobody knows it (or it is absent)."""
    try:
        return evaluate(e, env)
    except Undefined:
        return None


class Live:
    """One run on live receipts. The plan must be admitted: only then is an enabled call one that may be made.

    ``now`` is the time against which approvals expire. ``ready`` holds the enabled calls with the values of their
    arguments; :meth:`begin` is asked before a call is made, :meth:`take` is told its answer. Calls that run at the same
    time are each begun before, and taken in the order in which the answers arrive.
    """

    def __init__(self, contract: Contract, proposal: Proposal, now: date | datetime | None = None) -> None:
        self._judge = Replayer(contract, proposal, now)
        if now is not None:
            self._judge.now = now
        self.plan = self._judge.plan
        sig = _Open(contract.domain)
        self.plan.sig = sig
        self._judge.book = make_rulebook(self.plan)
        self.machine: Machine = _OpenMachine(self.plan, sig)
        self.run = Run(self._judge.book, self.machine)
        self.ending: Ending | None = None
        self._approvals: dict[str, int | None] = {}
        self._conclude()

    @property
    def ready(self) -> Mapping[str, dict[str, Value]]:
        """The enabled calls and their arguments, by node; none once the run has ended."""
        return {} if self.ending is not None else self.machine.ready

    @property
    def status(self) -> Mapping[str, str]:
        """x: ``ok``, ``skipped``, ``failed``, ``dead``, ``poll`` or ``doubt`` by node; one that is not in it waits."""
        return self.machine.state.status

    @property
    def told(self) -> Mapping[Instance, Value]:
        """The fluent values that are known."""
        return self.machine.state.world

    @property
    def now(self) -> date | datetime | None:
        """The time against which approvals expire."""
        return self._judge.now

    @now.setter
    def now(self, now: date | datetime) -> None:
        self._judge.now = now

    def hold(self, why: str) -> None:
        """Ends the run in ⊥: something outside it does not hold."""
        self._end("held", why)

    def begin(self, node: str) -> Step:
        """The call of an enabled node, just before it is made. Raises :class:`Barred`, and then the run has ended: no
        approval is in force any more, or ``requires`` is false by what is known. ``KeyError`` if it is not enabled."""
        if node not in self.ready:
            raise KeyError(node)
        step = self.machine.inspect(node)
        seen = len(self.run.violations)
        self._approvals[node] = self._judge.before(self.run, step)
        violations = tuple(self.run.violations[seen:])
        if violations:
            self._end("held", f"`{node}` must not be called now", node=node, violations=violations)
            raise Barred(node, violations)
        return step

    def take(self, step: Step, status: Status, result: Value = None, why: str | None = None) -> str:
        """The answer of a call that was begun; returns the node's x after it (``outside`` for a receipt outside Res).

        What is neither success nor failure is in doubt: the run is held. A result that could not be typed comes with
        ``unknown``, and ``why`` says so."""
        outcome: Literal["ok", "fail", "doubt"] = (
            "ok" if status == "success" else "fail" if status == "failure" else "doubt"
        )
        self.run.args[step.node] = tuple(step.args.items())
        step.index = self.machine.index  # calls count in the order of their answers, not of their beginnings
        event = Event(step.node, outcome, result)
        try:
            self.machine.result(step, event)
        except Illegal as problem:
            self.machine.commit(step, Event(step.node, "doubt"))
            self._end("held", str(problem), node=step.node)
            return "outside"
        self.machine.commit(step, event)
        approval = self._approvals.get(step.node)
        if approval is not None and step.found is not None:
            self.machine.state.used.add(approval)
        self.run.after(step)
        self._conclude(step.node, why)
        return step.after

    # -- the end ----------------------------------------------------------------------------------------------------

    def _conclude(self, node: str | None = None, why: str | None = None) -> None:
        """Ends the run where no further call is possible. An answer that was still in flight can only put in doubt."""
        machine = self.machine
        match machine.over:
            case "doubt":
                self._end("held", why or f"nobody knows whether `{node}` took place", node=node)
            case "yield":
                self._end("yield", f"`{node}` failed, and the plan does not handle it", node=node)
            case "implied":
                self._end("yield", "a value that the plan reads next is not there", node=node)
            case str():
                self._end("held", "the plan cannot go on", node=node)
            case None if not machine.ready and self.ending is None:
                self._finish(node)

    def _finish(self, node: str | None) -> None:
        fired = self.machine.end()
        if fired is None:
            self._end("yield", "a value that a terminal reads is not there", node=node)
            return
        seen = len(self.run.violations)
        close(self.run, fired)
        violations = tuple(self.run.violations[seen:])
        if violations:
            self._end("held", "what the receipts show is not what was admitted", violations=violations)
        elif not fired:
            self._end("yield", "the plan ends here without a terminal")
        else:
            terminal = fired[0]
            self._end(terminal.kind, terminal.reason or "everything owed is done, by evidence", terminal.id)

    def _end(
        self,
        kind: Literal["done", "yield", "held"],
        reason: str,
        terminal: str | None = None,
        node: str | None = None,
        violations: tuple[Violation, ...] = (),
    ) -> None:
        if self.ending is None or (kind == "held" and self.ending.kind != "held"):
            self.ending = Ending(kind, reason, terminal, node, violations)
