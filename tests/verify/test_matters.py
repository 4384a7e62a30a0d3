"""A counterexample speaks of its own finding, and says that an answer does not matter only where none would do."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from cfrc.lang.load import load
from cfrc.model.closing import show_owed
from cfrc.model.verdict import Counterexample, Finding
from cfrc.source import Source
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit
from cfrc.verify.spelled import spelled_out

DOMAIN = """
domain d
    id A, M
    enum S { on, off, odd }
    fluent level: int
    effect paid(a: A, n: int)
    effect mailed(a: A, m: M)
    read get(a: A) -> { m: M, n: int, s: S, at: date, note: text }
    read level() -> { n: int }
        observes level = result.n
    write pay(a: A, n: int from user | get.n | level.n)
        causes paid(a, n)
    write mail(a: A, m: M) -> { m: M }
        causes mailed(a, m)
"""

CONTRACT = """
contract c for d
    fixed a: A = "A-1" from user turn 1
    known m: M = "M-1" from user turn 1
    known k: int = 80 from user turn 1
    allow get, level, pay, mail
    within paid(a, _), mailed(a, _)
"""


def findings(owes: str, plan: str) -> list[Finding]:
    spec = load(Source("<case>", f"{DOMAIN}{CONTRACT}    {owes}\nproposal p for c\n    {plan}\n    done\n"))
    return list(admit(spec.contracts["c"], spec.proposals["p"]).findings)


def shown(finding: Finding) -> Counterexample:
    assert finding.counterexample is not None
    return finding.counterexample


def relevant(finding: Finding) -> dict[str, bool]:
    return {s.node: s.relevant for s in shown(finding).order}


BOTH = "owes p: paid(a, k)\n    owes q: mailed(a, m)"


ORDERED = BOTH.replace("k)", "k) before q")
SWAPPED = "owes q: mailed(a, m)\n    owes p: paid(a, k)"


@pytest.mark.parametrize("owes", [BOTH, ORDERED, SWAPPED])
def test_each_of_two_open_obligations_is_explained_by_its_own_goal(owes: str) -> None:
    found = findings(owes, "g = get(a: a)\n    x = pay(a: a, n: g.n)\n    y = mail(a: a, m: g.m) after x")
    said = {f.obligation: shown(f).failing for f in found if f.code == "CFRC-COV001"}
    assert said == {"p": 'paid("A-1", 80)', "q": 'mailed("A-1", "M-1")'}


def test_obligations_that_only_fail_together_are_named_together() -> None:
    owes = "owes p: mailed(a, x) exists x: M\n    owes q: mailed(a, y) exists y: M"
    (found,) = (f for f in findings(owes, "y = mail(a: a, m: m)") if f.code == "CFRC-COV001")
    assert shown(found).failing == 'mailed("A-1", x) and mailed("A-1", y)' and "together" in found.message


def test_an_answer_that_would_discharge_the_obligation_matters() -> None:
    (found,) = findings("owes p: paid(a, k)", "g = get(a: a)\n    x = pay(a: a, n: g.n)")
    assert relevant(found) == {"g": True, "x": False}


def test_what_an_answer_says_of_the_world_matters_too() -> None:
    (found,) = findings("owes p: paid(a, k)", "g = level()\n    x = pay(a: a, n: g.n)")
    assert relevant(found) == {"g": True, "x": False}


@pytest.mark.parametrize(
    "guard",
    [
        "g.n > 4711", "g.n < 0 - 4711", "g.s == odd", "g.at >= 2031-01-02", 'g.note == "yes"', "g.m == m",
        "g.n == 12 and g.s == off",
    ],
)  # fmt: skip
def test_an_answer_that_would_have_made_the_call_matters(guard: str) -> None:
    (found,) = (f for f in findings("owes p: paid(a, k)", f"g = get(a: a)\n    x = pay(a: a, n: k) when {guard}")
                if f.code == "CFRC-COV001")  # fmt: skip
    assert relevant(found)["g"]


def test_an_answer_of_which_nothing_speaks_does_not_matter() -> None:
    (found,) = findings("owes p: paid(a, k)", "g = get(a: a)\n    h = level()")
    assert not any(relevant(found).values())


def test_an_answer_that_goes_wrong_whatever_it_is_does_not_matter() -> None:
    found = findings("owes p: paid(a, k)", "x = mail(a: a, m: m)\n    y = mail(a: a, m: x.m)\n    z = pay(a: a, n: 81)")
    assert [relevant(f)["x"] for f in found if f.code == "CFRC-COV001"] == [False]


def test_polls_and_the_answer_after_them_are_judged_apart() -> None:
    plan = "g = level() until g.n > 5 within 3 polls\n    x = pay(a: a, n: g.n)"
    (found,) = (f for f in findings("owes p: paid(a, k)", plan) if f.code == "CFRC-COV001")
    assert relevant(found)["g"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_what_fails_is_always_what_the_finding_is_about(case: Case) -> None:
    owed = {o.name: o for o in spelled_out(case.contract).obligations}
    for f in admit(case.contract, case.proposal).findings:
        if f.code == "CFRC-COV001" and f.counterexample is not None and "together" not in f.message:
            assert f.obligation is not None and f.counterexample.failing == show_owed(owed[f.obligation])
