"""The guard between a real client session and a real server process, both over stdio."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
import mcp_types as types
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.server import Server

from cfrc.adapters.interfaces.digests import lines
from cfrc.adapters.interfaces.names import spelled
from cfrc.adapters.interfaces.read import read_interface
from cfrc.handoff.guarding.guarded import GuardedRun
from cfrc.handoff.guarding.proxy import Proxy, Settings, connected
from cfrc.handoff.mcp_tools import McpTools
from cfrc.handoff.running.replay import replay
from cfrc.handoff.running.run import Outcome
from cfrc.handoff.running.run import run as execute
from cfrc.lang.load import load, load_contract
from cfrc.source import Source
from tests.handoff.guarded_server import shop
from tests.handoff.test_monitor import DOMAIN

ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).with_name("guarded_server.py")
SPEC = DOMAIN.replace("-> { at: time }", "-> time")
ASKING = SPEC.replace("    allow look,", "    allow look_off, look,").replace(
    "\ncontract z for", "\n    read look_off(o: Order) -> { off: bool, ref: Ref }\n"
    "        witnesses cancelled(o) when result.off\n        refutes cancelled(o) when not result.off\n\ncontract z for", 1,
)  # fmt: skip
MOST = 40.0
"""Seconds that one test may take, on a machine that others use too."""


class Guarded:
    """One client's session with a guard."""

    def __init__(self, session: ClientSession, folder: Path) -> None:
        self.session, self.folder = session, folder

    async def call(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        result = await self.session.call_tool(tool, arguments)
        return bool(result.is_error), "\n".join(c.text for c in result.content if c.type == "text")

    def happened(self) -> list[str]:
        state = self.folder / "state"
        return state.read_text().splitlines() if state.exists() else []


def command(folder: Path, fault: str = "", spec: str = SPEC, *options: str, plan: str = "good") -> list[str]:
    (folder / "shop.cfrc").write_text(spec)
    guard = [
        "-m",
        "cfrc",
        "guard",
        str(folder / "shop.cfrc"),
        "--proposal",
        plan,
        "--journal",
        str(folder / "journal"),
        "-v",
        *options,
    ]
    return [*guard, "--", sys.executable, str(SERVER), str(folder / "state"), *([fault] if fault else [])]


@asynccontextmanager
async def guarded(folder: Path, *args: Any, **more: Any) -> AsyncIterator[Guarded]:
    parameters = StdioServerParameters(command=sys.executable, args=command(folder, *args, **more), cwd=ROOT)
    with (folder / "errors").open("a") as errors:
        async with stdio_client(parameters, errlog=errors) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield Guarded(session, folder)


@asynccontextmanager
async def nearby(
    folder: Path, fault: str = "", spec: str = SPEC, plan: str = "good", server: Any = None, **more: Any
) -> AsyncIterator[Guarded]:
    """The same without processes: everything that does not need one to die."""
    loaded = load(Source("shop.cfrc", spec))
    settings = Settings(spelled=spelled, **more)
    async with connected(server or shop(folder / "state", fault), settings) as upstream:
        await upstream.list_tools()
        run = GuardedRun(loaded.contracts["z"], loaded.proposals[plan], folder / "journal")
        try:
            async with Client(Proxy(run, upstream, settings).server("0")) as client:
                yield Guarded(client.session, folder)
        finally:
            run.close()


def trial(test: Callable[[Path], Awaitable[None]]) -> Callable[[Path], None]:
    """Runs an asynchronous test within its time."""

    async def bounded(folder: Path) -> None:
        with anyio.fail_after(MOST):
            await test(folder)

    def run(tmp_path: Path) -> None:
        anyio.run(bounded, tmp_path)

    run.__name__ = test.__name__
    return run


@trial
async def test_a_whole_run(folder: Path) -> None:
    async with guarded(folder) as guard:
        tools = (await guard.session.list_tools()).tools
        assert [t.name for t in tools] == ["look", "cancel", "tell"]
        assert tools[1].input_schema["properties"]["fast"]["default"] is True  # as the server says it
        wrong, said = await guard.call("drop_everything")
        assert wrong and "RUN101" in said and 'call look with {"o": "o1"}' in said
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "RUN104" in said
        assert not guard.happened()
        assert await guard.call("look", o="o2") != (False, "")
        wrong, said = await guard.call("look", o="o1")
        assert not wrong and '"price": 12.5' in said
        wrong, said = await guard.call("cancel", o="o1", fast=True)
        assert wrong and "`fast`" in said
        assert not (await guard.call("cancel", o="o1"))[0]
        assert guard.happened() == ["cancel o1"]  # not fast, whatever the server's own default is
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "RUN102" in said and "Still owed: news" in said
        assert not (await guard.call("tell", r="r1", text="gone"))[0]
        wrong, said = await guard.call("tell", r="r1", text="gone")
        assert wrong and "RUN106" in said
        assert guard.happened() == ["cancel o1", "tell r1 gone"]
    told = replay(folder / "journal")
    assert told.outcome is not None and told.outcome["kind"] == "done"


@trial
async def test_the_client_may_come_back(folder: Path) -> None:
    async with guarded(folder) as guard:
        await guard.call("look", o="o1")
        await guard.call("cancel", o="o1")
    async with guarded(folder, "", SPEC, "--all-tools") as guard:
        assert len((await guard.session.list_tools()).tools) == 6
        assert "RUN101" in (await guard.call("drop_everything"))[1]
        assert "RUN102" in (await guard.call("cancel", o="o1"))[1]
        assert not (await guard.call("tell", r="r1", text="gone"))[0]
    assert guard.happened() == ["cancel o1", "tell r1 gone"]
    assert "done: everything owed" in (folder / "errors").read_text()


@trial
async def test_a_server_that_dies_after_the_write_is_not_written_to_again(folder: Path) -> None:
    async with guarded(folder, "dies after", SPEC, "--residual", str(folder / "left.cfrc")) as guard:
        await guard.call("look", o="o1")
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "nobody knows" in said
        assert (await guard.call("cancel", o="o1"))[0]
    assert guard.happened() == ["cancel o1"]
    told = replay(folder / "journal")
    assert told.outcome is not None and told.outcome["kind"] == "held" and told.outcome["code"] == "RUN005"
    assert told.ledger.entries[-1].status == "unknown"  # type: ignore[union-attr]
    left = load_contract(folder / "left.cfrc", "z_2")  # what the next tenant gets keeps the doubt
    assert [d.effect for d in left.doubts] == ["cancelled"] and {o.name for o in left.obligations} == {"off", "news"}


@trial
async def test_a_lost_write_is_settled_by_the_next_guard(folder: Path) -> None:
    async with guarded(folder, "dies before", ASKING, "--grace", "0") as guard:
        await guard.call("look", o="o1")
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "do not call it again" in said
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "RUN108" in said
    assert guard.happened() == []
    async with guarded(folder, "", ASKING, "--grace", "0.5") as guard:
        assert not (await guard.call("cancel", o="o1"))[0]  # it did not take place: now it may be made
    assert guard.happened() == ["cancel o1"]


@trial
async def test_a_slow_write_is_never_made_again(folder: Path) -> None:
    async with guarded(folder, "slow", ASKING, "--timeout", "1", "--grace", "0") as guard:
        await guard.call("look", o="o1")
        wrong, said = await guard.call("cancel", o="o1")
        assert wrong and "RUN105" in said and "under way" in said
        assert guard.happened() == []
        await anyio.sleep(2)
        assert (await guard.call("cancel", o="o1"))[0]
    assert guard.happened() == ["cancel o1"]


@pytest.mark.parametrize("fault", ["bad enum", "other order"])
def test_an_answer_that_does_not_match_is_an_error_and_ends_the_run(tmp_path: Path, fault: str) -> None:
    @trial
    async def test(folder: Path) -> None:
        async with nearby(folder, fault) as guard:
            wrong, said = await guard.call("look", o="o1")
            assert wrong and "RUN105" in said and "12.5" not in said
            assert "RUN105" in (await guard.call("cancel", o="o1"))[1]
        assert guard.happened() == []

    test(tmp_path)


@trial
async def test_an_error_result_is_a_definite_failure(folder: Path) -> None:
    async with nearby(folder, "refuses") as guard:
        wrong, said = await guard.call("look", o="o1")
        assert wrong and "Error executing tool look" in said and "RUN107" in said
    told = replay(folder / "journal")
    assert told.outcome is not None and told.outcome["kind"] == "yield"


@trial
async def test_a_client_that_leaves_in_the_middle_of_a_write_loses_nothing(folder: Path) -> None:
    async with guarded(folder, "slow") as guard:
        await guard.call("look", o="o1")
        with anyio.move_on_after(0.5):
            await guard.call("cancel", o="o1")
        assert guard.happened() == []
        with anyio.move_on_after(10):
            while not guard.happened():
                await anyio.sleep(0.1)
        await anyio.sleep(0.5)
    async with guarded(folder) as guard:
        assert "RUN102" in (await guard.call("cancel", o="o1"))[1]
        assert not (await guard.call("tell", r="r1", text="gone"))[0]


@trial
async def test_calls_at_the_same_time_are_made_once(folder: Path) -> None:
    async with nearby(folder) as guard:
        await guard.call("look", o="o1")
        answers: list[bool] = []

        async def cancel() -> None:
            answers.append((await guard.call("cancel", o="o1"))[0])

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(cancel)
        assert sorted(answers) == [False, True, True, True, True]
        assert guard.happened() == ["cancel o1"]


@trial
async def test_a_name_that_is_no_name_of_the_language(folder: Path) -> None:
    spec = SPEC.replace(
        "    write tell(", "    write tell_off(r: Ref from receipt) -> text\n        causes told(r)\n    write tell("
    )
    spec = spec.replace("allow look, cancel, tell,", "allow look, cancel, tell_off,")
    spec = spec.replace('t = tell(r: c.ref, text: "gone")', "t = tell_off(r: c.ref)")
    async with nearby(folder, "", spec) as guard:
        assert [t.name for t in (await guard.session.list_tools()).tools] == ["look", "cancel", "tell-off"]
        await guard.call("look", o="o1")
        await guard.call("cancel", o="o1")
        assert await guard.call("tell-off", r="r1") == (False, "told")
    assert guard.happened() == ["cancel o1", "tell-off r1"]


@trial
async def test_a_server_that_speaks_http(folder: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    line = command(folder)
    server = line[line.index("--") + 1 :]
    async with await anyio.open_process([*server, f"http {port}"], stdout=None, stderr=DEVNULL) as process:
        while True:
            with contextlib.suppress(OSError):
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                break
            await anyio.sleep(0.1)
        line[line.index("--") :] = ["--url", f"http://127.0.0.1:{port}/mcp"]
        parameters = StdioServerParameters(command=sys.executable, args=line, cwd=ROOT)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            guard = Guarded(session, folder)
            assert "RUN104" in (await guard.call("cancel", o="o1"))[1]
            for tool, arguments in (("look", {"o": "o1"}), ("cancel", {"o": "o1"})):
                assert not (await guard.call(tool, **arguments))[0]
            process.kill()
            assert (await guard.call("tell", r="r1", text="gone"))[0]
    assert guard.happened() == ["cancel o1"]


@trial
async def test_a_hurried_client_does_not_use_up_the_polls(folder: Path) -> None:
    spec = SPEC.replace("expect a.phase == open", "until a.price > 13 within 3 polls")
    async with nearby(folder, "", spec, interval=0.6) as guard:
        start = anyio.current_time()
        for _ in range(2):
            assert not (await guard.call("look", o="o1"))[0]
        assert anyio.current_time() - start > 0.6
        await anyio.sleep(0.7)  # nor does one that takes its time wait for nothing
        assert "RUN107" in (await guard.call("look", o="o1"))[1]  # the last poll: the plan has no answer to that


@trial
async def test_a_guarded_run_can_be_finished_by_the_executor(folder: Path) -> None:
    """One journal, whoever makes the calls: what the client left open, `cfrc run` does."""
    async with guarded(folder) as guard:
        await guard.call("look", o="o1")
        await guard.call("cancel", o="o1")

    def finish() -> Outcome:
        with McpTools(shop(folder / "state")) as tools:
            loaded = load(Source("shop.cfrc", SPEC))
            return execute(loaded.contracts["z"], loaded.proposals["good"], tools, folder / "journal")

    outcome = await anyio.to_thread.run_sync(finish)
    assert outcome.kind == "done", outcome.reason
    assert guard.happened() == ["cancel o1", "tell r1 gone"]


def message(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def test_the_exit_code_and_the_wire(tmp_path: Path) -> None:
    """A client that speaks by hand: only messages on standard output, and 0 only if everything owed was done."""
    opening = message(
        1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "hand", "version": "0"}
    )
    opening += json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"
    calls = [("look", {"o": "o1"}), ("cancel", {"o": "o1"}), ("tell", {"r": "r1", "text": "gone"})]

    async def spoken(count: int) -> tuple[int, list[dict[str, Any]]]:
        process = await anyio.open_process([sys.executable, *command(tmp_path)], cwd=ROOT, stderr=DEVNULL)
        assert process.stdin is not None and process.stdout is not None
        with anyio.fail_after(MOST):
            heard, buffer = [], b""
            await process.stdin.send(opening.encode())
            for number, (tool, arguments) in enumerate(calls[:count], 2):
                await process.stdin.send(message(number, "tools/call", name=tool, arguments=arguments).encode())
                while len(heard) < number:  # answers come one by one: the next call needs the last one's
                    while b"\n" not in buffer:
                        buffer += await process.stdout.receive()
                    line, _, buffer = buffer.partition(b"\n")
                    heard.append(json.loads(line))
            await process.stdin.aclose()
            return await process.wait(), heard

    code, heard = anyio.run(spoken, 2)
    assert code == 1 and [m["id"] for m in heard] == [1, 2, 3]
    code, heard = anyio.run(spoken, 0)
    assert code == 1
    calls = calls[2:]
    code, heard = anyio.run(spoken, 1)
    assert code == 0 and not heard[-1]["result"]["isError"]


# -- a server of ill will ----------------------------------------------------------------------------------------------

ORDER = {"o": "o1", "phase": "open", "price": 12.5}


def said(content: list[Any], **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=content, **more)


TEXT = types.TextContent(text=json.dumps(ORDER))
DEEP: Any = ORDER
for _ in range(100):
    DEEP = {"o": DEEP}


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (said([TEXT], structured_content=ORDER), True),
        (said([TEXT]), True),  # JSON in a text, where the domain says that it is a record
        (said([types.TextContent(text="something else")], structured_content=ORDER), True),
        (said([TEXT, TEXT]), False),
        (said([]), False),
        (said([types.ImageContent(data="AAAA", mime_type="image/png")]), False),
        (said([TEXT], structured_content=[ORDER]), False),
        (said([TEXT], structured_content={**ORDER, "price": None}), False),
        (said([TEXT], structured_content={**ORDER, "phase": "x-gone"}), False),
        (said([types.TextContent(text='{"o": "o1", "o": "o2", "phase": "open", "price": 1}')]), False),
        (said([types.TextContent(text='{"o": "o1", "phase": "open", "price": NaN}')]), False),
        (said([types.TextContent(text="[" * 100_000)]), False),
        (said([TEXT], structured_content=DEEP), False),
        (MCPError(-32603, "internal"), False),
        (MCPError(-32602, "no such parameter"), False),
    ],
    ids=range(15),
)
def test_only_an_answer_of_the_declared_type_gets_through(tmp_path: Path, answer: Any, passed: bool) -> None:
    """The hints say that everything is read-only and idempotent; nobody believes them."""
    hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)

    async def tools(context: Any, params: Any) -> types.ListToolsResult:
        listed = [(n, {"type": "object"}) for n in ("look", "cancel", "tell")]
        return types.ListToolsResult(tools=[types.Tool(name=n, input_schema=s, annotations=hints) for n, s in listed])

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if isinstance(answer, MCPError):
            raise answer
        return answer

    @trial
    async def test(folder: Path) -> None:
        server = Server("ill", on_list_tools=tools, on_call_tool=call)
        async with nearby(folder, server=server) as guard:
            wrong, said = await guard.call("look", o="o1")
            assert wrong != passed, said
            wrong, said = await guard.call("cancel", o="o1")
            if not passed:
                assert wrong and (
                    "RUN105" in said or "RUN107" in said or "may be called again" in said or "Now:" in said
                )
        told = replay(folder / "journal")
        assert told.ledger.entries[0].status == "success" or not passed  # type: ignore[union-attr]

    test(tmp_path)


@trial
async def test_names_that_are_spelled_alike(folder: Path) -> None:
    """Of `look` and `look!` the plan can only mean the first; of two that are both no names, neither."""

    def named(name: str) -> types.Tool:
        return types.Tool(name=name, input_schema={"type": "object"})

    async def tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[named(n) for n in ("look!", "look", "tell-off", "tell.off", "cancel")])

    async with connected(Server("alike", on_list_tools=tools), Settings(spelled=spelled)) as upstream:
        await upstream.list_tools()
        assert {name: t.name for name, t in upstream.tools.items()} == {"look": "look", "cancel": "cancel"}


# -- what does not start ----------------------------------------------------------------------------------------------


async def started(folder: Path, *args: Any, **more: Any) -> tuple[int, str]:
    """The exit code and standard error of a guard whose client has nothing to say; its standard output is MCP's."""
    with anyio.fail_after(MOST):
        done = await anyio.run_process(
            [sys.executable, *command(folder, *args, **more)], check=False, cwd=ROOT, stdin=None, input=b""
        )
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


def test_a_plan_that_is_not_admitted_is_never_opened(tmp_path: Path) -> None:
    spec = SPEC.replace('text: "gone")', 'text: "gone") when a.phase == shipped', 1)
    code, said = anyio.run(started, tmp_path, "", spec)
    assert code == 1 and "COV001" in said and "refused: good" in said and "not opened" in said
    assert not (tmp_path / "journal").exists() and not (tmp_path / "state").exists()


def test_a_server_without_a_tool_of_the_plan_is_not_opened(tmp_path: Path) -> None:
    code, said = anyio.run(started, tmp_path, "no tell")
    assert code == 1 and "RUN002" in said and "tell" in said and not (tmp_path / "journal").exists()


def test_another_interface_is_not_opened(tmp_path: Path) -> None:
    code, said = anyio.run(started, tmp_path, "", SPEC, "--interface", "sha256:0")
    assert code == 1 and "RUN010" in said and not (tmp_path / "journal").exists()


def test_a_tool_that_wants_more_than_the_domain_says_is_not_opened(tmp_path: Path) -> None:
    code, said = anyio.run(started, tmp_path, "other schema")
    assert code == 1 and "IFC012" in said and "`shop`" in said and not (tmp_path / "journal").exists()


def test_what_the_domain_has_on_record_must_be_so(tmp_path: Path) -> None:
    """With the digests of an import, even another description counts: a model reads it."""

    async def recorded(folder: Path) -> str:
        async with guarded(folder, "", SPEC, "--all-tools") as guard:
            tools = (await guard.session.list_tools()).tools
        listed = [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in tools]
        return "\n".join(lines(read_interface(Source("tools.json", json.dumps({"tools": listed})), "mcp"))) + SPEC

    spec = anyio.run(recorded, tmp_path)
    for fault, code in (("", 1), ("other words", 1)):
        (tmp_path / fault).mkdir(exist_ok=True)
        found, said = anyio.run(started, tmp_path / fault, fault, spec)
        assert found == code and ("IFC013" in said) == bool(fault), said


def test_a_client_without_a_call_leaves_a_run_that_can_be_taken_up(tmp_path: Path) -> None:
    code, said = anyio.run(started, tmp_path)
    assert code == 1 and "start the guard again" in said
    assert replay(tmp_path / "journal").outcome is None


def test_a_server_that_cannot_be_started(tmp_path: Path) -> None:
    async def nothing() -> tuple[int, str]:
        line = command(tmp_path)
        line[line.index("--") + 1 :] = ["/no/such/server"]
        with anyio.fail_after(MOST):
            done = await anyio.run_process([sys.executable, *line], check=False, cwd=ROOT, input=b"")
        return done.returncode, done.stderr.decode()

    code, said = anyio.run(nothing)
    assert code == 2 and "cannot be reached" in said and "Traceback" not in said


def test_a_guard_that_is_killed_in_the_middle_leaves_the_write_in_doubt(tmp_path: Path) -> None:
    @trial
    async def test(folder: Path) -> None:
        process = None
        async with anyio.create_task_group() as tasks:

            async def client() -> None:
                async with guarded(folder, "slow") as guard:
                    await guard.call("look", o="o1")
                    with anyio.move_on_after(1):
                        await guard.call("cancel", o="o1")
                    for pid in children(os.getpid()):
                        if "guard" in commandline(pid) and str(folder) in commandline(pid):
                            os.kill(pid, signal.SIGKILL)

            tasks.start_soon(client)
        assert process is None
        async with guarded(folder) as guard:
            wrong, said = await guard.call("cancel", o="o1")
            assert wrong and "RUN105" in said

    test(tmp_path)


def children(parent: int) -> list[int]:
    """The processes that this one has started."""
    task = Path(f"/proc/{parent}/task/{parent}/children")
    if not task.exists():
        pytest.skip("needs /proc")
    return [int(p) for p in task.read_text().split()]


def commandline(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
