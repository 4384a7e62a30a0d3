"""Turns state obligations into formulas: whether a goal holds in the final state, or around one call.

``docs/semantics.md`` §3, *coverage*. Of the existentials of a state goal only values that the run or the contract shows
are tried: fewer ways to hold, so that what is proved is right; what is refuted is replayed with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.contract import Obligation, StateGoal
from cfrc.verify.goals import Unbound
from cfrc.verify.paths import Paths
from cfrc.verify.shapes import Shape, literal
from cfrc.verify.terms import Term

MOST = 300
"""How many combinations of values are tried for the existentials of one obligation."""


def final_state(paths: Paths, o: Obligation, results: Mapping[str, Shape]) -> list[Term]:
    """The ways in which some state goal of the obligation holds at END, given the receipts of those it refers to.

    Raises :class:`Unbound` where too many values may be the ones that it asks for.
    """
    goals = [g for g in o.goals if isinstance(g, StateGoal)]
    found = []
    for values in _values(paths, o, goals) if goals else ():
        ev = paths.evaluator(len(paths.runs), paths.everything)
        ev.discharges = dict(results)
        ev.vars.update(values)
        where = [ev.total(o.where)] if o.where is not None else []
        found += [paths.terms.and_(ev.total(g.condition), *where) for g in goals]
    return found


def holds_at(paths: Paths, goal: StateGoal, at: int, mask: int, upto: int = -1) -> Term:
    """Whether the goal holds in the state after the calls of ``mask``, and after the call at ``upto``. Raises
    :class:`Unbound` where it is about an existential or a receipt: then nobody knows which one is meant."""
    if not closed(goal):
        raise Unbound("what the state is about is not known before the end")
    return paths.evaluator(at, mask, upto).total(goal.condition)


def closed(goal: StateGoal) -> bool:
    """Whether the condition mentions neither existentials nor receipts."""
    return not any(
        isinstance(x, ex.Discharge) or (isinstance(x, ex.Var) and x.kind == "exists") for x in ex.walk(goal.condition)
    )


def _values(paths: Paths, o: Obligation, goals: list[StateGoal]) -> Iterator[dict[str, Shape]]:
    pools = [[(name, shape) for shape in _pool(paths, name, t, goals)] for name, t in o.exists]
    if prod(map(len, pools)) > MOST:
        raise Unbound("too many values may be the ones that it asks for")
    return (dict(picked) for picked in product(*pools))


def _pool(paths: Paths, name: str, t: ty.Type, goals: list[StateGoal]) -> Iterator[Shape]:
    """What an existential may stand for: an instance that something was written to or is known of, or a value that the
    contract names."""
    yield from (literal(paths.terms, n.value, t) for n in paths.contract.names.values() if n.type == t)
    for read in (x for g in goals for x in ex.walk(g.condition) if isinstance(x, ex.FluentRead)):
        for i, a in enumerate(read.args):
            if isinstance(a, ex.Var) and a.kind == "exists" and a.name == name:
                yield from (w.args[i] for r in paths.runs for w in r.writes if w.fluent == read.fluent)
                yield from (literal(paths.terms, f.args[i], t) for f in paths.contract.facts if f.fluent == read.fluent)
