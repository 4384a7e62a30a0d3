"""What a phone's milestones come to as a contract; a small recorded task, cut at every point."""

from __future__ import annotations

from typing import Any

from benchmarks.toolsandbox.__main__ import markdown
from benchmarks.toolsandbox.cuts import cuts
from benchmarks.toolsandbox.owed import owed

PERSON = "9e137f06-916a-5310-8174-cf0b7e9f7054"
REMOVED = {"db": "CONTACT", "check": "removal_similarity", "target": [{"person_id": PERSON}]}
GUARD = {"db": "CONTACT", "check": "guardrail_similarity"}
FOUND = [{"person_id": PERSON, "name": "F", "phone_number": "+1", "relationship": "friend", "is_self": False}]
LOOK = {"name": "search_contacts", "arguments": {"name": "F"}, "result": FOUND}


def remove(person: str) -> dict[str, Any]:
    return {"name": "remove_contact", "arguments": {"person_id": person}, "result": None}


def task(*actions: dict[str, Any], milestones: list[Any]) -> dict[str, Any]:
    return {"id": "t", "request": "Remove F.", "actions": list(actions), "milestones": milestones, "minefields": []}


def test_the_remainder_is_admitted_and_then_complete() -> None:
    wifi = {"db": "SETTING", "check": "snapshot_similarity", "target": [{"wifi": True}]}
    on = {"name": "set_wifi_status", "arguments": {"on": True}, "result": None}
    found = list(cuts(task(LOOK, on, remove(PERSON), milestones=[[wifi], [REMOVED]])))
    assert [w.word for w in found] == ["fresh", "fresh", "admitted", "complete"]
    assert all(w.clean and not w.untyped for w in found)
    assert "| tasks, cuts | 1, 4 |" in list(markdown(found))


def test_a_guarded_database_may_change_no_more_than_is_owed() -> None:
    found = list(cuts(task(LOOK, remove(PERSON), remove("another"), milestones=[[REMOVED, GUARD]])))
    assert [w.word for w in found][2:] == ["complete", "withheld"]
    assert found[-1].codes == ("CON008",)


def test_what_is_said_is_counted_and_a_minefield_bars_its_tool() -> None:
    said = {"db": "SANDBOX", "check": "snapshot_similarity", "target": [{"content": "Done"}]}
    mine = {"db": "SANDBOX", "check": "snapshot_similarity", "target": [{"tool_trace": {"tool_name": "add_contact"}}]}
    what = owed([[said], [REMOVED, GUARD]], [[mine]])
    assert what.goals == [f'contact_removed("{PERSON}")'] and what.barred == {"add_contact"}
    assert what.hidden == {"said or looked up": 1} and what.guarded == {"CONTACT"}
