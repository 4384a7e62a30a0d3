"""Calls that nothing orders: whether their order could matter (semantics §4), and what is said of many of them."""

from __future__ import annotations

import pytest

from cfrc.lang.load import load
from cfrc.model.verdict import Finding, Status
from cfrc.source import Source
from cfrc.verify.admission import admit
from tests.verify.conditions.judged import judged, said

DOMAIN = """
    id A
    effect sent(a: A)
    effect made(a: A)
    effect paid(a: A) once
    fluent x(a: A): int
    fluent on: bool
    write make(a: A)
        causes made(a)
    write send(a: A)
        causes sent(a)
    write risky(a: A)
        causes sent(a)
        failure may cause sent(a)
    write unsend(a: A)
        undoes sent(a)
    write recall(a: A) -> { there: bool }
        undoes sent(a) when result.there
        refutes sent(a) when not result.there
    write pay(a: A) -> { ok: bool }
        causes paid(a)
        sets on = true
    write other()
        causes nothing
    read check(a: A) -> { there: bool }
        witnesses sent(a) when result.there
        refutes sent(a) when not result.there
    read probe(a: A) -> { there: bool }
        refutes sent(a) when not result.there
    read see(a: A) -> { there: bool }
        witnesses sent(a) when result.there
    read look(a: A) -> { v: int, on: bool }
        observes x(a) = result.v
        observes on = result.on
    read find(a: A) -> { item: A, v: int }
        ensures result.v == 1
        observes x(result.item) = result.v
    read glance(a: A) -> { ok: bool, v: int }
        ensures result.ok implies result.v == 1
        observes x(a) = result.v when result.ok
    read all_ones() -> { rows: list[{ a: A, v: int }] }
        ensures all(r.v == 1 for r in result.rows)
        observes x(r.a) = r.v for r in result.rows
    write inc(a: A)
        sets x(a) = x(a) + 1
    write put(a: A, v: int free)
        sets x(a) = v
    write poll(a: A) -> { done: bool }
        sets on = true
    write swap(a: A) -> { old: bool }
        ensures result.old == on
        sets on = true
"""
ALLOW = "    allow make, send, risky, unsend, recall, pay, other, check, probe, see, look, find, glance, all_ones\n"
ALLOW += "    allow inc, put, poll, swap\n"
CONTRACT = (
    """
    fixed a: A = "a1" from user turn 1
    known b: A = "a2" from user turn 1
    owes  m: made(a)
    within made(a)
    within sent(a)
    within paid(a)
    within x(_)
    within on
"""
    + ALLOW
)
FOUR = CONTRACT + '    holds x("a1") == 4 from user turn 1\n'
SENT = "t = send(a: a)\n"
ZERO = "l = look(a: a) expect l.v == 0\n"
LOST = "l = check(a: a) expect not l.there\n"

CASES = {
    # what one call is expected to return says nothing of a run in which the other one came first
    "the one that reads expects what was there before": (
        CONTRACT, "p = put(a: a, v: 1)\nq = look(a: a) expect q.v != 1", "PRS007",
    ),
    "the one that reads expects what the other one sets": (
        CONTRACT, "p = put(a: a, v: 1)\nq = look(a: a) expect q.v == 1", "PRS007",
    ),
    "the one that reads comes first in the text": (
        CONTRACT, "q = look(a: a) expect q.v == 1\np = put(a: a, v: 1)", "PRS007",
    ),
    "the failure of the one that reads is handled": (
        CONTRACT, "p = put(a: a, v: 1)\nq = look(a: a) expect q.v == 1\nr = other() when failed(q)", "PRS007",
    ),
    "another instance": (CONTRACT, "p = put(a: a, v: 1)\nq = look(a: b)", "admitted"),
    "set to what it is": (CONTRACT, "l = look(a: a) expect l.v == 1\np = put(a: a, v: 1) after l\nq = look(a: a) after l",
                          "admitted"),
    "either may come first but none goes on": (
        CONTRACT, "p = swap(a: a) expect not p.old\nq = swap(a: a) expect not q.old", "PRS007",
    ),
    # increments commute with one another, and with nothing else
    "two increments": (FOUR, "p = inc(a: a)\nq = inc(a: a)", "admitted"),
    "an increment, and a set of what it leads to": (FOUR, "p = inc(a: a)\nq = put(a: a, v: 5)", "PRS007"),
    "an increment, and a set of what is there": (FOUR, "p = inc(a: a)\nq = put(a: a, v: 4)", "PRS007"),
    "two sets of one value": (FOUR, "p = put(a: a, v: 5)\nq = put(a: a, v: 5)", "admitted"),
    "two sets of two values": (FOUR, "p = put(a: a, v: 5)\nq = put(a: a, v: 4)", "PRS007"),
    # a receipt may be possible only after the other call
    "refuted only where the other one undid it": (
        CONTRACT, SENT + "p = unsend(a: a) after t\nq = probe(a: a) after t", "PRS007",
    ),
    "refuted where the other one may have undone it": (
        CONTRACT, SENT + "p = recall(a: a) after t\nq = probe(a: a) after t", "PRS007",
    ),
    "witnessed only where the other one caused it": (
        CONTRACT, LOST + "p = send(a: a) after l\nq = see(a: a) after l", "PRS007",
    ),
    "found only where the other one set it": (
        CONTRACT, ZERO + "p = put(a: a, v: 1) after l\nq = find(a: a) after l", "PRS007",
    ),
    "seen only where the other one set it": (
        CONTRACT, ZERO + "q = glance(a: a) after l\np = put(a: a, v: 1) after l", "PRS007",
    ),
    "listed only where the other one set it": (
        CONTRACT, ZERO + "p = put(a: a, v: 1) after l\nq = all_ones() after l", "PRS007",
    ),
    "never listed, whatever comes first": (
        CONTRACT, ZERO + "p = put(a: a, v: 2) after l\nq = all_ones() after l", "admitted",
    ),
    "never seen, whatever comes first": (
        CONTRACT, ZERO + "q = glance(a: a) after l\np = put(a: a, v: 2) after l", "admitted",
    ),
    "cannot be witnessed once it was refuted": (
        CONTRACT, LOST + "p = unsend(a: a) after l\nq = see(a: a) after l", "admitted",
    ),
    "two who look at the same": (CONTRACT, "p = check(a: a)\nq = check(a: a)", "admitted"),
    "refuted only before it happens": (CONTRACT, "p = send(a: a)\nq = probe(a: a)", "PRS007"),
    "it is expected not to be refuted": (CONTRACT, "p = send(a: a)\nq = probe(a: a) expect q.there", "admitted"),
    "between two polls": (
        CONTRACT, "l = look(a: a) expect not l.on\np = poll(a: a) until p.done within 3 polls after l\n"
        "q = look(a: a) after l", "PRS007",
    ),
    # a failure that nothing orders may come first
    "a failure leaves it in doubt": (CONTRACT, "p = risky(a: a)\nq = send(a: a)\nr = other() when failed(p)", "PRS006"),
    "a failure leaves it in doubt, the other way round": (
        CONTRACT, "q = send(a: a)\np = risky(a: a)\nr = other() when failed(p)", "PRS006",
    ),
    "refuted before the failure": (
        CONTRACT, "p = risky(a: a)\nq = check(a: a)\nr = send(a: a) when failed(p) and not q.there", "PRS006 PRS007",
    ),
    "refuted after the failure": (
        CONTRACT, "p = risky(a: a)\nq = check(a: a) when failed(p)\nr = send(a: a) when failed(p) and not q.there",
        "admitted",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_unordered_calls(case: str) -> None:
    contract, steps, expected = CASES[case]
    assert said(DOMAIN, contract, f"m = make(a: a)\n{steps}\ndone") == expected


@pytest.mark.parametrize("case", [c for c, (_, _, expected) in CASES.items() if expected == "PRS007"])
def test_the_counterexample_is_a_run_of_both(case: str) -> None:
    contract, steps, _ = CASES[case]
    verdict = judged(DOMAIN, contract, f"m = make(a: a)\n{steps}\ndone")
    for f in verdict.errors:
        assert f.counterexample is not None
        assert {"p", "q"} <= {s.node for s in f.counterexample.order}


def many(step: str, count: int) -> tuple[Finding, ...]:
    steps = "".join(f"    c{i} = {step}\n".replace("#", str(i)) for i in range(count))
    text = f"domain d\n{DOMAIN}\ncontract z for d\n{CONTRACT}\nproposal h for z\n    m = make(a: a)\n{steps}    done\n"
    spec = load(Source("<string>", text))
    verdict = admit(spec.contracts["z"], spec.proposals["h"])
    assert verdict.status is Status.REFUSED
    return verdict.errors


@pytest.mark.parametrize("step", ["pay(a: a)", "pay(a: a) expect c#.ok"])
def test_many_equal_calls_are_one_finding(step: str) -> None:
    errors = many(step, 300)
    assert [f.code for f in errors] == ["CFRC-PRS002", "CFRC-PRS007"]
    assert all("(1,000 pairs or more like this)" in f.message for f in errors)


def test_a_few_equal_calls_are_reported_one_by_one() -> None:
    errors = many("pay(a: a)", 3)
    assert sorted(f.code for f in errors) == ["CFRC-PRS002"] * 3 + ["CFRC-PRS007"] * 3
    assert "(up to 9 other pairs like this)" in many("pay(a: a)", 5)[0].message


def test_the_rest_is_asked_where_the_first_pair_is_fine() -> None:
    """The first two exclude each other; each of the others clashes with one of them."""
    domain, contract = DOMAIN, CONTRACT
    steps = "l = look(a: a)\nc0 = put(a: a, v: 1) when l.on\nc1 = put(a: a, v: 2) when not l.on\n"
    assert said(domain, contract, f"m = make(a: a)\n{steps}done") == "admitted"
    fine = "".join(f"c{i} = put(a: a, v: {i}) when l.on and l.v == {i}\n" for i in range(2, 8))
    assert said(domain, contract, f"m = make(a: a)\n{steps.replace('l.on', 'l.on and l.v == 0', 1)}{fine}done") == (
        "admitted"
    )
    last = "c9 = put(a: a, v: 9) when l.on and l.v == 7\n"
    found = said(domain, contract, f"m = make(a: a)\n{steps.replace('l.on', 'l.on and l.v == 0', 1)}{fine}{last}done")
    assert found == "PRS007"


def test_the_second_of_two_calls_that_exclude_each_other_is_named_with_what_it_requires() -> None:
    """Each may be made first; whichever is second is made against its ``requires``, so that they never both run."""
    verdict = judged(
        """
        id A
        fluent open(a: A): bool
        effect moved(a: A)
        read get(a: A) -> { open: bool }
            observes open(a) = result.open
        write move(a: A)
            requires open(a)
            sets open(a) = false
            causes moved(a)
        """,
        """
        fixed a: A = "a1" from user turn 1
        owes o: moved(a)
        allow get, move
        within moved(_), open(_)
        """,
        """
        g = get(a: a)
        m = move(a: a) when g.open
        n = move(a: a) when g.open
        """,
    )
    assert verdict.status is Status.REFUSED
    found = next(f for f in verdict.findings if f.code == "CFRC-DEP004")
    assert found.node in {"m", "n"} and found.counterexample is not None
    assert not [f for f in verdict.findings if f.severity == "undecided"]
