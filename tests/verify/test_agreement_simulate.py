"""An admitted proposal survives random runs: no legal scenario of an admitted case violates anything.

This is soundness as ``semantics.md`` §5 promises it, over worlds, receipts, orders, failures and changes by others.
"""

from __future__ import annotations

from itertools import islice
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.model.judge import Replayer
from cfrc.model.simulate import simulations
from cfrc.model.verdict import Status
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit

RUNS = 25


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(cases(), st.integers(0, 2**32))
def test_no_run_of_an_admitted_proposal_goes_wrong(case: Case, seed: int) -> None:
    assume(admit(case.contract, case.proposal).status is Status.ADMITTED)
    replayer = Replayer(case.contract, case.proposal)
    for scenario in islice(simulations(case.contract, case.proposal, Random(seed)), RUNS):
        trace = replayer.replay(scenario)
        assert trace.legal, trace.problem
        assert not trace.violations, (scenario, trace.violations)
