"""Freezing over random domains, tasks and ledgers: what the audit asks for, in one step or in many, and nothing lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.handoff.freezing.freeze import Frozen, freeze
from cfrc.model.contract import Contract
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.verify import audit_contract
from tests.handoff.ledgers import cut, histories

QUICK = settings(max_examples=40, suppress_health_check=list(HealthCheck))
History = tuple[Contract, Ledger]
BREACHES = {"CFRC-FRZ002", "CFRC-FRZ003", "CFRC-FRZ004", "CFRC-FRZ016"}
"""Reasons about what a contract said and somebody did all the same. Frozen at once there was no contract to breach."""


def complaints(frozen: Frozen, ledger: Ledger, task: Contract) -> list[tuple[str, str]]:
    """What the audit finds, but for values that were to stay and did not: those are told, and withhold. What
    happened twice, though it happens once, did so before the freeze."""
    broken = any(f.code == "CFRC-FRZ003" for f in frozen.reasons)
    findings = audit_contract(frozen.contract, ledger, before=task).findings
    known = {"CFRC-LED013", "CFRC-LED009"} if broken else {"CFRC-LED013"}
    return [(f.code, f.message) for f in findings if f.code not in known]


def kept(c: Contract) -> Counter[object]:
    return Counter((k.effect, k.args) for k in c.kept)


def doubted(c: Contract) -> set[object]:
    return {(d.effect, d.args) for d in c.doubts}


def bound(c: Contract) -> dict[str, object]:
    return {n.name: (n.type, n.value) for n in c.names.values() if n.fixed}


@QUICK
@given(histories())
def test_what_is_frozen_is_what_the_record_says(history: History) -> None:
    task, ledger = history
    frozen = freeze(task, ledger)
    assert not complaints(frozen, ledger, task)
    assert (frozen.kind == "withheld") == bool(frozen.reasons)


@QUICK
@given(histories(), st.data())
def test_two_steps_are_one(history: History, data: st.DataObject) -> None:
    task, ledger = history
    first, second = cut(ledger, data.draw(st.integers(0, len(ledger.entries))))
    half = freeze(task, first)
    whole, twice = freeze(task, ledger), freeze(half.contract, second)
    assert not complaints(twice, ledger, task)
    a, b = whole.contract, twice.contract
    assert kept(a) == kept(b)
    assert doubted(a) == doubted(b)
    assert bound(a) == bound(b)
    assert {n: v.value for n, v in a.names.items()} == {n: v.value for n, v in b.names.items()}
    assert Counter(a.approvals) == Counter(b.approvals)
    assert a.head == b.head
    # To the last word, unless something happened on the way that only the second step can see as a breach.
    told = BREACHES & {f.code for f in twice.reasons}
    noted = any(f.code == "CFRC-FRZ010" for f in half.notes)
    assert told or noted or a.digest == b.digest


@QUICK
@given(histories(), st.data())
def test_no_obligation_is_lost_between_two_steps(history: History, data: st.DataObject) -> None:
    task, ledger = history
    first, second = cut(ledger, data.draw(st.integers(0, len(ledger.entries))))
    whole, twice = freeze(task, ledger), freeze(freeze(task, first).contract, second)
    told = BREACHES & {f.code for f in twice.reasons}
    noted = any(f.code == "CFRC-FRZ010" for f in freeze(task, first).notes)
    lost = {o.name for o in whole.contract.obligations} - {o.name for o in twice.contract.obligations}
    assert not lost or told or noted


@QUICK
@given(histories())
def test_nothing_new_changes_nothing(history: History) -> None:
    task, ledger = history
    frozen = freeze(task, ledger)
    again = freeze(frozen.contract, replace(ledger, entries=()))
    assert again.text == frozen.text and again.contract.digest == frozen.contract.digest
    # The whole record again is no news either: the head says how far it is known.
    if ledger.entries:
        assert freeze(frozen.contract, ledger).text == frozen.text


@QUICK
@given(histories(), st.data())
def test_nothing_that_was_known_is_lost(history: History, data: st.DataObject) -> None:
    task, ledger = history
    first, second = cut(ledger, data.draw(st.integers(0, len(ledger.entries))))
    before, after = freeze(task, first), freeze(freeze(task, first).contract, second)
    ended = {f.code for f in after.reasons} & {"CFRC-FRZ002"}
    assert ended or not kept(before.contract) - kept(after.contract) - Counter(doubted(after.contract))
    settles = any(isinstance(e, Receipt) and e.status == "success" for e in second.entries)
    assert settles or doubted(before.contract) <= doubted(after.contract)
    accepted = {e.name for e in second.entries if isinstance(e, Choice)}
    for name, what in bound(before.contract).items():
        assert name in accepted or bound(after.contract)[name] == what
    assert set(before.contract.names) <= set(after.contract.names)
    denied = [a for a in before.contract.approvals if a.denied]
    assert all(a in after.contract.approvals for a in denied)
    assert after.contract.limits == before.contract.limits
    assert after.contract.allow == before.contract.allow
