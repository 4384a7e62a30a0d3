"""Turns a confirmed counterexample into a smaller one: events and values that do not matter go.

Every smaller run is replayed too. How many are tried is bounded, by number and by the events that they have together,
for one counterexample and for all of an admission.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import islice

from cfrc.model import types as ty
from cfrc.model.canon import default_value
from cfrc.model.scenario import Event
from cfrc.model.values import Record, Value, record
from cfrc.verify.condition import Condition
from cfrc.verify.paths import Paths
from cfrc.verify.replay import Confirmed, confirm, same
from cfrc.verify.shapes import leaves
from cfrc.verify.terms import Term

SHRINK_STEPS = 200
"""Replays spent on each way of making one counterexample smaller."""

SHRINK_EVENTS = 10_000
"""Events that these replays may have together: a long run is tried less often."""

ALL_EVENTS = 60_000
"""Events that the replays of one admission may have together; what is found after that is shown as it is."""

MOST_VARIATIONS = 24
"""Other values of one receipt that are tried to see whether it matters."""


class Shrinker:
    """Makes the counterexamples of one admission smaller, as long as there is something left to spend."""

    def __init__(self, paths: Paths, today: date | None) -> None:
        self.paths = paths
        self.today = today
        self._left = ALL_EVENTS

    def shrink(self, condition: Condition, found: Confirmed) -> tuple[Confirmed, set[str]]:
        """A smaller run that still goes wrong the same way, and the nodes whose values do not matter."""
        found = self._shorter(condition, found) if condition.step is not None else found
        found = self._plainest(condition, found)
        return found, self._idle(condition, found)

    def _budget(self, found: Confirmed) -> int:
        return min(SHRINK_STEPS, min(SHRINK_EVENTS, self._left) // max(1, len(found.scenario.events)))

    def _confirm(self, condition: Condition, found: Confirmed, events: list[Event]) -> Confirmed | None:
        self._left -= len(events)
        return confirm(self.paths, condition, replace(found.scenario, events=tuple(events)), self.today)

    def _shorter(self, condition: Condition, found: Confirmed) -> Confirmed:
        """The same run without the events that it can do without, tried from the last on."""
        budget = self._budget(found)
        order = self.paths.order
        events = list(found.scenario.events)
        times = Counter(e.node for e in events)
        awaited = 0
        """The calls that some later event waits for: without them the run would be none."""
        for i in range(len(events) - 1, -1, -1):
            at = order.position[events[i].node]
            if not awaited >> at & 1 or times[events[i].node] > 1:
                if budget <= 0:
                    break
                budget -= 1
                smaller = self._confirm(condition, found, events[:i] + events[i + 1 :])
                if smaller is not None:
                    times[events[i].node] -= 1
                    found, events = smaller, list(smaller.scenario.events)
                    continue
            awaited |= order.anc[at]
        return found

    def _plainest(self, condition: Condition, found: Confirmed) -> Confirmed:
        """The same run with the plainest values that still go wrong, so that it does not depend on which model the
        solver happened to find: the first enum member, false, absent, 0 or 1, tried leaf by leaf in a fixed order."""
        budget = self._budget(found)
        for index in range(len(found.scenario.events)):
            run = self.paths.run_of(found.scenario.events[index].node)
            if run is None or run.tool is None or found.scenario.events[index].outcome not in ("ok", "poll"):
                continue
            for path, t in list(_leaves(run.tool.result, ())):
                for value in _plain_values(t):
                    event = found.scenario.events[index]
                    changed = _put(event.result, path, value)
                    if changed is None or budget <= 0:
                        continue
                    if changed == event.result:
                        break
                    budget -= 1
                    simpler = self._confirm(condition, found, _with(found, index, changed))
                    if simpler is not None:
                        found = simpler
                        break
        return found

    def _idle(self, condition: Condition, found: Confirmed) -> set[str]:
        """The nodes whose results do not matter: at once where no formula mentions them, else tried. Those beyond the
        budget count as if they did."""
        paths = self.paths
        budget = self._budget(found)
        mentioned = _unknowns([condition.bad, *paths.assume(paths.everything)])
        idle = set()
        for i, e in enumerate(found.scenario.events):
            run = paths.run_of(e.node)
            if run is None or run.tool is None or run.result is None or e.outcome not in ("ok", "poll"):
                continue
            if mentioned.isdisjoint(_unknowns(leaves(paths.terms, run.result))):
                idle.add(e.node)
            elif budget > 0:
                others = list(islice(variations(run.tool.result, e.result), MOST_VARIATIONS))
                budget -= len(others)
                if not any(self._goes_right(condition, found, i, other) for other in others):
                    idle.add(e.node)
        return idle

    def _goes_right(self, condition: Condition, found: Confirmed, index: int, result: Value) -> bool:
        """Whether the run would go right, or never get there, if the call at ``index`` returned this instead."""
        events = _with(found, index, result)
        self._left -= len(events)
        trace = self.paths.replay(replace(found.scenario, events=tuple(events)), self.today)
        if trace.legal:
            return not any(same(condition, v) for v in trace.violations)
        return trace.problem is not None and "until" in trace.problem


def _with(found: Confirmed, index: int, result: Value) -> list[Event]:
    """The events of a run, one of them with another result."""
    events = list(found.scenario.events)
    events[index] = replace(events[index], result=result)
    return events


def _leaves(t: ty.Type, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ty.Type]]:
    """The paths of the record leaves that have plain values to try."""
    if isinstance(t, ty.RecordOf):
        for n, f in t.fields:
            yield from _leaves(f, (*path, n))
    else:
        yield path, t


def _plain_values(t: ty.Type) -> tuple[Value, ...]:
    match t:
        case ty.Optional(i):
            return (None, *_plain_values(i))
        case ty.Enum(_, members):
            return members
        case ty.Prim("bool"):
            return (False, True)
        case ty.Prim("int"):
            return (0, 1)
        case ty.Prim("decimal"):
            return (Fraction(0), Fraction(1))
    return ()


def _put(value: Value, path: tuple[str, ...], leaf: Value) -> Value | None:
    """The value with another leaf; ``None`` where there is no such place."""
    if not path:
        return leaf
    if not isinstance(value, Record) or path[0] not in value:
        return None
    inner = _put(value.get(path[0]), path[1:], leaf)
    if inner is None and len(path) > 1:
        return None
    return record({**dict(value.items), path[0]: inner})


def _unknowns(terms: Iterable[Term]) -> set[Term]:
    """The unknowns in terms and what they are made of."""
    stack, seen = list(terms), set()
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            stack.extend(t.args)
    return {t for t in seen if t.op in ("sym", "app")}


def variations(t: ty.Type, value: Value) -> Iterator[Value]:
    """The value with one leaf changed at a time."""
    match t, value:
        case ty.RecordOf(_, fields), Record():
            for n, f in fields:
                if n in value:
                    for other in variations(f, value.get(n)):
                        yield record({**dict(value.items), n: other})
        case ty.Optional(i), _:
            yield from [default_value(i)] if value is None else [None, *variations(i, value)]
        case ty.Enum(_, members), _:
            yield from (m for m in members if m != value)
        case ty.Prim("bool"), bool():
            yield not value
        case ty.Prim("int" | "decimal"), int() | Fraction():
            yield from (value + 1, value - 1, type(value)(0))
        case ((ty.Id() | ty.Prim("text" | "string")), str()):
            yield f"{value}-other"
        case _:
            plain = default_value(t)
            if plain != value:
                yield plain
