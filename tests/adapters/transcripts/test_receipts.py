"""Plain receipts, and what all formats share: detection, places, torn files, hostile texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.adapters.transcripts import FORMATS, read_transcript
from cfrc.lang.diagnostics import SpecError
from cfrc.model.transcript import Accepted, Approved, Transcript
from cfrc.source import Source

RECEIPT = {
    "type": "receipt",
    "id": "c7",
    "tool": "pay",
    "arguments": {"n": 1},
    "status": "success",
    "result": {"t": "T"},
}
LINES = [
    {"type": "message", "role": "user", "text": "Pay."},
    {"type": "accepted", "name": "invoice", "of": "Invoice", "value": "INV-42"},
    {"type": "approved", "tool": "pay", "arguments": {"n": 1}, "policy": "v2", "expires": "2026-12-31"},
    {"type": "call", "id": "c1", "tool": "look", "arguments": {}},
    {"type": "result", "id": "c1", "status": "pending"},
    {"type": "result", "id": "c1", "status": "success", "result": "x", "time": "2026-12-01T09:00:00Z"},
    {**RECEIPT, "actor": "user"},
    {"type": "denied", "tool": "refund", "turn": 1},
]


def lines(*objects: Any) -> str:
    return "".join(json.dumps(o) + "\n" for o in objects)


def fails(text: str | Source, code: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        read_transcript(text)
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert all(d.span is not None for d in caught.value.diagnostics)
    return caught.value


def test_every_line() -> None:
    t = read_transcript(lines(*LINES))
    assert [(a.id, a.status, a.actor) for a in t.attempts] == [("c1", "success", "agent"), ("c7", "success", "user")]
    (accepted,) = (e for e in t.events if isinstance(e, Accepted))
    assert (accepted.name, accepted.type_name, accepted.value, accepted.turn) == ("invoice", "Invoice", "INV-42", 1)
    yes, no = (e for e in t.events if isinstance(e, Approved))
    assert (yes.policy, yes.denied, no.denied, no.arguments) == ("v2", False, True, None) and yes.expires is not None
    assert not t.notes


@pytest.mark.parametrize("status", ["success", "failure", "pending", "partial", "unknown"])
def test_every_status(status: str) -> None:
    (found,) = read_transcript(lines({**RECEIPT, "status": status})).attempts
    assert found.status == status


def test_attempts_have_the_numbers_on_record() -> None:
    t = read_transcript(lines(*({**RECEIPT, "attempt": n, "status": s} for n, s in ((1, "unknown"), (3, "success")))))
    assert [(a.attempt, a.status) for a in t.attempts] == [(1, "unknown"), (3, "success")]


@pytest.mark.parametrize(
    "line",
    [
        {**RECEIPT, "status": "ok"},
        {**RECEIPT, "stauts": "success"},
        {**RECEIPT, "id": 7},
        {**RECEIPT, "time": "yesterday"},
        {**RECEIPT, "attempt": -1},
        {"type": "recept"},
        {"type": "message", "role": "user"},
        {"type": "accepted", "name": "x"},
        {"type": "approved", "tool": "pay", "arguments": "{"},
    ],
)
def test_nothing_is_passed_over(line: dict[str, Any]) -> None:
    text = lines(RECEIPT, line)
    error = fails(text, "TRN005")
    assert error.diagnostics[0].span is not None and error.diagnostics[0].span.line == 2


def test_a_torn_last_line() -> None:
    text = lines(RECEIPT) + '{"type": "receipt", "id": "c8", "to'
    t = read_transcript(text)
    assert [a.id for a in t.attempts] == ["c7"] and [n.code for n in t.notes] == ["TRN021"]
    fails('{"type": "receipt", "to\n' + lines(RECEIPT), "JSN001")
    fails('{"type": "receipt", "to', "JSN001")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]x", "JSN001"), ("{", "JSN001"), ('[{"role": "user", "role": "tool"}]', "JSN003"), ("[" * 99, "JSN004"),
        ('[{"a": 1e999999}]', "JSN005"), ('["\\ud800"]', "JSN006"), ("[NaN]", "JSN001"),
        ("[1]", "TRN002"), ("{}", "TRN002"), ('[{"role": "owl", "content": "x", "tool_calls": []}]', "TRN003"),
        ('[{"role": "user", "content": 5}]', "TRN003"), ("{}\n[]", "TRN001"), (" \n", "TRN001"),
        ('[{"role": "assistant", "tool_calls": [{"id": "a"}]}]', "TRN004"),
        ('[{"role": "tool", "tool_call_id": "a"}, {"type": "function_call"}]', "TRN002"),
    ],
)  # fmt: skip
def test_hostile_and_wrong(text: str, code: str) -> None:
    fails(Source("t.json", text), code)


def test_detection_by_shape() -> None:
    """Each format's marks alone; a plain conversation is chat."""
    shapes: dict[str, Any] = {
        "openai-chat": [{"role": "tool", "tool_call_id": "a", "content": "x"}],
        "openai-responses": [{"type": "function_call", "call_id": "a", "name": "f"}],
        "anthropic": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}],
        "receipts": [RECEIPT],
    }
    assert set(shapes) == set(FORMATS)
    for value in shapes.values():
        assert len(list(read_transcript(value).attempts)) == 1
    assert read_transcript([{"role": "user", "content": "hi"}]).request == "hi"


def test_tools_by_the_names_that_a_domain_gives_them() -> None:
    t = read_transcript(
        [{**RECEIPT, "tool": "pay-now"}, {"type": "denied", "tool": "pay-now"}], names={"pay-now": "pay_now"}
    )
    assert [e.tool for e in t.events if not hasattr(e, "text") and hasattr(e, "tool")] == ["pay_now", "pay_now"]


def test_nothing_is_an_empty_transcript() -> None:
    assert read_transcript("[]").events == ()


def test_a_file_by_path_and_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines(*LINES))
    t = read_transcript(path)
    assert t.source == str(path) and list(t.attempts) == list(read_transcript(str(path)).attempts)
    with pytest.raises(SpecError, match="INP001"):
        read_transcript("nowhere.json")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "c1", "user", "tool", "assistant", "{}", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "tool_calls", "id", "function", "name", "arguments", "type", "call_id", "output", "text",
                 "tool_call_id", "tool_use_id", "input", "status", "error", "messages", "choices", "message"]
            ),
            inner | st.sampled_from(["function_call", "function_call_output", "tool_use", "tool_result", "receipt", "message"]),
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.lists(_JSON, max_size=4), st.sampled_from([None, *FORMATS]))
def test_any_json_is_a_transcript_or_a_diagnostic(items: list[Any], format: Any) -> None:
    try:
        t = read_transcript(json.dumps(items), format)
    except SpecError:
        return
    assert isinstance(t, Transcript)
    ids = [(a.id, a.attempt) for a in t.attempts]
    assert len(ids) == len(set(ids))


_TURN = st.tuples(
    st.sampled_from(["a", "b"]), st.sampled_from(["f", "g"]), st.integers(0, 2), st.sampled_from(["x", "y", None])
)


@given(st.lists(_TURN, max_size=8))
def test_no_call_is_lost(turns: list[tuple[str, str, int, str | None]]) -> None:
    """Every distinct (id, tool, arguments) that was issued is an attempt, whatever ids collide."""
    messages: list[dict[str, Any]] = []
    for id, tool, n, result in turns:
        call = {"id": id, "function": {"name": tool, "arguments": json.dumps({"n": n})}}
        messages.append({"role": "assistant", "tool_calls": [call]})
        if result is not None:
            messages.append({"role": "tool", "tool_call_id": id, "content": result})
    if messages:
        t = read_transcript(messages)
        kept = {(a.id, a.tool, (a.arguments or {}).get("n")) for a in t.attempts}
        assert kept == {turn[:3] for turn in turns}


def test_a_receipt_settles_an_unknown_one() -> None:
    """Whoever writes this form knows: a later receipt of the same attempt is the settlement, by a person or a look."""
    for settled in ("success", "failure"):
        lost = {**RECEIPT, "status": "unknown"}
        for line in ({**RECEIPT, "attempt": 1, "status": settled}, {"type": "result", "id": "c7", "status": settled}):
            t = read_transcript(lines(lost, line))
            assert [(a.attempt, a.status) for a in t.attempts] == [(1, settled)] and not t.notes
        t = read_transcript(lines(lost, {**RECEIPT, "status": settled}))  # it may as well be another try
        assert [(a.attempt, a.status) for a in t.attempts] == [(1, "unknown"), (2, settled)]


@pytest.mark.parametrize(
    "line", [{**RECEIPT, "attempt": 10**30}, {**LINES[2], "turn": 10**30}, {**LINES[1], "turn": -1}]
)
def test_a_count_is_a_small_number(line: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="TRN005"):
        read_transcript(lines(line), "receipts")
