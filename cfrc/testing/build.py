"""Turns short Python calls into model expressions and clauses, so that tests and generators stay readable."""

from __future__ import annotations

from cfrc.model.domain import EffectClause, FluentClause
from cfrc.model.expr import Apply, Discharge, Expr, Field, FluentRead, Lit, NodeResult, Op, Outcome, Var
from cfrc.model.types import ANY, BOOL, DECIMAL, Prim, RecordOf, Type
from cfrc.model.values import Value


def lit(value: Value, t: Type) -> Lit:
    return Lit(value=value, type=t)


def param(name: str, t: Type) -> Var:
    return Var(name=name, kind="param", type=t)


def exists(name: str, t: Type) -> Var:
    return Var(name=name, kind="exists", type=t)


def known(name: str, t: Type) -> Var:
    """A binding or known value of the contract."""
    return Var(name=name, kind="name", type=t)


def path(base: Expr, *names: str) -> Expr:
    """``base.a.b``, typed by the base's record type."""
    for name in names:
        inner = base.type.field(name) if isinstance(base.type, RecordOf) else None
        base = Field(base=base, name=name, type=inner if inner is not None else ANY)
    return base


def result(t: Type, *names: str) -> Expr:
    """``result.a.b`` inside a tool's clauses."""
    return path(Var(name="result", kind="result", type=t), *names)


def out(node: str, t: Type, *names: str) -> Expr:
    """``node.a.b`` inside a proposal; ``t`` is the tool's result type."""
    return path(NodeResult(node=node, type=t), *names)


def receipt(obligation: str, t: Type, *names: str) -> Expr:
    """``obligation.a.b``: a field of the receipt that discharges the obligation."""
    return path(Discharge(obligation=obligation, type=t), *names)


def failed(node: str) -> Outcome:
    return Outcome(node=node, status="failed", type=BOOL)


def ok(node: str) -> Outcome:
    return Outcome(node=node, status="ok", type=BOOL)


def op(name: Op, *args: Expr) -> Apply:
    """An operator applied; arithmetic is decimal, everything else a condition."""
    return Apply(op=name, args=args, type=DECIMAL if name in ("+", "-", "*") else BOOL)


def eq(a: Expr, b: Expr) -> Apply:
    return op("==", a, b)


def negate(e: Expr) -> Apply:
    return op("not", e)


def both(a: Expr | None, b: Expr | None) -> Expr | None:
    """The conjunction of two optional conditions."""
    if a is None or b is None:
        return a if b is None else b
    return op("and", a, b)


def read(fluent: str, t: Type, *args: Expr) -> FluentRead:
    return FluentRead(fluent=fluent, args=args, type=t)


def effect(name: str, *args: Expr | None, when: Expr | None = None) -> EffectClause:
    return EffectClause(name, args, when)


def value_of(fluent: str, args: tuple[Expr, ...], value: Expr, when: Expr | None = None) -> FluentClause:
    """``fluent(args) = value when …``, for ``sets`` and ``observes``."""
    return FluentClause(fluent, args, value, when)


TRUE, FALSE = lit(True, BOOL), lit(False, BOOL)
TEXT = Prim("text")
