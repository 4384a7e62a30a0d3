"""Turns a JSON value and a type into the typed value it means, and a typed value into plain JSON.

Enums travel by their wire names, decimals exactly (as strings when written), maps with text-like keys as objects
and other maps as arrays of pairs. What does not have the type is reported with its place, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from cfrc.lang import scalars
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.canon import canonical
from cfrc.model.types import BOOL, INT, AnyType, BagOf, Enum, Id, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value, bag, mapping, record
from cfrc.source import Span

Report = Callable[[str, str | None, Json], None]
"""Called with (message, help, the JSON value in question)."""

_SAFE = 2**53 - 1


class Mismatch(ValueError):
    """A JSON value does not have the wanted type (or a typed value has no JSON form)."""


def from_json(j: Json, t: Type, report: Report) -> Value:
    """The typed value. Every mismatch is passed to ``report``; raises :class:`Mismatch` if there was any.

    Nested mismatches are all reported before the exception is raised.
    """
    reader = _Values(report)
    value = reader.read(j, t)
    if reader.bad:
        raise Mismatch(f"not a {t}")
    return value


def kind_of(j: Json) -> str:
    """What a JSON value is, in the words of a message."""
    match j.value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | Fraction():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


class _Values:
    def __init__(self, report: Report) -> None:
        self.report, self.bad = report, False

    def wrong(self, j: Json, message: str, help: str | None = None) -> Value:
        self.bad = True
        self.report(message, help, j)
        return None

    def read(self, j: Json, t: Type) -> Value:
        match t, j.value:
            case Optional(item), _:
                return None if j.value is None else self.read(j, item)
            case Id(), str() as text:
                return canonical(t, text)
            case Enum(), str() as text:
                return self.member(j, t, text)
            case Prim(), _:
                return self.primitive(j, t)
            case ListOf(item), list() as items:
                return tuple(self.read(i, item) for i in items)
            case BagOf(item), list() as items:
                values = [self.read(i, item) for i in items]
                return None if self.bad else bag(values)
            case MapOf(), list() | dict():
                return self.map(j, t)
            case RecordOf(), dict() as members:
                return self.record(j, t, members)
            case AnyType(), _:
                return None
        return self.wrong(j, f"expected {describe(t)}, found {kind_of(j)}")

    def member(self, j: Json, t: Enum, text: str) -> Value:
        if text in t.wire:
            return t.members[t.wire.index(text)]
        if text in t.members:
            return text
        return self.wrong(j, f"{quoted(text)} is not a {t.name}", "one of " + ", ".join(quoted(w) for w in t.wire[:20]))

    def primitive(self, j: Json, t: Prim) -> Value:
        value: Value = None
        match t.name, j.value:
            case (("text" | "string"), str() as text):
                return text
            case "bool", bool() as flag:
                return flag
            case "int", int() as number if not isinstance(number, bool):
                return number
            case "int", Fraction() as number if number.denominator == 1:
                return int(number)
            case "decimal", (int() | Fraction()) as number if not isinstance(number, bool):
                return Fraction(number)
            case "int", str() as text if len(text) > 15:  # what a JSON number cannot carry exactly
                value = scalars.parse_int(text)
            case "decimal", str() as text:
                value = scalars.parse_decimal(text)
            case "date", str() as text:
                value = scalars.parse_date(text)
            case "time", str() as text:
                value = scalars.parse_time(text)
            case "duration", str() as text:
                value = scalars.parse_duration(text)
        if value is None:
            return self.wrong(j, f"expected {describe(t)}, found {_shown(j)}", EXAMPLES.get(t.name))
        return value

    def map(self, j: Json, t: MapOf) -> Value:
        pairs: list[tuple[Value, Value]] = []
        if isinstance(j.value, dict):
            for key, item in j.value.items():
                pairs.append((self.read(key_of(key, j.key_span(key), t.key), t.key), self.read(item, t.value)))
        else:
            assert isinstance(j.value, list)
            for pair in j.value:
                if not isinstance(pair.value, list) or len(pair.value) != 2:
                    return self.wrong(pair, f"expected a pair [key, value] of the map, found {kind_of(pair)}")
                pairs.append((self.read(pair.value[0], t.key), self.read(pair.value[1], t.value)))
        if self.bad:
            return None
        if len({k for k, _ in pairs}) < len(pairs):
            return self.wrong(j, "two keys of the map are the same")
        return mapping(pairs)

    def record(self, j: Json, t: RecordOf, members: dict[str, Json]) -> Value:
        types = dict(t.fields)
        for name in members:
            if name not in types:
                self.wrong(Json(name, j.key_span(name)), f"{t.name or 'the record'} has no field {quoted(name)}")
        values: dict[str, Value] = {}
        for name, wanted in t.fields:
            if name in members:
                values[name] = self.read(members[name], wanted)
            elif isinstance(wanted, Optional):
                values[name] = None
            else:
                self.wrong(j, f"field `{name}` is missing")
        return record(values)


def key_of(text: str, span: Span | None, t: Type) -> Json:
    """An object's member name as a value of a map's key type: numbers and truth values are spelled as text there."""
    value: int | bool | str | None = None
    if t == INT:
        value = scalars.parse_int(text)
    elif t == BOOL:
        value = {"true": True, "false": False}.get(text)
    return Json(text if value is None else value, span)


EXAMPLES = {
    "date": 'a date is written "2026-12-01"',
    "time": 'a time is written with its offset: "2026-12-01T09:00:00Z"',
    "duration": 'a duration is written "PT1H30M" or "1h30m"',
    "decimal": 'a decimal is a number or a string such as "98.70"',
}


def describe(t: Type) -> str:
    """A type in the words of a message."""
    match t:
        case Prim(name):
            return {"bool": "a truth value", "int": "a whole number"}.get(name, f"a {name}")
        case Id(name) | Enum(name=name):
            return f"a value of `{name}`"
        case ListOf() | BagOf():
            return f"an array for `{t}`"
    return f"an object for `{t}`"


def _shown(j: Json) -> str:
    if isinstance(j.value, str):
        return f"the string {quoted(j.value)}"
    return kind_of(j)


def to_json(value: Value, t: Type) -> Any:
    """Plain JSON of a typed value. Raises :class:`Mismatch` if the value does not have the type."""
    match t, value:
        case Optional(item), _:
            return None if value is None else to_json(value, item)
        case ((Id() | Prim("text" | "string")), str()):
            return value
        case Enum(), str() if value in t.members:
            return t.wire[t.members.index(value)]
        case Prim("bool"), bool():
            return value
        case Prim("int"), int() if not isinstance(value, bool):
            return value if abs(value) <= _SAFE else str(value)
        case Prim("decimal"), (int() | Fraction()) if not isinstance(value, bool):
            return scalars.show_decimal(value)
        case Prim("time"), datetime():
            return scalars.show_time(value)
        case Prim("date"), date():
            return value.isoformat()
        case Prim("duration"), timedelta():
            return scalars.show_duration(value)
        case ListOf(item), tuple(items):
            return [to_json(v, item) for v in items]
        case BagOf(item), Bag(items):
            return [to_json(v, item) for v in items]
        case MapOf(key, item), Map(entries):
            pairs = [(to_json(k, key), to_json(v, item)) for k, v in entries]
            return dict(pairs) if all(isinstance(k, str) for k, _ in pairs) else [[k, v] for k, v in pairs]
        case RecordOf(_, fields), Record():
            absent = {n for n, f in fields if isinstance(f, Optional) and n in value and value.get(n) is None}
            return {n: to_json(value.get(n), f) for n, f in fields if n not in absent}
    raise Mismatch(f"{value!r} is not a {t}")
