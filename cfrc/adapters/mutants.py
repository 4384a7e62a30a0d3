"""Turns an admitted remainder into remainders with one fault each, and says which finding must name the fault.

Every mutant differs in one way from a proposal that is right. ``kinds`` are the finding kinds of which one must be
reported; ``equivalent`` is set when the change is no fault in truth, with the reason, and then the mutant must be
admitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from cfrc.adapters.edits import Site, add, build_call, edit, named, neighbours, sites, with_leaf, without
from cfrc.adapters.goals import conjunction
from cfrc.adapters.handoffs import Case
from cfrc.adapters.history import plain
from cfrc.model.contract import EffectGoal, Name, StateGoal
from cfrc.model.domain import Tool
from cfrc.model.expr import Expr, Lit, NodeResult, Outcome, Var, conjuncts, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import INT, Enum, Id, Type
from cfrc.model.values import Value

NOWHERE = "nowhere-to-be-found"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``rule`` names the kind of change, ``what`` the place. ``code`` (without prefix) must be found, where given."""

    rule: str
    what: str
    proposal: Proposal
    kinds: frozenset[str]
    code: str | None = None
    equivalent: str | None = None
    answers: str | None = None


def mutants(case: Case, most: int | None = None) -> Iterator[Mutant]:
    """All single-fault mutants of the case's proposal, at most ``most`` of each rule."""
    if case.proposal is None:
        return
    view = _View(case, case.proposal)
    for rule in RULES:
        yield from islice(rule(view), most)


@dataclass(slots=True)
class _View:
    """The case with the questions that several rules ask."""

    case: Case
    proposal: Proposal

    @property
    def calls(self) -> list[Call]:
        return [n for n in self.proposal.nodes if isinstance(n, Call)]

    def tool(self, call: Call) -> Tool:
        return self.case.contract.domain.tools[call.tool]

    @property
    def writes(self) -> list[Call]:
        """The calls that discharge something, in the recorded run."""
        owed = {o.call.id for o in self.case.owed}
        return [c for c in self.calls if c.id in owed]

    def names(self, type_: Type, besides: Value) -> list[Name]:
        return [n for n in self.case.contract.names.values() if n.type == type_ and n.value != besides]

    def value(self, e: Expr) -> Value:
        if isinstance(e, Var):
            return self.case.contract.names[e.name].value
        return e.value if isinstance(e, Lit) else None

    def bound(self, call: Call, param: str, type_: Type) -> list[Name]:
        """The bindings that govern an identifier argument (``semantics.md`` §3)."""
        fixed = [n for n in self.case.contract.names.values() if n.fixed]
        mine = [n for n in fixed if (call.tool, param) in n.targets]
        return mine + [n for n in fixed if not n.targets and n.type == type_ and isinstance(type_, Id)]

    def mutant(
        self, rule: str, what: str, proposal: Proposal, *kinds: str, code: str | None = None, equivalent: str | None = None
    ) -> Mutant:
        return Mutant(rule, what, proposal, frozenset(kinds), code, equivalent)


# -- coverage and evidence --------------------------------------------------------------------------------------------


def _idle(view: _View, call: Call) -> str | None:
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


def drop_write(view: _View) -> Iterator[Mutant]:
    for call in view.calls:
        if not view.tool(call).writes or call.id in {c.id for c in view.case.failures}:
            continue
        claims = {o.obligation.name for o in view.case.owed if o.call.id == call.id}
        left = without(view.proposal, call.id, claims)
        yield view.mutant("drop a write", call.id, left, "coverage", equivalent=_idle(view, call))


def claim_without_evidence(view: _View) -> Iterator[Mutant]:
    for call in view.writes:
        if _idle(view, call) is None:
            yield view.mutant("claim without evidence", call.id, without(view.proposal, call.id, set()), "evidence")
    ends = [n for n in view.proposal.nodes if isinstance(n, Terminal) and n.kind == "done"]
    for end in ends:
        claimed = edit(view.proposal, replace(end, claims=(*end.claims, "nothing_of_the_kind")))
        yield view.mutant("claim without evidence", f"{end.id}: unknown obligation", claimed, "evidence")


def drop_expect(view: _View) -> Iterator[Mutant]:
    kinds = {"requires": ("dependency",), "where": ("coverage",), "apart": ("preservation", "dependency", "scope", "coverage")}
    for e in view.case.expectations:
        call = next(c for c in view.calls if c.id == e.node)
        kept = [c for c in conjuncts(call.expect) if c != e.condition]
        left = edit(view.proposal, replace(call, expect=conjunction(kept)))
        also = tuple(k for o in view.case.expectations if o.condition == e.condition for k in kinds[o.why])
        yield view.mutant("drop an expect", f"{call.id}: {e.why}", left, *also)


# -- identifiers and arguments ------------------------------------------------------------------------------------------


def swap_identifier(view: _View) -> Iterator[Mutant]:
    for call in view.writes:
        for site in sites(view.tool(call), call):
            if isinstance(site.type, Id):
                for other, shown, bound in _others(view, call, site):
                    proposal = edit(view.proposal, with_leaf(call, site, other))
                    kind = "binding" if bound else "coverage"
                    yield view.mutant("swap an identifier", f"{call.id}.{site.param}: {shown}", proposal, kind)
                    break


def _others(view: _View, call: Call, site: Site) -> Iterator[tuple[Expr, str, bool]]:
    """Other real values for a leaf: other names of its type, other elements of the collection it is read from."""
    bound = view.bound(call, site.param, site.type)
    if isinstance(site.expr, Var | Lit):
        for name in view.names(site.type, view.value(site.expr)):
            yield Var(name=name.name, kind="name", type=name.type), name.name, bool(bound) and name not in bound
        return
    for path, _ in neighbours(site.expr, view.case.results):
        yield path, "another element", bool(bound)


def unsupported_identifier(view: _View) -> Iterator[Mutant]:
    for call in view.writes:
        for site in sites(view.tool(call), call):
            param = view.tool(call).param(site.param)
            if isinstance(site.type, Id) and param is not None and not param.free:
                proposal = edit(view.proposal, with_leaf(call, site, Lit(value=NOWHERE, type=site.type)))
                yield view.mutant("an identifier that nothing supports", f"{call.id}.{site.param}", proposal, "grounding")


def change_bound_argument(view: _View) -> Iterator[Mutant]:
    for call in view.calls:
        for site in sites(view.tool(call), call):
            bound = view.bound(call, site.param, site.type)
            serves = call.id in {c.id for c in view.writes} or any(n.targets for n in bound)
            if bound and serves and isinstance(site.expr, Var):
                free = [n for n in view.names(site.type, view.value(site.expr)) if n not in bound]
                changed = named(free[0]) if free else Lit(value=f"{view.value(site.expr)} changed", type=site.type)
                proposal = edit(view.proposal, with_leaf(call, site, changed))
                yield view.mutant("change a bound argument", f"{call.id}.{site.param}", proposal, "binding")


def change_choice(view: _View) -> Iterator[Mutant]:
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


# -- order ------------------------------------------------------------------------------------------------------------


def _edges(view: _View) -> Iterator[tuple[str, str]]:
    """Dependencies that an argument, an expectation or a guard carries."""
    for call in view.calls:
        parts = [*call.args.values(), *(e for e in (call.expect, call.when) if e is not None)]
        found = {x.node for e in parts for x in walk(e) if isinstance(x, NodeResult | Outcome)} - {call.id}
        yield from ((a, call.id) for a in sorted(found))


def reverse_dependency(view: _View) -> Iterator[Mutant]:
    by_id = {c.id: c for c in view.calls}
    for a, b in _edges(view):
        first = by_id[a]
        yield view.mutant(
            "reverse a dependency", f"{a} after {b}", edit(view.proposal, replace(first, after=(*first.after, b))), "dependency"
        )
    for a, b in sorted(view.case.added_after):
        first, second = by_id[a], by_id[b]
        turned = edit(view.proposal, replace(second, after=tuple(x for x in second.after if x != a)))
        turned = edit(turned, replace(first, after=(*first.after, b)))
        yield view.mutant(
            "reverse a dependency", f"{a} after {b}, instead of before", turned, "dependency", "preservation", "coverage"
        )


def drop_order(view: _View) -> Iterator[Mutant]:
    by_id = {c.id: c for c in view.calls}
    for a, b in sorted(view.case.added_after):
        second = by_id[b]
        loose = edit(view.proposal, replace(second, after=tuple(x for x in second.after if x != a)))
        yield view.mutant("drop an order", f"{a}, {b}", loose, "preservation", "dependency")


def close_cycle(view: _View) -> Iterator[Mutant]:
    edges = [*_edges(view), *sorted(view.case.added_after)]
    reach: dict[str, set[str]] = {}
    for call in view.calls:
        reach[call.id] = {a for a, b in edges if b == call.id}
        reach[call.id] |= set().union(*(reach.get(a, set()) for a in reach[call.id]))
    pairs = [(a, b) for b, before in reach.items() for a in sorted(before)] or [(c.id, c.id) for c in view.calls[:1]]
    by_id = {c.id: c for c in view.calls}
    for a, b in sorted(pairs, key=lambda p: len(reach[p[0]])):
        first = by_id[a]
        yield view.mutant("close a cycle", f"{a} after {b}", edit(view.proposal, replace(first, after=(*first.after, b))), "dependency")


def dangling(view: _View) -> Iterator[Mutant]:
    for call in view.calls[:1]:
        yield view.mutant(
            "wait for nothing", call.id, edit(view.proposal, replace(call, after=(*call.after, "ghost"))), "dependency"
        )


# -- authority, scope, repetition ---------------------------------------------------------------------------------------


def unlisted_tool(view: _View) -> Iterator[Mutant]:
    contract = view.case.contract
    for tool in contract.domain.tools.values():
        if tool.name not in contract.allow:
            extra = build_call(contract, tool, "extra", {})
            yield view.mutant("call an unlisted tool", tool.name, add(view.proposal, extra), "authority")
    extra = Call("extra", "no_such_tool", {})
    yield view.mutant("call an unlisted tool", "unknown tool", add(view.proposal, extra), "typing")


def repeat_kept(view: _View) -> Iterator[Mutant]:
    contract, history = view.case.contract, view.case.history
    for call in view.case.run.calls[: view.case.cut]:
        if call.usable and call.tool is not None:
            effects = [contract.domain.effects[c.effect] for c, _ in history.deeds[call.index].causes]
            if any(e.once for e in effects):
                again = build_call(contract, call.tool, "again", dict(call.args))
                yield view.mutant("repeat a kept write", call.id, add(view.proposal, again), "preservation")


def repeat_write(view: _View) -> Iterator[Mutant]:
    effects = view.case.contract.domain.effects
    for call in view.writes:
        if any(effects[c.effect].once for c in view.tool(call).causes):
            again = replace(call, id="again", after=(call.id,), expect=None)
            yield view.mutant("repeat a write", call.id, add(view.proposal, again), "preservation")


def _elsewhere(view: _View, call: Call) -> Call:
    """The same write on something else of the first identifier's type."""
    site = next(s for s in sites(view.tool(call), call) if isinstance(s.type, Id))
    free = [n for n in view.names(site.type, view.value(site.expr))] if isinstance(site.expr, Var) else []
    taken = {view.value(s.expr) for c in view.calls for s in sites(view.tool(c), c) if s.type == site.type}
    free = [n for n in free if n.value not in taken]
    other = named(free[0]) if free else Lit(value=NOWHERE, type=site.type)
    return replace(with_leaf(call, site, other), id="extra", after=(call.id,), expect=None)


def outside_scope(view: _View) -> Iterator[Mutant]:
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
            extra = add(view.proposal, build_call(contract, tool, "extra", {}))
            yield view.mutant("write a fluent outside the scope", tool.name, extra, "scope", code="SCP002")


def exceed_limit(view: _View) -> Iterator[Mutant]:
    for call in view.writes:
        goals = [g for o in view.case.owed if o.call.id == call.id for g in o.obligation.goals]
        if any(isinstance(g, EffectGoal) for g in goals) and any(isinstance(s.type, Id) for s in sites(view.tool(call), call)):
            extra = add(view.proposal, _elsewhere(view, call))
            yield view.mutant("exceed a limit", call.id, extra, "scope", code="SCP004")


# -- form -------------------------------------------------------------------------------------------------------------


def wrong_form(view: _View) -> Iterator[Mutant]:
    for call in view.calls:
        tool = view.tool(call)
        for p in tool.params:
            if p.name in call.args:
                wrong = replace(call, args={**call.args, p.name: Lit(value=7, type=INT)})
                if p.type not in (INT,) and "decimal" not in str(p.type):
                    yield view.mutant("wrong type", f"{call.id}.{p.name}", edit(view.proposal, wrong), "typing")
                break


def missing_argument(view: _View) -> Iterator[Mutant]:
    for call in view.calls:
        for p in view.tool(call).params:
            if p.name in call.args and p.default is None:
                short = replace(call, args={k: v for k, v in call.args.items() if k != p.name})
                yield view.mutant("missing argument", f"{call.id}.{p.name}", edit(view.proposal, short), "typing")
                break


def extra_argument(view: _View) -> Iterator[Mutant]:
    for call in view.calls[:2]:
        long = replace(call, args={**call.args, "surprise": Lit(value=7, type=INT)})
        yield view.mutant("extra argument", call.id, edit(view.proposal, long), "typing")


def other_digest(view: _View) -> Iterator[Mutant]:
    mutant = view.mutant("answer another contract", "digest", view.proposal, "typing", code="TYP010")
    yield replace(mutant, answers="sha256:" + "0" * 64)


RULES: tuple[Callable[[_View], Iterator[Mutant]], ...] = (
    drop_write, claim_without_evidence, drop_expect, swap_identifier, unsupported_identifier, change_bound_argument,
    change_choice, reverse_dependency, drop_order, close_cycle, dangling, unlisted_tool, repeat_kept, repeat_write,
    outside_scope, exceed_limit, wrong_form, missing_argument, extra_argument, other_digest,
)  # fmt: skip

__all__ = ["RULES", "Mutant", "mutants"]
