"""``cfrc run`` and ``cfrc replay``: exit codes, output, signals; and the documented example."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import cfrc
from cfrc.adapters.transcripts import read_transcript
from cfrc.cli.run import head_of
from cfrc.handoff.freezing.heads import heads
from tests.cli.run import Ran, run
from tests.handoff.shop import TEXT, Shop

REFUSING = """
from cfrc import ToolError

class Refusing(Shop):
    def mail(self, order):
        raise ToolError("the mail server is away")

refusing = Refusing(Path("world"))
"""

NEXT = """
proposal rest_of_it for rest
    m = mail(order: order)
    t = tag(order: order) after m
    s = ship(order: order, slip: slip_slip_1) after t
    done claims mail, tag, ship
"""

ROOT = Path(__file__).parents[2]

TOOLS = """
import time
from pathlib import Path
from tests.handoff.shop import Shop

class Slow(Shop):
    def charge(self, order, amount):
        found = super().charge(order, amount)
        Path("charging").touch()
        time.sleep(1)
        return found

shop = Shop(Path("world"))
slow = Slow(Path("world"))
nothing = {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    (tmp_path / "shop.cfrc").write_text(TEXT)
    (tmp_path / "live_tools.py").write_text(TOOLS)
    yield tmp_path
    sys.modules.pop("live_tools", None)


def go(*more: str, tools: str = "live_tools:shop", journal: str = "journal") -> Ran:
    return run("run", "shop.cfrc", "--tools", tools, "--journal", journal, *more)


def test_a_replay_leaves_nothing_behind(folder: Path) -> None:
    assert go().code == 0
    before = sorted(p.name for p in folder.iterdir())
    assert run("replay", "journal", "-q").code == 0
    assert sorted(p.name for p in folder.iterdir()) == before


@pytest.mark.parametrize("text", [b"", b"domain shop\n", b"SQLite format 3\0", b"\0" * 5000], ids=range(4))
def test_what_is_no_journal_cannot_be_replayed(folder: Path, text: bytes) -> None:
    (folder / "other").write_bytes(text)
    before = sorted(p.name for p in folder.iterdir())
    refused = run("replay", "other")
    assert refused.code == 2 or text.startswith(b"SQLite"), refused.err
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_run_and_its_replay(folder: Path) -> None:
    done = go()
    assert done.code == 0 and "done: contract rest" in done.out and not done.err
    head = done.out.splitlines()[-1].removeprefix("journal: ")
    told = run("replay", "journal", "--head", head)
    assert told.code == 0 and "done: contract rest" in told.out and "every decision comes out the same" in told.out
    assert run("replay", "journal", "--head", "0" * 64).code == 1
    again = go()
    assert (again.code, again.out, again.err) == (0, done.out, "")
    other = go(journal="other")
    assert other.code == 1 and "CFRC-RUN007" in other.out
    assert Shop(folder / "world").done() == ["charge", "mail", "tag", "ship"]


def test_a_run_that_is_done_is_told_again_to_a_supervisor_that_starts_it_again(folder: Path) -> None:
    first = go("--format", "json")
    again = go("--format", "json")
    found, told = json.loads(first.out), json.loads(again.out)
    for form in (found, told):
        del form["verdict"]["stats"]
    assert again.code == 0 and told == found
    assert Shop(folder / "world").done() == ["charge", "mail", "tag", "ship"]
    (folder / "shop.cfrc").write_text(TEXT + "\nproposal other for rest\n    done\n")
    different = go("--proposal", "other")
    assert different.code == 1  # it is not even admitted
    (folder / "shop.cfrc").write_text(
        TEXT.replace("contract rest for", "contract other for").replace("for rest", "for other")
    )
    different = go()
    assert different.code == 2 and "CFRC-JRN004" in different.err


def test_as_json(folder: Path) -> None:
    found = json.loads(go("--format", "json").out)
    assert found["outcome"] == "done" and found["verdict"]["verdict"] == "admitted" and not found["findings"]
    assert [r["tool"] for r in found["receipts"] if r["status"] == "success"].count("charge") == 1
    told = json.loads(run("replay", "journal", "--format", "json").out)
    assert told["outcome"] == "done" and told["journal"] == found["journal"] and told["receipts"] == found["receipts"]


def test_what_is_not_admitted_never_runs(folder: Path) -> None:
    (folder / "shop.cfrc").write_text(TEXT.replace("m = mail(order: order) after c", "m = mail(order: order)").replace(
        "t = tag(order: order) after m", "t = mail(order: order) after m"))  # fmt: skip
    done = go()
    assert done.code == 1 and "refused" in done.out and "CFRC-PRS002" in done.out
    assert not (folder / "journal").exists() and not (folder / "world").exists()
    assert json.loads(go("--format", "json").out)["outcome"] == "refused"


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["--tools", "live_tools:shop", "--mcp", "x"], ["--tools", "no_such_module:x"], ["--tools", "live_tools:absent"],
        ["--mcp", "/no/such/server"],
    ],
)  # fmt: skip
def test_wrong_usage(folder: Path, arguments: list[str]) -> None:
    done = run("run", "shop.cfrc", "--journal", "journal", *arguments)
    assert done.code == 2 and done.err and not (folder / "journal").exists()


def test_a_surface_without_the_tools(folder: Path) -> None:
    done = go(tools="live_tools:nothing")
    assert done.code == 1 and "CFRC-RUN002" in done.out and not (folder / "journal").exists()


def test_a_journal_that_is_none(folder: Path) -> None:
    (folder / "journal").write_text("no journal\n" * 1000)
    assert go().code == 2
    assert run("replay", "nowhere").code == 2
    assert run("replay", "journal").code == 2


def test_the_shared_ledger_is_asked_before_the_first_write(folder: Path) -> None:
    ledger = 'ledger all for shop\n    receipt x: tag(order: "O1") {status}\n'
    text = TEXT.replace("    fixed order", '    head "sha256:00"\n    fixed order')
    (folder / "shop.cfrc").write_text(text)
    (folder / "ledger.cfrc").write_text('import "shop.cfrc"\n' + ledger.format(status="failure"))
    done = go("--ledger", "ledger.cfrc")
    assert done.code == 1 and "CFRC-RUN006" in done.out and not (folder / "world").exists()


def test_what_is_left_is_the_contract_of_the_next_tenant(folder: Path) -> None:
    """The mail tool refuses; a second tenant does the rest of it, and repeats nothing."""
    spec, contract, plan = TEXT.partition("\ncontract ")
    (folder / "shop.cfrc").write_text(spec)
    (folder / "task.cfrc").write_text('import "shop.cfrc"\n' + contract + plan)
    (folder / "live_tools.py").write_text(TOOLS + REFUSING)
    done = run("run", "task.cfrc", "--tools", "live_tools:refusing", "--journal", "one", "--residual", "rest.cfrc")
    assert done.code == 1 and "yield: contract rest" in done.out and "left: owed: mail, tag, ship" in done.out
    told = run("verify", "rest.cfrc")
    assert told.code == 0, told.out + told.err
    (folder / "plan.cfrc").write_text(NEXT)
    assert run("check", "rest.cfrc", "plan.cfrc").code == 0, run("check", "rest.cfrc", "plan.cfrc").out
    done = run("run", "rest.cfrc", "plan.cfrc", "--tools", "live_tools:shop", "--journal", "two")
    assert done.code == 0, done.out + done.err
    assert Shop(folder / "world").done() == ["charge", "mail", "tag", "ship"]


def test_progress_is_on_standard_error_when_asked_for(folder: Path) -> None:
    done = go("-v")
    assert "cfrc run: c: charge ok" in done.err and "cfrc run" not in done.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_in_order_and_the_same_command_goes_on(folder: Path, number: int) -> None:
    command = [sys.executable, "-m", "cfrc", "run", "shop.cfrc", "--journal", "journal", "--tools"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([*command, "live_tools:slow"], env=env, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if (folder / "charging").exists():
            break
        time.sleep(0.05)
    running.send_signal(number)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 1 and "CFRC-RUN008" in out and "can be taken up again" in out
    assert Shop(folder / "world").done() == ["charge"]
    (folder / "charging").unlink()
    done = go(tools="live_tools:slow")
    assert done.code == 0 and Shop(folder / "world").done() == ["charge", "mail", "tag", "ship"]


def test_the_documented_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    section = (ROOT / "docs" / "handoff.md").read_text(encoding="utf-8").partition("\n## Run")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/handoff.md", "exec"), {})


@pytest.mark.parametrize("server", [("--mcp-url", "http://127.0.0.1:9/mcp"), ("--mcp", "/no/such/program --flag")])
def test_a_server_that_is_not_there_is_no_wrong_usage(folder: Path, server: tuple[str, str]) -> None:
    pytest.importorskip("mcp")
    refused = run("run", "shop.cfrc", *server, "--journal", "journal")
    assert refused.code == 2 and server[1] in refused.err and not (folder / "journal").exists()
    assert "Usage" not in refused.err and "ExceptionGroup" not in refused.err


def test_the_record_that_was_frozen_is_a_ledger_too(folder: Path) -> None:
    """As long as nothing is added to it."""
    lines = ['{"type": "message", "role": "user", "text": "Tag order O1."}',
             '{"type": "receipt", "id": "c1", "tool": "look", "arguments": {"order": "O1"}, "status": "failure"}']  # fmt: skip
    record = folder / "record.jsonl"
    record.write_text("\n".join(lines) + "\n")
    contract = cfrc.load("shop.cfrc").contracts["rest"]
    ledger, _ = cfrc.ledger_of(contract.domain, read_transcript(record))
    head = head_of("record.jsonl", (), contract)
    assert ledger.entries and head() == heads(ledger)[-1]
    before = head()
    record.write_text("\n".join([*lines, lines[1].replace("c1", "c2")]))
    assert head() != before
