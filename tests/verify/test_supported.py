"""A contract is withheld only where no plan could be admitted: what brute force admits is never withheld.

Only the findings that say "no plan" are meant (CON006, CON007); the others withhold for what the contract rests on.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.model.contract import Approval, Contract, Limit
from cfrc.model.verdict import Status
from cfrc.testing.strategies import Case, cases
from cfrc.verify import support
from tests.verify.brute import TooLarge, decide

IMPOSSIBLE = {"CFRC-CON006", "CFRC-CON007"}


@st.composite
def tightened(draw: st.DrawFn, contract: Contract) -> Contract:
    """The contract with limits and denials that leave little room, or none."""
    effects = contract.domain.effects
    limits, approvals = list(contract.limits), list(contract.approvals)
    if draw(st.booleans()):
        effect = draw(st.sampled_from(sorted(effects)))
        params = (None,) * len(effects[effect].params)
        limits.append(Limit("count", effect, params, None, draw(st.integers(0, 2))))
    if draw(st.integers(0, 3)) == 0 and contract.allow:
        approvals.append(Approval(draw(st.sampled_from(contract.allow)), (), denied=True))
    if draw(st.integers(0, 3)) == 0 and contract.obligations:
        o = draw(st.sampled_from(contract.obligations))
        more = draw(st.integers(1, 3))
        return replace(
            contract,
            limits=tuple(limits),
            approvals=tuple(approvals),
            obligations=tuple(replace(x, count=more) if x is o else x for x in contract.obligations),
        )
    return replace(contract, limits=tuple(limits), approvals=tuple(approvals))


@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(most_calls=4), st.data())
def test_what_is_withheld_is_never_admitted(case: Case, data: st.DataObject) -> None:
    contract = data.draw(tightened(case.contract))
    verdict = support(contract)
    assume(verdict.status is Status.WITHHELD and {f.code for f in verdict.findings} <= IMPOSSIBLE)
    try:
        report = decide(contract, case.proposal, limit=20_000)
    except TooLarge:
        assume(False)
        raise
    assert not report.admitted, [f.message for f in verdict.findings]
