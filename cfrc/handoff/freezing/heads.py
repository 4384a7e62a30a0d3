"""Turns a ledger into heads: a hash for every place in it, so that a later freeze finds where the last one ended.

The head after an entry is the SHA-256 of the head before it and the entry's canonical JSON. Two ledgers have one head
only if they hold the same entries in the same order.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from cfrc.lang import scalars
from cfrc.lang.canonical import digest
from cfrc.model.contract import Approval
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.values import Bag, Map, Record, Value


def heads(ledger: Ledger, start: str | None = None) -> list[str | None]:
    """The head before the first entry and after each."""
    found = [start]
    for entry in ledger.entries:
        found.append(digest({"after": found[-1], "entry": _entry(entry)}))
    return found


def since(ledger: Ledger, head: str | None) -> tuple[Ledger, str | None]:
    """The part of the ledger that a contract with this head does not know yet, and the head at its end.

    A ledger that was frozen before and has grown is cut where the last freeze ended; any other one is all news, and
    goes on from there.
    """
    if head is not None:
        whole = heads(ledger)
        if head in whole[1:]:
            cut = whole.index(head)
            return replace(ledger, entries=ledger.entries[cut:]), whole[-1]
    return ledger, heads(ledger, head)[-1]


def _entry(entry: Receipt | Choice | Approval) -> dict[str, Any]:
    match entry:
        case Receipt():
            form: dict[str, Any] = {
                "receipt": entry.id, "attempt": entry.attempt, "tool": entry.tool, "args": _pairs(entry.args),
                "result": _plain(entry.result), "status": entry.status, "actor": entry.actor,
            }  # fmt: skip
            return form | ({"time": scalars.show_time(entry.time)} if entry.time is not None else {})
        case Choice():
            return {
                "accepted": entry.name, "type": str(entry.type), "value": _plain(entry.value), "turn": entry.turn,
            }  # fmt: skip
    return {
        "denied" if entry.denied else "approved": entry.tool, "args": _pairs(entry.args), "policy": entry.policy,
        "expires": _plain(entry.expires), "turn": entry.origin.turn if entry.origin is not None else None,
    }  # fmt: skip


def _pairs(args: tuple[tuple[str, Value], ...]) -> list[Any]:
    return sorted([n, _plain(v)] for n, v in args)


def _plain(value: Value) -> Any:
    """JSON of a value that tells values of different kinds apart; no type is needed."""
    match value:
        case None | bool() | str():
            return value
        case int() | Fraction():
            return {"number": scalars.show_decimal(value)}
        case datetime():
            return {"time": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case timedelta():
            return {"duration": scalars.show_duration(value)}
        case tuple(items):
            return [_plain(v) for v in items]
        case Bag(items):
            return {"bag": [_plain(v) for v in items]}
        case Map(entries):
            return {"map": [[_plain(k), _plain(v)] for k, v in entries]}
        case Record(fields):
            return {"record": {n: _plain(v) for n, v in fields}}
    raise TypeError(f"not a value: {value!r}")
