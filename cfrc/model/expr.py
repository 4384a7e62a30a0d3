"""Turns names in text into a typed, closed expression language: the one that clauses, arguments and guards share.

Every expression is total or has an *undefined projection* (a missing key, index or field of an absent value,
``only`` of none), which the semantics reads as an implied expectation (``docs/semantics.md`` §1). There is no
recursion and no unbounded quantifier. Expressions are immutable; spans do not take part in equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from cfrc.model.types import BOOL, Type
from cfrc.model.values import Value
from cfrc.source import Span

Op = Literal[
    "and", "or", "not", "implies",
    "==", "!=", "<", "<=", ">", ">=", "in",
    "+", "-", "*", "neg", "div", "round",
    "count", "keys", "values", "abs", "min", "max",
    "present",
]  # fmt: skip
"""Operators. ``div(a, b)`` is exact decimal division (undefined at 0); ``round(x, digits)`` is half-even;
``count`` is the size of a list, bag or map; ``keys``/``values`` of a map are bags; ``in`` takes a list, bag,
or a map's keys; ``present(x)`` says that an optional value is not absent; ``==`` compares across ``T`` and ``T?``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Lit(_Node):
    """A literal. ``origin`` (see :class:`cfrc.model.contract.Origin`) is not kept here: a literal in a proposal has
    none."""

    value: Value


@dataclass(frozen=True, slots=True)
class Var(_Node):
    """A variable.

    ``kind``: ``param`` of the enclosing tool or rule; ``result`` of the enclosing tool (name ``result``);
    ``name`` a binding or known value of the contract (always has a concrete value there); ``bound`` by a
    comprehension or by ``for m in xs``; ``exists`` an obligation's existential.
    """

    name: str
    kind: Literal["param", "result", "name", "bound", "exists"]


@dataclass(frozen=True, slots=True)
class NodeResult(_Node):
    """The result of another call node of the same proposal (``s`` in ``s.id``)."""

    node: str


@dataclass(frozen=True, slots=True)
class Discharge(_Node):
    """The result of the receipt that discharges another obligation (``delivery`` in ``delivery.id``)."""

    obligation: str


@dataclass(frozen=True, slots=True)
class Outcome(_Node):
    """``ok(n)``, ``failed(n)`` or ``skipped(n)`` of a node; only in guards."""

    node: str
    status: Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class FluentRead(_Node):
    """The fluent's value in the state in which the expression is read."""

    fluent: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Field(_Node):
    """A record's field. Through an absent optional it is undefined."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Index(_Node):
    """``xs[i]`` of a list (0-based, negative counts from the end) or ``m[k]`` of a map; undefined when missing."""

    base: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Apply(_Node):
    op: Op
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If(_Node):
    cond: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class Generator:
    """``for var in source``; over a list, a bag, or a map (its keys)."""

    var: str
    type: Type
    source: Expr


@dataclass(frozen=True, slots=True)
class Comprehension(_Node):
    """``all | any | sum | count | only | list | bag (body for x in xs for y in ys if cond)`` and ``map(key: body …)``.

    ``only`` is the single element (undefined unless exactly one).
    """

    kind: Literal["all", "any", "sum", "count", "only", "list", "bag", "map"]
    body: Expr
    generators: tuple[Generator, ...]
    cond: Expr | None = None
    key: Expr | None = None


@dataclass(frozen=True, slots=True)
class Build(_Node):
    """A list, bag, map or record made of its parts. ``keys`` are field names (record) or ``None`` (list, bag)."""

    kind: Literal["list", "bag", "map", "record"]
    items: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    keys: tuple[Expr, ...] = ()


Expr = Lit | Var | NodeResult | Discharge | Outcome | FluentRead | Field | Index | Apply | If | Comprehension | Build

TRUE = Lit(value=True, type=BOOL)


_LEAVES = frozenset({Lit, Var, NodeResult, Discharge, Outcome})


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions."""
    if e.__class__ in _LEAVES:
        return ()
    match e:
        case FluentRead(args=args) | Apply(args=args):
            return args
        case Field(base=b):
            return (b,)
        case Index(base=b, key=k):
            return (b, k)
        case If(cond=c, then=t, orelse=o):
            return (c, t, o)
        case Comprehension():
            extra = tuple(x for x in (e.cond, e.key) if x is not None)
            return (e.body, *(g.source for g in e.generators), *extra)
        case Build(items=items, keys=keys):
            return (*items, *keys)
    return ()


def walk(e: Expr) -> Iterator[Expr]:
    """The expression and all its sub-expressions, in pre-order."""
    stack = [e]
    while stack:
        x = stack.pop()
        yield x
        if x.__class__ not in _LEAVES:
            stack.extend(reversed(children(x)))


def conjuncts(e: Expr | None) -> tuple[Expr, ...]:
    """The conjuncts of a condition, left to right; none for ``None``."""
    if e is None:
        return ()
    if isinstance(e, Apply) and e.op == "and":
        return tuple(c for a in e.args for c in conjuncts(a))
    return (e,)


def rebuild(e: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with ``change`` applied to its direct sub-expressions."""
    match e:
        case FluentRead(args=args) | Apply(args=args):
            return replace(e, args=tuple(change(a) for a in args))
        case Field(base=b):
            return replace(e, base=change(b))
        case Index(base=b, key=k):
            return replace(e, base=change(b), key=change(k))
        case If(cond=c, then=t, orelse=o):
            return replace(e, cond=change(c), then=change(t), orelse=change(o))
        case Comprehension():
            return replace(
                e,
                body=change(e.body),
                generators=tuple(replace(g, source=change(g.source)) for g in e.generators),
                cond=None if e.cond is None else change(e.cond),
                key=None if e.key is None else change(e.key),
            )
        case Build(items=items, keys=keys):
            return replace(e, items=tuple(change(x) for x in items), keys=tuple(change(x) for x in keys))
    return e
