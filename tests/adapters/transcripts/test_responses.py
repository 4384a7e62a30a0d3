"""OpenAI Responses: call_id and id, hosted and MCP calls, approvals, handoffs written twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cfrc.adapters.transcripts import read_transcript
from cfrc.lang.diagnostics import SpecError
from cfrc.model.transcript import Approved, Attempt, Transcript

CALL = {
    "type": "function_call",
    "id": "fc_9",
    "call_id": "c1",
    "name": "pay",
    "arguments": '{"a": 1}',
    "status": "completed",
}
OUTPUT = {"type": "function_call_output", "id": "fco_1", "call_id": "c1", "output": "paid"}
ASKED = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": '{"a": 1}', "server_label": "s"}


SAID = {"type": "text", "text": "Output validation error: Tool pay has an output schema"}


def read(*items: dict[str, Any]) -> Transcript:
    return read_transcript(json.dumps([{"role": "user", "content": "Pay."}, *items]))


def only(t: Transcript) -> Attempt:
    (found,) = t.attempts
    return found


def test_pairs_on_call_id() -> None:
    found = only(read(CALL, OUTPUT))
    assert (found.id, found.status, found.result) == ("c1", "success", "paid")


def test_the_item_id_pairs_nothing() -> None:
    t = read(CALL, {**OUTPUT, "call_id": "fc_9"})
    assert [(a.id, a.status) for a in t.attempts] == [("c1", "open"), ("fc_9", "success")]
    assert [n.code for n in t.notes] == ["TRN011", "TRN015"]


def test_completed_is_the_call_not_its_outcome() -> None:
    assert only(read(CALL)).status == "open"


def test_a_handoff_written_twice_is_one() -> None:
    items = [{"type": "tool_call_item", "raw_item": CALL}, {"type": "handoff_call_item", "raw_item": CALL}]
    assert only(read(*items, OUTPUT)).attempt == 1
    bare = [{"type": "tool_call", "id": "h1", "name": "to_b"}, {"type": "handoff_call", "id": "h1", "name": "to_b"}]
    assert only(read_transcript(bare)).id == "h1"


def test_groups_end_at_the_first_output() -> None:
    t = read(CALL, {**CALL, "call_id": "c2"}, OUTPUT, {**CALL, "call_id": "c3"})
    assert [a.group for a in t.attempts] == [1, 1, 2]


def test_output_in_parts() -> None:
    parts = [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "y"}]
    assert only(read(CALL, {**OUTPUT, "output": parts})).result == "x\ny"


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ({"status": "completed"}, "success"),
        ({"status": "incomplete"}, "unknown"),
        ({"status": "in_progress"}, "pending"),
        ({"status": "hologram"}, "unknown"),
        ({"status": "failed"}, "failure"),
        ({"output": {"isError": True, "content": []}}, "failure"),
        ({"output": {"isError": True}}, "failure"),
        ({"output": {"isError": False, "content": [{"type": "text", "text": "x"}]}}, "success"),
        ({"output": {"error": "timeout"}}, "unknown"),
        ({"output": {"txn": "T1"}}, "success"),
    ],
)
def test_only_a_whole_output_is_an_outcome(rest: dict[str, Any], status: str) -> None:
    t = read(CALL, {**OUTPUT, **rest})
    assert only(t).status == status
    assert bool(t.notes) == (status in ("unknown", "pending"))


def test_an_output_in_progress_is_followed_by_the_last_word() -> None:
    assert only(read(CALL, {**OUTPUT, "status": "in_progress"}, OUTPUT)).status == "success"
    assert only(read(CALL, {**OUTPUT, "status": "incomplete"}, {**OUTPUT, "status": "failed"})).status == "unknown"


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ({"output": '{"ok": 1}', "status": "completed"}, "success"),
        ({"output": '{"isError": true, "content": []}', "status": "completed"}, "unknown"),
        ({"error": "Gateway Timeout", "output": None, "status": "failed"}, "unknown"),
        ({"status": "failed"}, "unknown"),
        ({"error": {"type": "http_error", "code": 504, "message": "Gateway Timeout"}}, "unknown"),
        ({"error": {"type": "mcp_protocol_error", "code": -32602, "message": "invalid"}}, "unknown"),
        ({"error": {"type": "mcp_tool_execution_error", "content": []}}, "failure"),
        ({"error": {"type": "mcp_tool_execution_error", "content": [SAID]}}, "unknown"),
        ({"status": "in_progress"}, "open"),
        ({"status": "incomplete"}, "open"),
        ({}, "open"),
    ],
)
def test_mcp_calls_carry_their_outcome(rest: dict[str, Any], status: str) -> None:
    call = {"type": "mcp_call", "id": "mcp_1", "name": "pay", "arguments": "{}", "server_label": "s", **rest}
    assert (only(read(call)).id, only(read(call)).status) == ("mcp_1", status)


def test_hosted_tools() -> None:
    t = read(
        {
            "type": "file_search_call",
            "id": "fs_1",
            "queries": ["q"],
            "status": "completed",
            "results": [{"file_id": "f"}],
        }
    )
    assert (only(t).tool, only(t).arguments, only(t).result) == ("file_search", {"queries": ["q"]}, [{"file_id": "f"}])


def test_custom_tools_take_a_text() -> None:
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "{ls"}
    t = read(call, {"type": "custom_tool_call_output", "call_id": "c1", "output": "x"})
    assert only(t).arguments == {"input": "{ls"} and only(t).status == "success"


@pytest.mark.parametrize("yes", [True, False])
def test_approvals(yes: bool) -> None:
    t = read(ASKED, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": yes})
    (found,) = (e for e in t.events if isinstance(e, Approved))
    assert (found.tool, found.arguments, found.denied, found.turn) == ("pay", {"a": 1}, not yes, 1)


@pytest.mark.parametrize("asked", [{}, {"id": "other"}, {"arguments": "{"}])
def test_an_approval_of_something_unknown_is_none(asked: dict[str, Any]) -> None:
    items = [{**ASKED, **asked}] if asked else []
    t = read(*items, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True})
    assert not [e for e in t.events if isinstance(e, Approved)] and [n.code for n in t.notes] == ["TRN020"]


def test_an_approval_must_say_yes_or_no() -> None:
    with pytest.raises(SpecError, match="TRN003"):
        read(ASKED, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"})


def test_a_request_and_its_response() -> None:
    body = {"instructions": "Be brief.", "input": "Pay.", "output": [CALL], "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}, "usage": {"input_tokens": 2, "output_tokens": 3}}  # fmt: skip
    t = read_transcript(body)
    assert t.request == "Pay." and t.stop == "max_output_tokens" and t.usage == {"input_tokens": 2, "output_tokens": 3}
    assert [n.code for n in t.notes] == ["TRN016", "TRN015"]


def test_unknown_items_are_named_once() -> None:
    t = read({"type": "reasoning"}, {"type": "hologram"}, {"type": "hologram"}, CALL, OUTPUT)
    assert [n.code for n in t.notes] == ["TRN018"]
