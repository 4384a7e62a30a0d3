"""Turns a guarded run into an MCP server in front of another one: the only part of the guard that speaks MCP.

The server's tools are listed with their own schemas, and a call goes through when the run allows it. Everything else
comes back as a tool error that says what to do instead. A call that went through is recorded even if the client goes
away meanwhile. Resources, prompts and what a server asks of its client (sampling, elicitation) are not passed on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskStatus
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from cfrc.handoff.guarding.guarded import GuardedRun
from cfrc.handoff.guarding.monitor import Allowed, Refusal
from cfrc.handoff.mcp_answers import answer_of_error, answer_of_result
from cfrc.handoff.mcp_tools import CALL_META, MOST_PAGES, Unreachable, inexact, tool_form
from cfrc.handoff.running.run import interface_digest
from cfrc.handoff.running.wishes import Trouble
from cfrc.handoff.tools import Answer


@dataclass(frozen=True, slots=True)
class Settings:
    """``everything`` lists all tools of the server, not only those of the plan (calls of the others are refused all the
    same). ``timeout`` bounds each call and ``connect`` the start, in seconds; ``tell`` is given one line a decision.
    ``interval`` is the least time between two polls of a step: a hurried client must not use them up. ``grace`` is the
    time that a lost write has to land before a read is asked whether it did.
    ``spelled`` is the domain's name for a tool of the server (``read-file`` is no name there)."""

    everything: bool = False
    timeout: float = 60.0
    connect: float = 30.0
    interval: float = 1.0
    grace: float = 10.0
    tell: Callable[[str], None] = lambda line: None
    spelled: Callable[[str], str] = str


class Upstream:
    """The connection to the guarded server. ``gone`` says why nothing can be called any more; ``stale`` that the server
    has announced other tools. ``tools`` are in the server's order, by the domain's name for each."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self.client, self.settings = client, settings
        self.gone: str | None = None
        self.stale = False
        self.tools: dict[str, types.Tool] = {}
        self.interface: Mapping[str, Any] = {}

    async def list_tools(self) -> None:
        """Asks for the tools. Raises :class:`Unreachable`."""
        found: list[types.Tool] = []
        cursor: str | None = None
        self.stale = False
        try:
            for _ in range(MOST_PAGES):
                params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
                page = await self.client.session.list_tools(params=params)
                found += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        except (MCPError, ValidationError) as problem:
            raise Unreachable(f"the server does not list its tools: {problem}") from None
        if len({t.name for t in found}) < len(found):
            raise Unreachable("the server lists two tools of one name")
        # Where several names are spelled alike in the domain, only the one that is a name there can be meant.
        alike = Counter(self.settings.spelled(t.name) for t in found)
        own = [(self.settings.spelled(t.name), t) for t in found]
        self.tools = {name: t for name, t in own if alike[name] == 1 or name == t.name}
        self.interface = {name: tool_form(t) for name, t in self.tools.items()}

    def listed(self) -> list[dict[str, Any]]:
        """The tools as the server listed them."""
        return [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in self.tools.values()]

    async def call(self, allowed: Allowed) -> tuple[Answer, types.CallToolResult | None]:
        """Makes one call. The SDK's own judgement of the result is left out: the domain says what a result is."""
        if inexact(dict(allowed.arguments)):
            said = "an argument is a number that JSON readers would round: nothing was sent"
            return Answer("failure", error=said), None
        meta: Any = {CALL_META: allowed.wish.call}
        name = self.tools[allowed.wish.tool.name].name
        params = types.CallToolRequestParams(name=name, arguments=dict(allowed.arguments), _meta=meta)
        request = types.CallToolRequest(params=params)
        try:
            result = await self.client.session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=self.settings.timeout
            )
        except MCPError as problem:
            if problem.error.code == types.CONNECTION_CLOSED:
                self.gone = "the connection to the server is closed"
            return answer_of_error(problem.error.code, problem.error.message), None
        except ValidationError:
            return Answer("unknown", error="the server's reply is no result of a call"), None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.gone = "the connection to the server is closed"
            return Answer("unknown", error=self.gone), None
        except Exception as problem:  # whatever it is, the call may have been made: the run must hear of it
            return Answer("unknown", error=f"{type(problem).__name__}: {_cause(problem)}"), None
        return answer_of_result(result), result


@asynccontextmanager
async def connected(server: Any, settings: Settings) -> AsyncIterator[Upstream]:
    """A connection to a server: the parameters of a command (``StdioServerParameters``), a URL, or a server of this
    process. Raises :class:`Unreachable`. When it breaks later, that is no concern of the caller's tasks: then
    ``gone`` is set."""
    stop = anyio.Event()
    async with anyio.create_task_group() as tasks:
        found: Upstream | Unreachable = await tasks.start(_keep, server, settings, stop)
        if isinstance(found, Upstream):
            try:
                yield found
            finally:
                stop.set()
    if isinstance(found, Unreachable):
        raise found


async def _keep(
    server: Any, settings: Settings, stop: anyio.Event, *, task_status: TaskStatus[Upstream | Unreachable]
) -> None:
    """Holds the connection, in a task of its own, until it is told to stop."""
    upstream: Upstream | None = None

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification) and upstream is not None:
            upstream.stale = True

    client = Client(server, cache=None, message_handler=heard, read_timeout_seconds=settings.connect)
    try:
        async with client:
            upstream = Upstream(client, settings)
            task_status.started(upstream)
            await stop.wait()
    except (OSError, ValueError, MCPError, RuntimeError, ExceptionGroup) as problem:
        if upstream is None:
            task_status.started(Unreachable(f"the server cannot be reached: {_cause(problem)}"))
        else:
            upstream.gone = f"the connection to the server is closed: {_cause(problem)}"


def _cause(problem: BaseException) -> str:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return str(problem) or type(problem).__name__


class Proxy:
    """The server that the client sees."""

    def __init__(self, run: GuardedRun, upstream: Upstream, settings: Settings) -> None:
        self.run, self.upstream, self.settings = run, upstream, settings
        self._one_write = anyio.Lock()
        self._polled: dict[str, float] = {}

    def server(self, version: str) -> Server[Any]:
        return Server(
            "cfrc-guard",
            version=version,
            instructions=self.instructions(),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    def instructions(self) -> str:
        return (
            "A guard stands before these tools. It lets through the calls of one plan, in its order and with its "
            "arguments; a refused call says what to do instead.\n" + self.run.monitor.advice()
        )

    async def list_tools(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        planned = set(self.run.monitor.tools)
        shown = [t for name, t in self.upstream.tools.items() if self.settings.everything or name in planned]
        return types.ListToolsResult(tools=shown)

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        wires = {t.name: name for name, t in self.upstream.tools.items()}
        name, arguments = wires.get(params.name, params.name), params.arguments or {}
        tool = self.run.session.contract.domain.tools.get(name)
        # What a client cancels, or leaves behind, has been called all the same: its answer is waited for and recorded.
        turn = self._one_write if tool is not None and tool.writes else nullcontext()
        with anyio.CancelScope(shield=True):
            async with turn:
                found = await self._offer(name, arguments)
        return found

    async def _offer(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        if self.upstream.stale and self.run.ending is None:
            await self._look_again()
        if self.upstream.gone is not None and self.run.ending is None:
            why = f"{self.upstream.gone}: nothing can be called until the guard is started again with its journal"
            return _error(str(Refusal("CFRC-RUN108", why, self.run.monitor.advice())))
        await self._settle("")  # what the last guard's end, or this server's, has left in doubt
        allowed = self.run.offer(tool, arguments)
        if isinstance(allowed, Refusal):
            self.settings.tell(f"refused {tool}: {allowed.code} {allowed.reason}")
            return _error(str(allowed))
        self.settings.tell(f"call    {allowed.node} = {tool}")
        if allowed.wish.poll:
            due = self._polled.get(allowed.node, 0.0) + self.settings.interval
            await anyio.sleep(max(0.0, due - anyio.current_time()))
        answer, result = await self.upstream.call(allowed)
        self._polled[allowed.node] = anyio.current_time()
        after = await self._settle(self.run.record(allowed, answer))
        self.settings.tell(f"{after:7} {allowed.node}" + (f": {answer.error}" if answer.error else ""))
        if self.run.ending is not None:
            self.settings.tell(f"the run has ended: {self.run.ending.kind} ({self.run.monitor.why()})")
        return self._reply(allowed, after, result)

    async def _settle(self, after: str) -> str:
        """Asks the reads that tell whether a lost call took place."""
        since = self.run.session.doubtful_since
        if since is not None and self.upstream.gone is None:
            left = self.settings.grace - (self.run.clock() - since).total_seconds()
            await anyio.sleep(max(0.0, min(left, self.settings.grace)))
        while self.upstream.gone is None and (questions := self.run.questions()):
            asked = self.run.ask(questions[0])
            if isinstance(asked, Refusal):
                return "lost"
            self.settings.tell(f"ask     {asked.wish.tool.name} about {asked.node}")
            answer, _ = await self.upstream.call(asked)
            after = self.run.record(asked, answer)
        return after

    async def _look_again(self) -> None:
        """The server has announced other tools: those of the plan must be the same."""
        before = self._digest()
        try:
            await self.upstream.list_tools()
        except Unreachable as problem:
            self.upstream.gone = str(problem)
            return
        if self._digest() != before:
            self.run.hold(Trouble("RUN010", "the server's tools have changed while the run was going on"))

    def _digest(self) -> str:
        session = self.run.session
        return interface_digest(self.upstream.interface, session.proposal, session.contract)[0]

    def _reply(self, allowed: Allowed, after: str, result: types.CallToolResult | None) -> types.CallToolResult:
        """What the client is told. Only a receipt that the run accepts is passed on."""
        monitor = self.run.monitor
        match after:
            case "ok" | "poll" | "failed" if result is not None:
                return result if after != "failed" else _with_note(result, self._ended() or monitor.advice())
            case "ok":
                return _text("It took place, as another read of the server shows.")
            case "failed":
                return _error(self._ended() or monitor.advice())
            case "again" | "did not happen":
                return _error(f"`{allowed.node}` did not take place: it may be called again.\n{monitor.advice()}")
            case "settling":
                return _error(f"Nobody knows whether `{allowed.node}` took place: do not call it again.")
            case "lost":
                return _error(f"The answer to `{allowed.node}` could not be written down: stop here.")
        return _error(self._ended() or f"`{allowed.node}`: {after}")

    def _ended(self) -> str:
        """What the end of the run means for the client; nothing while it goes on."""
        over = self.run.monitor.over()
        return str(over) if over is not None else ""


def _text(text: str, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)


def _error(text: str) -> types.CallToolResult:
    return _text(text, True)


def _with_note(result: types.CallToolResult, note: str) -> types.CallToolResult:
    return result.model_copy(update={"content": [*result.content, types.TextContent(text=note)]})


async def serve(proxy: Proxy, version: str) -> None:
    """Serves one client over standard input and output, until it goes away."""
    server = proxy.server(version)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
