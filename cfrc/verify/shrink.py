"""Turns a confirmed counterexample into a smaller one: events and values that do not matter go.

Every smaller run is replayed too. How many are tried is bounded, by number and by the events that they have together,
for one counterexample and for all of an admission.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction

from cfrc.model import types as ty
from cfrc.model.matching import collect
from cfrc.model.scenario import Event, Scenario, Trace
from cfrc.model.values import Value
from cfrc.verify.condition import Condition
from cfrc.verify.matters import Path, Pool, agreeing, answers, get, mentioned, parts, places, put
from cfrc.verify.paths import Paths
from cfrc.verify.replay import Confirmed, confirm, same
from cfrc.verify.runs import Run
from cfrc.verify.terms import Term

SHRINK_STEPS = 200
"""Replays spent on each way of making one counterexample smaller."""

SHRINK_EVENTS = 10_000
"""Events that these replays may have together: a long run is tried less often."""

ALL_EVENTS = 60_000
"""Events that the replays of one admission may have together; what is found after that is shown as it is."""

MOST_ANSWERS = 150
"""Other answers of one call that are tried to see whether it matters; with more than these it counts as if it did."""


class Shrinker:
    """Makes the counterexamples of one admission smaller, as long as there is something left to spend."""

    def __init__(self, paths: Paths, today: date | None) -> None:
        self.paths = paths
        self.today = today
        self._left = ALL_EVENTS

    def shrink(self, condition: Condition, found: Confirmed) -> tuple[Confirmed, set[int]]:
        """A smaller run that still goes wrong the same way, and which of its events may answer what they like."""
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
            for path, t in places(run.tool.result):
                for value in _plain_values(t):
                    event = found.scenario.events[index]
                    if budget <= 0:
                        continue
                    changed = put(event.result, path, value)
                    if get(event.result, path) == value:
                        break
                    budget -= 1
                    simpler = self._confirm(condition, found, _with(found, index, changed))
                    if simpler is not None:
                        found = simpler
                        break
        return found

    def _idle(self, condition: Condition, found: Confirmed) -> set[int]:
        """The events whose answers do not matter: at once where no formula mentions them; else where every other answer
        that is tried goes wrong as well. What cannot be tried counts as if it mattered."""
        paths = self.paths
        budget = self._budget(found)
        in_play = parts([condition.bad, *paths.assume(paths.everything)])
        constants = sorted((t for t in in_play if t.is_const), key=lambda t: t.id)
        pool = self._said(found)
        idle = set()
        for i, e in enumerate(found.scenario.events):
            run = paths.run_of(e.node)
            if run is None or run.tool is None or e.outcome not in ("ok", "poll"):
                continue
            where = self._mentioned(run, in_play)
            others = answers(where, e.result, constants, pool, min(MOST_ANSWERS, budget))
            if others is None:
                continue
            budget -= len(others)
            if all(self._goes_wrong(condition, found, i, other) for other in others):
                idle.add(i)
        return idle

    def _mentioned(self, run: Run, in_play: set[Term]) -> list[tuple[Path, ty.Type]]:
        """The places of the call's results, polled or final, of which some formula speaks."""
        assert run.tool is not None
        where: dict[Path, ty.Type] = {}
        for shape in (run.result, run.poll_result):
            if shape is not None:
                where.update(mentioned(self.paths.terms, run.tool.result, shape, in_play))
        return [*where.items()]

    def _said(self, found: Confirmed) -> Pool:
        """The values that the run mentions, by type."""
        pool: Pool = {}
        fluents = self.paths.contract.domain.fluents
        for (name, args), value in found.scenario.world.items():
            for a, (_, t) in zip(args, fluents[name].params, strict=True):
                collect(pool, a, t)
            collect(pool, value, fluents[name].type)
        for e in found.scenario.events:
            run = self.paths.run_of(e.node)
            if run is None or run.tool is None:
                continue
            types = {p.name: p.type for p in run.tool.params}
            for n, v in found.trace.args.get(e.node, ()):
                collect(pool, v, types[n])
            if e.outcome in ("ok", "poll"):
                collect(pool, e.result, run.tool.result)
        return pool

    def _goes_wrong(self, condition: Condition, found: Confirmed, index: int, result: Value) -> bool:
        """Whether the run still goes wrong if the call at ``index`` returns this instead, in a world where it may, or
        whether there is no such world. A run that takes another course is not followed: it may go right."""
        scenario = replace(found.scenario, events=tuple(_with(found, index, result)))
        trace = self._replay(scenario)
        if not trace.legal:
            scenario = agreeing(self.paths.plan(self.today), scenario, index)
            self._left -= index
            trace = self._replay(scenario)
        if trace.legal:
            return any(same(condition, v) for v in trace.violations)
        alone = self._replay(replace(scenario, events=scenario.events[: index + 1]))
        return not alone.legal and "until" not in (alone.problem or "")

    def _replay(self, scenario: Scenario) -> Trace:
        self._left -= len(scenario.events)
        return self.paths.replay(scenario, self.today)


def _with(found: Confirmed, index: int, result: Value) -> list[Event]:
    """The events of a run, one of them with another result."""
    events = list(found.scenario.events)
    events[index] = replace(events[index], result=result)
    return events


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
