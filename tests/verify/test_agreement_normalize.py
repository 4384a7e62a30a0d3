"""Deciding by normalization and deciding by the solver agree: the same verdict and the same findings.

With ``normalize=False`` terms do not fold, so that questions which normalization answers by construction go to Z3.
Two differences are allowed. Where a proposal is refused anyway, either way may leave a further question open, and must
then say so. Annotations (``covers``) are compared with folded terms only: ``COV006`` is left out.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from cfrc.model.verdict import Status, Verdict
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit

Subject = tuple[str, str | None, str | None]


def found(verdict: Verdict) -> set[Subject]:
    """What the errors of a verdict are about."""
    return {(f.code, f.node, f.obligation) for f in verdict.errors if f.code != "CFRC-COV006"}


def left_open(verdict: Verdict) -> set[Subject]:
    """The questions that a verdict leaves open: an undecided finding quotes its code first."""
    open_ = [f for f in verdict.findings if f.severity == "undecided"]
    return {(f"CFRC-{f.message.split('`')[1]}", f.node, f.obligation) for f in open_}


def disagreement(case: Case) -> str | None:
    """What the two ways of deciding say differently, if anything."""
    folded = admit(case.contract, case.proposal)
    solved = admit(case.contract, case.proposal, normalize=False)
    text = f"normalized: {folded.status.word} {found(folded)}, solved: {solved.status.word} {found(solved)}"
    words = [Status.REFUSED if found(v) and v.status is not Status.WITHHELD else v.status for v in (folded, solved)]
    if words[0] is not words[1] and "CFRC-COV006" not in {f.code for f in folded.errors}:
        return text
    if found(folded) - found(solved) - left_open(solved) or found(solved) - found(folded) - left_open(folded):
        return text
    return None


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(cases())
def test_normalization_and_solver_agree(case: Case) -> None:
    assert disagreement(case) is None
