"""Turns a receipt of a counterexample into the other answers that are tried before it is said not to matter.

Only the parts of the receipt that some formula mentions can matter. Each gets the values that the formulas and the run
mention, their neighbours, large and small numbers, every member of an enum, and one value that nothing mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product
from math import prod

from cfrc.model import types as ty
from cfrc.model.canon import default_value
from cfrc.model.evaluate import Undefined
from cfrc.model.instances import call_instances
from cfrc.model.machine import Machine
from cfrc.model.plan import Plan
from cfrc.model.scenario import Scenario
from cfrc.model.state import Illegal
from cfrc.model.values import Record, Value, record
from cfrc.verify.shapes import Fields, Shape, leaves, sort_of, unleaf
from cfrc.verify.terms import INT, REAL, Term, Terms

Path = tuple[str, ...]
Pool = dict[ty.Type, list[Value]]

LARGE = 10**9


def unknowns(terms: Iterable[Term]) -> set[Term]:
    """The unknowns in terms and what they are made of."""
    return {t for t in parts(terms) if t.op in ("sym", "app")}


def parts(terms: Iterable[Term]) -> set[Term]:
    """The terms and everything that they are made of."""
    stack, seen = list(terms), set()
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            stack.extend(t.args)
    return seen


def places(t: ty.Type, path: Path = ()) -> Iterator[tuple[Path, ty.Type]]:
    """The leaves of a record type, or the type itself."""
    if isinstance(t, ty.RecordOf):
        for n, f in t.fields:
            yield from places(f, (*path, n))
    else:
        yield path, t


def mentioned(terms: Terms, t: ty.Type, shape: Shape, in_play: set[Term]) -> list[tuple[Path, ty.Type]]:
    """The leaves of a receipt of which some formula speaks."""
    found = []
    for path, leaf in places(t):
        part: Shape | None = shape
        for name in path:
            part = part.items.get(name) if isinstance(part, Fields) else None
        if part is None or not in_play.isdisjoint(unknowns(leaves(terms, part))):
            found.append((path, leaf))
    return found


def answers(
    where: Sequence[tuple[Path, ty.Type]], value: Value, constants: Iterable[Term], pool: Pool, most: int
) -> list[Value] | None:
    """Every combination of other values in these places; ``None`` where they cannot be listed, or are too many."""
    choices: list[list[Value]] = []
    listed = list(constants)
    for path, t in where:
        now = get(value, path)
        found = _others(t, now, listed, pool)
        if found is None:
            return None
        choices.append([now, *found])
    if prod(map(len, choices)) - 1 > most:
        return None
    # those that differ in one place come first: most often one of them tells
    picks = sorted(product(*(range(len(c)) for c in choices)), key=lambda p: sum(1 for i in p if i))
    made = []
    for pick in picks[1:]:
        other = value
        for (path, _), options, i in zip(where, choices, pick, strict=True):
            other = put(other, path, options[i])
        made.append(other)
    return made


def get(value: Value, path: Path) -> Value:
    """The part of a value; ``None`` where there is none."""
    for name in path:
        if not isinstance(value, Record) or name not in value:
            return None
        value = value.get(name)
    return value


def put(value: Value, path: Path, leaf: Value) -> Value:
    """The value with another leaf; the same value where there is no such place."""
    if not path:
        return leaf
    if not isinstance(value, Record) or path[0] not in value:
        return value
    return record({**dict(value.items), path[0]: put(value.get(path[0]), path[1:], leaf)})


def _others(t: ty.Type, value: Value, constants: list[Term], pool: Pool) -> list[Value] | None:
    """Other values of a type than this one; ``None`` for a type whose values cannot be listed well."""
    if isinstance(t, ty.Optional):
        inner = _others(t.item, value if value is not None else default_value(t.item), constants, pool)
        if inner is None:
            return None
        every = [None, default_value(t.item), *inner]
    elif isinstance(t, ty.Enum):
        every = [*t.members]
    elif t == ty.BOOL:
        every = [False, True]
    elif t == ty.DECIMAL:
        every = [*_numbers(value, constants, pool)]
    elif t == ty.INT:
        every = [int(n) for n in _numbers(value, constants, pool) if n.denominator == 1]
    elif isinstance(t, ty.Prim) and t in (ty.DATE, ty.TIME, ty.DURATION):
        every = _moments(t, value, constants, pool)
    elif isinstance(t, ty.Id | ty.Prim):
        own = sort_of(t)
        every = [c.data for c in constants if c.sort == own and isinstance(c.data, str)]
        every += [*pool.get(t, ()), f"{value}-other"]
    else:
        return None
    return [v for v in dict.fromkeys(every) if v != value]


def _numbers(value: Value, constants: list[Term], pool: Pool) -> list[Fraction]:
    now = Fraction(value) if isinstance(value, int | Fraction) else Fraction(0)
    near = [Fraction(c.data) for c in constants if c.sort in (INT, REAL)]
    near += [Fraction(v) for p in (ty.INT, ty.DECIMAL) for v in pool.get(p, ()) if isinstance(v, int | Fraction)]
    found = [*near, now + 1, now - 1, Fraction(0), Fraction(LARGE), Fraction(-LARGE)]
    return [*found, *(n + step for n in near for step in (1, -1))]


def _moments(t: ty.Prim, value: Value, constants: list[Term], pool: Pool) -> list[Value]:
    said: list[Value] = [value, *pool.get(t, ())]
    for c in constants:
        with suppress(OverflowError):  # a number that is no date, or beyond the range of dates
            said += [unleaf(c.data, t)] if c.sort == INT else []
    every = list(said)
    for v in said:
        for step in (1, -1):
            with suppress(OverflowError):
                every += [v + timedelta(days=step)] if isinstance(v, date | datetime | timedelta) else []
    return every


def agreeing(plan: Plan, scenario: Scenario, index: int) -> Scenario:
    """The scenario in a world that is from the start as the answer at ``index`` says that it is."""
    world = dict(scenario.world)
    try:
        machine = Machine(plan, scenario.world)
        for event in scenario.events[:index]:
            step = machine.begin(event)
            machine.result(step, event)
            machine.commit(step, event)
        event = scenario.events[index]
        step = machine.begin(event)
        step.env.vars["result", "result"] = event.result
        for fluent, args, value in call_instances(step.tool, step.env, machine.read, plan.sig).observes:
            world[fluent, args] = value
    except (Illegal, Undefined):
        return scenario  # replay says the same of it as it stands
    return replace(scenario, world=world)
