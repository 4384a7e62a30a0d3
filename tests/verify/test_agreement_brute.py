"""Admission agrees with brute force on random small cases: the same verdict, and the same kinds of finding.

Where brute force finds two unordered calls that interfere (PRS007), the orders differ in what else goes wrong, and
admission looks at one order only; then it must find the interference, and nothing that brute force does not find.
"""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from cfrc.model.verdict import Status, Verdict
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit
from tests.verify.brute import Report, TooLarge, decide


def disagreement(report: Report, verdict: Verdict) -> str | None:
    """What the two say differently, if anything."""
    if verdict.status is Status.UNDECIDED:
        return "admission is undecided"
    found = {str(f.kind) for f in verdict.errors}
    codes = {f.code.removeprefix("CFRC-") for f in verdict.errors}
    if report.admitted != (verdict.status is Status.ADMITTED):
        return f"brute force: {sorted(report.codes) or 'admitted'}, admission: {sorted(codes) or 'admitted'}"
    missing, extra = report.kinds - found, found - report.kinds
    if not report.exact:
        return f"admission misses {sorted(missing)}" if missing else None
    if "PRS007" in report.codes:
        missing = frozenset() if "PRS007" in codes else frozenset({"preservation"})
    if missing or extra:
        return f"brute force: {sorted(report.codes)}, admission: {sorted(codes)}"
    return None


@settings(max_examples=700, suppress_health_check=list(HealthCheck))
@given(cases())
def test_admission_agrees_with_brute_force(case: Case) -> None:
    try:
        report = decide(case.contract, case.proposal)
    except TooLarge:
        return
    verdict = admit(case.contract, case.proposal)
    assume(verdict.status not in (Status.WITHHELD, Status.COMPLETE, Status.FRESH))
    assert disagreement(report, verdict) is None
