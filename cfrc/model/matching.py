"""Turns patterns with existentials (goals, licences) and concrete values into the bindings that make them equal.

An existential is bound where it stands alone, also inside lists, bags, maps and records that a pattern builds; what
remains unbound is tried over the finite pool of values of its type that the run has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from cfrc.model.canon import has_type
from cfrc.model.evaluate import Env, Undefined, equal, evaluate, holds
from cfrc.model.expr import Apply, Build, Expr, Var, conjuncts, walk
from cfrc.model.types import BagOf, Enum, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value

Binding = dict[str, Value]
Deferred = tuple[tuple[Expr, Value], ...]
State = tuple[Binding, Deferred]
"""What is bound so far, and the equations that must wait until everything is."""


@dataclass(slots=True)
class Quantified:
    """Existentials with the condition on them, and the values that may stand for what no pattern binds."""

    exists: tuple[tuple[str, Type], ...]
    where: Expr | None = None
    pool: dict[Type, list[Value]] = field(default_factory=dict)


def free(e: Expr) -> set[str]:
    """The existentials that occur in an expression."""
    return {x.name for x in walk(e) if isinstance(x, Var) and x.kind == "exists"}


def bind(env: Env, binding: Binding) -> Env:
    return env.child({("exists", n): v for n, v in binding.items()}) if binding else env


def same(e: Expr, value: Value, env: Env) -> bool:
    """Whether the expression is defined and has the value."""
    try:
        return equal(evaluate(e, env), value)
    except Undefined:
        return False


def solutions(
    patterns: tuple[Expr | None, ...], values: tuple[Value, ...], quantified: Quantified, env: Env
) -> Iterator[Binding]:
    """Every binding of the existentials under which the values match the patterns and ``where`` holds."""
    pairs = [(p, v) for p, v in zip(patterns, values, strict=True) if p is not None]
    for binding, deferred in _match_all(pairs, {}, (), env):
        yield from complete(binding, deferred, quantified, env)


def complete(binding: Binding, deferred: Deferred, quantified: Quantified, env: Env) -> Iterator[Binding]:
    """Extends a binding to all existentials and checks what was deferred, and ``where``."""
    open_ = [(n, t) for n, t in quantified.exists if n not in binding]
    choices = [candidates(n, t, quantified, bind(env, binding)) for n, t in open_]
    for values in product(*choices):
        full = {**binding, **{n: v for (n, _), v in zip(open_, values, strict=True)}}
        inner = bind(env, full)
        if all(same(e, v, inner) for e, v in deferred) and _where(quantified.where, inner):
            yield full


def _where(where: Expr | None, env: Env) -> bool:
    try:
        return holds(where, env)
    except Undefined:
        return False


def candidates(name: str, t: Type, quantified: Quantified, env: Env) -> list[Value]:
    """Values that may stand for an existential: what ``where`` equates it with, all of a finite type, the pool."""
    found: list[Value] = []
    for c in conjuncts(quantified.where):
        if isinstance(c, Apply) and c.op == "==":
            for side, other in (c.args, tuple(reversed(c.args))):
                if isinstance(side, Var) and side.kind == "exists" and side.name == name:
                    try:
                        found.append(evaluate(other, env))
                    except Undefined:
                        continue
    match t:
        case Enum(_, members):
            found.extend(members)
        case Prim("bool"):
            found.extend((False, True))
        case _:
            found.extend(quantified.pool.get(t, ()))
    return list(dict.fromkeys(v for v in found if has_type(v, t)))


def _match_all(pairs: list[tuple[Expr, Value]], binding: Binding, deferred: Deferred, env: Env) -> Iterator[State]:
    if not pairs:
        yield binding, deferred
        return
    (pattern, value), rest = pairs[0], pairs[1:]
    for b, d in _match(pattern, value, binding, deferred, env):
        yield from _match_all(rest, b, d, env)


def _match(pattern: Expr, value: Value, binding: Binding, deferred: Deferred, env: Env) -> Iterator[State]:
    unbound = free(pattern) - set(binding)
    if not unbound:
        if same(pattern, value, bind(env, binding)):
            yield binding, deferred
        return
    if isinstance(pattern, Var):
        if has_type(value, pattern.type):
            yield {**binding, pattern.name: value}, deferred
        return
    if isinstance(pattern, Build):
        yield from _build(pattern, value, binding, deferred, env)
        return
    yield binding, (*deferred, (pattern, value))


def _build(p: Build, value: Value, binding: Binding, deferred: Deferred, env: Env) -> Iterator[State]:
    match p.kind, value:
        case "list", tuple() if len(value) == len(p.items):
            yield from _match_all(list(zip(p.items, value, strict=True)), binding, deferred, env)
        case "record", Record():
            if all(n in value for n in p.names) and all(v is None for n, v in value.items if n not in p.names):
                pairs = [(e, value.get(n)) for n, e in zip(p.names, p.items, strict=True)]
                yield from _match_all(pairs, binding, deferred, env)
        case "bag", Bag(items) if len(items) == len(p.items):
            patterns: list[tuple[Expr, ...]] = [(e,) for e in p.items]
            yield from _unordered(patterns, [(v,) for v in items], binding, deferred, env)
        case "map", Map(items) if len(items) == len(p.items):
            entries: list[tuple[Expr, ...]] = list(zip(p.keys, p.items, strict=True))
            yield from _unordered(entries, list(items), binding, deferred, env)


def _unordered(
    patterns: list[tuple[Expr, ...]], values: list[tuple[Value, ...]], binding: Binding, deferred: Deferred, env: Env
) -> Iterator[State]:
    """Matches each pattern with a different value, in every way."""
    if not patterns:
        yield binding, deferred
        return
    for i, value in enumerate(values):
        if value in values[:i]:
            continue
        for b, d in _match_all(list(zip(patterns[0], value, strict=True)), binding, deferred, env):
            yield from _unordered(patterns[1:], values[:i] + values[i + 1 :], b, d, env)


def collect(pool: dict[Type, list[Value]], value: Value, t: Type) -> None:
    """Adds a value and its parts to a pool, by type."""
    if value is None:
        return
    while isinstance(t, Optional):
        t = t.item
    seen = pool.setdefault(t, [])
    if value in seen:
        return
    seen.append(value)
    match t, value:
        case ListOf(item), tuple(values):
            for v in values:
                collect(pool, v, item)
        case BagOf(item), Bag(values):
            for v in values:
                collect(pool, v, item)
        case MapOf(key, item), Map(pairs):
            for k, v in pairs:
                collect(pool, k, key)
                collect(pool, v, item)
        case RecordOf(_, fields), Record():
            for n, f in fields:
                if n in value:
                    collect(pool, value.get(n), f)
