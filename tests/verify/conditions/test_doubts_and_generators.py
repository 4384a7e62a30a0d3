"""Preservation where something is in doubt, and where one call causes as many effects as a collection has rows."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id Inv, Acct, Card
    effect paid(invoice: Inv) once
    effect noted(acct: Acct)
    effect charged(card: Card, amount: decimal) once key card
    fluent total: decimal
    read check(invoice: Inv) -> { paid: bool }
        witnesses paid(invoice) when result.paid
        refutes paid(invoice) when not result.paid
    write pay(invoice: Inv) -> { ok: bool }
        causes paid(invoice)
    write retry(invoice: Inv, tag: text = "a") -> { ok: bool } idempotent
        causes paid(invoice)
    write undo(invoice: Inv)
        undoes paid(invoice)
    write risky(invoice: Inv) -> { ok: bool }
        causes paid(invoice)
        failure may cause paid(invoice)
    write note(acct: Acct)
        causes noted(acct)
    read parts(acct: Acct) -> { rows: list[{ card: Card, amount: decimal }] }
    write split(rows: list[{ card: Card, amount: decimal }] free)
        causes charged(m.card, m.amount) for m in rows
    write one(card: Card, amount: decimal free)
        causes charged(card, amount)
"""
PAY = """
    fixed inv: Inv = "I" from user turn 1
    owes  p: paid(inv)
    allow check, pay, retry, undo, risky
    within paid(inv)
"""
DOUBT = PAY + '    doubt paid("I") from receipt c9 unknown\n'
CALLED = PAY + '    doubt paid("I") by retry(invoice: "I", tag: "a") from receipt c9 unknown\n'
SPLIT = """
    fixed acct: Acct = "A" from user turn 1
    known c1: Card = "C1" from user turn 1
    known c2: Card = "C2" from user turn 1
    owes  p: charged(c1, 5)
    allow parts, split, one
    within charged(_, _)
"""

CASES = {
    "again, though it may have happened": (DOUBT, "x = pay(invoice: inv)\ndone", "PRS006"),
    "again, only where it was refuted": (
        DOUBT, "c = check(invoice: inv)\nx = pay(invoice: inv) when not c.paid\ndone", "admitted",
    ),
    "again, exactly where it was witnessed": (
        DOUBT, "c = check(invoice: inv)\nx = pay(invoice: inv) when c.paid\ndone when c.paid\n"
        'yield "no" when not c.paid', "PRS002 PRS006",
    ),
    "refuted, but not before the call": (
        DOUBT, "c = check(invoice: inv)\nx = pay(invoice: inv)\ndone", "PRS002 PRS006 PRS007",
    ),
    "witnessed only": (DOUBT, "c = check(invoice: inv) expect c.paid\ndone", "admitted"),
    "the identical call of an idempotent tool": (CALLED, "x = retry(invoice: inv)\ndone", "admitted"),
    "another call of an idempotent tool": (CALLED, 'x = retry(invoice: inv, tag: "b")\ndone', "PRS006"),
    "an idempotent tool, but the call is not known": (DOUBT, "x = retry(invoice: inv)\ndone", "PRS006"),
    "paid twice by an idempotent tool": (PAY, "x = retry(invoice: inv)\ny = retry(invoice: inv) after x\ndone", "PRS002"),
    "a failure that may have caused it": (
        PAY, "x = risky(invoice: inv)\ny = pay(invoice: inv) when failed(x)\ndone", "PRS006",
    ),
    "a failure that may have caused it, refuted": (
        PAY, "x = risky(invoice: inv)\nc = check(invoice: inv) when failed(x)\n"
        "y = pay(invoice: inv) when failed(x) and not c.paid\ndone", "admitted",
    ),
    "undone, then done again": (
        PAY, "x = pay(invoice: inv)\nu = undo(invoice: inv) after x\ny = pay(invoice: inv) after u\ndone", "PRS002 PRS004",
    ),
    "a polled write": (PAY, "x = pay(invoice: inv) until x.ok within 3 polls\ndone", "PRS002"),
    "a write that is polled once": (PAY, "x = pay(invoice: inv) until x.ok within 1 polls\ndone", "admitted"),
}  # fmt: skip

ROWS = {
    "two rows": ('s = split(rows: [{ card: c1, amount: 5 }, { card: c2, amount: 6 }])\ndone', "admitted"),
    "two rows of one card": ('s = split(rows: [{ card: c1, amount: 5 }, { card: c1, amount: 6 }])\ndone', "PRS002"),
    "a row, and the same card again": (
        's = split(rows: [{ card: c1, amount: 5 }])\nt = one(card: c1, amount: 5) after s\ndone', "PRS002",
    ),
    "no rows": ("s = split(rows: [])\ndone", "COV001 EVD004"),
    "rows of a receipt": ("r = parts(acct: acct)\ns = split(rows: r.rows)\ndone", "COV001 EVD004 PRS002"),
    "rows of a receipt, as expected": (
        "r = parts(acct: acct) expect r.rows == [{ card: c1, amount: 5 }]\ns = split(rows: r.rows)\ndone", "admitted",
    ),
    "rows of a receipt, as expected the other way round": (
        "r = parts(acct: acct) expect [{ card: c1, amount: 5 }] == r.rows and true\ns = split(rows: r.rows)\ndone",
        "admitted",
    ),
    "rows of a receipt, as expected, and the same card again": (
        "r = parts(acct: acct) expect r.rows == [{ card: c1, amount: 5 }]\ns = split(rows: r.rows)\n"
        "t = one(card: c1, amount: 5) after s\ndone", "PRS002",
    ),
    "rows of a receipt, as expected, twice one card": (
        "r = parts(acct: acct) expect r.rows == [{ card: c1, amount: 5 }, { card: c1, amount: 5 }]\n"
        "s = split(rows: r.rows)\ndone", "PRS002",
    ),
    "rows of a receipt, expected to be none": (
        "r = parts(acct: acct) expect r.rows == []\ns = split(rows: r.rows)\ndone", "COV001 EVD004",
    ),
    "rows of a receipt, as perhaps expected": (
        "r = parts(acct: acct) expect r.rows == [{ card: c1, amount: 5 }] or r.rows == []\ns = split(rows: r.rows)\n"
        "done", "undecided",  # right would be a refusal
    ),
    "rows of another receipt are as expected": (
        "q = parts(acct: acct) expect q.rows == [{ card: c1, amount: 5 }]\nr = parts(acct: acct)\n"
        "s = split(rows: r.rows)\ndone", "COV001 EVD004 PRS002",
    ),
    "rows of two receipts are the same": (
        "q = parts(acct: acct) expect q.rows == [{ card: c1, amount: 5 }]\nr = parts(acct: acct) expect r.rows == q.rows\n"
        "s = split(rows: r.rows)\ndone", "admitted",
    ),
    "rows of a receipt that failed": (
        "r = parts(acct: acct) expect r.rows == [{ card: c1, amount: 5 }]\ns = split(rows: r.rows) when ok(r)\n"
        "t = one(card: c1, amount: 5) when failed(r)\ndone", "undecided",  # right would be an admission
    ),
    "rows of a receipt that hold it, perhaps twice": (
        "r = parts(acct: acct) expect any(m.card == c1 and m.amount == 5 for m in r.rows)\n"
        "s = split(rows: r.rows)\ndone", "PRS002",
    ),
    "rows of a receipt beside one that may be among them": (
        "r = parts(acct: acct) expect count(r.rows) == 1\ns = split(rows: r.rows)\nt = one(card: c1, amount: 5)\ndone",
        "PRS002 PRS007",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_doubts(label: str) -> None:
    contract, steps, expected = CASES[label]
    if "done when" not in steps:
        steps = steps.replace("done", "done claims p")
    assert said(DOMAIN, contract, steps) == expected


@pytest.mark.parametrize("label", ROWS)
def test_generators(label: str) -> None:
    steps, expected = ROWS[label]
    assert said(DOMAIN, SPLIT, steps.replace("done", "done claims p")) == expected


PART = """
    id I
    effect e(i: I)
    effect f(i: I, n: int) once key i
    effect noted(i: I)
    read wit(i: I) -> { b: bool }
        witnesses e(i) when result.b
        refutes e(i) when not result.b
    read wif(i: I, n: int free) -> { b: bool }
        refutes f(i, n) when not result.b
    read wia(i: I) -> { b: bool }
        refutes f(i, _) when not result.b
    write ce(i: I)
        causes e(i)
    write cf(i: I)
        causes f(i, 1)
    write flaky(i: I)
        causes e(i)
        failure may cause e(i)
    write note(i: I)
        causes noted(i)
"""
ANY = """
    fixed i: I = "a" from user turn 1
    fixed k: I = "b" from user turn 1
    doubt e(_) from receipt c9 unknown
    doubt f(_, _) from receipt c8 unknown
    owes x: {}(i)
    allow ce, cf, wit, wif, wia
    within e(_), f(_, _)
"""
E_, F_ = ANY.format("e").replace("doubt f", "# f"), ANY.format("f").replace("(i)\n", "(i, _)\n")
ONE = """
    fixed i: I = "a" from user turn 1
    owes x: e(i)
    allow ce, flaky, wit, note
    within e(_), noted(_)
    limit count of e(_) <= 1
"""

OF_MANY = {
    "nothing refuted": (E_, "m = ce(i: i)", "PRS006"),
    "it is refuted": (E_, "n = wit(i: i)\nm = ce(i: i) when not n.b", "admitted"),
    "another one is refuted": (E_, "n = wit(i: k)\nm = ce(i: i) when not n.b", "COV001 EVD004 PRS006"),
    "one of its key is refuted": (F_, "n = wif(i: i, n: 1) expect not n.b\nm = cf(i: i) after n", "PRS006"),
    "its key is refuted": (F_, "n = wia(i: i) expect not n.b\nm = cf(i: i) after n", "admitted"),
    "another key is refuted": (F_, "n = wia(i: k) expect not n.b\nm = cf(i: i) after n", "PRS006"),
    "what failed and was refuted counts no more": (
        ONE, "y = flaky(i: i)\ns = wit(i: i) when failed(y)\nz = ce(i: i) when ok(s) and not s.b", "admitted",
    ),
    "what failed counts": (ONE, "y = flaky(i: i)\nz = ce(i: i) when failed(y)", "PRS006 SCP004"),
    "refuted beside the failure": (
        ONE, "s = wit(i: i)\ny = flaky(i: i)\nz = ce(i: i) when failed(y) and not s.b", "PRS006 PRS007 SCP004",
    ),
    "refuted before the failure": (
        ONE, "s = wit(i: i)\ny = flaky(i: i) when not s.b\nz = ce(i: i) when failed(y)", "PRS006 SCP004",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", OF_MANY)
def test_part_of_a_doubt(label: str) -> None:
    contract, steps, expected = OF_MANY[label]
    ends = "done claims x when ok(y) or ok(z)" if "flaky" in steps else "done claims x"
    assert said(PART, contract, f"{steps}\n{ends}") == expected


DEAD = """
    id I
    effect e(i: I)
    effect noted(i: I)
    write ce(i: I)
        causes e(i)
    write note(i: I)
        causes noted(i)
"""
OWED = """
    fixed i: I = "a" from user turn 1
    owes x: e(i)
    allow ce, note
    within e(_), noted(_)
"""
STEPS = "a = ce(i: i)\nb = note(i: i) when failed(a)\nc = note(i: i) when ok(a)\n"


@pytest.mark.parametrize("ends", ["when not failed(c)", "when not skipped(c)", "after c", "when ok(c)"])
def test_a_terminal_is_dead_where_its_guard_reads_a_dead_node(ends: str) -> None:
    assert said(DEAD, OWED, f"{STEPS}done {ends}") == "admitted"
