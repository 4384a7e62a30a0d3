"""Turns JSON and literals into immutable, hashable, comparable values.

========================  =============================================
type                      Python value
========================  =============================================
identifier, text, string  ``str`` (identifiers in canonical form)
enum                      ``str``: the member name (not the wire name)
int / decimal             ``int`` / ``fractions.Fraction`` (exact)
bool                      ``bool``
date / time / duration    ``datetime.date`` / aware ``datetime`` / ``timedelta``
absent                    ``None``
list / bag                ``tuple`` / :class:`Bag`
map / record              :class:`Map` / :class:`Record`
========================  =============================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any


def order_key(value: Value) -> tuple[Any, ...]:
    """A total order over all values, so that bags and maps have one representation."""
    match value:
        case None:
            return (0,)
        case bool():
            return (1, value)
        case int() | Fraction():
            return (2, value)
        case str():
            return (3, value)
        case datetime():
            return (5, value.isoformat())
        case date():
            return (4, value.isoformat())
        case timedelta():
            return (6, value)
        case tuple():
            return (7, len(value), tuple(order_key(v) for v in value))
        case Bag(items):
            return (8, len(items), tuple(order_key(v) for v in items))
        case Map(items) | Record(items):
            return (9, len(items), tuple((order_key(k), order_key(v)) for k, v in items))
    raise TypeError(f"not a value: {value!r}")


@dataclass(frozen=True, slots=True)
class Bag:
    """A multiset: ``items`` is sorted by :func:`order_key`. Build it with :func:`bag`."""

    items: tuple[Value, ...]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Map:
    """A finite map: ``items`` is sorted by key. Build it with :func:`mapping`."""

    items: tuple[tuple[Value, Value], ...]

    def get(self, key: Value, default: Any = None) -> Any:
        return next((v for k, v in self.items if k == key), default)

    def __contains__(self, key: object) -> bool:
        return any(k == key for k, _ in self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Record:
    """Named fields, sorted by name. Build it with :func:`record`."""

    items: tuple[tuple[str, Value], ...]

    def get(self, name: str) -> Value:
        """The field's value; ``KeyError`` if the record has no such field."""
        for n, v in self.items:
            if n == name:
                return v
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(n == name for n, _ in self.items)


Value = None | bool | int | Fraction | str | date | datetime | timedelta | tuple["Value", ...] | Bag | Map | Record


def bag(items: Iterable[Value]) -> Bag:
    return Bag(tuple(sorted(items, key=order_key)))


def mapping(items: Mapping[Any, Value] | Iterable[tuple[Value, Value]]) -> Map:
    """A map value; of equal keys the last wins, as in a Python dict."""
    pairs = dict(items.items() if isinstance(items, Mapping) else items)
    return Map(tuple(sorted(pairs.items(), key=lambda kv: order_key(kv[0]))))


def record(fields: Mapping[str, Value]) -> Record:
    return Record(tuple(sorted(fields.items())))
