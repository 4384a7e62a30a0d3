"""Turns what an MCP server says about a call into an answer: a result, a definite refusal, or nobody knows.

A server's hints about its tools (read-only, idempotent, …) are not believed: what a tool does is what the domain says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfrc.handoff.tools import Answer, plain
from cfrc.model.transcript import JSON, may_have_run

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_NEVER_MADE = -32601
"""JSON-RPC: no such method. Nothing can have run. Invalid parameters (-32602) prove less: servers say so of results
too, when a tool has run and answered something else than its schema promised."""

_TIMED_OUT = -32001
"""The SDK's own: nobody answered in time, and the server may still be at work."""


def answer_of_result(result: CallToolResult) -> Answer:
    """The answer of a call that returned: the structured content where there is one, else the text.

    An error result is the tool's own word that it failed, unless the server made it of something else. Several texts
    are one text, by lines; what is no text is broken."""
    if result.is_error:
        said = _text(result) or "the tool failed"
        return Answer("unknown" if may_have_run(said) else "failure", error=said)
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
    """The answer of a call to which the server replied with a protocol error (or none at all, as a time-out).

    Only an error that cannot come after the tool has run is a failure; any other leaves the call in doubt."""
    return Answer("failure" if code == _NEVER_MADE else "unknown", error=message, late=code == _TIMED_OUT)
