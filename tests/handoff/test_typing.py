"""From a transcript to a ledger: nothing that does not fit is evidence, and nothing that may matter is dropped."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import cfrc
from cfrc.handoff.freezing.freeze import freeze
from cfrc.handoff.freezing.prose import find_token, find_value
from cfrc.handoff.freezing.typing import ledger_of, said_in
from cfrc.model.ledger import Choice, Receipt
from cfrc.model.transcript import Accepted, Approved, Attempt, Event, Message, Transcript
from cfrc.model.types import DATE, DECIMAL, Id
from cfrc.source import Source

DOMAIN = cfrc.load(
    Source(
        "d.cfrc",
        """
domain bank
    id Iban, Ref
    id Email canonical trim, lower
    effect sent(to: Iban, amount: decimal)
    effect told(to: Email)
    effect filed(ref: Ref)
    read bill(name: string) -> { iban: Iban, amount: decimal, due: date }
    read letter(name: string) -> text
    write send(to: Iban, amount: decimal, note: string = "") -> { ref: Ref }
        causes sent(to, amount)
        approved
    write tell(to: Email)
        causes told(to)
    write file() -> { ref: Ref }
        causes filed(result.ref)
""",
    )
).domains["bank"]
BILL = {"iban": "UK12", "amount": Decimal("98.70"), "due": "2026-12-01"}


def call(
    id: str, tool: str, args: dict[str, Any] | None, status: Any = "success", result: Any = None, **more: Any
) -> Attempt:
    return Attempt(id, more.pop("attempt", 1), tool, args, status=status, result=result, **more)


def said(turn: int, text: str, role: Any = "user") -> Message:
    return Message(turn, role, text)


def read(*events: Event) -> tuple[list[Any], list[str]]:
    ledger, notes = ledger_of(DOMAIN, Transcript("", tuple(events)))
    return list(ledger.entries), [n.code for n in notes]


def test_arguments_and_results_have_their_types() -> None:
    entries, notes = read(
        call("c1", "bill", {"name": "b"}, result=BILL), call("c2", "tell", {"to": " Ann@X.test "}, result="ok")
    )
    bill, tell = entries
    assert bill.result.get("amount") == Fraction(987, 10) and bill.status == "success"
    assert dict(tell.args) == {"to": "ann@x.test"} and tell.status == "success"  # no result is declared: any will do
    assert not notes


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (call("c1", "send", {"to": "UK12", "amount": 5}, result={"reference": 1}), "result"),
        (call("c1", "send", {"to": "UK12", "amount": 5}, result=None), "result"),
        (call("c1", "send", {"to": "UK12", "amount": "much"}, result={"ref": "r"}), "amount"),
        (call("c1", "send", {"to": "UK12"}, result={"ref": "r"}), "amount"),
        (call("c1", "send", {"to": "UK12", "amount": 5, "dry_run": True}, result={"ref": "r"}), "dry_run"),
        (call("c1", "send", None, result={"ref": "r"}, broken="the arguments are no JSON"), "no JSON"),
    ],
)
def test_a_success_that_does_not_fit_is_no_evidence(attempt: Attempt, word: str) -> None:
    ledger, notes = ledger_of(DOMAIN, Transcript("", (attempt,)))
    (entry,) = ledger.entries
    assert isinstance(entry, Receipt) and entry.status == "unknown" and entry.result is None
    assert [n.code for n in notes] == ["FRZ013"] and word in notes[0].message
    frozen = freeze(DOMAIN, ledger, owes=["it: told(_)"])
    assert [d.effect for d in frozen.contract.doubts] == ["sent"] and not frozen.contract.kept


def test_a_call_without_a_result_may_have_happened() -> None:
    entries, _ = read(call("c1", "send", {"to": "UK12", "amount": 5}, status="open"))
    assert entries[0].status == "unknown"


def test_a_failure_needs_no_fitting_arguments_and_an_unknown_tool_is_told() -> None:
    entries, notes = read(call("c1", "send", {"to": 5}, status="failure", error="bad"), call("c2", "fly", {}))
    assert [e.status for e in entries] == ["failure"] and notes == ["FRZ014"]


def test_one_attempt_told_twice_is_one_and_two_different_ones_are_two() -> None:
    ok = call("c1", "send", {"to": "UK12", "amount": 5}, result={"ref": "r"})
    assert len(read(ok, ok)[0]) == 1
    entries, _ = read(call("c1", "send", {"to": "UK12", "amount": 5}, status="open"), ok)
    assert [(e.attempt, e.status) for e in entries] == [(1, "unknown"), (2, "success")]


def test_identifiers_that_the_user_said_are_bound_once_their_type_is_known() -> None:
    events = [said(1, "Pay UK12, please."), call("c1", "bill", {"name": "b"}, result=BILL), said(2, "UK12! And UK125.")]
    entries, _ = read(*events)
    choices = [e for e in entries if isinstance(e, Choice)]
    assert [(c.name, c.value, c.turn) for c in choices] == [("iban_UK12", "UK12", 1)]
    # What the assistant, a tool or a longer word says binds nothing.
    quiet = [said(1, "Pay."), said(1, "UK12?", "assistant"), *events[1:2], said(2, "UK125, AUK12, UK12-3")]
    assert not any(isinstance(e, Choice) for e in read(*quiet)[0])


def test_what_was_read_stays_as_a_transcript_grows() -> None:
    events = (
        said(1, "Pay UK12 to r1"), call("c1", "bill", {"name": "b"}, result=BILL), said(2, "yes"),
        call("c2", "send", {"to": "UK12", "amount": 5}, result={"ref": "r1"}), Accepted("to", "Iban", "UK12", 2),
        Accepted("to", "Iban", "UK99", 3),
    )  # fmt: skip
    before: list[Any] = []
    for n in range(len(events) + 1):
        entries, _ = read(*events[:n])
        assert entries[: len(before)] == before
        before = entries


def test_the_latest_word_is_about_the_users_own_words_too() -> None:
    entries, _ = read(
        said(1, "Pay UK12"),
        call("c1", "bill", {"name": "b"}, result=BILL),
        Accepted("to", "Iban", "UK12", 2),
        Accepted("to", "Iban", "UK99", 3),
    )
    ledger, _ = ledger_of(
        DOMAIN,
        Transcript(
            "",
            (
                said(1, "Pay UK12"),
                call("c1", "bill", {"name": "b"}, result=BILL),
                Accepted("to", "Iban", "UK12", 2),
                Accepted("to", "Iban", "UK99", 3),
            ),
        ),
    )
    frozen = freeze(DOMAIN, ledger, owes=["it: sent(to, _)"])
    assert {n.value for n in frozen.contract.names.values() if n.fixed} == {"UK99"}
    assert not cfrc.audit_contract(frozen.contract, ledger).findings
    assert len([e for e in entries if isinstance(e, Choice)]) == 4


def test_choices_find_their_types() -> None:
    entries, notes = read(
        Accepted("amount", None, Decimal("5.5"), 1), Accepted("when", "date", "2026-12-01", 1),
        Accepted("to", None, "UK12", 1), Accepted("other", None, "free", 1), Accepted("when", "date", "soon", 2),
    )  # fmt: skip
    assert [str(e.type) for e in entries] == ["decimal", "date", "string", "string"] and notes == ["FRZ015"]
    ledger, _ = ledger_of(DOMAIN, Transcript("", (Accepted("x", None, "UK1", 1),)), types={"x": Id("Iban")})
    assert ledger.entries[0].type == Id("Iban")  # type: ignore[union-attr]


def test_approvals_name_every_argument_and_denials_what_they_can() -> None:
    full = {"to": "UK12", "amount": Decimal(5)}
    entries, notes = read(
        Approved("send", full, "v2", turn=2),
        Approved("send", {"to": "UK12"}),
        Approved("send", None, denied=True),
        Approved("send", {"to": "UK9"}, denied=True),
        Approved("send", {"to": 5}, denied=True),
    )
    assert [(e.denied, len(e.args)) for e in entries] == [(False, 3), (True, 0), (True, 1), (True, 0)]
    assert notes == ["FRZ015", "FRZ015"]


def test_turns_go_on_through_several_transcripts() -> None:
    first, second = (
        Transcript("", (said(1, "a"), said(2, "b"))),
        Transcript("", (said(1, "c"), Accepted("x", "string", "v", 1))),
    )
    assert [(s.turn, s.text) for s in said_in([first, second])] == [(1, "a"), (2, "b"), (3, "c")]
    ledger, _ = ledger_of(DOMAIN, [first, second])
    assert ledger.entries[0].turn == 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "value", "place"),
    [
        ("pay UK12.", "UK12", (4, 8)),
        ("UK12", "UK12", (0, 4)),
        ("UK12-7 UK12", "UK12", (7, 11)),
        ("a@UK12 (UK12)", "UK12", (8, 12)),
        ("order #W1, #W12", "#W1", (6, 9)),
        ("UK123", "UK12", None),
        ("x", "x", None),
    ],
)
def test_tokens_are_whole(text: str, value: str, place: tuple[int, int] | None) -> None:
    assert find_token(text, value) == place


def test_numbers_and_spellings_are_found_by_what_they_mean() -> None:
    assert find_value("Total\t1,098.70\n98.7", DECIMAL, Fraction(987, 10)) == (15, 19)
    assert find_value("1,098.70 EUR", DECIMAL, Fraction(109870, 100)) == (0, 8)
    assert find_value("98.701", DECIMAL, Fraction(987, 10)) is None
    assert find_value("write to Ann@X.test.", Id("Email", ("trim", "lower")), "ann@x.test") == (9, 19)
    from datetime import date

    assert find_value("due 2026-12-01!", DATE, date(2026, 12, 1)) == (4, 14)


def test_words_need_not_bind() -> None:
    events = (said(1, "Pay UK12, please."), call("c1", "bill", {"name": "b"}, result=BILL))
    ledger, _ = ledger_of(DOMAIN, Transcript("", events), words=False)
    assert not any(isinstance(e, Choice) for e in ledger.entries)
    bound, _ = ledger_of(DOMAIN, Transcript("", events))
    frozen = freeze(DOMAIN, bound, owes=['it: sent("UK99", _)'])
    assert [f.code for f in frozen.notes] == ["CFRC-FRZ017"]
    assert not freeze(DOMAIN, ledger, owes=['it: sent("UK99", _)']).notes
