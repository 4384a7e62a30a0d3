"""Turns the receipts of a finished run into an assignment of active obligations to them, or says what has none.

``docs/semantics.md`` §3 (coverage). A receipt may discharge an obligation when it caused or witnessed an identity that
is not kept, is still alive, and matches the goal's arguments and ``where`` (read in the final state). Existential
obligations take different identities unless ``shared``; ``owes n of`` takes n occurrences. ``a before b``: a is
realized no later than the step that first realized b's identity.

Obligations that bear on nothing else are looked up one by one; existential ones that only compete for identities are
matched by augmenting paths; what is linked by references or order is searched with backtracking, within a budget (a
search that exceeds it counts as not discharged).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.model.evaluate import Env, Undefined, holds
from cfrc.model.expr import Discharge, Expr, walk
from cfrc.model.instances import Instance
from cfrc.model.matching import Quantified, complete, solutions
from cfrc.model.values import Value

BUDGET = 20_000
"""The most options that one search looks at."""


class Evidence(NamedTuple):
    """One occurrence of a realized identity: the receipt of ``node`` at ``step``."""

    step: int
    node: str
    result: Value
    identity: Instance
    caused: bool


@dataclass(frozen=True, slots=True)
class Option:
    """One way to discharge an obligation: the alternative and the receipts (none for a state goal)."""

    goal: int
    items: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class Owed:
    """An obligation with what it refers to, and whether anything else depends on how it is discharged."""

    obligation: Obligation
    refs: frozenset[str]
    linked: bool = False

    @property
    def distinct(self) -> bool:
        return bool(self.obligation.exists) and not self.obligation.shared


def _expressions(o: Obligation) -> Iterator[Expr]:
    for goal in o.goals:
        if isinstance(goal, EffectGoal):
            yield from (a for a in goal.args if a is not None)
        else:
            yield goal.condition
    if o.where is not None:
        yield o.where


def arrange(obligations: tuple[Obligation, ...]) -> list[Owed]:
    """The obligations, each after those it refers to (in written order otherwise); cyclic ones last."""
    owed = {
        o.name: Owed(o, frozenset(x.obligation for e in _expressions(o) for x in walk(e) if isinstance(x, Discharge)))
        for o in obligations
    }
    for entry in owed.values():
        for other in (*entry.refs, *entry.obligation.before):
            entry.linked = True
            if other in owed:
                owed[other].linked = True
    ordered: list[Owed] = []
    placed: set[str] = set()
    pending = list(owed.values())
    while pending:
        free = [e for e in pending if all(r in placed or r not in owed for r in e.refs)] or pending
        ordered.extend(free)
        placed.update(e.obligation.name for e in free)
        pending = [e for e in pending if e.obligation.name not in placed]
    if any(e.linked and e.distinct for e in ordered):
        for e in ordered:
            e.linked = e.linked or e.distinct
    return ordered


@dataclass(slots=True)
class Coverage:
    """The final state of one run, asked for assignments. ``evidence`` lists occurrences by effect and identity,
    ``ground`` the identities of goals fixed from the start; ``since`` is the step that first realized an identity;
    ``history[o]`` says whether the state obligation ``o`` (of some ``before``) held at first and after each step."""

    evidence: Mapping[str, Mapping[Instance, list[Evidence]]]
    ground: Mapping[str, tuple[Instance | None, ...]]
    env: Env
    quantified: Quantified
    since: Mapping[Instance, int]
    count: Mapping[Instance, int]
    history: Mapping[str, list[bool]] = field(default_factory=dict)
    budget: int = BUDGET
    _memo: dict[tuple[str, int], list[Evidence]] = field(default_factory=dict)

    # -- one obligation ---------------------------------------------------------------------------------------------

    def _env(self, chosen: Mapping[str, Option]) -> Env:
        env = self.env.child()
        env.discharges = {n: o.items[0].result for n, o in chosen.items() if o.items}
        return env

    def goal_holds(self, o: Obligation, goal: StateGoal, env: Env) -> bool:
        """Whether a state goal is true in the final state for some value of the existentials."""
        quantified = Quantified(o.exists, o.where, self.quantified.pool)
        for binding in complete({}, (), quantified, env) if o.exists or o.where is not None else ({},):
            try:
                if holds(goal.condition, env.child({("exists", n): v for n, v in binding.items()})):
                    return True
            except Undefined:
                continue
        return False

    def candidates(self, o: Obligation, index: int, goal: EffectGoal, env: Env) -> list[Evidence]:
        """The receipts that match the goal, in the order of the run."""
        by_identity = self.evidence.get(goal.effect, {})
        fixed = self.ground.get(o.name)
        wanted = fixed[index] if fixed is not None else None
        if wanted is not None:
            return list(by_identity.get(wanted, ()))
        quantified = Quantified(o.exists, o.where, self.quantified.pool)
        found: list[Evidence] = []
        for identity, items in by_identity.items():
            if any(True for _ in solutions(goal.args, identity[1], quantified, env)):
                found.extend(items)
        return found

    def options(self, o: Obligation, chosen: Mapping[str, Option], used: set[Instance]) -> Iterator[Option]:
        """The ways to discharge the obligation beside what was chosen."""
        env = self._env(chosen) if chosen else self.env
        goals = range(len(o.goals))
        if o.choice == "one":
            goals_met = [i for i in goals if next(self._goal_options(o, i, env), None) is not None]
            if len(goals_met) != 1:
                return
        distinct = bool(o.exists) and not o.shared
        for index in goals:
            for option in self._goal_options(o, index, env):
                if not (used and distinct) or not used & {i.identity for i in option.items}:
                    yield option

    def _goal_options(self, o: Obligation, index: int, env: Env) -> Iterator[Option]:
        goal = o.goals[index]
        if isinstance(goal, StateGoal):
            if self.goal_holds(o, goal, env):
                yield Option(index)
            return
        items = self._known(o, index, goal, env)
        if o.count == 1:
            yield from (Option(index, (i,)) for i in items)
            return
        for pick in combinations(self._occurrences(items, bool(o.exists) and not o.shared), o.count):
            yield Option(index, pick)

    def _known(self, o: Obligation, index: int, goal: EffectGoal, env: Env) -> list[Evidence]:
        """The candidates, remembered where they depend on nothing that a search chooses."""
        if env.discharges:
            return self.candidates(o, index, goal, env)
        place = (o.name, index)
        if place not in self._memo:
            self._memo[place] = self.candidates(o, index, goal, env)
        return self._memo[place]

    def _occurrences(self, items: list[Evidence], distinct: bool) -> list[Evidence]:
        """What ``owes n of`` counts: causes, and an identity that was only witnessed once; or else identities."""
        seen: set[Instance] = set()
        found = []
        for i in items:
            fresh = i.identity not in seen
            counts = fresh if distinct else i.caused or (fresh and not self.count.get(i.identity))
            if counts:
                found.append(i)
                seen.add(i.identity)
        return found

    def alternatives(self, o: Obligation, chosen: Mapping[str, Option]) -> int:
        """How many alternatives of a choice are realized, given what discharges the obligations it refers to."""
        env = self._env(chosen)
        return sum(1 for i in range(len(o.goals)) if any(True for _ in self._goal_options(o, i, env)))

    # -- all obligations --------------------------------------------------------------------------------------------

    def assign(self, owed: list[Owed], ordered: bool) -> tuple[dict[str, Option], list[str]]:
        """An assignment and the names of the obligations left out (none = everything is discharged)."""
        chosen: dict[str, Option] = {}
        missing: list[str] = []
        for entry in owed:
            if not entry.linked and not entry.distinct:
                option = next(self.options(entry.obligation, {}, set()), None)
                if option is None:
                    missing.append(entry.obligation.name)
                else:
                    chosen[entry.obligation.name] = option
        self._match([e for e in owed if e.distinct and not e.linked], chosen, missing)
        self._search([e for e in owed if e.linked], ordered, chosen, missing)
        return chosen, missing

    def _match(self, owed: list[Owed], chosen: dict[str, Option], missing: list[str]) -> None:
        """Bipartite matching of existential obligations (n slots for ``owes n of``) to identities."""
        if any(len(e.obligation.goals) > 1 for e in owed):
            self._search(owed, False, chosen, missing)
            return
        taken: dict[Instance, str] = {}
        slots: dict[str, Option] = {}
        options: dict[str, list[Option]] = {}
        for e in owed:
            o = e.obligation
            single = replace(o, count=1)
            names = [f"{o.name}#{k}" for k in range(o.count)]
            found = list(self.options(single, {}, set()))
            options.update((name, found) for name in names)
            # All or nothing: an obligation that cannot have all its slots gives back what it took.
            before = dict(taken), dict(slots)
            if all([self._augment(name, options, taken, slots) for name in names]):
                chosen[o.name] = Option(0)
            else:
                taken, slots = before
                missing.append(o.name)
        for e in owed:
            if e.obligation.name in chosen:
                parts = [slots[f"{e.obligation.name}#{k}"] for k in range(e.obligation.count)]
                chosen[e.obligation.name] = Option(0, tuple(i for part in parts for i in part.items))

    @staticmethod
    def _augment(
        root: str, options: dict[str, list[Option]], taken: dict[Instance, str], chosen: dict[str, Option]
    ) -> bool:
        """Finds the slot an identity, moving others to another one where that helps."""
        reached: dict[Instance, tuple[str, Option]] = {}
        queue = [root]
        for slot in queue:
            for option in options[slot]:
                if not option.items:
                    chosen[slot] = option
                    return True
                identity = option.items[0].identity
                if identity in reached:
                    continue
                reached[identity] = (slot, option)
                if identity in taken:
                    queue.append(taken[identity])
                    continue
                while True:
                    mover, move = reached[identity]
                    left = chosen.get(mover)
                    taken[identity], chosen[mover] = mover, move
                    if left is None:
                        return True
                    identity = left.items[0].identity
        return False

    def _search(self, owed: list[Owed], ordered: bool, chosen: dict[str, Option], missing: list[str]) -> None:
        """Depth-first over options; where no assignment exists, leaves out the obligation at which all fail."""
        todo = list(owed)
        while todo:
            found, deepest = self._depth_first(todo, ordered)
            if found is not None:
                chosen.update(found)
                return
            missing.append(todo.pop(deepest).obligation.name)

    def _depth_first(self, owed: list[Owed], ordered: bool) -> tuple[dict[str, Option] | None, int]:
        chosen: dict[str, Option] = {}
        stack = [self.options(owed[0].obligation, chosen, set())]
        deepest = looked = 0
        while stack:
            depth = len(stack) - 1
            entry = owed[depth]
            chosen.pop(entry.obligation.name, None)
            option = next(stack[-1], None)
            looked += 1
            if option is None or looked > self.budget:
                stack.pop()
                if looked > self.budget:
                    break
                continue
            chosen[entry.obligation.name] = option
            if ordered and self.misplaced(owed[: depth + 1], chosen) is not None:
                continue
            if depth + 1 == len(owed):
                return chosen, depth
            deepest = max(deepest, depth + 1)
            used = {
                i.identity for e in owed[: depth + 1] if e.distinct for i in chosen[e.obligation.name].items
            }  # fmt: skip
            stack.append(self.options(owed[depth + 1].obligation, dict(chosen), used))
        return None, deepest

    # -- order ------------------------------------------------------------------------------------------------------

    def misplaced(self, owed: list[Owed], chosen: Mapping[str, Option]) -> tuple[str, str] | None:
        """A pair (a, b) of chosen obligations with ``a before b`` that is violated."""
        for entry in owed:
            first = entry.obligation.name
            for second in entry.obligation.before:
                if first in chosen and second in chosen and not self.in_order(first, second, chosen):
                    return first, second
        return None

    def in_order(self, first: str, second: str, chosen: Mapping[str, Option]) -> bool:
        at = self.realized(second, chosen[second], earliest=True)
        if at is None:
            return True
        if not chosen[first].items:
            states = self.history.get(first, [])
            return at + 1 < len(states) and states[at + 1]
        done = self.realized(first, chosen[first], earliest=False)
        return done is not None and done <= at

    def realized(self, name: str, option: Option, earliest: bool) -> int | None:
        """The step that realizes an obligation; ``None`` for a state that no step made true."""
        if option.items:
            steps = [self.since.get(i.identity, i.step) for i in option.items]
            return min(steps) if earliest else max(steps)
        states = self.history.get(name, [])
        return next((i - 1 for i in range(1, len(states)) if states[i] and not states[i - 1]), None)
