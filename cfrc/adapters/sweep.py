"""Turns recorded runs and a judge into a report: every cut judged, every admitted remainder broken in single ways.

The judge is given (``cfrc.admit``). Contracts and proposals are written as spec text and read back, so that the whole
way from a file to a verdict is walked. What the record does not support is told apart from what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from cfrc.adapters.handoffs import Case, handoffs
from cfrc.adapters.keep import Place, case_text, check_line, place
from cfrc.adapters.mutants import Mutant, mutants
from cfrc.adapters.runs import TaskRun
from cfrc.adapters.text import proposal_text
from cfrc.lang.diagnostics import SpecError
from cfrc.lang.load import load, load_proposal
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.graph import Proposal
from cfrc.model.verdict import Status, Verdict
from cfrc.source import Source

Judge = Callable[[Contract, Proposal], Verdict]
Cases = Callable[[Domain, TaskRun], Iterable[Case]]
Breaks = Callable[[Case, int | None], Iterable[Mutant]]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """``expected`` says whether the verdict is right: admitted without gaps; with gaps refused, each gap named."""

    case: Case
    status: Status
    codes: tuple[str, ...]
    kinds: tuple[str, ...]
    expected: bool
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MutantResult:
    """``outcome``: ``killed`` (by the right kind), ``other kind``, ``equivalent``, ``undecided``, ``survived``, or
    ``false alarm`` (an equivalent one that was refused)."""

    case: str
    mutant: Mutant
    outcome: str
    kinds: tuple[str, ...]
    codes: tuple[str, ...]


@dataclass(slots=True)
class Report:
    runs: int = 0
    cases: list[CaseResult] = field(default_factory=list)
    mutants: list[MutantResult] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)
    """Cases whose text could not be read back: a fault of this program."""
    seconds: float = 0.0
    judging: float = 0.0

    @property
    def surprises(self) -> list[CaseResult]:
        return [c for c in self.cases if not c.expected]

    @property
    def undecided_only(self) -> bool:
        """Whether nothing is wrong but that something was not decided."""
        wrong = {m.outcome for m in self.mutants} - {"killed", "equivalent", "undecided"}
        return not self.broken and not wrong and all(c.status is Status.UNDECIDED for c in self.surprises)

    @property
    def clean(self) -> bool:
        """Whether every case got the right verdict and every mutant the right finding, nothing undecided."""
        fine = {"killed", "equivalent"}
        return not self.broken and not self.surprises and all(m.outcome in fine for m in self.mutants)


def sweep(
    domain: Domain, domain_path: Path, runs: Iterable[TaskRun], judge: Judge, *,
    mutate: bool = True, most: int | None = None, out: Path | None = None,
    progress: Callable[[str], None] | None = None, cases: Cases = handoffs, breaks: Breaks = mutants,
) -> Report:  # fmt: skip
    """Judges every case of every run, by default every cut. ``most`` bounds the mutants of each rule and case; ``out``
    keeps the cases as files that load as they are, each with a check of the verdict found.

    Raises ``OSError`` when the cases cannot be written.
    """
    report, start = Report(), perf_counter()
    at = place(domain_path, out)
    for run in runs:
        report.runs += 1
        if progress is not None:
            progress(run.id)
        for case in cases(domain, run):
            _case(report, case, at, judge, breaks if mutate else _unbroken, most, out is not None)
    report.seconds = perf_counter() - start
    return report


def _unbroken(case: Case, most: int | None) -> Iterable[Mutant]:
    return ()


def _case(
    report: Report, case: Case, at: Place, judge: Judge, breaks: Breaks, most: int | None, keep: bool
) -> None:  # fmt: skip
    text = case_text(case, at.domain)
    file = at.folder / f"{case.name}.cfrc"
    if keep:
        file.write_text(text, encoding="utf-8")
    try:
        spec = load(Source(str(file), text))
    except SpecError as error:
        report.broken.append((case.name, "; ".join(d.message for d in error.diagnostics[:3])))
        return
    contract = spec.contracts[case.name]
    proposal = Proposal("nothing", case.name, ()) if case.proposal is None else spec.proposals[case.proposal.name]
    verdict = _judged(report, judge, contract, proposal)
    if keep:
        file.write_text(f"{text}{check_line(case, verdict)}", encoding="utf-8")
    codes = tuple(sorted({f.code.removeprefix("CFRC-") for f in verdict.errors}))
    kinds = tuple(sorted({f.kind for f in verdict.errors}))
    messages = tuple(f"{f.code.removeprefix('CFRC-')} {f.node or ''}: {f.message}" for f in verdict.findings)
    report.cases.append(CaseResult(case, verdict.status, codes, kinds, _right(case, verdict, set(codes)), messages))
    if verdict.status is Status.ADMITTED:
        for mutant in breaks(case, most):
            report.mutants.append(_mutant(report, case, mutant, contract, judge))


def _judged(report: Report, judge: Judge, contract: Contract, proposal: Proposal) -> Verdict:
    start = perf_counter()
    verdict = judge(contract, proposal)
    report.judging += perf_counter() - start
    return verdict


def _right(case: Case, verdict: Verdict, codes: set[str]) -> bool:
    if case.proposal is None:
        return verdict.status in (Status.COMPLETE, Status.FRESH)
    if verdict.status is Status.FRESH:
        return not case.contract.kept and not any(n.fixed for n in case.contract.names.values())
    if not case.gaps:
        return verdict.status is Status.ADMITTED
    return verdict.status is Status.REFUSED and all(g.codes & codes for g in case.gaps)


def _mutant(report: Report, case: Case, mutant: Mutant, contract: Contract, judge: Judge) -> MutantResult:
    text = proposal_text(mutant.proposal, mutant.answers)
    try:
        proposal = load_proposal(Source(f"<{case.name}: {mutant.rule}>", text), contract)
    except SpecError as error:
        report.broken.append((case.name, f"{mutant.rule}: {error.diagnostics[0].message}"))
        return MutantResult(case.name, mutant, "other kind", (), ())
    verdict = _judged(report, judge, contract, proposal)
    kinds = tuple(sorted({f.kind for f in verdict.errors}))
    codes = tuple(sorted({f.code.removeprefix("CFRC-") for f in verdict.errors}))
    return MutantResult(case.name, mutant, outcome(mutant, verdict.status, set(kinds), set(codes)), kinds, codes)


def outcome(mutant: Mutant, status: Status, kinds: set[str], codes: set[str]) -> str:
    """What became of a mutant: see :class:`MutantResult`."""
    if status is Status.UNDECIDED:
        return "undecided"
    if mutant.equivalent is not None:
        return "equivalent" if status is Status.ADMITTED else "false alarm"
    if status is Status.ADMITTED:
        return "survived"
    named = bool(mutant.kinds & kinds) and (mutant.code is None or mutant.code in codes)
    return "killed" if named else "other kind"


# -- as text and as JSON ----------------------------------------------------------------------------------------------


def lines(report: Report, *, listing: bool = False) -> Iterator[str]:
    """The report for a terminal."""
    statuses = Counter(c.status.word for c in report.cases)
    owing = sum(c.case.proposal is not None for c in report.cases)
    nothing = len(report.cases) - owing
    runs = f"{report.runs} run{'s' if report.runs != 1 else ''}"
    yield f"{runs}, {len(report.cases)} cuts: {owing} still owe a write, {nothing} owe nothing"
    for word in ("admitted", "refused", "undecided", "withheld", "fresh", "complete"):
        if statuses[word] or word == "undecided":
            yield f"  {word:<10}{statuses[word]:>6}" + (f"   {_by_kind(report)}" if word == "refused" else "")
    gaps = Counter(why for c in report.cases if c.case.proposal is not None for why in {g.why for g in c.case.gaps})
    failed = sum(bool(c.case.failures) for c in report.cases if c.case.proposal is not None)
    yield "not supported by the record: " + (", ".join(f"{why} {n}" for why, n in sorted(gaps.items())) or "nothing")
    yield f"with a call that failed when recorded: {failed}"
    yield f"verdicts other than expected: {len(report.surprises)}"
    for c in report.surprises if not listing else ():
        yield from _told(c)
    if listing:
        for c in report.cases:
            if c.status not in (Status.ADMITTED, Status.COMPLETE) or not c.expected:
                yield from _told(c)
    yield from _mutant_lines(report)
    for name, message in report.broken:
        yield f"  broken: {name}: {message}"
    yield f"{report.seconds:.1f} s, of which judging {report.judging:.1f} s"


def _by_kind(report: Report) -> str:
    kinds = Counter(k for c in report.cases for k in c.kinds)
    return ", ".join(f"{k} {n}" for k, n in kinds.most_common())


def _told(c: CaseResult) -> Iterator[str]:
    yield f"  {c.case.name}: {c.status.word}{'' if c.expected else ' (not expected)'} {' '.join(c.codes)}"
    for g in c.case.gaps:
        yield f"      {g.why} at {g.node}: {g.what}"
    if not c.expected:
        yield from (f"      {m}" for m in c.messages[:6])


def _mutant_lines(report: Report) -> Iterator[str]:
    outcomes = Counter(m.outcome for m in report.mutants)
    yield f"{len(report.mutants)} mutants: " + (", ".join(f"{o} {n}" for o, n in outcomes.most_common()) or "none")
    by_rule: dict[str, Counter[str]] = {}
    for m in report.mutants:
        by_rule.setdefault(m.mutant.rule, Counter())[m.outcome] += 1
    widest = max(map(len, by_rule), default=0)
    for rule, found in by_rule.items():
        yield f"  {rule:<{widest}}  " + ", ".join(f"{o} {n}" for o, n in found.most_common())
    reasons = Counter(m.mutant.equivalent for m in report.mutants if m.outcome == "equivalent")
    for reason, n in reasons.most_common():
        yield f"  equivalent, {n}: {reason}"
    for m in report.mutants:
        if m.outcome not in ("killed", "equivalent"):
            wanted = "/".join(sorted(m.mutant.kinds)) + (f" {m.mutant.code}" if m.mutant.code else "")
            found_ = " ".join(m.codes) or "nothing"
            yield f"  {m.outcome}: {m.case}: {m.mutant.rule} ({m.mutant.what}): wanted {wanted}, found {found_}"


def as_json(report: Report) -> dict[str, Any]:
    """The whole report as plain JSON."""
    return {
        "cfrc": 1,
        "runs": report.runs,
        "clean": report.clean,
        "seconds": round(report.seconds, 3),
        "cases": [
            {
                "name": c.case.name, "run": c.case.run.id, "cut": c.case.cut, "verdict": c.status.word,
                "expected": c.expected, "codes": list(c.codes), "kinds": list(c.kinds),
                "gaps": [{"why": g.why, "node": g.node, "what": g.what} for g in c.case.gaps],
                "failed_calls": [f.id for f in c.case.failures],
            }
            for c in report.cases
        ],
        "mutants": [
            {
                "case": m.case, "rule": m.mutant.rule, "what": m.mutant.what, "outcome": m.outcome,
                "expected": sorted(m.mutant.kinds), "code": m.mutant.code, "found": list(m.codes),
                "reason": m.mutant.equivalent,
            }
            for m in report.mutants
        ],
        "broken": [{"case": n, "message": m} for n, m in report.broken],
    }  # fmt: skip
