"""Turns obligations into what can be known of them without any run: their effect goals, references, literal
arguments."""

from __future__ import annotations

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Obligation
from cfrc.model.values import Value


def effect_goals(o: Obligation) -> list[EffectGoal]:
    return [g for g in o.goals if isinstance(g, EffectGoal)]


def references(o: Obligation) -> set[str]:
    """The obligations whose receipts this one mentions."""
    exprs = [a for g in effect_goals(o) for a in g.args if a is not None]
    exprs += [o.where] if o.where is not None else []
    exprs += [g.condition for g in o.goals if not isinstance(g, EffectGoal)]
    return {x.obligation for e in exprs for x in ex.walk(e) if isinstance(x, ex.Discharge)}


def literal_key(goal: EffectGoal) -> bool:
    """Whether the goal is fully literal: such goals are looked up by hashing."""
    return all(isinstance(a, ex.Lit) for a in goal.args)


def literal_args(g: EffectGoal) -> tuple[Value, ...] | None:
    """The argument values of a fully literal goal."""
    values = tuple(a.value for a in g.args if isinstance(a, ex.Lit))
    return values if len(values) == len(g.args) else None
