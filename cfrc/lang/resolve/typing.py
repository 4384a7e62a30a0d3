"""Turns pairs of types into the answers that expression resolution asks: what joins, what compares, what orders.

Everything here is silent about ``ANY``: an expression that already failed never causes a second message.
"""

from __future__ import annotations

from collections.abc import Iterable

from cfrc.model.types import (
    ANY,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    TIME,
    AnyType,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    Prim,
    RecordOf,
    Type,
    fits,
)  # fmt: skip

ORDERED = (INT, DECIMAL, DATE, TIME, DURATION)


def strip(t: Type) -> Type:
    """The type without its optional layers."""
    while isinstance(t, Optional):
        t = t.item
    return t


def is_any(t: Type | None) -> bool:
    """Whether nothing is known of the type (so that every check stays silent)."""
    return t is None or isinstance(t, AnyType)


def is_number(t: Type) -> bool:
    return t in (INT, DECIMAL)


def join(a: Type, b: Type) -> Type | None:
    """The smaller of the types that both fit; ``None`` when there is none. Of a failed expression nothing is known."""
    return ANY if is_any(a) or is_any(b) else _join(a, b)


def join_all(types: Iterable[Type]) -> Type | None:
    """The type that all fit (``ANY`` for none at all), or ``None``."""
    found: Type | None = None
    for t in types:
        found = t if found is None else join(found, t)
        if found is None:
            return None
    return ANY if found is None else found


def _join(a: Type, b: Type) -> Type | None:
    """As :func:`join`; an unknown element type (of an empty list) gives way to a known one."""
    if is_any(a) or a == b:
        return b
    if is_any(b):
        return a
    match a, b:
        case (Optional(), _) | (_, Optional()):
            item = _join(strip(a), strip(b))
            return None if item is None else Optional(item)
        case (ListOf(x), ListOf(y)):
            item = _join(x, y)
            return None if item is None else ListOf(item)
        case (BagOf(x), BagOf(y)):
            item = _join(x, y)
            return None if item is None else BagOf(item)
        case MapOf(k, x), MapOf(m, y):
            key, item = _join(k, m), _join(x, y)
            return None if key is None or item is None else MapOf(key, item)
    return b if fits(a, b) else a if fits(b, a) else None


def comparable(a: Type, b: Type) -> bool:
    """Whether ``==`` between the types can ever be true: equality looks through ``T?``."""
    a, b = strip(a), strip(b)
    return fits(a, b) or fits(b, a) or join(a, b) is not None


def ordered(a: Type, b: Type) -> bool:
    """Whether ``<`` means something between the types."""
    a, b = strip(a), strip(b)
    if is_any(a) or is_any(b):
        return True
    return (is_number(a) and is_number(b)) or (a == b and a in ORDERED)


def element(t: Type) -> Type | None:
    """What a comprehension ranges over: elements of a list or bag, keys of a map; ``None`` if it cannot."""
    match strip(t):
        case ListOf(item) | BagOf(item):
            return item
        case MapOf(key, _):
            return key
        case AnyType():
            return ANY
    return None


def sum_type(op: str, a: Type, b: Type) -> Type | None:
    """The type of ``a + b`` or ``a - b``; ``None`` when it has none."""
    if is_any(a) or is_any(b):
        return ANY
    if is_number(a) and is_number(b):
        return INT if a == b == INT else DECIMAL
    if a == b == DURATION:
        return DURATION
    if a in (TIME, DATE) and b == DURATION:
        return a
    if op == "+" and a == DURATION and b in (TIME, DATE):
        return b
    if op == "-" and a == b and a in (TIME, DATE):
        return DURATION
    return None


def hashable_key(t: Type) -> bool:
    """Whether the type may be a map's key."""
    return isinstance(t, Id | Enum | Prim | AnyType)


def may_be_literal_text(t: Type) -> bool:
    """Whether a string literal can mean a value of the type."""
    return isinstance(strip(t), Id) or strip(t) in (Prim("text"), Prim("string"), DATE, TIME, DURATION)


def widen(actual: RecordOf, wanted: RecordOf) -> bool:
    """Whether the fields of a built record fit a wanted record type in which optional fields may be left out."""
    have = dict(actual.fields)
    known = {n for n, _ in wanted.fields}
    return set(have) <= known and all(
        (n in have and fits(have[n], t)) or (n not in have and isinstance(t, Optional)) for n, t in wanted.fields
    )


def product_type(a: Type, b: Type) -> Type | None:
    """The type of ``a * b``; ``None`` when it has none."""
    if is_any(a) or is_any(b):
        return ANY
    if is_number(a) and is_number(b):
        return INT if a == b == INT else DECIMAL
    if (a == DURATION and is_number(b)) or (b == DURATION and is_number(a)):
        return DURATION
    return None
