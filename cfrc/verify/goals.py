"""Turns obligations into formulas over instances: when does this receipt discharge that goal.

``docs/semantics.md`` §3, *coverage*. A goal's existentials are bound by the instance's arguments, so that no
quantifier is needed; ``where`` is judged in the state given by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Licence
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance
from cfrc.verify.shapes import Fields, Items, Maybe, Shape, equal, literal
from cfrc.verify.terms import Term

WIDEST = 5
"""The longest bag or map whose elements are tried in every order to bind existentials."""


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
    if where is None and not exists and all(a is None or a.__class__ is ex.Lit for a in goal.args):
        return _literal_match(paths, shapes, goal.args)
    names = {n for n, _ in exists}
    found: list[Term] = []
    for bound in bindings(goal.args, shapes, names):
        ev = paths.evaluator(at, mask, upto)
        ev.discharges = discharges or {}
        ev.vars.update(bound)
        if not names <= bound.keys():
            raise Unbound(", ".join(sorted(names - bound.keys())))
        parts = []
        for a, s in zip(goal.args, shapes, strict=True):
            if a is None or s is None or (isinstance(a, ex.Var) and ev.vars.get(a.name) is s):
                continue
            parts.append(equal(t, s, ev.eval(a)))
            if parts[-1] is t.false:
                break
        else:
            if where is not None:
                parts.append(ev.total(where))
            found.append(t.and_(*parts, *ev.defs))
    return t.or_(*found)


def _literal_match(paths: Paths, shapes: tuple[Shape | None, ...], args: Sequence[ex.Expr | None]) -> Term:
    """The common case, without an environment: every argument is a literal or ``_``."""
    t = paths.terms
    parts = []
    for a, s in zip(args, shapes, strict=True):
        if isinstance(a, ex.Lit) and s is not None:
            e = equal(t, s, literal(t, a.value, a.type))
            if e is t.false:
                return e
            if e is not t.true:
                parts.append(e)
    return t.and_(*parts) if parts else t.true


Binding = dict[str, Shape]


def bindings(args: Sequence[ex.Expr | None], shapes: Sequence[Shape | None], names: set[str]) -> list[Binding]:
    """The ways in which the instance's arguments bind the existentials: one, or none, except inside bags and maps.

    An existential is bound where it first occurs; that its other occurrences are equal is part of the match. A literal
    collection of another length binds nothing. Raises :class:`Unbound` where too many orders would have to be tried.
    """
    found: list[Binding] = [{}]
    for a, s in zip(args, shapes, strict=True):
        if (
            names
            and a is not None
            and s is not None
            and any(isinstance(x, ex.Var) and x.name in names for x in ex.walk(a))
        ):
            found = [more for b in found for more in _bind(a, s, names, b)]
    return found


def _bind(e: ex.Expr, s: Shape, names: set[str], bound: Binding) -> list[Binding]:
    if isinstance(s, Maybe) and not isinstance(e, ex.Var):
        s = s.value
    match e, s:
        case ex.Var(name=n), _ if n in names:
            return [bound if n in bound else {**bound, n: s}]
        case ex.Build(kind="record"), Fields(items):
            return _bind_all([(x, items[n]) for n, x in zip(e.names, e.items, strict=True)], names, bound)
        case ex.Build(kind="list"), Items(items):
            return _bind_all(list(zip(e.items, items, strict=True)), names, bound) if len(e.items) == len(items) else []
        case ex.Build(kind=("bag" | "map")), Items(items, _, keys):
            if len(e.items) != len(items):
                return []
            if len(items) > WIDEST:
                raise Unbound("an existential in a long collection")
            found: list[Binding] = []
            for order in permutations(range(len(items))):
                pairs = [(x, items[i]) for x, i in zip(e.items, order, strict=True)]
                if keys is not None:
                    pairs += [(x, keys[i]) for x, i in zip(e.keys, order, strict=True)]
                found += [b for b in _bind_all(pairs, names, bound) if b not in found]
            return found
    return [bound]


def _bind_all(pairs: Sequence[tuple[ex.Expr, Shape]], names: set[str], bound: Binding) -> list[Binding]:
    found = [bound]
    for e, s in pairs:
        found = [more for b in found for more in _bind(e, s, names, b)]
    return found
