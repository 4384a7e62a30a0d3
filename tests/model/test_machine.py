"""The step machine: what is a step, what settles, what stops a run."""

from __future__ import annotations

import pytest

from cfrc.model.scenario import Event, Trace
from cfrc.model.types import BOOL, INT, Id, ListOf, Optional
from tests.model.build import (
    at,
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
    gen,
    goal,
    graph,
    make,
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
    yield_,
)  # fmt: skip

Item = Id("Item", ("trim", "lower"))
D = domain(
    [
        tool("list", "read", {}, rec(items=ListOf(Item), best=Optional(Item))),
        tool("get", "read", {"i": Item}, rec(i=Item, n=INT), ensures=eq(result("i"), p("i")),
             observes=put("stock", p("i"), result("n"))),
        tool("take", "write", {"i": Item}, BOOL, requires=op(">", f("stock", p("i")), 0),
             sets=put("stock", p("i"), op("-", f("stock", p("i")), 1)), causes=eff("taken", p("i"))),
        tool("wait", "read", {}, rec(s=INT)),
        tool("state", "read", {}, rec(s=INT), observes=put("phase", result("s"))),
        tool("flip", "write", {}, rec(a=BOOL), sets=(put("x", f("y")), put("y", f("x"))),
             observes=put("x", result("a"))),
    ],
    [
        fluent("stock", {"i": Item}, INT), fluent("phase", {}, INT, volatile=True),
        fluent("x", {}, BOOL), fluent("y", {}, BOOL),
    ],
    [effect("taken", {"i": Item})],
)  # fmt: skip
SCOPE = (within("effect", "taken", None), within("fluent", "stock", None), within("fluent", "x"), within("fluent", "y"))
Z = contract(D, scope=SCOPE)


def problem(trace: Trace) -> str:
    assert not trace.legal and trace.problem is not None
    return trace.problem


def test_only_enabled_calls_return() -> None:
    h = graph(call("a", "list"), call("b", "list", after=("a",)))
    assert problem(run(Z, h, ok("b", r(items=(), best=None)))) == "b is not enabled"
    assert problem(run(Z, h, ok("nobody"))) == "nobody is not enabled"
    none = r(items=(), best=None)
    assert problem(run(Z, h, ok("a", none), ok("a", none))) == "a is not enabled"


def test_results_have_the_declared_type_and_satisfy_ensures() -> None:
    h = graph(call("a", "get", {"i": "x"}))
    assert "is not a" in problem(run(Z, h, ok("a", r(i="x", n="many"))))
    assert "ensures" in problem(run(Z, h, ok("a", r(i="y", n=0))))
    assert run(Z, h, ok("a", r(i=" X ", n=0))).legal


def test_observations_agree_with_what_does_not_change() -> None:
    h = graph(call("a", "get", {"i": "x"}))
    assert "contradicts" in problem(run(Z, h, ok("a", r(i="x", n=1))))
    assert run(Z, h, ok("a", r(i="x", n=1)), world={("stock", ("x",)): 1}).legal
    known = contract(D, fact("stock", "x", 1))
    assert run(known, h, ok("a", r(i="x", n=1))).legal
    assert "contradicts a fact" in problem(run(known, h, world={("stock", ("x",)): 2}))
    assert "initial world" in problem(run(Z, h, world={("stock", ("x",)): "many"}))


def test_the_environment_changes_volatile_fluents_only() -> None:
    h = graph(call("a", "state"), call("b", "state", after=("a",)))
    assert "does not change" in problem(run(Z, h, ok("a", r(s=1), ("stock", ("x",), 1))))
    assert "is not a" in problem(run(Z, h, ok("a", r(s=1), ("phase", (), "late"))))
    assert run(Z, h, ok("a", r(s=1), ("phase", (), 5)), ok("b", r(s=1))).legal
    # Res binds a receipt to known non-volatile observations only: a later one may say otherwise
    assert run(Z, h, ok("a", r(s=1)), ok("b", r(s=2))).legal
    assert "pinned" in problem(run(Z, h, ok("a", r(s=1)), ok("b", r(s=1), ("phase", (), 5))))


def test_writes_read_the_state_before_and_observations_the_state_after() -> None:
    h = graph(call("a", "flip"))
    world = {("x", ()): True, ("y", ()): False}
    assert run(Z, h, ok("a", r(a=False)), world=world).legal
    assert not run(Z, h, ok("a", r(a=True)), world=world).legal


def test_guards_skip_and_failures_kill() -> None:
    h = graph(
        call("a", "list"), call("b", "list", after=("a",)), call("c", "list", after=("b",)),
        call("d", "list", when=was("failed", "a")), call("e", "list", when=was("skipped", "d")), yield_(),
    )  # fmt: skip
    none = r(items=(), best=None)
    trace = run(Z, h, fail("a"), ok("d", none))
    assert codes(trace) == [] and trace.ended
    assert trace.outcomes == {"a": "fail", "b": "dead", "c": "dead", "d": "ok", "e": "skip"}
    trace = run(Z, h, ok("a", none), ok("b", none), ok("e", none), ok("c", none))
    assert trace.outcomes == {"a": "ok", "b": "ok", "c": "ok", "d": "skip", "e": "ok"}


def test_an_unhandled_failure_ends_the_run() -> None:
    h = graph(call("a", "list"), call("b", "list"))
    assert problem(run(Z, h, fail("a"), ok("b", r(items=(), best=None)))) == "the run is over"


def test_an_undefined_projection_hands_back() -> None:
    first = at(out("a", "items"), 0)
    h = graph(call("a", "list"), call("b", "get", {"i": first}), call("c", "list"), done())
    trace = run(Z, h, ok("a", r(items=(), best=None)))
    assert codes(trace) == [] and not trace.ended
    assert problem(run(Z, h, ok("a", r(items=(), best=None)), ok("c", r(items=(), best=None)))) == "the run is over"
    assert run(Z, h, ok("a", r(items=("x",), best=None)), ok("b", r(i="x", n=0))).legal


def test_an_absent_value_where_one_is_needed_is_undefined_too() -> None:
    h = graph(call("a", "list"), call("b", "get", {"i": out("a", "best")}), done())
    trace = run(Z, h, ok("a", r(items=(), best=None)))
    assert codes(trace) == [] and not trace.ended


def test_a_guard_protects_a_projection() -> None:
    some = op(">", op("count", out("a", "items")), 0)
    h = graph(call("a", "list"), call("b", "get", {"i": at(out("a", "items"), 0)}, when=some), done())
    trace = run(Z, h, ok("a", r(items=(), best=None)))
    assert codes(trace) == [] and trace.ended and trace.outcomes["b"] == "skip"


def test_expect_fails_after_the_effects() -> None:
    owed = contract(D, owes("o", goal("taken", "x")), scope=SCOPE)
    world = {("stock", ("x",)): 3}
    h = graph(
        call("a", "take", {"i": "x"}, expect=out("a")), call("b", "get", {"i": "x"}, when=was("failed", "a")), done()
    )
    assert codes(run(owed, h, ok("a", False), ok("b", r(i="x", n=2)), world=world)) == []
    assert problem(run(owed, h, ok("a", False), ok("b", r(i="x", n=3)), world=world)).endswith(
        "contradicts the state of stock"
    )
    undefined = graph(call("a", "list", expect=eq(at(out("a", "items"), 0), "x")), done())
    trace = run(Z, undefined, ok("a", r(items=(), best=None)))
    assert trace.outcomes == {"a": "fail"} and not trace.ended


def test_polls() -> None:
    h = graph(
        call("a", "wait", until=eq(out("a", "s"), 2), polls=2), call("b", "list", when=was("failed", "a")), done()
    )
    assert problem(run(Z, h, ok("a", r(s=1)))) == "`until` of a is false"
    assert problem(run(Z, h, poll("a", r(s=2)))) == "`until` of a is true"
    assert problem(run(Z, graph(call("a", "list")), poll("a", r(items=(), best=None)))) == "a does not poll"
    assert run(Z, h, poll("a", r(s=1))).outcomes == {"a": "poll"}
    trace = run(Z, h, poll("a", r(s=1)), poll("a", r(s=1)))
    assert trace.legal and trace.outcomes["a"] == "fail" and "b" not in trace.outcomes
    assert run(Z, h, poll("a", r(s=1)), ok("a", r(s=2))).ended


def test_a_doubtful_outcome_ends_the_run() -> None:
    h = graph(call("a", "list"), call("b", "list"))
    trace = run(Z, h, Event("a", "doubt"))
    assert trace.legal and not trace.ended and trace.outcomes == {"a": "doubt"}


def test_malformed_calls_and_cycles_never_run() -> None:
    for bad in (call("a", "nothing"), call("a", "get"), call("a", "list", {"z": 1})):
        assert "not a well-formed call" in problem(run(Z, graph(bad), ok("a")))
        assert run(Z, graph(bad)).legal
    loop = graph(call("a", "list", after=("b",)), call("b", "list", after=("a",)))
    assert problem(run(Z, loop, ok("a"))) == "a is not enabled"
    dangling = graph(call("a", "get", {"i": out("zz", "i")}))
    assert problem(run(Z, dangling, ok("a"))) == "a is not enabled"


def test_generators_expand_and_identities_are_canonical() -> None:
    d = domain(
        [tool("mark", "write", {"xs": ListOf(Item)}, BOOL, causes=eff("taken", at(p("xs"), 0), over=(gen("i", p("xs")),)))],
        [], [effect("taken", {"i": Item})],
    )  # fmt: skip
    owed = contract(d, owes("o", goal("taken", " A"), count=2))
    assert codes(run(owed, graph(call("m", "mark", {"xs": make("list", "A ", "b")}), done()), ok("m"))) == []


@pytest.mark.parametrize("order", [("a", "b", "c"), ("a", "c", "b")])
def test_any_linear_extension_is_a_run(order: tuple[str, ...]) -> None:
    h = graph(
        call("c", "list", after=("a",)), call("b", "list", after=("a",)), call("a", "list"), done(after=("b", "c"))
    )
    trace = run(Z, h, *(ok(n, r(items=(), best=None)) for n in order))
    assert codes(trace) == [] and trace.ended
