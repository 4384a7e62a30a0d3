"""An admitted proposal survives random runs: no legal scenario of an admitted case violates anything.

This is soundness as ``docs/semantics.md`` §5 promises it, over worlds, receipts, orders, failures and changes by others.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.lang.load import load
from cfrc.model.graph import without
from cfrc.model.judge import Replayer
from cfrc.model.simulate import simulations
from cfrc.model.verdict import Status
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit

RUNS = 15


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(cases(), st.integers(0, 2**32))
def test_no_run_of_an_admitted_proposal_goes_wrong(case: Case, seed: int) -> None:
    assume(admit(case.contract, case.proposal).status is Status.ADMITTED)
    replayer = Replayer(case.contract, case.proposal)
    for scenario in islice(simulations(case.contract, case.proposal, Random(seed)), RUNS):
        trace = replayer.replay(scenario)
        assert trace.legal, trace.problem
        assert not trace.violations, (scenario, trace.violations)


SPECS = Path(__file__).parents[1] / "specs"


@pytest.mark.parametrize("folder", sorted(p.name for p in SPECS.iterdir() if p.is_dir() and p.name[0] not in "._"))
def test_no_run_of_an_admitted_proposal_in_a_spec_file_goes_wrong(folder: str) -> None:
    for path in sorted((SPECS / folder).rglob("*.cfrc")):
        spec = load(path)
        subjects = [(c.subject, c.without) for c in spec.checks if c.target == "proposal"]
        for name, gone in dict.fromkeys(subjects):
            proposal = without(spec.proposals[name], gone)
            contract = spec.contracts[proposal.contract]
            if admit(contract, proposal).status is not Status.ADMITTED:
                continue
            replayer = Replayer(contract, proposal)
            for scenario in islice(simulations(contract, proposal, Random(path.name)), RUNS):
                trace = replayer.replay(scenario)
                assert trace.legal, (path, name, trace.problem)
                assert not trace.violations, (path, name, scenario, trace.violations)
