"""Turns two expressions for one value into the pairs of parts that were equal, element by element."""

from __future__ import annotations

from cfrc.model.evaluate import Env, Undefined, equal, evaluate
from cfrc.model.expr import Build, Comprehension, Expr, Generator, Var, rebuild


def expanded(e: Expr) -> Expr:
    """A comprehension over a collection that is built of its parts, as such a collection itself."""
    match e:
        case Comprehension(
            kind="bag" | "list" as kind, generators=(Generator(var=var, source=Build() as s),), cond=None
        ):
            items = tuple(_put(e.body, var, item) for item in s.items)
            return Build(kind=kind, items=items, type=e.type)
    return e


def _put(e: Expr, var: str, item: Expr) -> Expr:
    if isinstance(e, Var):
        return item if (e.kind, e.name) == ("bound", var) else e
    return rebuild(e, lambda x: _put(x, var, item))


def same(a: Expr, b: Expr, env: Env) -> bool:
    try:
        return equal(evaluate(a, env), evaluate(b, env))
    except Undefined:
        return False


__all__ = ["expanded", "same"]
