"""Turns contracts, proposals and values of the model into plain JSON and back, so that a journal can stand alone.

It is a structural dump: class names of the model and their fields (places in files are left out). Only classes of the
model are ever built when reading, and only from their fields: a dump can hold data, never code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

from cfrc.model import contract, domain, expr, footprint, graph, types, values


class Unreadable(ValueError):
    """The JSON is no dump of the model."""


@cache
def _classes() -> Mapping[str, type]:
    """The data classes of the model by name."""
    rooms: tuple[ModuleType, ...] = (contract, domain, expr, footprint, graph, types, values)
    return {
        name: found
        for room in rooms
        for name, found in vars(room).items()
        if isinstance(found, type) and is_dataclass(found) and found.__module__ == room.__name__
    }


def dump(x: Any) -> Any:
    """Plain JSON: tuples are arrays, mappings and everything that JSON lacks are objects with one telling member."""
    match x:
        case None | bool() | str():
            return x
        case int():
            return {"int": str(x)} if abs(x) >= 2**53 else x
        case Fraction():
            return {"fraction": str(x)}
        case datetime():
            return {"time": x.isoformat()}
        case date():
            return {"date": x.isoformat()}
        case timedelta():
            return {"duration": [x.days, x.seconds, x.microseconds]}
        case tuple():
            return [dump(i) for i in x]
        case frozenset():
            return {"set": sorted(dump(i) for i in x)}
        case Mapping():
            return {"map": [[dump(k), dump(v)] for k, v in x.items()]}
    if not is_dataclass(x):
        raise TypeError(f"no dump of a {type(x).__name__}")
    parts = {f.name: dump(getattr(x, f.name)) for f in fields(x) if f.compare}
    return {"is": type(x).__name__, **parts}


def undump(j: Any) -> Any:
    """What was dumped. Raises :class:`Unreadable`."""
    match j:
        case None | bool() | str() | int():
            return j
        case list():
            return tuple([undump(i) for i in j])
        case {"is": str(name), **parts}:
            return _build(name, {str(k): undump(v) for k, v in parts.items()})
        case {"map": list(pairs)}:
            return {undump(pair[0]): undump(pair[1]) for pair in pairs}
        case {"set": list(items)}:
            return frozenset(undump(i) for i in items)
    try:
        match j:
            case {"int": str(digits)}:
                return int(digits)
            case {"fraction": str(text)}:
                return Fraction(text)
            case {"time": str(text)}:
                return datetime.fromisoformat(text)
            case {"date": str(text)}:
                return date.fromisoformat(text)
            case {"duration": [int(days), int(seconds), int(micro)]}:
                return timedelta(days, seconds, micro)
    except (ValueError, OverflowError, ZeroDivisionError) as problem:
        raise Unreadable(str(problem)) from None
    raise Unreadable("not a dump")


def _build(name: str, parts: dict[str, Any]) -> Any:
    found = _classes().get(name)
    if found is None:
        raise Unreadable(f"the model has no {name}")
    try:
        return found(**parts)
    except TypeError as problem:
        raise Unreadable(str(problem)) from None
