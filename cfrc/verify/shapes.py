"""Turns typed values, known or unknown, into shapes: structures whose leaves are terms.

Records and optionals are taken apart (a record is its fields, an optional is a presence flag and a value), so that the
solver sees only Booleans, numbers and opaque sorts. Collections are literal (all elements known as shapes) or opaque
terms about which accessors (``len``, ``nth``, ``has``, ``get``, ``mult``) are uninterpreted functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from cfrc.model import types as ty
from cfrc.model.values import Bag, Map, Record, Value
from cfrc.verify.terms import BOOL, INT, REAL, STR, Term, Terms


@dataclass(frozen=True, slots=True)
class Scalar:
    """One leaf; also an opaque collection (its sort says so)."""

    term: Term
    type: ty.Type


@dataclass(frozen=True, slots=True)
class Maybe:
    present: Term
    value: Shape
    type: ty.Type


@dataclass(frozen=True, slots=True)
class Fields:
    items: dict[str, Shape]
    type: ty.Type


@dataclass(frozen=True, slots=True)
class Items:
    """A literal list or bag (``keys`` is ``None``) or map (keys beside values)."""

    items: tuple[Shape, ...]
    type: ty.Type
    keys: tuple[Shape, ...] | None = None


Shape = Scalar | Maybe | Fields | Items

_SCALAR = frozenset({ty.Id, ty.Enum, ty.Prim})

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sort_of(t: ty.Type) -> str:
    """The sort of a leaf type. Collections of one type share an opaque sort."""
    match t:
        case ty.Prim("bool"):
            return BOOL
        case ty.Prim("int" | "date" | "time" | "duration"):
            return INT
        case ty.Prim("decimal"):
            return REAL
        case ty.Prim():
            return STR
        case ty.Id(name):
            return f"Id:{name}"
        case ty.Enum(name, members):
            return f"Enum:{len(members)}:{name}"
        case ty.ListOf(i):
            return f"List:{signature(i)}"
        case ty.BagOf(i):
            return f"Bag:{signature(i)}"
        case ty.MapOf(k, v):
            return f"Map:{signature(k)}:{signature(v)}"
    return "Any"


def signature(t: ty.Type) -> str:
    """A type's structure as text: named and inline records of the same fields are one."""
    match t:
        case ty.RecordOf(_, fields):
            return "{" + ",".join(f"{n}:{signature(f)}" for n, f in sorted(fields)) + "}"
        case ty.Optional(i):
            return f"{signature(i)}?"
    return sort_of(t)


def leaf(terms: Terms, value: Any, t: ty.Type) -> Term:
    """The literal term of a scalar value."""
    if t.__class__ is ty.Id:
        return terms.const(f"Id:{t.name}", value)
    match t:
        case ty.Enum(_, members):
            return terms.const(sort_of(t), members.index(value) if value in members else -1)
        case ty.Prim("date"):
            return terms.const(INT, value.toordinal() if isinstance(value, date) else 0)
        case ty.Prim("time"):
            return terms.const(INT, (value - EPOCH) // timedelta(microseconds=1))
        case ty.Prim("duration"):
            return terms.const(INT, value // timedelta(microseconds=1))
    return terms.const(sort_of(t), value)


def unleaf(value: Any, t: ty.Type) -> Value:
    """The scalar value that a literal term's ``data`` stands for; the inverse of :func:`leaf`."""
    match t:
        case ty.Enum(_, members):
            return members[value] if 0 <= value < len(members) else members[0]
        case ty.Prim("date"):
            return date.fromordinal(min(max(value, 1), date.max.toordinal()))
        case ty.Prim("time"):
            return EPOCH + timedelta(microseconds=value)
        case ty.Prim("duration"):
            return timedelta(microseconds=value)
    return value  # type: ignore[no-any-return]  # a str, bool, int or Fraction by its sort


def literal(terms: Terms, value: Value, t: ty.Type) -> Shape:
    """The shape of a concrete value of the type."""
    if t.__class__ in _SCALAR:
        return Scalar(leaf(terms, value, t), t)
    match t:
        case ty.Optional(i):
            if value is None:
                return Maybe(terms.false, default(terms, i), t)
            return Maybe(terms.true, literal(terms, value, i), t)
        case ty.RecordOf(_, fields) if isinstance(value, Record):
            return Fields({n: literal(terms, value.get(n) if n in value else None, f) for n, f in fields}, t)
        case ty.ListOf(i) if isinstance(value, tuple):
            return Items(tuple(literal(terms, v, i) for v in value), t)
        case ty.BagOf(i) if isinstance(value, Bag):
            return Items(tuple(literal(terms, v, i) for v in value.items), t)
        case ty.MapOf(k, v) if isinstance(value, Map):
            pairs = value.items
            return Items(
                tuple(literal(terms, x, v) for _, x in pairs), t, tuple(literal(terms, x, k) for x, _ in pairs)
            )
    return Scalar(leaf(terms, value, t), t)


def default(terms: Terms, t: ty.Type) -> Shape:
    """A fixed shape for the unused value part of an absent optional: keeps equality of absents structural."""
    return unknown(terms, t, lambda suffix, sort: terms.sym(sort, f"!absent:{signature(t)}{suffix}"))


def unknown(terms: Terms, t: ty.Type, make: Callable[[str, str], Term], suffix: str = "") -> Shape:
    """The shape of an unknown value; ``make(suffix, sort)`` creates the leaf at a path suffix such as
    ``.address.zip``."""
    match t:
        case ty.Optional(i):
            return Maybe(make(suffix + "?", BOOL), unknown(terms, i, make, suffix + "!"), t)
        case ty.RecordOf(_, fields):
            return Fields({n: unknown(terms, f, make, f"{suffix}.{n}") for n, f in fields}, t)
    return Scalar(make(suffix, sort_of(t)), t)


def leaves(terms: Terms, shape: Shape) -> Iterator[Term]:
    """The leaf terms in canonical order: what identifies the value as arguments of a function or effect."""
    match shape:
        case Scalar(term):
            yield term
        case Maybe(present, value):
            yield present
            # an absent value's content must not distinguish it
            for x, d in zip(leaves(terms, value), leaves(terms, default(terms, value.type)), strict=True):
                yield terms.ite(present, x, d)
        case Fields(items):
            for name in sorted(items):
                yield from leaves(terms, items[name])
        case Items():
            yield as_term(terms, shape)


def layout(t: ty.Type, suffix: str = "") -> Iterator[str]:
    """The path suffixes of a type's leaves in canonical order: which accessor asks for which leaf."""
    match t:
        case ty.Optional(i):
            yield suffix + "?"
            yield from layout(i, suffix + "!")
        case ty.RecordOf(_, fields):
            for n, f in sorted(fields):
                yield from layout(f, f"{suffix}.{n}")
        case _:
            yield suffix


def row_layout(t: ty.Type) -> tuple[int, tuple[str, ...]]:
    """How many leaves the key of a collection's row has, and the suffixes of its element's leaves."""
    match t:
        case ty.MapOf(k, v):
            return len(list(layout(k))), tuple(layout(v))
        case ty.ListOf(i) | ty.BagOf(i):
            return 0, tuple(layout(i))
    return 0, ("",)


def as_term(terms: Terms, shape: Shape) -> Term:
    """The single term of a scalar or collection."""
    if isinstance(shape, Scalar):
        return shape.term
    assert isinstance(shape, Items)
    rows: list[tuple[Term, ...]] = []
    for i, item in enumerate(shape.items):
        key = tuple(leaves(terms, shape.keys[i])) if shape.keys is not None else ()
        rows.append((*key, *leaves(terms, item)))
    width = len(rows[0]) if rows else 0
    sort = sort_of(shape.type)
    if sort not in terms.layouts:
        terms.layouts[sort] = row_layout(shape.type)
    return terms.coll(sort, [t for r in rows for t in r], width)


def convert(terms: Terms, shape: Shape, wanted: ty.Type) -> tuple[Shape, Term]:
    """The shape as a value of ``wanted`` (see ``types.fits``), and the condition under which that is defined."""
    have = shape.type
    if have == wanted or isinstance(wanted, ty.AnyType):
        return shape, terms.true
    match shape, wanted:
        case Maybe(present, value), ty.Optional(i):
            inner, ok = convert(terms, value, i)
            return Maybe(present, inner, wanted), terms.implies(present, ok)
        case _, ty.Optional(i):
            inner, ok = convert(terms, shape, i)
            return Maybe(terms.true, inner, wanted), ok
        case Maybe(present, value), _:
            inner, ok = convert(terms, value, wanted)
            return inner, terms.and_(present, ok)
        case Scalar(term), ty.Prim("decimal") if term.sort == INT:
            return Scalar(terms.to_real(term), wanted), terms.true
        case Fields(items), ty.RecordOf(_, fields):
            parts = {n: convert(terms, items[n] if n in items else literal(terms, None, f), f) for n, f in fields}
            return Fields({n: p for n, (p, _) in parts.items()}, wanted), terms.and_(*(ok for _, ok in parts.values()))
        case Items(items, _, keys), ty.ListOf(i) | ty.BagOf(i) | ty.MapOf(_, i):
            done = [convert(terms, x, i) for x in items]
            if keys is not None and isinstance(wanted, ty.MapOf):
                keys = tuple([convert(terms, k, wanted.key)[0] for k in keys])
            return Items(tuple(x for x, _ in done), wanted, keys), terms.and_(*(ok for _, ok in done))
        case Scalar(term), ty.ListOf() | ty.BagOf() | ty.MapOf() if term.sort != sort_of(wanted):
            # the same rows in another type: nothing is known of them but that equal collections stay equal
            return Scalar(terms.app(sort_of(wanted), "as", (term,)), wanted), terms.true
    return shape, terms.true


def equal(terms: Terms, a: Shape, b: Shape) -> Term:
    """Structural equality; an optional equals a plain value when present and equal."""
    match a, b:
        case Maybe(p, x), Maybe(q, y):
            both = terms.and_(p, q, equal(terms, x, y))
            return terms.or_(both, terms.and_(terms.not_(p), terms.not_(q)))
        case Maybe(p, x), _:
            return terms.and_(p, equal(terms, x, b))
        case _, Maybe():
            return equal(terms, b, a)
        case Fields(x), Fields(y):
            return terms.and_(*(equal(terms, x[n], y[n]) for n in x if n in y))
        case Scalar(x), Scalar(y) if x.sort == y.sort or a.type.__class__ in _SCALAR:
            return terms.eq(x, y)
        case (Items() | Scalar(), Items() | Scalar()):
            if a.type != b.type and isinstance(a, Items) and isinstance(b, Items):
                a, b = (
                    (convert(terms, a, b.type)[0], b) if ty.fits(a.type, b.type) else (a, convert(terms, b, a.type)[0])
                )
            x, y = as_term(terms, a), as_term(terms, b)
            if x.sort != y.sort and isinstance(a.type, ty.ListOf | ty.BagOf | ty.MapOf):
                return terms.app(BOOL, "alike", (x, y) if x.id < y.id else (y, x))  # e.g. numbers of two kinds
            return terms.eq(x, y)
    return terms.false


def choose(terms: Terms, cond: Term, a: Shape, b: Shape) -> Shape:
    """``if(cond, a, b)`` on shapes."""
    if cond is terms.true:
        return a
    if cond is terms.false:
        return b
    match a, b:
        case Maybe(p, x), _:
            other = b if isinstance(b, Maybe) else Maybe(terms.true, b, a.type)
            return Maybe(terms.ite(cond, p, other.present), choose(terms, cond, x, other.value), a.type)
        case _, Maybe():
            return choose(terms, terms.not_(cond), b, a)
        case Fields(x), Fields(y):
            return Fields({n: choose(terms, cond, x[n], y[n]) for n in x}, a.type)
    left, right = as_term(terms, a), as_term(terms, b)
    if left.sort != right.sort and {left.sort, right.sort} == {INT, REAL}:
        left, right = terms.to_real(left), terms.to_real(right)
    return Scalar(terms.ite(cond, left, right), a.type)
