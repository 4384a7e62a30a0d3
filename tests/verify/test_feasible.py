"""Answers about contracts that are found without the solver are the ones that it would give."""

from __future__ import annotations

import operator
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.lang.load import load
from cfrc.model.contract import Contract
from cfrc.model.verdict import Finding
from cfrc.source import Source
from cfrc.testing.strategies import Case, cases
from cfrc.verify.feasible import Feasibility
from cfrc.verify.ground import Ground
from cfrc.verify.obvious import obviously_satisfiable
from cfrc.verify.solve import Session
from cfrc.verify.spelled import spelled_out
from cfrc.verify.terms import BOOL, INT, REAL, Term, Terms
from tests.verify.test_agreement_ground import case

SORTS = (BOOL, INT, REAL, "Enum:2:Mood", "Id:Item")


@st.composite
def atoms(draw: st.DrawFn, t: Terms) -> Term:
    sort = draw(st.sampled_from(SORTS))
    unknown = t.sym(sort, draw(st.sampled_from("xy")))
    number = draw(st.integers(0, 3 if sort != "Enum:2:Mood" else 1))
    literal = t.const(sort, {BOOL: number > 1, "Id:Item": f"item-{number}"}.get(sort, number))
    other = draw(st.sampled_from([literal, literal, t.sym(sort, "z")]))
    pair = draw(st.sampled_from([(unknown, other), (other, unknown)]))
    if sort in (INT, REAL) and draw(st.booleans()):
        return t.le(*pair, strict=draw(st.booleans()))
    return t.eq(*pair)


@given(st.data())
def test_what_is_obviously_satisfiable_is_satisfiable(data: st.DataObject) -> None:
    t = Terms()
    parts = [data.draw(atoms(t)) for _ in range(data.draw(st.integers(1, 4)))]
    formula = t.and_(*(p if data.draw(st.booleans()) else t.not_(p) for p in parts))
    if formula not in (t.true, t.false) and obviously_satisfiable(t, formula):
        assert Session(t).check([formula]).answer == "sat"


@pytest.mark.parametrize(("low", "high", "room"), [(0, 3, True), (2, 2, False), (3, 2, False)])
def test_bounds_leave_room_or_not(low: int, high: int, room: bool) -> None:
    t = Terms()
    for sort in (INT, REAL):
        x = t.sym(sort, "x")
        between = t.and_(t.le(t.const(sort, low), x, strict=False), t.le(x, t.const(sort, high), strict=True))
        assert operator.is_(obviously_satisfiable(t, between), room)


def judged(contract: Contract, at_once: bool) -> list[list[Finding]]:
    contract = spelled_out(contract)
    feasibility = Feasibility(contract, 20_000_000, Ground(contract, datetime.now(UTC)))
    if not at_once:
        feasibility.__dict__["_causing"] = {}
    return [list(feasibility.judge(o)) for o in contract.obligations]


@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_recipes_and_formulas_agree_about_literal_goals(data: st.DataObject) -> None:
    text = case(lambda options: data.draw(st.sampled_from(list(options))))
    contract = load(Source("<case>", text)).contracts["c"]
    assert judged(contract, at_once=True) == judged(contract, at_once=False)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases())
def test_recipes_and_formulas_agree_about_random_contracts(random: Case) -> None:
    assert judged(random.contract, at_once=True) == judged(random.contract, at_once=False)
