"""Turns proposals into proposals with one call too many: not allowed, out of scope, over a limit, or a repetition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfrc.adapters.edits import add, build_call, named, sites, with_leaf
from cfrc.adapters.mutant import NOWHERE, Mutant, View
from cfrc.handoff.closing.history import plain
from cfrc.model.contract import EffectGoal
from cfrc.model.expr import Expr, Lit
from cfrc.model.graph import Call
from cfrc.model.types import Id


def unlisted_tool(view: View) -> Iterator[Mutant]:
    contract = view.case.contract
    for tool in contract.domain.tools.values():
        if tool.name not in contract.allow:
            extra = build_call(contract, tool, "extra", {})
            yield view.mutant("call an unlisted tool", tool.name, add(view.proposal, extra), "authority")
    extra = Call("extra", "no_such_tool", {})
    yield view.mutant("call an unlisted tool", "unknown tool", add(view.proposal, extra), "typing")


def repeat_kept(view: View) -> Iterator[Mutant]:
    contract, history = view.case.contract, view.case.history
    for call in view.case.run.calls[: view.case.cut]:
        if call.usable and call.tool is not None:
            effects = [contract.domain.effects[c.effect] for c, _ in history.deeds[call.index].causes]
            if any(e.once for e in effects):
                again = build_call(contract, call.tool, "again", dict(call.args))
                yield view.mutant("repeat a kept write", call.id, add(view.proposal, again), "preservation")


def repeat_write(view: View) -> Iterator[Mutant]:
    effects = view.case.contract.domain.effects
    for call in view.writes:
        if any(effects[c.effect].once for c in view.tool(call).causes):
            again = replace(call, id="again", after=(call.id,), expect=None)
            yield view.mutant("repeat a write", call.id, add(view.proposal, again), "preservation")


def _elsewhere(view: View, call: Call) -> Call:
    """The same write on something else of the first identifier's type, which what is known does not forbid."""
    site = next(s for s in sites(view.tool(call), call) if isinstance(s.type, Id))
    taken = {view.value(s.expr) for c in view.calls for s in sites(view.tool(c), c) if s.type == site.type}
    others = [named(n) for n in view.names(site.type, view.value(site.expr)) if n.value not in taken]
    targets: list[Expr] = [*others, Lit(value=NOWHERE, type=site.type)]
    moved = [with_leaf(call, site, e) for e in targets]
    found = next((c for c in moved if view.possible(c)), moved[-1])
    return replace(found, id="extra", after=(call.id,), expect=None)


def outside_scope(view: View) -> Iterator[Mutant]:
    contract = view.case.contract
    seen: set[str] = set()
    for call in view.writes:
        tool = view.tool(call)
        if tool.name not in seen and any(isinstance(s.type, Id) for s in sites(tool, call)):
            seen.add(tool.name)
            rule = "write a fluent outside the scope" if plain(tool) else "act outside the scope"
            extra = add(view.proposal, _elsewhere(view, call))
            yield view.mutant(rule, call.id, extra, "scope", code="SCP002" if plain(tool) else "SCP001")
    for tool in contract.domain.tools.values():
        if plain(tool) and tool.name not in seen:
            call = build_call(contract, tool, "extra", {})
            site = next((s for s in sites(tool, call) if isinstance(s.type, Id)), None)
            if site is not None and not view.possible(call):
                call = with_leaf(call, site, Lit(value=NOWHERE, type=site.type))
            extra = add(view.proposal, call)
            yield view.mutant("write a fluent outside the scope", tool.name, extra, "scope", code="SCP002")


def exceed_limit(view: View) -> Iterator[Mutant]:
    for call in view.writes:
        goals = [g for o in view.case.owed if o.call.id == call.id for g in o.obligation.goals]
        somewhere = any(isinstance(s.type, Id) for s in sites(view.tool(call), call))
        if somewhere and any(isinstance(g, EffectGoal) for g in goals):
            extra = add(view.proposal, _elsewhere(view, call))
            yield view.mutant("exceed a limit", call.id, extra, "scope", code="SCP004")
