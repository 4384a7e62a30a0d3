"""Spec texts that several tests use: a running example and a file with every clause."""

from __future__ import annotations

DESIGN = """
domain billing
    id Invoice, Txn, File, SendId, Email
    enum Delivery { queued, delivered, bounced }
    enum InvoiceStatus { open, paid, void = "voided" }             # wire name where it differs

    fluent status(invoice: Invoice): InvoiceStatus
    fluent payer(invoice: Invoice): Email

    effect paid(invoice: Invoice, amount: decimal) once key invoice
    effect sent(file: File, to: Email)
    effect delivered(send: SendId)

    read get_invoice(invoice: Invoice) -> { invoice: Invoice, amount: decimal, status: InvoiceStatus, payer: Email }
        ensures  result.invoice == invoice
        observes status(invoice) = result.status
        observes payer(invoice) = result.payer

    write pay_invoice(invoice: Invoice, amount: decimal from user | get_invoice.amount, confirm: bool = false) -> { txn: Txn, file: File }
        requires amount > 0 and status(invoice) == open
        causes   paid(invoice, amount) when confirm                 # otherwise a preview
        sets     status(invoice) = paid when confirm
        approved when confirm                                       # needs an approval of these arguments

    write send_email(to: Email from user | get_invoice.payer, attachment: File, body: text) -> { id: SendId }
        causes sent(attachment, to)

    read delivery_status(send: SendId) -> { state: Delivery }
        witnesses delivered(send) when result.state == delivered
        refutes   delivered(send) when result.state == bounced

    read calculate(expression: text) -> decimal grounds nothing     # free text in, value out: not a source
    write toggle_roaming() by user                                  # another actor's tool
        sets roaming = not roaming

    rule receipt_follows_payment: paid(i, _) owes sent(_, payer(i))  # closure of requests

contract send_receipt for billing
    request "Pay one outstanding invoice and send its receipt."
    fixed invoice: Invoice = "INV-42"         from user turn 3
    kept  paid("INV-42", 120.00)              from receipt c7
    known receipt: File = "txn7.pdf"          from receipt c7.file
    known payee: Email = "ap@acme.test"       from receipt c2.payer
    holds status("INV-42") == paid            from receipt c7        # true now, may change; `kept f(x) == v` must not
    owes  delivery: sent(receipt, payee)
    owes  confirmation: delivered(delivery.id)                       # the receipt that discharges `delivery`
    allow send_email, delivery_status
    within sent(receipt, payee)

proposal good for send_receipt
    s = send_email(to: payee, attachment: receipt, body: "Your receipt")
    d = delivery_status(send: s.id) until d.state == delivered within 5 polls
    done claims delivery, confirmation after d
check good admits
check good without d rejects coverage(confirmation), evidence
"""

SURFACES = """
contract more for shop
    owes swap: exchanged(order, bag([{old: boots, new: n}])) exists n: Item where n in keys(variants(product)) and variants(product)[n].options["size"] == "8"
    owes off: roaming == false                                       # state obligation: holds at the end, no possible clobberer before `done`
    owes note: notified(u) if flag(u) == true                        # judged in the freeze state
    owes either: one of { refunded(o), exchanged(o, _) }    owes 2 of refuelled(line, 2.0)    before refund, note
    doubt paid("INV-42", 120.00) from receipt c9 unknown             # may have happened: not to be repeated until refuted, witnessed, or idempotent
    approved pay_invoice(invoice: "INV-42", amount: 120.00, confirm: true) policy "v2" expires 2026-12-01 from user turn 5      denied refund(_) from user turn 6
    limit sum(a) of sent_money(_, a) <= 98.70     limit count of cancelled(_) <= 1     trust read_file(bill) for send_money.recipient
    known iban: Iban = "UK12…" from receipt c0 quoted 271..293       # from prose: weaker provenance, a parameter may refuse it
domain shop
    write charge()
        causes charged(m.id, m.amount) for m in payment_methods          sets balance(p) = balance(p) - a      # (right-hand sides read the state before)
proposal later for more
    x = cancel(order: o) expect x.status == "cancelled"              # false: hand back; afterwards it may be assumed
    r = refund(order: o, amount: x.amount) when x.refundable         yield "bounced" when d.state == bounced
"""

EVERYTHING = """
import "other.cfrc"

domain d
    id Email canonical lower
    id File, Txn canonical trim, lower
    enum E { from, to, void = "voided", }
    record Address { line: string, zip: string? }
    fluent roaming: bool volatile
    fluent f(x: File, y: map[File, list[Txn]]): { a: int, b: bag[Txn]? }?
    effect moved(m: File) once key m
    effect seen()
    read g(invoice: File from user | tool.path.x | get | receipt | receipt.a.b | quoted rd.text free unquoted, from: int = -1,)
        by user -> { a: { invoice: File echoes invoice } } grounds nothing
        requires amount > 0 and not x in xs or y not in ys implies z
        ensures result.a == absent
        observes f(x) = e when c for m in xs
        causes charged(m.id, m.amount) for m in methods when a == b for k in m.xs
        sets balance(p) = balance(p) - a * -2
        sets roaming = not roaming
        witnesses moved(invoice)
        refutes moved(_) when x
        undoes moved(_)
        causes nothing
        idempotent
        failure may cause moved(invoice) when x
        approved
        approved when confirm
    write toggle() by user
    rule r: paid(i, _) owes sent(_, payer(i))

contract c for d
    policy "v2"
    as of 2026-11-30
    request "x \\" \\u00e9 \\ud83d\\ude00"
    head "sha"
    fixed invoice: Invoice = "INV-42" for tool.param, t2.p from user turn 3
    known iban: Iban = "UK12" from receipt c0.a.b of rd quoted 271..293
    known other: Iban = "UK12" from receipt "c-0" unknown
    known third: Iban = "UK12" from receipt c0 of rd(_, "x", path: "b.txt",) quoted 1..2
    known rest: list[int]
        = [1, 2]
    kept paid("INV", 1.0) from policy
    kept f("x") == v
    holds roaming == false from receipt c1 success
    doubt paid("INV-42", 120.00) by pay(invoice: "x") from receipt c9 unknown
    owes swap: exchanged(order, bag([{ old: boots, new: n }])) exists n: Item, m: X where n in keys(v) if y shared
    owes any: any of { a(b), c == d } before swap, one from user
    owes one: any(x for x in xs if x)
    owes roaming
    allow a, b
    within sent(receipt, payee), status(o), roaming exists n: T where n == 1
    within tool a, b
    within tool(x)
    holds x == if(a, map({ "k": 1 }), map(k: v for k in ks for v in vs if v > 1))
    holds y == { a: 1, from: 2, not: 3 }
    holds z == [1, 2e3,]
    holds w == 1h30m
    holds w == 2026-12-01T10:00:00.5+01:00
    trust read_file(bill) for send_money.recipient
    limit sum(a * 2) of sent_money(_, a) <= 98.70
    as of 2026-12-01T10:00:00Z

proposal p for c answers "sha256:x"
    x = cancel(order: o) expect x.status == "cancelled" when ok(y) after y covers a, b
    end = done claims a, b after r when ok(r) and not failed(x)
    when = done(a: 1, tool: 2)
    check = yield(from: a) until check.a[0]["k"].b == 3 within 4 polls
    yield
    yield "reason" after x

ledger L for d
    receipt c7: pay_invoice(invoice: "INV-42") -> { txn: "t1", file: "txn7.pdf" } success attempt 2 by user at 2026-12-01T10:00:00Z
    receipt "c-8": f() unknown
    accepted n: T = v from user turn 3
    approved f(a: 1)
    denied f(a: _)

check p without a, b undecided
check p withheld
check p without a complete
check p fresh
check contract c against L supported
check contract c rejects only coverage, evidence("s-1")
check contract c complete
check claim a, b of c against L rejects
check claim contract of check against ledger accepts
"""
