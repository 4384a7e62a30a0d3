"""Turns Anthropic messages into a transcript.

Calls are ``tool_use`` blocks of the assistant, results ``tool_result`` blocks in the next user message, which is then
no turn of the user's. ``is_error`` is a definite failure. Tools that the provider runs itself (``server_tool_use``,
``mcp_tool_use``) have their results in the assistant's own message.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.adapters.transcripts import shape
from cfrc.adapters.transcripts.collect import Answer, Collector, answer
from cfrc.adapters.transcripts.repeated import Conversation
from cfrc.adapters.transcripts.shape import Members
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.transcript import Attempt, Role

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_SILENT = {"thinking", "redacted_thinking", "image", "document", "container_upload", "search_result", "fallback"}


def read(items: list[Json], out: Collector) -> None:
    """Raises :class:`cfrc.lang.diagnostics.SpecError` for what is no message (``TRN003``) or call (``TRN004``)."""
    for index, item in enumerate(_messages(items, out)):
        _message(item, f"messages[{index}]", out)


def _messages(items: list[Json], out: Collector) -> Iterator[Json]:
    so_far, system = Conversation(), ""
    for item in items:
        members = shape.obj(item, "TRN003", "a message")
        if "messages" not in members:
            so_far.says(item)
            yield item
            continue
        told = shape.prose(members.get("system"), "TRN003")
        if told != system:
            system = told
            out.say("system", told, item.span)
        yield from so_far.rest(shape.items_of(members["messages"], "TRN003", "messages"))
        for name in ("response", "message"):
            if name in members:
                so_far.says(members[name])
                yield members[name]


def _message(item: Json, place: str, out: Collector) -> None:
    members = shape.obj(item, "TRN003", "a message")
    role = shape.string(members, "role")
    if role not in _ROLES:
        raise shape.wrong("TRN003", "a message without a known role", members.get("role", item), "user or assistant")
    content = members.get("content")
    blocks = content.value if content is not None and isinstance(content.value, list) else []
    results = any(_is_result(b) for b in blocks)
    text = shape.prose(content, "TRN003") if not blocks else "\n".join(t for b in blocks if (t := _prose(b)))
    if role != "user" or text or not results:
        # The results of a message come before the user's own words in it: they belong to the turn that asked for them.
        _blocks([b for b in blocks if _is_result(b)] if role == "user" else [], place, out)
        out.say(_ROLES[role], text, item.span)
        blocks = [b for b in blocks if role != "user" or not _is_result(b)]
    _blocks(blocks, place, out)
    out.stopped(shape.string(members, "stop_reason"), item.span)
    out.used(members.get("usage"))


def _is_result(block: Json) -> bool:
    kind = shape.string(block.value, "type") if isinstance(block.value, dict) else None
    return kind is not None and kind.endswith("tool_result")


def _prose(block: Json) -> str | None:
    members = block.value if isinstance(block.value, dict) else {}
    return shape.part_text(block) if shape.string(members, "type") == "text" else None


def _blocks(blocks: list[Json], place: str, out: Collector) -> None:
    grouped = False
    for n, block in enumerate(blocks):
        members = shape.obj(block, "TRN003", "a content block")
        kind = shape.string(members, "type") or ""
        if kind.endswith("tool_use"):
            if not grouped:
                out.new_group()
                grouped = True
            out.call(_call(members, block, f"{place}.content[{n}]", out))
        elif kind.endswith("tool_result"):
            _result(members, block, kind, out)
        elif kind != "text" and kind not in _SILENT:
            out.passed_over(f"a block of the type {quoted(kind)}", block.span)


def _call(members: Members, block: Json, place: str, out: Collector) -> Attempt:
    tool = shape.name_of(members, block, "name")
    arguments, broken = shape.arguments(members.get("input"))
    id = shape.string(members, "id")
    if id is None:
        id = place
        out.note("TRN012", f"a call of {quoted(tool)} has no id", block.span, "its place in the document names it")
    return Attempt(id, 1, tool, arguments, broken=broken, span=block.span)


def _result(members: Members, block: Json, kind: str, out: Collector) -> None:
    id = shape.string(members, "tool_use_id")
    if id is None:
        raise shape.wrong("TRN003", "a result without the id of its call", block, "expected a string in `tool_use_id`")
    content = members.get("content")
    if kind in ("tool_result", "mcp_tool_result"):
        text = shape.prose(content, "TRN003")
        found = answer(text, shape.flag(members, "is_error"))
        if found.status == "success" and not shape.only_text(content):
            out.note("TRN018", f"the result of {quoted(id)} holds more than text", block.span, "only its text is read")
        out.result(id, found, block.span)
        return
    inner = content.value if content is not None and isinstance(content.value, dict) else {}
    failed = (shape.string(inner, "type") or "").endswith("_error") or shape.flag(members, "is_error")
    result = shape.plain(content) if content is not None else None
    error = shape.string(inner, "error_code") or "failed"
    out.result(id, Answer("failure", result, error) if failed else Answer("success", result), block.span)
