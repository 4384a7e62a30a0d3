"""The examples in the explanations of admission are true: each is refused (or not) with the code that it explains."""

from __future__ import annotations

import pytest

import cfrc
from cfrc.codes import explain
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify import admit, run_check
from tests.explained import examples, opening

ADMISSION = [(code, text) for code, text in examples() if explain(code).area == "admission"]


@pytest.mark.parametrize(("code", "text"), ADMISSION, ids=[code for code, _ in ADMISSION])
def test_the_example_has_the_finding_that_it_explains(code: str, text: str) -> None:
    spec = cfrc.load(Source(f"{code}.cfrc", text))
    for check in spec.checks:
        result = run_check(spec, check)
        assert result.passed, result.message
    plan = spec.proposals["plan"]
    verdict = admit(spec.contracts[plan.contract], plan)
    assert verdict.status is Status.REFUSED
    assert code in {f.code for f in verdict.findings}


def test_the_opening_example_is_admitted() -> None:
    spec = cfrc.load(Source("opening.cfrc", opening("admission")))
    verdict = cfrc.admit(spec.contracts["send_receipt"], spec.proposals["good"])
    assert verdict.status is Status.ADMITTED and not verdict.findings


def test_most_codes_have_an_example() -> None:
    without = {e for e in cfrc_admission_codes() if e not in {code for code, _ in ADMISSION}}
    assert without <= {"CFRC-GRD003", "CFRC-COV007", "CFRC-UND001", "CFRC-NOTE001"}


def cfrc_admission_codes() -> set[str]:
    from cfrc.codes import explanations

    return {e.code for e in explanations().values() if e.area == "admission"}
