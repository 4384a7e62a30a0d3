"""Turns the type names of a domain into the finite set of types that values and expressions have.

Types are immutable and compared by structure. Identifier types are opaque: equality only, copied and never
computed; an optional *canonical form* says which spellings name the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Prim:
    """A primitive type. ``text`` is free prose, ``string`` is compared, ``decimal`` is exact, ``time`` an instant."""

    name: Literal["text", "string", "int", "decimal", "bool", "date", "time", "duration"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Id:
    """An opaque identifier type. ``canonical`` lists the normalizations applied in order (``trim``, ``lower``,
    ``nfkc``)."""

    name: str
    canonical: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Enum:
    """A closed set of names; ``wire[i]`` is how ``members[i]`` is spelled by the tool."""

    name: str
    members: tuple[str, ...]
    wire: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Optional:
    """``T?``: a value of ``T`` or absent. Absent is a value of its own, not null text."""

    item: Type

    def __str__(self) -> str:
        return f"{self.item}?"


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Type

    def __str__(self) -> str:
        return f"list[{self.item}]"


@dataclass(frozen=True, slots=True)
class BagOf:
    """Order-free; duplicates count."""

    item: Type

    def __str__(self) -> str:
        return f"bag[{self.item}]"


@dataclass(frozen=True, slots=True)
class MapOf:
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"map[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class RecordOf:
    """Named fields in declared order. ``name`` is ``None`` for an inline record; types compare by name and fields."""

    name: str | None
    fields: tuple[tuple[str, Type], ...]

    def field(self, name: str) -> Type | None:
        return next((t for n, t in self.fields if n == name), None)

    def __str__(self) -> str:
        return self.name or "{ " + ", ".join(f"{n}: {t}" for n, t in self.fields) + " }"


@dataclass(frozen=True, slots=True)
class AnyType:
    """The type of an expression that could not be typed; every check that meets it stays silent (no cascades)."""

    def __str__(self) -> str:
        return "unknown"


Type = Prim | Id | Enum | Optional | ListOf | BagOf | MapOf | RecordOf | AnyType

TEXT, STRING, INT, DECIMAL, BOOL = Prim("text"), Prim("string"), Prim("int"), Prim("decimal"), Prim("bool")
DATE, TIME, DURATION = Prim("date"), Prim("time"), Prim("duration")
ANY = AnyType()


def is_identifier(t: Type) -> bool:
    """Whether values of the type are opaque identifiers, possibly optional."""
    return isinstance(t, Id) or (isinstance(t, Optional) and is_identifier(t.item))


def holds_identifier(t: Type) -> bool:
    """Whether an identifier occurs anywhere in values of the type."""
    match t:
        case Id():
            return True
        case Optional(i) | ListOf(i) | BagOf(i):
            return holds_identifier(i)
        case MapOf(k, v):
            return holds_identifier(k) or holds_identifier(v)
        case RecordOf(_, fields):
            return any(holds_identifier(f) for _, f in fields)
    return False


def fits(actual: Type, wanted: Type) -> bool:
    """Whether a value of ``actual`` may be used where ``wanted`` is asked for.

    The coercions are: ``int`` to ``decimal``, ``string`` to ``text`` and back never, ``T`` to ``T?``, and
    covariantly inside collections and records (an inline record fits a named one with the same fields).
    """
    if actual == wanted or isinstance(actual, AnyType) or isinstance(wanted, AnyType):
        return True
    match actual, wanted:
        case (Prim("int"), Prim("decimal")) | (Prim("string"), Prim("text")):
            return True
        case Optional(a), Optional(w):
            return fits(a, w)
        case _, Optional(w):
            return fits(actual, w)
        case (ListOf(a), ListOf(w)) | (BagOf(a), BagOf(w)):
            return fits(a, w)
        case MapOf(ak, av), MapOf(wk, wv):
            return fits(ak, wk) and fits(av, wv)
        case RecordOf(an, af), RecordOf(wn, wf):
            if an is not None and wn is not None and an != wn:
                return False
            have = dict(af)
            return set(have) == {n for n, _ in wf} and all(fits(have[n], t) for n, t in wf)
    return False
