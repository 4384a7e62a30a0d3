"""The guarded SQLite server of ``examples``: its checks, its README, and (where it is installed) the real server."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cfrc.handoff.running.replay import replay
from tests.cli.run import run
from tests.test_docs import agrees, transcript

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "guard-sqlite"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
TASK = str(FOLDER / "task.cfrc")
SERVER = os.environ.get("MCP_SERVER_SQLITE") or shutil.which("mcp-server-sqlite")

real = pytest.mark.skipif(SERVER is None, reason="needs mcp-server-sqlite, or its path in MCP_SERVER_SQLITE")


def told() -> str:
    (block,) = re.findall(r"(?<=^```text\n).*?(?=^```$)", README, re.MULTILINE | re.DOTALL)
    return str(block)


def guarded(folder: Path, *create: str) -> subprocess.CompletedProcess[str]:
    """The example's client, the guard and the real server."""
    database = folder / "customers.db"
    with sqlite3.connect(database) as connection:
        for statement in create:
            connection.execute(statement)
    guard = [sys.executable, "-m", "cfrc", "guard", TASK, "--proposal", "once"]
    command = [*guard, "--journal", str(folder / "journal"), "--", str(SERVER), "--db-path", str(database)]
    return subprocess.run(
        [sys.executable, str(FOLDER / "client.py"), *command], capture_output=True, text=True, timeout=60, cwd=ROOT
    )


def rows(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "customers.db") as connection:
        return connection.execute("SELECT email, name FROM customers").fetchall()


TABLE = "CREATE TABLE customers (email TEXT, name TEXT)"


@real
def test_one_row_however_often_the_client_tries(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    done = guarded(tmp_path, TABLE)
    assert done.returncode == 0, done.stderr
    assert re.sub(r"`[0-9a-f]+\.", "`….", done.stdout) == told()
    assert rows(tmp_path) == [("ada@example.com", "Ada")]
    assert "done: everything owed is done" in done.stderr
    outcome = replay(tmp_path / "journal").outcome
    assert outcome is not None and outcome["kind"] == "done"


@real
def test_a_row_that_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    done = guarded(tmp_path, TABLE, "INSERT INTO customers VALUES ('ada@example.com', 'Ada')")
    assert done.stdout.count("CFRC-RUN107") >= 1 and rows(tmp_path) == [("ada@example.com", "Ada")]


@real
def test_an_error_that_is_sent_as_a_success_is_no_receipt(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    done = guarded(tmp_path, "CREATE TABLE customers (email TEXT PRIMARY KEY, name TEXT CHECK (name <> 'Ada'))")
    assert "CFRC-RUN105" in done.stdout and "is not a Written" in done.stdout
    outcome = replay(tmp_path / "journal").outcome
    assert outcome is not None and outcome["kind"] == "held" and rows(tmp_path) == []


def test_the_plans_are_what_their_checks_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run("fmt", "--check", FOLDER).code == 0
    for block in re.findall(r"(?<=^```console\n).*?(?=^```$)", README, re.MULTILINE | re.DOTALL):
        assert agrees(block, transcript(block))


def test_the_readme_shows_the_domain_and_names_files_that_exist() -> None:
    domain = (FOLDER / "sqlite.cfrc").read_text(encoding="utf-8").splitlines()
    (block,) = re.findall(r"(?<=^```\n)    enum.*?(?=^```$)", README, re.MULTILINE | re.DOTALL)
    for line in block.splitlines():
        assert any(known.startswith(line) for known in domain), line
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (FOLDER / target).exists(), target
