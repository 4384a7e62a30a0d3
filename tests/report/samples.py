"""Hand-made verdicts over the running example, for the renderings: no parser and no checker is involved."""

from __future__ import annotations

from fractions import Fraction

from cfrc.model.contract import Contract
from cfrc.model.domain import Domain, Fluent, Param, Tool
from cfrc.model.expr import Apply, Field, Lit, NodeResult, Var
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import BOOL, DECIMAL, TEXT, Enum, Id, RecordOf
from cfrc.model.values import record
from cfrc.model.verdict import Counterexample, Difference, Finding, Stats, Status, Step, Verdict
from cfrc.report.naming import Naming
from cfrc.source import Source, Span

INVOICE, TXN, FILE, EMAIL, SEND = Id("Invoice"), Id("Txn"), Id("File"), Id("Email"), Id("SendId")
INVOICE_STATUS = Enum("InvoiceStatus", ("open", "paid", "void"), ("open", "paid", "voided"))
DELIVERY = Enum("Delivery", ("queued", "delivered", "bounced"), ("queued", "delivered", "bounced"))
INVOICE_RECORD = RecordOf(
    None, (("invoice", INVOICE), ("amount", DECIMAL), ("status", INVOICE_STATUS), ("payer", EMAIL))
)

DOMAIN_TEXT = """\
domain billing
    write pay_invoice(invoice: Invoice, amount: decimal from user | get_invoice.amount) -> { txn: Txn, file: File }
        requires amount > 0 and status(invoice) == open
        causes   paid(invoice, amount)
"""
CONTRACT_TEXT = """\
contract send_receipt for billing
    fixed invoice: Invoice = "INV-42"         from user turn 3
    kept  paid("INV-42", 120.00)              from receipt c7
    owes  delivery: sent(receipt, payee)
    owes  confirmation: delivered(delivery.id)
"""
PROPOSAL_TEXT = """\
proposal again for send_receipt
    g = get_invoice(invoice: invoice)
    p = pay_invoice(invoice: invoice, amount: g.amount)
    s = send_email(to: g.payer, attachment: p.file, body: "Your receipt")
    d = delivery_status(send: s.id) until d.state == delivered within 5 polls
    done claims delivery, confirmation after d
"""
DOMAIN_SOURCE = Source("billing.cfrc", DOMAIN_TEXT)
CONTRACT_SOURCE = Source("contract.cfrc", CONTRACT_TEXT)
PROPOSAL_SOURCE = Source("again.cfrc", PROPOSAL_TEXT)


def span(source: Source, text: str) -> Span:
    """The place of the first occurrence of a text in a source."""
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def domain() -> Domain:
    tools = (
        Tool("get_invoice", "read", (Param("invoice", INVOICE),), INVOICE_RECORD),
        Tool(
            "pay_invoice",
            "write",
            (Param("invoice", INVOICE), Param("amount", DECIMAL)),
            RecordOf(None, (("txn", TXN), ("file", FILE))),
        ),
        Tool(
            "send_email",
            "write",
            (Param("to", EMAIL), Param("attachment", FILE), Param("body", TEXT)),
            RecordOf(None, (("id", SEND),)),
        ),
        Tool("delivery_status", "read", (Param("send", SEND),), RecordOf(None, (("state", DELIVERY),))),
    )
    status = Fluent("status", (("invoice", INVOICE),), INVOICE_STATUS)
    return Domain("billing", {}, {"status": status}, {}, {t.name: t for t in tools})


def contract() -> Contract:
    return Contract("send_receipt", domain(), "sha256:0123")


def proposal() -> Proposal:
    def result(node: str, field: str) -> Field:
        return Field(base=NodeResult(node=node, type=INVOICE_RECORD), name=field, type=TEXT)

    invoice = Var(name="invoice", kind="name", type=INVOICE)
    delivered = Apply(op="==", args=(result("d", "state"), Lit(value="delivered", type=DELIVERY)), type=BOOL)
    body = Lit(value="Your receipt", type=TEXT)
    nodes = (
        Call("g", "get_invoice", {"invoice": invoice}),
        Call("p", "pay_invoice", {"invoice": invoice, "amount": result("g", "amount")}),
        Call("s", "send_email", {"to": result("g", "payer"), "attachment": result("p", "file"), "body": body}),
        Call("d", "delivery_status", {"send": result("s", "id")}, until=delivered, polls=5),
        Terminal("end", "done", ("delivery", "confirmation"), after=("d",)),
    )
    return Proposal("again", "send_receipt", nodes)


def naming() -> Naming:
    return Naming(contract(), proposal())


def repeated_payment() -> Finding:
    answer = record({"invoice": "INV-42", "amount": Fraction(120), "status": "paid", "payer": "ap@acme.test"})
    run = Counterexample(
        order=(
            Step("g", "get_invoice", "ok", (("invoice", "INV-42"),), answer),
            Step("p", "pay_invoice", "ok", (("invoice", "INV-42"), ("amount", Fraction(120))), None, relevant=False),
        ),
        step="p",
        world=(('status("INV-42")', "void"),),
        difference=(Difference('paid("INV-42", 120.0)', "once, kept", "twice"),),
        failing='paid("INV-42", 120.0)',
    )
    return Finding(
        "PRS001",
        "preservation",
        '`p` repeats `paid("INV-42", 120.0)`, which the contract keeps',
        help="take the receipt from the contract's known value `receipt` instead of paying again",
        where=span(PROPOSAL_SOURCE, "pay_invoice(invoice: invoice, amount: g.amount)"),
        node="p",
        clauses=(("kept here", span(CONTRACT_SOURCE, 'paid("INV-42", 120.00)')),),
        advice="remove `p` and attach `receipt` in `s`",
        counterexample=run,
    )


def false_requires() -> Finding:
    answer = record({"invoice": "INV-42", "amount": Fraction(-1, 2), "status": "void", "payer": "·"})
    run = Counterexample(
        order=(
            Step("g", "get_invoice", "ok", (("invoice", "INV-42"),), answer),
            Step("p", "pay_invoice", "failed", (("invoice", "INV-42"), ("amount", Fraction(-1, 2)))),
        ),
        step="p",
        world=(('status("INV-42")', "void"),),
        branch=(("g.status == open", False), ("ok(g)", True)),
        failing="status(invoice) == open",
        failing_span=span(DOMAIN_SOURCE, "status(invoice) == open"),
    )
    return Finding(
        "DEP004",
        "dependency",
        "`requires` of `pay_invoice` may be false when `p` is called",
        help="guard the call: `p = pay_invoice(…) when g.status == open`",
        where=span(PROPOSAL_SOURCE, "p = pay_invoice(invoice: invoice, amount: g.amount)"),
        node="p",
        counterexample=run,
    )


def missing_argument() -> Finding:
    return Finding(
        "TYP002",
        "typing",
        "`s` lacks the argument `body` of `send_email`",
        help="add `body: …`",
        where=span(PROPOSAL_SOURCE, 'send_email(to: g.payer, attachment: p.file, body: "Your receipt")'),
        node="s",
    )


def undecided() -> Finding:
    return Finding(
        "UND001",
        "coverage",
        "the budget ran out before coverage of `confirmation` was decided",
        help="raise it with `--budget`",
        obligation="confirmation",
        severity="undecided",
        where=span(CONTRACT_SOURCE, "confirmation: delivered(delivery.id)"),
    )


def uncovered() -> Finding:
    run = Counterexample(
        order=(
            Step("g", "get_invoice", "ok", (("invoice", "INV-42"),), None, relevant=False),
            Step("p", "pay_invoice", "ok", (("invoice", "INV-42"),), None, relevant=False),
            Step("s", "send_email", "ok", (("to", "a"),), None, relevant=False),
            Step("d", "delivery_status", "poll", (("send", "S1"),), record({"state": "queued"})),
            Step("d", "delivery_status", "ok", (("send", "S1"),), record({"state": "bounced"})),
        ),
        step=None,
        difference=(Difference("delivered", "open", "open"),),
        failing='delivered("S1")',
    )
    return Finding(
        "COV001",
        "coverage",
        "`confirmation` is not discharged when the run ends in `done`",
        obligation="confirmation",
        node="end",
        where=span(PROPOSAL_SOURCE, "done claims delivery, confirmation after d"),
        clauses=(("owed here", span(CONTRACT_SOURCE, "confirmation: delivered(delivery.id)")),),
        counterexample=run,
    )


def verdicts() -> dict[str, Verdict]:
    """Sample verdicts by name, one for each shape of rendering."""
    stats = Stats(obligations=14, normalized=12, solved=2, seconds=0.004)
    note = Finding("NOTE001", "coverage", "`r` can never be reached", severity="note", node="r")
    every = (repeated_payment(), false_requires(), uncovered(), missing_argument(), note)
    of = "send_receipt"
    return {
        "admitted": Verdict(Status.ADMITTED, of, "good", needed=("s", "d", "owes delivery"), stats=stats),
        "admitted-unneeded": Verdict(Status.ADMITTED, of, "good", (note,), ("s",), ("allow get_invoice",), stats),
        "refused": Verdict(Status.REFUSED, of, "again", every, stats=stats),
        "undecided": Verdict(Status.UNDECIDED, of, "again", (undecided(),), stats=stats),
        "withheld": Verdict(Status.WITHHELD, of, "again", (Finding("CON001", "contract", "`payee` has no origin"),)),
        "complete": Verdict(Status.COMPLETE, of, "again"),
        "fresh": Verdict(Status.FRESH, of, None),
        "supported": Verdict(Status.ADMITTED, of, None, stats=stats),
    }
