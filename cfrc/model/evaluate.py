"""Turns an expression and an environment into a concrete value, or says which sub-expression is undefined.

Exact: integers and fractions, never floats. ``and``, ``or``, ``implies``, ``if``, ``all`` and ``any`` read their parts
from left to right and stop as soon as the value is known, so that a guard may protect a projection. An operation on an
absent value, a missing key, index or field, ``only`` of other than one, a division by zero and a date out of range are
undefined (``docs/semantics.md`` §1); so is the result of a node that returned none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from typing import Any

from cfrc.model.canon import canonical, default_value, has_type
from cfrc.model.expr import (
    TRUE,
    Apply,
    Build,
    Comprehension,
    Discharge,
    Expr,
    Field,
    FluentRead,
    If,
    Index,
    Lit,
    NodeResult,
    Outcome,
    Var,
)
from cfrc.model.types import DURATION, Optional, RecordOf
from cfrc.model.values import Bag, Map, Record, Value, bag, mapping, record

__all__ = ["Env", "Undefined", "canonical", "default_value", "elements", "equal", "evaluate", "has_type", "holds"]

Reader = Callable[[str, tuple[Value, ...]], Value]

_DIGITS = 1000
"""The most decimal places ``round`` accepts, so that hostile text cannot ask for gigabytes."""


class Undefined(Exception):
    """An undefined projection or a missing value; ``expr`` is the smallest offending sub-expression."""

    def __init__(self, expr: Expr) -> None:
        super().__init__("undefined expression")
        self.expr = expr


def _no_fluents(fluent: str, args: tuple[Value, ...]) -> Value:
    raise LookupError(fluent)


class Env:
    """What an expression may read: variables by (kind, name), node results and outcomes, fluents, discharging receipts.

    Every part may be missing; reading what is not there is :class:`Undefined`.
    """

    __slots__ = ("discharges", "outcomes", "read", "results", "vars")

    def __init__(
        self,
        vars: dict[tuple[str, str], Value] | None = None,
        results: Mapping[str, Value] | None = None,
        outcomes: Mapping[str, str] | None = None,
        read: Reader = _no_fluents,
        discharges: Mapping[str, Value] | None = None,
    ) -> None:
        self.vars = {} if vars is None else vars
        self.results: Mapping[str, Value] = {} if results is None else results
        self.outcomes: Mapping[str, str] = {} if outcomes is None else outcomes
        self.read = read
        self.discharges: Mapping[str, Value] = {} if discharges is None else discharges

    def child(self, extra: Mapping[tuple[str, str], Value] | None = None, read: Reader | None = None) -> Env:
        """A copy with more variables and, if given, another fluent reader."""
        vars_ = {**self.vars, **extra} if extra else dict(self.vars)
        return Env(vars_, self.results, self.outcomes, read or self.read, self.discharges)


def evaluate(expr: Expr, env: Env) -> Value:
    """The value of ``expr``. Raises :class:`Undefined`; an ill-typed operation is undefined too."""
    return _EVALUATE[expr.__class__](expr, env)


def holds(expr: Expr | None, env: Env) -> bool:
    """Whether a condition is true (no condition is). Raises :class:`Undefined`, also where its value is absent."""
    if expr is None:
        return True
    value = evaluate(expr, env)
    if value is True or value is False:
        return value
    raise Undefined(expr)


def equal(a: Value, b: Value) -> bool:
    """Structural equality: numbers by value, optionals transparent, and no Boolean is a number."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _lit(e: Lit, env: Env) -> Value:
    return e.value


def _var(e: Var, env: Env) -> Value:
    try:
        return env.vars[(e.kind, e.name)]
    except KeyError:
        raise Undefined(e) from None


def _node_result(e: NodeResult, env: Env) -> Value:
    try:
        return env.results[e.node]
    except KeyError:
        raise Undefined(e) from None


def _discharge(e: Discharge, env: Env) -> Value:
    try:
        return env.discharges[e.obligation]
    except KeyError:
        raise Undefined(e) from None


def _outcome(e: Outcome, env: Env) -> Value:
    return env.outcomes.get(e.node) == e.status


def _fluent(e: FluentRead, env: Env) -> Value:
    args = tuple([_EVALUATE[a.__class__](a, env) for a in e.args])
    try:
        return env.read(e.fluent, args)
    except LookupError:
        raise Undefined(e) from None


def _field(e: Field, env: Env) -> Value:
    base = evaluate(e.base, env)
    if isinstance(base, Record):
        for name, value in base.items:
            if name == e.name:
                return value
    raise Undefined(e)


def _index(e: Index, env: Env) -> Value:
    base, key = evaluate(e.base, env), evaluate(e.key, env)
    if isinstance(base, tuple) and isinstance(key, int) and -len(base) <= key < len(base):
        return base[key]
    if isinstance(base, Map):
        for k, v in base.items:
            if equal(k, key):
                return v
    raise Undefined(e)


def _if(e: If, env: Env) -> Value:
    return evaluate(e.then if holds(e.cond, env) else e.orelse, env)


def _apply(e: Apply, env: Env) -> Value:
    op, args = e.op, e.args
    if op == "and":
        return all(holds(a, env) for a in args)
    if op == "or":
        return any(holds(a, env) for a in args)
    if op == "implies":
        return not holds(args[0], env) or holds(args[1], env)
    if op == "not":
        return not holds(args[0], env)
    values = [_EVALUATE[a.__class__](a, env) for a in args]
    if op == "==":
        return equal(values[0], values[1])
    if op == "!=":
        return not equal(values[0], values[1])
    if op == "present":
        return values[0] is not None
    try:
        result: Value = _OPERATORS[op](*values)
        return result
    except (TypeError, ArithmeticError, AttributeError, ValueError, Undefined):
        # An absent or ill-typed operand, a division by zero, a date out of range.
        raise Undefined(e) from None


def elements(value: Value, at: Expr) -> tuple[Value, ...]:
    """What a generator ranges over: a list, a bag, or a map's keys. Raises :class:`Undefined` at ``at``."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Bag):
        return value.items
    if isinstance(value, Map):
        return tuple([k for k, _ in value.items])
    raise Undefined(at)


def _each(e: Comprehension, env: Env, depth: int = 0) -> Iterator[Env]:
    """Every binding of the generators that passes ``if``; one environment is updated in place."""
    if depth == len(e.generators):
        if holds(e.cond, env):
            yield env
        return
    generator = e.generators[depth]
    for item in elements(evaluate(generator.source, env), generator.source):
        env.vars["bound", generator.var] = item
        yield from _each(e, env, depth + 1)


def _comprehension(e: Comprehension, env: Env) -> Value:
    inner = env.child()
    if e.kind == "all":
        return all(holds(e.body, inner) for _ in _each(e, inner))
    if e.kind == "any":
        return any(holds(e.body, inner) for _ in _each(e, inner))
    bodies = (evaluate(e.body, inner) for _ in _each(e, inner))
    match e.kind:
        case "count":
            # A Boolean body is a predicate, as in `all` and `any`; any other body is one element each.
            return sum(1 for b in bodies if b is not False)
        case "list":
            return tuple(bodies)
        case "bag":
            return bag(bodies)
        case "map":
            return mapping([(evaluate(e.key or e.body, inner), b) for b in bodies])
        case "only":
            found = list(bodies)
            if len(found) != 1:
                raise Undefined(e)
            return found[0]
    return _sum(e, list(bodies))


def _sum(e: Comprehension, items: list[Value]) -> Value:
    total: Any = timedelta(0) if e.type == DURATION else 0
    try:
        for item in items:
            total = total + item
    except (TypeError, OverflowError):
        raise Undefined(e) from None
    result: Value = total
    return result


def _build(e: Build, env: Env) -> Value:
    items = [evaluate(i, env) for i in e.items]
    match e.kind:
        case "list":
            return tuple(items)
        case "bag":
            return bag(items)
        case "map":
            return mapping(list(zip([evaluate(k, env) for k in e.keys], items, strict=True)))
    fields = dict(zip(e.names, items, strict=True))
    if isinstance(e.type, RecordOf) and len(e.type.fields) != len(fields):
        fields = {**{n: None for n, t in e.type.fields if isinstance(t, Optional)}, **fields}
    return record(fields)


def _in(item: Any, collection: Any) -> bool:
    if isinstance(collection, Map):
        return any(equal(k, item) for k, _ in collection.items)
    if not isinstance(collection, tuple | Bag):
        raise TypeError("not a collection")
    return any(equal(x, item) for x in collection)


def _plus(a: Any, b: Any) -> Any:
    return bag((*a.items, *b.items)) if isinstance(a, Bag) else a + b


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, timedelta) and isinstance(b, Fraction):
        return a * b.numerator / b.denominator
    if isinstance(b, timedelta) and isinstance(a, Fraction):
        return b * a.numerator / a.denominator
    if isinstance(a, str | tuple) or isinstance(b, str | tuple):
        raise TypeError("not a number")
    return a * b


def _round(x: Any, digits: Any = 0) -> Any:
    if not isinstance(digits, int) or abs(digits) > _DIGITS:
        raise ValueError("too many digits")
    return round(Fraction(x), digits)


def _extreme(pick: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *args: pick(args if len(args) > 1 else tuple(args[0]))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": _in,
    "+": _plus,
    "-": lambda a, b: a - b,
    "*": _times,
    "neg": lambda a: -a,
    "div": lambda a, b: Fraction(a) / Fraction(b),
    "round": _round,
    "count": lambda xs: len(elements(xs, TRUE)),
    "keys": lambda m: bag(k for k, _ in m.items),
    "values": lambda m: bag(v for _, v in m.items),
    "abs": abs,
    "min": _extreme(min),
    "max": _extreme(max),
}

_EVALUATE: dict[type, Callable[[Any, Env], Value]] = {
    Lit: _lit,
    Var: _var,
    NodeResult: _node_result,
    Discharge: _discharge,
    Outcome: _outcome,
    FluentRead: _fluent,
    Field: _field,
    Index: _index,
    Apply: _apply,
    If: _if,
    Comprehension: _comprehension,
    Build: _build,
}
