"""Violations before and at a call: authority, binding, dependency, preservation, scope."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from cfrc.model.domain import Domain
from cfrc.model.types import BOOL, DECIMAL, INT, BagOf, Id, Optional
from tests.model.build import (
    GOOD,
    POLL,
    SEND,
    Invoice,
    approved,
    at,
    b,
    billing,
    call,
    codes,
    contract,
    count_limit,
    domain,
    done,
    doubt,
    eff,
    effect,
    eq,
    f,
    fact,
    fail,
    fixed,
    fluent,
    gen,
    goal,
    graph,
    kept,
    known,
    make,
    money,
    n,
    of,
    ok,
    op,
    out,
    owes,
    p,
    poll,
    put,
    r,
    rec,
    receipt_contract,
    result,
    run,
    sum_limit,
    tool,
    was,
    within,
    x,
)  # fmt: skip


def paying(*parts: object, **options: object) -> object:
    """A contract under which invoice I may be paid."""
    scope = (within("effect", "paid", None, None), within("fluent", "status", None))
    return contract(billing(**options.pop("pay", {})), *parts, **{"scope": scope, **options})  # type: ignore[arg-type]


PAY = {"invoice": "I", "amount": money("5"), "confirm": True}
DONE = r(txn="T", file="F")


def pay(node: str = "a", **more: object) -> object:
    return call(node, "pay_invoice", PAY, **more)


# -- the running example ----------------------------------------------------------------------------------------------


def test_the_running_example() -> None:
    events = (ok("s", r(id="S1")), poll("d", r(state="queued")), ok("d", r(state="delivered")))
    trace = run(receipt_contract(), GOOD, *events)
    assert codes(trace) == [] and trace.ended and trace.terminals == ("done",)
    assert trace.outcomes == {"s": "ok", "d": "ok"}
    assert dict(trace.args["d"]) == {"send": "S1"}


def test_it_hands_back_after_the_last_poll() -> None:
    events = [ok("s", r(id="S1")), *[poll("d", r(state="queued"))] * 5]
    trace = run(receipt_contract(), GOOD, *events)
    assert codes(trace) == [] and not trace.ended and trace.outcomes["d"] == "fail"


# -- authority --------------------------------------------------------------------------------------------------------

NEEDS = {"approved": p("confirm"), "requires": ()}


@pytest.mark.parametrize(
    ("approvals", "options", "expected"),
    [
        ((), {}, ["AUT002"]),
        ((approved("pay_invoice", **PAY),), {}, []),
        ((approved("pay_invoice", **{**PAY, "amount": money("6")}),), {}, ["AUT003"]),
        ((approved("pay_invoice", **PAY, policy="v1"),), {"policy": "v2"}, ["AUT003"]),
        ((approved("pay_invoice", **PAY),), {"policy": "v2"}, ["AUT003"]),
        ((approved("pay_invoice", **PAY, policy="v2"),), {"policy": "v2"}, []),
        ((approved("pay_invoice", **PAY, expires=date(2026, 1, 1)),), {"as_of": date(2026, 1, 1)}, ["AUT003"]),
        ((approved("pay_invoice", **PAY, expires=date(2026, 1, 2)),), {"as_of": date(2026, 1, 1)}, []),
        (
            (approved("pay_invoice", **PAY, expires=date(2026, 1, 1)),),
            {"as_of": datetime(2026, 1, 1, 9, tzinfo=UTC)},
            ["AUT003"],
        ),
        ((approved("pay_invoice", denied=True, invoice="I"), approved("pay_invoice", **PAY)), {}, ["AUT005"]),
        ((approved("pay_invoice", denied=True, invoice="J"), approved("pay_invoice", **PAY)), {}, []),
    ],
)
def test_approvals(approvals: tuple[object, ...], options: dict[str, object], expected: list[str]) -> None:
    z = paying(*approvals, pay=NEEDS, **options)
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == expected


def test_today_counts_when_the_contract_names_no_time() -> None:
    z = paying(approved("pay_invoice", **PAY, expires=date(2026, 1, 1)), pay=NEEDS)
    h = graph(pay(), done())
    assert codes(run(z, h, ok("a", DONE), today=date(2026, 1, 1))) == ["AUT003"]
    assert codes(run(z, h, ok("a", DONE), today=date(2025, 12, 31))) == []
    assert codes(run(z, h, ok("a", DONE))) == []


def test_an_approval_is_used_up_by_a_call_but_not_by_a_definite_failure() -> None:
    z = paying(approved("pay_invoice", **PAY), pay={**NEEDS, "causes": ()})
    again = graph(pay(), pay("b", after=("a",)), done())
    assert codes(run(z, again, ok("a", DONE), ok("b", DONE))) == ["AUT004"]
    retry = graph(pay(), pay("b", when=was("failed", "a")), done())
    assert codes(run(z, retry, fail("a"), ok("b", DONE))) == []


def test_no_approval_is_needed_where_the_condition_is_false() -> None:
    z = paying(pay=NEEDS)
    preview = call("a", "pay_invoice", {**PAY, "confirm": False})
    assert codes(run(z, graph(preview, done()), ok("a", DONE))) == []
    assert codes(run(paying(pay={**NEEDS, "approved": at(make("list"), 0)}), graph(pay(), done()), ok("a", DONE))) == [
        "AUT002"
    ]


def test_enabled_calls_are_judged_where_a_scenario_stops() -> None:
    trace = run(paying(pay=NEEDS), graph(pay(), done()))
    assert [(v.code, v.index, v.node) for v in trace.violations] == [("AUT002", 0, "a")]


# -- binding ----------------------------------------------------------------------------------------------------------

ORDERS = domain(
    [
        tool("look", "read", {"order": Id("Order")}, rec(ref=Id("Ref"))),
        tool("ship", "write", {"order": Id("Order"), "ref": (Optional(Id("Ref")), None)}, causes=eff("shipped", p("order"))),
        tool("pack", "write", {"orders": BagOf(rec(order=Id("Order"), n=INT))}, causes=eff("packed")),
        tool("probe", "read", {"order": Id("Order")}, witnesses=eff("shipped", p("order"))),
    ],
    [],
    [effect("shipped", {"order": Id("Order")}), effect("packed", {})],
)  # fmt: skip
ALL = (within("effect", "shipped", None), within("effect", "packed"))


def order(name: str, tool_: str, **args: object) -> object:
    return call(name, tool_, args)


def test_bindings_by_type_govern_calls_that_write_witness_or_flow_there() -> None:
    z = contract(ORDERS, fixed("o", Id("Order"), "O1"), scope=ALL)
    assert codes(run(z, graph(order("a", "ship", order="O2")), ok("a"))) == ["BND001"]
    assert codes(run(z, graph(order("a", "probe", order="O2")), ok("a"))) == ["BND001"]
    assert codes(run(z, graph(order("a", "look", order="O2")), ok("a", r(ref="R")))) == []
    flow = graph(order("a", "look", order="O2"), order("b", "ship", order="O1", ref=out("a", "ref")))
    assert codes(run(z, flow, ok("a", r(ref="R")), ok("b"))) == ["BND001"]
    assert codes(run(z, graph(order("a", "ship", order="O1")), ok("a"))) == []


def test_bindings_look_inside_collections_and_records() -> None:
    z = contract(ORDERS, fixed("o", Id("Order"), "O1"), scope=ALL)
    wrong = call("a", "pack", {"orders": make("bag", make("record", order="O1", n=1), make("record", order="O2", n=1))})
    right = call("a", "pack", {"orders": make("bag", make("record", order="O1", n=1))})
    assert codes(run(z, graph(wrong), ok("a"))) == ["BND001"]
    assert codes(run(z, graph(right), ok("a"))) == []


def test_any_value_bound_for_the_type_will_do_and_known_values_bind_nothing() -> None:
    z = contract(ORDERS, fixed("o", Id("Order"), "O1"), fixed("q", Id("Order"), "O2"), scope=ALL)
    assert codes(run(z, graph(order("a", "ship", order="O2")), ok("a"))) == []
    z = contract(ORDERS, known("o", Id("Order"), "O1"), scope=ALL)
    assert codes(run(z, graph(order("a", "ship", order="O2")), ok("a"))) == []


def test_targeted_bindings_govern_reads_too_and_must_be_present() -> None:
    z = contract(ORDERS, fixed("o", Id("Order"), "O1", ("look", "order")), scope=ALL)
    assert codes(run(z, graph(order("a", "look", order="O2")), ok("a", r(ref="R")))) == ["BND002"]
    assert codes(run(z, graph(order("a", "ship", order="O2")), ok("a"))) == []
    z = contract(ORDERS, fixed("q", Id("Ref"), "R1", ("ship", "ref")), scope=ALL)
    assert codes(run(z, graph(order("a", "ship", order="O1")), ok("a"))) == ["BND002"]


# -- dependency -------------------------------------------------------------------------------------------------------


def test_a_source_that_was_skipped_or_failed() -> None:
    z = receipt_contract()
    skipped = graph(call("s", "send_email", SEND.args, when=eq(1, 2)), POLL, done())
    trace = run(z, skipped)
    assert [(v.code, v.node, v.others) for v in trace.violations] == [("DEP003", "d", ("s",))] and not trace.ended
    failed = graph(SEND, call("d", "delivery_status", {"send": out("s", "id")}, when=was("failed", "s")), done())
    assert codes(run(z, failed, fail("s"))) == ["DEP003"]
    guard = graph(
        SEND, call("d", "delivery_status", {"send": "S"}, when=op("or", was("failed", "s"), eq(out("s", "id"), 1)))
    )
    assert codes(run(z, guard, fail("s"), ok("d", r(state="queued")))) == []


def test_a_terminals_guard_that_reads_a_missing_result() -> None:
    skipped = graph(call("s", "send_email", SEND.args, when=eq(1, 2)), done(when=eq(out("s", "id"), "S")))
    trace = run(receipt_contract(), skipped)
    assert [(v.code, v.node) for v in trace.violations] == [("DEP003", "done")] and not trace.ended
    failed = graph(
        SEND, call("l", "delivery_status", {"send": "S"}, when=was("failed", "s")), done(when=eq(out("s", "id"), "S"))
    )
    trace = run(receipt_contract(), failed, fail("s"), ok("l", r(state="queued")))
    assert codes(trace) == [] and trace.ended and trace.outcomes["done"] == "dead"


def test_requires() -> None:
    h = graph(pay(), done())
    trace = run(paying(), h, ok("a", DONE), world={("status", ("I",)): "void"})
    assert [(v.code, v.failing) for v in trace.violations] == [
        ("DEP004", "status(invoice) == open".replace("open", '"open"'))
    ]
    assert not trace.ended and trace.args["a"][0] == ("invoice", "I")
    assert codes(run(paying(), h, ok("a", DONE), world={("status", ("I",)): "open"})) == []


def test_undefined_requires_do_not_hold() -> None:
    z = paying(pay={"requires": at(make("list"), 0)})
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == ["DEP004"]


def volatile() -> Domain:
    return domain(
        [
            tool("see", "read", {}, rec(v=INT), observes=put("level", result("v"))),
            tool("act", "write", {}, requires=eq(f("level"), 1), causes=eff("acted")),
            tool("set", "write", {}, sets=put("level", 1)),
        ],
        [fluent("level", {}, INT, volatile=True)],
        [effect("acted", {})],
    )


def test_volatile_facts_hold_while_pinned() -> None:
    z = contract(volatile(), fact("level", 1), scope=(within("effect", "acted"), within("fluent", "level")))
    act = call("b", "act")
    assert codes(run(z, graph(act), ok("b"))) == []
    assert codes(run(z, graph(act), ok("b", True, ("level", (), 2)))) == ["DEP004"]
    seen = graph(call("a", "see", after=()), call("b", "act", when=eq(out("a", "v"), 1)))
    assert codes(run(z, seen, ok("a", r(v=1), ("level", (), 7)), ok("b"))) == []
    assert not run(z, seen, ok("a", r(v=1)), ok("b", True, ("level", (), 2))).legal
    own = graph(call("a", "set"), call("b", "act", after=("a",)))
    assert codes(run(z, own, ok("a"), ok("b"))) == []
    assert not run(z, own, ok("a"), ok("b", True, ("level", (), 2))).legal


# -- preservation -----------------------------------------------------------------------------------------------------


def test_repeating_what_is_kept() -> None:
    z = paying(kept("paid", "I", money("5")))
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == ["PRS001"]
    z = paying(kept("paid", "I", money("7")))
    trace = run(z, graph(pay(), done()), ok("a", DONE))
    assert codes(trace) == ["PRS002"] and trace.violations[0].before == 'paid("I", 7.0)'


def test_repeating_a_kept_effect_that_is_not_once() -> None:
    z = contract(ORDERS, kept("shipped", "O1"), scope=ALL)
    assert codes(run(z, graph(order("a", "ship", order="O1")), ok("a"))) == ["PRS001"]


def test_repeating_a_once_key_in_the_graph() -> None:
    z = paying(pay={"requires": ()})
    other = call("b", "pay_invoice", {**PAY, "amount": money("6")}, after=("a",))
    trace = run(z, graph(pay(), other, done()), ok("a", DONE), ok("b", DONE))
    assert [(v.code, v.node, v.others) for v in trace.violations] == [("PRS002", "b", ("a",))]


def test_one_call_may_not_cause_a_once_key_twice() -> None:
    many = eff("paid", p("invoice"), b("m"), over=(gen("m", make("list", money("1"), money("2"))),))
    z = paying(pay={"causes": many, "requires": ()})
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == ["PRS002"]


UNDO = {"undoes": eff("paid", p("invoice"), None), "causes": (), "requires": (), "sets": ()}


def test_undoing() -> None:
    z = paying(kept("paid", "I", money("5")), pay=UNDO)
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == ["PRS003"]
    both = {"undoes": eff("paid", p("invoice"), None, when=op("not", p("confirm"))), "requires": ()}
    z = paying(pay=both)
    undo = call("b", "pay_invoice", {**PAY, "confirm": False}, after=("a",))
    trace = run(z, graph(pay(), undo, done()), ok("a", DONE), ok("b", DONE))
    assert [(v.code, v.others) for v in trace.violations] == [("PRS004", ("a",))]


def test_undoing_an_effect_that_is_not_once() -> None:
    d = domain(
        [
            tool("on", "write", {"x": INT}, causes=eff("lit", p("x"))),
            tool("off", "write", {}, undoes=eff("lit", None)),
        ],
        [], [effect("lit", {"x": INT})],
    )  # fmt: skip
    h = graph(call("a", "on", {"x": 1}), call("b", "off", after=("a",)), done())
    assert codes(run(contract(d, scope=(within("effect", "lit", None),)), h, ok("a"), ok("b"))) == []
    z = contract(d, owes("o", goal("lit", 1)))
    assert codes(run(z, h, ok("a"), ok("b"))) == ["SCP001", "COV001"]


def test_changing_what_is_kept() -> None:
    z = paying(fact("status", "I", "open", kept=True))
    trace = run(z, graph(pay(), done()), ok("a", DONE))
    assert codes(trace) == ["PRS005"]
    assert (trace.violations[0].before, trace.violations[0].after) == ("open", "paid")


def test_what_is_in_doubt() -> None:
    same = {"invoice": "I", "amount": money("5"), "confirm": True}
    for amount in ("5", "6"):
        z = paying(doubt("paid", "I", money(amount)))
        assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == ["PRS006"]
    identical = doubt("paid", "I", money("5"), call=("pay_invoice", tuple(same.items())))
    assert codes(run(paying(identical), graph(pay(), done()), ok("a", DONE))) == ["PRS006"]
    z = paying(identical, pay={"idempotent": True})
    assert codes(run(z, graph(pay(), done()), ok("a", DONE))) == []
    other = call("a", "pay_invoice", {**PAY, "amount": money("6")})
    assert codes(run(z, graph(other, done()), ok("a", DONE))) == ["PRS006"]


def probing() -> Domain:
    d = billing()
    probe = tool(
        "probe", "read", {"invoice": Invoice, "amount": DECIMAL}, rec(paid=BOOL),
        witnesses=eff("paid", p("invoice"), p("amount"), when=result("paid")),
        refutes=eff("paid", p("invoice"), None, when=op("not", result("paid"))),
    )  # fmt: skip
    return domain([*d.tools.values(), probe], list(d.fluents.values()), list(d.effects.values()))


def test_a_doubt_is_settled_by_refuting_or_witnessing() -> None:
    z = contract(
        probing(), doubt("paid", "I", money("5")), owes("o", goal("paid", "I", None)),
        scope=(within("effect", "paid", None, None), within("fluent", "status", None)),
    )  # fmt: skip
    probe = call("q", "probe", {"invoice": "I", "amount": money("5")})
    h = graph(probe, call("a", "pay_invoice", PAY, when=op("not", out("q", "paid"))), done("o"))
    assert codes(run(z, h, ok("q", r(paid=False)), ok("a", DONE))) == []
    trace = run(z, h, ok("q", r(paid=True)))
    assert codes(trace) == [] and trace.ended and trace.outcomes["a"] == "skip"
    blind = graph(probe, call("a", "pay_invoice", PAY, after=("q",)), done())
    assert codes(run(z, blind, ok("q", r(paid=True)), ok("a", DONE))) == ["PRS002", "PRS006"]


def test_a_result_that_contradicts_refutations_is_illegal() -> None:
    z = contract(probing(), kept("paid", "I", money("5")))
    probe = call("q", "probe", {"invoice": "I", "amount": money("5")})
    assert not run(z, graph(probe), ok("q", r(paid=False))).legal
    again = graph(probe, call("t", "probe", {"invoice": "I", "amount": money("5")}, after=("q",)))
    trace = run(contract(probing()), again, ok("q", r(paid=False)), ok("t", r(paid=True)))
    assert not trace.legal and trace.problem == "t witnesses what was refuted"


def test_failures_that_may_have_caused_something() -> None:
    may = {"may_cause": eff("paid", p("invoice"), p("amount"))}
    retry = graph(pay(), pay("b", when=was("failed", "a")), done())
    assert codes(run(paying(pay=may), retry, fail("a"), ok("b", DONE))) == ["PRS006"]
    assert codes(run(paying(pay={**may, "idempotent": True}), retry, fail("a"), ok("b", DONE))) == []
    by_result = {"may_cause": eff("paid", p("invoice"), result("amount"))}
    assert codes(run(paying(pay=by_result), retry, fail("a"), ok("b", DONE))) == ["PRS006"]


# -- scope ------------------------------------------------------------------------------------------------------------


def test_effects_and_writes_outside_the_scope() -> None:
    z = contract(billing(), scope=(within("effect", "paid", "J", None),))
    trace = run(z, graph(pay(), done()), ok("a", DONE))
    assert [(v.code, v.failing) for v in trace.violations] == [
        ("SCP001", 'within paid("I", 5.0)'),
        ("SCP002", 'within status("I")'),
    ]


def test_a_tight_scope_is_the_obligations_own_instances() -> None:
    owed = owes("o", goal("paid", "I", x("a", DECIMAL)), exists=(("a", DECIMAL),), where=op("<", x("a"), 9))
    state = owes("s", eq(f("status", "I"), "paid"))
    h = graph(pay(), done())
    assert codes(run(contract(billing(), owed, state), h, ok("a", DONE))) == []
    assert codes(run(contract(billing(), owed), h, ok("a", DONE))) == ["SCP002"]
    big = graph(call("a", "pay_invoice", {**PAY, "amount": money("10")}), done())
    assert codes(run(contract(billing(), owed, state), big, ok("a", DONE))) == ["SCP001", "COV001"]


def test_licences_may_speak_of_receipts() -> None:
    scope = (
        within("effect", "sent", of("first", "file"), None),
        within("effect", "paid", "I", None),
        within("fluent", "status", None),
    )
    z = contract(billing(), owes("first", goal("paid", "I", None)), scope=scope)
    mail = call("m", "send_email", {"to": "x@y", "attachment": out("a", "file"), "body": ""})
    assert codes(run(z, graph(pay(), mail, done()), ok("a", DONE), ok("m", r(id="S")))) == []
    other = call("m", "send_email", {"to": "x@y", "attachment": "G", "body": ""}, after=("a",))
    assert codes(run(z, graph(pay(), other, done()), ok("a", DONE), ok("m", r(id="S")))) == ["SCP001"]


def test_an_undeclared_tool_needs_a_licence_by_name() -> None:
    d = domain([tool("push", "write", {}, undeclared=True)])
    h = graph(call("a", "push"), done())
    assert codes(run(contract(d), h, ok("a"))) == ["SCP003"]
    assert codes(run(contract(d, scope=(within("tool", "push"),)), h, ok("a"))) == []


def test_limits_hold_at_every_prefix() -> None:
    two = graph(pay(), call("b", "pay_invoice", {**PAY, "invoice": "J"}, after=("a",)), done())
    free = {"requires": ()}
    limit = count_limit("paid", 1, None, None)
    trace = run(paying(limit, pay=free), two, ok("a", DONE), ok("b", DONE))
    assert [(v.code, v.node, v.failing) for v in trace.violations] == [("SCP004", "b", "count of paid: 2 <= 1")]
    total = sum_limit("paid", money("9.99"), None, "v", amount=b("v"))
    assert codes(run(paying(total, pay=free), two, ok("a", DONE), ok("b", DONE))) == ["SCP004"]
    only = count_limit("paid", 1, n("i"), None)
    z = paying(only, known("i", Invoice, "J"), pay=free)
    assert codes(run(z, two, ok("a", DONE), ok("b", DONE))) == []


def test_limits_count_what_is_kept_and_what_is_in_doubt() -> None:
    limit = count_limit("paid", 1, None, None)
    h = graph(pay(), done())
    assert codes(run(paying(limit, kept("paid", "K", money("1"))), h, ok("a", DONE))) == ["SCP004"]
    assert codes(run(paying(limit, doubt("paid", "K", money("1"))), h, ok("a", DONE))) == ["SCP004"]
    z = contract(probing(), limit, doubt("paid", "K", money("1")),
                 scope=(within("effect", "paid", None, None), within("fluent", "status", None)))  # fmt: skip
    probe = call("q", "probe", {"invoice": "K", "amount": money("1")})
    after = graph(probe, call("a", "pay_invoice", PAY, after=("q",)), done())
    assert codes(run(z, after, ok("q", r(paid=False)), ok("a", DONE))) == []
