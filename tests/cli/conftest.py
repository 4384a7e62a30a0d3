"""Spec files and stand-in verdicts for the commands: what is tested here is the command line, not the checker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cfrc.verify
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.verdict import Finding, Stats, Status, Verdict

DOMAIN = """\
domain shop
    id Item
    effect sold(item: Item)
    write sell(item: Item)
        causes sold(item)
"""
CONTRACT = """\
contract deal for shop
    fixed item: Item = "I-1" from user turn 1
    owes sale: sold(item)
    allow sell
"""
PROPOSAL = """\
proposal {name} for deal
    s = sell(item: item)
    done claims sale
"""


@pytest.fixture
def contract_file(tmp_path: Path) -> Path:
    path = tmp_path / "contract.cfrc"
    path.write_text(DOMAIN + CONTRACT)
    return path


@pytest.fixture
def proposal_file(tmp_path: Path) -> Path:
    path = tmp_path / "proposal.cfrc"
    path.write_text(PROPOSAL.format(name="plan"))
    return path


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    path = tmp_path / "spec.cfrc"
    path.write_text(DOMAIN + CONTRACT + PROPOSAL.format(name="one") + PROPOSAL.format(name="two"))
    return path


def finding(status: Status) -> tuple[Finding, ...]:
    match status:
        case Status.REFUSED:
            return (Finding("COV001", "coverage", "`sale` is not discharged", obligation="sale"),)
        case Status.UNDECIDED:
            return (Finding("UND001", "coverage", "the budget ran out", severity="undecided"),)
        case Status.WITHHELD:
            return (Finding("CON001", "contract", "`item` has no source"),)
    return ()


@pytest.fixture
def verdict_is(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """``verdict_is(status)`` makes every admission and support check end so; ``one=status`` overrides one proposal.

    Returns the list of keyword arguments of the calls.
    """

    def install(status: Status, **others: Status) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def admit(contract: Contract, proposal: Proposal, **options: Any) -> Verdict:
            calls.append(options)
            found = others.get(proposal.name, status)
            return Verdict(found, contract.name, proposal.name, finding(found), stats=Stats(3, 3))

        def support(contract: Contract, **options: Any) -> Verdict:
            calls.append(options)
            return Verdict(status, contract.name, None, finding(status))

        monkeypatch.setattr(cfrc.verify, "admit", admit, raising=False)
        monkeypatch.setattr(cfrc.verify, "support", support, raising=False)
        return calls

    return install
