"""The faults of real reports, frozen: what each record leaves is kept, in doubt or owed, and the plans of the reports
are judged against what was frozen instead of what was written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import cfrc
from cfrc.handoff.freezing.freeze import Frozen, freeze
from cfrc.lang.load import load, load_proposal
from cfrc.model.contract import Contract
from cfrc.model.verdict import Status

CASES = Path(__file__).parents[1] / "specs" / "cases"
FILES = sorted(p for p in CASES.glob("*.cfrc") if "\nledger " in p.read_text(encoding="utf-8"))


def as_task(contract: Contract) -> Contract:
    """The contract as it was before anything happened: what was asked, and what the user had said."""
    names = {n: v for n, v in contract.names.items() if v.origin is None or v.origin.kind == "user"}
    return replace(contract, names=names, kept=(), facts=(), doubts=(), approvals=())


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_whatever_was_recorded_is_in_the_next_contract(path: Path) -> None:
    spec = load(path)
    frozen = 0
    for contract in spec.contracts.values():
        for ledger in spec.ledgers.values():
            if contract.domain == ledger.domain:
                task = as_task(contract)
                result = freeze(task, ledger)
                found = cfrc.audit_contract(result.contract, ledger, before=task).findings
                assert {f.code for f in found} <= {"CFRC-LED013"}, (contract.name, ledger.name)
                frozen += 1
    assert frozen


def after(case: str, contract: str, ledger: str) -> Frozen:
    spec = load(CASES / f"case-{case}.cfrc")
    return freeze(as_task(spec.contracts[contract]), spec.ledgers[ledger])


def judged(case: str, frozen: Frozen, proposal: str) -> Status:
    plan = load_proposal(CASES / f"case-{case}.cfrc", frozen.contract, proposal)
    return cfrc.admit(frozen.contract, replace(plan, contract=frozen.contract.name)).status


def owed(frozen: Frozen) -> set[str]:
    return {o.name for o in frozen.contract.obligations}


def test_case_001_a_wish_that_was_carried_out_is_kept_and_not_owed() -> None:
    done = after("001", "forgot", "history")
    assert done.kind == "complete" and [k.effect for k in done.contract.kept] == ["priced"]
    refused = after("001", "forgot", "refused")
    assert refused.kind == "contract" and owed(refused) == {"o1"} and not refused.contract.kept


def test_case_005_what_was_agreed_in_the_turn_of_the_handoff_is_bound() -> None:
    lost = after("005", "lost", "talk")
    assert [(n.value, n.fixed) for n in lost.contract.names.values()] == [("A7", True)]
    corrected = after("005-corrected", "first_word", "talk")
    assert "A8" in {n.value for n in corrected.contract.names.values() if n.fixed}


def test_case_009_a_call_without_an_outcome_is_in_doubt_until_the_receipts_tell() -> None:
    session = after("009", "from_session", "session")
    assert [d.effect for d in session.contract.doubts] == ["paid"] and not session.contract.kept
    both = after("009", "from_session", "both")
    assert [k.effect for k in both.contract.kept] == ["paid"] and not both.contract.doubts
    assert owed(both) == {"filing"}
    # The receipts come in later: the next contract of the chain knows.
    spec = load(CASES / "case-009.cfrc")
    later = freeze(session.contract, spec.ledgers["receipts"])
    assert [k.effect for k in later.contract.kept] == ["paid"] and not later.contract.doubts


def test_case_011_half_of_the_work_leaves_the_other_half() -> None:
    assert owed(after("011", "job", "returned")) == {"o2"}
    assert owed(after("011", "job", "not_fine")) == {"o2"}
    assert after("011", "job", "finished").kind == "complete"


def test_case_027_an_unknown_charge_is_looked_up_and_never_made_again() -> None:
    frozen = after("027", "forgot", "crashed")
    assert judged("027", frozen, "charges_again") is Status.REFUSED
    assert judged("027", frozen, "looks_away") is Status.REFUSED
    assert judged("027", frozen, "reconciles") is Status.ADMITTED
    declined = after("027", "forgot", "declined")
    assert not declined.contract.doubts and judged("027", declined, "after_failure") is Status.ADMITTED


def test_case_029_a_replayed_turn_repeats_what_is_kept_and_what_is_in_doubt() -> None:
    frozen = after("029", "checkpoint", "turn")
    assert owed(frozen) == {"notice"}
    assert judged("029", frozen, "replays") is Status.REFUSED
    assert judged("029", frozen, "finds_out") is Status.ADMITTED


def test_case_041_a_second_run_finds_nothing_to_do() -> None:
    frozen = after("041", "second_run", "first_run")
    assert frozen.kind == "complete" and judged("041", frozen, "mails_again") is Status.REFUSED
    # Of two mails to one address one was sent: a contract cannot ask for "the same once more".
    assert after("041", "a_reminder", "first_run").kind == "withheld"


def test_case_043_a_failure_that_may_have_acted_is_a_doubt() -> None:
    frozen = after("043", "forgot", "errored")
    assert [d.origin.status for d in frozen.contract.doubts if d.origin is not None] == ["failure"]
    assert judged("043", frozen, "same_again") is Status.REFUSED
    assert judged("043", frozen, "looks_first") is Status.ADMITTED


def test_case_047_of_a_dropped_call_every_step_is_in_doubt_until_it_is_looked_up() -> None:
    dropped = after("047", "unsettled", "dropped")
    assert {d.args for d in dropped.contract.doubts} == {("w1",), ("w2",), ("w3",)}
    assert judged("047", dropped, "retries") is Status.REFUSED
    looked = after("047", "unsettled", "looked_up")
    assert [k.args for k in looked.contract.kept] == [("w1",)] and not looked.contract.doubts
    assert owed(looked) == {"two", "three"}


def test_case_061_a_definite_failure_is_no_doubt_and_a_retry_is_another_attempt() -> None:
    first = after("061", "resume", "first")
    assert not first.contract.doubts and judged("061", first, "retries") is Status.ADMITTED
    assert after("061", "resume", "retried").kind == "complete"
    unknown = after("061", "resume", "unknown_first")
    assert len(unknown.contract.doubts) == 1 and judged("061", unknown, "blind") is not Status.ADMITTED
