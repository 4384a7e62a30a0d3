"""Random admitted plans on random worlds: a run sees receipts only, and ends as the whole truth says it must.

``done`` only where the concrete judge, who knows the hidden world, sees every obligation discharged and nothing wrong;
and where the judge sees that, a run that can tell it by its receipts says ``done`` too.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.handoff.running.session import Session
from cfrc.handoff.running.wishes import Wish
from cfrc.handoff.tools import Answer
from cfrc.lang.jsonvalues import Mismatch, to_json
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.judge import Replayer
from cfrc.model.scenario import Event, Scenario
from cfrc.model.simulate import simulate
from cfrc.model.verdict import Status
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def drive(contract: Contract, proposal: Proposal, scenario: Scenario, random: Random) -> Session:
    """A session on tools that answer as the scenario says, in an order of its own."""
    session = Session(contract, proposal, NOW, "run")
    script: dict[str, list[Event]] = {}
    for event in scenario.events:
        script.setdefault(event.node, []).append(event)
    while session.ending is None:
        wishes = session.wishes()
        begun = (
            [w for w in random.sample(wishes, random.randint(1, len(wishes))) if _begin(session, w)] if wishes else []
        )
        if not begun and not session.flights:
            assert session.ending is not None, "nothing can be called, and the run has not ended"
        if session.flights:
            key = random.choice(sorted(session.flights))
            session.answer(*key, _answer(session.flights[key].wish, script), NOW)
    return session


def _begin(session: Session, wish: Wish) -> bool:
    return session.begin(wish, NOW)[-1]["is"] == "intent"


def _answer(wish: Wish, script: dict[str, list[Event]]) -> Answer:
    events = script.get(wish.node)
    if not events or wish.settles is not None:
        return Answer("unknown")
    event = events.pop(0)
    if event.outcome == "fail":
        return Answer("failure")
    return Answer("success", to_json(event.result, wish.tool.result)) if event.outcome != "doubt" else Answer("unknown")


SEEN: Counter[str] = Counter()


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(cases(), st.integers(0, 2**32))
def test_a_run_ends_as_the_truth_says(case: Case, seed: int) -> None:
    contract, proposal = case.contract, case.proposal
    assume(admit(contract, proposal, today=NOW).status is Status.ADMITTED)
    replayer = Replayer(contract, proposal, NOW)
    random = Random(seed)
    for _ in range(8):
        scenario = simulate(contract, proposal, random, 0.05)
        trace = replayer.replay(scenario)
        assert trace.legal and not trace.violations
        try:
            session = drive(contract, proposal, scenario, random)
        except Mismatch:
            continue  # a number without a finite decimal form: no tool can be called with it
        ending = session.ending
        assert ending is not None
        kinds = {n.id: n.kind for n in proposal.nodes if not hasattr(n, "tool")}
        truth = kinds[trace.terminals[0]] if trace.ended and trace.terminals else "stopped"
        SEEN[f"{truth} -> {ending.kind}"] += 1
        if ending.kind == "done":
            assert truth == "done", (scenario, trace)
        if truth == "yield":
            assert ending.kind in ("yield", "held")
        if truth == "done" and not contract.domain.fluents:
            assert ending.kind == "done", (ending, session.trouble)


def test_most_runs_can_tell_by_their_receipts() -> None:
    if sum(SEEN.values()) > 100:
        assert SEEN["done -> done"] >= 3 * (SEEN["done -> held"] + SEEN["done -> yield"]), SEEN
