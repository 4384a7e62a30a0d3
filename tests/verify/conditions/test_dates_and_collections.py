"""``requires`` and guards over dates, durations and collections that receipts bring: what is computed must be what is."""

from __future__ import annotations

import pytest

from tests.verify.conditions.judged import said

DOMAIN = """
    id Trip, Seat
    effect booked(trip: Trip)
    read look(trip: Trip) -> { day: date, now: date, left: list[int], seats: bag[Seat], price: map[Seat, decimal], nights: duration }
    write book(trip: Trip, day: date free, on: date free, n: int free, cost: decimal free)
        requires day + 1d <= on and n >= 1 and cost <= 10
        causes booked(trip)
"""
CONTRACT = """
    fixed t: Trip = "T" from user turn 1
    known s: Seat = "S" from user turn 1
    owes  p: booked(t)
    allow look, book
"""
BOOK = 'b = book(trip: t, day: "2026-01-01", on: {on}, n: {n}, cost: {cost})\ndone claims p'

CASES = {
    "the day after": ("", '"2026-01-02"', "1", "5", "admitted"),
    "the same day": ("", '"2026-01-01"', "1", "5", "DEP004"),
    "a later day that is read": ('l = look(trip: t) expect l.now > "2026-01-01"\n', "l.now", "1", "5", "admitted"),
    "a day that is read": ("l = look(trip: t)\n", "l.now", "1", "5", "DEP004"),
    "the least of a list that is read": ("l = look(trip: t)\n", '"2026-01-02"', "min(l.left)", "5", "DEP004"),
    "the least of a list, as expected": (
        "l = look(trip: t) expect min(l.left) >= 1\n", '"2026-01-02"', "min(l.left)", "5", "admitted",
    ),
    "one of a list whose least is as expected": (
        "l = look(trip: t) expect min(l.left) >= 1\n", '"2026-01-02"', "l.left[0]", "5", "admitted",
    ),
    "the greatest of a list whose least is as expected": (
        "l = look(trip: t) expect min(l.left) >= 1\n", '"2026-01-02"', "max(l.left)", "5", "admitted",
    ),
    "the greatest of a list whose first is as expected": (
        "l = look(trip: t) expect l.left[0] >= 1\n", '"2026-01-02"', "max(l.left)", "5", "admitted",
    ),
    "the least of a list whose first is as expected": (
        "l = look(trip: t) expect l.left[0] >= 1\n", '"2026-01-02"', "min(l.left)", "5", "DEP004",
    ),
    "the least of a list whose greatest is as expected": (
        "l = look(trip: t) expect max(l.left) >= 1\n", '"2026-01-02"', "min(l.left)", "5", "DEP004",
    ),
    "the least of a list that holds one, at most": (
        "l = look(trip: t) expect 0 in l.left\n", '"2026-01-02"', "min(l.left)", "5", "DEP004",
    ),
    "the least of the prices": (
        # right would be an admission
        "l = look(trip: t) expect max(values(l.price)) <= 10\n", '"2026-01-02"', "1", "min(values(l.price))", "undecided",
    ),
    "the first of a list, as expected": (
        "l = look(trip: t) expect l.left[0] >= 1\n", '"2026-01-02"', "l.left[0]", "5", "admitted",
    ),
    "the last of a list, where the first is expected": (
        "l = look(trip: t) expect l.left[0] >= 1\n", '"2026-01-02"', "l.left[-1]", "5", "DEP004",
    ),
    # right, too, but the size of a bag is not tied to its members
    "how many are left": ("l = look(trip: t) expect s in l.seats\n", '"2026-01-02"', "count(l.seats)", "5", "admitted"),
    "the price of a seat": ("l = look(trip: t) expect l.price[s] <= 10\n", '"2026-01-02"', "1", "l.price[s]", "admitted"),
    "a price of a seat": ("l = look(trip: t)\n", '"2026-01-02"', "1", "l.price[s]", "DEP004"),
    "half the price of a seat": (
        "l = look(trip: t) expect l.price[s] <= 20\n", '"2026-01-02"', "1", "div(l.price[s], 2)", "admitted",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", CASES)
def test_what_is_computed(label: str) -> None:
    first, on, n, cost, expected = CASES[label]
    assert said(DOMAIN, CONTRACT, first + BOOK.format(on=on, n=n, cost=cost)) == expected
