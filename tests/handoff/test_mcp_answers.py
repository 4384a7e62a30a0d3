"""What a server says about a call: only an error that cannot come after the tool has run is a definite failure."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp")

import mcp_types as types

from cfrc.handoff.mcp_answers import answer_of_error, answer_of_result


@pytest.mark.parametrize(
    ("code", "status"),
    [(-32601, "failure"), (-32602, "unknown"), (-32600, "unknown"), (-32603, "unknown"), (-32001, "unknown")],
)
def test_an_error_code_is_a_failure_only_where_nothing_can_have_run(code: int, status: str) -> None:
    """-32602 also stands for "Output validation error": the tool has run, and its result is not what it announced."""
    assert answer_of_error(code, "said the server").status == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("card declined", "failure"),
        ("", "failure"),
        ("MCP error -32601: Method not found", "failure"),
        ("Output validation error: Tool pay has an output schema but no structured content was provided", "unknown"),
        ("MCP error -32602: Output validation error: Invalid structured content for tool pay", "unknown"),
        ("MCP error -32001: Request timed out", "unknown"),
    ],
)
def test_an_error_result_that_a_library_wrote_is_no_word_of_the_tool(text: str, status: str) -> None:
    result = types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
    assert answer_of_result(result).status == status
