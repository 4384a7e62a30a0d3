"""Freezing, by hand: what each part of the next contract says, and why there sometimes is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cfrc
from cfrc.handoff.freezing.freeze import Frozen, freeze
from cfrc.model.check import Spec
from cfrc.model.contract import Contract
from cfrc.model.footprint import WILD
from cfrc.model.ledger import Ledger
from cfrc.source import Source

DOMAIN = """\
domain billing
    id Invoice, Txn, File, SendId, Email
    enum Status { open, paid }
    fluent status(invoice: Invoice): Status
    fluent payer(invoice: Invoice): Email
    fluent muted: bool
    fluent mood: Status volatile
    effect paid(invoice: Invoice, amount: decimal) once key invoice
    effect sent(file: File, to: Email)
    effect delivered(send: SendId)
    effect filed(txn: Txn, invoice: Invoice)
    read get_invoice(invoice: Invoice) -> { invoice: Invoice echoes invoice, amount: decimal, status: Status, payer: Email }
        observes status(invoice) = result.status
        observes payer(invoice) = result.payer
    read read_note(file: File) -> text
    write pay(invoice: Invoice, amount: decimal from user | get_invoice.amount, confirm: bool = false) -> { txn: Txn, file: File }
        causes paid(invoice, amount) when confirm
        sets   status(invoice) = paid when confirm
        approved when confirm
    write file(invoice: Invoice) -> { txn: Txn }
        causes filed(result.txn, invoice)
    write unpay(invoice: Invoice)
        undoes paid(invoice, _)
    write send(to: Email from user | get_invoice.payer | quoted read_note, attachment: File, body: text) -> { id: SendId }
        causes sent(attachment, to)
    read track(send: SendId) -> { there: bool }
        witnesses delivered(send) when result.there
        refutes   delivered(send) when not result.there
    write mute(on: bool)
        sets muted = on
    write secret()
"""
TASK = """\
contract task for billing
    request "Pay the invoice and send its receipt."
    owes pay: paid(i, _) exists i: Invoice
    owes delivery: sent(f, p) exists f: File, p: Email
    owes confirmation: delivered(delivery.id)
    allow get_invoice, read_note, pay, send, track, file, mute
"""
PAID = """\
    receipt c1: get_invoice(invoice: "I1") -> { invoice: "I1", amount: 120.00, status: open, payer: "ap@x.test" } success
    receipt c2: pay(invoice: "I1", amount: 120.00, confirm: true) -> { txn: "t1", file: "r1.pdf" } success
"""
SENT = """\
    receipt c3: send(to: "ap@x.test", attachment: "r1.pdf", body: "x") -> { id: "s1" } success
"""


def spec(*entries: str, task: str = TASK, domain: str = DOMAIN) -> Spec:
    return cfrc.load(Source("t.cfrc", domain + task + "ledger L for billing\n" + "".join(entries)))


def frozen(*entries: str, task: str = TASK, **more: object) -> Frozen:
    s = spec(*entries, task=task)
    result = freeze(s.contracts["task"], s.ledgers["L"], **more)  # type: ignore[arg-type]
    if not any(f.code == "CFRC-FRZ003" for f in result.reasons):
        assert not cfrc.audit_contract(result.contract, s.ledgers["L"], before=s.contracts["task"]).findings
    return result


def owed(result: Frozen) -> dict[str, str]:
    lines = [x.strip() for x in result.text.splitlines() if x.strip().startswith("owes")]
    return {n.strip(): g.strip() for n, _, g in (x.removeprefix("owes").partition(":") for x in lines)}


def codes(result: Frozen) -> set[str]:
    return {f.code.removeprefix("CFRC-") for f in (*result.reasons, *result.notes)}


# -- effects, doubts, facts ---------------------------------------------------------------------------------------------


def test_what_happened_is_kept_and_what_it_showed_is_known() -> None:
    result = frozen(PAID)
    assert result.kind == "contract"
    assert [(k.effect, k.args[0]) for k in result.contract.kept] == [("paid", "I1")]
    assert {(f.fluent, f.value) for f in result.contract.facts} == {("status", "paid"), ("payer", "ap@x.test")}
    known = {n.value: n.origin for n in result.contract.names.values()}
    assert known["r1.pdf"] is not None and known["r1.pdf"].path == ("file",) and known["r1.pdf"].tool == "pay"
    assert "I1" not in known  # a field that echoes an argument is no source
    assert set(owed(result)) == {"delivery", "confirmation"}


@pytest.mark.parametrize("status", ["unknown", "pending", "partial"])
def test_what_may_have_happened_is_in_doubt(status: str) -> None:
    result = frozen(f'    receipt c2: pay(invoice: "I1", amount: 5.00, confirm: true) {status}\n')
    (doubt,) = result.contract.doubts
    assert (doubt.effect, doubt.args[0]) == ("paid", "I1")
    assert doubt.call is not None and doubt.call[0] == "pay"
    assert doubt.origin is not None and doubt.origin.status == status
    assert not result.contract.kept and "pay" in owed(result)


def test_a_definite_failure_and_a_preview_are_nothing() -> None:
    failed = '    receipt c2: pay(invoice: "I1", amount: 5.00, confirm: true) failure\n'
    preview = '    receipt c3: pay(invoice: "I1", amount: 5.00) -> { txn: "t", file: "f" } success\n'
    result = frozen(failed, preview)
    assert not result.contract.kept and not result.contract.doubts


def test_what_nobody_knows_of_a_doubt_is_said_so() -> None:
    result = frozen('    receipt c2: file(invoice: "I1") unknown\n')
    assert [d.args for d in result.contract.doubts] == [(WILD, "I1")]


def test_a_look_settles_a_doubt() -> None:
    s = spec(PAID, SENT, '    receipt c4: track(send: "s1") -> { there: true } success\n')
    result = freeze(s.contracts["task"], s.ledgers["L"])
    assert result.kind == "complete" and not result.contract.obligations
    assert ("delivered", ("s1",)) in {(k.effect, k.args) for k in result.contract.kept}


def test_a_call_of_undeclared_effects_is_told() -> None:
    assert "FRZ011" in codes(frozen("    receipt c1: secret() success\n"))


# -- obligations --------------------------------------------------------------------------------------------------------


def test_a_reference_to_a_discharged_obligation_becomes_its_value() -> None:
    result = frozen(PAID, SENT)
    assert list(owed(result)) == ["confirmation"]
    (goal,) = result.contract.obligations[0].goals
    assert 'delivered("s1")' in cfrc.model.show.show_expr(goal.args[0]) or goal.args[0].value == "s1"  # type: ignore[union-attr]


def test_where_several_receipts_may_be_meant_any_of_them_will_do() -> None:
    task = TASK.replace("sent(f, p) exists f: File, p: Email", "sent(_, _)")
    again = SENT.replace("c3", "c4").replace('"s1"', '"s2"')
    (o,) = frozen(PAID, SENT, again, task=task).contract.obligations
    assert o.choice == "any" and len(o.goals) == 2


def test_of_two_as_many_are_left_as_are_missing() -> None:
    task = TASK.replace(
        "owes delivery: sent(f, p) exists f: File, p: Email", 'owes delivery: 2 of sent("r1.pdf", p) exists p: Email'
    )
    task = task.replace("    owes confirmation: delivered(delivery.id)\n", "")
    result = frozen(PAID, SENT, task=task)
    (o,) = result.contract.obligations
    assert o.count == 1 and "p != email_ap_x_test" in owed(result)["delivery"]


def test_a_state_that_was_owed_and_reached_must_stay() -> None:
    task = TASK + "    owes quiet: muted == true\n"
    reached = frozen("    receipt c1: mute(on: true) success\n", task=task)
    assert [(f.fluent, f.value) for f in reached.contract.facts if f.kept] == [("muted", True)]
    s = spec("    receipt c2: mute(on: false) success\n", task=task)
    broken = freeze(reached.contract, s.ledgers["L"])
    assert broken.kind == "withheld" and "FRZ003" in codes(broken)
    lost = freeze(reached.contract, spec("    receipt c2: mute(on: false) unknown\n", task=task).ledgers["L"])
    assert owed(lost)["still_muted"] == "muted == true from receipt c1 of mute"


def test_a_state_that_others_may_change_is_only_told() -> None:
    task = (
        TASK.replace("read_note,", "").replace("contract task", "contract task") + "    owes calm: count([1, 2]) == 2\n"
    )
    assert "FRZ010" in codes(frozen(task=task))


def test_an_order_that_was_not_kept_withholds() -> None:
    task = TASK.replace(
        "owes pay: paid(i, _) exists i: Invoice", "owes pay: paid(i, _) exists i: Invoice before delivery"
    )
    result = frozen(SENT, task=task)
    assert result.kind == "withheld" and "FRZ004" in codes(result)


def test_an_if_is_judged_where_the_task_began() -> None:
    task = TASK + '    owes note: sent("n.pdf", "x") if muted == true\n'
    look = DOMAIN + "    read muted_now() -> { on: bool }\n        observes muted = result.on\n"

    def names(*entries: str) -> set[str]:
        s = cfrc.load(Source("t.cfrc", look + task + "ledger L for billing\n" + "".join(entries)))
        return {o.name for o in freeze(s.contracts["task"], s.ledgers["L"]).contract.obligations}

    assert "note" in names()
    assert "note" in names("    receipt m: muted_now() -> { on: true } success\n")
    assert "note" not in names("    receipt m: muted_now() -> { on: false } success\n")
    # It was so when the task began, and the agent changed it: it is owed all the same.
    changed = "    receipt n: mute(on: false) success\n"
    assert "note" in names("    receipt m: muted_now() -> { on: true } success\n", changed)
    assert "note" in names(changed)


def test_rules_close_what_is_asked_and_what_was_done() -> None:
    rule = DOMAIN + "    rule receipt_follows: paid(i, _) owes sent(_, payer(i))\n"
    ledger = "ledger L for billing\n"
    task = TASK.replace(
        "    owes delivery: sent(f, p) exists f: File, p: Email\n    owes confirmation: delivered(delivery.id)\n", ""
    )
    s = cfrc.load(Source("t.cfrc", rule + task + ledger + PAID))
    done = freeze(s.contracts["task"], s.ledgers["L"])
    assert owed(done) == {"receipt_follows": 'sent(_, payer("I1"))'}
    asked = freeze(s.contracts["task"], replace(s.ledgers["L"], entries=()))
    assert set(owed(asked)) == {"pay", "receipt_follows"}
    bare = freeze(s.domains["billing"], s.ledgers["L"])
    assert set(owed(bare)) == {"receipt_follows"} and bare.kind == "contract"
    s = cfrc.load(Source("t.cfrc", rule + task + ledger + PAID + SENT))
    assert freeze(s.contracts["task"], s.ledgers["L"]).kind == "complete"


def test_more_can_be_owed_in_words() -> None:
    result = frozen(PAID, SENT, owes=["copy: sent(file_r1_pdf, x) exists x: Email where x != email_ap_x_test"])
    assert "copy" in owed(result)
    with pytest.raises(cfrc.SpecError, match="FRZ012"):
        frozen(owes=["copy: sent(_, _)\n    allow unpay"])
    with pytest.raises(cfrc.SpecError, match="NAM005"):
        frozen(owes=["copy: mailed(_)"])


# -- bindings, approvals ------------------------------------------------------------------------------------------------


def test_the_latest_word_corrects_what_is_owed() -> None:
    task = TASK.replace(
        "    owes pay: paid(i, _) exists i: Invoice",
        '    fixed invoice: Invoice = "I1" from user turn 1\n    fixed amount: decimal = 5.00 from user turn 1\n    owes pay: paid(invoice, amount)',
    )
    said = '    accepted invoice: Invoice = "I2" from user turn 3\n'
    result = frozen(said, task=task)
    assert owed(result)["pay"] == "paid(invoice, amount)"
    assert result.contract.names["invoice"].value == "I2" and "I1" not in result.text
    again = freeze(
        result.contract, replace(spec("    accepted amount: decimal = 7.00 from user turn 4\n").ledgers["L"], name="M")
    )
    (args,) = [o.goals[0].args for o in again.contract.obligations if o.name == "pay"]  # type: ignore[union-attr]
    assert [a.value for a in args] == ["I2", 7]  # type: ignore[union-attr]


def test_a_correction_after_the_fact_withholds() -> None:
    task = TASK.replace(
        "    owes pay: paid(i, _) exists i: Invoice",
        '    fixed invoice: Invoice = "I1" from user turn 1\n    owes pay: paid(invoice, _)',
    )
    late = '    accepted invoice: Invoice = "I2" from user turn 3\n'
    assert "pay" in owed(frozen(PAID, late, task=task))  # one record: the latest word is what was asked
    s = spec(late, task=task)
    result = freeze(frozen(PAID, task=task).contract, s.ledgers["L"])
    assert result.kind == "withheld" and "FRZ016" in codes(result)


def test_approvals_are_used_once_and_denials_stay() -> None:
    yes = '    approved pay(invoice: "I1", amount: 120.00, confirm: true) policy "v2" from user turn 2\n'
    no = '    denied pay(invoice: "I9") from user turn 2\n'
    result = frozen(yes, no, PAID, policy="v2")
    assert [a.denied for a in result.contract.approvals] == [True] and result.contract.policy == "v2"
    unanswered = '    receipt c2: pay(invoice: "I1", amount: 120.00, confirm: true) unknown\n'
    assert len(frozen(yes, unanswered).contract.approvals) == 1
    assert len(frozen(yes, yes, PAID).contract.approvals) == 1


def test_prose_is_quoted_with_its_place() -> None:
    note = '    receipt c0: read_note(file: "n.txt") -> "Send r1.pdf to ap@x.test, please; not to ap@x.test.org." success\n'
    task = TASK.replace("sent(f, p) exists f: File, p: Email", 'sent("r1.pdf", "ap@x.test")')
    result = frozen(note, task=task)
    quoted = {
        n.value: n.origin.quoted for n in result.contract.names.values() if n.origin is not None and n.origin.quoted
    }
    assert quoted == {"r1.pdf": (5, 11), "ap@x.test": (15, 24)}


# -- scope and kinds ----------------------------------------------------------------------------------------------------


def test_scope_is_as_tight_as_can_be() -> None:
    result = frozen(PAID)
    assert result.contract.scope is None  # sending writes nothing beside
    first = frozen().contract
    assert first.scope is not None
    assert {x.name for x in first.scope if x.kind == "fluent"} == {"status"}
    # Once it is paid, the licence to set its status goes with the obligation.
    s = spec(PAID)
    assert freeze(first, s.ledgers["L"]).contract.scope is None
    wide = TASK + "    within sent(_, _), paid(_, _), delivered(_), status(_)\n"
    assert {x.name for x in frozen(PAID, task=wide).contract.scope or ()} == {"sent", "paid", "delivered", "status"}


def test_fresh_complete_and_withheld_are_told_apart() -> None:
    s = spec(PAID)
    empty = replace(s.ledgers["L"], entries=())
    assert freeze(s.domains["billing"], empty).kind == "fresh"
    assert freeze(s.contracts["task"], empty).kind == "fresh"
    nothing_asked = freeze(s.domains["billing"], s.ledgers["L"])
    assert nothing_asked.kind == "withheld" and "FRZ001" in codes(nothing_asked)
    assert freeze(s.domains["billing"], s.ledgers["L"], owes=["paid(_, _)"]).kind == "complete"
    assert freeze(s.domains["billing"], s.ledgers["L"], owes=["d: delivered(_)"], allow=["pay"]).kind == "withheld"


def test_an_undone_effect_withholds() -> None:
    first = frozen(PAID).contract
    s = spec('    receipt c9: unpay(invoice: "I1") success\n')
    result = freeze(first, s.ledgers["L"])
    assert result.kind == "withheld" and "FRZ002" in codes(result)
    assert not result.contract.kept


def test_a_limit_must_not_count_too_little() -> None:
    task = TASK + "    limit count of sent(_, _) <= 3\n"
    again = SENT.replace("c3", "c4").replace('-> { id: "s1" } success', "unknown")
    result = frozen(SENT, again, task=task)
    assert result.kind == "withheld" and "FRZ005" in codes(result)
    twice = frozen(SENT, SENT.replace("c3", "c4"), task=task)
    assert [k.effect for k in twice.contract.kept] == ["sent", "sent"]


def test_the_domains_must_agree() -> None:
    other = cfrc.load(Source("o.cfrc", "domain other\n    id X\nledger L for other\n")).ledgers["L"]
    with pytest.raises(ValueError, match="different domains"):
        freeze(spec().contracts["task"], other)


def test_a_grown_ledger_is_cut_where_the_last_freeze_ended() -> None:
    s = spec(PAID, SENT)
    whole = s.ledgers["L"]
    first: Contract = freeze(s.contracts["task"], replace(whole, entries=whole.entries[:2])).contract
    grown = freeze(first, whole)
    only: Ledger = replace(whole, entries=whole.entries[2:])
    assert grown.text == freeze(first, only).text == freeze(s.contracts["task"], whole).text
