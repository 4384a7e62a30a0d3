"""Turns what a task requires of the final database into a contract: owed events and states, and limits on all else.

The desk's public interface shows less than its database. What no call tells (a fee, a label, the status of an order,
which moves by itself) is listed as not expressible; it is neither owed nor checked.

| the database must say | the contract |
|---|---|
| an item is returned, with a reason and an amount | `returned(item, reason, amount)` |
| … with a goodwill credit | `refunded(item, method, credit)` beside |
| an item has a refund and is not said to be returned, cancelled or exchanged | `refunded(item, method, amount)` |
| an item is cancelled | the state `active(item) == false`, without its return or exchange |
| an item has a replacement of a product | `exchanged(item, product)`, or the claim of its warranty |
| a warranty is claimed | `warranty_claimed(warranty, _)` |
| an item is in another state, or has no refund | limits: no effect on it of that kind |

A task says all that is to change. So every effect of the domain has a limit: as often as owed, and no more.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH: Mapping[str, int] = {
    "returned": 3, "refunded": 3, "order_cancelled": 1, "item_cancelled": 1, "exchanged": 2, "store_credited": 2,
    "warranty_claimed": 2,
}  # fmt: skip
"""How many parameters each effect of the domain has."""

ENDS = ("returned", "cancelled", "exchanged")
TOOLS = (
    "get_order", "get_customer", "search_products", "get_product_details", "get_policies", "get_warranty_status",
    "process_return", "process_refund", "cancel_order", "process_exchange", "process_warranty_claim",
)  # fmt: skip


@dataclass(slots=True)
class Owed:
    """``goals`` are obligations as text, ``never`` effects of one item that must not be, ``hidden`` requirements that
    the public interface cannot tell (``entity.field``)."""

    goals: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def event(self, effect: str, *args: object) -> None:
        self.goals.append(f"{effect}({', '.join(str(a) for a in args)})")
        self.counts[effect] += 1

    def no(self, effect: str, item: str) -> None:
        self.never.append(f"{effect}({', '.join([quote(item), *['_'] * (WIDTH[effect] - 1)])})")


def quote(text: str) -> str:
    return json.dumps(text)


def owed(requirements: Sequence[Mapping[str, Any]]) -> Owed:
    """What a task's ``state_requirements`` come to in terms of the domain."""
    records: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    found = Owed()
    for r in requirements:
        if "match_fields" in r:  # the record that replaces another: the exchange, or the claim, makes it
            found.hidden.append(f"{r['entity_type']} made anew")
            continue
        value = r["expected_value"] if "expected_value" in r else r["expected_value_from_match"]["match_fields"]
        records[r["entity_type"], r["record_key"]][r["field"]] = value
    claimed = any(kind == "warranties" for kind, _ in records)
    for (kind, key), wanted in records.items():
        if kind == "order_items":
            _item(key, wanted, claimed, found)
        elif kind == "warranties" and wanted.get("status") == "claimed":
            found.event("warranty_claimed", quote(key), "_")
            found.hidden += [f"warranties.{f}" for f in wanted if f != "status"]
        else:
            if kind == "orders" and wanted.get("status") == "cancelled":
                found.counts["order_cancelled"] += 1
            found.hidden += [f"{kind}.{f}" for f in wanted]
    return found


def _item(item: str, wanted: Mapping[str, Any], claimed: bool, found: Owed) -> None:
    state, amount, method = (wanted.get(f) for f in ("item_status", "refund_amount", "refund_method"))
    credit, replacement = wanted.get("goodwill_credit"), wanted.get("replacement_item_id")
    told = {"item_status", "refund_amount", "goodwill_credit", "return_reason", "replacement_item_id"}
    if state == "returned":
        found.event("returned", quote(item), wanted["return_reason"], amount)
        _refund(item, credit, wanted.get("goodwill_credit_method"), found)
    elif state == "cancelled":
        found.goals.append(f"active({quote(item)}) == false")
        found.counts["item_cancelled"] += 1
        told -= {"refund_amount"}
        for other in ("returned", "exchanged", "store_credited"):
            found.no(other, item)
    elif replacement is not None and not claimed:
        found.event("exchanged", quote(item), quote(replacement["product_id"]))
        told -= {"refund_amount"}
    else:
        told |= {"refund_method"}
        _refund(item, amount, method, found)
        if state is not None and state not in ENDS:
            for other in ("returned", "item_cancelled", "exchanged", "store_credited"):
                found.no(other, item)
    found.hidden += [f"order_items.{f}" for f, v in wanted.items() if f not in told and v is not None]


def _refund(item: str, amount: int | None, method: str | None, found: Owed) -> None:
    if amount:
        found.event("refunded", quote(item), method or "_", amount)
    else:
        found.no("refunded", item)


def contract_text(user: str, request: str, what: Owed) -> str:
    """The task's contract, before anything was done."""
    return "\n".join(("contract task for support", *(f"    {line}" for line in _lines(user, request, what)), ""))


def _lines(user: str, request: str, what: Owed) -> Iterator[str]:
    yield f"request {quote(request.splitlines()[0])}"
    yield f"fixed session: Customer = {quote(user)} from user turn 1"
    for number, goal in enumerate(what.goals, 1):
        yield f"owes o{number}: {goal}"
    yield f"allow {', '.join(TOOLS)}"
    for effect, width in WIDTH.items():
        yield f"limit count of {effect}({', '.join(['_'] * width)}) <= {what.counts[effect]}"
    for effect in what.never:
        yield f"limit count of {effect} <= 0"
