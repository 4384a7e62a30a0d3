"""Turns what an MCP server says about a call into an answer: a result, a definite refusal, or nobody knows.

A server's hints about its tools (read-only, idempotent, …) are not believed: what a tool does is what the domain says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfrc.handoff.tools import Answer, plain
from cfrc.model.transcript import JSON

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_NEVER_MADE = {-32601, -32602}
"""JSON-RPC: no such method, and invalid parameters. The request was refused before anything was done."""

_TIMED_OUT = -32001
"""The SDK's own: nobody answered in time, and the server may still be at work."""


def answer_of_result(result: CallToolResult) -> Answer:
    """The answer of a call that returned: the structured content where there is one, else the text.

    An error result is a definite failure. Several texts are one text, by lines; what is no text is broken."""
    if result.is_error:
        return Answer("failure", error=_text(result) or "the tool failed")
    try:
        if result.structured_content is not None:
            return Answer("success", plain(result.structured_content))
        text: JSON = _text(result)
    except (TypeError, ValueError, RecursionError) as problem:
        return Answer("success", broken=str(problem) or type(problem).__name__)
    if text is None:
        return Answer("success", broken="the answer is neither structured nor text")
    return Answer("success", text)


def _text(result: CallToolResult) -> str | None:
    if not all(block.type == "text" for block in result.content):
        return None
    return "\n".join(block.text for block in result.content if block.type == "text")


def answer_of_error(code: int, message: str) -> Answer:
    """The answer of a call to which the server replied with a protocol error (or none at all, as a time-out)."""
    return Answer("failure" if code in _NEVER_MADE else "unknown", error=message, late=code == _TIMED_OUT)
