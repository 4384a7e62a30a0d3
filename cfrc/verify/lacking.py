"""Turns "no allowed tool can discharge this obligation" into what is missing, and what would mend it.

Every allowed tool that could cause or witness what is owed (or set the state that is owed) is asked, one by one, what
stands against it: a licence, a doubt, something kept, a limit, or a condition that nothing allowed can bring about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model.contract import Approval, Contract, EffectGoal, Goal, Obligation
from cfrc.model.domain import EffectClause, FluentClause, Tool
from cfrc.model.show import show_expr
from cfrc.source import Span
from cfrc.verify.barred import denial
from cfrc.verify.condition import Condition, spans
from cfrc.verify.ground import Ground
from cfrc.verify.owed import references
from cfrc.verify.paths import Paths

if TYPE_CHECKING:
    from cfrc.verify.feasible import Feasibility

MOST = 3
"""Reasons, and ways out, that are listed."""


@dataclass(slots=True)
class Lack:
    """Why no allowed tool can discharge an obligation (``why``), ways to mend it, and the places in play.

    ``licences`` are patterns that the scope lacks: one ``within`` for all of them mends that.
    """

    why: list[str] = field(default_factory=list)
    mend: list[str] = field(default_factory=list)
    licences: list[str] = field(default_factory=list)
    clauses: list[tuple[str, Span]] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """The reasons, or why there is none to name."""
        every = list(dict.fromkeys(self.why))
        return "; ".join(every[:MOST]) or "what it takes is more than the contract leaves"

    def help(self, contract: Contract) -> str:
        ways = [_within(contract, self.licences)] if self.licences else []
        return "; or ".join([*list(dict.fromkeys([*ways, *self.mend]))[:MOST], "drop the obligation"])


def lacking(f: Feasibility, o: Obligation) -> Lack:
    """What is missing for an obligation that ``f`` has found to be out of reach."""
    found = Lack()
    for goal in o.goals:
        able = list(able_tools(f.tools, goal))
        if not able:
            _nobody(f, o, goal, found)
        for tool, clause in able:
            _against(f, o, goal, tool, clause, found)
    return found


def able_tools(tools: list[Tool], goal: Goal) -> Iterator[tuple[Tool, EffectClause | None]]:
    """The tools that could do it if nothing stood against it, with the clause (none for a state)."""
    fluents = set() if isinstance(goal, EffectGoal) else _fluents(goal.condition)
    for tool in tools:
        if isinstance(goal, EffectGoal):
            yield from ((tool, c) for c in (*tool.causes, *tool.witnesses) if c.effect == goal.effect)
        elif any(s.fluent in fluents for s in tool.sets):
            yield tool, None


def _fluents(e: ex.Expr) -> set[str]:
    return {x.fluent for x in ex.walk(e) if isinstance(x, ex.FluentRead)}


def _nobody(f: Feasibility, o: Obligation, goal: Goal, found: Lack) -> None:
    """No allowed tool has anything to do with it: which tool of the domain does?"""
    what = f"causes or witnesses `{goal.effect}`" if isinstance(goal, EffectGoal) else "sets that state"
    every = list(dict.fromkeys(t.name for t, _ in able_tools(list(f.contract.domain.tools.values()), goal)))
    for a in (d for n in every if n in f.contract.allow and (d := denial(f.contract, f.contract.domain.tools[n], {}))):
        _denied(a, found)
    others = [n for n in every if n not in f.contract.allow]
    if found.why and not others:
        return
    found.why.append(f"none {what}" if others else f"no tool of the domain {what}")
    good = [n for n in others[:5] if not _still_lacking(f, o, n)]
    if others:
        found.mend.append("allow " + " or ".join(f"`{n}`" for n in (good or others)[:MOST]))


def _still_lacking(f: Feasibility, o: Obligation, name: str) -> bool:
    """Whether allowing a tool would not be enough."""
    from cfrc.verify.feasible import Feasibility

    wider = replace(f.contract, allow=(*f.contract.allow, name))
    return Feasibility(wider, f.budget, Ground(wider, f.ground.today)).reasons(o) is not None


def _against(f: Feasibility, o: Obligation, goal: Goal, tool: Tool, clause: EffectClause | None, found: Lack) -> None:
    """What stands against one tool."""
    barred = f.barred(goal, tool, clause) if isinstance(goal, EffectGoal) and clause is not None else None
    if isinstance(barred, Approval):
        _denied(barred, found)
        return
    if barred is not None:
        found.why.append(f"nothing supplies the value of `{tool.name}`'s `{barred.name}`")
        found.mend.append("say where the value comes from (`known … from …`), or allow a tool that tells it")
        found.clauses += spans((f"the parameter `{barred.name}`", barred.span))
        return
    asked = f.hit(o, goal, tool, clause)
    if asked is None:
        return
    paths, hit = asked
    t, base = paths.terms, paths.runs[0].base
    if not f.possible(paths, [*base, hit]):
        _conditions(f, tool, clause, found)
        return
    for c in f.harms(paths):
        unknown = c.code == "SCP001" and bool(references(o))  # it depends on a receipt that is not there yet
        if not unknown and not f.possible(paths, [*base, hit, t.not_(c.bad)]):
            _harm(f, tool, paths, c, found)


def _denied(a: Approval, found: Lack) -> None:
    found.why.append(f"the call of `{a.tool}` that it takes is denied")
    found.mend.append("ask again, and freeze the answer")
    found.clauses += spans(("denied here", a.span))


def _conditions(f: Feasibility, tool: Tool, clause: EffectClause | None, found: Lack) -> None:
    """The clause does not apply here, and nothing allowed makes it."""
    from cfrc.verify.feasible import conditions_of

    fluents = sorted(conditions_of(tool))
    setters = [x.name for x in f.contract.domain.tools.values() if any(s.fluent in fluents for s in x.sets)]
    found.why.append(f"what `{tool.name}` does or observes is not what is owed, or not under the facts")
    found.clauses += spans(("the clause", clause.span if clause is not None else tool.span))
    others = [n for n in setters if n not in f.contract.allow]
    if others:
        shown = ", ".join(f"`{n}`" for n in fluents[:MOST])
        found.mend.append(f"allow {' or '.join(f'`{n}`' for n in others[:MOST])}, which changes {shown}")


def _harm(f: Feasibility, tool: Tool, paths: Paths, c: Condition, found: Lack) -> None:
    """What would go wrong if the tool were called."""
    found.clauses += c.clauses
    call = paths.runs[0].call
    match c.code:
        case "SCP001" | "SCP002":
            verb, pattern = _unlicensed(tool, call.args, c)
            found.why.append(f"`{tool.name}` {verb} `{pattern}`, which nothing licenses")
            found.licences.append(pattern)
        case "SCP003":
            found.why.append(f"`{tool.name}` does not say what it does, and has no licence by name")
            found.mend.append(f"license it: `within tool {tool.name}`")
        case "PRS006":
            effects = {d.effect for d in f.contract.doubts} & {x.effect for x in tool.causes}
            found.why += [f"nothing allowed can refute or witness the doubt about `{e}`" for e in sorted(effects)]
            for e in sorted(effects):
                settling = [
                    x.name for x in f.contract.domain.tools.values() if any(r.effect == e for r in x.refutes)
                ]  # fmt: skip
                shown = " or ".join(f"`{n}`" for n in settling[:MOST])
                found.mend.append(
                    f"allow {shown}, which may refute it" if settling else "settle the doubt before the freeze"
                )
        case "SCP004":
            found.why.append(c.message.replace(f"`{call.id}`", f"`{tool.name}`"))
            found.mend.append("raise the limit")
        case _:
            found.why.append(c.message.replace(f"`{call.id}`", f"`{tool.name}`"))


def _unlicensed(tool: Tool, args: Mapping[str, ex.Expr], c: Condition) -> tuple[str, str]:
    """What the clause of a condition does, and the pattern that would license it."""
    places = [span for _, span in c.clauses]
    for verb, clauses in (("causes", tool.causes), ("undoes", tool.undoes), ("sets", tool.sets)):
        for clause in clauses:
            if clause.span in places or clause.span is None:
                name = clause.fluent if isinstance(clause, FluentClause) else clause.effect
                shown = ", ".join(_argument(a, args) for a in clause.args)
                return verb, f"{name}({shown})" if clause.args else _plain(name, verb)
    return "does", c.message


def _plain(name: str, verb: str) -> str:
    return name if verb == "sets" else f"{name}()"


def _argument(e: ex.Expr | None, args: Mapping[str, ex.Expr]) -> str:
    """The value that the goal asks for, or ``_`` where it leaves it open."""
    given = args.get(e.name) if isinstance(e, ex.Var) and e.kind == "param" else e
    return show_expr(given) if isinstance(given, ex.Lit) else "_"


def _within(contract: Contract, missing: list[str]) -> str:
    """The item that licenses what is missing. The first ``within`` of a contract ends the tight scope: it has to say
    what is owed as well."""
    owed = list(_owed(contract)) if contract.scope is None else []
    patterns = ", ".join(dict.fromkeys([*owed, *missing]))
    return f"license it: `within {patterns}`"


def _owed(contract: Contract) -> Iterator[str]:
    for o in contract.obligations:
        for goal in o.goals:
            if isinstance(goal, EffectGoal):
                shown = ", ".join(show_expr(a) if isinstance(a, ex.Lit) else "_" for a in goal.args)
                yield f"{goal.effect}({shown})"
            else:
                for name in sorted(_fluents(goal.condition)):
                    params = contract.domain.fluents[name].params
                    yield f"{name}({', '.join('_' for _ in params)})" if params else name
