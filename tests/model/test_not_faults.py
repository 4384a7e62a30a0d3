"""What is no fault: the list at the end of the semantics, run on the concrete machine."""

from __future__ import annotations

from cfrc.model.contract import Contract
from cfrc.model.types import BOOL, Id
from tests.model.build import (
    billing,
    call,
    codes,
    contract,
    domain,
    done,
    eff,
    effect,
    eq,
    fact,
    fail,
    goal,
    graph,
    kept,
    money,
    ok,
    op,
    out,
    owes,
    p,
    r,
    rec,
    run,
    tool,
    was,
    within,
    yield_,
)  # fmt: skip

PAID = (within("effect", "paid", None, None), within("fluent", "status", None))
DONE = r(txn="T", file="F")
OPEN = {("status", ("I",)): "open"}


def pay(node: str = "a", confirm: bool = True, amount: str = "5", **more: object) -> object:
    return call(node, "pay_invoice", {"invoice": "I", "amount": money(amount), "confirm": confirm}, **more)


def owed(*parts: object) -> Contract:
    return contract(billing(), owes("o", goal("paid", "I", money("5"))), *parts, scope=PAID)


def test_exclusive_branches_that_both_hold_a_once_effect() -> None:
    look = call("g", "get_invoice", {"invoice": "I"})
    h = graph(
        look, pay(when=eq(out("g", "payer"), "x")), pay("b", when=op("not", eq(out("g", "payer"), "x"))), done("o")
    )
    for payer, node in (("x", "a"), ("y", "b")):
        seen = r(invoice="I", amount=money("5"), status="open", payer=payer)
        trace = run(owed(), h, ok("g", seen), ok(node, DONE), world={**OPEN, ("payer", ("I",)): payer})
        assert codes(trace) == [] and trace.ended


def test_a_retry_under_failed() -> None:
    h = graph(pay(), pay("b", when=was("failed", "a")), done("o"))
    trace = run(owed(), h, fail("a"), ok("b", DONE), world=OPEN)
    assert codes(trace) == [] and trace.terminals == ("done",)
    assert codes(run(owed(), h, ok("a", DONE), world=OPEN)) == []


def test_a_preview() -> None:
    h = graph(pay("v", confirm=False), pay(after=("v",)), done("o"))
    assert codes(run(owed(), h, ok("v", DONE), ok("a", DONE), world=OPEN)) == []
    kept_already = contract(billing(), kept("paid", "I", money("5")), scope=())
    assert codes(run(kept_already, graph(pay("v", confirm=False), done()), ok("v", DONE), world=OPEN)) == []


def test_an_effectful_read_called_once() -> None:
    d = domain(
        [tool("draw", "read", {}, rec(n=Id("Number")), causes=eff("drawn", once_number()))],
        [], [effect("drawn", {"n": Id("Number")}, once=True)],
    )  # fmt: skip
    z = contract(d, scope=(within("effect", "drawn", None),))
    assert codes(run(z, graph(call("a", "draw"), done()), ok("a", r(n="7")))) == []


def once_number() -> object:
    from tests.model.build import result

    return result("n")


def test_a_kept_fluent_set_to_the_value_it_has() -> None:
    z = contract(billing(requires=()), fact("status", "I", "paid", kept=True), scope=PAID)
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == []


def test_forward_references_in_the_text() -> None:
    late = call("m", "send_email", {"to": "x@y", "attachment": out("a", "file"), "body": ""})
    z = contract(billing(), owes("o", goal("paid", "I", None)), scope=(*PAID, within("effect", "sent", None, None)))
    h = graph(done("o", after=("m",)), late, pay())
    assert codes(run(z, h, ok("a", DONE), ok("m", r(id="S")), world=OPEN)) == []


def test_two_equal_causes_that_are_not_once_unordered() -> None:
    d = domain([tool("ping", "write", {}, BOOL, causes=eff("pinged"))], [], [effect("pinged", {})])
    z = contract(d, owes("o", goal("pinged"), count=2))
    h = graph(call("a", "ping"), call("b", "ping"), done("o"))
    assert codes(run(z, h, ok("b"), ok("a"))) == []


def test_setting_what_an_earlier_tenant_set_where_only_the_event_is_kept() -> None:
    reopen = tool("reopen", "write", {"invoice": Id("Invoice")}, BOOL, sets=_status("open"))
    d = billing()
    d = domain([*d.tools.values(), reopen], list(d.fluents.values()), list(d.effects.values()))
    z = contract(
        d, kept("paid", "I", money("5")), fact("status", "I", "paid"), scope=(within("fluent", "status", "I"),)
    )
    assert codes(run(z, graph(call("a", "reopen", {"invoice": "I"}), done()), ok("a"))) == []


def _status(value: str) -> object:
    from tests.model.build import put

    return put("status", p("invoice"), value)


def test_an_in_scope_effect_that_serves_no_obligation_and_a_yield_that_leaves_things_open() -> None:
    z = contract(billing(), scope=PAID)
    assert codes(run(z, graph(pay(), done()), ok("a", DONE), world=OPEN)) == []
    h = graph(call("g", "get_invoice", {"invoice": "I"}), yield_())
    seen = r(invoice="I", amount=money("5"), status="open", payer="x")
    trace = run(owed(), h, ok("g", seen), world={**OPEN, ("payer", ("I",)): "x"})
    assert codes(trace) == [] and trace.terminals == ("yield",)
