"""Turns a value into an expression of the same structure, each leaf replaced by its source."""

from __future__ import annotations

from collections.abc import Callable

from cfrc.handoff.closing.leaves import Leaf, Step, strip
from cfrc.model.expr import Build, Expr
from cfrc.model.types import BagOf, ListOf, MapOf, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value


def sourced(value: Value, type_: Type, source: Callable[[Leaf], Expr], steps: tuple[Step, ...] = ()) -> Expr:
    """``source`` says what stands for each leaf; collections and records are built of their parts. Absent fields are
    left out."""
    type_ = strip(type_)

    def inner(v: Value, t: Type, step: Step) -> Expr:
        return sourced(v, t, source, (*steps, step))

    match value:
        case tuple() if isinstance(type_, ListOf):
            items = [inner(v, type_.item, ("index", i)) for i, v in enumerate(value)]
            return Build(kind="list", items=tuple(items), type=type_)
        case Bag(rows) if isinstance(type_, BagOf):
            items = [inner(v, type_.item, ("any", i)) for i, v in enumerate(rows)]
            return Build(kind="bag", items=tuple(items), type=type_)
        case Map(pairs) if isinstance(type_, MapOf):
            keys = tuple(inner(k, type_.key, ("key", k)) for k, _ in pairs)
            items = [inner(v, type_.value, ("key", k)) for k, v in pairs]
            return Build(kind="map", items=tuple(items), keys=keys, type=type_)
        case Record() if isinstance(type_, RecordOf):
            found = [(n, f) for n, f in type_.fields if n in value and value.get(n) is not None]
            items = [inner(value.get(n), f, ("field", n)) for n, f in found]
            return Build(kind="record", items=tuple(items), names=tuple(n for n, _ in found), type=type_)
    return source(Leaf(value, type_, steps))


__all__ = ["sourced"]
