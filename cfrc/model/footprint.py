"""Turns what a call reads and writes into one question: does the order of two calls matter?

``docs/semantics.md`` §4. R = requires, conditions, observed, refuted, in-doubt witnessed, order-constraint identities;
W = sets, causes, undoes, witnessed. Two calls are independent iff R∩W is empty both ways and W∩W holds only equal sets
(two witnesses, or two undoings, of one identity are that as well), increments of one fluent, or causes of one identity
of an effect that is not ``once``. A set to the value already held is a read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from cfrc.model.evaluate import equal
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Wild:
    """``_`` in a pattern: any value."""


WILD = Wild()


def matches(pattern: tuple[Value | Wild, ...], args: tuple[Value | Wild, ...]) -> bool:
    """Whether some instance matches both; ``args`` is usually ground."""
    return pattern == args or all(
        isinstance(p, Wild) or isinstance(a, Wild) or p == a for p, a in zip(pattern, args, strict=True)
    )


Mode = Literal["cause", "undo", "witness", "refute"]
"""How a call touches an effect identity. ``refute`` stands for every read of its status."""

Key = tuple[Any, ...]
"""``("fluent", name, args)``, ``("effect", name, args or key)``, ``("any", effect)`` or ``("order", obligation)``."""


@dataclass(slots=True)
class Footprint:
    """``reads`` and ``writes`` index the resources for a first, coarse look; the rest is for :func:`conflict`.

    ``opaque``: an undeclared tool, independent of nothing.
    """

    opaque: bool = False
    reads: set[Key] = field(default_factory=set)
    writes: set[Key] = field(default_factory=set)
    fluents: dict[Key, tuple[Value, bool, bool]] = field(default_factory=dict)
    effects: dict[Key, list[tuple[Mode, bool]]] = field(default_factory=dict)
    wild: list[Key] = field(default_factory=list)

    def read(self, key: Key) -> None:
        self.reads.add(key)

    def write_fluent(self, key: Key, value: Value, increment: bool, held: bool) -> None:
        """Notes a write; of two writes to one instance by one call the last counts, and they are no increment."""
        if key in self.fluents:
            increment = held = False
        self.fluents[key] = (value, increment, held)
        self.writes.add(key)

    def touch(self, mode: Mode, effect: str, args: tuple[Any, ...], once: bool) -> None:
        """Notes an access to an identity (or, for ``once``, its key); ``args`` may be a pattern."""
        key = ("effect", effect, args)
        self.effects.setdefault(key, []).append((mode, once))
        if any(isinstance(a, Wild) for a in args):
            self.wild.append(key)
            self.writes.add(("any", effect))
        else:
            (self.reads if mode == "refute" else self.writes).add(key)
            self.reads.add(("any", effect))


def _clash(a: tuple[Mode, bool], b: tuple[Mode, bool]) -> bool:
    if a[0] == b[0]:
        return a[0] == "cause" and a[1]
    return True


def _fluent_conflict(a: Footprint, b: Footprint) -> Key | None:
    for key, (value, increment, held) in a.fluents.items():
        if key in b.reads and not held:
            return key
        other = b.fluents.get(key)
        if other is not None and not (increment and other[1]) and (
            increment or other[1] or not equal(value, other[0])
        ):  # fmt: skip
            return key
    return None


def _effect_conflict(a: Footprint, b: Footprint) -> Key | None:
    for key, modes in a.effects.items():
        same = b.effects.get(key)
        if same and any(_clash(m, n) for m in modes for n in same):
            return key
    for key in a.wild:
        for other, modes in b.effects.items():
            overlap = other[1] == key[1] and matches(key[2], other[2])
            if overlap and any(_clash(m, n) for m in a.effects[key] for n in modes):
                return other
    return None


def conflict(a: Footprint, b: Footprint) -> Key | None:
    """The resource on which the order of the two calls matters, or ``None``. ``("opaque",)`` for undeclared tools."""
    if a.opaque or b.opaque:
        return ("opaque",)
    for x, y in ((a, b), (b, a)):
        found = _fluent_conflict(x, y) or _effect_conflict(x, y)
        if found is not None:
            return found
        for key in x.writes & y.reads:
            if key[0] == "order":
                return key
    return None


def independent(a: Footprint, b: Footprint) -> bool:
    """Whether the two calls commute: same receipts and same final state in both orders."""
    return conflict(a, b) is None
