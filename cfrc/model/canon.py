"""Turns a type into what it says about values: membership, default value, and the canonical form of a value.

Canonical forms make identities comparable (``docs/semantics.md`` §1): decimals normalized, bags unordered, identifier
spellings reduced by their type's declared normalizations.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from cfrc.model.types import BagOf, Enum, Id, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value, bag, mapping, record

_DEFAULTS: dict[str, Value] = {
    "text": "",
    "string": "",
    "int": 0,
    "decimal": Fraction(0),
    "bool": False,
    "date": date(1970, 1, 1),
    "time": datetime(1970, 1, 1, tzinfo=UTC),
    "duration": timedelta(0),
}


def default_value(type_: Type) -> Value:
    """The value of a fluent instance that a scenario does not list: zero, empty, false, absent, the first member."""
    match type_:
        case Prim(name):
            return _DEFAULTS[name]
        case Id():
            return ""
        case Enum(_, members):
            return members[0] if members else ""
        case ListOf():
            return ()
        case BagOf():
            return Bag(())
        case MapOf():
            return Map(())
        case RecordOf(_, fields):
            return record({n: default_value(t) for n, t in fields})
    return None


def _is_prim(name: str, value: Value) -> bool:
    match name:
        case "text" | "string":
            return isinstance(value, str)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "decimal":
            return isinstance(value, int | Fraction) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "date":
            return isinstance(value, date) and not isinstance(value, datetime)
        case "time":
            return isinstance(value, datetime)
    return isinstance(value, timedelta)


def has_type(value: Value, type_: Type) -> bool:
    """Whether the value belongs to the type. Every value belongs to the unknown type."""
    match type_:
        case Prim(name):
            return _is_prim(name, value)
        case Id():
            return isinstance(value, str)
        case Enum(_, members):
            return isinstance(value, str) and value in members
        case Optional(item):
            return value is None or has_type(value, item)
        case ListOf(item):
            return isinstance(value, tuple) and all(has_type(v, item) for v in value)
        case BagOf(item):
            return isinstance(value, Bag) and all(has_type(v, item) for v in value.items)
        case MapOf(key, item):
            return isinstance(value, Map) and all(has_type(k, key) and has_type(v, item) for k, v in value.items)
        case RecordOf(_, fields):
            if not isinstance(value, Record) or len(value.items) != len(fields):
                return False
            have = dict(value.items)
            return all(n in have and has_type(have[n], t) for n, t in fields)
    return True


def needs_canonical(type_: Type) -> bool:
    """Whether :func:`canonical` may change a value of the type beyond numeric representation (1 and 1.0 are equal)."""
    match type_:
        case Id(_, forms):
            return bool(forms)
        case Optional(item) | ListOf(item) | BagOf(item):
            return needs_canonical(item)
        case MapOf(key, item):
            return needs_canonical(key) or needs_canonical(item)
        case RecordOf(_, fields):
            return any(isinstance(t, Optional) or needs_canonical(t) for _, t in fields)
    return False


def canonical(type_: Type, value: Value) -> Value:
    """The one representation of the value in its type; idempotent. A value of another type is returned unchanged."""
    match type_, value:
        case _, None:
            return None
        case Id(_, forms), str():
            return _spelling(forms, value)
        case Prim("decimal"), int() if not isinstance(value, bool):
            return Fraction(value)
        case Optional(item), _:
            return canonical(item, value)
        case ListOf(item), tuple():
            return tuple(canonical(item, v) for v in value)
        case BagOf(item), Bag(items):
            return bag(canonical(item, v) for v in items)
        case MapOf(key, item), Map(items):
            return mapping([(canonical(key, k), canonical(item, v)) for k, v in items])
        case RecordOf(_, fields), Record(items):
            types = dict(fields)
            # An optional field may be left out of a built record: it is absent.
            left_out = {n: None for n, t in fields if isinstance(t, Optional)}
            return record({**left_out, **{n: canonical(types[n], v) if n in types else v for n, v in items}})
    return value


def _spelling(forms: tuple[str, ...], text: str) -> str:
    for form in forms:
        match form:
            case "trim":
                text = text.strip()
            case "lower":
                text = text.lower()
            case "nfkc":
                text = unicodedata.normalize("NFKC", text)
    return text
