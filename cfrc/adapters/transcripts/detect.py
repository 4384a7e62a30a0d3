"""Turns the shapes in a document into the one format that has them, or says which could be meant.

Only marks that one format has are counted. A conversation without any (plain messages, no calls) reads the same in all
message formats and is taken for chat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from cfrc.adapters.transcripts import receipts
from cfrc.adapters.transcripts.shape import string, wrong
from cfrc.lang.jsonread import Json

Format = Literal["openai-chat", "openai-responses", "anthropic", "receipts"]
FORMATS: tuple[Format, ...] = ("openai-chat", "openai-responses", "anthropic", "receipts")

_CHAT = {"tool_calls", "function_call", "tool_call_id", "choices", "finish_reason"}
_ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"}
_RESPONSES_TYPES = {
    "mcp_approval_request", "mcp_approval_response", "reasoning", "mcp_list_tools", "item_reference",
}  # fmt: skip


def detect(items: list[Json]) -> Format:
    """The format of the items. Raises :class:`cfrc.lang.diagnostics.SpecError` (``TRN002``) when it cannot be told."""
    found: dict[Format, Json] = {}
    plain = False
    for item in _flat(items):
        for mark in _marks(item):
            found.setdefault(mark, item)
        plain = plain or (isinstance(item.value, dict) and string(item.value, "role") is not None)
    if len(found) == 1:
        return next(iter(found))
    if not found and plain:
        return "openai-chat"
    help = f"name the format: {', '.join(FORMATS)}"
    if not found:
        raise wrong("TRN002", "this is no transcript in a known format", items[0] if items else None, help)
    first, second = list(found)[:2]
    raise wrong("TRN002", f"this could be {first} or {second}", found[second], help)


def _flat(items: list[Json]) -> Iterator[Json]:
    """The items and the messages in them."""
    for item in items:
        yield item
        members = item.value if isinstance(item.value, dict) else {}
        for name in ("messages", "input", "output"):
            inner = members.get(name)
            if "type" not in members and inner is not None and isinstance(inner.value, list):
                yield from inner.value


def _marks(item: Json) -> Iterator[Format]:
    members = item.value
    if not isinstance(members, dict):
        return
    kind, role = string(members, "type"), string(members, "role")
    kinds = {string(b.value, "type") for b in _blocks(members) if isinstance(b.value, dict)}
    if (role and _CHAT & set(members)) or role in ("tool", "function") or "choices" in members:
        yield "openai-chat"
    if kinds & _ANTHROPIC_BLOCKS or "stop_reason" in members:
        yield "anthropic"
    if _is_item(members, kind) or (role and kinds & {"input_text", "output_text"}):
        yield "openai-responses"
    if (role is None and kind in receipts.MEMBERS) or (kind == "message" and role and "text" in members):
        yield "receipts"


def _is_item(members: dict[str, Json], kind: str | None) -> bool:
    if kind is None:
        whole = {"role", "messages", "choices"} & set(members)
        return string(members, "object") == "response" or (not whole and bool({"input", "output"} & set(members)))
    return kind.endswith(("_call", "_call_output", "_call_item", "_call_output_item")) or kind in _RESPONSES_TYPES


def _blocks(members: dict[str, Json]) -> list[Json]:
    content = members.get("content")
    return content.value if content is not None and isinstance(content.value, list) else []
