"""Turns operators into typed applications: Boolean connectives, comparisons, membership and exact arithmetic."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve import literals
from cfrc.lang.resolve.literals import failed
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import comparable, element, is_any, is_number, ordered, product_type, strip, sum_type
from cfrc.model.expr import Apply, Expr, Lit, Op
from cfrc.model.types import BOOL, DECIMAL, DURATION, INT, Id, ListOf, Optional, Type

if TYPE_CHECKING:
    from cfrc.lang.resolve.expressions import Resolver

_WEAK = (t.StringLit, t.IntLit, t.DecimalLit, t.AbsentLit, t.ListLit, t.RecordLit, t.MapLit)


def unary(r: Resolver, node: t.Unary, scope: Scope, hint: Type | None) -> Expr:
    if node.op == "not":
        operand = r.check(node.operand, BOOL, scope, "operand of `not`")
        return Apply(op="not", args=(operand,), type=BOOL, span=node.span)
    if isinstance(node.operand, t.IntLit | t.DecimalLit):
        return literals.negative(node.operand, hint, r.problems, node)
    operand = r.resolve(node.operand, scope, hint)
    if not (is_any(operand.type) or is_number(operand.type) or operand.type == DURATION):
        r.problems.add("EXP002", f"`-` does not apply to {quoted(str(operand.type), 80)}", node.span)
        return failed(node)
    if isinstance(operand, Lit) and isinstance(operand.value, timedelta):
        return Lit(value=-operand.value, type=operand.type, span=node.span)
    return Apply(op="neg", args=(operand,), type=operand.type, span=node.span)


def binary(r: Resolver, node: t.Binary, scope: Scope, hint: Type | None) -> Expr:
    op = node.op
    if op in ("and", "or"):
        return _chain(r, node, scope)
    if op == "implies":
        sides = (r.check(node.left, BOOL, scope, "operand of `implies`"),
                 r.check(node.right, BOOL, scope, "operand of `implies`"))  # fmt: skip
        return Apply(op="implies", args=sides, type=BOOL, span=node.span)
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return _comparison(r, node, scope)
    if op in ("in", "not in"):
        return _membership(r, node, scope)
    return _arithmetic(r, node, scope, hint)


def _chain(r: Resolver, node: t.Binary, scope: Scope) -> Expr:
    """``a and b and c`` as one application, without recursion into its left-leaning tree."""
    parts: list[t.ExprNode] = []
    rest: t.ExprNode = node
    while isinstance(rest, t.Binary) and rest.op == node.op:
        parts.append(rest.right)
        rest = rest.left
    parts.append(rest)
    args = tuple(r.check(p, BOOL, scope, f"operand of `{node.op}`") for p in reversed(parts))
    return Apply(op="and" if node.op == "and" else "or", args=args, type=BOOL, span=node.span)


def pair(r: Resolver, left: t.ExprNode, right: t.ExprNode, scope: Scope, hint: Type | None = None) -> tuple[Expr, Expr]:
    """Two operands that should have one type: a literal or an enum member follows the type of the other side."""
    if _is_weak(left, scope) and not _is_weak(right, scope):
        second = r.resolve(right, scope, hint)
        return _follow(r, left, second, scope, hint), second
    first = r.resolve(left, scope, hint)
    return first, _follow(r, right, first, scope, hint)


def _follow(r: Resolver, node: t.ExprNode, other: Expr, scope: Scope, hint: Type | None) -> Expr:
    """The operand whose type follows the other's. Beside one that failed, a bare name may be a member: no cascade."""
    if not is_any(other.type):
        return r.resolve(node, scope, other.type)
    if isinstance(node, t.Ref) and _is_weak(node, scope):
        return failed(node)
    return r.resolve(node, scope, hint)


def _is_weak(node: t.ExprNode, scope: Scope) -> bool:
    match node:
        case t.Ref(name=name):
            return scope.lookup(name) is None and name not in scope.domain.fluents
        case t.Unary(op="-", operand=operand):
            return _is_weak(operand, scope)
        case t.Call(func=func, args=args) if func.text in ("if", "bag", "list", "min", "max"):
            start = 1 if func.text == "if" else 0
            return all(_is_weak(a.value, scope) for a in args[start:])
    return isinstance(node, _WEAK)


def _comparison(r: Resolver, node: t.Binary, scope: Scope) -> Expr:
    left, right = pair(r, node.left, node.right, scope)
    op: Op = node.op  # type: ignore[assignment]  # one of the six comparison operators, by the caller
    if op in ("==", "!="):
        ok = comparable(left.type, right.type)
        help = "they can never be equal" if not ok else None
    else:
        ok = ordered(left.type, right.type)
        help = "`<` compares numbers, dates, times and durations" if not ok else None
    if not ok:
        what = f"{quoted(op)} does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
        r.problems.add("EXP002", what, node.op_span, help)
    return Apply(op=op, args=(left, right), type=BOOL, span=node.span)


def _membership(r: Resolver, node: t.Binary, scope: Scope) -> Expr:
    if _is_weak(node.right, scope):
        left = r.resolve(node.left, scope)
        right = r.resolve(node.right, scope, None if is_any(left.type) else ListOf(strip(left.type)))
        item = element(right.type)
    else:
        right = r.resolve(node.right, scope)
        item = element(right.type)
        left = r.resolve(node.left, scope, item)
    if item is None or not comparable(left.type, item):
        what = f"`in` does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
        r.problems.add("EXP002", what, node.op_span, "the right side is a list, a bag or a map of such elements")
    inside = Apply(op="in", args=(left, right), type=BOOL, span=node.span)
    return inside if node.op == "in" else Apply(op="not", args=(inside,), type=BOOL, span=node.span)


def _arithmetic(r: Resolver, node: t.Binary, scope: Scope, hint: Type | None) -> Expr:
    """``+ - *``; a left-leaning chain is folded without recursion."""
    spine: list[t.Binary] = []
    rest: t.ExprNode = node
    while isinstance(rest, t.Binary) and rest.op in ("+", "-", "*"):
        spine.append(rest)
        rest = rest.left
    wish = hint if hint is not None and strip(hint) in (DECIMAL, INT) else None
    total = r.resolve(rest, scope, wish)
    for step in reversed(spine):
        total = _step(r, step, total, scope, wish)
    return total


def _step(r: Resolver, node: t.Binary, left: Expr, scope: Scope, wish: Type | None) -> Expr:
    numeric = is_number(left.type)
    right = r.resolve(node.right, scope, (left.type if numeric else None) or wish)
    op: Op = node.op  # type: ignore[assignment]  # one of + - *, by the caller
    found = product_type(left.type, right.type) if op == "*" else sum_type(op, left.type, right.type)
    if found is None:
        help = None
        if isinstance(left.type, Optional) or isinstance(right.type, Optional):
            help = "a value that may be absent cannot be computed with"
        elif isinstance(left.type, Id) or isinstance(right.type, Id):
            help = "identifiers are copied, never computed"
        what = f"`{op}` does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
        r.problems.add("EXP002", what, node.op_span, help)
        return failed(node)
    return Apply(op=op, args=(left, right), type=found, span=node.span)
