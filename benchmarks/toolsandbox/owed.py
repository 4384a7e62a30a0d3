"""Turns a task's milestones, guardrails and minefields into a contract, as far as the phone's tools can tell.

| the benchmark says | the contract |
|---|---|
| the settings are such at the end | states, `wifi == true` |
| an entry is added, changed or removed | the event, with the values that the target names |
| a database must not have changed (guardrail) | limits: events as often as owed; no tool for a setting that is not |
| a call must not be made (minefield) | its tool is not allowed |
| something is said, or looked up | nothing: words are no evidence. Counted |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

SETTINGS = {
    "cellular": "cellular",
    "wifi": "wifi",
    "location_service": "location",
    "low_battery_mode": "low_battery",
}
EVENTS: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("CONTACT", "addition"): ("contact_added", ("name", "phone_number", "relationship")),
    ("CONTACT", "update"): ("contact_modified", ("person_id", "", "", "")),
    ("CONTACT", "removal"): ("contact_removed", ("person_id",)),
    ("MESSAGING", "addition"): ("messaged", ("recipient_phone_number", "content")),
    ("REMINDER", "addition"): ("reminder_added", ("content", "reminder_timestamp", "", "")),
    ("REMINDER", "update"): ("reminder_modified", ("reminder_id", "content", "reminder_timestamp", "", "")),
    ("REMINDER", "removal"): ("reminder_removed", ("reminder_id",)),
}
"""By database and check: the event, and the field of the target for each parameter (an update need not pass all)."""


@dataclass(slots=True)
class Owed:
    goals: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    guarded: set[str] = field(default_factory=set)
    barred: set[str] = field(default_factory=set)
    hidden: Counter[str] = field(default_factory=Counter)


def owed(milestones: Sequence[Sequence[Mapping[str, Any]]], minefields: Sequence[Sequence[Mapping[str, Any]]]) -> Owed:
    found = Owed()
    for check in (c for m in milestones for c in m):
        kind = check["check"].removesuffix("_similarity")
        if kind == "guardrail":
            found.guarded.add(check["db"])
        elif check["db"] == "SETTING" and kind == "snapshot":
            _settings(check["target"], found)
        elif (check["db"], kind) in EVENTS:
            _events(check["db"], kind, check["target"], found)
        else:
            found.hidden["said or looked up" if check["db"] == "SANDBOX" else f"{check['db']} {kind}"] += 1
    for check in (c for m in minefields for c in m):
        tools = set(_tools(check.get("target")))
        found.barred |= tools
        if not tools:
            found.hidden["minefield without a tool"] += 1
    return found


def _settings(target: Sequence[Mapping[str, Any]], found: Owed) -> None:
    for name, value in (pair for t in target for pair in t.items()):
        if name in SETTINGS and isinstance(value, bool):
            goal = f"{SETTINGS[name]} == {str(value).lower()}"
            if goal not in found.goals:
                found.goals.append(goal)
        else:
            found.hidden[f"SETTING {name}"] += 1


def _events(db: str, kind: str, target: Sequence[Mapping[str, Any]], found: Owed) -> None:
    effect, fields = EVENTS[db, kind]
    for t in target:
        args = (_literal(t.get(f)) for f in fields)
        found.goals.append(f"{effect}({', '.join(args)})")
        found.counts[effect] += 1


def _literal(value: Any) -> str:
    match value:
        case None:
            return "_"
        case Decimal() | int():
            return str(value)
    return json.dumps(value)


def _tools(target: Any) -> Iterator[str]:
    for t in target or ():
        traces = t.get("tool_trace") or []
        for trace in traces if isinstance(traces, list) else [traces]:
            yield trace["tool_name"]


def contract_text(request: str, tools: Sequence[str], what: Owed) -> str:
    return "\n".join(("contract task for toolsandbox", *(f"    {x}" for x in _lines(request, tools, what)), ""))


def _lines(request: str, tools: Sequence[str], what: Owed) -> Iterator[str]:
    yield f"request {json.dumps(request.splitlines()[0])}"
    for number, goal in enumerate(what.goals, 1):
        yield f"owes o{number}: {goal}"
    settings = any("==" in g for g in what.goals)
    kept = "SETTING" in what.guarded and not settings
    allowed = [t for t in tools if t not in what.barred and not (kept and t.startswith("set_"))]
    yield f"allow {', '.join(allowed)}"
    for (db, _), (effect, fields) in EVENTS.items():
        if db in what.guarded:
            yield f"limit count of {effect}({', '.join('_' for _ in fields)}) <= {what.counts[effect]}"
