"""Freezing real runs: every prefix of a recorded task becomes a contract that the record bears out, and a chain of
freezes says the same as one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import cfrc
from cfrc.handoff.freezing.freeze import freeze, reload
from cfrc.handoff.freezing.typing import ledger_of
from cfrc.lang.load import load
from cfrc.model.domain import Domain
from cfrc.model.ledger import Choice
from cfrc.model.transcript import Attempt, Event, Message, Transcript

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
OWN = ROOT / "tests" / "adapters"
EVERY = 12
"""Of the real tasks, every twelfth; of our own, all."""

RUNS = [
    pytest.param("retail", OWN / "retail_runs.jsonl", 1, id="own-retail"),
    pytest.param("support", OWN / "support_runs.jsonl", 1, id="own-support"),
    pytest.param("retail", SHARED / "tau2-retail" / "tasks.jsonl", EVERY, id="tau2-retail"),
    pytest.param("support", SHARED / "state-bench-customer-support" / "tasks.jsonl", EVERY, id="state-bench"),
]


def tasks(path: Path, every: int) -> list[dict[str, Any]]:
    if not path.exists():
        pytest.skip("the recorded runs are not on this machine")
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line, parse_float=Decimal) for line in lines[::every] if line.strip()]


def domain_of(name: str) -> Domain:
    return next(iter(load(ROOT / "specs" / "domains" / f"{name}.cfrc").domains.values()))


def transcript(task: dict[str, Any], cut: int) -> Transcript:
    """The first calls of a recorded task, as a conversation that was cut there."""
    return Transcript(task["request"], tuple(_events(task, cut)))


def _events(task: dict[str, Any], cut: int) -> Iterator[Event]:
    yield Message(1, "user", task["request"])
    for i, action in enumerate(task["actions"][:cut]):
        error = action.get("error")
        yield Attempt(
            f"c{i}", 1, action["name"], action.get("arguments", {}), 1, i, "failure" if error else "success",
            None if error else action.get("result"), str(error) if error else None,
        )  # fmt: skip


@pytest.mark.parametrize(("name", "path", "every"), RUNS)
def test_every_prefix_freezes_and_bears_an_audit(name: str, path: Path, every: int) -> None:
    domain = domain_of(name)
    kept = 0
    for task in tasks(path, every):
        for cut in range(len(task["actions"]) + 1):
            ledger, notes = ledger_of(domain, transcript(task, cut))
            assert not [n for n in notes if n.code != "FRZ014"], (task["id"], cut)
            frozen = freeze(
                domain, ledger, owes=["other: cancelled(_, _)" if name == "retail" else "other: order_cancelled(_)"]
            )
            assert not cfrc.audit_contract(frozen.contract, ledger).findings, (task["id"], cut)
            assert reload(frozen.text, domain).digest == frozen.contract.digest
            kept += len(frozen.contract.kept)
            said = {e.value for e in ledger.entries if isinstance(e, Choice)}
            assert said <= {n.value for n in frozen.contract.names.values() if n.fixed}
    assert kept


@pytest.mark.parametrize(("name", "path", "every"), RUNS[:2])
def test_a_chain_of_freezes_says_what_one_says(name: str, path: Path, every: int) -> None:
    domain = domain_of(name)
    for task in tasks(path, every):
        last = freeze(domain, ledger_of(domain, transcript(task, 0))[0]).contract
        for cut in range(1, len(task["actions"]) + 1):
            ledger, _ = ledger_of(domain, transcript(task, cut))
            last = freeze(last, ledger).contract
        whole = freeze(domain, ledger_of(domain, transcript(task, len(task["actions"])))[0]).contract
        assert {(k.effect, k.args) for k in last.kept} == {(k.effect, k.args) for k in whole.kept}
        assert {(f.fluent, f.args, f.value) for f in last.facts} == {(f.fluent, f.args, f.value) for f in whole.facts}
        assert {n: v.value for n, v in last.names.items()} == {n: v.value for n, v in whole.names.items()}
        assert last.head == whole.head
