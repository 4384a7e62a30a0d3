"""OpenAI chat and its dialects: pairing, broken arguments, open calls, repeats and retries."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from cfrc.adapters.transcripts import read_transcript
from cfrc.lang.diagnostics import SpecError
from cfrc.model.transcript import Attempt, Message, Transcript


def call(id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], text: str | None = None, **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls), **rest}


def returns(id: str, content: Any, **rest: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **rest}


def read(*messages: dict[str, Any]) -> Transcript:
    return read_transcript(json.dumps([{"role": "user", "content": "Pay it."}, *messages]))


def only(t: Transcript) -> Attempt:
    (found,) = t.attempts
    return found


def codes(t: Transcript) -> list[str]:
    return [n.code for n in t.notes]


def test_a_call_and_its_result() -> None:
    t = read(asks(call("c1", "pay", '{"amount": 120.00, "n": 3, "ok": true}')), returns("c1", '{"txn": "T1"}'))
    found = only(t)
    assert (found.id, found.attempt, found.tool, found.status, found.turn) == ("c1", 1, "pay", "success", 1)
    assert found.arguments == {"amount": Decimal(120), "n": 3, "ok": True}
    assert found.result == '{"txn": "T1"}'  # the tool's type says whether that is a record or prose
    assert t.request == "Pay it." and not t.notes


def test_arguments_may_be_an_object() -> None:
    assert only(read(asks(call("c1", "pay", {"a": 1})), returns("c1", "ok"))).arguments == {"a": 1}


@pytest.mark.parametrize("text", ['{"a": ', '{"a": 1, "a": 2}', '{"a": NaN}', "[1]", "no", '"{}"', "[" * 100_000])
def test_broken_arguments_are_kept_as_broken(text: str) -> None:
    t = read(asks(call("c1", "pay", text)), returns("c1", "Error: bad arguments", error="bad arguments"))
    found = only(t)
    assert found.arguments is None and found.broken is not None and found.status == "failure"
    assert codes(t) == ["TRN010"]


@pytest.mark.parametrize("nothing", ["", None, "{}"])
def test_no_arguments_are_none(nothing: Any) -> None:
    assert only(read(asks(call("c1", "ping", nothing)), returns("c1", "pong"))).arguments == {}


def test_a_call_without_a_result_is_open() -> None:
    t = read(asks(call("c1", "pay", "{}")), {"role": "assistant", "content": "Payment done."})
    assert only(t).status == "open" and codes(t) == ["TRN015"]


def test_a_null_result_is_no_result() -> None:
    t = read(asks(call("c1", "pay", "{}")), returns("c1", None))
    assert only(t).status == "open" and codes(t) == ["TRN011", "TRN015"]


def test_results_in_any_order_and_parallel_groups() -> None:
    t = read(
        asks(call("a", "f", "{}"), call("b", "g", "{}")),
        returns("b", "2"),
        returns("a", "1"),
        asks(call("c", "h", "{}")),
        returns("c", "3"),
    )
    assert [(e.id, e.result, e.group) for e in t.attempts] == [("a", "1", 1), ("b", "2", 1), ("c", "3", 2)]


def test_text_with_a_call_keeps_both() -> None:
    t = read(asks(call("c1", "handoff", "{}"), text="The account is A7."), returns("c1", "ok"))
    assert [e.text for e in t.messages][-1] == "The account is A7." and only(t).tool == "handoff"


def test_legacy_function_call_has_no_invented_id() -> None:
    t = read(
        {"role": "assistant", "content": None, "function_call": {"name": "pay", "arguments": '{"a": 1}'}},
        {"role": "function", "name": "pay", "content": "paid"},
    )
    assert (only(t).id, only(t).status, only(t).result) == ("messages[1].function_call", "success", "paid")
    assert codes(t) == ["TRN012"]


def test_a_function_result_of_another_name_is_refused() -> None:
    with pytest.raises(SpecError, match="TRN003"):
        read(
            {"role": "assistant", "content": None, "function_call": {"name": "pay", "arguments": "{}"}},
            {"role": "function", "name": "mail", "content": "sent"},
        )


def test_results_without_ids_are_paired_only_where_it_is_certain() -> None:
    def asked(*tools: str) -> dict[str, Any]:
        return {"role": "assistant", "tool_calls": [{"function": {"name": t, "arguments": {}}} for t in tools]}

    t = read(
        asked("f", "g"),
        {"role": "tool", "tool_name": "g", "content": "2"},
        {"role": "tool", "name": "f", "content": "1"},
    )
    assert [(a.tool, a.result) for a in t.attempts] == [("f", "1"), ("g", "2")]
    t = read(
        asked("f", "f"), {"role": "tool", "name": "f", "content": "1"}, {"role": "tool", "name": "f", "content": "2"}
    )
    assert [a.status for a in t.attempts] == ["open", "open"] and "TRN011" in codes(t)


def test_one_call_written_twice_is_one() -> None:
    t = read(asks(call("h1", "handoff", "{}")), asks(call("h1", "handoff", "{}")), returns("h1", "B"))
    assert only(t).status == "success" and not t.notes


def test_a_log_that_repeats_itself_is_one_attempt() -> None:
    turn = [asks(call("c1", "pay", '{"a": 1}')), returns("c1", "paid")]
    assert only(read(*turn, *turn)).attempt == 1


def test_an_id_used_again_after_a_failure_is_attempt_two() -> None:
    t = read(
        asks(call("c1", "pay", "{}")),
        returns("c1", "no", error="no"),
        asks(call("c1", "pay", "{}")),
        returns("c1", "paid"),
    )
    assert [(e.id, e.attempt, e.status) for e in t.attempts] == [("c1", 1, "failure"), ("c1", 2, "success")]
    assert not t.notes


def test_an_id_of_two_calls_loses_neither() -> None:
    t = read(
        asks(call("0", "pay", '{"a": 1}')), returns("0", "x"), asks(call("0", "pay", '{"a": 2}')), returns("0", "y")
    )
    assert [(e.attempt, e.arguments, e.result) for e in t.attempts] == [(1, {"a": 1}, "x"), (2, {"a": 2}, "y")]
    assert codes(t) == ["TRN013"]


def test_the_same_call_with_another_result_was_made_again() -> None:
    t = read(
        asks(call("0", "add", "{}")), returns("0", "1 item"), asks(call("0", "add", "{}")), returns("0", "2 items")
    )
    assert [(e.attempt, e.result) for e in t.attempts] == [(1, "1 item"), (2, "2 items")]


def test_true_and_one_are_different_arguments() -> None:
    t = read(asks(call("c", "f", '{"a": 1}')), asks(call("c", "f", '{"a": true}')), returns("c", "ok"))
    assert [e.status for e in t.attempts] == ["open", "success"]


def test_results_that_disagree_leave_the_outcome_unknown() -> None:
    t = read(asks(call("c1", "pay", "{}")), returns("c1", "paid"), returns("c1", "declined"))
    assert only(t).status == "unknown" and only(t).result is None and codes(t) == ["TRN014"]


@pytest.mark.parametrize("first", ["Error: timeout", "paid"])
def test_an_unknown_outcome_stays_unknown_whatever_is_said_next(first: str) -> None:
    t = read(asks(call("c1", "pay", "{}")), *[returns("c1", x, is_error=e) for x, e in ((first, None), ("x", True))])
    assert only(t).status == "unknown" and "TRN014" in codes(t)
    t = read(asks(call("c1", "pay", "{}")), *[returns("c1", x) for x in (first, "other", "paid")])
    assert only(t).status == "unknown"


@pytest.mark.parametrize(("status", "read_as"), [("pending", "pending"), ("running", "pending"), ("x", "unknown")])
def test_a_status_that_is_no_end_is_no_outcome(status: str, read_as: str) -> None:
    t = read(asks(call("c1", "pay", "{}")), returns("c1", "queued", status=status))
    assert only(t).status == read_as and codes(t) == ["TRN011"]
    t = read(asks(call("c1", "pay", "{}")), returns("c1", "queued", status="pending"), returns("c1", "paid"))
    assert only(t).status == "success"


@pytest.mark.parametrize("results", [1, 2])
def test_results_of_parallel_calls_under_one_id_are_of_neither(results: int) -> None:
    """Which of them was paid, nobody can tell: both may have been."""
    calls = [call("c1", "pay", f'{{"to": "{to}"}}') for to in "BC"]
    t = read(asks(*calls), *[returns("c1", f"ok {n}") for n in range(results)])
    assert [(a.attempt, a.status) for a in t.attempts] == [(1, "open"), (2, "open")]
    assert codes(t) == ["TRN013", *["TRN011"] * results, "TRN015", "TRN015"]
    t = read(asks(*calls), asks(call("c1", "pay", '{"to": "D"}')), returns("c1", "ok"))
    assert [a.status for a in t.attempts] == ["open", "open", "success"]


def test_a_result_without_a_call_is_kept() -> None:
    t = read(returns("c9", "paid", name="pay"))
    assert (only(t).tool, only(t).arguments, only(t).status) == ("pay", None, "success")
    assert only(t).broken and codes(t) == ["TRN011"]


@pytest.mark.parametrize(
    "text", ["Error: no such order", "ValueError: x", '{"error": "down"}', "Traceback (most recent"]
)
def test_text_that_reads_like_an_error_is_neither_success_nor_failure(text: str) -> None:
    t = read(asks(call("c1", "pay", "{}")), returns("c1", text))
    assert only(t).status == "unknown" and codes(t) == ["TRN019"]


@pytest.mark.parametrize("text", ["0 errors", "The error was mended", '{"error": null, "id": 1}', "[]"])
def test_text_about_errors_is_no_error(text: str) -> None:
    assert only(read(asks(call("c1", "look", "{}")), returns("c1", text))).status == "success"


@pytest.mark.parametrize(
    "rest", [{"error": "no"}, {"error": True}, {"status": "error"}, {"status": "failed"}, {"is_error": True}]
)
def test_flags_of_dialects_are_definite_failures(rest: dict[str, Any]) -> None:
    found = only(read(asks(call("c1", "pay", "{}")), returns("c1", "no", **rest)))
    assert found.status == "failure" and found.error == "no" and found.result == "no"


def test_the_flag_of_mcp_inside_a_result() -> None:
    t = read(asks(call("c1", "pay", "{}")), returns("c1", '{"isError": true, "content": []}'))
    assert only(t).status == "failure"


def test_a_result_of_mcp_is_taken_out_of_its_envelope() -> None:
    def result(**members: Any) -> Any:
        body = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "isError": False, **members}
        return only(read(asks(call("c1", "pay", "{}")), returns("c1", json.dumps(body)))).result

    assert result() == "a\nb" and result(structuredContent={"n": 1}) == {"n": 1}
    assert isinstance(result(other=1), str)


def test_markup_in_text_is_no_call() -> None:
    t = read({"role": "assistant", "content": '<tool_call>{"name": "pay"}</tool_call> output: ok'})
    assert not list(t.attempts) and codes(t) == ["TRN017"]


def test_a_cut_answer_is_not_the_end() -> None:
    body = {
        "messages": [{"role": "user", "content": "hi"}],
        "choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12, "details": {"x": 1}},
    }
    t = read_transcript(json.dumps(body))
    assert t.stop == "length" and codes(t) == ["TRN016"]
    assert t.usage == {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    assert [e.text for e in t.events if isinstance(e, Message)] == ["hi", "done"]


def test_turns_count_the_users_messages() -> None:
    t = read(
        asks(call("a", "f", "{}")), returns("a", "1"), {"role": "user", "content": "And?"}, asks(call("b", "f", "{}"))
    )
    assert [(e.id, e.turn) for e in t.attempts] == [("a", 1), ("b", 2)]
    assert [m.turn for m in t.messages] == [1, 2]


def test_content_in_parts() -> None:
    t = read(
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}],
        }
    )
    assert [m.text for m in t.messages][-1] == "a\nb"


def test_flat_dialect_with_actor_and_time() -> None:
    t = read_transcript(
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "c1", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}],
            },
            {"role": "tool", "id": "c1", "content": "on", "error": False, "timestamp": "2026-12-01T09:00:00Z"},
        ]
    )
    assert (only(t).actor, only(t).status) == ("user", "success") and only(t).time is not None


def test_a_log_of_whole_requests_is_one_conversation() -> None:
    first = {"role": "user", "content": "Pay."}
    said = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call("c1", "pay", "{}")]}
    again = {"role": "assistant", "content": "", "tool_calls": [call("c1", "pay", "{}")]}
    log = [
        {"messages": [first], "choices": [{"message": said, "finish_reason": "tool_calls"}]},
        {
            "messages": [first, again, returns("c1", "paid")],
            "choices": [{"message": {"role": "assistant", "content": "Done."}}],
        },
        {
            "messages": [
                first,
                again,
                returns("c1", "paid"),
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": "Thanks."},
            ]
        },
    ]
    t = read_transcript("\n".join(map(json.dumps, log)))
    assert [(m.turn, m.text) for m in t.messages] == [(1, "Pay."), (1, "Done."), (2, "Thanks.")]
    assert only(t).status == "success" and not t.notes


def test_another_conversation_is_read_in_full() -> None:
    log = [{"messages": [{"role": "user", "content": text}]} for text in ("Pay.", "Mail.")]
    assert [m.text for m in read_transcript(log).messages] == ["Pay.", "Mail."]


def test_calls_without_ids_are_never_taken_for_repetitions_of_others() -> None:
    def body(tool: str) -> dict[str, Any]:
        made = {"role": "assistant", "content": None, "function_call": {"name": tool, "arguments": "{}"}}
        return {"messages": [{"role": "user", "content": "Go."}, made]}

    assert [a.tool for a in read_transcript([body("pay"), body("refund")]).attempts] == ["pay", "refund"]
