"""Turns obligations into goals: effect patterns and state conditions over names, existentials and other receipts."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.domains import params
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.lookups import arguments
from cfrc.lang.resolve.origins import origin
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.types_ import Types
from cfrc.model.contract import EffectGoal, Goal, Obligation, StateGoal
from cfrc.model.domain import Domain
from cfrc.model.expr import Discharge, Expr, Var
from cfrc.model.types import ANY, BOOL, RecordOf, Type


def name_obligations(items: tuple[t.OwesItem, ...], taken: Mapping[str, t.Name], problems: Problems) -> list[str]:
    """A name for each obligation: the written one, or ``owes1``, ``owes2``… by position among all obligations.

    A name that is already taken is reported, and stays with its first owner.
    """
    names: list[str] = []
    places: dict[str, t.Node] = dict(taken)
    for item in items:
        if item.name is not None and item.name.text in places:
            problems.duplicate("name", item.name.text, item.name.span, places[item.name.text].span)
        elif item.name is not None:
            places[item.name.text] = item.name
    for number, item in enumerate(items, 1):
        if item.name is not None:
            names.append(item.name.text)
            continue
        name = f"owes{number}"
        while name in places:
            name += "_"
        places[name] = item
        names.append(name)
    return names


def discharges(
    items: tuple[t.OwesItem, ...], names: list[str], domain: Domain, allowed: Collection[str]
) -> dict[str, Expr]:
    """What each obligation's name stands for in other obligations: the result of the receipt that discharges it."""
    found: dict[str, Expr] = {}
    for item, name in zip(items, names, strict=True):
        effects = [e for g in item.goals if (e := _effect_of(g, domain)) is not None]
        if effects:
            found[name] = Discharge(obligation=name, type=result_type(effects, domain, allowed), span=item.span)
    return found


def _effect_of(goal: t.ExprNode, domain: Domain) -> str | None:
    name = goal.func.text if isinstance(goal, t.Call) else goal.name if isinstance(goal, t.Ref) else None
    return name if name in domain.effects else None


def result_type(effects: list[str], domain: Domain, allowed: Collection[str]) -> Type:
    """What is certain about the result of a receipt that realizes one of the effects.

    These are the fields which the results of all tools share that can cause or witness it: of the allowed ones, or of
    the whole domain where none of those can (then the contract is unsupported, which its check reports).
    """
    able = [x for x in domain.tools.values() if any(c.effect in effects for c in (*x.causes, *x.witnesses))]
    results = [x.result for x in able if x.name in allowed] or [x.result for x in able]
    if not results:
        return ANY
    first, *others = results
    if all(o == first for o in others):
        return first
    records = [x for x in results if isinstance(x, RecordOf)]
    if len(records) < len(results):
        return RecordOf(None, ())
    shared = tuple((n, f) for n, f in records[0].fields if all(x.field(n) == f for x in records))
    return RecordOf(None, shared)


def resolve_obligation(item: t.OwesItem, name: str, scope: Scope, known: list[str], problems: Problems) -> Obligation:
    """One obligation. ``scope`` knows the contract's names and the obligations, whose names are ``known``."""
    inner, exists = existentials(item.exists, scope, problems)
    goals = tuple(g for n in item.goals if (g := _goal(n, inner, problems)) is not None)
    r = Resolver(problems)
    before: list[str] = []
    for other in item.before:
        if other.text not in known:
            problems.unknown("obligation", other.text, known, other.span, "NAM007")
        elif other.text == name:
            problems.add("EXP017", f"obligation {quoted(name)} cannot come before itself", other.span)
        elif other.text not in before:
            before.append(other.text)
    count = 1 if item.count is None else item.count.value
    if count < 1:
        problems.add("EXP017", "an obligation owes at least one", item.count.span if item.count else item.span)
    return Obligation(
        name=name,
        goals=goals,
        choice=item.choice,
        count=count,
        exists=exists,
        where=r.condition(item.where, inner),
        condition=r.condition(item.condition, scope),
        before=tuple(before),
        shared=item.shared,
        origin=origin(item.origin, scope, problems),
        span=item.span,
    )


def existentials(
    nodes: tuple[t.TypedName, ...], scope: Scope, problems: Problems
) -> tuple[Scope, tuple[tuple[str, Type], ...]]:
    """The scope in which ``exists n: T`` is known. Existentials must not hide other names."""
    found = params(nodes, Types(problems, dict(scope.domain.types)))
    for node in nodes:
        if scope.lookup(node.name.text) is not None:
            outside = scope.lookup(node.name.text)
            problems.duplicate("name", node.name.text, node.name.span, outside.span if outside is not None else None)
    variables: dict[str, Expr] = {n: Var(name=n, kind="exists", type=type_) for n, type_ in found}
    return (scope.inner(variables) if variables else scope), found


def _means_the_effect(node: t.ExprNode, other: Expr | None) -> bool:
    """Whether the name of an effect means the effect where it may also be a name of the contract.

    What is called can be nothing else; and an obligation is no goal, so that it may bear the name of its effect.
    """
    return isinstance(node, t.Call) or other is None or isinstance(other, Discharge)


def _goal(node: t.ExprNode, scope: Scope, problems: Problems) -> Goal | None:
    domain = scope.domain
    name = (
        node.func
        if isinstance(node, t.Call)
        else t.Name(node.name, span=node.span)
        if isinstance(node, t.Ref)
        else None
    )
    if name is not None and name.text in domain.effects and _means_the_effect(node, scope.lookup(name.text)):
        effect = domain.effects[name.text]
        pattern = t.Pattern(name, node.args if isinstance(node, t.Call) else (), span=node.span)
        args = arguments(pattern, effect.params, scope, problems, wildcards=True)
        return EffectGoal(effect.name, args, node.span)
    if isinstance(node, t.Call) and name is not None and name.text not in domain.fluents:
        from cfrc.lang.resolve.builtins import ARITY

        if name.text not in ARITY:
            help = f"{quoted(name.text)} is a tool; name the effect it causes" if name.text in domain.tools else None
            problems.unknown("effect", name.text, [*domain.effects, *domain.fluents], name.span, "NAM005", help=help)
            return None
    return StateGoal(Resolver(problems).check(node, BOOL, scope, "state that is owed"), node.span)
