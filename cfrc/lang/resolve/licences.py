"""Turns ``within`` and ``limit`` items into licences and limits of the scope."""

from __future__ import annotations

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.constants import NotConstant, constant
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.goals import existentials
from cfrc.lang.resolve.lookups import arguments, effect_named, tool_named
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import is_any, is_number
from cfrc.model.contract import Licence, Limit
from cfrc.model.domain import Effect
from cfrc.model.expr import Expr, Var
from cfrc.model.types import DURATION, INT, Enum


def resolve_within(item: t.WithinItem, scope: Scope, problems: Problems) -> list[Licence]:
    """The licences of one ``within``: each pattern is an effect or a fluent, decided by its name."""
    found: list[Licence] = []
    for name in item.tools:
        tool = tool_named(name, scope.domain, problems)
        if tool is not None:
            found.append(Licence("tool", tool.name, span=name.span))
    inner, exists = existentials(item.exists, scope, problems)
    where = Resolver(problems).condition(item.where, inner)
    domain = scope.domain
    for pattern in item.patterns:
        name = pattern.name
        of = domain.effects.get(name.text) or domain.fluents.get(name.text)
        if of is None:
            help = "write `within tool …` to license an undeclared tool" if name.text in domain.tools else None
            problems.unknown(
                "effect or fluent", name.text, [*domain.effects, *domain.fluents], name.span, "NAM005", help=help
            )
            continue
        args = arguments(pattern, of.params, inner, problems, wildcards=True)
        kind = "effect" if isinstance(of, Effect) else "fluent"
        found.append(Licence("effect" if kind == "effect" else "fluent", of.name, args, exists, where, pattern.span))
    return found


def resolve_limit(item: t.LimitItem, scope: Scope, problems: Problems) -> Limit | None:
    """``limit sum(a) of e(_, a) <= v``: a bare name that means nothing else is a variable for that argument."""
    effect = effect_named(item.effect.name, scope.domain, problems)
    if effect is None:
        return None
    r = Resolver(problems)
    bound = bind(problems, item.effect.name, effect.params, item.effect.args or ())
    params: list[str | Expr | None] = []
    variables: dict[str, Expr] = {}
    used = {n.name for n in t.walk(item.amount) if isinstance(n, t.Ref)} if item.amount is not None else set()
    for name, type_ in effect.params:
        node = bound.get(name)
        if node is None or isinstance(node, t.Wildcard):
            params.append(None)
            continue
        member = isinstance(type_, Enum) and isinstance(node, t.Ref) and node.name in type_.members
        if isinstance(node, t.Ref) and node.name in used and scope.lookup(node.name) is None and not member:
            variables[node.name] = Var(name=node.name, kind="bound", type=type_, span=node.span)
            params.append(node.name)
            continue
        params.append(r.check(node, type_, scope, f"argument `{name}`"))
    amount = None if item.amount is None else r.resolve(item.amount, scope.inner(variables))
    wanted = INT if amount is None else amount.type
    if amount is not None and not (is_any(wanted) or is_number(wanted) or wanted == DURATION):
        problems.add("EXP002", f"`sum` does not apply to {quoted(str(wanted), 80)}", amount.span)
        return None
    try:
        bound_value = constant(r, item.bound, wanted, scope, "limit")
    except NotConstant:
        return None
    return Limit(item.kind, effect.name, tuple(params), amount, bound_value, item.span)
