"""Turns calls in expressions into their meaning: built-in functions, comprehensions, fluents, and outcomes of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.built import collection
from cfrc.lang.resolve.literals import failed
from cfrc.lang.resolve.operators import pair
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import element, hashable_key, is_any, is_number, join, ordered, strip
from cfrc.model.expr import Apply, Comprehension, Expr, FluentRead, Generator, If, Lit, Outcome, Var
from cfrc.model.types import (
    ANY,
    BOOL,
    DECIMAL,
    DURATION,
    INT,
    AnyType,
    BagOf,
    ListOf,
    MapOf,
    Optional,
    Type,
)  # fmt: skip

if TYPE_CHECKING:
    from cfrc.lang.resolve.expressions import Resolver

OUTCOMES = ("ok", "failed", "skipped")
COMPREHENSIONS = ("all", "any", "sum", "count", "only", "list", "bag", "map")
ARITY: dict[str, tuple[int, int | None]] = {
    "div": (2, 2), "round": (1, 2), "count": (1, 1), "keys": (1, 1), "values": (1, 1), "abs": (1, 1),
    "min": (1, None), "max": (1, None), "present": (1, 1), "if": (3, 3), "bag": (1, 1), "list": (1, 1),
    "all": (1, 1), "any": (1, 1), "sum": (1, 1), "only": (1, 1), "ok": (1, 1), "failed": (1, 1), "skipped": (1, 1),
}  # fmt: skip
BUILTINS = frozenset(ARITY) | {"map", "not", "and", "or", "in", "implies", "absent", "true", "false", "result"}
"""Names that a domain cannot give to a fluent or an effect."""


def call(r: Resolver, node: t.Call, scope: Scope, hint: Type | None) -> Expr:
    """A built-in function or a fluent with arguments."""
    name = node.func.text
    if name in ARITY:
        return _builtin(r, node, scope, hint)
    fluent = scope.domain.fluents.get(name)
    if fluent is not None and scope.fluents:
        bound = bind(r.problems, node.func, fluent.params, node.args)
        args = tuple(
            r.check(bound[n], wanted, scope, f"argument `{n}`") if n in bound else failed(node)
            for n, wanted in fluent.params
        )
        return FluentRead(fluent=name, args=args, type=fluent.type, span=node.span)
    for arg in node.args:
        if not isinstance(arg.value, t.Wildcard):
            r.resolve(arg.value, scope)
    domain, help = scope.domain, None
    if name in domain.effects:
        help = f"{quoted(name)} is an effect; an expression reads fluents and values"
    elif name in domain.tools:
        help = f"{quoted(name)} is a tool; only a step of a proposal calls it"
    elif name in domain.fluents:
        help = "a proposal sees receipts only: read the fluent through a call"
    else:
        known = [*ARITY, *(domain.fluents if scope.fluents else ())]
        help = r.problems.suggest(name, known)
    r.problems.add("NAM005", f"unknown function {quoted(name)}", node.func.span, help)
    return failed(node)


def _builtin(r: Resolver, node: t.Call, scope: Scope, hint: Type | None) -> Expr:
    name, nodes = node.func.text, [a.value for a in node.args]
    low, high = ARITY[name]
    named = next((a.name for a in node.args if a.name is not None), None)
    if named is not None:
        r.problems.add("EXP004", f"{quoted(name)} takes no named arguments", named.span)
        return failed(node)
    if len(nodes) < low or (high is not None and len(nodes) > high):
        wanted = str(low) if low == high else f"{low} to {high}" if high else f"at least {low}"
        r.problems.add("EXP003", f"{quoted(name)} needs {wanted} argument(s), found {len(nodes)}", node.span)
        return failed(node)
    if name in OUTCOMES:
        return _outcome(r, node, nodes[0], scope)
    if name == "if":
        return _if(r, node, nodes, scope, hint)
    if name in ("min", "max"):
        return _extreme(r, node, nodes, scope, hint)
    if name in ("bag", "list") and isinstance(nodes[0], t.ListLit):
        return collection(r, name, nodes[0], scope, hint, node)
    if name == "div":
        args = tuple(r.check(n, DECIMAL, scope, "operand of `div`") for n in nodes)
        return Apply(op="div", args=args, type=DECIMAL, span=node.span)
    if name == "round":
        first = r.check(nodes[0], DECIMAL, scope, "operand of `round`")
        digits = r.check(nodes[1], INT, scope, "number of digits") if len(nodes) > 1 else Lit(value=0, type=INT)
        return Apply(op="round", args=(first, digits), type=DECIMAL, span=node.span)
    return _unary(r, node, r.resolve(nodes[0], scope))


def _unary(r: Resolver, node: t.Call, arg: Expr) -> Expr:
    """The functions of one argument, by its type."""
    name, of = node.func.text, strip(arg.type)
    item = element(arg.type)
    if is_any(of):
        return failed(node)
    if name == "present":
        if not isinstance(arg.type, Optional):
            r.problems.add("EXP002", f"a {quoted(str(of), 80)} is always present", node.span, "only `T?` can be absent")
        return Apply(op="present", args=(arg,), type=BOOL, span=node.span)
    if name == "abs" and (is_number(of) or of == DURATION) and of == arg.type:
        return Apply(op="abs", args=(arg,), type=of, span=node.span)
    if name == "count" and item is not None:
        return Apply(op="count", args=(arg,), type=INT, span=node.span)
    if name in ("keys", "values") and isinstance(of, MapOf):
        result = BagOf(of.key if name == "keys" else of.value)
        return Apply(op="keys" if name == "keys" else "values", args=(arg,), type=result, span=node.span)
    if name in ("all", "any", "sum", "only", "bag", "list") and item is not None:
        body = Var(name="x", kind="bound", type=item, span=node.span)
        return _typed(r, node, name, body, (Generator("x", item, arg),), None, None)
    r.problems.add("EXP002", f"{quoted(name)} does not apply to {quoted(str(arg.type), 80)}", node.span)
    return failed(node)


def _if(r: Resolver, node: t.Call, nodes: list[t.ExprNode], scope: Scope, hint: Type | None) -> Expr:
    cond = r.check(nodes[0], BOOL, scope, "condition of `if`")
    then, orelse = pair(r, nodes[1], nodes[2], scope, hint)
    found = join(then.type, orelse.type)
    if found is None:
        what = f"the branches of `if` have types {quoted(str(then.type), 80)} and {quoted(str(orelse.type), 80)}"
        r.problems.add("EXP001", what, node.span, "both branches need one type")
        return failed(node)
    return If(cond=cond, then=then, orelse=orelse, type=found, span=node.span)


def _extreme(r: Resolver, node: t.Call, nodes: list[t.ExprNode], scope: Scope, hint: Type | None) -> Expr:
    args = tuple(r.resolve(n, scope, hint) for n in nodes)
    found: Type | None = args[0].type
    if len(args) == 1:
        found = element(args[0].type)
        ok = found is not None and ordered(found, found)
    else:
        for arg in args[1:]:
            found = None if found is None else join(found, arg.type)
        ok = found is not None and ordered(found, found) and not isinstance(found, Optional)
    if found is None or not ok:
        types = ", ".join(quoted(str(a.type), 80) for a in args[:4])
        r.problems.add("EXP002", f"{quoted(node.func.text)} does not apply to {types}", node.span)
        return failed(node)
    return Apply(op="min" if node.func.text == "min" else "max", args=args, type=found, span=node.span)


def _outcome(r: Resolver, node: t.Call, arg: t.ExprNode, scope: Scope) -> Expr:
    name = node.func.text
    if scope.nodes is None:
        r.problems.add("EXP010", f"{quoted(name)} is known only in the guards of a proposal", node.span)
        return failed(node)
    if not isinstance(arg, t.Ref):
        r.problems.add("EXP010", f"{quoted(name)} asks about a node by its name", arg.span)
        return failed(node)
    if arg.name not in scope.nodes:
        r.problems.unknown("node", arg.name, scope.nodes, arg.span, "NAM001")
        return failed(node)
    for status in OUTCOMES:
        if status == name:
            return Outcome(node=arg.name, status=status, type=BOOL, span=node.span)  # type: ignore[arg-type]  # of OUTCOMES
    return failed(node)


def comprehension(r: Resolver, node: t.ComprehensionNode, scope: Scope, hint: Type | None) -> Expr:
    """``all(p for x in xs if c)`` and its sisters."""
    kind = node.kind.text
    if kind not in COMPREHENSIONS:
        r.problems.unknown("comprehension", kind, COMPREHENSIONS, node.kind.span, "NAM005")
        return failed(node)
    bound, inner = generators(r, node.generators, scope)
    cond = r.condition(node.cond, inner)
    wish = element(hint) if hint is not None and kind in ("list", "bag") else hint if kind in ("only", "sum") else None
    key: Expr | None = None
    if kind == "map":
        wanted = strip(hint) if hint is not None else ANY
        if node.key is None:
            r.problems.add("EXP003", "a map comprehension needs `key: value`", node.span)
            return failed(node)
        key = r.resolve(node.key, inner, wanted.key if isinstance(wanted, MapOf) else None)
        wish = wanted.value if isinstance(wanted, MapOf) else None
    elif node.key is not None:
        r.problems.add("EXP003", f"{quoted(kind)} takes one body, not `key: value`", node.key.span)
    body = r.resolve(node.body, inner, BOOL if kind in ("all", "any") else wish)
    return _typed(r, node, kind, body, bound, cond, key)


def _typed(
    r: Resolver, node: t.Node, kind: str, body: Expr, bound: tuple[Generator, ...], cond: Expr | None, key: Expr | None
) -> Expr:
    """The comprehension with the type that its kind gives it."""
    found: Type
    match kind:
        case "all" | "any":
            found = BOOL
            if not (is_any(body.type) or body.type == BOOL):
                r.problems.add(
                    "EXP001", f"{quoted(kind)} needs a condition, found {quoted(str(body.type), 80)}", body.span
                )
                return failed(node)
        case "sum":
            found = body.type
            if not (is_any(found) or is_number(found) or found == DURATION):
                r.problems.add("EXP002", f"`sum` does not apply to {quoted(str(found), 80)}", body.span)
                return failed(node)
        case "count":
            found = INT
        case "list":
            found = ListOf(body.type)
        case "bag":
            found = BagOf(body.type)
        case "map":
            assert key is not None
            found = MapOf(key.type, body.type)
            if not hashable_key(key.type):
                r.problems.add("EXP002", f"a {quoted(str(key.type), 80)} cannot be a map's key", key.span)
        case _:
            found = body.type
    return Comprehension(
        kind=kind, body=body, generators=bound, cond=cond, key=key, type=found, span=node.span  # type: ignore[arg-type]  # one of COMPREHENSIONS
    )  # fmt: skip


def generators(r: Resolver, nodes: tuple[t.GeneratorNode, ...], scope: Scope) -> tuple[tuple[Generator, ...], Scope]:
    """The generators, left to right, and the scope in which their variables are known."""
    bound: list[Generator] = []
    for node in nodes:
        source = r.resolve(node.source, scope)
        item = element(source.type)
        if item is None:
            help = "it ranges over a list, a bag, or a map's keys"
            r.problems.add(
                "EXP002", f"`for` does not range over {quoted(str(source.type), 80)}", node.source.span, help
            )
            item = AnyType()
        bound.append(Generator(node.var.text, item, source))
        scope = scope.inner({node.var.text: Var(name=node.var.text, kind="bound", type=item, span=node.var.span)})
    return tuple(bound), scope
