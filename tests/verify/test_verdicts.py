"""A verdict is never a bool, and a proposal is judged against the contract that it answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import cfrc

SPEC = Path(__file__).parents[2] / "examples" / "invoice" / "good.cfrc"


def test_a_verdict_is_not_a_bool() -> None:
    spec = cfrc.load(SPEC)
    verdict = cfrc.admit(spec.contracts["send_receipt"], spec.proposals["good"])
    assert verdict.status is cfrc.Status.ADMITTED
    with pytest.raises(TypeError):
        bool(verdict)
    with pytest.raises(TypeError):
        bool(verdict.status)


def test_a_proposal_for_another_contract_is_refused() -> None:
    spec = cfrc.load(SPEC)
    other = replace(spec.proposals["good"], contract="somebody_elses")
    verdict = cfrc.admit(spec.contracts["send_receipt"], other)
    assert verdict.status is cfrc.Status.REFUSED
    assert [f.code for f in verdict.errors] == ["CFRC-TYP010"]
