"""``cfrc audit``: exit codes, the table, JSON, prices, and manifests of ill will."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest

import cfrc
from cfrc.handoff.running.execute import Settings
from tests.cli.run import Ran, run
from tests.handoff.shop import TEXT, Shop, case

pytest.importorskip("scipy.stats")

CHAT = {
    "messages": [{"role": "user", "content": "order O1, please"}],
    "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000, "total_tokens": 1_500_000},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("shop.cfrc").write_text(TEXT)
    Path("chat.json").write_text(json.dumps(CHAT))
    contract, proposal = case()
    done = cfrc.run(contract, proposal, Shop(Path("world")), "one.journal", settings=Settings(interval=lambda n: 0.0))
    assert done.kind == "done"
    return tmp_path


def manifest(*lines: Mapping[str, object] | str) -> str:
    Path("runs.jsonl").write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return "runs.jsonl"


ONE = {
    "run": "one", "contract": "shop.cfrc", "proposal": "shop.cfrc", "journal": "one.journal", "reference": "shop.cfrc",
    "transcript": "chat.json",
}  # fmt: skip


def test_no_lapse_exits_0(folder: Path) -> None:
    done = run("audit", manifest(ONE))
    assert done.code == 0 and not done.err, done.err
    assert "holds: no lapse in 1 run" in done.out
    rows = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "obligations recovered 4/4 100.0 % 39.8 % to 100.0 %" in rows
    assert "plans admitted with an ungrounded write 0/1 0.0 % at most 95.0 %" in rows
    assert run("audit", "one.journal", "-q").out == "holds: no lapse in 1 run\n"


def test_a_declaration_may_be_named(folder: Path) -> None:
    named = {"contract": {"file": "shop.cfrc", "name": "rest"}, "proposal": {"file": "shop.cfrc", "name": "plan"}}
    assert run("audit", manifest(ONE | named)).code == 0


def test_a_lapse_exits_1_and_is_named(folder: Path) -> None:
    Path("less.cfrc").write_text(TEXT.partition("proposal")[0].replace("    owes mail: mailed(order)\n", ""))
    done = run("audit", manifest({"run": "two", "contract": "less.cfrc", "reference": "shop.cfrc"}))
    assert done.code == 1 and "lapse: obligations recovered: two: mail: the contract neither owes it" in done.out
    assert "lapses: 1 in 1 run" in done.out
    assert run("audit", "runs.jsonl", "--exit-zero").code == 0


def test_a_touched_journal_exits_1(folder: Path) -> None:
    with sqlite3.connect("one.journal") as db:
        db.execute("update entries set body = replace(body, 'slip-1', 'slip-2')")
    done = run("audit", "one.journal")
    assert done.code == 1 and "lapse: journals that replay: one.journal" in done.out


def test_json_has_everything(folder: Path) -> None:
    done = run("audit", manifest(ONE), "--format", "json")
    found = json.loads(done.out)
    assert done.code == 0 and found["holds"] is True and found["runs"] == 1 and found["lapses"] == []
    assert found["bindings"]["each"] == [{"run": "one", "subject": "order", "good": True, "why": None}]
    assert found["ungrounded_writes_admitted"] == {"hits": 0, "total": 1, "rate": 0.0, "upper": pytest.approx(0.95)}
    assert found["outcomes"] == {"done": 1} and found["stages"]["prefix"]["tokens"]["input_tokens"] == 1_000_000
    assert found["refusals"] == {"hits": 0, "total": 0, "rate": None, "low": 0.0, "high": 1.0, "each": []}


def test_prices(folder: Path) -> None:
    usage = {"residual": {"input_tokens": 2_000_000, "cache_read_input_tokens": 7}, "construct": "chat.json"}
    name = manifest(ONE | {"usage": usage})
    done = run("audit", name, "--price", "in=0.25,out=2")
    assert "stage prefix: 1.250000" in done.out and "stage residual: 0.500000" in done.out
    assert "cost: 3.000000 (without a price: cache_read_input_tokens)" in done.out
    found = json.loads(run("audit", name, "--price", "in=0.25,out=2,cache_read_input_tokens=1", "--format", "json").out)
    assert found["cost"] == "3.000007" and found["stages"]["construct"]["cost"] == "1.250000"
    for wrong in ("in", "in=x", "in=-1", "=1", "in=1,in=2"):
        assert run("audit", name, "--price", wrong).code == 2


def test_a_manifest_on_standard_input(folder: Path) -> None:
    assert run("audit", "-", stdin=json.dumps(ONE).encode()).code == 0


def test_paths_are_relative_to_the_manifest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = folder / manifest(ONE)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert run("audit", name).code == 0


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ({"run": "x", "contract": "shop.cfrc", "jurnal": "one.journal"}, "AUD001", "did you mean `journal`?"),
        ({"run": 3, "contract": "shop.cfrc"}, "AUD001", "expected text for `run`"),
        ({"run": "x", "contract": ["shop.cfrc"]}, "AUD001", "expected text for `contract`"),
        ({"run": "", "contract": "shop.cfrc"}, "AUD001", "an empty string"),
        ([1], "AUD001", "expected a run"),
        ({"contract": "shop.cfrc"}, "AUD002", "no field `run`"),
        ({"run": "x", "transcript": "chat.json"}, "AUD002", "no field `contract`"),
        ({"run": "x", "proposal": "shop.cfrc", "journal": "one.journal"}, "AUD002", "no field `contract`"),
        ({"run": "x", "journal": "shop.cfrc"}, "AUD004", "is not a journal"),
        ({"run": "x", "contract": {"file": "shop.cfrc", "nam": "rest"}}, "AUD001", "did you mean `name`?"),
        ({"run": "x", "contract": {"file": "shop.cfrc"}}, "AUD002", "no field `name`"),
        ({"run": "x", "contract": {"file": "shop.cfrc", "name": "rst"}}, "NAM008", "did you mean `rest`?"),
        ({"run": "x", "contract": {"file": {}, "name": "rest"}}, "AUD001", "expected text"),
        ({"run": "x", "journal": "nowhere"}, "INP001", "runs.jsonl:1"),
        ({"run": "x", "journal": "."}, "INP002", "runs.jsonl:1"),
        ({"run": "x", "journal": "a\0b"}, "INP003", "runs.jsonl:1"),
        ({"run": "x", "contract": "nowhere.cfrc"}, "INP001", "runs.jsonl:1"),
        ({"run": "x", "contract": "chat.json"}, "JSN", "named here"),
        ({"run": "x", "contract": "shop.cfrc", "transcript": "one.journal"}, "INP00", "named here"),
        ({"run": "x", "contract": "shop.cfrc", "transcript": "shop.cfrc"}, "JSN001", "named here"),
        ({"run": "x", "contract": "shop.cfrc", "transcript": [["chat.json"]]}, "AUD001", "expected text"),
        ({"run": "x", "contract": "shop.cfrc", "usage": []}, "AUD001", "the stages of `usage`"),
        ({"run": "x", "contract": "shop.cfrc", "usage": {"a": 3}}, "AUD001", "a transcript or counters"),
        ({"run": "x", "contract": "shop.cfrc", "usage": {"a": {"n": 1.5}}}, "AUD001", "not a whole number"),
        ({"run": "x", "contract": "shop.cfrc", "usage": {"a": {"n": -1}}}, "AUD001", "not a whole number"),
        ({"run": "x", "contract": "shop.cfrc", "usage": {"a": {"n": True}}}, "AUD001", "not a whole number"),
        ('{"run": "x", "run": "y"}', "JSN003", "duplicate"),
        ("{", "JSN001", "runs.jsonl:2"),
        ("[" * 200, "JSN004", "nesting"),
        ("", "AUD002", "names no run"),
    ],
)  # fmt: skip
def test_bad_manifests_exit_2_with_place_and_help(
    folder: Path, line: dict[str, object] | str, code: str, said: str
) -> None:
    done = run("audit", manifest(line))
    assert done.code == 2 and not done.out, done.out
    assert f"CFRC-{code}" in done.err and said in done.err and "runs.jsonl" in done.err
    assert "internal error" not in done.err and "Traceback" not in done.err


def test_a_run_is_given_once(folder: Path) -> None:
    done = run("audit", manifest(ONE, ONE))
    assert done.code == 2 and "CFRC-AUD003" in done.err and "runs.jsonl:2" in done.err
    assert "CFRC-AUD003" in run("audit", "one.journal", "one.journal").err


def told(*arguments: str) -> Ran:
    done = run("audit", *arguments)
    assert done.code == 2 and not done.out
    return done


def test_bad_arguments_exit_2(folder: Path) -> None:
    assert "CFRC-INP001" in told("nowhere").err
    assert "CFRC-INP002" in told(".").err
    assert "CFRC-JSN001" in told("shop.cfrc").err
    assert "--today" in told("one.journal", "--today", "soon").err
    assert "only once" in told("-", "-").err
    told()
    Path("none.journal").write_bytes(b"SQLite format 3\0" + b"\0" * 4096)
    assert run("audit", "none.journal").code in (1, 2)
    with sqlite3.connect("other.db") as db:
        db.execute("create table entries (x)")
    assert "CFRC-JRN001" in told("other.db").err


def test_a_journal_in_use_is_bad_input(folder: Path) -> None:
    db = sqlite3.connect("one.journal", isolation_level=None)
    try:
        db.execute("pragma locking_mode = exclusive")
        db.execute("begin exclusive")
        assert "CFRC-JRN002" in told("one.journal").err
    finally:
        db.close()


def test_without_scipy_the_extra_is_named(folder: Path) -> None:
    with mock.patch("cfrc.cli.audit.find_spec", return_value=None):
        assert "pip install 'cfrc[stats]'" in told("one.journal").err
