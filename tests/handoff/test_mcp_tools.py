"""The shop behind a real MCP server: the same run over stdio and over HTTP, and what a server may do to it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from cfrc.handoff.mcp_tools import McpTools, Unreachable
from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.run import run
from tests.handoff.shop import Shop, case

SERVER = Path(__file__).with_name("server.py")
SETTINGS = Settings(interval=lambda poll: 0.0, timeout=20, grace=0.0)


def stdio(folder: Path, **env: str) -> McpTools:
    from mcp.client.stdio import StdioServerParameters

    return McpTools(StdioServerParameters(command=sys.executable, args=[str(SERVER), str(folder / "shop")], env=env))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(SERVER), str(tmp_path / "shop"), str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/mcp"
    server.kill()
    server.wait()


def test_a_run_over_stdio(tmp_path: Path) -> None:
    with stdio(tmp_path) as tools:
        assert {"look", "ship"} <= tools.interface().keys()
        outcome = run(*case(), tools, tmp_path / "journal", settings=SETTINGS)
    assert outcome.kind == "done", outcome.reason
    assert Shop(tmp_path / "shop").done() == ["charge", "mail", "tag", "ship"]


def test_a_run_over_http(tmp_path: Path, url: str) -> None:
    with McpTools(url) as tools:
        outcome = run(*case(), tools, tmp_path / "journal", settings=SETTINGS)
    assert outcome.kind == "done", outcome.reason
    assert Shop(tmp_path / "shop").done() == ["charge", "mail", "tag", "ship"]


def test_an_error_result_is_a_definite_failure(tmp_path: Path) -> None:
    with stdio(tmp_path, REFUSES="1") as tools:
        outcome = run(*case(), tools, tmp_path / "journal", settings=SETTINGS)
    assert outcome.kind == "yield" and outcome.steps["m"] == "failed"
    assert Shop(tmp_path / "shop").done() == ["charge"]


def test_a_server_that_dies_leaves_the_call_in_doubt_and_another_one_settles_it(tmp_path: Path) -> None:
    with stdio(tmp_path, DIES="1") as tools:
        outcome = run(*case(), tools, tmp_path / "journal", settings=SETTINGS)
    # The dead server cannot say whether the mail went out, so nothing goes on: the next tenant asks another server.
    assert outcome.kind == "held" and outcome.findings[0].code == "CFRC-RUN005"
    assert Shop(tmp_path / "shop").done() == ["charge", "mail", "died"]


def test_bad_arguments_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    with stdio(tmp_path) as tools:
        assert tools.call("charge", {"order": "O1", "amount": -1}, "c").status == "failure"
        assert tools.call("nothing", {}, "c").status == "failure"
    assert Shop(tmp_path / "shop").done() == []


@pytest.mark.parametrize("tools", [McpTools("http://127.0.0.1:9/mcp"), McpTools.command("/no/such/program --flag")])
def test_a_server_that_is_not_there(tools: McpTools) -> None:
    with pytest.raises(Unreachable) as problem, tools:
        pass
    assert "cannot be started or reached: " in str(problem.value) and "ExceptionGroup" not in str(problem.value)
