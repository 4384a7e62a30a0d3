"""Turns proposals into proposals that leave something undone, or do it to something or somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfrc.adapters.edits import Site, edit, named, neighbours, sites, with_leaf, without
from cfrc.adapters.mutant import NOWHERE, Mutant, View
from cfrc.handoff.closing.bridge import conjunction
from cfrc.model.contract import StateGoal
from cfrc.model.expr import Expr, Lit, Var, conjuncts, walk
from cfrc.model.graph import Call, Terminal
from cfrc.model.types import Enum, Id


def _idle(view: View, call: Call) -> str | None:
    """Why the remainder is as good without the call, if it is."""
    goals = [g for o in view.case.owed if o.call.id == call.id for g in o.obligation.goals]
    if not goals:
        return "a later call sets the same again"
    if all(isinstance(g, StateGoal) for g in goals):
        history, index = view.case.history, int(call.id[1:])
        facts = {(f.fluent, f.args): f.value for f in view.case.contract.facts}
        instances = [(s.fluent, a) for s, a in history.deeds[index].sets if a is not None]
        after = history.before[index + 1]
        if instances and all(i in facts and i in after and facts[i] == after[i].value for i in instances):
            return "what it sets is already so at the cut"
    return None


def drop_write(view: View) -> Iterator[Mutant]:
    for call in view.calls:
        if not view.tool(call).writes or call.id in {c.id for c in view.case.failures}:
            continue
        claims = {o.obligation.name for o in view.case.owed if o.call.id == call.id}
        left = without(view.proposal, call.id, claims)
        # where another call reads its result, that one cannot run either, and no run gets to the end
        kinds = ("coverage", "dependency") if view.feeds(call) else ("coverage",)
        yield view.mutant("drop a write", call.id, left, *kinds, equivalent=_idle(view, call))


def claim_without_evidence(view: View) -> Iterator[Mutant]:
    for call in view.writes:
        if _idle(view, call) is None:
            kinds = ("evidence", "dependency") if view.feeds(call) else ("evidence",)
            yield view.mutant("claim without evidence", call.id, without(view.proposal, call.id, set()), *kinds)
    ends = [n for n in view.proposal.nodes if isinstance(n, Terminal) and n.kind == "done"]
    for end in ends:
        claimed = edit(view.proposal, replace(end, claims=(*end.claims, "nothing_of_the_kind")))
        yield view.mutant("claim without evidence", f"{end.id}: unknown obligation", claimed, "evidence")


def drop_expect(view: View) -> Iterator[Mutant]:
    kinds = {
        "requires": ("dependency",),
        "where": ("coverage",),
        "apart": ("preservation", "dependency", "scope", "coverage"),
    }
    for e in view.case.expectations:
        call = next(c for c in view.calls if c.id == e.node)
        kept = [c for c in conjuncts(call.expect) if c != e.condition]
        left = edit(view.proposal, replace(call, expect=conjunction(kept)))
        also = tuple(k for o in view.case.expectations if o.condition == e.condition for k in kinds[o.why])
        yield view.mutant("drop an expect", f"{call.id}: {e.why}", left, *also)


# -- identifiers and arguments --------------------------------------------------------------------------------------


def swap_identifier(view: View) -> Iterator[Mutant]:
    """Another real value for an identifier. What is known may forbid the call on it: then that is the finding."""
    for call in view.writes:
        for site in sites(view.tool(call), call):
            if not isinstance(site.type, Id):
                continue
            swapped = [(with_leaf(call, site, e), shown, bound) for e, shown, bound in _others(view, call, site)]
            swapped.sort(key=lambda x: not view.possible(x[0]))
            for other, shown, bound in swapped[:1]:
                kinds = ("binding",) if bound else ("coverage", "scope") if view.possible(other) else ("dependency",)
                if _taken(view, call, site, other):
                    kinds = (*kinds, "preservation")  # then another write already acts on it
                yield view.mutant(
                    "swap an identifier", f"{call.id}.{site.param}: {shown}", edit(view.proposal, other), *kinds
                )


def _taken(view: View, call: Call, site: Site, changed: Call) -> bool:
    new = next(s.expr for s in sites(view.tool(call), changed) if (s.param, s.at) == (site.param, site.at))
    return any(
        s.expr == new for c in view.writes if c.id != call.id for s in sites(view.tool(c), c) if s.param == site.param
    )


def _others(view: View, call: Call, site: Site) -> Iterator[tuple[Expr, str, bool]]:
    """Other real values for a leaf: other names of its type, other elements of the collection it is read from."""
    bound = view.bound(call, site.param, site.type)
    if isinstance(site.expr, Var | Lit):
        for name in view.names(site.type, view.value(site.expr)):
            yield Var(name=name.name, kind="name", type=name.type), name.name, bool(bound) and name not in bound
        return
    for path, _ in neighbours(site.expr, view.case.results):
        yield path, "another element", bool(bound)


def unsupported_identifier(view: View) -> Iterator[Mutant]:
    for call in view.writes:
        for site in sites(view.tool(call), call):
            param = view.tool(call).param(site.param)
            if isinstance(site.type, Id) and param is not None and not param.free:
                proposal = edit(view.proposal, with_leaf(call, site, Lit(value=NOWHERE, type=site.type)))
                yield view.mutant(
                    "an identifier that nothing supports", f"{call.id}.{site.param}", proposal, "grounding"
                )


def change_bound_argument(view: View) -> Iterator[Mutant]:
    for call in view.calls:
        for site in sites(view.tool(call), call):
            bound = view.bound(call, site.param, site.type)
            serves = call.id in {c.id for c in view.writes} or any(n.targets for n in bound)
            if bound and serves and isinstance(site.expr, Var):
                free = [n for n in view.names(site.type, view.value(site.expr)) if n not in bound]
                changed = named(free[0]) if free else Lit(value=f"{view.value(site.expr)} changed", type=site.type)
                proposal = edit(view.proposal, with_leaf(call, site, changed))
                yield view.mutant("change a bound argument", f"{call.id}.{site.param}", proposal, "binding")


def change_choice(view: View) -> Iterator[Mutant]:
    """Another member of an enum that is part of what is owed."""
    for call in view.writes:
        tool = view.tool(call)
        owed = {x.name for c in tool.causes for a in c.args if a is not None for x in walk(a) if isinstance(x, Var)}
        for site in sites(tool, call):
            if isinstance(site.type, Enum) and isinstance(site.expr, Lit) and site.param in owed:
                other = next((m for m in site.type.members if m != site.expr.value), None)
                if other is not None:
                    proposal = edit(view.proposal, with_leaf(call, site, Lit(value=other, type=site.type)))
                    yield view.mutant("change a choice", f"{call.id}.{site.param}", proposal, "coverage")
