"""Turns typed values into the JSON that live tools take, and their answers back into typed values.

Numbers stay exact both ways. An answer is read as what the tool declares: fields that it does not declare are dropped
(nothing can read them), text that holds JSON is read where a text is not what is wanted, and what still does not have
the type is malformed: no evidence of anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cfrc.lang.jsonread import Json, JsonProblem, read_json, wrap
from cfrc.lang.jsonvalues import Mismatch, from_json, to_json
from cfrc.lang.scalars import show_decimal
from cfrc.model.domain import Tool
from cfrc.model.transcript import JSON
from cfrc.model.types import BagOf, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value
from cfrc.source import Source

NOTHING = RecordOf(None, ())
"""The result type of a tool that declares none: whatever it answers says nothing more."""

_TEXTUAL = {"text", "string", "date", "time", "duration"}
_LONGEST = 200


class Malformed(ValueError):
    """An answer that does not have the declared type."""


def outgoing(args: Mapping[str, Value], tool: Tool) -> dict[str, JSON]:
    """The arguments of a call; absent ones are left out. Raises :class:`cfrc.lang.jsonvalues.Mismatch` for a number
    that has no finite decimal form."""
    types = {p.name: p.type for p in tool.params}
    return {n: _out(v, types[n]) for n, v in args.items() if v is not None}


def _out(value: Value, t: Type) -> JSON:
    match t, value:
        case _, None:
            return None
        case Optional(item), _:
            return _out(value, item)
        case Prim("int"), int():
            return value
        case Prim("decimal"), int() | Fraction():
            shown = show_decimal(value)
            if "/" in shown:
                raise Mismatch(f"{shown} has no finite decimal form")
            return Decimal(shown) if "." in shown else int(shown)
        case (ListOf(item), tuple(items)) | (BagOf(item), Bag(items)):
            return [_out(v, item) for v in items]
        case MapOf(key, item), Map(entries):
            pairs = [(_out(k, key), _out(v, item)) for k, v in entries]
            if all(isinstance(k, str) for k, _ in pairs):
                return {str(k): v for k, v in pairs}
            return [[k, v] for k, v in pairs]
        case RecordOf(_, fields), Record():
            absent = {n for n, f in fields if isinstance(f, Optional) and value.get(n) is None}
            return {n: _out(value.get(n), f) for n, f in fields if n not in absent}
    plain: JSON = to_json(value, t)
    return plain


def incoming(result: JSON, t: Type) -> Value:
    """The typed value of an answer. Raises :class:`Malformed`, with every mismatch in the message."""
    if t == NOTHING:
        return Record(())
    if _halved(result):
        raise Malformed("a text holds half of a surrogate pair")
    said: list[str] = []
    try:
        j = wrap(_project(_unwrapped(result, t), t))
        return from_json(j, t, lambda message, help, where: said.append(message))
    except Mismatch:
        raise Malformed("; ".join(said)[:_LONGEST]) from None
    except (ValueError, TypeError) as problem:
        raise Malformed(str(problem)[:_LONGEST]) from None


def _halved(value: JSON) -> bool:
    """Whether some text is none that could be written down."""
    match value:
        case str():
            return any("\ud800" <= c <= "\udfff" for c in value)
        case list():
            return any(_halved(x) for x in value)
        case dict():
            return any(_halved(k) or _halved(x) for k, x in value.items())
    return False


def _unwrapped(result: JSON, t: Type) -> JSON:
    """Without the ``{"result": …}`` that a protocol puts around what is no object, and out of a text that is JSON."""
    inner = t.item if isinstance(t, Optional) else t
    if isinstance(result, dict) and result.keys() == {"result"}:
        own = isinstance(inner, MapOf) or (isinstance(inner, RecordOf) and inner.field("result") is not None)
        if not own:
            result = result["result"]
    if isinstance(result, str) and _structured(inner):
        try:
            read: JSON = _python(read_json(Source("<answer>", result)))
            return read
        except JsonProblem as problem:
            raise Malformed(f"expected {inner}, found text that is not JSON ({problem})") from None
    return result


def _structured(t: Type) -> bool:
    if isinstance(t, Prim):
        return t.name not in _TEXTUAL
    return isinstance(t, ListOf | BagOf | MapOf | RecordOf)


def _python(j: Json) -> Any:
    """A JSON value without its places; numbers stay exact."""
    match j.value:
        case list() as items:
            return [_python(i) for i in items]
        case dict() as members:
            return {k: _python(v) for k, v in members.items()}
        case value:
            return value


def _project(value: Any, t: Type) -> Any:
    """Without the fields that the type does not have, decimals as exact fractions."""
    match t, value:
        case _, Decimal():
            if not value.is_finite() or abs(value.adjusted()) > _LONGEST:
                raise Malformed("a number beyond any use")
            return Fraction(value)
        case Optional(item), _:
            return None if value is None else _project(value, item)
        case Prim("decimal"), str() if re.fullmatch(r"-?[0-9]{1,100}", value):
            return value
        case ListOf(item) | BagOf(item), list():
            return [_project(v, item) for v in value]
        case MapOf(_, item), dict():
            return {k: _project(v, item) for k, v in value.items()}
        case RecordOf(_, fields), dict():
            return {n: _project(value[n], f) for n, f in fields if n in value}
    return value
