"""Volatile fluents that several calls see: which of them saw last, in whatever order, must not matter."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id A
    effect made(a: A)
    effect sent(a: A)
    fluent v(a: A): int volatile
    fluent x(a: A): int
    fluent y(a: A): int
    write make(a: A)
        causes made(a)
    read peek(a: A) -> { n: int }
        observes v(a) = result.n
    write use(a: A)
        requires v(a) == 1
        causes sent(a)
    write set(a: A, n: int free)
        sets v(a) = n
    write add(a: A)
        sets x(a) = x(a) + y(a)
    write add_too(a: A)
        sets x(a) = y(a) + x(a)
    write put(a: A, n: int free)
        sets x(a) = n
    write put_y(a: A, n: int free)
        sets y(a) = n
"""
CONTRACT = """
    fixed a: A = "a1" from user turn 1
    known b: A = "a2" from user turn 1
    owes  m: made(a)
    allow make, peek, use, set, add, add_too, put, put_y
    within made(a)
    within sent(a)
    within v(_)
    within x(_)
    within y(_)
"""
STATE = CONTRACT + "    owes  w: v(a) == 1\n"
P = "p = peek(a: a) expect p.n == 1\n"

CASES = {
    "nobody else looks": (CONTRACT, P + "q = use(a: a) after p", "admitted"),
    "another look in between": (CONTRACT, P + "r = peek(a: a)\nq = use(a: a) after p", "DEP004"),
    "another look in between, listed first": (CONTRACT, "r = peek(a: a)\n" + P + "q = use(a: a) after p", "DEP004"),
    "another look in between, listed last": (CONTRACT, P + "q = use(a: a) after p\nr = peek(a: a)", "DEP004"),
    "another look that expects the same": (
        CONTRACT, P + "r = peek(a: a) expect r.n == 1\nq = use(a: a) after p", "admitted",
    ),
    "another look before": (CONTRACT, "r = peek(a: a)\n" + P.replace("\n", " after r\n") + "q = use(a: a) after p",
                            "admitted"),
    "another look after": (CONTRACT, P + "q = use(a: a) after p\nr = peek(a: a) after q", "admitted"),
    "two looks before, in either order": (CONTRACT, "r = peek(a: a)\n" + P + "q = use(a: a) after p, r", "DEP004"),
    "two looks before that expect the same": (
        CONTRACT, "r = peek(a: a) expect r.n == 1\n" + P + "q = use(a: a) after p, r", "admitted",
    ),
    "another look at something else": (CONTRACT, P + "r = peek(a: b)\nq = use(a: a) after p", "admitted"),
    "another look that is not taken": (CONTRACT, P + "r = peek(a: a) when p.n != 1\nq = use(a: a) after p", "admitted"),
    "a look after it was set": (CONTRACT, "p = set(a: a, n: 1)\nr = peek(a: a) after p\nq = use(a: a) after p", "DEP004"),
    "the final state as one of two saw it": (STATE, "r = peek(a: a)\n" + P.strip(), "COV004"),
    "the final state as both saw it": (STATE, "r = peek(a: a) expect r.n == 1\n" + P.strip(), "admitted"),
    "the final state as the last one saw it": (STATE, "r = peek(a: a)\n" + P.strip() + " after r", "admitted"),
    # increments by what other fluents say
    "two increments by a fluent": (CONTRACT, "p = add(a: a)\nq = add(a: a)", "admitted"),
    "two increments, written differently": (CONTRACT, "p = add(a: a)\nq = add_too(a: a)", "admitted"),
    "an increment, and its amount changes": (CONTRACT, "p = add(a: a)\nq = put_y(a: a, n: 3)", "PRS007"),
    "an increment, and a set": (CONTRACT, "p = add(a: a)\nq = put(a: a, n: 3)", "PRS007"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_who_saw_last(case: str) -> None:
    contract, steps, expected = CASES[case]
    assert said(DOMAIN, contract, f"m = make(a: a)\n{steps}\ndone") == expected
