"""Turns a contract and a proposal into the judgement z ⊢ H (``docs/semantics.md`` §3), made before the first live
write.

The stages: static findings on the graph, symbolic runs, verification conditions, decision, and — only when nothing else
is wrong — whether some run ends in ``done`` at all. A refusal lists every finding, not the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property
from time import perf_counter

from cfrc.collector import collector_paused
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal, Terminal
from cfrc.model.verdict import Finding, Stats, Status, Verdict
from cfrc.verify.advise import advise
from cfrc.verify.condition import Conditions, spans
from cfrc.verify.conditions import (
    authority,
    binding,
    coverage,
    dependency,
    evidence,
    grounding,
    interference,
    limits,
    preservation,
    scope,
    static,
    typing,
)
from cfrc.verify.decide import Decider
from cfrc.verify.frame import Frame
from cfrc.verify.ground import Ground
from cfrc.verify.needed import needs
from cfrc.verify.paths import Paths
from cfrc.verify.reach import unreachable
from cfrc.verify.spelled import spelled_out
from cfrc.verify.supported import supported
from cfrc.verify.terms import Terms
from cfrc.verify.tidy import tidied

DEFAULT_BUDGET = 20_000_000
"""Deterministic solver units a query (``rlimit``)."""


def admit(
    contract: Contract,
    proposal: Proposal,
    *,
    budget: int = DEFAULT_BUDGET,
    normalize: bool = True,
    today: date | datetime | None = None,
    advice: bool = False,
) -> Verdict:
    """Judges a proposal against a contract.

    ``budget`` bounds every solver query deterministically. ``normalize=False`` sends every question to the solver (used
    to test one way of deciding against the other). ``today`` is the time against which approvals expire when the
    contract has no ``as of``; it defaults to now. ``advice=True`` looks for the one change that would turn a
    refusal into an admission.

    Returns a :class:`Verdict`: ``admitted``, ``undecided``, ``refused``, ``withheld`` (the contract itself is not
    supported) or ``complete``/``fresh`` (nothing to do, and nothing wrong with the calls that it makes all the same).
    Never raises for any resolved input.
    """
    return Admission(contract, budget=budget, normalize=normalize, today=today).admit(proposal, advice)


class Admission:
    """A contract prepared for judging any number of proposals: its support and its frame are worked out once.

    Takes the same arguments as :func:`admit`. ``supported`` is the contract's own verdict (``cfrc verify``).
    """

    def __init__(
        self,
        contract: Contract,
        *,
        budget: int = DEFAULT_BUDGET,
        normalize: bool = True,
        today: date | datetime | None = None,
    ) -> None:
        self.contract = contract
        self.budget = budget
        self.today = today if today is not None else datetime.now(UTC)
        self.normalize = normalize
        self._spelled = spelled_out(contract)
        ground = Ground(self._spelled, self.today)
        self.supported = supported(self._spelled, ground, budget)
        self._ground = ground if normalize else None

    @cached_property
    def _frame(self) -> Frame:
        """What formulas need of the contract; a contract whose proposals are all literal never asks for it."""
        return Frame(Terms(fold=self.normalize), self._spelled)

    def admit(self, proposal: Proposal, advice: bool = False) -> Verdict:
        """Judges one proposal; see :func:`admit`."""
        with collector_paused():
            verdict = self._judge(proposal)
            if not advice or verdict.status is not Status.REFUSED:
                return verdict
            found = advise(self.contract, proposal, list(verdict.findings), lambda p: self._judge(p).status)
            return replace(verdict, findings=tuple(found))

    def _judge(self, proposal: Proposal) -> Verdict:
        start = perf_counter()
        contract = self.contract
        own = self.supported
        idle = all(isinstance(n, Terminal) and n.kind == "yield" for n in proposal.nodes)
        if own.status is Status.WITHHELD or (own.status is not Status.ADMITTED and idle):
            return Verdict(own.status, contract.name, proposal.name, own.findings, stats=own.stats)
        if self._ground is not None and own.status is Status.ADMITTED:
            quick = self._ground.admit(proposal)
            if quick is not None:
                stats = Stats(quick.questions, quick.questions, 0, perf_counter() - start)
                return Verdict(own.status, contract.name, proposal.name, (), quick.needed, quick.unneeded, stats)
        paths = Paths(self._frame, proposal)
        decider = Decider(paths, self.budget, self.today)
        findings = [*typing.findings(contract.domain, proposal), *static.findings(paths), *grounding.findings(paths)]
        findings += decider.decide(conditions(paths, self.today))
        if not paths.order.cycle:
            findings += evidence.coverage_claims(paths, _contested(paths, findings))
        if own.status is Status.ADMITTED and not any(f.severity != "note" for f in findings):
            findings += unreachable(paths, decider)
        findings += _idle(paths)
        findings = tidied(paths.order, sorted(findings, key=_place))
        status = judge(findings)
        if status is Status.ADMITTED:
            status = own.status  # nothing was to be done; but what the proposal does all the same has been judged
        needed, unneeded = needs(paths, decider.core) if status is Status.ADMITTED else ((), ())
        stats = Stats(decider.obligations, decider.normalized, decider.solved, perf_counter() - start)
        return Verdict(status, contract.name, proposal.name, tuple(findings), needed, unneeded, stats)


def judge(findings: list[Finding]) -> Status:
    """Combined by the worst: a definite counterexample dominates undecided; undecided is never success."""
    if any(f.severity == "error" for f in findings):
        return Status.REFUSED
    if any(f.severity == "undecided" for f in findings):
        return Status.UNDECIDED
    return Status.ADMITTED


def conditions(paths: Paths, today: date | datetime) -> Conditions:
    """Every verification condition, kind by kind. A cyclic graph has no runs to END: its END conditions are not
    asked."""
    yield from authority.conditions(paths, today)
    yield from binding.conditions(paths)
    yield from dependency.conditions(paths)
    yield from preservation.conditions(paths)
    yield from interference.conditions(paths)
    yield from scope.conditions(paths)
    yield from limits.conditions(paths)
    if not paths.order.cycle:
        yield from coverage.conditions(paths)
        yield from evidence.conditions(paths)


def _contested(paths: Paths, findings: list[Finding]) -> int:
    """The calls that interfere with others, and those after them: what they do depends on the order."""
    found = [f for f in findings if f.code == "CFRC-PRS007"]
    places = {f.where for f in found} | {span for f in found for _, span in f.clauses}
    own = sum(1 << r.pos for r in paths.runs if r.call.span in places and found)
    return own | sum(1 << r.pos for r in paths.runs if not own >> r.pos & 1 and paths.order.anc[r.pos] & own)


def _idle(paths: Paths) -> Iterator[Finding]:
    """Calls that can never be made: a note."""
    for run in paths.runs:
        if run.called is paths.terms.false:
            yield Finding(
                code="CFRC-NOTE001",
                kind="dependency",
                message=f"`{run.call.id}` is never called",
                where=run.call.span,
                node=run.call.id,
                severity="note",
                clauses=spans(("the proposal", paths.proposal.span)),
            )


def _place(f: Finding) -> tuple[int, int, str]:
    """Errors first, then by place in the text."""
    rank = {"error": 0, "undecided": 1, "note": 2}[f.severity]
    return rank, f.where.start if f.where is not None else 0, f.code
