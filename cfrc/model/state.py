"""Turns a contract and an initial world into the mutable state σ = (w, c, a, s, x, q) of one concrete run.

``docs/semantics.md`` §2. The state is updated in place, so that a step costs what it touches and not the size of the
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model.canon import canonical, has_type
from cfrc.model.evaluate import equal
from cfrc.model.footprint import Wild, matches
from cfrc.model.instances import Instance, Pattern, Write
from cfrc.model.plan import Plan, full_args
from cfrc.model.values import Value


class Illegal(Exception):
    """A scenario that is no run of the semantics; the text says why."""


@dataclass(slots=True)
class InDoubt:
    """One element of U: from the contract, or from a failed call that may have caused it. ``status`` is s."""

    effect: str
    args: tuple[Value | Wild, ...]
    call: tuple[str, dict[str, Value]] | None
    node: str | None = None
    status: Literal["?", "yes", "no"] = "?"
    refuted: list[tuple[Value | Wild, ...]] = field(default_factory=list)
    """What has been refuted of it since, where that was not all of it."""


def covers(pattern: tuple[Value | Wild, ...], args: tuple[Value | Wild, ...]) -> bool:
    """Whether a pattern is about every instance of another one."""
    return all(isinstance(p, Wild) or p == a for p, a in zip(pattern, args, strict=True))


@dataclass(slots=True)
class State:
    """σ. ``status`` is x (``ok``, ``skipped``, ``failed``, ``dead``, ``poll``, ``doubt``; missing = –), ``count`` is c,
    ``alive`` is a, ``doubts`` is s, ``used`` is q. ``since`` is the step that first realized an identity since the
    freeze; ``by_key`` the node that first realized a ``once`` key."""

    plan: Plan
    world: dict[Instance, Value]
    count: dict[Instance, int] = field(default_factory=dict)
    alive: dict[Instance, bool] = field(default_factory=dict)
    since: dict[Instance, int] = field(default_factory=dict)
    by_key: dict[Instance, str] = field(default_factory=dict)
    caused_by: dict[Instance, str] = field(default_factory=dict)
    doubts: list[InDoubt] = field(default_factory=list)
    refuted: list[tuple[Pattern, set[Instance]]] = field(default_factory=list)
    kept: frozenset[Instance] = frozenset()
    gone: set[Instance] = field(default_factory=set)
    pinned: set[Instance] = field(default_factory=set)
    status: dict[str, str] = field(default_factory=dict)
    results: dict[str, Value] = field(default_factory=dict)
    polls: dict[str, int] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def doubted(self, instance: Instance) -> Iterator[InDoubt]:
        """The in-doubt effects that the identity may be, whatever their status."""
        effect, args = instance
        return (d for d in self.doubts if d.effect == effect and matches(d.args, args))

    def is_realized(self, instance: Instance) -> bool:
        """Whether the identity is kept, caused or witnessed, and not undone."""
        return self.alive.get(instance, False) or (instance in self.kept and instance not in self.gone)

    def undo(self, pattern: Pattern) -> None:
        for target in self.matching(pattern):
            self.alive[target] = False
            if target in self.kept:
                self.gone.add(target)

    def matching(self, pattern: Pattern) -> list[Instance]:
        """The realized identities that match a pattern, in a fixed order."""
        effect, args = pattern
        if not any(isinstance(a, Wild) for a in args):
            return [pattern] if self.is_realized(pattern) else []  # type: ignore[list-item,arg-type] # no wildcard left
        known = dict.fromkeys((*self.kept, *self.alive))
        return [i for i in known if i[0] == effect and matches(args, i[1]) and self.is_realized(i)]

    def realize(self, instance: Instance, step: int, node: str, caused: bool) -> None:
        """Notes a cause or a witness."""
        self.alive[instance] = True
        self.since.setdefault(instance, step)
        if caused:
            self.count[instance] = self.count.get(instance, 0) + 1
            self.caused_by.setdefault(instance, node)
            for _, caused_since in self.refuted:
                caused_since.add(instance)
        elif self.doubts:
            for d in self.doubted(instance):
                d.status = "yes"
        if self.plan.contract.domain.effects[instance[0]].once:
            self.by_key.setdefault((instance[0], self.plan.sig.key(*instance)), node)

    def refute(self, pattern: Pattern) -> None:
        """Notes a refutation. A doubt is settled when the pattern covers it entirely, else for what it covers."""
        self.refuted.append((pattern, set()))
        for d in self.doubts:
            if d.effect != pattern[0]:
                continue
            if covers(pattern[1], d.args) and d.status == "?":
                d.status = "no"
            elif any(isinstance(a, Wild) for a in d.args):
                d.refuted.append(pattern[1])

    def is_refuted(self, instance: Instance) -> bool:
        """Whether the identity was refuted and not caused since."""
        return any(
            p[0] == instance[0] and matches(p[1], instance[1]) and instance not in caused for p, caused in self.refuted
        )

    def write(self, w: Write) -> None:
        self.world[w.fluent, w.args] = w.value
        if self.plan.contract.domain.fluents[w.fluent].volatile:
            self.pinned.add((w.fluent, w.args))

    def observe(self, fluent: str, args: tuple[Value, ...], value: Value) -> None:
        """A volatile fluent takes the observed value and is pinned; any other already has it."""
        if self.plan.contract.domain.fluents[fluent].volatile:
            self.world[fluent, args] = value
            self.pinned.add((fluent, args))

    def change(self, changes: tuple[tuple[str, tuple[Value, ...], Value], ...]) -> None:
        """ENV. Raises :class:`Illegal` for a fluent that is not volatile, is pinned, or a value of another type."""
        for fluent, args, value in changes:
            declared = self.plan.contract.domain.fluents.get(fluent)
            if declared is None or not declared.volatile:
                raise Illegal(f"the environment does not change {fluent}")
            args = self.plan.sig.fluent(fluent, args)
            if (fluent, args) in self.pinned:
                raise Illegal(f"{fluent} is pinned")
            if not has_type(value, declared.type):
                raise Illegal(f"a new value of {fluent} is not a {declared.type}")
            self.world[fluent, args] = canonical(declared.type, value)


def initial_state(plan: Plan, world: Mapping[Instance, Value]) -> State:
    """Init. Raises :class:`Illegal` when the world contradicts K_f or a non-volatile fact of E.

    Facts that the world does not list are filled in; a volatile fact may have changed since, so it only fills in.
    """
    contract, sig = plan.contract, plan.sig
    start: dict[Instance, Value] = {}
    for (fluent, args), value in world.items():
        declared = contract.domain.fluents.get(fluent)
        if declared is None or not has_type(value, declared.type):
            raise Illegal(f"the initial world has no such value of {fluent}")
        start[fluent, sig.fluent(fluent, args)] = value
    for fact in contract.facts:
        key = (fact.fluent, sig.fluent(fact.fluent, fact.args))
        declared = contract.domain.fluents[fact.fluent]
        value = start.setdefault(key, canonical(declared.type, fact.value))
        if not declared.volatile and not equal(value, canonical(declared.type, fact.value)):
            raise Illegal(f"the initial world contradicts a fact about {fact.fluent}")
    state = State(plan, start)
    state.kept = frozenset((k.effect, _ground(plan, k.effect, k.args)) for k in contract.kept)
    for d in contract.doubts:
        call = None
        if d.call is not None and d.call[0] in contract.domain.tools:
            call = (d.call[0], full_args(contract.domain.tools[d.call[0]], d.call[1]))
        state.doubts.append(InDoubt(d.effect, sig.effect(d.effect, d.args), call))
    return state


def _ground(plan: Plan, effect: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple([a for a in plan.sig.effect(effect, args) if not isinstance(a, Wild)])
