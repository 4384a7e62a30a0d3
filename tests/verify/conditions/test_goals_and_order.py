"""Coverage, evidence and dependency: what a run must have done at its end, and what must hold where a call is made."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id Order, Send, Item
    enum State { open, closed }
    fluent status(order: Order): State
    fluent stock: int volatile
    fluent flag: bool
    effect sent(order: Order)
    effect arrived(send: Send)
    effect mailed(order: Order)
    effect packed(order: Order, items: bag[{ item: Item, n: int }])
    effect refunded(order: Order) once
    effect exchanged(order: Order) once
    read look(order: Order) -> { status: State, stock: int, items: list[Item], mine: Item? }
        observes status(order) = result.status
        observes stock = result.stock
    read track(send: Send) -> { arrived: bool }
        witnesses arrived(send) when result.arrived
    write send(order: Order) -> { id: Send, ok: bool }
        requires status(order) == open
        causes sent(order) when result.ok
    write strict(order: Order) -> { id: Send }
        causes sent(order)
    write mail(order: Order) -> { id: Send }
        causes mailed(order)
    write unsend(order: Order)
        undoes sent(order)
    write close(order: Order)
        sets status(order) = closed
    write reopen(order: Order, sure: bool = true)
        sets status(order) = open when sure
    write take(order: Order)
        requires stock > 0
        causes sent(order)
    write toggle()
        sets flag = not flag
    write refund(order: Order)
        causes refunded(order)
    write exchange(order: Order)
        causes exchanged(order)
    write pack(order: Order, items: bag[{ item: Item, n: int }] free)
        causes packed(order, items)
    write macro(order: Order)
"""
TOOLS = "look, track, send, mail, strict, unsend, close, reopen, take, toggle, refund, exchange, pack"
BASE = f"""
    fixed o: Order = "O" from user turn 1
    known i: Item = "I" from user turn 1
    known j: Item = "J" from user turn 1
    allow {TOOLS}
    within sent(_), mailed(_), arrived(_), packed(_, _), refunded(_), exchanged(_), status(_), flag
"""
OPEN = BASE + '    holds status("O") == open from receipt c1\n'
SENT = OPEN + "    owes p: sent(o)\n"
LAST = OPEN + "    owes p: mailed(o)\n    owes q: arrived(p.id)\n"
CLOSED = OPEN + "    owes p: status(o) == closed\n"
ONE = OPEN + "    owes p: one of { refunded(o), exchanged(o) }\n"
ANY = OPEN + "    owes p: any of { refunded(o), exchanged(o) }\n"
TWO = OPEN + "    owes p: 2 of sent(o)\n"
BAG = BASE + "    owes p: packed(o, bag([{ item: x, n: 1 }])) exists x: Item where x != j\n    owes q: packed(o, _)\n"
FLAG = BASE + "    owes p: flag == true\n"
MACRO = SENT.replace("pack\n", "pack, macro\n")

CASES = {
    # discharge, and by what
    "a conditional effect that may not happen": (SENT, "s = send(order: o)\ndone claims p", "COV001 EVD004"),
    "a conditional effect, as expected": (SENT, "s = send(order: o) expect s.ok\ndone claims p", "admitted"),
    "a terminal for when it happened": (
        SENT, 's = send(order: o)\ndone claims p when s.ok\nyield "no" when not s.ok', "admitted",
    ),
    "terminals that may both fire": (
        SENT, 's = send(order: o) expect s.ok\ndone claims p\nyield "no" when s.ok', "EVD001",
    ),
    "undone at the end": (
        SENT, "s = strict(order: o)\nu = unsend(order: o) after s\ndone claims p", "COV001 EVD004",
    ),
    "never done": (SENT, 's = strict(order: o)\nyield "later"', "COV002"),
    "done only where a call was skipped and failed": (
        SENT, "s = strict(order: o)\nt = strict(order: o) when failed(s)\ndone claims p when ok(s) or ok(t)", "admitted",
    ),
    "done though both may have failed": (
        SENT, 's = strict(order: o)\nt = look(order: o) when failed(s)\ndone claims p', "COV001 EVD004",
    ),
    "a receipt of the very send": (
        LAST, "s = mail(order: o)\nt = track(send: s.id) until t.arrived within 3 polls\ndone claims p, q", "admitted",
    ),
    "a receipt of another send": (
        LAST, "s = mail(order: o)\nr = mail(order: o) after s\nt = track(send: r.id) expect t.arrived\n"
        "done claims p, q", "admitted",
    ),
    "a receipt that may say no": (
        LAST, "s = mail(order: o)\nt = track(send: s.id)\ndone claims p, q", "COV001 EVD004",
    ),
    "two of one": (TWO, "s = strict(order: o)\ndone claims p", "COV001 EVD004"),
    "two of two": (TWO, "s = strict(order: o)\nt = strict(order: o)\ndone claims p", "admitted"),
    "two of one that is polled": (
        TWO, "s = send(order: o) until s.ok within 2 polls\ndone claims p", "COV001 EVD004",
    ),
    "one of two": (ONE, "r = refund(order: o)\ndone claims p", "admitted"),
    "one of two, and the other too": (ONE, "r = refund(order: o)\ne = exchange(order: o)\ndone claims p", "COV005 EVD004"),
    "one of two, whichever": (
        ONE, "l = look(order: o)\nr = refund(order: o) when l.stock > 0\ne = exchange(order: o) when not (l.stock > 0)\n"
        "done claims p", "admitted",
    ),
    "one of two, the other where it failed": (
        ONE, "r = refund(order: o)\ne = exchange(order: o) when failed(r)\ndone claims p", "admitted",
    ),
    "any of two, and the other too": (ANY, "r = refund(order: o)\ne = exchange(order: o)\ndone claims p", "admitted"),
    "an existential in a bag": (
        BAG, "k = pack(order: o, items: bag([{ item: i, n: 1 }]))\ndone claims p, q", "admitted",
    ),
    "an existential in a bag of two": (
        BAG, "k = pack(order: o, items: bag([{ item: i, n: 1 }, { item: j, n: 1 }]))\ndone claims p, q",
        "COV001 EVD004",
    ),
    "an existential in a bag that is not to be it": (
        BAG, "k = pack(order: o, items: bag([{ item: j, n: 1 }]))\ndone claims p, q", "COV001 EVD004",
    ),
    "an existential in a bag of one, of another number": (
        BAG, "k = pack(order: o, items: bag([{ item: i, n: 2 }]))\ndone claims p, q", "COV001 EVD004",
    ),
    # state at the end
    "closed": (CLOSED, "c = close(order: o)\ndone claims p", "admitted"),
    "closed, then opened": (
        CLOSED, "c = close(order: o)\nr = reopen(order: o) after c\ndone claims p", "COV004 EVD004",
    ),
    "closed and opened in any order": (
        CLOSED, "c = close(order: o)\nr = reopen(order: o)\ndone claims p", "COV004 EVD004 PRS007",
    ),
    "closed, then not opened": (
        CLOSED, "c = close(order: o)\nr = reopen(order: o, sure: false) after c\ndone claims p", "admitted",
    ),
    "a flag that is turned, from who knows what": (FLAG, "t = toggle()\ndone claims p", "COV004 EVD004"),
    "turned twice": (
        FLAG + "    holds flag == true from receipt c1\n", "t = toggle()\nu = toggle() after t\ndone claims p", "admitted",
    ),
    # what must hold where a call is made
    "sent after it was closed": (
        SENT, "c = close(order: o)\ns = send(order: o) expect s.ok after c\ndone claims p", "DEP004",
    ),
    "sent, or closed before: one order is enough": (
        SENT, "c = close(order: o)\ns = send(order: o) expect s.ok\ndone claims p", "PRS007",
    ),
    "closed and opened before it is sent": (
        SENT, "c = close(order: o)\nr = reopen(order: o) after c\ns = send(order: o) expect s.ok after r\n"
        "done claims p", "admitted",
    ),
    "a volatile fact that was just read": (SENT, "l = look(order: o) expect l.stock > 0\nt = take(order: o) after l\ndone claims p", "admitted"),
    "a volatile fact that nobody read": (SENT, "t = take(order: o)\ndone claims p", "DEP004"),
    "a volatile fact that was read in another branch": (
        SENT, "l = look(order: o) when failed(s)\ns = strict(order: o)\nt = take(order: o) when failed(s) and l.stock > 0\n"
        "done claims p when ok(s) or ok(t)", "admitted",
    ),
    "a result that may not be there": (
        SENT, "l = look(order: o)\ns = strict(order: o) when l.stock > 0\nt = track(send: s.id)\ndone claims p when ok(s)",
        "DEP003",
    ),
    "an optional is no element of a bag": (
        OPEN + "    owes p: packed(o, _)\n",
        "l = look(order: o)\nk = pack(order: o, items: bag([{ item: l.mine, n: 1 }]))\ndone claims p", "TYP004",
    ),
    "an undeclared tool without a licence": (MACRO, "s = strict(order: o)\nm = macro(order: o) after s\ndone claims p", "SCP003"),
    "an undeclared tool with a licence": (
        MACRO + "    within tool macro\n", "s = strict(order: o)\nm = macro(order: o) after s\ndone claims p", "admitted",
    ),
    "an undeclared tool in any order": (
        MACRO + "    within tool macro\n", "s = strict(order: o)\nm = macro(order: o)\ndone claims p", "PRS007",
    ),
    "a terminal that does not wait": (
        SENT, "s = strict(order: o)\nl = look(order: o)\ndone claims p after s", "EVD003",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_goals(label: str) -> None:
    contract, steps, expected = CASES[label]
    assert said(DOMAIN, contract, steps) == expected
