"""Turns a contract's names into the values they stand for, wherever an expression of the contract mentions them.

Every name has a concrete value, so ``owes made(x)`` and ``owes made("x1")`` mean the same; spelled out, both are found
by hashing. Contracts that were loaded from text are spelled out already; those built in memory may not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from cfrc.model import expr as ex
from cfrc.model.contract import Contract, EffectGoal, Goal, Licence, Limit, Name, Obligation

E = TypeVar("E", bound=ex.Expr | None)


def spelled_out(contract: Contract) -> Contract:
    """The same contract without names in obligations, scope and limits."""
    exprs = [e for o in contract.obligations for e in _expressions(o)]
    exprs += [a for licence in contract.scope or () for a in (*licence.args, licence.where) if a is not None]
    exprs += [
        p
        for limit in contract.limits
        for p in (*limit.params, limit.amount)
        if p is not None and not isinstance(p, str)
    ]
    if not any(isinstance(x, ex.Var) and x.kind == "name" for e in exprs for x in ex.walk(e)):
        return contract
    names = contract.names
    return replace(
        contract,
        obligations=tuple(_obligation(names, o) for o in contract.obligations),
        scope=None if contract.scope is None else tuple(_licence(names, x) for x in contract.scope),
        limits=tuple(_limit(names, x) for x in contract.limits),
    )


def _expressions(o: Obligation) -> list[ex.Expr]:
    found = [a for g in o.goals for a in (g.args if isinstance(g, EffectGoal) else (g.condition,)) if a is not None]
    return [*found, *(e for e in (o.where, o.condition) if e is not None)]


def _obligation(names: Mapping[str, Name], o: Obligation) -> Obligation:
    goals = tuple(_goal(names, g) for g in o.goals)
    return replace(o, goals=goals, where=_spell(names, o.where), condition=_spell(names, o.condition))


def _goal(names: Mapping[str, Name], g: Goal) -> Goal:
    if isinstance(g, EffectGoal):
        return replace(g, args=tuple(_spell(names, a) for a in g.args))
    return replace(g, condition=_spell(names, g.condition))


def _licence(names: Mapping[str, Name], x: Licence) -> Licence:
    return replace(x, args=tuple(_spell(names, a) for a in x.args), where=_spell(names, x.where))


def _limit(names: Mapping[str, Name], x: Limit) -> Limit:
    params = tuple(p if isinstance(p, str) else _spell(names, p) for p in x.params)
    return replace(x, params=params, amount=_spell(names, x.amount))


def _spell(names: Mapping[str, Name], e: E) -> E:
    if isinstance(e, ex.Var) and e.kind == "name" and e.name in names:
        return ex.Lit(value=names[e.name].value, type=e.type, span=e.span)  # type: ignore[return-value]
    return e if e is None else ex.rebuild(e, lambda x: _spell(names, x))  # type: ignore[return-value]
