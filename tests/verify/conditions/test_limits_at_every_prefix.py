"""Limits hold at every prefix of every order: what may come first counts first, refunds do not count in advance."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id Acct, Id
    effect sent(to: Acct, amount: decimal, ref: Id)
    read quote(to: Acct) -> { amount: decimal }
    write send(to: Acct, amount: decimal free, ref: Id free)
        causes sent(to, amount, ref)
    write maybe(to: Acct, amount: decimal free, ref: Id free) -> { sent: bool }
        causes sent(to, amount, ref) when result.sent
"""
CONTRACT = """
    fixed to: Acct = "A" from user turn 1
    known r1: Id = "R1" from user turn 1
    known r2: Id = "R2" from user turn 1
    known r3: Id = "R3" from user turn 1
    owes  a: sent(to, 60, r1)
    allow quote, send, maybe
    within sent(_, _, _)
    limit sum(x) of sent(_, x, _) <= 100
"""
COUNT = CONTRACT.replace("limit sum(x) of sent(_, x, _) <= 100", "limit count of sent(_, _, r2) <= 1")
FIRST = "s = send(to: to, amount: 60, ref: r1)\n"

CASES = {
    "within": (CONTRACT, "t = send(to: to, amount: 40, ref: r2)\n", "admitted"),
    "beyond": (CONTRACT, "t = send(to: to, amount: 41, ref: r2)\n", "SCP004"),
    "a refund before": (
        CONTRACT, "t = send(to: to, amount: -20, ref: r2)\nu = send(to: to, amount: 60, ref: r3) after t, s\n", "admitted",
    ),
    "a refund that may come too late": (
        CONTRACT, "t = send(to: to, amount: -20, ref: r2)\nu = send(to: to, amount: 60, ref: r3) after s\n", "SCP004",
    ),
    "a refund that is needed by what it may follow": (
        CONTRACT, "t = send(to: to, amount: -20, ref: r2) after s\nu = send(to: to, amount: 60, ref: r3) after t\n", "admitted",
    ),
    "a refund that may not come": (
        CONTRACT,
        "t = maybe(to: to, amount: -20, ref: r2)\nu = send(to: to, amount: 60, ref: r3) after t, s\n", "SCP004",
    ),
    "a refund that came": (
        CONTRACT,
        "t = maybe(to: to, amount: -20, ref: r2) expect t.sent\nu = send(to: to, amount: 60, ref: r3) after t, s\n",
        "admitted",
    ),
    "either of two": (
        CONTRACT,
        "q = maybe(to: to, amount: 0, ref: r3)\nt = send(to: to, amount: 40, ref: r2) when q.sent\n"
        "u = send(to: to, amount: 40, ref: r3) when not q.sent\n", "admitted",
    ),
    "both of two that do not exclude each other": (
        CONTRACT,
        "q = maybe(to: to, amount: 0, ref: r3)\nt = send(to: to, amount: 40, ref: r2) when q.sent\n"
        "u = send(to: to, amount: 40, ref: r3)\n", "SCP004",
    ),
    "an amount that is read": (CONTRACT, "q = quote(to: to)\nt = send(to: to, amount: q.amount, ref: r2)\n", "SCP004"),
    "an amount that is read and bounded": (
        CONTRACT, "q = quote(to: to) expect q.amount <= 40\nt = send(to: to, amount: q.amount, ref: r2)\n", "admitted",
    ),
    "a count of other instances": (COUNT, "t = send(to: to, amount: 40, ref: r3)\n", "admitted"),
    "a count of the same twice": (
        COUNT, "t = send(to: to, amount: 1, ref: r2)\nu = send(to: to, amount: 2, ref: r2)\n", "SCP004",
    ),
    "a retry after a failure counts once": (
        COUNT, "t = send(to: to, amount: 1, ref: r2)\nu = send(to: to, amount: 2, ref: r2) when failed(t)\n", "admitted",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_limits(label: str) -> None:
    contract, more, expected = CASES[label]
    assert said(DOMAIN, contract, FIRST + more + "done claims a") == expected
