"""Claims of terminals and `covers` of calls: what is claimed has its evidence, what is covered can be so."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id I
    fluent flag(i: I): bool
    fluent other(i: I): bool
    effect e(i: I)
    effect noted(i: I)
    write set_flag(i: I, b: bool)
        sets flag(i) = b
    write set_other(i: I)
        sets other(i) = true
    write note(i: I)
        causes noted(i) when not flag(i)
    write ce(i: I)
        causes e(i)
"""
CONTRACT = """
    fixed i: I = "a" from user turn 1
    {}
    allow set_flag, set_other, note, ce
    within e(_), noted(_), flag(_), other(_)
"""
IDLE = CONTRACT.format('holds flag("a") == true from receipt c1\n    owes o: e(i) if not flag(i)\n    owes x: noted(i)')
STATE = CONTRACT.format("owes o: flag(i) == true")
CONTESTED = CONTRACT.format('holds flag("a") == true from receipt c1\n    owes o: noted(i)')
NOTED = "s = set_flag(i: i, b: false)\nn = note(i: i) after s\n"

CASES = {
    "not owed, and there is evidence": (IDLE, NOTED + "c = ce(i: i)\ndone claims o", "admitted"),
    "not owed, and there is none": (IDLE, NOTED + "done claims o", "EVD004"),
    "covers a state": (STATE, "s = set_flag(i: i, b: true) covers o\ndone", "admitted"),
    "covers a state of another fluent": (
        STATE, "t = set_other(i: i) covers o\ns = set_flag(i: i, b: true) after t\ndone", "COV006",
    ),
    "covers what only another order realizes": (
        CONTESTED, "s = set_flag(i: i, b: false)\nn = note(i: i) covers o\ndone", "COV001 PRS007",
    ),
    "covers what no order realizes": (
        CONTESTED, "s = set_flag(i: i, b: false)\nm = note(i: i)\nc = ce(i: i) covers o\ndone", "COV001 COV006 PRS007",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_claims(label: str) -> None:
    contract, steps, expected = CASES[label]
    assert said(DOMAIN, contract, steps) == expected
