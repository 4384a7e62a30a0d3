"""Violations at END: coverage, order, evidence; and interference between unordered calls."""

from __future__ import annotations

import pytest

from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.scenario import Trace
from cfrc.model.types import BOOL, INT, Id
from tests.model.build import (
    call,
    codes,
    contract,
    domain,
    done,
    eff,
    effect,
    eq,
    f,
    fact,
    fail,
    fluent,
    goal,
    graph,
    kept,
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
    result,
    run,
    tool,
    was,
    within,
    x,
    yield_,
)  # fmt: skip

User, Ref = Id("User"), Id("Ref")


def town() -> Domain:
    """Tools with one effect each, a switch, a counter and a read that witnesses."""
    return domain(
        [
            tool("tell", "write", {"u": User}, rec(ref=Ref), causes=eff("told", p("u"))),
            tool("pay", "write", {"u": User}, rec(ref=Ref), causes=eff("paid", p("u"))),
            tool("confirm", "read", {"ref": Ref}, BOOL, witnesses=eff("confirmed", p("ref"), when=result())),
            tool("retract", "write", {"u": User}, BOOL, undoes=eff("told", p("u"))),
            tool("switch", "write", {"to": BOOL}, BOOL, sets=put("on", p("to"))),
            tool("need", "write", {}, BOOL, requires=f("on")),
            tool("add", "write", {"n": INT}, BOOL, sets=put("sum", op("+", f("sum"), p("n")))),
            tool("look", "read", {}, rec(sum=INT), observes=put("sum", result("sum"))),
            tool("both", "write", {"u": User}, BOOL, causes=(eff("told", p("u")), eff("paid", p("u")))),
            tool("opaque", "write", {}, BOOL, undeclared=True),
            tool("idle", "read", {}, BOOL),
        ],
        [fluent("on", {}, BOOL), fluent("sum", {}, INT), fluent("flag", {"u": User}, BOOL)],
        [effect("told", {"u": User}), effect("paid", {"u": User}, once=True), effect("confirmed", {"ref": Ref})],
    )


EVERYTHING = (
    within("effect", "told", None), within("effect", "paid"), within("fluent", "on"), within("fluent", "sum"),
    within("tool", "opaque"),
)  # fmt: skip
ONE = goal("told", x("v", User))
SOMEONE = (("v", User),)


def z(*parts: object, **options: object) -> Contract:
    return contract(town(), *parts, **{"scope": EVERYTHING, **options})  # type: ignore[arg-type]


def tell(node: str, user: str, **more: object) -> object:
    return call(node, "tell", {"u": user}, **more)


T = r(ref="R")


def told(owed: Contract, *users: str, claims: tuple[str, ...] = ()) -> Trace:
    """Tells the users one after the other, then is done."""
    nodes = [tell(f"t{i}", u, after=(f"t{i - 1}",) if i else ()) for i, u in enumerate(users)]
    return run(owed, graph(*nodes, done(*claims)), *(ok(f"t{i}", r(ref=f"R{i}")) for i in range(len(users))))


# -- coverage ---------------------------------------------------------------------------------------------------------


def test_an_obligation_without_a_receipt() -> None:
    trace = told(z(owes("o", goal("told", "a"))), "b")
    assert [(v.code, v.node, v.obligation, v.failing) for v in trace.violations] == [
        ("COV001", "done", "o", 'told("a")')
    ]
    assert codes(told(z(owes("o", goal("told", "a"))), "b", "a")) == []


def test_kept_and_undone_identities_are_no_evidence() -> None:
    owed = owes("o", goal("told", "a"))
    assert codes(told(z(owed, kept("told", "a")), "a")) == ["PRS001", "COV001"]
    undone = graph(tell("t", "a"), call("r", "retract", {"u": "a"}, after=("t",)), done())
    assert codes(run(z(owed), undone, ok("t", T), ok("r"))) == ["COV001"]


def test_existential_obligations_take_different_identities_unless_shared() -> None:
    one, two = owes("o", ONE, exists=SOMEONE), owes("p", ONE, exists=SOMEONE)
    assert codes(told(z(one, two), "a")) == ["COV001"]
    assert codes(told(z(one, two), "a", "a")) == ["COV001"]
    assert codes(told(z(one, two), "a", "b")) == []
    assert codes(told(z(one, owes("p", ONE, exists=SOMEONE, shared=True)), "a")) == []
    assert codes(told(z(one, owes("p", goal("told", "a"))), "a")) == []


def test_matching_finds_the_only_assignment() -> None:
    narrow = owes("n", ONE, exists=SOMEONE, where=eq(x("v"), "a"))
    wide = [owes(f"w{i}", ONE, exists=SOMEONE) for i in range(30)]
    users = ["a", *(f"u{i}" for i in range(30))]
    assert codes(told(z(*wide, narrow), *users)) == []
    assert codes(told(z(*wide, narrow), *users[:-1])) == ["COV001"]


def test_counts_ask_for_occurrences_or_for_identities() -> None:
    twice = owes("o", goal("told", "a"), count=2)
    assert codes(told(z(twice), "a")) == ["COV001"]
    assert codes(told(z(twice), "a", "a")) == []
    someone = owes("o", ONE, exists=SOMEONE, count=2)
    assert codes(told(z(someone), "a", "a")) == ["COV001"]
    assert codes(told(z(someone), "a", "b")) == []
    assert codes(told(z(someone, owes("p", ONE, exists=SOMEONE)), "a", "b")) == ["COV001"]
    assert codes(told(z(someone, owes("p", ONE, exists=SOMEONE)), "a", "b", "c")) == []


def test_a_witness_of_what_was_caused_is_no_second_occurrence() -> None:
    d = town()
    see = tool("see", "read", {"u": User}, BOOL, witnesses=eff("told", p("u")))
    d = domain([*d.tools.values(), see], list(d.fluents.values()), list(d.effects.values()))
    owed = contract(d, owes("o", goal("told", "a"), count=2), scope=EVERYTHING)
    h = graph(tell("t", "a"), call("s", "see", {"u": "a"}, after=("t",)), done())
    assert codes(run(owed, h, ok("t", T), ok("s"))) == ["COV001"]


def test_searches_stay_within_their_budget() -> None:
    many = [f"u{i}" for i in range(40)]
    assert codes(told(z(owes("o", ONE, exists=SOMEONE, count=41)), *many)) == ["COV001"]
    assert codes(told(z(owes("o", goal("told", None), count=20)), *many)) == []
    linked = [owes(f"o{i}", ONE, exists=SOMEONE, before=("last",)) for i in range(12)]
    assert codes(told(z(*linked, owes("last", goal("told", "u11"))), *many[:12])) == []
    short = told(z(*linked, owes("last", goal("told", "u10"))), *many[:11])
    assert codes(short) == ["COV001"]


def test_conditions_are_judged_in_the_freeze_state() -> None:
    owed = owes("o", goal("told", "a"), condition=f("flag", "a"))
    world = {("flag", ("a",)): True}
    nothing = graph(call("i", "idle"), done("o"))
    assert codes(run(z(owed), nothing, ok("i"))) == ["EVD004"]
    assert codes(run(z(owed), graph(call("i", "idle"), done()), ok("i"))) == []
    assert codes(run(z(owed), nothing, ok("i"), world=world)) == ["COV001", "EVD004"]
    assert codes(run(z(owed, fact("flag", "a", True)), nothing, ok("i"))) == ["COV001", "EVD004"]


def test_discharging_receipts_may_be_referred_to() -> None:
    owed = (owes("first", goal("told", "a")), owes("second", goal("confirmed", of("first", "ref"))))
    confirm = call("c", "confirm", {"ref": out("t", "ref")})
    h = graph(tell("t", "a"), confirm, done("first", "second"))
    assert codes(run(z(*owed), h, ok("t", T), ok("c"))) == []
    assert codes(run(z(*owed), h, ok("t", T), ok("c", False))) == ["COV001", "EVD004"]
    other = graph(tell("t", "a"), call("c", "confirm", {"ref": "X"}, after=("t",)), done("second"))
    trace = run(z(*owed), other, ok("t", T), ok("c"))
    assert [(v.code, v.obligation) for v in trace.violations] == [("COV001", "second"), ("EVD004", "second")]


def test_a_reference_tries_every_receipt() -> None:
    owed = (owes("second", goal("confirmed", of("first", "ref"))), owes("first", goal("told", "a")))
    nodes = graph(tell("t", "a"), tell("u", "a", after=("t",)), call("c", "confirm", {"ref": out("u", "ref")}), done())
    assert codes(run(z(*owed), nodes, ok("t", r(ref="R1")), ok("u", r(ref="R2")), ok("c"))) == []


def test_alternatives() -> None:
    one = owes("o", goal("told", "a"), goal("paid", "a"), choice="one")
    several = owes("o", goal("told", "a"), goal("paid", "a"), choice="any")
    both = graph(call("b", "both", {"u": "a"}), done("o"))
    assert codes(run(z(one), both, ok("b"))) == ["COV005", "EVD004"]
    assert codes(run(z(several), both, ok("b"))) == []
    assert codes(told(z(one), "a")) == codes(told(z(several), "a")) == []
    assert codes(told(z(one), "b")) == codes(told(z(several), "b")) == ["COV001"]


def test_state_obligations_hold_at_the_end() -> None:
    owed = owes("s", op("and", f("on"), eq(f("sum"), 0)))
    h = graph(call("a", "switch", {"to": True}), done("s"))
    assert codes(run(z(owed), h, ok("a"))) == []
    trace = run(z(owed), h, ok("a"), world={("sum", ()): 3})
    assert [(v.code, v.failing) for v in trace.violations] == [("COV004", "sum == 0"), ("EVD004", "claims s")]
    some = owes("s", f("flag", x("v", User)), exists=SOMEONE)
    nothing = graph(call("i", "idle"), done())
    assert codes(run(z(some), nothing, ok("i"), world={("flag", ("b",)): True})) == []
    assert codes(run(z(some), nothing, ok("i"), world={("flag", ("b",)): False})) == ["COV004"]


def test_volatile_state_may_change_before_the_end() -> None:
    d = domain([tool("see", "read", {}, rec(v=INT), observes=put("level", result("v"))), tool("idle", "read", {})],
               [fluent("level", {}, INT, volatile=True)])  # fmt: skip
    owed = contract(d, owes("s", eq(f("level"), 1)), fact("level", 1))
    assert codes(run(owed, graph(call("i", "idle"), done()), ok("i"), changes=[("level", (), 2)])) == ["COV004"]
    seen = graph(call("i", "see", expect=eq(out("i", "v"), 1)), done())
    assert codes(run(owed, seen, ok("i", r(v=1)))) == []
    assert not run(owed, seen, ok("i", r(v=1)), changes=[("level", (), 2)]).legal


def test_before() -> None:
    a, later = owes("a", goal("told", "a"), before=("b",)), owes("b", goal("told", "b"))
    assert codes(told(z(a, later), "a", "b")) == []
    trace = told(z(a, later), "b", "a")
    assert [(v.code, v.obligation, v.node, v.index) for v in trace.violations] == [("COV003", "a", "t0", 0)]
    halted = graph(tell("t", "b"), tell("u", "a", after=("t",)), done())
    assert codes(run(z(a, later), halted, ok("t", T), fail("u"))) == []
    assert codes(run(z(owes("a", goal("told", "a"), before=("b",)), owes("b", goal("paid", "a"))),
                     graph(call("x", "both", {"u": "a"}), done()), ok("x"))) == []  # fmt: skip


def test_before_between_a_state_and_an_effect() -> None:
    on, say = owes("on", f("on"), before=("say",)), owes("say", goal("told", "a"))
    switch = call("s", "switch", {"to": True})
    good = graph(switch, tell("t", "a", after=("s",)), done())
    bad = graph(tell("t", "a"), call("s", "switch", {"to": True}, after=("t",)), done())
    assert codes(run(z(on, say), good, ok("s"), ok("t", T))) == []
    assert codes(run(z(on, say), bad, ok("t", T), ok("s"))) == ["COV003"]
    reverse = (owes("on", f("on")), owes("say", goal("told", "a"), before=("on",)))
    assert codes(run(z(*reverse), good, ok("s"), ok("t", T))) == ["COV003"]
    assert codes(run(z(*reverse), bad, ok("t", T), ok("s"))) == []


# -- evidence ---------------------------------------------------------------------------------------------------------


def test_at_most_one_terminal_fires() -> None:
    trace = run(z(), graph(call("i", "idle"), done(), yield_()), ok("i"))
    assert [(v.code, v.node, v.others) for v in trace.violations] == [("EVD001", "done", ("yield",))]
    exclusive = graph(call("i", "idle"), done(when=out("i")), yield_(when=op("not", out("i"))))
    assert codes(run(z(), exclusive, ok("i", True))) == [] == codes(run(z(), exclusive, ok("i", False)))


def test_a_terminal_waits_for_the_calls_of_its_branch() -> None:
    h = graph(call("i", "idle"), call("j", "idle"), done(after=("i",)))
    trace = run(z(), h, ok("i"), ok("j"))
    assert [(v.code, v.others) for v in trace.violations] == [("EVD003", ("j",))]
    assert (
        codes(run(z(), graph(call("i", "idle"), call("j", "idle", after=("i",)), done(after=("j",))), ok("i"), ok("j")))
        == []
    )
    assert codes(run(z(), graph(call("i", "idle"), call("j", "idle"), done()), ok("i"), ok("j"))) == []


# -- interference -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "world", "expected"),
    [
        (("tell", {"u": "a"}), ("tell", {"u": "a"}), {}, []),
        (("pay", {"u": "a"}), ("pay", {"u": "b"}), {}, []),
        (("tell", {"u": "a"}), ("retract", {"u": "a"}), {}, ["PRS007"]),
        (("tell", {"u": "a"}), ("retract", {"u": "b"}), {}, []),
        (("add", {"n": 1}), ("add", {"n": 2}), {}, []),
        (("add", {"n": 1}), ("look", {}), {}, ["PRS007"]),
        (("switch", {"to": True}), ("switch", {"to": True}), {}, []),
        (("switch", {"to": True}), ("switch", {"to": False}), {}, ["PRS007"]),
        (("switch", {"to": True}), ("need", {}), {("on", ()): True}, []),
        (("switch", {"to": True}), ("need", {}), {}, ["PRS007"]),
        (("opaque", {}), ("idle", {}), {}, ["PRS007"]),
        (("idle", {}), ("look", {}), {("sum", ()): 1}, []),
    ],
)
def test_unordered_calls(first: object, second: object, world: object, expected: list[str]) -> None:
    values = {"tell": T, "pay": T, "look": r(sum=1)}
    (ta, aa), (tb, ab) = first, second  # type: ignore[misc]
    owed = z(scope=(*EVERYTHING, within("effect", "confirmed", None)))
    events = (ok("a", values.get(ta, True)), ok("b", values.get(tb, True)))
    assert codes(run(owed, graph(call("a", ta, aa), call("b", tb, ab)), *events, world=world)) == expected
    assert codes(run(owed, graph(call("a", ta, aa), call("b", tb, ab, after=("a",))), *events, world=world)) == []


def test_an_order_that_only_the_contract_asks_for_must_be_in_the_graph() -> None:
    owed = z(owes("a", goal("told", "a"), before=("b",)), owes("b", goal("told", "b")))
    h = graph(tell("t", "a"), tell("u", "b"), done())
    assert codes(run(owed, h, ok("t", T), ok("u", T))) == ["PRS007"]
    assert codes(run(owed, h, ok("u", T), ok("t", T))) == ["PRS007", "COV003"]


def test_exclusive_calls_do_not_interfere() -> None:
    h = graph(call("i", "idle"), call("a", "switch", {"to": True}, when=out("i")),
              call("b", "switch", {"to": False}, when=op("not", out("i"))), done())  # fmt: skip
    assert codes(run(z(), h, ok("i", True), ok("a"))) == [] == codes(run(z(), h, ok("i", False), ok("b")))


def test_polls_do_not_interfere_with_themselves() -> None:
    h = graph(call("c", "confirm", {"ref": "R"}, until=out("c"), polls=3), done())
    assert codes(run(z(), h, poll("c", False), poll("c", False), ok("c", True))) == []


def test_after_an_unhandled_failure_nothing_is_judged_at_the_end() -> None:
    trace = run(z(owes("o", goal("told", "a"))), graph(tell("t", "a"), done("o")), fail("t"))
    assert codes(trace) == [] and not trace.ended and trace.outcomes == {"t": "fail"}
    handled = graph(tell("t", "a"), done("o", after=("t",)), yield_(when=was("failed", "t")))
    trace = run(z(owes("o", goal("told", "a"))), handled, fail("t"))
    assert codes(trace) == [] and trace.terminals == ("yield",) and trace.outcomes["done"] == "dead"
