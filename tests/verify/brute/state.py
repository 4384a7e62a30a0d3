"""Turns a run so far into a state that can be hashed: two runs in the same state have the same futures.

Unknown values are *slots*: they are chosen when something first reads them, which gives the same runs as choosing all
of them at the start, but far fewer states. A fluent instance or result field that is not listed is its own slot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cfrc.model.types import Type
from cfrc.model.values import Value

Instance = tuple[str, tuple[Value, ...]]
Path = tuple[str, ...]
WAITING, READY, OK, SKIP, FAIL, DEAD = "-", "ready", "ok", "skip", "fail", "dead"
SETTLED = (OK, SKIP, FAIL, DEAD)


class Slot(NamedTuple):
    """An unknown value: ``where`` is ``("f", instance)``, ``("v", instance)`` or ``("r", node, attempt, path)``."""

    where: tuple[Any, ...]
    type: Type


Raw = Value | Slot


class Choose(Exception):
    """Something reads a slot: the explorer branches over its values and tries again."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot


class Undefined(Exception):
    """A projection of a value that is there has no value (a field of an absent record)."""


class NotOk(Exception):
    """The result of a node that has none (skipped, failed or dead) is read."""


class Happening(NamedTuple):
    """An identity that a receipt caused (``how`` = ``c``) or witnessed (``w``)."""

    effect: str
    args: tuple[Value, ...]
    how: str
    node: str
    alive: bool

    @property
    def identity(self) -> Instance:
        return self.effect, self.args


class Entry(NamedTuple):
    """One event of the run so far, for replay: its result's fields, and the ENV changes just before it."""

    node: str
    outcome: str
    fields: tuple[tuple[Path, Raw], ...]
    changes: tuple[tuple[Instance, Raw], ...]


@dataclass(slots=True)
class State:
    """σ = (w, c, a, s, x, q) of semantics §2; ``c`` and ``a`` are read off ``happened``.

    ``w`` holds a volatile instance only while it is pinned; ``now`` holds what volatile instances are at this moment.
    ``feet`` are the footprints of executed calls that some unsettled call is not ordered with. ``steps`` (kept only
    where the contract orders obligations) lists, for the freeze and for each step, the identities that it realized
    first and the state obligations that held after it. ``doubts`` are (identity, ``?`` | ``yes`` | ``no``, the
    call that may have produced it). How the state was reached is in ``initial`` and ``log``; no run depends on it.
    """

    x: dict[str, str]
    polls: dict[str, int]
    w: dict[Instance, Raw]
    now: dict[Instance, Value]
    res: dict[tuple[str, Path], Raw]
    happened: tuple[Happening, ...]
    doubts: tuple[tuple[Instance, str, Any], ...]
    refuted: frozenset[Instance]
    used: frozenset[int]
    feet: dict[str, Any]
    active: frozenset[str]
    steps: tuple[tuple[frozenset[Instance], frozenset[str]], ...] = ()
    initial: dict[Instance, Raw] = field(default_factory=dict)
    log: tuple[Entry, ...] = ()

    def copy(self) -> State:
        return State(
            dict(self.x), dict(self.polls), dict(self.w), dict(self.now), dict(self.res), self.happened,
            self.doubts, self.refuted, self.used, dict(self.feet), self.active, self.steps, dict(self.initial),
            self.log,
        )  # fmt: skip

    def key(self) -> tuple[Any, ...]:
        return (
            tuple(self.x.values()), tuple(self.polls.values()), frozenset(self.w.items()), frozenset(self.res.items()),
            frozenset(self.now.items()), self.happened, self.doubts, self.refuted, self.used,
            frozenset(self.feet.items()), self.active, self.steps,
        )  # fmt: skip

    def assume(self, slot: Slot, value: Value) -> State:
        """The same state, knowing what the slot's value is."""
        new = self.copy()
        new.rename(slot, value)
        match slot.where:
            case ("f", inst):
                new.w.setdefault(inst, value)
            case ("v", inst):
                new.now[inst] = value
            case ("r", node, attempt, path) if new.polls[node] == attempt:
                new.res.setdefault((node, path), value)
        return new

    def rename(self, slot: Slot, new: Raw) -> None:
        """Replaces a slot by its value, or by another slot that is known to be equal."""
        self.w = {k: new if v == slot else v for k, v in self.w.items()}
        self.res = {k: new if v == slot else v for k, v in self.res.items()}
        self.initial = {k: new if v == slot else v for k, v in self.initial.items()}
        if slot.where[0] == "f":
            self.initial.setdefault(slot.where[1], new)
        self.log = tuple(
            Entry(
                e.node,
                e.outcome,
                tuple((p, new if v == slot else v) for p, v in e.fields),
                tuple((i, new if v == slot else v) for i, v in e.changes),
            )
            for e in self.log
        )

    def realized(self) -> set[Instance]:
        return {h.identity for h in self.happened if h.alive} | {i for i, s, _ in self.doubts if s == "yes"}
