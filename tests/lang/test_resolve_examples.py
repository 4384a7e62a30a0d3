"""Domains, contracts, proposals, ledgers and checks resolve to what they mean."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from cfrc.lang.load import load
from cfrc.model.check import Check, Expected, Spec
from cfrc.model.contract import EffectGoal, Origin, StateGoal
from cfrc.model.expr import (
    TRUE,
    Apply,
    Build,
    Comprehension,
    Discharge,
    Field,
    FluentRead,
    Index,
    Lit,
    NodeResult,
    Var,
)
from cfrc.model.graph import Call, Terminal
from cfrc.model.ledger import Choice, Receipt
from cfrc.model.types import DECIMAL, TEXT, BagOf, Enum, Id, Optional, RecordOf
from cfrc.model.values import Record, record
from cfrc.source import Source

BILLING = """
domain billing
    id Invoice, Txn, File, SendId
    id Email canonical trim, lower
    enum Delivery { queued, delivered, bounced }
    enum InvoiceStatus { open, paid, void = "voided" }
    record Line { item: string, amount: decimal, note: text? }

    fluent status(invoice: Invoice): InvoiceStatus
    fluent payer(invoice: Invoice): Email volatile
    fluent roaming: bool
    fluent lines(invoice: Invoice): list[Line]
    fluent methods: map[string, Line]

    effect paid(invoice: Invoice, amount: decimal) once key invoice
    effect sent(file: File, to: Email)
    effect delivered(send: SendId)
    effect logged(level: int, note: text)

    read get_invoice(invoice: Invoice) -> { invoice: Invoice echoes invoice, amount: decimal, status: InvoiceStatus, payer: Email }
        ensures  result.invoice == invoice
        observes status(invoice) = result.status
        observes payer(invoice) = result.payer

    write pay_invoice(invoice: Invoice, amount: decimal from user | get_invoice.amount, confirm: bool = false) -> { txn: Txn, file: File }
        requires amount > 0 and status(invoice) == open
        causes   paid(invoice, amount) when confirm
        sets     status(invoice) = paid when confirm
        approved when confirm
        idempotent

    write send_email(to: Email from user | get_invoice.payer | quoted receipt, attachment: File unquoted, body: text free) -> { id: SendId }
        causes sent(attachment, to)
        failure may cause sent(attachment, to)

    read delivery_status(send: SendId) -> { state: Delivery }
        witnesses delivered(send) when result.state == delivered
        refutes   delivered(send) when result.state == bounced

    read calculate(expression: text) -> decimal grounds nothing
    write toggle_roaming() by user
        sets roaming = not roaming
    write mystery(x: int)
    write ping() causes nothing
    write log_all(invoice: Invoice)
        causes logged(count(lines(invoice)), m.item) when m.amount > 0 for m in lines(invoice)
        undoes sent(_, payer(invoice))

    rule receipt_follows_payment: paid(i, _) owes sent(_, payer(i))
"""

CONTRACT = """
contract send_receipt for billing
    policy "v2"
    request "Pay one outstanding invoice and send its receipt."
    as of 2026-11-30
    head "h9"
    fixed invoice: Invoice = "INV-42" for pay_invoice.invoice, get_invoice.invoice from user turn 3
    kept  paid("INV-42", 120.00)              from receipt c7 of pay_invoice
    known receipt: File = "txn7.pdf"          from receipt c7.file
    known payee: Email = " AP@acme.test"      from receipt c2.payer quoted 271..293
    holds status("INV-42") == paid            from receipt c7
    kept  roaming == false                    from policy
    doubt paid("INV-43", 5)                   by pay_invoice(invoice: "INV-43", amount: 5, confirm: true) from receipt c9 unknown
    owes  delivery: sent(receipt, payee) if roaming == false before confirmation from user turn 3
    owes  confirmation: delivered(delivery.id)
    owes  roaming == false
    owes  some: 2 of sent(f, _) exists f: File where f != receipt shared
    owes  either: one of { sent(receipt, _), roaming }
    allow send_email, delivery_status
    within sent(receipt, payee), status(invoice)
    within sent(f, _) exists f: File where f != receipt
    within tool mystery
    limit sum(a) of paid(_, a) <= 98.70
    limit count of paid(invoice, _) <= 1
    approved pay_invoice(invoice: "INV-42", amount: 120.00) policy "v2" expires 2026-12-01 from user turn 5
    denied pay_invoice(_, amount: 7) from user turn 6
    trust calculate("1 + 1") for pay_invoice.amount
"""

PROPOSAL = """
proposal good for send_receipt
    s = send_email(to: payee, attachment: receipt, body: "Your receipt") covers delivery
    d = delivery_status(send: s.id) when ok(s) until d.state == delivered within 5 polls
    done claims delivery, confirmation after d when d.state == delivered
    yield "bounced" when d.state == bounced
"""

LEDGER = """
ledger L for billing
    receipt c1: get_invoice(invoice: "INV-42") -> { invoice: "INV-42", amount: 120, status: void, payer: "A@b" } success at 2026-11-30T10:00:00Z
    receipt c7: pay_invoice("INV-42", 120.00, confirm: true) unknown attempt 2 by robot
    receipt c8: toggle_roaming() success
    accepted n: Invoice = "INV-42" from user turn 3
    denied pay_invoice(_)
"""


def spec(text: str) -> Spec:
    return load(Source("<test>", text))


def test_domain() -> None:
    d = spec(BILLING).domains["billing"]
    assert d.types["Email"] == Id("Email", ("trim", "lower"))
    assert d.types["InvoiceStatus"] == Enum("InvoiceStatus", ("open", "paid", "void"), ("open", "paid", "voided"))
    assert d.types["Line"] == RecordOf(
        "Line", (("item", d.types["Line"].fields[0][1]), ("amount", DECIMAL), ("note", Optional(TEXT)))
    )  # type: ignore[union-attr]
    assert d.fluents["payer"].volatile and not d.fluents["status"].volatile
    assert d.effects["paid"].once and d.effects["paid"].key == (0,)
    assert d.effects["sent"].key == (0, 1)  # all identifiers
    assert d.effects["logged"].key == (0,)  # no identifier: everything but text


def test_tools() -> None:
    d = spec(BILLING).domains["billing"]
    pay, send, status = d.tools["pay_invoice"], d.tools["send_email"], d.tools["delivery_status"]
    amount = pay.params[1]
    assert amount.sources is not None
    assert [(s.kind, s.tool, s.path) for s in amount.sources] == [
        ("user", None, ()),
        ("tool", "get_invoice", ("amount",)),
    ]
    assert amount.default is None and pay.params[2].default == Lit(value=False, type=pay.params[2].type)
    assert pay.idempotent and pay.approved == Var(name="confirm", kind="param", type=pay.params[2].type)
    assert pay.sets[0].when is not None and pay.causes[0].when is not None
    sources = send.params[0].sources
    assert sources is not None and sources[2].kind == "receipt" and sources[2].quoted
    assert send.params[1].unquoted and send.params[2].free
    assert send.may_cause[0].effect == "sent" and send.params[1].sources is None
    assert status.witnesses[0].effect == status.refutes[0].effect == "delivered"
    assert d.tools["get_invoice"].echoes == {("invoice",): "invoice"}
    assert d.tools["calculate"].grounds_nothing and d.tools["calculate"].result == DECIMAL
    assert d.tools["toggle_roaming"].actor == "user" and send.actor == "agent"
    assert d.tools["mystery"].undeclared and not d.tools["ping"].undeclared and not d.tools["toggle_roaming"].undeclared
    assert not status.undeclared and not status.writes and d.tools["toggle_roaming"].writes
    generated = d.tools["log_all"].causes[0]
    assert generated.generators[0].var == "m" and generated.args[1] is not None
    assert d.tools["log_all"].undoes[0].args[0] is None
    assert isinstance(d.tools["toggle_roaming"].sets[0].value, Apply)


def test_approved_without_condition() -> None:
    d = spec("domain d write t() causes nothing approved").domains["d"]
    assert d.tools["t"].approved == TRUE


def test_rule() -> None:
    (rule,) = spec(BILLING).domains["billing"].rules
    assert (rule.effect, rule.params, rule.owes) == ("paid", ("i", None), "sent")
    assert rule.args[0] is None and isinstance(rule.args[1], FluentRead)


def test_contract_facts() -> None:
    c = spec(BILLING + CONTRACT).contracts["send_receipt"]
    assert c.policy == "v2" and c.as_of == date(2026, 11, 30) and c.head == "h9" and c.request.startswith("Pay")
    assert c.names["invoice"].fixed and c.names["invoice"].origin == Origin("user", turn=3)
    assert c.names["invoice"].targets == (("pay_invoice", "invoice"), ("get_invoice", "invoice"))
    assert c.names["payee"].value == "ap@acme.test"  # canonical form
    assert c.names["payee"].origin == Origin("receipt", receipt="c2", path=("payer",), quoted=(271, 293))
    assert c.kept[0].args == ("INV-42", Fraction(120)) and isinstance(c.kept[0].args[1], Fraction)
    assert c.kept[0].origin == Origin("receipt", receipt="c7", tool="pay_invoice")
    assert [(f.fluent, f.args, f.value, f.kept) for f in c.facts] == [
        ("status", ("INV-42",), "paid", False),
        ("roaming", (), False, True),
    ]
    assert c.doubts[0].call == ("pay_invoice", (("invoice", "INV-43"), ("amount", Fraction(5)), ("confirm", True)))
    assert c.doubts[0].origin == Origin("receipt", receipt="c9", status="unknown")
    assert c.allow == ("send_email", "delivery_status")


def test_contract_obligations() -> None:
    c = spec(BILLING + CONTRACT).contracts["send_receipt"]
    by_name = {o.name: o for o in c.obligations}
    assert list(by_name) == ["delivery", "confirmation", "owes3", "some", "either"]
    goal = by_name["delivery"].goals[0]
    assert isinstance(goal, EffectGoal) and [a.value for a in goal.args if isinstance(a, Lit)] == [
        "txn7.pdf",
        "ap@acme.test",
    ]
    assert by_name["delivery"].before == ("confirmation",) and by_name["delivery"].condition is not None
    later = by_name["confirmation"].goals[0]
    assert isinstance(later, EffectGoal) and isinstance(later.args[0], Field)
    assert isinstance(later.args[0].base, Discharge) and later.args[0].type == Id("SendId")
    assert isinstance(by_name["owes3"].goals[0], StateGoal)
    assert by_name["some"].count == 2 and by_name["some"].shared and by_name["some"].exists == (("f", Id("File")),)
    assert by_name["either"].choice == "one" and len(by_name["either"].goals) == 2


def test_contract_scope_and_approvals() -> None:
    c = spec(BILLING + CONTRACT).contracts["send_receipt"]
    assert c.scope is not None
    assert [(x.kind, x.name) for x in c.scope] == [
        ("effect", "sent"), ("fluent", "status"), ("effect", "sent"), ("tool", "mystery"),
    ]  # fmt: skip
    first, second = c.limits
    assert first.params == (None, "a") and first.bound == Fraction("98.70") and first.kind == "sum"
    assert first.amount == Var(name="a", kind="bound", type=DECIMAL)
    assert second.params == (Lit(value="INV-42", type=Id("Invoice")), None) and second.bound == 1
    approved, denied = c.approvals
    assert dict(approved.args) == {"invoice": "INV-42", "amount": Fraction(120), "confirm": False}
    assert approved.expires == date(2026, 12, 1) and approved.policy == "v2" and not approved.denied
    assert denied.denied and dict(denied.args) == {"amount": Fraction(7)}
    assert c.trusts[0].args == ("1 + 1",) and (c.trusts[0].for_tool, c.trusts[0].for_param) == ("pay_invoice", "amount")


def test_scope_is_absent_when_nothing_is_written() -> None:
    c = spec(BILLING + "contract c for billing owes sent(_, _)").contracts["c"]
    assert c.scope is None and c.digest.startswith("sha256:")


def test_proposal() -> None:
    p = spec(BILLING + CONTRACT + PROPOSAL).proposals["good"]
    s, d, done, bounced = p.nodes
    assert isinstance(s, Call) and isinstance(d, Call) and isinstance(done, Terminal) and isinstance(bounced, Terminal)
    assert all(not n.faults for n in p.nodes)
    assert s.args["to"] == Var(name="payee", kind="name", type=Id("Email", ("trim", "lower")))
    assert s.args["body"] == Lit(value="Your receipt", type=TEXT) and s.covers == ("delivery",)
    assert d.args["send"] == Field(
        base=NodeResult(node="s", type=RecordOf(None, (("id", Id("SendId")),))), name="id", type=Id("SendId")
    )
    assert d.polls == 5 and s.polls == 1 and d.until is not None and d.when is not None
    assert done.id == "done" and done.after == ("d",) and done.claims == ("delivery", "confirmation")
    assert bounced.id == "yield" and bounced.reason == "bounced" and bounced.after is None
    assert p.contract == "send_receipt" and p.answers is None


def test_generated_terminal_ids_avoid_written_ones() -> None:
    text = "proposal p for send_receipt done2 = ping() done when ok(done2) done = yield done done"
    p = spec(BILLING + CONTRACT + text).proposals["p"]
    assert [n.id for n in p.nodes] == ["done2", "done3", "done", "done4", "done5"]
    assert all(not n.faults for n in p.nodes)


def test_whole_result_of_a_node() -> None:
    text = 'proposal p for send_receipt c = calculate(expression: "1") pay = pay_invoice(invoice: invoice, amount: c)'
    pay = spec(BILLING + CONTRACT + text).proposals["p"].nodes[1]
    assert isinstance(pay, Call) and pay.args["amount"] == NodeResult(node="c", type=DECIMAL) and not pay.faults


def test_ledger() -> None:
    ledger = spec(BILLING + LEDGER).ledgers["L"]
    first, second, third, choice, denial = ledger.entries
    assert isinstance(first, Receipt) and isinstance(first.result, Record)
    assert first.result.get("status") == "void" and first.result.get("payer") == "a@b"
    assert first.time == datetime(2026, 11, 30, 10, tzinfo=UTC) and first.actor == "agent"
    assert isinstance(second, Receipt) and second.attempt == 2 and second.actor == "robot" and second.result is None
    assert dict(second.args) == {"invoice": "INV-42", "amount": Fraction(120), "confirm": True}
    assert isinstance(third, Receipt) and third.result == record({}) and third.actor == "user"
    assert choice == Choice("n", Id("Invoice"), "INV-42", 3)
    assert not isinstance(denial, Receipt | Choice) and denial.denied


def test_checks() -> None:
    text = """
    check good admits
    check good without d rejects coverage(confirmation), evidence
    check good rejects only typing(s)
    check good undecided
    check contract send_receipt supported
    check contract send_receipt against L accepts
    check contract send_receipt against L rejects
    check claim delivery, confirmation of send_receipt against L rejects
    """
    checks = spec(BILLING + CONTRACT + PROPOSAL + LEDGER + text).checks
    assert checks[0] == Check("proposal", "good", "admits")
    assert checks[1].without == ("d",)
    assert checks[1].expected == (Expected("coverage", "confirmation"), Expected("evidence"))
    assert checks[2].only and checks[2].expected == (Expected("typing", "s"),)
    assert checks[4] == Check("contract", "send_receipt", "supported")
    assert checks[5].against == "L" and checks[6].verdict == "rejects"
    assert checks[7].target == "claim" and checks[7].claims == ("delivery", "confirmation")


def expression(text: str, more: str = "") -> object:
    """The condition of an obligation, resolved in a contract."""
    c = spec(BILLING + f"contract c for billing {more} owes x: {text}").contracts["c"]
    goal = c.obligations[0].goals[0]
    assert isinstance(goal, StateGoal)
    return goal.condition


def test_literals_follow_the_other_side() -> None:
    known = 'known i: Invoice = "I1" known ls: list[Invoice] = ["a", "b"] known when: date = "2026-12-01"'
    status = spec(BILLING).domains["billing"].types["InvoiceStatus"]
    eq = expression("void == status(i)", known)
    assert isinstance(eq, Apply) and eq.args[0] == Lit(value="void", type=status)
    eq = expression('"I1" == i', known)
    assert isinstance(eq, Apply) and eq.args[0] == Lit(value="I1", type=Id("Invoice"))
    eq = expression("status(i) in [open, void]", known)
    assert isinstance(eq, Apply) and eq.args[1].type.item == status  # type: ignore[union-attr]
    eq = expression('i in ["a"]', known)
    assert isinstance(eq, Apply) and isinstance(eq.args[1], Build) and eq.args[1].items[0].type == Id("Invoice")
    eq = expression('"2026-12-02" >= when', known)
    assert isinstance(eq, Apply) and eq.args[0] == Lit(value=date(2026, 12, 2), type=eq.args[1].type)
    eq = expression("status(i) == if(roaming, open, paid)", known)
    assert isinstance(eq, Apply) and eq.args[1].type == status


def test_collections_and_comprehensions() -> None:
    known = 'known i: Invoice = "I1"'
    e = expression("sum(l.amount for l in lines(i) if l.amount > 1) > 5", known)
    assert isinstance(e, Apply) and isinstance(e.args[0], Comprehension) and e.args[0].type == DECIMAL
    e = expression('methods["visa"].amount == only(l.amount for l in lines(i))', known)
    assert isinstance(e, Apply) and isinstance(e.args[0], Field) and isinstance(e.args[0].base, Index)
    e = expression('bag(l.item for l in lines(i)) == bag(["a"])', known)
    assert isinstance(e, Apply) and isinstance(e.args[0].type, BagOf)
    e = expression('"visa" in methods and all(k != "x" for k in methods) and count(keys(methods)) == 2')
    assert isinstance(e, Apply) and e.op == "and" and len(e.args) == 3
    e = expression("present(lines(i)[0].note) and lines(i)[-1].note != absent", known)
    assert isinstance(e, Apply)
    assert expression("not (1 + 2 * 3 - -4 <= div(7, 2) or round(2.5, 0) == 2) implies min(1, 2) == 1") is not None


def test_a_variable_of_another_type_does_not_hide_an_enum_member() -> None:
    text = """
    domain d
        enum S { open, shut }
        fluent s: S
        read t(open: bool)
            ensures s == open
    """
    (ensures,) = spec(text).domains["d"].tools["t"].ensures
    assert isinstance(ensures, Apply) and isinstance(ensures.args[1], Lit)


def test_records_refer_to_each_other_in_any_order() -> None:
    d = spec("domain d record A { b: B } record B { x: int }").domains["d"]
    assert d.types["A"] == RecordOf("A", (("b", d.types["B"]),))


def test_chains_are_flat() -> None:
    e = expression(" and ".join(["roaming"] * 150))
    assert isinstance(e, Apply) and len(e.args) == 150


@pytest.mark.parametrize("text", [
    "count(" + "[" * 190 + "1" + "]" * 190 + ") == 1",
    "if(true, " * 60 + "1" + ", 2)" * 60 + " == 1",
    "not " * 190 + "roaming",
    "1 + " * 190 + "1 == 1",
    "roaming implies " * 190 + "roaming",
    "min(1, " * 60 + "1" + ")" * 60 + " == 1",
])  # fmt: skip
def test_what_the_parser_allows_resolves(text: str) -> None:
    assert expression(text) is not None
