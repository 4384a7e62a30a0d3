"""A contract that nothing can satisfy says what is missing, and what it says would mend it does."""

from __future__ import annotations

import re

import pytest

from cfrc.lang.load import load
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.source import Source
from cfrc.verify import support

DOMAIN = """\
domain hotel
    id Room, Slot
    fluent free(room: Room, slot: Slot): bool
    fluent flag: bool
    effect booked(room: Room, slot: Slot)
    effect noted(room: Room)
    effect paid(room: Room) once
    effect rung()
    read look(room: Room) -> { open: bool }
        refutes paid(room) when result.open
    write book(room: Room, slot: Slot)
        requires free(room, slot)
        causes   booked(room, slot)
        sets     free(room, slot) = false
    write pay(room: Room)
        causes paid(room)
    write pay_and_note(room: Room)
        causes paid(room)
        causes noted(room)
    write ring()
        causes rung() when flag
    write set_flag(on: bool)
        sets flag = on
    write macro(room: Room)

contract z for hotel
    fixed room: Room = "R" from user turn 1
    known slot: Slot = "S" from receipt c1
"""

CASES = {
    "a licence of what it sets": (
        "owes x: booked(room, slot)\nallow book\nwithin booked(room, slot)",
        '`free("R", "S")`',
    ),
    "the tight scope": ("owes x: booked(room, slot)\nallow book", '`free("R", "S")`'),
    "the tight scope of two": (
        "owes x: booked(room, slot)\nowes y: noted(room)\nallow book, pay_and_note",
        '`paid("R")`',
    ),
    "a wild card": ("owes x: booked(room, _)\nallow book", '`free("R", _)`'),
    "a licence of what is owed": ("owes x: paid(room)\nallow pay\nwithin flag", '`paid("R")`'),
    "a doubt": ('owes x: paid(room)\ndoubt paid("R") from receipt c9 unknown\nallow pay', "the doubt about `paid`"),
    "a tool": ("owes x: paid(room)\nallow look", "none causes or witnesses `paid`"),
    "a condition": ("owes x: rung()\nholds flag == false from receipt c1\nallow ring\nwithin rung(), flag", "`ring`"),
    "a state": ("owes x: flag == true\nholds flag == false from receipt c1\nallow pay", "none sets that state"),
    "a limit": ("owes x: paid(room)\nallow pay\nlimit count of paid(_) <= 0", "the number of `paid`"),
}


def judged(items: str) -> Verdict:
    body = "".join(f"    {line}\n" for line in items.splitlines())
    return support(load(Source("<t>", DOMAIN + body)).contracts["z"])


def mended(items: str, found: Finding) -> str:
    """The contract with what the help says."""
    help = found.help or ""
    within = re.search(r"`(within [^`]*)`", help)
    if within is not None:
        items += "\n" + within[1]
    allow = re.search(r"allow `(\w+)`", help)
    if allow is not None:
        items = re.sub(r"^allow ", f"allow {allow[1]}, ", items, flags=re.MULTILINE)
    return items.replace("<= 0", "<= 1") if "raise the limit" in help else items


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing_is_named_and_mends_it(name: str) -> None:
    items, reason = CASES[name]
    verdict = judged(items)
    assert verdict.status is Status.WITHHELD
    while verdict.status is Status.WITHHELD:  # one finding an obligation
        found = verdict.findings[0]
        assert found.code == "CFRC-CON006" and "probe" not in found.message
        better = mended(items, found)
        assert better != items, found
        items, verdict = better, judged(better)
    assert verdict.status is Status.ADMITTED
    assert any(reason in f.message for f in judged(CASES[name][0]).findings)


def test_what_nothing_can_mend_says_so() -> None:
    (found,) = judged('owes x: noted(room)\nkept paid("R") from receipt c1\nallow pay_and_note').findings
    assert "`pay_and_note` may repeat `paid`" in found.message and found.help is not None
    assert "drop the obligation" in found.help
