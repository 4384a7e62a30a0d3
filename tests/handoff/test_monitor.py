"""A monitor allows exactly the calls that the step machine enables, with exactly its arguments, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.handoff.guarding.monitor import Allowed, Monitor, NotAdmitted, Refusal
from cfrc.handoff.running.live import Live
from cfrc.handoff.running.session import Session
from cfrc.handoff.tools import Answer
from cfrc.lang.jsonvalues import to_json
from cfrc.lang.load import load
from cfrc.model.machine import Machine
from cfrc.model.plan import prepare
from cfrc.model.scenario import Scenario
from cfrc.model.simulate import simulations
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit

RUNS = 4
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
STATUS = {"ok": "success", "poll": "success", "fail": "failure", "doubt": "unknown"}


def machine_of(case: Case, scenario: Scenario) -> Machine:
    return Machine(prepare(case.contract, case.proposal), scenario.world)


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases(), st.integers(0, 2**32))
def test_every_legal_order_is_allowed_and_nothing_else(case: Case, seed: int) -> None:
    """Along random legal runs: the open calls are the machine's, each is allowed, and every other one is refused."""
    verdict = admit(case.contract, case.proposal)
    assume(verdict.status is Status.ADMITTED)
    random = Random(seed)
    for scenario in islice(simulations(case.contract, case.proposal, random), RUNS):
        machine = machine_of(case, scenario)
        monitor = Monitor.open(case.contract, case.proposal, NOW, verdict)
        for event in scenario.events:
            agree(machine, monitor)
            refuses_others(machine, monitor, random)
            step = machine.begin(event)
            call = next(c for c in monitor.enabled() if c.node == event.node)
            # Of two open calls that are the same, the first in the plan is made: any order of them is legal.
            same = [c for c in monitor.enabled() if (c.tool, c.arguments) == (call.tool, call.arguments)]
            if same.index(call) > 0:
                break
            allowed = monitor.offer(call.tool, dict(call.arguments), NOW)
            assert isinstance(allowed, Allowed) and allowed.node == event.node
            if not twins(monitor, call.tool):
                assert isinstance(monitor.offer(call.tool, dict(call.arguments), NOW), Refusal)
            machine.result(step, event)
            machine.commit(step, event)
            result = to_json(event.result, step.tool.result) if event.outcome in ("ok", "poll") else None
            x, _ = monitor.record(allowed, Answer(STATUS[event.outcome], result), NOW)  # type: ignore[arg-type]
            assert x == step.after and monitor.session.receipts[-1].status == STATUS[event.outcome]
        else:
            agree(machine, monitor)
            ends_alike(machine, monitor)


@settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases(), st.integers(0, 2**32))
def test_calls_that_overlap_come_to_the_same(case: Case, seed: int) -> None:
    """Offered as soon as it is open, however late it is answered: a run goes as when its calls are made one by one."""
    verdict = admit(case.contract, case.proposal)
    assume(verdict.status is Status.ADMITTED)
    random = Random(seed)
    for scenario in islice(simulations(case.contract, case.proposal, random), RUNS):
        alone = Monitor.open(case.contract, case.proposal, NOW, verdict)
        overlapping = Monitor.open(case.contract, case.proposal, NOW, verdict)
        flying: dict[str, Allowed] = {}
        for event in scenario.events:
            for open_call in overlapping.enabled():
                if open_call.node == event.node or random.random() < 0.7:
                    wish = next(w for w in overlapping.session.wishes() if w.node == open_call.node)
                    flying[open_call.node] = Allowed(wish, {}, overlapping.session.begin(wish, NOW))
            tool = alone.session.live.plan.nodes[event.node].tool
            assert tool is not None
            result = to_json(event.result, tool.result) if event.outcome in ("ok", "poll") else None
            answer = Answer(STATUS[event.outcome], result)  # type: ignore[arg-type]  # a literal
            wish = next(w for w in alone.session.wishes() if w.node == event.node)
            expected, _ = alone.record(Allowed(wish, {}, alone.session.begin(wish, NOW)), answer, NOW)
            assert overlapping.record(flying.pop(event.node), answer, NOW)[0] == expected
            assert dict(overlapping.session.live.ready) == dict(alone.session.live.ready)
        for left in flying.values():
            overlapping.record(left, Answer("failure"), NOW)
        if not flying:
            assert overlapping.ending == alone.ending


def twins(monitor: Monitor, tool: str) -> bool:
    """Whether another node calls the same tool: then a second offer may be that node's call."""
    return sum(getattr(n, "tool", None) == tool for n in monitor.session.proposal.nodes) > 1


def agree(machine: Machine, monitor: Monitor) -> None:
    ready = {} if machine.over else machine.ready
    assert dict(monitor.session.live.ready) == dict(ready)
    for node, status in machine.state.status.items():
        if machine.plan.nodes[node].tool is not None:
            assert monitor.session.live.status[node] == status


def ends_alike(machine: Machine, monitor: Monitor) -> None:
    """A run that hands back does so in both; one that ends is never taken for done without evidence."""
    ending = monitor.ending
    if machine.over:
        assert ending is not None and ending.kind == "yield"
        return
    fired = machine.end()
    if fired is None:
        assert ending is None or machine.over
        return
    assert ending is not None
    kinds = {t.kind for t in fired} or {"yield"}
    # What a receipt leaves unknown is no evidence: then the run is held, though in this world all is well.
    assert ending.kind in kinds or (ending.kind == "held" and kinds == {"done"})
    assert isinstance(monitor.offer("find", {}, NOW), Refusal)


def refuses_others(machine: Machine, monitor: Monitor, random: Random) -> None:
    """Calls of any tool with any argument changed: refused unless they are just what is open."""
    open_calls = [(c.tool, dict(c.arguments)) for c in monitor.enabled()]
    for tool, arguments in open_calls:
        for name in arguments:
            changed = {**arguments, name: other_than(arguments[name])}
            if (tool, changed) not in open_calls:
                refused = monitor.offer(tool, changed, NOW)
                assert isinstance(refused, Refusal), (tool, changed, open_calls)
                assert refused.code in ("CFRC-RUN102", "CFRC-RUN103")
        extra = monitor.offer(tool, {**arguments, "surprise": 1}, NOW)
        assert isinstance(extra, Refusal) and extra.code == "CFRC-RUN103"
    for tool in machine.plan.contract.domain.tools:
        if tool not in {t for t, _ in open_calls}:
            args = dict(random.choice(open_calls)[1]) if open_calls else {}
            assert isinstance(monitor.offer(tool, args, NOW), Refusal)
    assert isinstance(monitor.offer("rm -rf\x1b[2J", {}, NOW), Refusal)
    assert [(c.tool, dict(c.arguments)) for c in monitor.enabled()] == open_calls


def other_than(value: object) -> object:
    match value:
        case bool():
            return not value
        case str():
            return value + "'"
        case int():
            return value + 1
        case list():
            return [*value, *value, "more"]
    return "another"


@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases())
def test_what_is_not_admitted_is_never_opened(case: Case) -> None:
    verdict = admit(case.contract, case.proposal)
    assume(verdict.status is not Status.ADMITTED)
    for given_verdict in (verdict, None):
        with pytest.raises(NotAdmitted) as raised:
            Monitor.open(case.contract, case.proposal, NOW, given_verdict)
        assert raised.value.verdict.status is verdict.status
    other = replace(case.proposal, name="another")
    admitted = replace(verdict, status=Status.ADMITTED)
    with pytest.raises(NotAdmitted):
        Monitor.open(case.contract, other, NOW, admitted)  # a verdict about something else opens nothing


DOMAIN = """
domain shop
    id Order, Ref
    enum Phase { open, shipped, gone = "x-gone" }
    fluent phase(o: Order): Phase
    fluent stock(o: Order): int
    fluent mood: Phase volatile
    effect cancelled(o: Order) once
    effect told(r: Ref)
    effect seen(r: Ref)
    read look(o: Order) -> { o: Order, phase: Phase, ref: Ref?, price: decimal }
        ensures result.o == o
        observes phase(o) = result.phase
    write cancel(o: Order, fast: bool = false) -> { ref: Ref }
        requires phase(o) == open
        causes cancelled(o)
        sets phase(o) = gone
        approved when fast
    write tell(r: Ref from receipt, text: text) -> { at: time }
        causes told(r)
    read check_told(r: Ref) -> { ok: bool }
        witnesses seen(r) when result.ok
        refutes told(r) when not result.ok

contract z for shop
    fixed order: Order = "o1" from user turn 1
    holds phase("o1") == open from receipt c1 of look
    holds mood == open from receipt c1 of look
    owes off: cancelled(order)
    owes news: told(off.ref)
    allow look, cancel, tell, check_told
    within cancelled(order)
    within phase(order)
    within told(off.ref)
    approved cancel(o: "o1", fast: true) expires 2100-06-01 from user turn 2

proposal good for z
    a = look(o: order) expect a.phase == open
    c = cancel(o: order) after a
    t = tell(r: c.ref, text: "gone") 
    done claims off, news

proposal approved for z
    c = cancel(o: order, fast: true)
    t = tell(r: c.ref, text: "gone")
    done
"""


def spec() -> tuple:
    loaded = load(Source("shop.cfrc", DOMAIN))
    return loaded.contracts["z"], loaded.proposals["good"], loaded.proposals["approved"]


def opened(now: datetime = NOW, which: int = 1) -> Monitor:
    found = spec()
    return Monitor.open(found[0], found[which], now)


def say(monitor: Monitor, tool: str, arguments: dict, status: str = "success", result: object = None) -> str:
    allowed = monitor.offer(tool, arguments, NOW)
    assert isinstance(allowed, Allowed), allowed
    return monitor.record(allowed, Answer(status, result), NOW)[0]  # type: ignore[arg-type]  # literals


SEEN = {"o": "o1", "phase": "open", "price": 12.5}


def test_a_whole_run() -> None:
    m = opened()
    assert m.tools == ("look", "cancel", "tell")
    assert [(c.node, dict(c.arguments)) for c in m.enabled()] == [("a", {"o": "o1"})]
    assert m.owed() == ['off: cancelled("o1")', "news: told(off.ref)"]
    assert say(m, "look", {"o": "o1"}, result={**SEEN, "unheard": [1]}) == "ok"
    assert say(m, "cancel", {"o": "o1"}, result={"ref": "r1"}) == "ok"
    assert m.owed() == ["news: told(off.ref)"]
    assert say(m, "tell", {"r": "r1", "text": "gone"}, result={"at": "2026-12-01T09:00:00Z"}) == "ok"
    assert m.ending is not None and m.ending.kind == "done" and m.owed() == []
    refused = m.offer("tell", {"r": "r1", "text": "gone"}, NOW)
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN106"
    assert [(r.id, r.status) for r in m.session.receipts] == [(f"g.{n}", "success") for n in "act"]


def test_defaults_are_sent_as_the_plan_assumes_them() -> None:
    m = opened()
    say(m, "look", {"o": "o1"}, result=SEEN)
    allowed = m.offer("cancel", {"o": "o1"}, NOW)
    assert isinstance(allowed, Allowed) and allowed.arguments == {"o": "o1", "fast": False}
    other = opened()
    say(other, "look", {"o": "o1"}, result=SEEN)
    refused = other.offer("cancel", {"o": "o1", "fast": True}, NOW)
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN103" and "`fast`" in refused.reason


SPELLED = """
domain s
    id O canonical lower
    enum Mode { slow, void = "voided" }
    effect a(o: O, n: decimal)
    write w(o: O, n: decimal, m: Mode, note: text? = absent, tags: bag[string]) causes a(o, n)

contract z for s
    fixed o: O = "o1" from user turn 1
    known n: decimal = 1.5 from user turn 1
    known tag: string = "t1" from user turn 1
    owes x: a(o, n)
    allow w

proposal p for z
    n1 = w(o: o, n: n, m: void, tags: bag([tag, tag]))
    done claims x
"""


@pytest.mark.parametrize(
    "said",
    [{}, {"m": "void"}, {"o": "O1"}, {"note": None}, {"n": "1.5"}, {"n": "1.50", "m": "void", "note": None}],
    ids=str,
)
def test_what_is_sent_is_the_plan_s_however_the_client_spells_it(said: dict) -> None:
    loaded = load(Source("s.cfrc", SPELLED))
    m = Monitor.open(loaded.contracts["z"], loaded.proposals["p"], NOW)
    wire = {"o": "o1", "n": 1.5, "m": "voided", "tags": ["t1", "t1"]}
    allowed = m.offer("w", {**wire, **said}, NOW)
    assert isinstance(allowed, Allowed) and allowed.arguments == wire


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "words"),
    [
        ("check_told", {"r": "r1"}, "RUN101", "not part of the plan"),
        ("drop", {}, "RUN101", "not part of the plan"),
        ("look", {"o": "o2"}, "RUN103", "other values for `o`"),
        ("look", {"o": 7}, "RUN103", "expected"),
        ("look", {}, "RUN103", "`o` is missing"),
        ("look", {"o": "o1", "p": 1}, "RUN103", "there is no `p`"),
        ("look", {"o": float("nan")}, "RUN103", "`o`"),
        ("cancel", {"o": "o1"}, "RUN104", "first `a`"),
        ("tell", {"r": "r1", "text": "gone"}, "RUN104", "first `c`"),
    ],
)
def test_refusals_say_what_to_do(tool: str, arguments: dict, code: str, words: str) -> None:
    m = opened()
    refused = m.offer(tool, arguments, NOW)
    assert isinstance(refused, Refusal) and refused.code == f"CFRC-{code}"
    assert words in refused.reason
    assert 'call look with {"o": "o1"}' in str(refused) and "Still owed: off" in str(refused)


def test_a_call_is_not_made_twice() -> None:
    m = opened()
    allowed = m.offer("look", {"o": "o1"}, NOW)
    assert isinstance(allowed, Allowed)
    again = m.offer("look", {"o": "o1"}, NOW)
    assert isinstance(again, Refusal) and again.code == "CFRC-RUN102" and "being made" in again.reason
    m.record(allowed, Answer("success", SEEN), NOW)
    again = m.offer("look", {"o": "o1"}, NOW)
    assert isinstance(again, Refusal) and "made already" in again.reason


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({**SEEN, "o": "o2"}, "ensures"),
        ({**SEEN, "phase": "shipped"}, "contradicts"),
        ({**SEEN, "phase": "no such"}, "what is no receipt"),
        ({**SEEN, "price": "NaN"}, "what is no receipt"),
        ({**SEEN, "price": float("inf")}, "what is no receipt"),
        ({**SEEN, "ref": 3}, "what is no receipt"),
        ("all fine", "what is no receipt"),
        (None, "what is no receipt"),
    ],
)
def test_a_result_outside_what_is_possible_ends_the_run(result: object, words: str) -> None:
    m = opened()
    assert say(m, "look", {"o": "o1"}, result=result) == "outside" or m.ending is not None
    assert m.ending is not None and m.ending.kind == "held" and words in m.why()
    assert m.session.receipts[-1].status == "unknown" and m.session.receipts[-1].result is None
    refused = m.offer("cancel", {"o": "o1"}, NOW)
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and m.enabled() == []


@pytest.mark.parametrize("status", ["unknown", "pending", "partial"])
def test_what_is_in_doubt_is_never_repeated(status: str) -> None:
    m = opened()
    say(m, "look", {"o": "o1"}, result=SEEN)
    assert say(m, "cancel", {"o": "o1"}, status) == "doubt"
    assert m.ending is not None and m.ending.kind == "held"
    refused = m.offer("cancel", {"o": "o1"}, NOW)
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and "do not try again" in refused.reason


def test_an_unhandled_failure_hands_back() -> None:
    m = opened()
    assert say(m, "look", {"o": "o1"}, "failure") == "failed"
    refused = m.offer("look", {"o": "o1"}, NOW)
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN107"
    assert m.ending is not None and m.ending.kind == "yield"


def test_an_approval_that_has_expired_by_now_bars_the_call() -> None:
    call = "cancel", {"o": "o1", "fast": True}
    assert isinstance(opened(which=2).offer(*call, NOW), Allowed)
    late = opened(which=2)
    refused = late.offer(*call, datetime(2100, 7, 1, tzinfo=UTC))
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and "AUT003" in refused.reason
    assert late.ending is not None and late.ending.kind == "held"


def test_an_answer_in_flight_when_the_run_stops_still_counts() -> None:
    loaded = load(Source("two.cfrc", DOMAIN.replace("c = cancel(o: order) after a", "c = cancel(o: order)")))
    m = Monitor(Session(loaded.contracts["z"], loaded.proposals["good"], NOW, "g"))  # two at once, though not admitted
    first, second = m.offer("look", {"o": "o1"}, NOW), m.offer("cancel", {"o": "o1"}, NOW)
    assert isinstance(first, Allowed) and isinstance(second, Allowed)
    m.record(first, Answer("failure"), NOW)
    assert m.ending is None and isinstance(m.offer("look", {"o": "o1"}, NOW), Refusal)
    assert m.record(second, Answer("unknown"), NOW)[0] == "doubt"
    assert m.ending is not None and m.ending.kind == "held" and len(m.session.receipts) == 2


def settling() -> Monitor:
    text = DOMAIN.replace("    allow look,", "    allow look_off, look,").replace(
        "\ncontract z for", "\n    read look_off(o: Order) -> { off: bool, ref: Ref }\n        witnesses cancelled(o) when result.off\n"
        "        refutes cancelled(o) when not result.off\n\ncontract z for", 1,
    )  # fmt: skip
    loaded = load(Source("shop.cfrc", text))
    m = Monitor.open(loaded.contracts["z"], loaded.proposals["good"], NOW)
    say(m, "look", {"o": "o1"}, result=SEEN)
    return m


@pytest.mark.parametrize(("off", "after"), [(False, "did not happen"), (True, "doubt")])
def test_a_lost_write_is_asked_about_before_anything_else(off: bool, after: str) -> None:
    m = settling()
    assert say(m, "cancel", {"o": "o1"}, "unknown") == "settling" and m.ending is None
    assert isinstance(m.offer("cancel", {"o": "o1"}, NOW), Refusal) and m.enabled() == []
    (question,) = m.questions()
    asked = m.ask(question, NOW)
    assert (asked.wish.tool.name, dict(asked.arguments)) == ("look_off", {"o": "o1"})
    assert m.record(asked, Answer("success", {"off": off, "ref": "r1"}), NOW)[0] == after
    again = m.offer("cancel", {"o": "o1"}, NOW)
    assert isinstance(again, Refusal if off else Allowed)


def test_a_volatile_fact_of_the_freeze_is_not_known_any_more() -> None:
    contract, good, _ = spec()
    live = Live(contract, good)
    assert ("phase", ("o1",)) in live.machine.state.world
    assert ("mood", ()) not in live.machine.state.world
