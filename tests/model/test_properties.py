"""Properties: independent calls commute; replay is deterministic; simulated runs are legal; matching is sound."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cfrc.model.evaluate import Env
from cfrc.model.footprint import conflict, independent
from cfrc.model.judge import Replayer, replay
from cfrc.model.machine import Machine, Step
from cfrc.model.matching import Quantified, solutions
from cfrc.model.plan import prepare
from cfrc.model.scenario import Event, Scenario
from cfrc.model.simulate import simulations
from cfrc.model.state import Illegal
from cfrc.model.types import INT
from cfrc.model.values import Value, bag
from tests.model.build import (
    GOOD,
    billing,
    call,
    contract,
    done,
    goal,
    graph,
    make,
    money,
    n,
    of,
    ok,
    out,
    owes,
    r,
    receipt_contract,
    within,
    x,
)  # fmt: skip
from tests.model.test_judge_end import EVERYTHING, town

USERS = st.sampled_from(["a", "b"])
CALLS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "tell": st.fixed_dictionaries({"u": USERS}),
    "pay": st.fixed_dictionaries({"u": USERS}),
    "confirm": st.fixed_dictionaries({"ref": st.sampled_from(["R1", "R2"])}),
    "retract": st.fixed_dictionaries({"u": USERS}),
    "switch": st.fixed_dictionaries({"to": st.booleans()}),
    "need": st.just({}),
    "add": st.fixed_dictionaries({"n": st.integers(0, 2)}),
    "look": st.just({}),
    "both": st.fixed_dictionaries({"u": USERS}),
    "idle": st.just({}),
}
RESULTS: dict[str, st.SearchStrategy[Value]] = {
    "tell": st.just(r(ref="R1")),
    "pay": st.just(r(ref="R2")),
    "look": st.builds(lambda s: r(sum=s), st.integers(0, 4)),
    "confirm": st.booleans(),
}


@st.composite
def made(draw: st.DrawFn) -> tuple[str, dict[str, Any], Value]:
    name = draw(st.sampled_from(sorted(CALLS)))
    return name, draw(CALLS[name]), draw(RESULTS.get(name, st.just(True)))


def advance(machine: Machine, event: Event) -> Step:
    step = machine.begin(event)
    if step.false is not None:
        raise Illegal("requires")
    machine.result(step, event)
    machine.commit(step, event)
    return step


def final(machine: Machine) -> object:
    state = machine.state
    alive = {i for i, a in state.alive.items() if a}
    return {k: v for k, v in state.world.items() if v}, alive, state.count, state.status, state.results


@settings(max_examples=400)
@given(st.lists(made(), max_size=2), made(), made(), st.integers(0, 2), st.booleans())
def test_independent_calls_commute(before: list[Any], a: Any, c: Any, total: int, on: bool) -> None:
    nodes = [call(f"p{i}", t, args, after=(f"p{i - 1}",) if i else ()) for i, (t, args, _) in enumerate(before)]
    start = (f"p{len(before) - 1}",) if before else ()
    h = graph(*nodes, call("a", a[0], a[1], after=start), call("c", c[0], c[1], after=start))
    plan = prepare(contract(town(), scope=EVERYTHING), h)
    ends, steps = [], []
    events = [ok(f"p{i}", v) for i, (_, _, v) in enumerate(before)]
    for order in ((ok("a", a[2]), ok("c", c[2])), (ok("c", c[2]), ok("a", a[2]))):
        machine = Machine(plan, {("sum", ()): total, ("on", ()): on})
        try:
            steps = [advance(machine, e) for e in (*events, *order)][-2:]
            ends.append(final(machine))
        except Illegal:
            ends.append(None)
        if ends[0] is None:
            break
        if len(ends) == 1:
            first = conflict(*(s.footprint for s in steps))  # type: ignore[arg-type]
    assume(ends[0] is not None)
    if first is None:
        assert ends[0] == ends[1]


@given(made(), made())
def test_independence_is_symmetric(a: Any, c: Any) -> None:
    plan = prepare(contract(town(), scope=EVERYTHING), graph(call("a", a[0], a[1]), call("c", c[0], c[1])))
    machine = Machine(plan, {("on", ()): True})
    try:
        one, two = (advance(machine, ok(i, v[2])) for i, v in (("a", a), ("c", c)))
    except Illegal:
        return
    assert independent(one.footprint, two.footprint) == independent(two.footprint, one.footprint)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_simulated_runs_are_legal_and_the_good_proposal_never_fails(seed: int) -> None:
    z = receipt_contract()
    for scenario in islice(simulations(z, GOOD, Random(seed)), 10):
        trace = replay(z, GOOD, scenario)
        assert trace.legal, trace.problem
        assert trace.violations == ()


def test_simulation_reaches_every_end() -> None:
    z = receipt_contract()
    runs = [replay(z, GOOD, s) for s in islice(simulations(z, GOOD, Random(1)), 200)]
    assert any(t.terminals == ("done",) for t in runs) and any(not t.ended for t in runs)
    assert any(t.outcomes.get("d") == "fail" for t in runs)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_replay_is_deterministic_and_prefixes_only_lose_what_came_later(seed: int) -> None:
    two = (call("a", "pay", {"u": "a"}), call("b", "pay", {"u": "a"}), call("c", "tell", {"u": "b"}, after=("a",)))
    h = graph(*two, done())
    z = contract(town(), owes("o", goal("told", "b")))
    scenario = next(simulations(z, h, Random(seed), failures=0))
    full = replay(z, h, scenario)
    assert full == replay(z, h, scenario) and full.legal
    for k in range(len(scenario.events)):
        part = replay(z, h, Scenario(scenario.world, scenario.events[:k]))
        assert part.legal
        assert [v for v in part.violations if v.index < k] == [v for v in full.violations if v.index < k]


def test_patterns_bind_existentials_inside_what_they_build() -> None:
    pattern = make("bag", make("record", old="o", new=x("n", INT)), make("record", old=x("m"), new=2))
    value = bag([r(old="o", new=1), r(old="p", new=2)])
    found = list(solutions((pattern,), (value,), Quantified((("n", INT), ("m", INT))), Env()))
    assert found == [{"n": 1, "m": "p"}]
    assert list(solutions((pattern,), (bag([r(old="o", new=1)]),), Quantified(()), Env())) == []


def chain(size: int, ordered: bool) -> tuple[Replayer, Scenario]:
    z = contract(
        billing(), *[owes(f"o{i}", goal("paid", f"I{i}", money("5"))) for i in range(size)],
        scope=(within("effect", "paid", None, None), within("fluent", "status", None)),
    )  # fmt: skip
    nodes = [
        call(f"n{i}", "pay_invoice", {"invoice": f"I{i}", "amount": money("5"), "confirm": True},
             after=(f"n{i - 1}",) if i and ordered else ())
        for i in range(size)
    ]  # fmt: skip
    events = tuple(ok(f"n{i}", r(txn=f"T{i}", file=f"F{i}")) for i in range(size))
    return Replayer(z, graph(*nodes, done())), Scenario({}, events)


def calls_made(work: Callable[[], object]) -> int:
    """How many Python functions run: a measure of work that no busy machine disturbs."""
    made = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal made
        made += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


def test_replay_grows_linearly() -> None:
    for ordered in (True, False):
        small, large = chain(100, ordered), chain(800, ordered)
        for replayer, scenario in (small, large):
            trace = replayer.replay(scenario)
            assert trace.ended and trace.violations == ()
        a, b = (calls_made(lambda c=c: c[0].replay(c[1])) for c in (small, large))  # type: ignore[misc]
        assert b < 9 * a


def test_long_references_need_no_deep_recursion() -> None:
    size = 400
    owed = [owes("o0", goal("told", "a"))]
    owed += [owes(f"o{i}", goal("confirmed", of(f"o{i - 1}", "ref") if i == 1 else n("r"))) for i in range(1, size)]
    z = contract(town(), *owed[:2], scope=EVERYTHING)
    nodes = [call("t", "tell", {"u": "a"}), call("c", "confirm", {"ref": out("t", "ref")}), done()]
    assert replay(z, graph(*nodes), Scenario({}, (ok("t", r(ref="R")), ok("c")))).violations == ()
    before = [owes(f"o{i}", goal("told", f"u{i}"), before=(f"o{i + 1}",)) for i in range(size - 1)]
    z = contract(town(), *before, owes(f"o{size - 1}", goal("told", f"u{size - 1}")), scope=EVERYTHING)
    calls = [call(f"t{i}", "tell", {"u": f"u{i}"}, after=(f"t{i - 1}",) if i else ()) for i in range(size)]
    events = tuple(ok(f"t{i}", r(ref="R")) for i in range(size))
    assert replay(z, graph(*calls, done()), Scenario({}, events)).violations == ()
