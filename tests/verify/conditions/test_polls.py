"""Every poll of a call is a call: what it sees, witnesses and causes counts, whatever the final receipt says."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id A
    effect made(a: A)
    effect sent(a: A)
    effect paid(a: A) once
    fluent v(a: A): int volatile
    fluent x(a: A): int
    write make(a: A)
        causes made(a)
    write send(a: A)
        causes sent(a)
    write pay(a: A)
        causes paid(a)
    write use(a: A)
        requires v(a) == 1
        causes sent(a)
    write pay_if(a: A)
        causes paid(a) when v(a) == 1
    write put(a: A, n: int free)
        sets x(a) = n
    read peek(a: A) -> { n: int }
        observes v(a) = result.n
    read scan() -> { a: A, n: int }
        observes v(result.a) = result.n
    read rows() -> { rows: list[{ a: A, n: int }], all: bool }
        observes v(r.a) = r.n for r in result.rows
    read glance(a: A) -> { n: int, seen: bool }
        observes v(a) = result.n when result.seen
    read again(a: A) -> { n: int }
        requires v(a) == 1
        observes v(a) = result.n
    read look(a: A) -> { n: int }
        observes x(a) = result.n
    read paid_once(a: A) -> { there: bool, done: bool }
        witnesses paid(a) when result.there
    read is_paid(a: A) -> { there: bool, done: bool }
        witnesses paid(a) when result.there
        refutes paid(a) when not result.there
    write insist(a: A) -> { n: int }
        observes x(a) = result.n
        causes sent(a)
    write ask(a: A) -> { n: int }
        observes x(a) = result.n
        causes sent(a)
        approved
    write try_pay(a: A) -> { failed: bool }
        causes paid(a) when result.failed
"""
CONTRACT = """
    fixed a: A = "a1" from user turn 1
    owes  m: made(a)
    allow make, insist, send, pay, use, pay_if, put, peek, scan, rows, glance, again, look, paid_once, is_paid, try_pay
    within made(a)
    within sent(a)
    within paid(a)
    within x(_)
"""
OWED = CONTRACT + "    owes  w: v(a) == 1\n"
DOUBT = CONTRACT + '    doubt paid("a1") from receipt r1\n'
LIMITED = """
    fixed a: A = "a1" from user turn 1
    fixed b: A = "b1" from user turn 1
    holds x("a1") == 0 from receipt r1
    holds x("b1") == 0 from receipt r1
    owes  m: made(a)
    allow make, insist, peek
    within made(a)
    within sent(_)
    limit count of sent(_) <= 2
"""
APPROVED = """
    fixed a: A = "a1" from user turn 1
    holds x("a1") == 0 from receipt r1
    owes  m: made(a)
    allow make, ask, peek
    within made(a)
    within sent(_)
    approved ask(a: "a1") from user turn 2
    approved ask(a: "a1") from user turn 2
"""
P = "p = peek(a: a) expect p.n == 1\n"

CASES = {
    # what a poll sees of a volatile fluent
    "a poll in between": (CONTRACT, P + "q = peek(a: a) until q.n == 1 within 3 polls\nu = use(a: a) after p", "DEP004"),
    "a poll in between, listed first": (
        CONTRACT, "q = peek(a: a) until q.n == 1 within 2 polls\n" + P + "u = use(a: a) after p", "DEP004",
    ),
    "one poll only": (CONTRACT, P + "q = peek(a: a) until q.n == 1 within 1 polls\nu = use(a: a) after p", "admitted"),
    "the polls are over": (CONTRACT, P + "q = peek(a: a) until q.n == 1 within 3 polls\nu = use(a: a) after p, q",
                           "admitted"),
    "a poll in between of a condition": (
        CONTRACT, "p = peek(a: a) expect p.n == 0\nc = pay_if(a: a) after p\n"
        "q = peek(a: a) until q.n == 0 within 2 polls\nx = pay(a: a) after c, q", "PRS002",
    ),
    "nobody polls between of a condition": (
        CONTRACT, "p = peek(a: a) expect p.n == 0\nc = pay_if(a: a) after p\nx = pay(a: a) after c", "admitted",
    ),
    "a poll saw what the last receipt does not speak of": (
        CONTRACT, P + "q = scan() until q.n == 1 within 3 polls after p\nu = use(a: a) after q", "DEP004",
    ),
    "a poll saw what the last receipt is silent about": (
        CONTRACT, P + "q = glance(a: a) until not q.seen within 2 polls after p\nu = use(a: a) after q", "DEP004",
    ),
    "the last receipt speaks of it": (
        CONTRACT, P + "q = glance(a: a) until q.seen and q.n == 1 within 2 polls after p\nu = use(a: a) after q", "admitted",
    ),
    "a poll saw rows": (CONTRACT, P + "q = rows() until q.all within 2 polls after p\nu = use(a: a) after q", "DEP004"),
    "the final state, whatever the polls saw": (OWED, P + "q = peek(a: a) until q.n == 1 within 3 polls", "admitted"),
    "the final state is the last receipt's": (OWED, P + "q = peek(a: a) until q.n != 1 within 3 polls", "COV004"),
    "its own polls see what it requires": (CONTRACT, P + "q = again(a: a) until q.n == 1 within 2 polls after p",
                                           "undecided"),
    # what a poll witnesses, refutes, causes
    "a poll witnessed it": (CONTRACT, "w = paid_once(a: a) until not w.there within 2 polls\nx = pay(a: a) after w", "PRS002"),
    "a poll witnessed it, and the guard reads the last receipt": (
        CONTRACT, "w = paid_once(a: a) until w.done within 3 polls\nx = pay(a: a) when not w.there", "PRS002",
    ),
    "the last receipt refutes what no poll can have witnessed": (
        CONTRACT, "w = is_paid(a: a) until w.done within 3 polls\nx = pay(a: a) when not w.there", "admitted",
    ),
    "the polls settle a doubt": (
        DOUBT, "w = is_paid(a: a) until w.done within 2 polls\nx = pay(a: a) when not w.there", "admitted",
    ),
    "a failed poll settles no doubt": (
        DOUBT, "w = is_paid(a: a) until w.there within 2 polls\nx = pay(a: a) when failed(w)", "PRS006",
    ),
    "each poll causes it": (CONTRACT, "x = try_pay(a: a) until not x.failed within 2 polls", "PRS002"),
    "only the last of one poll": (CONTRACT, "x = try_pay(a: a) until not x.failed within 1 polls", "admitted"),
    "polls that never end, of two calls": (
        LIMITED, "p = peek(a: a)\nq = insist(a: a) until q.n == 1 within 2 polls when p.n == 1\n"
        "r = insist(a: b) until r.n == 1 within 2 polls when p.n == 1", "SCP004",
    ),
    "polls that never end, of one call": (
        LIMITED, "p = peek(a: a)\nq = insist(a: a) until q.n == 1 within 2 polls when p.n == 1", "admitted",
    ),
    "polls that never end, and another use of their approvals": (
        APPROVED, "p = peek(a: a)\nq = ask(a: a) until q.n == 1 within 2 polls when p.n == 1\n"
        "r = ask(a: a) when p.n == 1", "AUT004",
    ),
    "another use of their approvals, listed first": (
        APPROVED, "p = peek(a: a)\nr = ask(a: a) when p.n == 1\n"
        "q = ask(a: a) until q.n == 1 within 2 polls when p.n == 1", "AUT004",
    ),
    "polls that never end, one for each approval": (
        APPROVED, "p = peek(a: a)\nq = ask(a: a) until q.n == 1 within 2 polls when p.n == 1", "admitted",
    ),
    # counterexamples that need all polls to fail
    "failed after polls": (CONTRACT, "q = look(a: a) until q.n == 1 within 3 polls\nu = use(a: a) when failed(q)", "DEP004"),
    "failed after polls that witnessed it": (
        CONTRACT, "q = paid_once(a: a) until not q.there within 3 polls\nx = pay(a: a) when failed(q)", "PRS002",
    ),
    "one poll and a set, unordered": (CONTRACT, "q = look(a: a) until q.n == 1 within 1 polls\ns = put(a: a, n: 1)", "PRS007"),
    "three polls and a set, unordered": (CONTRACT, "q = look(a: a) until q.n == 1 within 3 polls\ns = put(a: a, n: 1)",
                                         "PRS007"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_poll_is_a_call(case: str) -> None:
    contract, steps, expected = CASES[case]
    assert said(DOMAIN, contract, f"m = make(a: a)\n{steps}\ndone") == expected
