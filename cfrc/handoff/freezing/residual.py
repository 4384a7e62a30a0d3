"""Turns obligations and the record into what is still owed: without what receipts discharge, and with their values
where the rest refers to it.

What discharges is decided by the same assignment as in an audit. What is left is written so that the record alone never
discharges it: ``delivery.id`` of a discharged ``delivery`` becomes the value of its receipt, and of ``owes 2 of …`` or
of several existential obligations only as many are left as are missing, each for another identity than those realized.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cfrc.handoff.freezing.facts import kept_states
from cfrc.handoff.freezing.grounding import Unusable, grounded
from cfrc.handoff.freezing.past import Past
from cfrc.handoff.freezing.reasons import reason
from cfrc.model.contract import Contract, EffectGoal, Goal, Licence, Obligation, StateGoal
from cfrc.model.coverage import Evidence, Option
from cfrc.model.expr import Apply, Discharge, Expr, Lit, Var, walk
from cfrc.model.instances import Instance
from cfrc.model.types import BOOL, Type
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.verify.discharged import Discharges

ALTERNATIVES = 8
"""The most receipts that one obligation may still be about."""


@dataclass(slots=True)
class Residual:
    """``open`` is still owed, ``done`` names what is not; ``keep`` are the states that were owed and reached."""

    open: tuple[Obligation, ...] = ()
    scope: tuple[Licence, ...] | None = None
    done: tuple[str, ...] = ()
    keep: set[Instance] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)


def residual(contract: Contract, past: Past) -> Residual:
    """What the contract still owes by the record. Its obligations have no settled ``if`` clauses any more."""
    return _Search(contract, past).run()


class _Search:
    """One assignment of obligations to receipts, and what follows from it."""

    def __init__(self, contract: Contract, past: Past) -> None:
        self.contract, self.past = contract, past
        self.discharges = Discharges(contract, past.happened, fresh=True)
        self.chosen, _ = self.discharges.assign(o.name for o in contract.obligations)
        self.by_name = {o.name: o for o in contract.obligations}
        self.found = Residual(done=tuple(self.chosen))

    def run(self) -> Residual:
        self._order()
        for o in self.contract.obligations:
            option = self.chosen.get(o.name)
            if option is not None:
                self._reached(o, option)
        left = [o for o in self.contract.obligations if o.name not in self.chosen]
        self.found.open = tuple(self._left(o) for o in left)
        if self.contract.scope is not None:
            self.found.scope = tuple(self._licence(x) for x in self.contract.scope)
        return self.found

    def _order(self) -> None:
        """Reasons for every ``a before b`` that was not kept."""
        for first, second in sorted(set(self.discharges.misplaced(list(self.chosen)))):
            self.found.findings.append(
                reason(
                    "FRZ004",
                    f"`{second}` was realized before `{first}`, which was to come first",
                    "an order that was not kept cannot be mended: say whether the rest is still wanted",
                    self.by_name[second].span, first,
                )
            )  # fmt: skip

    def _reached(self, o: Obligation, option: Option) -> None:
        goal = o.goals[option.goal]
        if isinstance(goal, StateGoal):
            keep, notes = kept_states(self.past, self.contract.names, o, goal)
            self.found.keep |= keep
            self.found.findings += notes

    # -- what is left -----------------------------------------------------------------------------------------------

    def _left(self, o: Obligation) -> Obligation:
        before = tuple(b for b in o.before if b in self.by_name and b not in self.chosen)
        o = replace(o, before=before)
        refs = self._refs(o)
        try:
            if not refs:
                return self._others(o, o)
            return self._others(o, self._about(o, refs))
        except Unusable as problem:
            self.found.findings.append(
                reason(
                    "FRZ006",
                    f"`{o.name}` refers to a receipt that does not say what it needs: {problem}",
                    "owe it with the value itself, once that is known",
                    o.span, o.name,
                )
            )  # fmt: skip
            return o

    def _refs(self, o: Obligation) -> list[str]:
        exprs = [*_goal_exprs(o.goals), *([o.where] if o.where is not None else [])]
        found = {x.obligation for e in exprs for x in walk(e) if isinstance(x, Discharge)}
        return sorted(found & set(self.chosen))

    def _about(self, o: Obligation, refs: list[str]) -> Obligation:
        """The obligation with the receipts' values in place of references; any of them, where several receipts may be
        the one."""
        simple = len(refs) == 1 and o.choice == "all" and o.count == 1 and o.where is None
        if simple:
            goals = [self._goals(o, {refs[0]: r}) for r in self._candidates(refs[0])]
            unique = list(dict.fromkeys(g[0] for g in goals))
            if len(unique) > 1:
                return replace(o, goals=tuple(unique[:ALTERNATIVES]), choice="any")
        results = {r: self.chosen[r].items[0].result for r in refs if self.chosen[r].items}
        where = grounded(o.where, results) if o.where is not None else None
        return replace(o, goals=self._goals(o, results), where=where)

    def _candidates(self, ref: str) -> list[Value]:
        """The results of the receipts that may discharge an obligation, the chosen one first."""
        chosen = self.chosen[ref]
        others = {n: x for n, x in self.chosen.items() if n != ref}
        options = [chosen, *self.discharges.coverage.options(self.by_name[ref], others, set())]
        return [x.items[0].result for x in options if x.items]

    def _goals(self, o: Obligation, results: Mapping[str, Value]) -> tuple[Goal, ...]:
        domain = self.contract.domain

        def goal(g: Goal) -> Goal:
            if isinstance(g, StateGoal):
                return replace(g, condition=grounded(g.condition, results))
            types = [t for _, t in domain.effects[g.effect].params]
            args = zip(g.args, types, strict=True)
            return replace(g, args=tuple(None if a is None else grounded(a, results, t) for a, t in args))

        return tuple(goal(g) for g in o.goals)

    def _licence(self, x: Licence) -> Licence:
        results = {n: c.items[0].result for n, c in self.chosen.items() if c.items}
        try:
            args = tuple(None if a is None else grounded(a, results) for a in x.args)
            return replace(x, args=args, where=None if x.where is None else grounded(x.where, results))
        except Unusable as problem:
            message = f"a licence of `{x.name}` refers to a receipt that does not say what it needs: {problem}"
            self.found.findings.append(reason("FRZ006", message, "write the value itself", x.span))
            return x

    # -- others than those realized ---------------------------------------------------------------------------------

    def _others(self, asked: Obligation, o: Obligation) -> Obligation:
        """The obligation for other identities than those that the record shows already, and for fewer of them."""
        if o.choice != "all" or not isinstance(o.goals[0], EffectGoal):
            return o
        seen = self._seen(asked)
        if not seen:
            return o
        goal = o.goals[0]
        exists, shared = o.exists, o.shared
        if not exists:
            args, exists = _named(goal, self.contract)
            if not exists or o.count == 1:
                return o
            goal, shared = replace(goal, args=args), True
        used = {i.identity for n, c in self.chosen.items() if self.by_name[n].exists for i in c.items}
        mine = [e for e in seen if shared or e.identity not in used]
        done = len(mine) if shared else len({e.identity for e in mine})
        where = o.where
        for identity in dict.fromkeys(e.identity for e in seen):
            where = _and(where, self._differs(goal, identity))
        return replace(
            o, goals=(goal,), exists=exists, shared=shared, where=where, count=max(1, o.count - min(done, o.count - 1))
        )

    def _seen(self, asked: Obligation) -> list[Evidence]:
        goal = asked.goals[0]
        assert isinstance(goal, EffectGoal)
        env = self.discharges.env.child()
        env.discharges = {n: c.items[0].result for n, c in self.chosen.items() if c.items}
        spelled = self.discharges.book.obligations[asked.name]
        spelled_goal = spelled.goals[0]
        assert isinstance(spelled_goal, EffectGoal)
        return self.discharges.coverage.candidates(spelled, 0, spelled_goal, env)

    def _differs(self, goal: EffectGoal, identity: Instance) -> Expr | None:
        params = self.contract.domain.effects[goal.effect].params
        parts = [
            Apply(op="!=", args=(a, Lit(value=v, type=t)), type=BOOL)
            for a, v, (_, t) in zip(goal.args, identity[1], params, strict=True)
            if a is not None and any(isinstance(x, Var) and x.kind == "exists" for x in walk(a))
        ]
        if len(parts) < 2:
            return parts[0] if parts else None
        return Apply(op="or", args=tuple(parts), type=BOOL)


def _goal_exprs(goals: Iterable[Goal]) -> Iterator[Expr]:
    for g in goals:
        if isinstance(g, EffectGoal):
            yield from (a for a in g.args if a is not None)
        else:
            yield g.condition


def _named(goal: EffectGoal, contract: Contract) -> tuple[tuple[Expr | None, ...], tuple[tuple[str, Type], ...]]:
    """The goal's arguments with a name for every ``_``."""
    params = contract.domain.effects[goal.effect].params
    taken = {*contract.names, *(o.name for o in contract.obligations), *contract.domain.fluents}
    args: list[Expr | None] = []
    exists: list[tuple[str, Type]] = []
    for a, (name, t) in zip(goal.args, params, strict=True):
        if a is None:
            own = f"other_{name}"
            while own in taken:
                own += "_"
            exists.append((own, t))
            a = Var(name=own, kind="exists", type=t)
        args.append(a)
    return tuple(args), tuple(exists)


def _and(a: Expr | None, b: Expr | None) -> Expr | None:
    if a is None or b is None:
        return a if b is None else b
    parts = a.args if isinstance(a, Apply) and a.op == "and" else (a,)
    return Apply(op="and", args=(*parts, b), type=BOOL)
