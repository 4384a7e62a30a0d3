"""Turns "there is an assignment of obligations to receipts" into a formula without quantifiers.

Candidates are found by effect and, for literal goals, by hashing; every other choice is a disjunct. The number of
combinations is bounded: beyond it the question is undecided, never guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.verify.frame import Key
from cfrc.verify.goals import Candidate, pattern_match
from cfrc.verify.owed import effect_goals, literal_key
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance, Run, match
from cfrc.verify.shapes import Shape, leaves, literal
from cfrc.verify.terms import INT, Term

COMBINATIONS = 3000
"""How many assignments of one group of obligations are written out."""


class Assignments:
    """The candidates of every obligation at END, and formulas over them."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.by_name = {o.name: o for o in paths.contract.obligations}
        self.references = paths.frame.references
        self.ground: dict[tuple[str, tuple[Key | None, ...]], list[Instance]] = defaultdict(list)
        self.exactly: dict[tuple[str, tuple[Key | None, ...]], list[Instance]] = defaultdict(list)
        """Every instance by the very terms of its arguments: what is copied through is found here."""
        self.symbolic: dict[str, list[Instance]] = defaultdict(list)
        for effect, instances in paths.by_effect.items():
            for i in instances:
                self.exactly[effect, i.args].append(i)
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

    def _lasts(self, i: Instance) -> Term:
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
                cond = t.and_(i.cond, hit, self._lasts(i)) if hit is not t.false else hit
                if cond is not t.false:
                    yield Candidate(i, cond)
                if cond is t.true and o.count == 1 and not exhaustive:
                    return

    def _occurrences(self, o: Obligation, results: dict[str, Shape]) -> list[Term]:
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

    def state(self, o: Obligation) -> list[Term]:
        """The state alternatives of the obligation, in the final state."""
        ev = self.paths.evaluator(len(self.paths.runs), self.paths.everything)
        return [ev.total(g.condition) for g in o.goals if isinstance(g, StateGoal)]

    def discharged(self, o: Obligation) -> Term | None:
        """Whether the obligation is discharged, taken by itself (with those it refers to); ``None``: too many ways."""
        found = self._assign(self._closure(o))
        return None if found is None else found

    def certainly(self, o: Obligation) -> Term:
        """That a receipt discharges the obligation whose arguments are the very terms that it asks for: implies
        :meth:`discharged`, and costs one look-up."""
        t, paths = self.paths.terms, self.paths
        plain = o.where is None and not o.exists and o.count == 1 and not self.references[o.name]
        found = []
        for g in effect_goals(o) if plain and o.choice != "one" else ():
            ev = paths.evaluator(len(paths.runs), paths.everything)
            params = paths.domain.effects[g.effect].params
            key = tuple(
                None if a is None else tuple(leaves(t, ev.as_type(ev.eval(a), want)))
                for a, (_, want) in zip(g.args, params, strict=True)
            )
            if None not in key and ev.defined() is t.true:
                found += [t.and_(i.cond, self._lasts(i)) for i in self.exactly.get((g.effect, key), ())]
        return t.or_(*found)

    def several(self, o: Obligation) -> Term:
        """Whether more than one alternative is realized."""
        t = self.paths.terms
        one_each: list[Term] = []
        for g in o.goals:
            single = Obligation(o.name, (g,), exists=o.exists, where=o.where)
            parts = self.state(single)
            if isinstance(g, EffectGoal):
                for discharges, cond in self.receipts(o):
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
            ][:COMBINATIONS]
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

    def _closure(self, o: Obligation) -> list[Obligation]:
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
                    ordered.extend(x for x in self._closure(o) if x not in ordered)
            groups.append(ordered)
        return groups

    @staticmethod
    def _distinct(a: Obligation, b: Obligation) -> bool:
        """Whether two existential obligations must get different identities."""
        if not a.exists or not b.exists or a.shared or b.shared:
            return False
        return bool({g.effect for g in effect_goals(a)} & {g.effect for g in effect_goals(b)})

    def joint(self, group: list[Obligation]) -> Term | None:
        """Whether one assignment serves the whole group; ``None``: too many ways."""
        return self._assign(group)

    def _assign(self, group: list[Obligation]) -> Term | None:
        t = self.paths.terms
        disjuncts: list[Term] = []
        budget = [COMBINATIONS]

        def go(index: int, cond: Term, chosen: dict[str, Instance], results: dict[str, Shape]) -> bool:
            """False when the budget is spent."""
            budget[0] -= 1
            if budget[0] < 0:
                return False
            if index == len(group):
                disjuncts.append(cond)
                return True
            o = group[index]
            if index < len(group) - 1:
                # an inactive obligation gets no receipt, so nothing can refer to it
                cond = t.and_(cond, self.active(o))
            if o.count > 1:
                counts = [t.ite(c, t.const(INT, 1), t.const(INT, 0)) for c in self._occurrences(o, results)]
                enough = t.le(t.const(INT, o.count), t.add(t.const(INT, 0), *counts))
                return go(index + 1, t.and_(cond, enough), chosen, results)
            for s in self.state(o):
                if s is not t.false and not go(index + 1, t.and_(cond, s), chosen, results):
                    return False
            # which receipt is chosen matters to the others of the group
            for c in self.candidates(o, results, exhaustive=len(group) > 1):
                apart = [
                    t.not_(match(t, c.instance.args, i.args))
                    for name, i in chosen.items()
                    if self._distinct(self.by_name[name], o) and i.effect == c.instance.effect
                ]
                both = t.and_(cond, c.cond, *apart)
                if both is t.false:
                    continue
                result = self.paths.runs[c.instance.pos].result
                more = {**results, o.name: result} if result is not None else results
                if not go(index + 1, both, {**chosen, o.name: c.instance}, more):
                    return False
                if disjuncts and disjuncts[-1] is t.true:
                    return True
            return True

        if not go(0, t.true, {}, {}):
            return t.true if any(d is t.true for d in disjuncts) else None
        return t.or_(*disjuncts)
