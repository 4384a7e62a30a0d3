"""Contracts, proposals and ledgers in JSON: what is written reads back, and what is misshapen is placed and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.codes import explanations
from cfrc.lang.diagnostics import Diagnostic, SpecError
from cfrc.lang.jsonforms import contract_to_json, ledger_to_json, proposal_to_json
from cfrc.lang.jsonforms.read import read_form
from cfrc.lang.jsonforms.schema import NAMES, json_schema
from cfrc.lang.load import load, load_contract, load_proposal
from cfrc.lang.resolve.contracts import resolve_contract
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.proposals import resolve_proposal
from cfrc.lang.tree import ContractDecl, ProposalDecl
from cfrc.model.contract import Contract
from cfrc.model.expr import Build, Lit
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.values import bag, mapping, record
from cfrc.source import Source
from cfrc.testing.strategies import Case, cases

DOMAIN = """
domain shop
    id Order, Mail, Item
    enum Status { open, void = "voided" }
    record Line { item: Item, price: decimal, note: text? }
    fluent status(order: Order): Status
    fluent lines(order: Order): list[Line]
    fluent paused: bool
    effect mailed(to: Mail, order: Order)
    effect changed(order: Order, lines: bag[Line]) once key order
    read get_order(order: Order) -> { status: Status, lines: list[Line], contact: Mail? }
        observes status(order) = result.status
    write mail(to: Mail, order: Order, status: Status = open, on: date?) -> { id: Mail }
        causes mailed(to, order)
    write change(order: Order, lines: bag[Line], options: map[Status, Line], ranks: map[int, decimal], wait: duration, at: time)
        causes changed(order, lines)
    write reset(order: Order)
    write stop() by user
        sets paused = true
"""
CONTRACT = """
contract c for shop
    policy "v2"
    request "Mail, \\"now\\"\\n\\u001b[31m"
    as of 2026-11-30T10:00:00+02:00
    head "h"
    fixed order: Order = "O-1" for mail.order, get_order.order from user turn 3
    known to: Mail = "a@b.example" from receipt "c 1".contact of get_order quoted 1..9
    known other: Mail = "c@d.example" from receipt c2.contact of get_order(order)
    known third: Mail = "c@d.example" from receipt c3 of mail(_, "O-2", on: 2026-12-01)
    known fourth: Mail = "c@d.example" from receipt c4 of mail()
    known ls: list[Line] = [{ item: "i", price: 0.1 }, { item: "j", price: 120, note: "n" }] from policy
    known opt: map[Status, int] = map({ void: 1, open: 2 }) from user
    known one_item: Item = "i" from user
    known day: date = 2026-12-01 from user
    known nothing: Mail? = absent from user
    kept changed("O-1", bag([{ item: "i", price: 1 }])) from receipt c7 unknown
    kept paused == false from policy
    holds lines(order) == [{ item: "i", price: 1.5 }]
    doubt mailed(to, order) by mail(to: to, order: order, on: day) from receipt c9 pending
    doubt mailed(to, "O-2")
    owes a: mailed(to, order) if status(order) == void before b, d
    owes b: mailed(x, _) exists x: Mail where x != to and x in [to, "c@d"] shared from user turn 3
    owes 2 of mailed(_, order)
    owes d: one of { mailed(_, order), paused, status(order) == void and not (paused or paused) }
    owes e: any of { changed(order, bag(l for l in ls if l.item != one_item)), mailed(b.id, order) }
    owes f: sum(l.price * 2 - -1.5 for l in lines(order) if present(l.note)) <= div(7, 3) + max(1, 2.5)
    owes g: (paused implies paused implies paused) and ((paused implies paused) implies paused)
    owes h: only(l.item for l in ls for m in lines(order) if m == l) == if(paused, one_item, "k")
    owes i: count(keys(map(l.item: l.price for l in ls))) - (1 - 2) == 1 and map({ "k": 1 })["k"] == 1
    owes j: day + 1d > 2026-12-01 and 1h30m < -5s and 2026-12-01T10:00:00Z == 2026-12-01T10:00:00Z
    owes k: lines(order) == ls and lines(order)[-1].note == absent and count(ls) == 2 and one_item in bag(l.item for l in ls)
    allow mail, get_order, reset
    within mailed(to, _), status(order), paused
    within mailed(x, order) exists x: Mail where x != to
    within tool reset
    limit sum(n) of changed(_, n) <= 2 where_dummy
    limit count of mailed(to, _) <= 1
    approved mail(to: to, order: order, on: absent) policy "v2" expires 2026-12-01 from user turn 5
    denied mail(_, order: "O-9") from policy
    trust get_order(order) for mail.to
""".replace("    limit sum(n) of changed(_, n) <= 2 where_dummy\n", "")
PROPOSAL = """
proposal p for c answers "sha256:00"
    r = get_order(order: order) expect r.status == open covers a
    m = mail(to: r.contact, order: order, status: void, on: 2026-12-01) when ok(r) and not failed(r) after r
    n = change(order: "O-1", lines: bag([{ item: one_item, price: 1.50 }, { item: r.lines[0].item, price: 2, note: "x" }]),
        options: map({ void: r.lines[0] }), ranks: map({ 1: 0.5 }), wait: 1h30m, at: 2026-12-01T10:00:00+01:00)
    q = get_order(order: order) until q.status == void within 5 polls
    w = mail(to: if(ok_flag, to, r.contact), order: order)
    done claims a, b when skipped(m) after n, q
    yield "odd" when failed(n)
    stop_here = yield
""".replace(
    "    w = mail(to: if(ok_flag, to, r.contact), order: order)\n",
    "    w = mail(to: if(r.status == open, to, r.contact), order: order, on: absent)\n",
)
LEDGER = """
ledger L for shop
    receipt c1: get_order("O-1") -> { status: void, lines: [{ item: "i", price: 1 }], contact: absent } success at 2026-11-30T10:00:00Z
    receipt "c 2": mail("a", "O-1", on: 2026-12-01) pending attempt 2 by robot
    receipt c3: stop() success
    receipt c4: mail("a") failure
    accepted n: Order = "O-1" from user turn 3
    accepted k: Order = n
    approved mail(to: "a", order: n, on: absent) policy "v2"
    denied mail(_)
"""


def spec_text() -> str:
    return DOMAIN + CONTRACT + PROPOSAL + LEDGER


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the domain where JSON forms find it."""
    path = tmp_path_factory.mktemp("forms")
    (path / "shop.cfrc").write_text(DOMAIN, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load(Source("<spec>", spec_text())).contracts["c"]


def test_contract_round_trip(folder: Path, contract: Contract) -> None:
    form = contract_to_json(contract)
    (folder / "c.json").write_text(json.dumps(form, indent=2, ensure_ascii=False), encoding="utf-8")
    back = load_contract(folder / "c.json")
    for name in (f.name for f in fields(Contract) if f.compare):
        assert getattr(back, name) == getattr(contract, name), name
    assert contract_to_json(back) == form


@pytest.mark.parametrize("domain", ["shop.cfrc", {"name": "shop", "import": "./shop.cfrc"}, {"name": "shop"}])
def test_the_domain_by_name_or_path(folder: Path, contract: Contract, domain: Any) -> None:
    form = contract_to_json(contract) | {"domain": domain}
    (folder / "d.json").write_text(json.dumps(form), encoding="utf-8")
    assert load_contract(folder / "d.json") == contract


def test_an_unknown_domain_is_reported(folder: Path) -> None:
    (folder / "u.json").write_text('{"cfrc": 1, "contract": "c", "domain": "nowhere"}', encoding="utf-8")
    with pytest.raises(SpecError, match="NAM008"):
        load(folder / "u.json")


def test_proposal_round_trip(contract: Contract) -> None:
    p = load(Source("<spec>", spec_text())).proposals["p"]
    assert not [f for n in p.nodes for f in n.faults]
    form = proposal_to_json(p)
    assert load_proposal(Source("p.json", json.dumps(form)), contract) == p
    args = form["nodes"][2]["args"]
    assert args["lines"][0] == {"item": {"ref": "one_item"}, "price": "1.5", "note": None}
    assert args["wait"] == "PT1H30M" and args["at"] == "2026-12-01T09:00:00Z"
    assert form["nodes"][1]["args"]["status"] == "voided" and form["nodes"][1]["args"]["to"] == {"out": "r.contact"}


def test_ledger_round_trip(folder: Path) -> None:
    ledger = load(Source("<spec>", DOMAIN + LEDGER)).ledgers["L"]
    (folder / "l.json").write_text(json.dumps(ledger_to_json(ledger)), encoding="utf-8")
    assert load(folder / "l.json").ledgers["L"] == ledger


def test_the_form_of_the_design(contract: Contract) -> None:
    text = """{"cfrc": 1, "answers": "sha256:11", "nodes": [
      {"id": "s", "call": "mail", "args": {"to": {"ref": "to"}, "order": "O-1", "on": null}, "covers": ["a"]},
      {"id": "d", "call": "get_order", "args": {"order": {"expr": "order"}}, "until": "d.status == void", "polls": 5},
      {"id": "end", "done": {"claims": ["a", "b"]}, "after": ["d"]},
      {"yield": {"reason": "odd"}, "when": "failed(s)"}, {"yield": {}}]}"""
    p = load_proposal(Source("<stdin>", text), contract)
    assert p.answers == "sha256:11" and p.contract == "c" and not [f for n in p.nodes for f in n.faults]
    s, d, end, odd, last = p.nodes
    assert isinstance(s, Call) and s.args["order"] == Lit(value="O-1", type=contract.names["order"].type)
    assert isinstance(d, Call) and d.polls == 5 and d.until is not None and d.until.span is not None
    assert d.until.span.text == "d.status == void"
    assert isinstance(end, Terminal) and end.after == ("d",) and isinstance(odd, Terminal) and odd.id == "yield"
    assert isinstance(last, Terminal) and last.id == "yield2"


def argument(contract: Contract, value: Any, parameter: str = "lines") -> Any:
    """What a JSON value means as an argument of `change`."""
    nodes = [{"id": "r", "call": "get_order", "args": {"order": {"ref": "order"}}},
             {"id": "n", "call": "change", "args": {parameter: value}}]  # fmt: skip
    node = load_proposal(Source("p.json", json.dumps({"cfrc": 1, "nodes": nodes})), contract).nodes[1]
    assert isinstance(node, Call)
    return node.args.get(parameter, [f.code for f in node.faults if f.code != "TYP002"])


def test_sources_at_any_depth(contract: Contract) -> None:
    found = argument(contract, [{"item": {"out": "r.lines"}, "price": 1}])
    assert found == ["TYP004"]
    found = argument(contract, [{"item": {"ref": "one_item"}, "price": {"expr": "r.lines[0].price"}}])
    assert isinstance(found, Build) and found.kind == "bag" and not isinstance(found.items[0], Lit)
    found = argument(contract, {"voided": {"item": {"ref": "one_item"}, "price": 1}}, "options")
    assert isinstance(found, Build) and found.keys[0] == Lit(value="void", type=contract.domain.types["Status"])
    found = argument(contract, {"1": 0.5, "2": "1/3"}, "ranks")
    assert (
        isinstance(found, Build)
        and found.kind == "map"
        and [k.value for k in found.keys if isinstance(k, Lit)] == [1, 2]
    )
    assert argument(contract, [[1, 0.5]], "ranks") == argument(contract, {"1": 0.5}, "ranks")


@pytest.mark.parametrize(
    ("parameter", "value", "codes"),
    [
        ("order", {"ref": "ordr"}, ["GRD001"]),
        ("order", {"out": "q"}, ["DEP001"]),
        ("order", {"out": "q.id"}, ["DEP001"]),
        ("order", {"out": "r.id"}, ["TYP005"]),
        ("order", 5, ["TYP004"]),
        ("order", ["O"], ["TYP004"]),
        ("order", {"id": "O"}, ["TYP004"]),
        ("order", {"expr": "status(order) == open"}, ["TYP005"]),
        ("lines", {"lit": [{"ref": "x"}]}, ["NAM", "TYP"]),
        ("wait", "soon", ["TYP004"]),
        ("at", "2026-12-01", ["TYP004"]),
        ("ranks", {"x": 1}, ["TYP004"]),
        ("ranks", [[1]], ["TYP004"]),
        ("options", {"opn": {}}, ["TYP004", "TYP004"]),
    ],
)
def test_faulty_values(contract: Contract, parameter: str, value: Any, codes: list[str]) -> None:
    found = argument(contract, value, parameter)
    assert isinstance(found, list) and found
    assert found == codes or all(f[:3] in codes for f in found)


def test_a_literal_that_looks_like_a_source() -> None:
    text = """
    domain d
        record R { ref: string }
        record S { r: R }
        write t(a: R, b: S, c: list[R]) causes nothing
    contract c for d
        owes x: true == false
    proposal p for c
        n = t(a: { ref: "x" }, b: { r: { ref: "y" } }, c: [{ ref: "z" }])
    """
    spec = load(Source("<t>", text))
    form = proposal_to_json(spec.proposals["p"])
    assert load_proposal(Source("p.json", json.dumps(form)), spec.contracts["c"]) == spec.proposals["p"]
    (n,) = load_proposal(Source("p.json", json.dumps({"cfrc": 1, "nodes": [
        {"id": "n", "call": "t", "args": {"a": {"lit": {"ref": "x"}}, "b": {"lit": {"r": {"ref": "y"}}}, "c": {"lit": []}}},
    ]})), spec.contracts["c"]).nodes  # fmt: skip
    assert isinstance(n, Call) and not n.faults


def shape(text: str) -> tuple[Diagnostic, ...]:
    declarations, found = read_form(Source("<t>", text))
    assert not declarations
    return tuple(found)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("[]", "JSN012", "[]"),
        ('{"steps": []}', "JSN017", '{"steps": []}'),
        ('{"nodes": []}', "JSN010", '{"nodes": []}'),
        ('{"cfrc": 2, "nodes": []}', "JSN014", "2"),
        ('{"cfrc": "1", "nodes": []}', "JSN014", '"1"'),
        ('{"cfrc": true, "nodes": []}', "JSN014", "true"),
        ('{"cfrc": 1.0, "nodes": []}', "JSN014", "1.0"),
        ('{"cfrc": 1e0, "contract": "c", "domain": "d"}', "JSN014", "1e0"),
        ('{"cfrc": 1, "nodes": {}}', "JSN012", "{}"),
        ('{"cfrc": 1, "nodes": [5]}', "JSN012", "5"),
        ('{"cfrc": 1, "nodes": [{"id": "s"}]}', "JSN010", '{"id": "s"}'),
        ('{"cfrc": 1, "nodes": [{"call": "t"}]}', "JSN010", '{"call": "t"}'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "afer": []}]}', "JSN011", '"afer"'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "done": {}}]}', "JSN011", '"done"'),
        ('{"cfrc": 1, "nodes": [{"id": "s-1", "call": "t"}]}', "JSN013", '"s-1"'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "after": "x"}]}', "JSN012", '"x"'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "after": [1.5]}]}', "JSN012", "1.5"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "until": "true", "polls": 0}]}', "JSN012", "0"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "until": "true", "polls": true}]}', "JSN012", "true"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "polls": 3}]}', "JSN019", "3"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "until": "true"}]}', "JSN010", '{"id": "s", "call": "t", "until": "true"}'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "when": "1 +"}]}', "SYN001", ""),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "when": "\\u0031 +"}]}', "SYN001", "\\u0031 +"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "args": {"a": {"ref": 5}}}]}', "JSN012", "5"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "args": {"a": {"ref": "x.y"}}}]}', "JSN013", '"x.y"'),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "args": {"a": {"out": "x[0]"}}}]}', "JSN013", '"x[0]"'),
        ('{"cfrc": 1, "contract": "c"}', "JSN010", '{"cfrc": 1, "contract": "c"}'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "owes": [{"goals": []}]}', "JSN012", "[]"),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "owes": [{"goals": ["a", "b"]}]}', "JSN012", '["a", "b"]'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "owes": [{"goals": ["a"], "choice": "some"}]}', "JSN012", '"some"'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "names": [{"name": "n", "type": "T[", "value": 1}]}', "JSN016", '"T["'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "within": [{"pattern": "a == b"}]}', "JSN015", "a == b"),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "kept": [{"effect": "e", "args": {"a b": 1}}]}', "JSN013", '"a b"'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "as_of": "soon"}', "JSN018", '"soon"'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "as_of": "2026-02-30"}', "JSN018", '"2026-02-30"'),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "kept": [{"effect": "e", "args": {}, "from": {"kind": "me"}}]}', "JSN012", '"me"'),
        ('{"cfrc": 1, "ledger": "l", "domain": "d", "entries": [{}]}', "JSN010", "{}"),
        ('{"cfrc": 1, "ledger": "l", "domain": "d", "entries": [{"receipt": {"id": "c", "tool": "t", "status": "done"}}]}', "JSN012", '"done"'),
        ('{"cfrc": 1, "ledger": "l", "domain": "d", "entries": [{"receipt": {"id": "c", "tool": "t", "status": "failure", "at": "2026-12-01"}}]}', "JSN018", '"2026-12-01"'),
    ],
)  # fmt: skip
def test_shapes(text: str, code: str, place: str) -> None:
    found = shape(text)
    assert code in [d.code for d in found], found
    first = next(d for d in found if d.code == code)
    assert first.span is not None and first.span.text == place


def test_many_shape_errors_and_suggestions() -> None:
    found = shape('{"cfrc": 1, "nods": 1, "nodes": [{"id": "s", "call": "t", "afer": []}, {"idd": "s", "call": "t"}]}')
    assert [d.code for d in found] == ["JSN011", "JSN010", "JSN011", "JSN011"] or len(found) == 4
    assert any(d.help is not None and "`after`" in d.help for d in found)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ('{"cfrc": 1, "contract": "c", "domain": "d", "import": ["d.cfrc"]}', "expected one of `request`"),
        ('{"cfrc": 1, "contract": "c", "domain": "d", "know": []}', None),
        ('{"cfrc": 1, "contract": "c", "domain": {"name": "d", "imports": "d.cfrc"}}', "`import`"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "arguments": {}}]}', "expected one of `args`"),
        ('{"cfrc": 1, "nodes": [{"id": "s", "call": "t", "Call": "t"}]}', "expected one of `args`"),
    ],
)
def test_suggestions_are_members_of_the_object_and_not_there_yet(text: str, help: str | None) -> None:
    (found,) = (d for d in shape(text) if d.code == "JSN011")
    word = found.message.split("`")[1]
    assert found.help is not None and (help or "") in found.help
    assert f"`{word}`" not in found.help


def test_a_terminal_without_anything_is_an_empty_object() -> None:
    (found,) = (d for d in shape('{"cfrc": 1, "nodes": [{"id": "e", "done": true}]}') if d.code == "JSN012")
    assert found.help == "write `{}`"


def test_a_domain_that_is_not_found_is_looked_for_by_name(tmp_path: Path) -> None:
    form = tmp_path / "contract.json"
    form.write_text('{"cfrc": 1, "contract": "c", "domain": "calendar"}')
    with pytest.raises(SpecError) as caught:
        load(form)
    (found,) = caught.value.diagnostics
    assert found.code == "NAM008" and found.help is not None
    assert "`calendar.cfrc` beside this file" in found.help and "--root" in found.help
    elsewhere = tmp_path / "library"
    elsewhere.mkdir()
    (elsewhere / "calendar.cfrc").write_text("domain calendar\n    id Day\n")
    assert "c" in load(form, roots=[elsewhere]).contracts
    form.write_text(
        '{"cfrc": 1, "contract": "c", "domain": {"name": "calendar", "import": "library/calendar.cfrc"}}'
    )  # fmt: skip
    assert "c" in load(form).contracts
    form.write_text('{"cfrc": 1, "contract": "c", "domain": "library/calendar.cfrc"}')
    assert "c" in load(form).contracts


def test_every_json_code_is_tested() -> None:
    text = Path(__file__).read_text("utf-8") + Path(__file__).with_name("test_json_read.py").read_text("utf-8")
    codes = [e.code.removeprefix("CFRC-") for e in explanations().values() if e.code.startswith("CFRC-JSN")]
    assert [c for c in codes if f'"{c}"' not in text] == []


@pytest.mark.parametrize("form", NAMES)
def test_schemas_are_published(form: str) -> None:
    schema = json_schema(form)
    assert schema["$schema"].endswith("2020-12/schema") and schema["additionalProperties"] is False
    json.dumps(schema)
    with pytest.raises(KeyError):
        json_schema("verdict")


# --- random round trips
# -------------------------------------------------------------------------------------------------


def reread_contract(contract: Contract) -> Contract:
    declarations, found = read_form(Source("c.json", json.dumps(contract_to_json(contract))))
    assert not found, found
    (decl,) = (d for d in declarations if isinstance(d, ContractDecl))
    problems = Problems()
    back = resolve_contract(decl, contract.domain, problems)
    if problems.found:
        raise SpecError(problems.found)
    return back


def reread_proposal(proposal: Proposal, contract: Contract) -> Proposal:
    declarations, found = read_form(Source("p.json", json.dumps(proposal_to_json(proposal))))
    assert not found, found
    (decl,) = (d for d in declarations if isinstance(d, ProposalDecl))
    return resolve_proposal(decl, contract)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_random_contracts_and_proposals_round_trip(case: Case) -> None:
    try:
        once = reread_contract(case.contract)
    except SpecError as error:
        # The contract looks at a field that not every receipt which may discharge the obligation has.
        assume(any(d.code != "NAM006" for d in error.diagnostics))
        raise
    assert reread_contract(once) == once  # names in obligations are their values after the first reading
    plain = {"obligations": (), "scope": None, "limits": (), "digest": ""}
    assert replace(once, **plain) == replace(case.contract, **plain)  # type: ignore[arg-type]
    contract = replace(once, digest=case.contract.digest)
    back = reread_proposal(case.proposal, contract)
    again = reread_proposal(back, contract)
    assert again == replace(back, nodes=again.nodes)
    if not any(n.faults for n in back.nodes):
        assert proposal_to_json(back) == proposal_to_json(case.proposal)


@given(st.recursive(st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab\x00\ud800{", max_size=3),
                    lambda x: st.lists(x, max_size=3) | st.dictionaries(
                        st.sampled_from(["cfrc", "nodes", "id", "call", "args", "done", "claims", "ref", "out", "expr",
                                         "lit", "contract", "domain", "owes", "goals", "from", "kind", "when"]), x,
                        max_size=4), max_leaves=12))  # fmt: skip
def test_any_json_is_a_form_or_has_diagnostics(value: Any) -> None:
    declarations, found = read_form(Source("x.json", json.dumps(value)))
    assert declarations or found
    for d in found:
        assert d.span is not None and str(d)


def mutated(form: dict[str, Any], draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, Any]:
    """The form with one value somewhere in it replaced."""
    text = json.loads(json.dumps(form))
    at: Any = text
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return text  # type: ignore[no-any-return]
        key = draw(st.sampled_from(keys))
        if isinstance(at[key], dict | list) and at[key] and draw(st.booleans()):
            at = at[key]
            continue
        at[key] = draw(
            st.sampled_from([None, True, 5, "x", "x +", "", [], {}, {"ref": "x"}, ["x"], "sha256:0", -1, 1.5])
        )
        return text  # type: ignore[no-any-return]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_forms_give_diagnostics_or_models(contract: Contract, data: st.DataObject) -> None:
    contract_form = mutated(contract_to_json(contract), data.draw)
    declarations, found = read_form(Source("c.json", json.dumps(contract_form)))
    for decl in declarations:
        if isinstance(decl, ContractDecl):
            resolve_contract(decl, contract.domain, Problems())
    p = load(Source("<spec>", spec_text())).proposals["p"]
    declarations, found = read_form(Source("p.json", json.dumps(mutated(proposal_to_json(p), data.draw))))
    assert declarations or found
    for decl in declarations:
        if isinstance(decl, ProposalDecl):
            resolve_proposal(decl, contract)


def test_values_of_every_kind_are_written_exactly() -> None:
    from cfrc.lang.jsonvalues import to_json
    from cfrc.model.types import BOOL, DECIMAL, INT, STRING, BagOf, ListOf, MapOf, Optional, RecordOf

    assert to_json(2**60, INT) == str(2**60)
    assert to_json(bag([2, 1]), BagOf(INT)) == [1, 2]
    assert to_json(mapping({1: True}), MapOf(INT, BOOL)) == [[1, True]]
    assert to_json(mapping({"a": None}), MapOf(STRING, Optional(BOOL))) == {"a": None}
    assert to_json(record({"a": (), "b": None}), RecordOf(None, (("a", ListOf(INT)), ("b", Optional(DECIMAL))))) == {
        "a": []
    }
    with pytest.raises(ValueError):
        to_json("x", INT)
