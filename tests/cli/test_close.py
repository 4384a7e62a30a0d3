"""``cfrc close``: what goes in and comes out, and that it says what it could not settle."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.run import run

ROOT = Path(__file__).parents[2]
CONTRACT = str(ROOT / "examples" / "invoice" / "contract.cfrc")
CALLS = [
    {"call": "get_invoice", "args": {"invoice": "INV-42"}},
    {"call": "send_email", "args": {"to": "ap@acme.test", "attachment": "txn7.pdf", "body": "Hi"}, "id": "s"},
    {"tool": "delivery_status", "arguments": {"send": {"out": "s.id"}}},
]


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(map(json.dumps, CALLS)))
    return path


def test_the_closed_proposal_is_admitted(calls: Path) -> None:
    closed = run("close", CONTRACT, str(calls))
    assert closed.code == 0 and "note[CFRC-CLO004]" in closed.out
    checked = run("check", CONTRACT, "-", stdin=closed.out.encode())
    assert checked.code == 0 and "admitted: closed" in checked.out


def test_a_file_holds_the_json_form(calls: Path, tmp_path: Path) -> None:
    path = tmp_path / "closed.json"
    assert run("close", CONTRACT, str(calls), "--out", str(path), "--keep").code == 0
    assert [n["id"] for n in json.loads(path.read_text())["nodes"]] == ["c1", "s", "c3", "end"]
    assert run("check", CONTRACT, str(path)).code == 0


def test_there_is_one_file_for_the_proposal(calls: Path, tmp_path: Path) -> None:
    both = [str(tmp_path / n) for n in "ab"]
    refused = run("close", CONTRACT, str(calls), "--out", both[0], "-o", both[1])
    assert refused.code == 2 and "one of --out" in refused.err and not any(tmp_path.glob("?"))


def test_what_could_not_be_settled_is_exit_1(calls: Path) -> None:
    calls.write_text(json.dumps(CALLS[1]))
    closed = run("close", CONTRACT, str(calls), "--format", "json")
    form = json.loads(closed.out)
    assert closed.code == 1 and form["closed"] is False
    assert [n["code"] for n in form["notes"]] == ["CFRC-CLO005"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "JSN001"),
        ("[]", "JSN012"),
        ("{}", "JSN010"),
        ('{"call": "send_email", "cover": []}', "JSN011"),
        ('{"call": 3}', "JSN012"),
        ('{"call": "a", "id": "s"}\n{"call": "a", "id": "s"}', "JSN013"),
    ],
)
def test_a_line_that_is_no_call_is_exit_2(calls: Path, line: str, code: str) -> None:
    calls.write_text(line)
    bad = run("close", CONTRACT, str(calls))
    assert bad.code == 2 and code in bad.err


@pytest.mark.parametrize("place", ["no.such:thing", "json:dumps", "json"])
def test_what_is_no_replica_is_exit_2(calls: Path, place: str) -> None:
    assert run("close", CONTRACT, str(calls), "--replica", place).code == 2


def test_a_replica_of_ones_own(calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_mail.py").write_text(
        "from cfrc.handoff.closing.replica import CopyReplica\n"
        "def make():\n"
        "    tools = {'get_invoice': lambda env, invoice: {'invoice': invoice, 'amount': 1, 'status': 'paid',\n"
        "                                                  'payer': 'ap@acme.test'},\n"
        "             'send_email': lambda env, **kw: {'id': 'S-77'},\n"
        "             'delivery_status': lambda env, send: {'state': 'delivered' if send == 'S-77' else 'queued'}}\n"
        "    return CopyReplica({}, tools)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    closed = run("close", CONTRACT, str(calls), "--replica", "own_mail:make")
    assert closed.code == 0 and "expect c3.state == delivered" in closed.out


@pytest.mark.parametrize("text", ["raise KeyError(1)", "def world(): raise OSError('none')", "world = (", ""])
def test_a_replica_that_cannot_be_had_is_bad_input(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken_replica", raising=False)
    (tmp_path / "broken_replica.py").write_text(text)
    refused = run("close", CONTRACT, str(calls), "--replica", "broken_replica:world")
    assert refused.code == 2 and "--replica broken_replica:world" in refused.err
