"""The judge of single runs and brute force agree: no run has a fault that the other does not know of."""

from __future__ import annotations

from random import Random
from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.model.graph import Call
from cfrc.model.judge import replay
from cfrc.model.scenario import Event, Scenario, Trace
from cfrc.model.types import RecordOf, Type
from cfrc.model.values import Value, record
from cfrc.testing.strategies import Case, cases
from tests.verify.brute import Report, TooLarge, decide
from tests.verify.brute.universe import Universe

TRIES = 8
Outcome = Literal["ok", "poll", "fail"]
OUTCOMES: tuple[Outcome, ...] = ("ok", "ok", "ok", "ok", "poll", "fail")


def draw_value(universe: Universe, t: Type, random: Random) -> Value:
    if isinstance(t, RecordOf):
        return record({n: draw_value(universe, f, random) for n, f in t.fields})
    return random.choice(universe.values(t))


def worlds(case: Case, universe: Universe, random: Random) -> dict[tuple[str, tuple[Value, ...]], Value]:
    """A random initial world that agrees with the facts of the contract."""
    found = {}
    for f in case.domain.fluents.values():
        arguments: list[tuple[Value, ...]] = [()]
        for _, t in f.params:
            arguments = [(*a, v) for a in arguments for v in universe.values(t)]
        for a in arguments:
            found[f.name, a] = draw_value(universe, f.type, random)
    for fact in case.contract.facts:
        found[fact.fluent, fact.args] = fact.value
    return found


def changes(
    case: Case, universe: Universe, random: Random
) -> tuple[tuple[str, tuple[Value, ...], Value], ...]:  # fmt: skip
    """A change of some volatile fluent, now and then; it may be illegal."""
    volatile = [f for f in case.domain.fluents.values() if f.volatile]
    if not volatile or random.random() < 0.7:
        return ()
    f = random.choice(volatile)
    args = tuple(random.choice(universe.values(t)) for _, t in f.params)
    return ((f.name, args, draw_value(universe, f.type, random)),)


def random_run(case: Case, random: Random) -> Trace:
    """Plays the proposal at random: each event is the first legal one of a few tries."""
    universe = Universe(case.contract, case.proposal)
    world = worlds(case, universe, random)
    events: tuple[Event, ...] = ()
    calls = [n for n in case.proposal.nodes if isinstance(n, Call) and n.tool in case.domain.tools]
    best = replay(case.contract, case.proposal, Scenario(world))
    for _ in range(3 * len(calls)):
        for _ in range(TRIES):
            call = random.choice(calls)
            outcome: Outcome = random.choice(OUTCOMES)
            result = draw_value(universe, case.domain.tools[call.tool].result, random) if outcome != "fail" else None
            event = Event(call.id, outcome, result, changes(case, universe, random))
            trace = replay(case.contract, case.proposal, Scenario(world, (*events, event)))
            if trace.legal:
                events, best = (*events, event), trace
                break
        else:
            break
    last = replay(case.contract, case.proposal, Scenario(world, events, changes(case, universe, random)))
    return last if last.legal else best


def kinds(trace: Trace) -> set[str]:
    """The kinds of the violations. Order between obligations is a matter of runs that end."""
    return {v.kind for v in trace.violations if trace.ended or v.code != "COV003"}


def judged(case: Case) -> Report | None:
    """What brute force says of a case that it can run."""
    try:
        report = decide(case.contract, case.proposal)
    except TooLarge:
        return None
    return report if report.exact else None


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(cases(most_calls=4), st.integers(0, 2**32))
def test_the_judge_finds_only_what_brute_force_finds(case: Case, seed: int) -> None:
    report = judged(case)
    random = Random(seed)
    for _ in range(5 if report is not None else 0):
        assert report is not None
        trace = random_run(case, random)
        if trace.legal:
            assert kinds(trace) <= report.kinds, (trace, sorted(report.findings))


@settings(max_examples=600, suppress_health_check=list(HealthCheck))
@given(cases())
def test_the_judge_confirms_what_brute_force_finds(case: Case) -> None:
    report = judged(case)
    for (kind, code), scenario in report.runs.items() if report is not None else ():
        trace = replay(case.contract, case.proposal, scenario)
        assert trace.legal, (code, trace.problem)
        assert kind in {v.kind for v in trace.violations}, (code, trace.violations)
        assert report is not None and kinds(trace) <= report.kinds
