"""Turns written words into the parts of syntax that every declaration kind shares.

Nodes, names, types and expressions of the syntax tree. All are frozen; each carries the :class:`Span` it came from,
which takes no part in equality, so that two texts mean the same iff their trees are equal. A tree may be built from
text (``parse``) or from JSON (spans then point into the JSON document). Nothing here is resolved: whether ``open`` is
an enum member, a fluent or a binding, and whether ``f(x)`` is an effect or a fluent, is decided by resolution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from cfrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of the tree and the place it was read from."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name where it is declared or mentioned (not an expression; see :class:`Ref`)."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A quoted string outside expressions (a request, a reason, a path); ``value`` has its escapes undone."""

    value: str


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A whole number outside expressions (a turn, a count, a number of polls)."""

    value: int


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """A top-level item. Every declaration kind, also of later rooms, derives from this."""


# --- types ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """``Invoice``, ``int``: a primitive or declared type."""

    name: str


@dataclass(frozen=True, slots=True)
class AppliedType(Node):
    """``list[T]``, ``bag[T]``, ``map[K, V]``: ``head`` and the number of ``args`` are checked by resolution."""

    head: Name
    args: tuple[TypeNode, ...]


@dataclass(frozen=True, slots=True)
class OptionalType(Node):
    """``T?``."""

    item: TypeNode


@dataclass(frozen=True, slots=True)
class FieldType(Node):
    """``name: T`` in a record type; ``echoes`` names the parameter whose value the field repeats (results only)."""

    name: Name
    type: TypeNode
    echoes: Name | None = None


@dataclass(frozen=True, slots=True)
class RecordType(Node):
    """``{ a: T, b: U }``."""

    fields: tuple[FieldType, ...]


TypeNode = NamedType | AppliedType | OptionalType | RecordType


# --- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StringLit(Node):
    """``"INV-42"``; ``value`` has its escapes undone."""

    value: str


@dataclass(frozen=True, slots=True)
class IntLit(Node):
    """``120``; the digits as written (at most 100). A sign is a :class:`Unary`."""

    text: str


@dataclass(frozen=True, slots=True)
class DecimalLit(Node):
    """``120.00``, ``1e3``, ``2.5e-3``; exact, as written (at most 100 digits, exponent within ±100)."""

    text: str


@dataclass(frozen=True, slots=True)
class BoolLit(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class AbsentLit(Node):
    """``absent``: the value of an optional that is not there."""


@dataclass(frozen=True, slots=True)
class DateLit(Node):
    """``2026-12-01``, a valid calendar date."""

    text: str


@dataclass(frozen=True, slots=True)
class TimeLit(Node):
    """``2026-12-01T10:00:00Z``: a valid instant with an offset (``Z`` or ``+hh:mm``), seconds and fraction optional."""

    text: str


@dataclass(frozen=True, slots=True)
class DurationLit(Node):
    """``5s``, ``10m``, ``1h30m``, ``3d``, ``2w``."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """A bare name: a variable, an enum member, a node, an obligation or a fluent without parameters."""

    name: str


@dataclass(frozen=True, slots=True)
class Wildcard(Node):
    """``_`` as an argument."""


@dataclass(frozen=True, slots=True)
class Member(Node):
    """``base.name``."""

    base: ExprNode
    name: Name


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """``base[key]``."""

    base: ExprNode
    key: ExprNode


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """``not x`` (``op`` = ``not``) or ``-x`` (``op`` = ``-``)."""

    op: str
    operand: ExprNode


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """``implies or and == != < <= > >= in + - *`` and ``not in``; ``op`` is the operator's text."""

    op: str
    left: ExprNode
    right: ExprNode
    op_span: Span = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Arg(Node):
    """One argument: named (``to: payee``) or positional (``name`` is ``None``)."""

    value: ExprNode
    name: Name | None = None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """``f(x, n: y)``: a tool, an effect, a fluent or a built-in (``div``, ``if``, ``ok``, ``bag([a])``, …)."""

    func: Name
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class GeneratorNode(Node):
    """``for var in source``."""

    var: Name
    source: ExprNode


@dataclass(frozen=True, slots=True)
class ComprehensionNode(Node):
    """``kind(body for x in xs for y in ys if cond)``; ``map(key: body for …)``. ``kind`` is checked by resolution."""

    kind: Name
    body: ExprNode
    generators: tuple[GeneratorNode, ...]
    cond: ExprNode | None = None
    key: ExprNode | None = None


@dataclass(frozen=True, slots=True)
class ListLit(Node):
    """``[a, b]``."""

    items: tuple[ExprNode, ...]


@dataclass(frozen=True, slots=True)
class FieldInit(Node):
    """``name: value`` in a record."""

    name: Name
    value: ExprNode


@dataclass(frozen=True, slots=True)
class RecordLit(Node):
    """``{ a: 1, b: x }``."""

    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Node):
    """``key: value`` in a map."""

    key: ExprNode
    value: ExprNode


@dataclass(frozen=True, slots=True)
class MapLit(Node):
    """``map({ "k": v })``; the span covers the whole call."""

    entries: tuple[MapEntry, ...]


Literal = StringLit | IntLit | DecimalLit | BoolLit | AbsentLit | DateLit | TimeLit | DurationLit

ExprNode = (
    StringLit
    | IntLit
    | DecimalLit
    | BoolLit
    | AbsentLit
    | DateLit
    | TimeLit
    | DurationLit
    | Ref
    | Wildcard
    | Member
    | Subscript
    | Unary
    | Binary
    | Call
    | ComprehensionNode
    | ListLit
    | RecordLit
    | MapLit
)


# --- shared by declarations ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``paid(invoice, _)`` or a bare ``roaming``: an effect, a fluent or a tool with arguments; resolution decides.

    ``args`` is ``None`` when no parentheses are written. Arguments may be :class:`Wildcard` and may be named.
    """

    name: Name
    args: tuple[Arg, ...] | None = None


@dataclass(frozen=True, slots=True)
class TypedName(Node):
    """``n: T`` (a parameter of an effect or a fluent, an existential)."""

    name: Name
    type: TypeNode


# --- traversal ------------------------------------------------------------------------------------------------------


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.compare)


def children(node: Node) -> Iterator[Node]:
    """The direct parts of a node that are nodes themselves, in declared (for most nodes: written) order."""
    kind: Any = type(node)
    for name in _parts(kind):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Node))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in pre-order. Does not recurse, so depth is no concern."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(tuple(children(top))))
