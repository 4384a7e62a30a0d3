"""Turns obligations into formulas over instances: when does this receipt discharge that goal.

``semantics.md`` §3, *coverage*. A goal's existentials are bound by the instance's arguments, so that no quantifier is
needed; ``where`` is judged in the state given by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Licence, Obligation
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance
from cfrc.verify.shapes import Shape, equal
from cfrc.verify.terms import Term


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instance that may discharge a goal, with the condition (without liveness and identity)."""

    instance: Instance
    cond: Term


class Unbound(Exception):
    """An existential that no argument of the goal binds directly."""


def pattern_match(
    paths: Paths,
    shapes: tuple[Shape | None, ...],
    goal: EffectGoal | Licence,
    exists: tuple[tuple[str, object], ...],
    where: ex.Expr | None,
    at: int,
    mask: int,
    upto: int = -1,
    discharges: Mapping[str, Shape] | None = None,
) -> Term:
    """Whether the instance with these argument shapes matches the pattern, ``where`` included.

    The pattern's expressions are read in the state after ``mask`` (and ``upto``). Raises :class:`Unbound`.
    """
    t = paths.terms
    ev = paths.evaluator(at, mask, upto)
    ev.discharges = discharges or {}
    names = {n for n, _ in exists}
    for a, s in zip(goal.args, shapes, strict=True):
        if isinstance(a, ex.Var) and a.name in names and a.name not in ev.vars and s is not None:
            ev.vars[a.name] = s
    if not names <= ev.vars.keys():
        raise Unbound(", ".join(sorted(names - ev.vars.keys())))
    parts = []
    for a, s in zip(goal.args, shapes, strict=True):
        if a is None or s is None or (isinstance(a, ex.Var) and ev.vars.get(a.name) is s):
            continue
        parts.append(equal(t, s, ev.eval(a)))
        if parts[-1] is t.false:
            return t.false
    if where is not None:
        parts.append(ev.total(where))
    return t.and_(*parts, *ev.defs)


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
