"""Turns copy-through obligations into formulas that imply their discharge, each for the cost of a look-up.

A receipt whose arguments are the very terms that a goal asks for discharges it for certain, wherever it comes about.
Receipts that only may turn out to match (two tickets may be the same) are left out here: fewer ways to discharge make a
stronger claim. Where that claim fails, :mod:`cfrc.verify.assignment` writes out all ways.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cfrc.model.contract import EffectGoal, Obligation
from cfrc.verify.assignment import Assignments
from cfrc.verify.frame import Key
from cfrc.verify.owed import effect_goals
from cfrc.verify.runs import Instance
from cfrc.verify.shapes import Shape, leaves
from cfrc.verify.terms import Term


class Certain:
    """The receipts that match by construction, for each obligation."""

    def __init__(self, assignments: Assignments) -> None:
        self.all = assignments
        self.paths = assignments.paths
        self._joint: dict[tuple[str, ...], Term] = {}
        self._exactly: dict[tuple[str, tuple[Key | None, ...]], list[Instance]] = defaultdict(list)
        """Every instance by the very terms of its arguments."""
        for effect, instances in self.paths.by_effect.items():
            for i in instances:
                self._exactly[effect, i.args].append(i)

    def discharged(self, o: Obligation) -> Term:
        """Implies :meth:`Assignments.discharged`."""
        return self.joint(self.all.closure(o))

    def joint(self, group: Sequence[Obligation]) -> Term:
        """Implies that one assignment serves every member of the group; false where some member has no certain receipt.

        A member that others refer to must be active, and its receipt is chosen: the others speak of its result.
        """
        names = tuple(o.name for o in group)
        if names not in self._joint:
            self._joint[names] = self._together(group)
        return self._joint[names]

    def _together(self, group: Sequence[Obligation]) -> Term:
        t = self.paths.terms
        referenced = {r for o in group for r in self.all.references[o.name]}
        results: dict[str, Shape] = {}
        parts: list[Term] = []
        for o in group:
            found = list(self.receipts(o, results))
            if o.name in referenced and found:
                found = [next((f for f in found if f[1] is t.true), found[0])]
                result = self.paths.runs[found[0][0].pos].result
                if result is not None:
                    results[o.name] = result
                parts.append(self.all.active(o))
            if not found:
                return t.false
            parts.append(t.or_(*(cond for _, cond in found)))
        return t.and_(*parts)

    def nodes(self, o: Obligation) -> Iterator[str]:
        """Calls whose receipts may discharge the obligation, found without trying all."""
        results: dict[str, Shape] = {}
        for x in self.all.closure(o):
            for i, _ in self.receipts(x, results):
                result = self.paths.runs[i.pos].result
                if result is not None:
                    results.setdefault(x.name, result)
                if x is o:
                    yield self.paths.runs[i.pos].call.id

    def receipts(self, o: Obligation, results: Mapping[str, Shape]) -> Iterator[tuple[Instance, Term]]:
        """The instances that match whenever they come about, given the receipts of those that the obligation refers to,
        and when they do."""
        t = self.paths.terms
        known = all(r in results for r in self.all.references[o.name])
        plain = o.where is None and not o.exists and o.count == 1 and o.choice != "one"
        for g in effect_goals(o) if known and plain else ():
            key = self._key(g, results)
            for i in self._exactly.get((g.effect, key), ()) if key is not None else ():
                cond = t.and_(i.cond, self.all.lasts(i))
                if cond is not t.false:
                    yield i, cond

    def _key(self, g: EffectGoal, results: Mapping[str, Shape]) -> tuple[Key, ...] | None:
        """The terms that the goal asks for, in the final state; ``None`` where it leaves some open or undefined."""
        ev = self.paths.evaluator(len(self.paths.runs), self.paths.everything)
        ev.discharges = results
        params = self.paths.domain.effects[g.effect].params
        key = []
        for a, (_, want) in zip(g.args, params, strict=True):
            if a is None:
                return None
            key.append(tuple(leaves(self.paths.terms, ev.as_type(ev.eval(a), want))))
        return tuple(key) if ev.defined() is self.paths.terms.true else None
