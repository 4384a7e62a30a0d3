"""Turns the literals that a contract wrote by name back into those names, so that a corrected choice corrects what is
owed too.

Resolution puts a name's value wherever the name stands. The place of such a literal still holds the name's own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from cfrc.model.contract import Contract, EffectGoal, Goal, Licence, Limit, Name, Obligation
from cfrc.model.expr import Expr, Lit, Var, rebuild


def refer(contract: Contract) -> Contract:
    """The same contract, with names in obligations, scope and limits where they were written."""
    return changed(contract, lambda e: _expr(e, contract.names))


def rename(contract: Contract, names: Mapping[str, str]) -> Contract:
    """The same contract, with other names in obligations, scope and limits."""
    return changed(contract, lambda e: _renamed(e, names)) if names else contract


def changed(contract: Contract, expr: Callable[[Expr], Expr]) -> Contract:
    """The contract with every expression of its obligations, scope and limits changed."""

    def maybe(e: Expr | None) -> Expr | None:
        return None if e is None else expr(e)

    def goal(g: Goal) -> Goal:
        if isinstance(g, EffectGoal):
            return replace(g, args=tuple(maybe(a) for a in g.args))
        return replace(g, condition=expr(g.condition))

    def obligation(o: Obligation) -> Obligation:
        goals = tuple(goal(g) for g in o.goals)
        return replace(o, goals=goals, where=maybe(o.where), condition=maybe(o.condition))

    def licence(x: Licence) -> Licence:
        return replace(x, args=tuple(maybe(a) for a in x.args), where=maybe(x.where))

    def limit(x: Limit) -> Limit:
        params = tuple(p if isinstance(p, str) else maybe(p) for p in x.params)
        return replace(x, params=params, amount=maybe(x.amount))

    return replace(
        contract,
        obligations=tuple(obligation(o) for o in contract.obligations),
        scope=None if contract.scope is None else tuple(licence(x) for x in contract.scope),
        limits=tuple(limit(x) for x in contract.limits),
    )


def _expr(e: Expr, names: Mapping[str, Name]) -> Expr:
    if isinstance(e, Lit) and e.span is not None:
        name = names.get(e.span.text)
        if name is not None and name.value == e.value and name.type == e.type:
            return Var(name=name.name, kind="name", type=e.type, span=e.span)
    return rebuild(e, lambda x: _expr(x, names))


def _renamed(e: Expr, names: Mapping[str, str]) -> Expr:
    if isinstance(e, Var) and e.kind == "name":
        return replace(e, name=names.get(e.name, e.name))
    return rebuild(e, lambda x: _renamed(x, names))
