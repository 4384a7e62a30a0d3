"""Turns a recorded run and a cut into the places where every argument's value could have come from.

A value is *supported* when the request names it or an earlier successful call returned it: not as a mere echo of that
call's own argument, and with its own type. Preferred is what the parameter allows and what stands before the cut; a
value that only a forbidden place holds has a *wrong source*, a value that no place holds has *none*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from cfrc.adapters.runs import TaskRun
from cfrc.handoff.closing.leaves import Leaf, echoes, leaves
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.sources import exempt
from cfrc.model import provenance
from cfrc.model.canon import canonical
from cfrc.model.contract import Origin
from cfrc.model.domain import Param
from cfrc.model.types import Id, Prim, Type
from cfrc.model.values import Value

Support = Literal["supported", "wrong source", "wrong type", "no source"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: in the request (``call`` is ``None``) or at a leaf of a call's result."""

    call: Made | None
    leaf: Leaf

    @property
    def index(self) -> int:
        return -1 if self.call is None else self.call.index


@dataclass(frozen=True, slots=True)
class Found:
    support: Support
    place: Place | None


class Places:
    """All places of one run, and the choice among them. ``cut``: calls before it have happened."""

    def __init__(self, run: TaskRun, cut: int) -> None:
        self.run, self.cut = run, cut
        self.by_value: dict[Value, list[Place]] = {}
        for call in run.calls:
            if call.usable and call.tool is not None and not call.tool.grounds_nothing:
                mere = echoes(call.tool)
                for leaf in leaves(call.result, call.tool.result):
                    if leaf.reachable and leaf.names not in mere:
                        self.by_value.setdefault(leaf.value, []).append(Place(call, leaf))

    def find(self, leaf: Leaf, param: Param, call: Made) -> Found:
        """The best place for a value that ``call`` passes as (part of) ``param``."""
        allowed, forbidden, mistyped = self._candidates(leaf, param, call)
        if allowed:
            return Found("supported", min(allowed, key=lambda p: self._rank(p, call)))
        if forbidden:
            return Found("wrong source", min(forbidden, key=lambda p: self._rank(p, call)))
        if mistyped:
            return Found("wrong type", min(mistyped, key=lambda p: self._rank(p, call)))
        return Found("no source", None)

    def _candidates(self, leaf: Leaf, param: Param, call: Made) -> tuple[list[Place], list[Place], list[Place]]:
        allowed: list[Place] = []
        forbidden: list[Place] = []
        mistyped: list[Place] = []
        if mentions(self.run.request, leaf.value, leaf.type):
            place = Place(None, Leaf(leaf.value, leaf.type))
            (allowed if allows(param, place) else forbidden).append(place)
        for place in self.by_value.get(leaf.value, ()):
            if place.index >= call.index:
                continue
            if place.leaf.type != leaf.type:
                if isinstance(leaf.type, Id) and isinstance(place.leaf.type, Id):
                    mistyped.append(place)
                continue
            (allowed if allows(param, place) else forbidden).append(place)
        return allowed, forbidden, mistyped

    def _rank(self, place: Place, call: Made) -> tuple[bool, bool, int]:
        """Before the cut first; then what speaks of something else that this call names; then the earliest."""
        return place.index >= self.cut, not self._related(place, call), place.index

    def _related(self, place: Place, call: Made) -> bool:
        if place.call is None:
            return True
        mine = identifiers(call)
        return bool(mine & (identifiers(place.call) | _top_level(place.call)))

    def others(self, type_: Type, besides: Iterable[Value]) -> Iterator[Place]:
        """Other values of the type that were returned before the cut: real, and not used."""
        seen = set(besides)
        for value, places in self.by_value.items():
            if value not in seen:
                place = next((p for p in places if p.leaf.type == type_ and p.index < self.cut), None)
                if place is not None:
                    seen.add(value)
                    yield place


def identifiers(call: Made) -> set[Value]:
    if call.tool is None:
        return set()
    return {
        leaf.value
        for p in call.tool.params
        if p.name in call.args
        for leaf in leaves(call.args[p.name], p.type)
        if isinstance(leaf.type, Id)
    }


def _top_level(call: Made) -> set[Value]:
    if call.tool is None:
        return set()
    return {x.value for x in leaves(call.result, call.tool.result) if isinstance(x.type, Id) and len(x.steps) <= 1}


def allows(param: Param, place: Place) -> bool:
    """Whether the parameter's ``from`` allows the place."""
    if place.call is None:
        return provenance.allows(param, Origin("user"))
    return provenance.allows(param, Origin("receipt", tool=place.call.name, path=place.leaf.names))


def mentions(request: str, value: Value, type_: Type) -> bool:
    """Whether the request names the value: as a whole word, spelled as the type's canonical form allows."""
    match type_, value:
        case ((Id() | Prim("string")), str()) if value.strip():
            flags = re.IGNORECASE if isinstance(type_, Id) and "lower" in type_.canonical else 0
            pattern = rf"(?<![^\W_])(?<!#){re.escape(value)}(?![^\W_])"
            return any(canonical(type_, m.group()) == value for m in re.finditer(pattern, request, flags))
        case Prim("int" | "decimal"), int() | Fraction() if not isinstance(value, bool):
            numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", request.replace(",", ""))
            return any(Fraction(n) == value for n in numbers)
        case Prim("date"), date():
            return value.isoformat() in request
    return False


__all__ = [
    "Found", "Place", "Places", "Support", "allows", "exempt", "identifiers", "mentions",
]  # fmt: skip
