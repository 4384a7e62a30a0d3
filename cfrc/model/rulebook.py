"""Turns a contract into the tables that judging a run needs: what is kept, licensed, owed, ordered. Prepared once."""

from __future__ import annotations

from dataclasses import dataclass, field

from cfrc.model.contract import Contract, EffectGoal, Obligation, StateGoal
from cfrc.model.coverage import Owed, arrange
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Discharge, Expr, FluentRead, walk
from cfrc.model.footprint import WILD, Wild
from cfrc.model.instances import Instance, Signatures
from cfrc.model.plan import Plan
from cfrc.model.scope import Scope, Term
from cfrc.model.values import Value

Ordering = tuple[tuple[Value | Wild, ...], frozenset[str], frozenset[str]]


@dataclass(slots=True)
class Rulebook:
    """``kept_keys`` maps a ``once`` key to the kept identity; ``order`` lists, for an effect, the goals of obligations
    in a ``before`` as (pattern, orders it completes, orders it needs); ``tracked`` are the state obligations in one.
    ``ground`` gives for each goal of an obligation the one identity it asks for, where that is fixed from the start."""

    plan: Plan
    scope: Scope
    owed: list[Owed]
    kept_keys: dict[Instance, Instance] = field(default_factory=dict)
    kept_fluents: dict[Instance, Value] = field(default_factory=dict)
    order: dict[str, list[Ordering]] = field(default_factory=dict)
    ground: dict[str, tuple[Instance | None, ...]] = field(default_factory=dict)
    tracked: dict[str, Obligation] = field(default_factory=dict)
    obligations: dict[str, Obligation] = field(default_factory=dict)


def make_rulebook(plan: Plan) -> Rulebook:
    contract, sig = plan.contract, plan.sig
    book = Rulebook(plan, Scope(contract, sig, plan.env()), arrange(contract.obligations))
    book.obligations = {o.name: o for o in contract.obligations}
    for k in contract.kept:
        identity = (k.effect, tuple(a for a in sig.effect(k.effect, k.args) if not isinstance(a, Wild)))
        if contract.domain.effects[k.effect].once:
            book.kept_keys.setdefault((k.effect, sig.key(*identity)), identity)
    for fact in contract.facts:
        if fact.kept:
            book.kept_fluents[fact.fluent, sig.fluent(fact.fluent, fact.args)] = fact.value
    env = plan.env()
    for o in contract.obligations:
        if not o.exists and o.where is None:
            book.ground[o.name] = tuple(_fixed(g, sig, env) for g in o.goals)
    _order(book, contract, sig)
    return book


def _fixed(goal: EffectGoal | StateGoal, sig: Signatures, env: Env) -> Instance | None:
    if isinstance(goal, StateGoal):
        return None
    pattern = _loose(goal, sig, env)
    args = tuple([a for a in pattern if not isinstance(a, Wild)])
    return (goal.effect, args) if len(args) == len(pattern) else None


def _order(book: Rulebook, contract: Contract, sig: Signatures) -> None:
    after: dict[str, set[str]] = {}
    for o in contract.obligations:
        for second in o.before:
            after.setdefault(second, set()).add(o.name)
    for o in contract.obligations:
        needs = frozenset(after.get(o.name, ()))
        if not o.before and not needs:
            continue
        completes = frozenset({o.name}) if o.before else frozenset()
        for goal in o.goals:
            if isinstance(goal, StateGoal):
                book.tracked[o.name] = o
            else:
                pattern = _loose(goal, sig, book.plan.env())
                book.order.setdefault(goal.effect, []).append((pattern, completes, needs))


def _loose(goal: EffectGoal, sig: Signatures, env: Env) -> tuple[Value | Wild, ...]:
    """The goal's arguments; what depends on the run counts as any value."""
    return sig.pattern("effect", goal.effect, tuple(_value(a, env) for a in goal.args))


def _value(a: Expr | None, env: Env) -> Value | Wild:
    if a is None or any(isinstance(x, FluentRead) for x in walk(a)):
        return WILD
    try:
        return evaluate(a, env)
    except Undefined:
        return WILD


def goal_terms(o: Obligation) -> list[tuple[str, Term]]:
    """The effect goals of an obligation, as terms of a scope."""
    found = []
    for goal in o.goals:
        if isinstance(goal, EffectGoal):
            parts = [e for e in (*goal.args, o.where) if e is not None]
            refs = tuple(sorted({x.obligation for e in parts for x in walk(e) if isinstance(x, Discharge)}))
            found.append((goal.effect, Term(goal.args, o.exists, o.where, refs)))
    return found
