"""What a support desk's task requires, as a contract; a small recorded run, cut at every point."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.support.cuts import Cut, cut, runs
from benchmarks.support.owed import owed
from benchmarks.support.report import markdown, wrong


def wants(key: str, kind: str = "order_items", **fields: Any) -> list[dict[str, Any]]:
    return [{"entity_type": kind, "record_key": key, "field": f, "expected_value": v} for f, v in fields.items()]


def refund(item: str, amount: int, confirm: bool = True) -> dict[str, Any]:
    status = "refunded" if confirm else "preview"
    arguments = {"item_id": item, "refund_method": "store_credit", "amount": amount, "confirm": confirm}
    result = {"status": status, "item_id": item, "refund_amount": amount, "refund_method": "store_credit"}
    return {"name": "process_refund", "arguments": arguments, "result": result, "state_changed": confirm}


POLICY = {
    "name": "get_policies",
    "arguments": {"topic": "refund"},
    "result": {"topic": "refund", "rules": {}},
    "state_changed": False,
}


def cuts(folder: Path, actions: list[dict[str, Any]], gold: bool, requirements: list[dict[str, Any]]) -> list[Cut]:
    task = {
        "id": "t",
        "request": "Refund the mug.",
        "user_id": "cust_1",
        "actions": actions,
        "trajectory_is_gold": gold,
    }
    (folder / "tasks.jsonl").write_text(json.dumps(task) + "\n", encoding="utf-8")
    defs = {"id": "t", "state_requirements": requirements}
    (folder / "task_defs.jsonl").write_text(json.dumps(defs) + "\n", encoding="utf-8")
    (run,) = runs(folder)
    return [cut(run, at) for at in range(len(run.actions) + 1)]


MUG = wants("ITEM-1", refund_amount=20, refund_method="store_credit")


def test_complete_only_after_the_confirmed_call(tmp_path: Path) -> None:
    found = cuts(tmp_path, [POLICY, refund("ITEM-1", 20, confirm=False), refund("ITEM-1", 20)], True, MUG)
    assert [c.kind for c in found] == ["contract", "contract", "contract", "complete"]
    assert all(c.clean for c in found) and [c.claimed for c in found] == [False] * 3 + [True]
    assert not wrong(found) and any("1 of 1" in line for line in markdown(found))


def test_another_amount_is_not_what_was_owed(tmp_path: Path) -> None:
    found = cuts(tmp_path, [POLICY, refund("ITEM-1", 25, confirm=False), refund("ITEM-1", 25)], False, MUG)
    assert found[-1].kind == "withheld" and not found[-1].claimed and not wrong(found)


def test_a_change_that_nobody_asked_for_is_over_the_limit(tmp_path: Path) -> None:
    actions = [
        POLICY,
        refund("ITEM-1", 20, False),
        refund("ITEM-1", 20),
        refund("ITEM-2", 5, False),
        refund("ITEM-2", 5),
    ]
    found = cuts(tmp_path, actions, False, MUG)
    assert found[3].kind == "complete" and found[-1].kind == "withheld"
    assert found[-1].claimed  # everything owed is there: only the limit tells
    assert any(r.startswith("CON008") for r in found[-1].reasons)


def test_accepting_a_run_that_is_not_gold_is_told(tmp_path: Path) -> None:
    found = cuts(tmp_path, [POLICY, refund("ITEM-1", 20, confirm=False), refund("ITEM-1", 20)], False, MUG)
    assert wrong(found) == ["t/3: complete at the end, but not gold"]


def test_requirements_become_events_states_and_limits() -> None:
    what = owed(
        [
            *wants("I-1", item_status="returned", refund_amount=32, return_reason="wrong_item", goodwill_credit=10),
            *wants("I-2", item_status="cancelled", refund_amount=9),
            *wants("I-3", item_status="delivered", refund_amount=None),
            *wants("W-1", "warranties", status="claimed", claim_count=2),
            *wants("O-1", "orders", status="cancelled"),
        ]
    )
    assert what.goals == [
        'returned("I-1", wrong_item, 32)', 'refunded("I-1", _, 10)', 'active("I-2") == false',
        'warranty_claimed("W-1", _)',
    ]  # fmt: skip
    assert 'refunded("I-3", _, _)' in what.never and 'returned("I-2", _, _)' in what.never
    assert what.hidden == ["order_items.refund_amount", "warranties.claim_count", "orders.status"]
    assert what.counts["order_cancelled"] == what.counts["item_cancelled"] == 1
