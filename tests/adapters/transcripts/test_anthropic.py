"""Anthropic messages: blocks, results in the next user message, errors and stops."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cfrc.adapters.transcripts import read_transcript
from cfrc.lang.diagnostics import SpecError
from cfrc.model.transcript import Attempt, Message, Transcript

USE = {"type": "tool_use", "id": "t1", "name": "pay", "input": {"amount": 1.5}}


def result(content: Any = "paid", **rest: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t1", "content": content, **rest}


def read(*messages: tuple[str, Any]) -> Transcript:
    return read_transcript(json.dumps([{"role": r, "content": c} for r, c in messages]))


def only(t: Transcript) -> Attempt:
    (found,) = t.attempts
    return found


def test_results_are_no_turn_of_the_user() -> None:
    t = read(
        ("user", "Pay."),
        ("assistant", [{"type": "text", "text": "Yes."}, USE]),
        ("user", [result()]),
        ("user", "Thanks."),
    )
    assert only(t).status == "success" and only(t).turn == 1
    assert [(m.turn, m.role) for m in t.messages] == [(1, "user"), (1, "assistant"), (2, "user")]


def test_words_beside_a_result_are_the_next_turn() -> None:
    t = read(("user", "Pay."), ("assistant", [USE]), ("user", [result(), {"type": "text", "text": "And mail it."}]))
    kinds = [type(e).__name__ for e in t.events]
    assert kinds == ["Message", "Attempt", "Message"] and only(t).status == "success"
    assert isinstance(t.events[-1], Message) and t.events[-1].turn == 2


def test_is_error_is_a_definite_failure() -> None:
    found = only(read(("user", "Pay."), ("assistant", [USE]), ("user", [result("no", is_error=True)])))
    assert (found.status, found.error) == ("failure", "no")


def test_without_the_flag_it_is_a_success_whatever_the_text_says() -> None:
    found = only(read(("user", "Pay."), ("assistant", [USE]), ("user", [result("Error: none found")])))
    assert found.status == "success"


def test_a_result_may_be_empty_or_in_blocks() -> None:
    blocks = [{"type": "text", "text": '{"a":'}, {"type": "text", "text": "1}"}]
    assert only(read(("user", "x"), ("assistant", [USE]), ("user", [result(blocks)]))).result == '{"a":\n1}'
    bare = {"type": "tool_result", "tool_use_id": "t1"}
    assert only(read(("user", "x"), ("assistant", [USE]), ("user", [bare]))).status == "success"


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "refusal"])
def test_some_stops_are_not_the_end(reason: str) -> None:
    response = {
        "type": "message",
        "role": "assistant",
        "content": [USE],
        "stop_reason": reason,
        "usage": {"input_tokens": 3},
    }
    t = read_transcript([{"role": "user", "content": "Pay."}, response])
    assert t.stop == reason and only(t).status == "open" and t.usage == {"input_tokens": 3}
    assert [n.code for n in t.notes] == ["TRN016", "TRN015"]


def test_end_turn_is_no_note() -> None:
    response = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}
    assert not read_transcript([response]).notes


def test_tools_of_the_provider_answer_in_the_same_message() -> None:
    content = [
        {"type": "mcp_tool_use", "id": "m1", "name": "find", "input": {}, "server_name": "s"},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [{"type": "text", "text": "x"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1",
         "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}},
        {"type": "new_thing"},
    ]  # fmt: skip
    t = read(("user", "x"), ("assistant", content))
    assert [(a.id, a.status, a.error) for a in t.attempts] == [
        ("m1", "success", None),
        ("s1", "failure", "unavailable"),
    ]
    assert [n.code for n in t.notes] == ["TRN018"]


def test_a_whole_request() -> None:
    t = read_transcript(
        {"system": "Be brief.", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [USE]}]}
    )
    assert [m.role for m in t.messages] == ["system", "user"] and t.request == "x"


def test_a_result_must_name_its_call() -> None:
    with pytest.raises(SpecError, match="TRN003"):
        read(("assistant", [USE]), ("user", [{"type": "tool_result", "content": "x"}]))


def test_parallel_calls_are_one_group() -> None:
    t = read(("user", "x"), ("assistant", [USE, {**USE, "id": "t2"}]), ("assistant", [{**USE, "id": "t3"}]))
    assert [a.group for a in t.attempts] == [1, 1, 2]


def test_a_log_of_requests_and_responses_is_one_conversation() -> None:
    first = {"role": "user", "content": "Pay."}
    said = {"role": "assistant", "content": [USE]}
    response = {"type": "message", **said, "stop_reason": "tool_use", "usage": {"input_tokens": 1}}
    log = [
        {"system": "s", "messages": [first]},
        response,
        {"system": "s", "messages": [first, said, {"role": "user", "content": [result()]}]},
    ]
    t = read_transcript(log)
    assert [m.text for m in t.messages] == ["s", "Pay."] and only(t).status == "success" and not t.notes
