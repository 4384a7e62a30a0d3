"""Turns a counterexample into one concrete, replayable run: initial world, receipts, order and failures.

The solver's model is decoded into a :class:`Scenario`; the concrete step machine (``machine.py``) executes it under
``docs/semantics.md`` §2 and reports what it violates. What the machine does not confirm is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Event:
    """One call that returns: ``ok``/``poll`` with a result, ``fail`` (definite, no effect), ``doubt`` (halts the run).

    ``changes`` are ENV steps just before it: volatile fluent instances and their new values.
    """

    node: str
    outcome: Literal["ok", "poll", "fail", "doubt"]
    result: Value = None
    changes: tuple[tuple[str, tuple[Value, ...], Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """``world`` maps (fluent, arguments) to its initial value; an instance that is not listed has the default value of
    its type (see ``evaluate.default_value``). Nodes that settle without a call (skip, dead) are not listed in
    ``events``. A run that stops before END simply lists fewer events. ``changes`` are ENV steps after the last event,
    before END."""

    world: Mapping[tuple[str, tuple[Value, ...]], Value] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    changes: tuple[tuple[str, tuple[Value, ...], Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A formula of ``docs/semantics.md`` §3 that is false at a step (``index`` into the events; ``len(events)`` = at
    END).

    ``code`` without prefix (``PRS001``). ``failing`` is the smallest false conjunct as text; ``others`` are other nodes
    in play (e.g. the first payment of a repeated ``once`` key).
    """

    kind: str
    code: str
    index: int
    node: str | None = None
    obligation: str | None = None
    failing: str | None = None
    others: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened when a scenario was replayed. ``legal`` is false when some event is not a step of the semantics
    (not enabled, result outside Res, illegal change); ``problem`` says why; then ``violations`` prove nothing."""

    legal: bool
    problem: str | None
    violations: tuple[Violation, ...]
    ended: bool
    terminals: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, tuple[tuple[str, Value], ...]] = field(default_factory=dict)
