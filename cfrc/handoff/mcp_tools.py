"""Turns a real MCP server, over stdio or HTTP, into live tools. Needs the extra ``mcp`` (the official SDK).

A server that fails, times out or goes away in the middle of a call leaves it in doubt. There is no reconnection behind
the caller's back and no second try: whether a call may be made again is not for a transport to say.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cfrc.handoff.mcp_answers import answer_of_error, answer_of_result
from cfrc.handoff.tools import Answer, loose
from cfrc.model.transcript import JSON

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client, Tool

CALL_META = "cfrc/call"
"""The key under which a call's name travels with it."""

MOST_PAGES = 100
"""Pages of tools that a server may list."""


class Unreachable(Exception):
    """The server cannot be started or reached, or does not speak the protocol. Nothing was called."""


class McpTools:
    """A connection to one server, for as long as the ``with`` block lasts.

    ``server`` is a URL, or whatever else the SDK's client takes; :meth:`command` starts a program and talks to it over
    its standard input and output. Raises :class:`Unreachable` on entering, and ``ImportError`` without the extra.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._stack = ExitStack()
        self._calls: set[Future[Answer]] = set()
        self._interface: dict[str, JSON] = {}
        self._portal: BlockingPortal
        self._client: Client

    @classmethod
    def command(cls, line: str) -> McpTools:
        """The tools of a server that a command line starts (split as a shell would; no shell runs)."""
        from mcp.client.stdio import StdioServerParameters

        program, *arguments = shlex.split(line)
        return cls(StdioServerParameters(command=program, args=arguments))

    def __enter__(self) -> McpTools:
        from anyio.from_thread import start_blocking_portal
        from mcp import Client

        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            client = self._portal.wrap_async_context_manager(Client(self._server))
            self._client = self._stack.enter_context(client)
            self._interface = self._portal.call(self._list)
        except BaseException as problem:
            self._stack.close()
            if not isinstance(problem, Exception):
                raise
            raise Unreachable(f"it cannot be started or reached: {_first(problem)}") from problem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for call in list(self._calls):
            call.cancel()  # the run has put it in doubt: nobody waits for it any more
        try:
            self._stack.close()
        except Exception:  # how a server goes away does not change what it answered
            return

    async def _list(self) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                found[tool.name] = tool_form(tool)
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    def interface(self) -> Mapping[str, JSON]:
        """Names and schemas, without descriptions: they are prose."""
        return self._interface

    def call(self, tool: str, arguments: Mapping[str, JSON], call: str) -> Answer:
        if tool not in self._interface:
            return Answer("failure", error=f"the server has no tool {tool}")
        given = {name: loose(value) for name, value in arguments.items()}
        if inexact(given):
            return Answer("failure", error="an argument is a number that JSON readers would round: nothing was sent")
        made = self._portal.start_task_soon(self._call, tool, given, call)
        self._calls.add(made)
        try:
            return made.result()
        except CancelledError:
            return Answer("unknown", error="the connection was closed before an answer")
        finally:
            self._calls.discard(made)

    async def _call(self, tool: str, arguments: dict[str, object], call: str) -> Answer:
        from mcp import MCPError

        meta: Any = {CALL_META: call}  # all attempts at one call have one name: a server may recognize repetitions
        try:
            result = await self._client.call_tool(tool, arguments, meta=meta)
        except MCPError as problem:
            return answer_of_error(problem.code, problem.message)
        except Exception as problem:  # a lost connection, a reply that is no reply: nobody knows
            return Answer("unknown", error=f"{type(problem).__name__}: {_first(problem)}")
        return answer_of_result(result)


def tool_form(tool: Tool) -> dict[str, JSON]:
    """What a server says about one tool, without descriptions (they are prose) and hints (they are not believed).
    Integers that no canonical JSON can hold are text."""
    form = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {k: _told(form[k]) for k in ("name", "inputSchema", "outputSchema") if k in form}


def _told(value: Any) -> Any:
    match value:
        case dict():
            return {k: _told(v) for k, v in value.items()}
        case list():
            return [_told(v) for v in value]
        case int() if not isinstance(value, bool) and abs(value) >= 2**53:
            return str(value)
    return value


def inexact(value: object) -> bool:
    """Whether JSON cannot carry it: :func:`cfrc.handoff.tools.loose` leaves such numbers as they are."""
    match value:
        case Decimal():
            return True
        case dict():
            return any(inexact(v) for v in value.values())
        case list():
            return any(inexact(v) for v in value)
    return False


def _first(problem: BaseException) -> str:
    """The message of the innermost single cause: SDKs wrap errors in groups."""
    while isinstance(problem, BaseExceptionGroup) and problem.exceptions:
        problem = problem.exceptions[0]
    return str(problem) or type(problem).__name__
