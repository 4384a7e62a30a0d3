"""Turns OpenAI chat messages (and the many dialects of them) into a transcript.

Calls stand in ``tool_calls`` of an assistant's message, or in the legacy ``function_call``; results are messages of the
role ``tool`` (or ``function``), paired by ``tool_call_id``. Arguments are a string that spells JSON, or an object. The
format has no flag for errors; dialects have one (``error``, ``is_error``, ``status: "error"``), which is used if there.
A status that is no end (``pending``) is no result yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfrc.adapters.transcripts import shape
from cfrc.adapters.transcripts.collect import Answer, Collector, answer
from cfrc.adapters.transcripts.repeated import Conversation
from cfrc.adapters.transcripts.shape import Members
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.transcript import Attempt, Role

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant",
}  # fmt: skip
_WENT_WELL = (None, "success", "succeeded", "ok", "completed", "complete", "done", "finished")
_WENT_WRONG = ("error", "failed", "failure")
_RUNNING = ("pending", "queued", "running", "in_progress", "started", "processing")
_RESULTS = ("tool", "function", "ipython")


def read(items: list[Json], out: Collector) -> None:
    """Raises :class:`cfrc.lang.diagnostics.SpecError` for what is no message (``TRN003``) or call (``TRN004``)."""
    for index, item in enumerate(_messages(items, out)):
        _message(item, f"messages[{index}]", out)


def _messages(items: list[Json], out: Collector) -> Iterator[Json]:
    """The messages of the items: messages themselves, requests with ``messages``, or responses with ``choices``."""
    so_far = Conversation()
    for item in items:
        members = shape.obj(item, "TRN003", "a message")
        if "messages" not in members and "choices" not in members:
            yield item
            continue
        yield from so_far.rest(shape.items_of(members.get("messages"), "TRN003", "messages"))
        for choice in shape.items_of(members.get("choices"), "TRN003", "choices")[:1]:
            chosen = shape.obj(choice, "TRN003", "a choice")
            if "message" in chosen:
                so_far.says(chosen["message"])
                yield chosen["message"]
            out.stopped(shape.string(chosen, "finish_reason"), choice.span)
        out.used(members.get("usage"))


def _message(item: Json, place: str, out: Collector) -> None:
    members = shape.obj(item, "TRN003", "a message")
    role = shape.string(members, "role", "type")
    content = members.get("content")
    if role in _RESULTS:
        _result(members, item, out)
        return
    if role not in _ROLES:
        said = "without a role" if role is None else f"of the role {quoted(role)}"
        help = f"one of {', '.join((*_ROLES, *_RESULTS))}"
        raise shape.wrong("TRN003", f"a message {said}", members.get("role", item), help)
    out.say(_ROLES[role], shape.prose(content, "TRN003"), item.span)
    calls = shape.items_of(members.get("tool_calls"), "TRN003", "tool_calls")
    legacy = shape.given(members, "function_call")
    if calls or legacy is not None:
        out.new_group()
    for n, call in enumerate(calls):
        out.call(_call(call, f"{place}.tool_calls[{n}]", members, out))
    if legacy is not None:
        out.call(_call(legacy, f"{place}.function_call", members, out))
    out.stopped(shape.string(members, "finish_reason"), item.span)
    out.used(members.get("usage"))


def _call(call: Json, place: str, message: Members, out: Collector) -> Attempt:
    members = shape.obj(call, "TRN004", "a call")
    function = members.get("function", members.get("custom"))
    inner = function.value if function is not None and isinstance(function.value, dict) else members
    tool = shape.name_of(inner, call, "name", "function")
    given = shape.given(inner, "arguments", "args", "input") or shape.given(members, "arguments", "args")
    arguments, broken = shape.arguments(given)
    id = shape.string(members, "id", "call_id")
    if id is None:
        id = place
        out.note("TRN012", f"a call of {quoted(tool)} has no id", call.span, "its place in the document names it")
    time = shape.instant(message, "timestamp", "created_at")
    actor = shape.string(members, "requestor")
    attempt = Attempt(id, 1, tool, arguments, broken=broken, time=time, span=call.span)
    return replace(attempt, actor=actor) if actor not in (None, "assistant") else attempt


def _result(members: Members, item: Json, out: Collector) -> None:
    tool = shape.string(members, "name", "tool_name")
    id = shape.string(members, "tool_call_id")
    if id is None:
        own = shape.string(members, "id")
        possible = [own] if own is not None and out.is_open(own) else out.open_calls(tool)
        if not possible:
            message = f"a result{f' of {quoted(tool)}' if tool else ''} without the id of its call"
            raise shape.wrong("TRN003", message, item, "expected a string in `tool_call_id`")
        if len(possible) > 1:
            out.note("TRN011", "a result that may be of several calls", item.span, "all of them are taken for open")
            return
        id = possible[0]
    content = members.get("content")
    if content is None or content.value is None:
        out.note("TRN011", f"the result of {quoted(id)} is null", item.span, "its outcome is taken for unknown")
        return
    text = shape.prose(content, "TRN003")
    failed = True if _failed(members) else None
    found = answer(text, failed, shape.instant(members, "timestamp", "created_at"))
    said = shape.string(members, "error")
    if failed and said is not None:
        found = replace(found, error=said)
    status = shape.string(members, "status")
    if not failed and status not in (*_WENT_WELL, *_WENT_WRONG):
        found = Answer("pending" if status in _RUNNING else "unknown", error=status, time=found.time)
        out.note("TRN011", f"the result of {quoted(id)} is {quoted(status or '')}", item.span, "it is not an outcome")
        out.result(id, found, item.span, tool)
        return
    out.result(id, found, item.span, tool)
    if found.status == "unknown":
        out.note("TRN019", f"the result of {quoted(id)} reads like an error", item.span, "it counts as no evidence")


def _failed(members: Members) -> bool:
    if shape.flag(members, "error", "is_error", "isError"):
        return True
    return shape.string(members, "error") is not None or shape.string(members, "status") in _WENT_WRONG
