"""Admission agrees with brute force on random small cases: the same verdict, and the same kinds of finding.

Where brute force finds two unordered calls that interfere (PRS007), the orders differ in what else goes wrong, and
admission looks at one order only; then it must find the interference, and nothing that brute force does not find.
Admission may leave a question open where its counterexample could not be replayed; it must then say so, name the code
that is open, and not admit.
"""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.testing.strategies import Case, cases
from cfrc.verify import admit
from tests.verify.brute import Report, TooLarge, decide

AREAS = {
    "TYP": "typing",
    "AUT": "authority",
    "GRD": "grounding",
    "BND": "binding",
    "DEP": "dependency",
    "PRS": "preservation",
    "SCP": "scope",
    "COV": "coverage",
    "EVD": "evidence",
}


def open_codes(findings: tuple[Finding, ...]) -> set[str]:
    """The codes that admission could neither confirm nor exclude."""
    return {f.message.split("`")[1] for f in findings if f.severity == "undecided" and "`" in f.message}


def disagreement(report: Report, verdict: Verdict, strict: bool = True) -> str | None:
    """What the two say differently, if anything. Unless ``strict``, an open question is no disagreement."""
    # What the annotation of a call claims that never returns is a matter of taste.
    errors = [f for f in verdict.errors if f.code != "CFRC-COV006" or f.node in report.returned]
    codes = {f.code.removeprefix("CFRC-") for f in errors}
    found = {str(f.kind) for f in errors}
    maybe = set() if strict else open_codes(verdict.findings)
    text = f"brute force: {sorted(report.codes) or 'admitted'}, admission: {sorted(codes) or verdict.status.word}"
    if verdict.status is Status.UNDECIDED and strict:
        return text
    if verdict.errors and not errors and report.codes <= {"COV002"}:
        return None
    if verdict.status is not Status.UNDECIDED and report.admitted != (verdict.status is Status.ADMITTED):
        return text
    missing, extra = report.kinds - found - {AREAS.get(c[:3]) for c in maybe}, found - report.kinds
    if "DEP004" in report.codes and "PRS007" in codes:
        extra -= {"preservation"}  # a pair one of which its tool would refuse: admission names it all the same
        missing -= {"dependency"}
    if not report.exact:
        return text if missing else None
    if "PRS007" in report.codes:
        missing = frozenset() if "PRS007" in codes | maybe else frozenset({"preservation"})
    return text if missing or extra else None


def judged(case: Case) -> Report:
    try:
        return decide(case.contract, case.proposal, limit=20_000)
    except TooLarge:
        assume(False)
        raise


@settings(max_examples=400, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_admission_agrees_with_brute_force(case: Case) -> None:
    report = judged(case)
    verdict = admit(case.contract, case.proposal)
    assume(verdict.status not in (Status.WITHHELD, Status.COMPLETE, Status.FRESH))
    assert disagreement(report, verdict, strict=False) is None


@settings(max_examples=80, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(most_calls=4))
def test_both_ways_of_deciding_agree(case: Case) -> None:
    quick = admit(case.contract, case.proposal)
    slow = admit(case.contract, case.proposal, normalize=False)
    if errors(quick) or not quick.errors:
        assert quick.status == slow.status
    assert errors(quick) == errors(slow)


def errors(verdict: Verdict) -> set[tuple[str, str | None, str | None]]:
    """What was found; annotations are compared on folded terms only, so ``normalize=False`` says nothing of them."""
    return {(f.code, f.node, f.obligation) for f in verdict.errors if not f.code.endswith("COV006")}
