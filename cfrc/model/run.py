"""Turns the steps of one run into what its judgement remembers: violations, evidence, totals, footprints."""

from __future__ import annotations

from collections.abc import Mapping

from cfrc.model.contract import StateGoal
from cfrc.model.coverage import Coverage, Evidence
from cfrc.model.evaluate import Env, Undefined, holds
from cfrc.model.instances import Instance, Pattern
from cfrc.model.interference import Interference
from cfrc.model.limits import Total
from cfrc.model.machine import Machine, Step
from cfrc.model.matching import Quantified, collect
from cfrc.model.rulebook import Rulebook, goal_terms
from cfrc.model.scenario import Violation
from cfrc.model.types import Type
from cfrc.model.values import Value

KINDS: Mapping[str, str] = {
    "AUT": "authority",
    "BND": "binding",
    "DEP": "dependency",
    "PRS": "preservation",
    "SCP": "scope",
    "COV": "coverage",
    "EVD": "evidence",
}
"""The finding kind of each area of codes."""


class Run:
    """One run being judged. ``env`` reads the contract's names and the current state; ``initial`` is the freeze state
    (a ``holds`` of a volatile fluent is not known there: Init, semantics §2). ``evidence`` lists what was caused and
    witnessed, by effect and identity."""

    def __init__(self, book: Rulebook, machine: Machine) -> None:
        self.book = book
        self.machine = machine
        self.violations: list[Violation] = []
        self.args: dict[str, tuple[tuple[str, Value], ...]] = {}
        self.env: Env = book.plan.env()
        self.env.read = machine.read
        self.evidence: dict[str, dict[Instance, list[Evidence]]] = {}
        self.interference = Interference()
        self.totals = [Total(limit) for limit in book.plan.contract.limits]
        self.history: dict[str, list[bool]] = {name: [] for name in book.tracked}
        self.steps: list[tuple[str, int]] = []
        self._pool: tuple[int, Quantified] | None = None
        self.initial: dict[Instance, Value] = {}
        if any(o.condition is not None for o in book.plan.contract.obligations):
            self.initial.update(machine.state.world)
        self._start()

    def _start(self) -> None:
        state = self.machine.state
        for total in self.totals:
            for kept in self.book.plan.contract.kept:
                total.add((kept.effect, self.book.plan.sig.effect(kept.effect, kept.args)), self.env)
            for d in state.doubts:
                total.add((d.effect, d.args), self.env)
        self._track()

    def report(
        self,
        code: str,
        node: str | None = None,
        *,
        failing: str | None = None,
        obligation: str | None = None,
        others: tuple[str, ...] = (),
        before: str | None = None,
        after: str | None = None,
        index: int | None = None,
    ) -> None:
        """Notes a violation at the current step (or at an earlier one)."""
        index = self.machine.index if index is None else index
        found = Violation(KINDS[code[:3]], code, index, node, obligation, failing, others, before, after)
        self.violations.append(found)

    # -- what steps leave behind ------------------------------------------------------------------------------------

    def after(self, step: Step) -> None:
        """Notes the evidence of a committed step and the state obligations that order others."""
        found = step.found
        self.steps.append((step.node, step.index))
        if found is not None and (found.causes or found.witnesses):
            result = step.env.vars["result", "result"]
            for caused, instances in ((True, found.causes), (False, found.witnesses)):
                for i in instances:
                    evidence = Evidence(step.index, step.node, result, i, caused)
                    self.evidence.setdefault(i[0], {}).setdefault(i, []).append(evidence)
        self._track()

    def _track(self) -> None:
        if not self.history:
            return
        coverage = self.coverage()
        for name, o in self.book.tracked.items():
            states = [g for g in o.goals if isinstance(g, StateGoal)]
            self.history[name].append(any(coverage.goal_holds(o, g, self.env) for g in states))

    def coverage(self) -> Coverage:
        """The current state, as seen by the search for assignments: alive identities outside K."""
        state = self.machine.state
        alive = {
            effect: {i: found for i, found in items.items() if state.alive.get(i) and i not in state.kept}
            for effect, items in self.evidence.items()
        }
        return Coverage(alive, self.book.ground, self.env, self.pool(), state.since, state.count, self.history)

    def active(self, name: str) -> bool:
        """Whether an obligation is in O₀: its condition holds in the freeze state (an undefined one counts)."""
        condition = self.book.obligations[name].condition
        if condition is None:
            return True
        try:
            return holds(condition, self.env.child(read=self.book.plan.sig.reader(self.initial)))
        except Undefined:
            return True

    # -- for licences and goals that depend on the run --------------------------------------------------------------

    def receipts(self, name: str, seen: frozenset[str] = frozenset()) -> list[Value]:
        """The results of the receipts so far that may discharge an obligation."""
        o = self.book.obligations.get(name)
        if o is None or name in seen:
            return []
        found: list[Value] = []
        state = self.machine.state
        for effect, term in goal_terms(o):
            for identity, items in self.evidence.get(effect, {}).items():
                if not state.alive.get(identity) or identity in state.kept:
                    continue
                if self.book.scope.matches(
                    term, identity, self.env, lambda n: self.receipts(n, seen | {name}), self.pool()
                ):
                    found.extend(e.result for e in items)
        return found

    def licensed(self, kind: str, instance: Pattern) -> bool:
        """Whether S licenses the instance in this state."""
        return self.book.scope.allows(kind, instance, self.env, self.receipts, self.pool)

    def pool(self) -> Quantified:
        """The values that the run has seen so far, by type, for existentials that no pattern binds."""
        if self._pool is None or self._pool[0] != self.machine.index:
            self._pool = (self.machine.index, Quantified((), None, self._collect()))
        return self._pool[1]

    def _collect(self) -> dict[Type, list[Value]]:
        pool: dict[Type, list[Value]] = {}
        contract = self.book.plan.contract
        if not any(o.exists for o in contract.obligations) and not any(x.exists for x in contract.scope or ()):
            return pool
        domain, state = contract.domain, self.machine.state
        for name in contract.names.values():
            collect(pool, name.value, name.type)
        for (fluent, args), value in state.world.items():
            declared = domain.fluents[fluent]
            for a, (_, t) in zip(args, declared.params, strict=True):
                collect(pool, a, t)
            collect(pool, value, declared.type)
        for effect, args in (*state.kept, *state.alive):
            for a, (_, t) in zip(args, domain.effects[effect].params, strict=True):
                collect(pool, a, t)
        for node, items in self.args.items():
            tool = self.book.plan.nodes[node].tool
            types = {p.name: p.type for p in tool.params} if tool is not None else {}
            for n, v in items:
                collect(pool, v, types[n])
            if tool is not None and node in state.results:
                collect(pool, state.results[node], tool.result)
        return pool
