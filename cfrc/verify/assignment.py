"""Turns "there is an assignment of obligations to receipts" into a formula without quantifiers.

Candidates are found by effect and, for literal goals, by hashing; every other choice is a disjunct. The number of
combinations is bounded: beyond it the question is undecided, never guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.verify.frame import Key
from cfrc.verify.goals import Candidate, Unbound, pattern_match
from cfrc.verify.held import final_state
from cfrc.verify.owed import effect_goals, literal_key
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance, Run, match
from cfrc.verify.shapes import Shape, leaves, literal
from cfrc.verify.terms import INT, Term

COMBINATIONS = 3000
"""How many assignments of one group of obligations are written out."""


Chosen = tuple[tuple[Obligation, Instance], ...]


class Assignments:
    """The candidates of every obligation at END, and formulas over them."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.by_name = {o.name: o for o in paths.contract.obligations}
        self.references = paths.frame.references
        self.ground: dict[tuple[str, tuple[Key | None, ...]], list[Instance]] = defaultdict(list)
        self.symbolic: dict[str, list[Instance]] = defaultdict(list)
        for effect, instances in paths.by_effect.items():
            for i in instances:
                if all(a is not None and all(t.ground for t in a) for a in i.args):
                    self.ground[effect, i.args].append(i)
                else:
                    self.symbolic[effect].append(i)
        self.undoes: dict[str, list[Instance]] = defaultdict(list)
        for run in paths.runs:
            for u in run.undoes:
                self.undoes[u.effect].append(u)
        self._active: dict[str, Term] = {}
        self._lasting: dict[int, Term] = {}

    def active(self, o: Obligation) -> Term:
        """Whether the obligation is active: its ``if`` in the freeze state; where that is undefined it counts as
        active."""
        if o.condition is None:
            return self.paths.terms.true
        if o.name not in self._active:
            ev = self.paths.evaluator(-1, 0)
            value = ev.bool(o.condition)
            t = self.paths.terms
            self._active[o.name] = t.or_(value, t.not_(ev.defined()))
        return self._active[o.name]

    @staticmethod
    def fluents(g: StateGoal) -> set[str]:
        return {x.fluent for x in ex.walk(g.condition) if isinstance(x, ex.FluentRead)}

    # -- one obligation -----------------------------------------------------------------------------------------

    def _candidates(self, goal: EffectGoal) -> list[Instance]:
        if literal_key(goal):
            params = self.paths.domain.effects[goal.effect].params
            t = self.paths.terms
            key = tuple(
                tuple(leaves(t, literal(t, a.value, want)))
                for a, (_, want) in zip(goal.args, params, strict=True)
                if isinstance(a, ex.Lit)
            )
            return [*self.ground.get((goal.effect, key), ()), *self.symbolic.get(goal.effect, ())]
        return self.paths.by_effect.get(goal.effect, [])

    def lasts(self, i: Instance) -> Term:
        """The instance is not one of K, and nothing after it undoes it."""
        known = self._lasting.get(id(i))
        if known is None:
            t, order = self.paths.terms, self.paths.order
            in_k = [match(t, i.args, k) for _, k in self.paths.frame.kept_like(i.effect, i.args)]
            undone = [
                t.and_(u.cond, match(t, u.args, i.args))
                for u in self.undoes.get(i.effect, ())
                if u.pos != i.pos and not order.anc[i.pos] >> u.pos & 1
            ]
            known = self._lasting[id(i)] = t.not_(t.or_(*in_k, *undone))
        return known

    def candidates(self, o: Obligation, discharges: dict[str, Shape], exhaustive: bool = False) -> Iterator[Candidate]:
        """The receipts that may discharge the obligation, given the receipts of those it refers to; stops at one that
        certainly does, unless ``exhaustive``."""
        paths, t = self.paths, self.paths.terms
        for goal in effect_goals(o):
            for i in self._candidates(goal):
                if not all(r in discharges for r in self.references[o.name]):
                    continue
                hit = pattern_match(
                    paths, i.shapes, goal, o.exists, o.where, len(paths.runs), paths.everything, discharges=discharges
                )
                cond = t.and_(i.cond, hit, self.lasts(i)) if hit is not t.false else hit
                if cond is not t.false:
                    yield Candidate(i, cond)
                if cond is t.true and o.count == 1 and not exhaustive:
                    return

    def occurrences(self, o: Obligation, results: dict[str, Shape]) -> list[Term]:
        """The separate occurrences that may count: every cause, and a witness of what nothing before it shows
        already."""
        t = self.paths.terms
        found = list(self.candidates(o, results))
        causes = [c for c in found if any(c.instance is x for x in self.paths.runs[c.instance.pos].causes)]
        counted = [c.cond for c in causes]
        seen = list(causes)
        for w in found:
            if w not in causes:
                known = [t.and_(c.cond, match(t, w.instance.args, c.instance.args)) for c in seen]
                counted.append(t.and_(w.cond, t.not_(t.or_(*known))))
                seen.append(w)
        return counted

    def state(self, o: Obligation, results: Mapping[str, Shape]) -> list[Term]:
        """The state alternatives of the obligation, in the final state, given the receipts of those it refers to."""
        known = all(r in results for r in self.references[o.name])
        return final_state(self.paths, o, results) if known else []

    def discharged(self, o: Obligation) -> Term | None:
        """Whether the obligation is discharged, taken by itself (with those it refers to); ``None``: too many ways."""
        return _Search(self, self.closure(o), excused=False).formula()

    def several(self, o: Obligation) -> Term:
        """Whether more than one alternative is realized."""
        t = self.paths.terms
        one_each: list[Term] = []
        for g in o.goals:
            single = Obligation(o.name, (g,), exists=o.exists, where=o.where)
            parts = []
            for discharges, cond in self.receipts(o):
                parts += [t.and_(cond, c) for c in self.state(single, discharges)]
                parts += [t.and_(cond, c.cond) for c in self.candidates(single, discharges)]
            one_each.append(t.or_(*parts))
        pairs = [t.and_(a, b) for n, a in enumerate(one_each) for b in one_each[:n]]
        return t.or_(*pairs)

    def receipts(self, o: Obligation, before: int | None = None) -> Iterator[tuple[dict[str, Shape], Term]]:
        """The ways in which calls of H (of the bitset ``before``, if given) may stand for the obligations that this one
        refers to, each with the condition that they realize them."""
        choices: list[tuple[dict[str, Shape], Term]] = [({}, self.paths.terms.true)]
        for ref in sorted(self.references[o.name]):
            runs = [r for r in self.paths.runs if before is None or before >> r.pos & 1]
            options = [(r.result, self.realized(self.by_name[ref], r)) for r in runs if r.result is not None]
            choices = [
                ({**c, ref: result}, self.paths.terms.and_(cond, real))
                for c, cond in choices
                for result, real in options
                if real is not self.paths.terms.false
            ]
            if len(choices) > COMBINATIONS:
                raise Unbound("too many receipts may stand for what it refers to")
        yield from choices

    def realized(self, o: Obligation, run: Run) -> Term:
        """Whether this call realizes the obligation's effect at its own step."""
        paths, t = self.paths, self.paths.terms
        mask = paths.order.anc[run.pos]
        found = []
        for g in effect_goals(o):
            for i in (*run.causes, *run.witnesses):
                if i.effect == g.effect:
                    for discharges, cond in self.receipts(o, mask):
                        hit = pattern_match(paths, i.shapes, g, o.exists, o.where, run.pos, mask, run.pos, discharges)
                        found.append(t.and_(i.cond, cond, hit))
        return t.or_(*found)

    def closure(self, o: Obligation) -> list[Obligation]:
        """The obligation after everything it refers to, each once, references first."""
        order: list[Obligation] = []
        seen: set[str] = set()

        def visit(x: Obligation) -> None:
            if x.name in seen:
                return
            seen.add(x.name)
            for r in sorted(self.references[x.name]):
                if r in self.by_name:
                    visit(self.by_name[r])
            order.append(x)

        visit(o)
        return order

    # -- several together ---------------------------------------------------------------------------------------

    def groups(self) -> list[list[Obligation]]:
        """Obligations whose assignments constrain each other: distinct existentials of one effect, shared
        references."""
        linked: dict[str, set[str]] = defaultdict(set)
        shared: dict[str, list[Obligation]] = defaultdict(list)
        for o in self.paths.contract.obligations:
            rivals = [f"ref {r}" for r in self.references[o.name]]
            if o.exists and not o.shared:
                rivals += [g.effect for g in effect_goals(o)]
            for r in rivals:
                shared[r].append(o)
        for peers in shared.values():
            for a, b in pairwise(peers):
                linked[a.name].add(b.name)
                linked[b.name].add(a.name)
        groups, seen = [], set()
        for name in linked:
            if name in seen:
                continue
            todo, members = [name], set()
            while todo:
                n = todo.pop()
                if n not in members:
                    members.add(n)
                    todo.extend(linked[n])
            seen |= members
            ordered: list[Obligation] = []
            for o in self.paths.contract.obligations:
                if o.name in members:
                    ordered.extend(x for x in self.closure(o) if x not in ordered)
            groups.append(ordered)
        return groups

    @staticmethod
    def distinct(a: Obligation, b: Obligation) -> bool:
        """Whether two existential obligations must get different identities."""
        if not a.exists or not b.exists or a.shared or b.shared:
            return False
        return bool({g.effect for g in effect_goals(a)} & {g.effect for g in effect_goals(b)})

    def joint(self, group: list[Obligation]) -> Term | None:
        """Whether one assignment serves every active member of the group; ``None``: too many ways."""
        try:
            return _Search(self, group, excused=True).formula()
        except Unbound:
            return None


class _Search:
    """Writes out the assignments of a group of obligations, references first, as a disjunction.

    ``excused``: a member that is not active needs no receipt (and nothing can refer to it then).
    """

    def __init__(self, assignments: Assignments, group: list[Obligation], excused: bool) -> None:
        self.all = assignments
        self.t = assignments.paths.terms
        self.group = group
        self.excused = excused
        self.disjuncts: list[Term] = []
        self.budget = COMBINATIONS

    def formula(self) -> Term | None:
        """``None`` when the budget is spent before it is clear that some assignment always serves."""
        if not self._go(0, self.t.true, (), {}):
            return self.t.true if any(d is self.t.true for d in self.disjuncts) else None
        return self.t.or_(*self.disjuncts)

    def _go(self, index: int, cond: Term, chosen: Chosen, results: dict[str, Shape]) -> bool:
        """Assigns the members from ``index`` on; false when the budget is spent."""
        self.budget -= 1
        if self.budget < 0:
            return False
        if index == len(self.group):
            self.disjuncts.append(cond)
            return True
        o = self.group[index]
        active = self.all.active(o)
        if self.excused or index < len(self.group) - 1:
            idle = self.t.and_(cond, self.t.not_(active))
            if self.excused and idle is not self.t.false and not self._go(index + 1, idle, chosen, results):
                return False
            cond = self.t.and_(cond, active)  # an inactive obligation gets no receipt, so nothing can refer to it
            if cond is self.t.false:
                return True
        return self._member(index, o, cond, chosen, results)

    def _member(self, index: int, o: Obligation, cond: Term, chosen: Chosen, results: dict[str, Shape]) -> bool:
        if o.count > 1 and not o.exists:
            one, zero = self.t.const(INT, 1), self.t.const(INT, 0)
            counts = [self.t.ite(c, one, zero) for c in self.all.occurrences(o, results)]
            enough = self.t.le(self.t.const(INT, o.count), self.t.add(zero, *counts))
            return self._go(index + 1, self.t.and_(cond, enough), chosen, results)
        for s in self.all.state(o, results):
            if s is not self.t.false and not self._go(index + 1, self.t.and_(cond, s), chosen, results):
                return False
        # which receipt is chosen matters to the others of the group
        found = list(self.all.candidates(o, results, exhaustive=len(self.group) > 1 or o.count > 1))
        for picked in combinations(found, o.count):
            self.budget -= 1
            if self.budget < 0:
                return False
            both = self._together(o, cond, picked, chosen)
            if both is self.t.false:
                continue
            more = dict(results)
            result = self.all.paths.runs[picked[0].instance.pos].result
            if o.count == 1 and result is not None:
                more[o.name] = result
            if not self._go(index + 1, both, (*chosen, *((o, c.instance) for c in picked)), more):
                return False
            if self.disjuncts and self.disjuncts[-1] is self.t.true:
                return True
        return True

    def _together(self, o: Obligation, cond: Term, picked: tuple[Candidate, ...], chosen: Chosen) -> Term:
        """That the picked receipts discharge the obligation, with identities of their own where it is existential."""
        parts = [cond]
        taken = [i for other, i in chosen if self.all.distinct(other, o)]
        for c in picked:
            parts.append(c.cond)
            parts += [
                self.t.not_(match(self.t, c.instance.args, i.args)) for i in taken if i.effect == c.instance.effect
            ]
            if o.exists and not o.shared:
                taken.append(c.instance)
        return self.t.and_(*parts)
