"""Turns references to the receipts of discharged obligations into the values that those receipts hold."""

from __future__ import annotations

from collections.abc import Mapping

from cfrc.model.canon import canonical
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Discharge, Expr, FluentRead, Lit, Var, rebuild, walk
from cfrc.model.show import show_expr
from cfrc.model.types import ANY, AnyType, Optional, Type
from cfrc.model.values import Value


class Unusable(ValueError):
    """A receipt does not say what an expression needs of it."""


def grounded(e: Expr, results: Mapping[str, Value], wanted: Type = ANY) -> Expr:
    """The expression with every part that only rests on those receipts evaluated. Raises :class:`Unusable`."""
    if not any(isinstance(x, Discharge) and x.obligation in results for x in walk(e)):
        return e
    if _closed(e, results):
        try:
            value = evaluate(e, Env(discharges=results))
        except Undefined as u:
            if not isinstance(u.expr, Var):
                raise Unusable(show_expr(u.expr)) from None
        else:
            type_ = wanted if isinstance(e.type, AnyType) else e.type
            if isinstance(type_, Optional):
                type_ = type_.item
            if value is None or isinstance(type_, AnyType):
                raise Unusable(show_expr(e))
            return Lit(value=canonical(type_, value), type=type_)
    return rebuild(e, lambda x: grounded(x, results))


def _closed(e: Expr, results: Mapping[str, Value]) -> bool:
    """Whether nothing but the receipts decides the value."""
    return not any(
        isinstance(x, FluentRead)
        or (isinstance(x, Discharge) and x.obligation not in results)
        or (isinstance(x, Var) and x.kind != "bound")
        for x in walk(e)
    )
