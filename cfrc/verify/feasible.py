"""Turns one obligation into a bounded search: is there a single allowed call that could discharge it?

The call's arguments are unknowns, except where the goal fixes them; everything that admission would hold against the
call (scope, kept effects, doubts, limits) is required not to go wrong. Only "no such call" withholds: a precondition
that another allowed tool may establish, or a budget that runs out, does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from cfrc.model import expr as ex
from cfrc.model.contract import Approval, Contract, EffectGoal, Goal, Obligation, StateGoal
from cfrc.model.domain import EffectClause, Param, Tool
from cfrc.model.graph import Call, Proposal
from cfrc.model.verdict import Finding
from cfrc.verify.barred import denial, sourceless
from cfrc.verify.condition import Condition, spans
from cfrc.verify.conditions import limits, preservation, scope
from cfrc.verify.frame import Frame
from cfrc.verify.goals import Unbound, pattern_match
from cfrc.verify.ground import Ground
from cfrc.verify.lacking import lacking
from cfrc.verify.obvious import obviously_satisfiable
from cfrc.verify.owed import literal_args, references
from cfrc.verify.paths import Paths
from cfrc.verify.recipes import Cause, Recipe
from cfrc.verify.shapes import Shape, unknown
from cfrc.verify.terms import Term, Terms

PROBE = "probe"
"""The id of the hypothetical call."""


class Feasibility:
    """Answers for the obligations of one contract."""

    def __init__(self, contract: Contract, budget: int, ground: Ground) -> None:
        self.contract = contract
        self.budget = budget
        self.ground = ground
        self.queries = 0
        allowed = [contract.domain.tools[n] for n in contract.allow if n in contract.domain.tools]
        self.tools = [t for t in allowed if denial(contract, t, {}) is None]
        self.settable = {s.fluent for t in self.tools for s in t.sets}
        self.refutable = {r.effect for t in self.tools for r in t.refutes}
        self.kept_fluents = {f.fluent for f in contract.facts if f.kept}

    @cached_property
    def _frame(self) -> Frame:
        """In a hypothetical call every parameter is open, also those with a default."""
        contract = self.contract
        free = {t.name: replace(t, params=tuple(replace(p, default=None) for p in t.params)) for t in self.tools}
        domain = replace(contract.domain, tools={**contract.domain.tools, **free})
        return Frame(Terms(), replace(contract, domain=domain))

    @cached_property
    def _causing(self) -> dict[str, list[tuple[Recipe, Cause]]]:
        """By effect: the allowed tools that cause it, do nothing else that may be wrong, and can be called or made
        callable."""
        found: dict[str, list[tuple[Recipe, Cause]]] = defaultdict(list)
        for tool in self.tools if not self.contract.doubts and not self.contract.limits else ():
            recipe = self.ground.recipes.of(tool.name)
            if recipe is None or len(recipe.causes) != 1 or not (self._open(tool) or _unconditional(recipe)):
                continue
            if all(w.licensed.all and w.fluent not in self.kept_fluents for w in recipe.writes):
                found[recipe.causes[0].effect].append((recipe, recipe.causes[0]))
        return found

    def judge(self, o: Obligation) -> Iterator[Finding]:
        """Nothing when the obligation could be discharged (or nobody knows); otherwise why it cannot."""
        reasons = self.reasons(o)
        if reasons is None:
            return
        lack = lacking(self, o)
        unsupported = all(r == "CON006" for r in reasons)
        yield Finding(
            code=f"CFRC-{'CON006' if unsupported else 'CON007'}",
            kind="support",
            message=(
                f"no allowed tool can discharge `{o.name}`: {lack.reason}"
                if unsupported
                else f"`{o.name}` cannot be satisfied: the preconditions of every tool that could discharge it "
                "contradict the facts"
            ),
            help=lack.help(self.contract) if unsupported else "allow a tool that changes them, or drop the obligation",
            where=o.span,
            obligation=o.name,
            clauses=tuple(dict.fromkeys([*lack.clauses, *spans(("the contract", self.contract.span))])),
        )

    def reasons(self, o: Obligation) -> list[str] | None:
        """The code of the reason for each goal; ``None`` when some goal is possible, or nobody knows."""
        found: list[str] = []
        for goal in o.goals:
            outcome = self._effect(o, goal) if isinstance(goal, EffectGoal) else self._state(o, goal)
            if outcome is None:
                return None
            found.append(outcome)
        return found

    # -- effects ------------------------------------------------------------------------------------------------

    def _effect(self, o: Obligation, goal: EffectGoal) -> str | None:
        """``None``: possible, or unknown; otherwise the code of the reason."""
        able = [(t, c) for t in self.tools for c in (*t.causes, *t.witnesses) if c.effect == goal.effect]
        barred = [self.barred(goal, tool, clause) for tool, clause in able]
        if not any(barred) and self._at_once(o, goal):
            return None
        worst = "CON006"
        for (tool, clause), never in zip(able, barred, strict=True):
            if not never:
                asked = self.hit(o, goal, tool, clause)
                outcome = self._ask(*asked, chained=bool(references(o))) if asked is not None else None
                if outcome is None:
                    return None
                worst = max(worst, outcome)
        return worst

    def barred(self, goal: EffectGoal, tool: Tool, clause: EffectClause) -> Approval | Param | None:
        """What bars every call of the tool whose clause would do it: a denial, or a parameter without a source."""
        args = _fixed(goal, clause)
        return denial(self.contract, tool, args) or sourceless(self.contract, tool, args)

    def _at_once(self, o: Obligation, goal: EffectGoal) -> bool:
        """The literal case, without a formula: some tool's recipe gives this very identity, licensed and not kept."""
        args = literal_args(goal)
        if args is None or o.where is not None:
            return False
        cell = (goal.effect, *args)
        return self.ground.mark(cell) not in self.ground.kept and any(
            (cause.licensed.all or cause.licensed.allows(cell)) and recipe.gives(cause, cell)
            for recipe, cause in self._causing.get(goal.effect, ())
        )

    def _open(self, tool: Tool | None) -> bool:
        """Whether another allowed tool or somebody else may establish what the tool requires, or under which condition
        it acts."""
        return any(f in self.settable or self.contract.domain.fluents[f].volatile for f in conditions_of(tool))

    def hit(self, o: Obligation, goal: Goal, tool: Tool, clause: EffectClause | None) -> tuple[Paths, Term] | None:
        """One hypothetical call, and when it does what the goal asks for; ``None`` where nobody can say.

        ``clause`` is the one that does it; a state has none.
        """
        if not isinstance(goal, EffectGoal) or clause is None:
            assert isinstance(goal, StateGoal)
            paths = self._paths(tool, {})
            holds = paths.evaluator(0, 0, 0).total(goal.condition)
            return paths, paths.terms.and_(paths.runs[0].happened, holds)
        paths = self._paths(tool, _fixed(goal, clause))
        run, t = paths.runs[0], paths.terms
        hits = []
        for i in (*run.causes, *run.witnesses):
            if i.clause is clause:
                try:
                    match = pattern_match(
                        paths, i.shapes, goal, o.exists, o.where, 0, 0, 0, discharges=unknown_receipts(paths, o)
                    )
                except Unbound:
                    return None
                hits.append(t.and_(i.cond, match))
        return paths, t.or_(*hits)

    def _paths(self, tool: Tool, args: dict[str, ex.Expr]) -> Paths:
        probe = Call(PROBE, tool.name, args, span=tool.span)
        return Paths(self._frame, Proposal("", self.contract.name, (probe,)))

    def _ask(self, paths: Paths, hit: Term, chained: bool = False) -> str | None:
        """Whether the hit is possible without doing harm; first with the tool's preconditions, then without."""
        t = paths.terms
        run = paths.runs[0]
        open_ = self._open(run.tool)
        if hit is t.false:
            return None if open_ else "CON006"
        # whether a chained instance is licensed depends on the receipt before it, which is not there yet
        harmless = [t.not_(c.bad) for c in self.harms(paths) if not (chained and c.code == "SCP001")]
        wanted = [*run.base, *harmless, hit]
        if open_ and all(w is t.true for w in wanted):
            return None
        if self.possible(paths, [*wanted, *run.required]):
            return None
        if any(h is t.false for h in harmless) or not (open_ or self.possible(paths, wanted)):
            return "CON006"
        return None if open_ else "CON007"

    def harms(self, paths: Paths) -> Iterable[Condition]:
        """What admission would hold against the hypothetical call."""
        for c in (*preservation.conditions(paths), *scope.conditions(paths), *limits.conditions(paths)):
            if c is None:
                continue
            # an allowed read may refute what is in doubt before the call is made
            settled = c.code in ("PRS006", "SCP004") and any(d.effect in self.refutable for d in self.contract.doubts)
            if not settled:
                yield c

    def possible(self, paths: Paths, parts: list[Term]) -> bool:
        """Satisfiable, or undecided within the budget."""
        t = paths.terms
        formula = t.and_(*parts)
        if formula is t.true:
            return True
        if formula is t.false:
            return False
        if obviously_satisfiable(t, formula):
            return True
        from cfrc.verify.solve import Session  # the solver is loaded when the first question reaches it

        self.queries += 1
        return Session(t, self.budget).check([formula]).answer != "unsat"

    # -- states -------------------------------------------------------------------------------------------------

    def _state(self, o: Obligation, goal: StateGoal) -> str | None:
        """A state goal may hold already, or be brought about by one allowed call; goals over several fluents are left
        open."""
        inside = list(ex.walk(goal.condition))
        if any(isinstance(x, ex.Discharge) or (isinstance(x, ex.Var) and x.kind == "exists") for x in inside):
            return None  # about what a receipt or a choice will say: nobody knows yet
        fluents = {x.fluent for x in inside if isinstance(x, ex.FluentRead)}
        empty = Paths(self._frame, Proposal("", self.contract.name, ()))
        if self.possible(empty, [empty.evaluator(0, 0).total(goal.condition)]):
            return None
        if len(fluents) > 1 and fluents <= self.settable:
            return None
        worst = "CON006"
        for tool in self.tools:
            if any(s.fluent in fluents for s in tool.sets):
                asked = self.hit(o, goal, tool, None)
                outcome = self._ask(*asked) if asked is not None else None
                if outcome is None:
                    return None
                worst = max(worst, outcome)
        return worst


def _unconditional(recipe: Recipe) -> bool:
    return not recipe.reads and not recipe.tests


def conditions_of(tool: Tool | None) -> set[str]:
    """The fluents on which it depends whether a call may be made and what it does."""
    if tool is None:
        return set()
    guards = [*(c.when for c in (*tool.causes, *tool.witnesses)), *(s.when for s in tool.sets)]
    exprs = [*tool.requires, *(g for g in guards if g is not None)]
    return {x.fluent for e in exprs for x in ex.walk(e) if isinstance(x, ex.FluentRead)}


def _fixed(goal: EffectGoal, clause: EffectClause) -> dict[str, ex.Expr]:
    """The parameters that the goal's literals determine: keeps the literal case away from the solver."""
    found: dict[str, ex.Expr] = {}
    for want, given in zip(goal.args, clause.args, strict=True):
        if isinstance(want, ex.Lit) and isinstance(given, ex.Var) and given.kind == "param":
            found[given.name] = want
    return found


def unknown_receipts(paths: Paths, o: Obligation) -> dict[str, Shape]:
    """Arbitrary receipts for the obligations that this one refers to."""
    t = paths.terms
    exprs = [a for g in o.goals if isinstance(g, EffectGoal) for a in g.args if a is not None]
    exprs += [o.where] if o.where is not None else []
    return {
        x.obligation: unknown(t, x.type, lambda s, sort, x=x: t.sym(sort, f"!{x.obligation}{s}"))  # type: ignore[misc]
        for e in exprs
        for x in ex.walk(e)
        if isinstance(x, ex.Discharge)
    }
