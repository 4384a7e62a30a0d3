"""Turns a state's log into a scenario that others can replay: unknowns that nothing read get the first value."""

from __future__ import annotations

from typing import Any

from cfrc.model.scenario import Event, Scenario
from cfrc.model.types import RecordOf, Type
from cfrc.model.values import Value, record
from tests.verify.brute.setting import Setting
from tests.verify.brute.state import Entry, Path, Raw, Slot, State


def scenario(z: Setting, state: State) -> Scenario:
    """The run that led to the state; ENV changes that the state has just seen come last."""

    def value(raw: Raw) -> Value:
        return z.universe.values(raw.type)[0] if isinstance(raw, Slot) else raw

    def event(e: Entry) -> Event:
        outcome: Any = e.outcome
        result = None
        if e.outcome != "fail":
            fields = {p: value(v) for p, v in e.fields}
            result = _assemble(z.domain.tools[z.tools[e.node]].result, (), fields)
        changes = tuple((f, args, value(v)) for (f, args), v in e.changes)
        return Event(e.node, outcome, result, changes)

    last = tuple((f, args, v) for (f, args), v in state.now.items()) if state.now else ()
    world = {i: value(v) for i, v in state.initial.items()}
    return Scenario(world, tuple(event(e) for e in state.log), last)


def _assemble(t: Type, path: Path, fields: dict[Path, Value]) -> Value:
    if isinstance(t, RecordOf):
        return record({n: _assemble(f, (*path, n), fields) for n, f in t.fields})
    return fields[path]
