"""Turns a file into a shop whose effects outlive a killed process, with tools for it and a plan that uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import cfrc
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.source import Source

TEXT = """
domain shop
    id Order, Slip, Label
    effect charged(order: Order) once
    effect mailed(order: Order) once
    effect tagged(order: Order)
    effect shipped(order: Order) once
    read look(order: Order) -> { order: Order, price: decimal }
        ensures result.order == order
    read stock(order: Order) -> { left: int }
    write charge(order: Order, amount: decimal from look.price) -> { slip: Slip }
        causes charged(order)
    read charges(order: Order) -> { charged: bool }
        witnesses charged(order) when result.charged
        refutes   charged(order) when not result.charged
    write mail(order: Order)
        causes mailed(order)
    read outbox(order: Order) -> { sent: bool }
        witnesses mailed(order) when result.sent
        refutes   mailed(order) when not result.sent
    write tag(order: Order) idempotent
        causes tagged(order)
    write ship(order: Order, slip: Slip) -> { label: Label }
        causes shipped(order)

contract rest for shop
    fixed order: Order = "O1" from user turn 1
    owes charge: charged(order)
    owes mail: mailed(order)
    owes tag: tagged(order)
    owes ship: shipped(order)
    allow look, stock, charge, charges, mail, outbox, tag, ship

proposal plan for rest
    l = look(order: order)
    k = stock(order: order)
    c = charge(order: order, amount: l.price)
    m = mail(order: order) after c
    t = tag(order: order) after m
    s = ship(order: order, slip: c.slip) after t, k
    done claims charge, mail, tag, ship
"""

ONCE = ("charge", "mail", "ship")


def case(text: str = TEXT) -> tuple[Contract, Proposal]:
    """The one contract and proposal of a text."""
    spec = cfrc.load(Source("shop.cfrc", text))
    (contract,), (proposal,) = spec.contracts.values(), spec.proposals.values()
    return contract, proposal


class Shop:
    """The tools. ``point`` is called just before and just after every effect: there a test may kill the process."""

    def __init__(self, file: Path, point: Callable[[str], None] = lambda where: None) -> None:
        self._file, self._point = file, point

    def done(self) -> list[str]:
        """The effects so far, in order."""
        return self._file.read_text().split() if self._file.exists() else []

    def _do(self, what: str) -> None:
        self._point(f"before {what}")
        with self._file.open("a") as file:
            file.write(what + "\n")
        self._point(f"after {what}")

    def look(self, order: str) -> dict[str, object]:
        self._point("look")
        return {"order": order, "price": 12.5}

    def stock(self, order: str) -> dict[str, object]:
        return {"left": 3}

    def charge(self, order: str, amount: float) -> dict[str, object]:
        assert json.dumps(amount) == "12.5"
        self._do("charge")
        return {"slip": "slip-1"}

    def charges(self, order: str) -> dict[str, object]:
        return {"charged": "charge" in self.done()}

    def mail(self, order: str) -> None:
        self._do("mail")

    def outbox(self, order: str) -> dict[str, object]:
        return {"sent": "mail" in self.done()}

    def tag(self, order: str) -> None:
        self._do("tag")

    def ship(self, order: str, slip: str) -> dict[str, object]:
        assert slip == "slip-1"
        self._do("ship")
        return {"label": "label-1"}
