"""Turns typed values into their leaves and the paths that lead to them, and paths back into expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cfrc.model.domain import Tool
from cfrc.model.expr import Apply, Expr, Field, Index, Lit, Var, conjuncts
from cfrc.model.types import (
    ANY,
    INT,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    Prim,
    RecordOf,
    Type,
)  # fmt: skip
from cfrc.model.values import Bag, Map, Record, Value

Step = tuple[str, Value]
"""``("field", name)``, ``("index", i)``, ``("key", k)``; ``("any", i)`` is an element of a bag, which has no path."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar inside a value. ``type`` is never optional: absent values have no leaf."""

    value: Value
    type: Type
    steps: tuple[Step, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The fields on the path: how provenance names it."""
        return tuple(str(v) for kind, v in self.steps if kind == "field")

    @property
    def reachable(self) -> bool:
        return all(kind != "any" for kind, _ in self.steps)


def leaves(value: Value, type_: Type, steps: tuple[Step, ...] = ()) -> Iterator[Leaf]:
    """The leaves, in the value's order. Keys of maps are not leaves: no path ends at a key."""
    while isinstance(type_, Optional):
        type_ = type_.item
    match value:
        case None:
            return
        case tuple() if isinstance(type_, ListOf):
            for i, item in enumerate(value):
                yield from leaves(item, type_.item, (*steps, ("index", i)))
        case Bag(items) if isinstance(type_, BagOf):
            for i, item in enumerate(items):
                yield from leaves(item, type_.item, (*steps, ("any", i)))
        case Map(pairs) if isinstance(type_, MapOf):
            for key, item in pairs:
                yield from leaves(item, type_.value, (*steps, ("key", key)))
        case Record() if isinstance(type_, RecordOf):
            for name, field_type in type_.fields:
                if name in value:
                    yield from leaves(value.get(name), field_type, (*steps, ("field", name)))
        case _:
            yield Leaf(value, type_, steps)


def strip(type_: Type) -> Type:
    while isinstance(type_, Optional):
        type_ = type_.item
    return type_


def project(base: Expr, steps: tuple[Step, ...]) -> Expr:
    """The expression that follows the path from ``base``."""
    for kind, what in steps:
        type_ = strip(base.type)
        if kind == "field":
            inner = type_.field(str(what)) if isinstance(type_, RecordOf) else None
            base = Field(base=base, name=str(what), type=inner or ANY)
        elif kind == "key" and isinstance(type_, MapOf):
            base = Index(base=base, key=Lit(value=what, type=type_.key), type=type_.value)
        else:
            base = Index(
                base=base, key=Lit(value=what, type=INT), type=type_.item if isinstance(type_, ListOf) else ANY
            )
    return base


def path_of(e: Expr) -> tuple[Step, ...] | None:
    """The path of ``result.a.b[0]``; ``None`` for anything that is not a path from the result."""
    steps: list[Step] = []
    while True:
        match e:
            case Field(base=base, name=name):
                steps.append(("field", name))
                e = base
            case Index(base=base, key=Lit(value=key)):
                steps.append(("key" if isinstance(strip(base.type), MapOf) else "index", key))
                e = base
            case Var(kind="result"):
                return tuple(reversed(steps))
            case _:
                return None


def echoes(tool: Tool) -> frozenset[tuple[str, ...]]:
    """The result fields that only repeat an argument: the tool says so, or ``ensures`` that they equal a parameter."""
    found = set(tool.echoes)
    for ensured in tool.ensures:
        for c in conjuncts(ensured):
            if isinstance(c, Apply) and c.op == "==":
                for side, other in (c.args, c.args[::-1]):
                    path = path_of(side)
                    if path and isinstance(other, Var) and other.kind == "param":
                        found.add(tuple(str(v) for kind, v in path if kind == "field"))
    return frozenset(found)


def scalar(type_: Type) -> bool:
    return isinstance(strip(type_), Prim | Id | Enum)
