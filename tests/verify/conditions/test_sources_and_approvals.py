"""Grounding, binding and authority: where a value comes from, whether it is the bound one, and who approved the call."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id Acct, Bill, Item
    effect paid(to: Acct, amount: decimal)
    effect picked(items: bag[Item])
    effect sent(parcel: { item: Item, to: Acct? })
    read find(bill: Bill) -> { bill: Bill echoes bill, to: Acct, amount: decimal, maybe: Acct?, all: list[Acct] }
    read again(to: Acct) -> { to: Acct echoes to, ok: bool }
    read guess(words: text) -> { to: Acct, amount: decimal } grounds nothing
    read mail() -> { bill: Bill, to: Acct }
    write pay(to: Acct from user | find.to, amount: decimal from user | find.amount)
        causes paid(to, amount)
    write pay_bill(to: Acct from user | find, bill: Bill from user | mail unquoted)
        causes paid(to, 1)
    write pay_part(to: Acct, parts: int = 3)
        causes paid(to, parts)
    write pick(items: bag[Item])
        causes picked(items)
    write ship(parcel: { item: Item, to: Acct? })
        causes sent(parcel)
"""
BASE = """
    {fixed} to: Acct = "A" from user turn 1
    known amount: decimal = 5 from user turn 1
    known bill: Bill = "B" from user turn 1
    known prose: Bill = "P" from receipt c1.bill of mail quoted 3..9
    {owes}
    allow find, again, guess, mail, pay, pay_bill, pick, ship
    within paid(_, _), picked(_), sent(_)
"""
KNOWN = BASE.format(fixed='fixed rest: Item = "X" from user turn 1\n    known', owes="owes p: paid(to, _)")
FIXED = BASE.format(fixed="fixed", owes="owes p: paid(to, _)")
FREE = BASE.format(fixed='fixed rest: Item = "X" from user turn 1\n    known', owes="owes p: paid(_, _)")
ITEMS = """
    fixed i: Item = "I" from user turn 1
    fixed to: Acct = "A" from user turn 1
    known j: Item = "J" from user turn 1
    known b: Acct = "B" from user turn 1
    owes  p: {goal}
    allow pick, ship
    within picked(_), sent(_)
"""
PICK, SHIP = ITEMS.format(goal="picked(_)"), ITEMS.format(goal="sent(_)")

CASES = {
    "from the user": (KNOWN, "x = pay(to: to, amount: amount)", "admitted"),
    "a literal that is the known value": (KNOWN, 'x = pay(to: "A", amount: 5)', "admitted"),
    "a literal that is the default": (KNOWN.replace("pay,", "pay_part,"), "x = pay_part(to: to, parts: 3)", "admitted"),
    "a literal that is not the default": (KNOWN.replace("pay,", "pay_part,"), "x = pay_part(to: to, parts: 4)", "GRD001"),
    "a literal that nobody said": (KNOWN, 'x = pay(to: "A", amount: 6)', "GRD001"),
    "a literal from a source that is refused": (KNOWN, 'x = pay_bill(to: to, bill: "P")', "GRD004"),
    "quoted": (KNOWN, "x = pay_bill(to: to, bill: prose)", "GRD004"),
    "from a read that is no source": (FREE, "m = mail()\nx = pay(to: m.to, amount: amount)", "GRD002"),
    "grounds nothing": (FREE, 'g = guess(words: "a")\nx = pay(to: g.to, amount: amount)', "GRD001"),
    "an echo of a good source": (FREE, "a = again(to: to)\nx = pay(to: a.to, amount: amount)", "admitted"),
    "an echo of an echo": (
        FREE, "a = again(to: to)\nb = again(to: a.to)\nx = pay(to: b.to, amount: amount)", "admitted",
    ),
    "an echo of a bad source": (
        FREE, "m = mail()\na = again(to: m.to)\nx = pay(to: a.to, amount: amount)", "GRD002",
    ),
    "an echo of nothing": (
        FREE, 'g = guess(words: "a")\na = again(to: g.to)\nx = pay(to: a.to, amount: amount)', "GRD001",
    ),
    "either of two good sources": (
        FREE, "f = find(bill: bill)\nx = pay(to: if(f.amount > 5, f.to, to), amount: amount)", "admitted",
    ),
    "either of a good and a bad one": (
        FREE, "f = find(bill: bill)\nm = mail()\nx = pay(to: if(f.amount > 5, m.to, to), amount: amount)", "GRD002",
    ),
    "computed from good numbers": (FREE, "x = pay(to: to, amount: amount + amount)", "admitted"),
    "computed with a number from nowhere": (FREE, "x = pay(to: to, amount: amount + 17)", "GRD001"),
    "not the bound one": (FIXED, "f = find(bill: bill)\nx = pay(to: f.to, amount: amount)", "BND001 COV001 EVD004"),
    "the bound one, as expected": (
        FIXED, "f = find(bill: bill) expect f.to == to\nx = pay(to: f.to, amount: amount)", "admitted",
    ),
    "an optional that may be absent": (
        KNOWN, "f = find(bill: bill) expect f.maybe == to\nx = pay_bill(to: f.maybe, bill: bill)", "admitted",
    ),
    "a bag of the bound item": (PICK, "x = pick(items: bag([i]))", "admitted"),
    "a bag with another item": (PICK, "x = pick(items: bag([i, j]))", "BND001"),
    "a record with the bound ones": (SHIP, "x = ship(parcel: { item: i, to: to })", "admitted"),
    "a record without the optional one": (SHIP, "x = ship(parcel: { item: i })", "admitted"),
    "a record with another one": (SHIP, "x = ship(parcel: { item: i, to: b })", "BND001"),
}  # fmt: skip

APPROVED = """
    id Acct
    effect paid(to: Acct, amount: decimal)
    read quote(to: Acct) -> { amount: decimal, risky: bool }
    read ask(to: Acct) -> { ok: bool }
        approved
    write pay(to: Acct, amount: decimal free, copy: bool = false) -> { ok: bool }
        causes paid(to, amount)
        approved when amount > 10
"""
ASKED = """
    as of 2026-11-01
    policy "v2"
    fixed to: Acct = "A" from user turn 1
    known other: Acct = "B" from user turn 1
    owes p: paid(to, {amount})
    allow quote, pay
    within paid(_, _)
"""
CHEAP, DEAR = ASKED.format(amount=10), ASKED.format(amount=11)
GOOD = '    approved pay(to: "A", amount: 11) policy "v2" expires 2026-11-02 from user turn 2\n'
PAY = "x = pay(to: to, amount: 11)\n"
POLL = "x = pay(to: to, amount: 11) until x.ok within {} polls\n"

APPROVALS = {
    "none needed": (CHEAP, "x = pay(to: to, amount: 10)", "admitted"),
    "needed, there is none": (DEAR, PAY, "AUT002"),
    "there is one": (DEAR + GOOD, PAY, "admitted"),
    "for other arguments": (DEAR + GOOD.replace("11)", "12)"), PAY, "AUT003"),
    "a default that is said": (DEAR + GOOD, "x = pay(to: to, amount: 11, copy: false)", "admitted"),
    "a default counts": (DEAR + GOOD, "x = pay(to: to, amount: 11, copy: true)", "AUT003"),
    "expires on the day": (DEAR + GOOD.replace("-11-02", "-11-01"), PAY, "AUT003"),
    "expired": (DEAR + GOOD.replace("-11-02", "-10-31"), PAY, "AUT003"),
    "of another policy": (DEAR + GOOD.replace("v2", "v1"), PAY, "AUT003"),
    "used twice": (DEAR + GOOD, PAY + "y = pay(to: to, amount: 11) after x", "AUT004"),
    "two of them": (DEAR + GOOD + GOOD, PAY + "y = pay(to: to, amount: 11) after x", "admitted"),
    "every poll uses one": (DEAR + GOOD, POLL.format(2), "AUT004"),
    "one poll is one call": (DEAR + GOOD, POLL.format(1), "admitted"),
    "as many as polls": (DEAR + GOOD + GOOD, POLL.format(2), "admitted"),
    "one more poll than there are": (DEAR + GOOD + GOOD, POLL.format(3), "AUT004"),
    "polled, and once more": (DEAR + GOOD + GOOD, POLL.format(2) + "y = pay(to: to, amount: 11) after x", "AUT004"),
    "polled beside another": (DEAR + GOOD + GOOD, POLL.format(2) + "y = pay(to: to, amount: 11)", "AUT004"),
    "the last poll fails and is tried again": (
        DEAR + GOOD + GOOD, POLL.format(2) + "y = pay(to: to, amount: 11) when failed(x)", "AUT004",
    ),
    "polled where nothing was used before": (
        DEAR + GOOD + GOOD, PAY + POLL.format(2).replace("x", "y").strip() + " when failed(x)\n", "admitted",
    ),
    "a read that is polled": (
        CHEAP + '    allow ask\n    approved ask(to: "A") policy "v2" from user turn 2\n',
        "x = pay(to: to, amount: 10)\na = ask(to: to) until a.ok within 2 polls", "AUT004",
    ),
    "used in one of two branches": (
        DEAR + GOOD,
        "q = quote(to: to)\nx = pay(to: to, amount: 11) when q.risky\n"
        "y = pay(to: to, amount: 11) when not q.risky", "admitted",
    ),
    "an amount that is read": (
        CHEAP, "x = pay(to: to, amount: 10)\nq = quote(to: to)\ny = pay(to: to, amount: q.amount) after x", "AUT002",
    ),
    "an amount that is read and small": (
        CHEAP,
        "x = pay(to: to, amount: 10)\nq = quote(to: to) expect q.amount <= 10\n"
        "y = pay(to: to, amount: q.amount) after x", "admitted",
    ),
    "an amount that is read, as approved": (
        DEAR + GOOD, "q = quote(to: to) expect q.amount == 11\nx = pay(to: to, amount: q.amount)", "admitted",
    ),
    "denied": (CHEAP + '    denied pay(to: "A") from user turn 3\n', "x = pay(to: to, amount: 10)", "CON006"),
    "others are denied": (CHEAP + '    denied pay(to: "B") from user turn 3\n', "x = pay(to: to, amount: 10)", "admitted"),
    "that amount is denied, whoever gets it": (
        CHEAP + "    denied pay(amount: 10) from user turn 3\n", "x = pay(to: to, amount: 10)", "CON006",
    ),
    "an amount that may be denied": (
        CHEAP + "    denied pay(amount: 3) from user turn 3\n",
        "x = pay(to: to, amount: 10)\nq = quote(to: to) expect q.amount < 10\n"
        "y = pay(to: to, amount: q.amount) after x", "AUT005",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_sources(label: str) -> None:
    contract, steps, expected = CASES[label]
    assert said(DOMAIN, contract, steps + "\ndone claims p") == expected


@pytest.mark.parametrize("label", APPROVALS)
def test_approvals(label: str) -> None:
    contract, steps, expected = APPROVALS[label]
    ends = "done claims p when ok(x) or ok(y)" if "failed" in steps else "done claims p"
    assert said(APPROVED, contract, f"{steps}\n{ends}") == expected
