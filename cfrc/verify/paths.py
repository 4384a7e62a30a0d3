"""Turns a contract and an ordered graph into symbolic runs: what each call does, when, and what may be assumed after
it.

One linearization is encoded in single-assignment form (``docs/semantics.md`` §4). For every call: the condition under
which it is called, returns, fails; its argument and result shapes; the effect instances and fluent writes of its
clauses; what it reads (its footprint); ``base``, what every receipt of it satisfies (Res); and ``cont``, what must
hold for the run to go on (``expect``, ``until``, defined projections, ``requires``).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from cfrc.model import expr as ex
from cfrc.model.graph import Proposal, Terminal
from cfrc.model.judge import Replayer
from cfrc.model.plan import Plan
from cfrc.model.scenario import Scenario, Trace
from cfrc.verify.calls import build_run
from cfrc.verify.frame import Frame
from cfrc.verify.order import Order, arrange, mentioned
from cfrc.verify.quantified import Quantifiers
from cfrc.verify.rivals import Rivals
from cfrc.verify.runs import Instance, Read, Run, failures
from cfrc.verify.shapes import Items, Shape
from cfrc.verify.state import World
from cfrc.verify.symbolic import Evaluator
from cfrc.verify.terms import Term, Terms

WIDEST = 200
"""Calls beyond which no other linearization is tried."""


class Paths:
    """All symbolic runs of one proposal. ``runs[i]`` is the call at position ``i`` of the linearization."""

    def __init__(self, frame: Frame, proposal: Proposal) -> None:
        self.frame = frame
        self.terms: Terms = frame.terms.fork()
        self.contract = frame.contract
        self.domain = frame.domain
        self.proposal = proposal
        self.order: Order = arrange(proposal)
        self.world = World(self.terms, frame, self.order.anc)
        self.names: dict[ex.Expr, int] = {}
        self.quantifiers = Quantifiers(self.terms)
        self._replayer: Replayer | None = None
        self.results: dict[str, Shape] = {}
        self.runs: list[Run] = []
        self.expected: list[tuple[int, int, Items]] = []
        """(position, term, rows): after the call at the position has succeeded, a collection has just these rows."""
        self.handled = _handled(proposal)
        self.restrictive = 0
        """The positions whose receipts or continuation are constrained at all."""
        self.by_effect: dict[str, list[Instance]] = {}
        """Caused and witnessed instances by effect, in linearization order."""
        self.rivals = Rivals(self)
        self.world.rivals = self.rivals.alternatives
        for pos, call in enumerate(self.order.calls):
            run = build_run(self, call, pos)
            self.runs.append(run)
            if run.ready or run.required or run.base or run.cont:
                self.restrictive |= 1 << pos

    def run_of(self, node: str) -> Run | None:
        pos = self.order.position.get(node)
        return self.runs[pos] if pos is not None and pos < len(self.runs) else None

    def evaluator(self, at: int, mask: int, upto: int = -1, reads: list[Read] | None = None) -> Evaluator:
        """An evaluator in the state after the calls in ``mask`` (and ``upto``), for the reader at position ``at``."""
        ev = Evaluator(self.terms, self.names, results=self.results, outcome=self.outcome)
        ev.constants = self.frame.constants
        ev.quantifiers = self.quantifiers
        ev.known = {term: rows for pos, term, rows in self.expected if mask >> pos & 1}

        def read(name: str, args: tuple[Shape, ...]) -> Shape:
            typed, ok = self.world.typed(name, args)
            ev.define(ok)
            if reads is not None:
                reads.append(Read(name, self.world.key(typed)))
            return self.world.read(name, typed, mask, at, upto)

        ev.fluent = read
        return ev

    def outcome(self, node: str, status: str) -> Term:
        run = self.run_of(node)
        if run is None:
            return self.terms.false
        return {"ok": run.ok, "failed": run.fail, "skipped": run.skip}[status]

    def dead(self, preds: tuple[int, ...], handled: set[str]) -> Term:
        """Whether a node is dead: a predecessor is dead, or failed and is not handled by the guard."""
        t = self.terms
        parts = []
        for p in preds:
            run = self.runs[p]
            parts.append(run.dead)
            if run.call.id not in handled:
                parts.append(run.fail)
        return t.or_(*parts)

    def assume(self, mask: int) -> list[Term]:
        """What holds when every call in ``mask`` is settled and the run goes on."""
        found: list[Term] = []
        mask &= self.restrictive
        while mask:
            low = mask & -mask
            run = self.runs[low.bit_length() - 1]
            found += [*run.ready, *run.required, *run.base, *run.cont]
            mask ^= low
        return found

    def fires(self, terminal: Terminal) -> tuple[Term, list[tuple[str, Term]], Term]:
        """At END: whether the terminal fires, the reads of its guard, and when its guard is defined."""
        t = self.terms
        ev = self.evaluator(len(self.runs), (1 << len(self.runs)) - 1)
        guard = ev.bool(terminal.when) if terminal.when is not None else t.true
        handled = failures(terminal.when)
        named = {*(terminal.after or ()), *mentioned(terminal.when)}
        preds = [self.order.position[p] for p in sorted(named) if p in self.order.position]
        dead = self.dead(tuple(preds), handled)
        if len(preds) < len(named):
            dead = t.true  # it waits for something that is not there
        alive = t.not_(dead)
        musts = [(n, t.and_(alive, reached)) for n, reached in ev.musts]
        return t.and_(alive, guard), musts, t.implies(alive, ev.defined())

    def ends(self, terminal: Terminal) -> Term:
        """END({terminal}): it fires, and no other terminal does (that two may fire is a finding of its own)."""
        t = self.terms
        fires, _, defined = self.fires(terminal)
        parts = [fires, defined]
        for other in self.order.terminals:
            if other is not terminal:
                also, _, ok = self.fires(other)
                parts.append(t.not_(t.and_(also, ok)))
        return t.and_(*parts)

    def alternatives(self) -> Iterator[list[int]]:
        """Other linearizations: listed last first, and observers of volatile fluents last."""
        if len(self.runs) <= WIDEST:
            volatile = {n for n, f in self.domain.fluents.items() if f.volatile}
            pins = [
                any(o.fluent in volatile for o in r.tool.observes) if r.tool is not None else False for r in self.runs
            ]
            if any(pins):
                yield self.order.linearize(lambda p: int(pins[p]))
            yield self.order.linearize(lambda p: -p)

    def _prepared(self, today: date | datetime | None) -> Replayer:
        if self._replayer is None:
            self._replayer = Replayer(self.contract, self.proposal, today)
        return self._replayer

    def replay(self, scenario: Scenario, today: date | datetime | None) -> Trace:
        """Executes a scenario on the concrete step machine, which is prepared once."""
        return self._prepared(today).replay(scenario)

    def plan(self, today: date | datetime | None) -> Plan:
        """The proposal as the step machine executes it."""
        return self._prepared(today).plan

    @property
    def everything(self) -> int:
        return (1 << len(self.runs)) - 1


def _handled(proposal: Proposal) -> set[str]:
    return set().union(*(failures(n.when) for n in proposal.nodes))
