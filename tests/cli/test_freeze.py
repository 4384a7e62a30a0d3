"""``cfrc freeze``: a contract on standard output that loads again, a word and reasons on standard error, pinned exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cfrc
from cfrc.handoff.freezing.freeze import freeze
from tests.cli.run import run, run_process

DOMAIN = """\
domain shop
    id Item, Ref
    effect sold(item: Item)
    effect told(ref: Ref)
    read stock(item: Item) -> { left: int }
    write sell(item: Item) -> { ref: Ref }
        causes sold(item)
    write tell(ref: Ref)
        causes told(ref)
"""
TASK = """\
import "shop.cfrc"

contract deal for shop
    request "Sell it and tell."
    owes sale: sold(i) exists i: Item
    owes word: told(sale.ref)
    allow stock, sell, tell
"""
SOLD = [
    {"type": "message", "role": "user", "text": "Sell I-1 and tell."},
    {
        "type": "receipt",
        "id": "c1",
        "tool": "sell",
        "arguments": {"item": "I-1"},
        "status": "success",
        "result": {"ref": "r-9"},
    },
]
TOLD = [
    {"type": "receipt", "id": "c2", "tool": "tell", "arguments": {"ref": "r-9"}, "status": "success", "result": None}
]


def lines(entries: list[dict[str, object]]) -> str:
    return "".join(json.dumps(e) + "\n" for e in entries)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.cfrc").write_text(DOMAIN)
    (tmp_path / "task.cfrc").write_text(TASK)
    (tmp_path / "sold.jsonl").write_text(lines(SOLD))
    (tmp_path / "told.jsonl").write_text(lines(TOLD))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_contract_of_what_is_left(shop: Path) -> None:
    done = run("freeze", "task.cfrc", "sold.jsonl", "-o", "left.cfrc")
    assert (done.code, done.out, done.err) == (0, "", "")
    contract = cfrc.load_contract(shop / "left.cfrc")
    assert [o.name for o in contract.obligations] == ["word"] and contract.names["item_I_1"].fixed
    assert run("fmt", "--check", "left.cfrc").code == 0
    assert run("verify", "left.cfrc").code == 0
    # It is what the library says, to the digest.
    spec = cfrc.load(shop / "task.cfrc")
    from cfrc.adapters.transcripts import read_transcript

    ledger, _ = cfrc.ledger_of(spec.domains["shop"], read_transcript(shop / "sold.jsonl"))
    assert freeze(spec.contracts["deal"], ledger).contract.digest == contract.digest


def test_a_chain_of_handoffs_ends_complete(shop: Path) -> None:
    assert run("freeze", "task.cfrc", "sold.jsonl", "-o", "left.cfrc").code == 0
    done = run("freeze", "left.cfrc", "told.jsonl")
    assert done.code == 0 and "complete" in done.err and "owes" not in done.out
    (shop / "again.cfrc").write_text(done.out)
    assert {k.effect for k in cfrc.load_contract(shop / "again.cfrc").kept} == {"sold", "told"}
    both = run("freeze", "task.cfrc", "sold.jsonl", "told.jsonl")
    assert both.out == done.out


def test_json_says_all_of_it(shop: Path) -> None:
    done = run("freeze", "task.cfrc", "-", "--format", "json", stdin=lines(SOLD).encode())
    form = json.loads(done.out)
    assert (form["cfrc"], form["kind"], form["reasons"]) == (1, "contract", [])
    (shop / "left.json").write_text(json.dumps(form["contract"]))
    assert cfrc.load_contract(shop / "left.json").digest == form["digest"]


def test_nothing_begun_is_fresh(shop: Path) -> None:
    (shop / "none.jsonl").write_text("")
    done = run("freeze", "task.cfrc")
    assert done.code == 0 and "fresh" in done.err


def test_what_is_withheld_is_not_written(shop: Path) -> None:
    done = run("freeze", "shop.cfrc", "sold.jsonl")
    assert done.code == 1 and not done.out and "CFRC-FRZ001" in done.err and "withheld" in done.err
    shown = run("freeze", "shop.cfrc", "sold.jsonl", "--show-withheld")
    assert shown.code == 1 and shown.out.startswith('import "shop.cfrc"')
    assert json.loads(run("freeze", "shop.cfrc", "sold.jsonl", "--format", "json").out)["kind"] == "withheld"
    assert run("freeze", "shop.cfrc", "sold.jsonl", "--exit-zero").code == 0


def test_a_domain_and_words_are_enough(shop: Path) -> None:
    done = run(
        "freeze", "shop.cfrc", "sold.jsonl", "--owes", "word: told(ref_r_9)", "--allow", "tell, stock",
        "--name", "rest", "--policy", "v2", "--as-of", "2026-12-01",
    )  # fmt: skip
    assert done.code == 0, done.err
    (shop / "rest.cfrc").write_text(done.out)
    contract = cfrc.load_contract(shop / "rest.cfrc")
    assert (contract.name, contract.allow, contract.policy) == ("rest", ("tell", "stock"), "v2")
    assert contract.request == "Sell I-1 and tell." and str(contract.as_of) == "2026-12-01"


def test_ledgers_are_records_too(shop: Path) -> None:
    text = 'ledger L for shop\n    receipt c1: sell(item: "I-1") -> { ref: "r-9" } success\n'
    (shop / "l.cfrc").write_text('import "shop.cfrc"\n' + text)
    assert "told(" in run("freeze", "task.cfrc", "l.cfrc").out
    from cfrc.lang.jsonforms import ledger_to_json

    form = ledger_to_json(cfrc.load(shop / "l.cfrc").ledgers["L"], "shop.cfrc")
    (shop / "l.json").write_text(json.dumps(form))
    assert run("freeze", "task.cfrc", "l.json").out == run("freeze", "task.cfrc", "l.cfrc").out


def test_a_domain_in_the_same_file_is_imported_under_another_name(shop: Path) -> None:
    (shop / "one.cfrc").write_text(DOMAIN + TASK.partition("\n")[2])
    done = run("freeze", "one.cfrc", "sold.jsonl")
    (shop / "left.cfrc").write_text(done.out)
    assert cfrc.load_contract(shop / "left.cfrc").name == "deal_rest"
    piped = run("freeze", "-", "sold.jsonl", stdin=(shop / "one.cfrc").read_bytes())
    assert piped.code == 0 and piped.out.startswith("domain shop")
    (shop / "alone.cfrc").write_text(piped.out)
    assert [o.name for o in cfrc.load_contract(shop / "alone.cfrc").obligations] == ["word"]


def test_a_domain_elsewhere_is_found_by_its_root(shop: Path) -> None:
    (shop / "out").mkdir()
    done = run("freeze", "task.cfrc", "sold.jsonl", "-o", "out/left.cfrc")
    assert done.code == 0 and f"--root {shop}" in done.err
    assert run("verify", "out/left.cfrc", "--root", shop).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("task.cfrc", "nothing.jsonl"),
        ("nothing.cfrc",),
        ("task.cfrc", "sold.jsonl", "--owes", "word told("),
        ("task.cfrc", "sold.jsonl", "--owes", "x: told(_)\n    within sold(_)"),
        ("task.cfrc", "sold.jsonl", "--as-of", "soon"),
        ("task.cfrc", "sold.jsonl", "--allow", "fly"),
        ("task.cfrc", "sold.jsonl", "--constructor", "http://127.0.0.1:9"),
        ("task.cfrc", "sold.jsonl", "--contract", "other"),
        ("task.cfrc", "shop.cfrc"),
        ("-", "-"),
    ],
)
def test_wrong_input_exits_2(shop: Path, arguments: tuple[str, ...]) -> None:
    done = run("freeze", *arguments, stdin=b"[]")
    assert done.code == 2 and done.err and not done.out and "Traceback" not in done.err


def test_hostile_records_reach_no_terminal(shop: Path) -> None:
    evil = [{**SOLD[1], "id": 'c\u001b[2J"\n    allow x', "result": {"ref": "r\u202e\u001b]0;x\u0007"}}]
    (shop / "evil.jsonl").write_text(lines(evil))  # type: ignore[arg-type]
    done = run("freeze", "task.cfrc", "evil.jsonl")
    assert done.code == 0 and not set("\u001b\u202e\u0007") & set(done.out + done.err)
    (shop / "left.cfrc").write_text(done.out)
    assert cfrc.load_contract(shop / "left.cfrc").allow == ("stock", "sell", "tell")


def test_it_runs_as_a_process(shop: Path) -> None:
    done = run_process(["freeze", "task.cfrc", "sold.jsonl"], shop)
    assert done.code == 0 and "owes  word: told(ref_r_9)" in done.out
