"""A proposal is never rejected by resolution: what is wrong with it becomes a fault with its admission code and
place."""

from __future__ import annotations

import pytest

from cfrc.lang.diagnostics import SpecError
from cfrc.lang.load import load, load_proposal
from cfrc.model.contract import Contract
from cfrc.model.expr import Apply, Field, Lit, NodeResult, Outcome, Var
from cfrc.model.graph import Call, Fault, Proposal, Terminal, without
from cfrc.model.types import ANY
from cfrc.source import Source

SPEC = """
domain shop
    id Order, Mail
    enum Status { open, shipped }
    record Line { name: string, price: decimal }
    fluent status(order: Order): Status
    effect mailed(to: Mail, order: Order)
    read get_order(order: Order) -> { status: Status, lines: list[Line], contact: Mail?, total: decimal, options: map[string, string] }
        observes status(order) = result.status
    write mail(to: Mail, order: Order, note: text? , day: date = 2026-12-01, urgent: bool = false, lines: bag[Line] = bag([]))
        causes mailed(to, order)

contract c for shop
    known order: Order = "O-1" from user
    known to: Mail = "a@b.example" from user
    owes note: mailed(to, order)
    allow mail, get_order
"""


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load(Source("<spec>", SPEC)).contracts["c"]


def resolve(contract: Contract, text: str) -> Proposal:
    return load_proposal(Source("<p>", "proposal p for c\n" + text), contract)


def faults(proposal: Proposal) -> list[Fault]:
    return [f for n in proposal.nodes for f in n.faults]


@pytest.mark.parametrize(
    ("step", "code", "place"),
    [
        ("m = mial(to: to)", "TYP001", "mial"),
        ("m = mail(order: order, note: absent)", "TYP002", "mail"),
        ("m = mail(to: to, order: order, note: absent, cc: to)", "TYP003", "cc"),
        ("m = mail(to: to, order: order, note: absent, to: to)", "TYP003", "to"),
        ("m = mail(to, order: order, to: to, note: absent)", "TYP003", "to"),
        ("m = mail(to: order, order: order, note: absent)", "TYP004", "order"),
        ("m = mail(to: 5, order: order, note: absent)", "TYP004", "5"),
        ("m = mail(to: absent, order: order, note: absent)", "TYP004", "absent"),
        ('m = mail(to: to, order: order, note: absent, day: "soon")', "TYP004", '"soon"'),
        ("m = mail(to: to, order: order, note: absent, lines: [{ name: 5, price: 1 }])", "TYP004", "5"),
        ("m = mail(to: to, order: order, note: absent, lines: [{ name: \"x\" }])", "TYP004", '{ name: "x" }'),
        ("m = mail(to: to, order: order, note: absent, urgent: to < to)", "TYP005", "<"),
        ("m = mail(to: to, order: order, note: absent, urgent: status(order) == open)", "TYP005", "status"),
        ("m = mail(to: to, order: order, note: absent, urgent: ok(m))", "TYP005", "ok(m)"),
        ("m = mail(to: r.contcat, order: order, note: absent)", "TYP005", "contcat"),
        ("m = mail(to: tto, order: order, note: absent)", "GRD001", "tto"),
        ("m = mail(to: _, order: order, note: absent)", "GRD001", "_"),
        ("m = mail(to: open, order: order, note: absent)", "GRD001", "open"),
        ("m = mail(to: q.contact, order: order, note: absent)", "DEP001", "q"),
        ("m = mail(to: to, order: order, note: absent) after q", "DEP001", "q"),
        ("m = mail(to: to, order: order, note: absent) when ok(q)", "DEP001", "q"),
        ("m = mail(to: to, order: order, note: absent) when q.total > 1", "DEP001", "q"),
        ("m = mail(to: to, order: order, note: absent) when urgent", "DEP001", "urgent"),
        ("m = mail(to: to, order: order, note: absent) when r.total", "TYP005", "r.total"),
        ("m = mail(to: to, order: order, note: absent) when r.total > to", "TYP005", ">"),
        ("m = mail(to: to, order: order, note: absent) expect r.totl > 1", "TYP005", "totl"),
        ("m = mail(to: to, order: order, note: absent) until r.total within 3 polls", "TYP005", "r.total"),
        ("m = mail(to: to, order: order, note: absent) until true within 0 polls", "TYP005", "0"),
        ("m = mail(to: to, order: order, note: absent) covers note, nothing", "EVD005", "nothing"),
        ("done claims nothing", "EVD005", "nothing"),
        ("done after q", "DEP001", "q"),
        ("yield when q", "DEP001", "q"),
        ("r = get_order(order: order)", "TYP006", "r"),
        ("order = get_order(order: order)", "TYP006", "order"),
        ("r = done", "TYP006", "r"),
    ],
)  # fmt: skip
def test_faults(contract: Contract, step: str, code: str, place: str) -> None:
    found = faults(resolve(contract, f"r = get_order(order: order)\n{step}"))
    assert [f.code for f in found] == [code], found
    assert found[0].span is not None and found[0].span.text == place
    kinds = {"TYP": "typing", "GRD": "grounding", "DEP": "dependency", "EVD": "evidence"}
    assert found[0].kind == kinds[code[:3]]


def test_a_faulty_argument_is_left_out_and_not_missing(contract: Contract) -> None:
    p = resolve(contract, "m = mail(to: nobody, order: order, note: absent)")
    (m,) = p.nodes
    assert isinstance(m, Call) and set(m.args) == {"order", "note"} and len(m.faults) == 1


def test_an_unknown_tool_keeps_its_references(contract: Contract) -> None:
    p = resolve(contract, "r = get_ordr(order: order) m = mail(to: r.contact, order: order, note: absent)")
    r, m = p.nodes
    assert isinstance(r, Call) and r.args["order"] == Var(name="order", kind="name", type=contract.names["order"].type)
    assert isinstance(m, Call) and not m.faults
    assert m.args["to"] == Field(base=NodeResult(node="r", type=ANY), name="contact", type=ANY)


def test_absent_results_are_implied_expectations(contract: Contract) -> None:
    p = resolve(contract, "r = get_order(order: order) m = mail(to: r.contact, order: order, note: absent)")
    assert not faults(p)


def test_forward_references_and_own_results(contract: Contract) -> None:
    text = """
    m = mail(to: r.contact, order: order, note: "x") when ok(r) and r.status in [open, shipped]
    r = get_order(order: order) until r.status == shipped within 2 polls expect r.total > 1 and count(r.lines) == 1
    done claims note when not failed(m)
    """
    p = resolve(contract, text)
    assert not faults(p)
    m, r, done = p.nodes
    assert isinstance(m, Call) and isinstance(m.when, Apply) and isinstance(m.when.args[0], Outcome)
    assert isinstance(r, Call) and isinstance(r.until, Apply) and isinstance(r.until.args[0], Field)
    assert isinstance(done, Terminal) and done.after is None


def test_a_terminal_is_a_reference_that_admission_judges(contract: Contract) -> None:
    p = resolve(contract, "m = mail(to: to, order: order, note: end.x) after end\nend = done")
    assert not faults(p)
    assert isinstance(p.nodes[0], Call) and p.nodes[0].after == ("end",)


def test_literals_take_the_type_of_the_parameter(contract: Contract) -> None:
    p = resolve(
        contract, 'm = mail(to: "x", order: "O-1", note: "n", day: "2026-12-02", lines: [{name: "a", price: 1}])'
    )
    (m,) = p.nodes
    assert isinstance(m, Call) and not m.faults
    tool = contract.domain.tools["mail"]
    for name in ("to", "order", "day"):
        param, value = tool.param(name), m.args[name]
        assert param is not None and isinstance(value, Lit) and value.type == param.type
    assert m.args["lines"].type == tool.params[5].type


def test_a_proposal_may_name_another_contract(contract: Contract) -> None:
    p = load_proposal(Source("<p>", 'proposal p for other answers "sha256:00" done'), contract)
    assert p.contract == "other" and p.answers == "sha256:00"


def test_syntax_errors_are_not_faults(contract: Contract) -> None:
    with pytest.raises(SpecError):
        resolve(contract, "m = mail(")


def test_without(contract: Contract) -> None:
    text = """
    r = get_order(order: order)
    m = mail(to: r.contact, order: order, note: absent) when ok(r) after r
    n = mail(to: to, order: order, note: absent) after r, m
    done after m
    """
    left = without(resolve(contract, text), ["r"])
    m, n, done = left.nodes
    assert isinstance(m, Call) and m.after == () and m.when is None and "to" not in m.args
    assert [f.code for f in m.faults] == ["DEP001", "DEP001"]
    assert isinstance(n, Call) and n.after == ("m",) and not n.faults
    assert isinstance(done, Terminal) and done.after == ("m",)
    emptied = without(left, ["m"]).nodes[-1]
    assert isinstance(emptied, Terminal) and emptied.after == ()


def test_hostile_numbers_of_faults_stay_cheap(contract: Contract) -> None:
    text = "\n".join(f"x{i} = mail(to: y{i}.z, order: z{i}, note: absent) after w{i}" for i in range(5000))
    assert len(faults(resolve(contract, text))) == 15000
