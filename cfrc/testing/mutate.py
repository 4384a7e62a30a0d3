"""Turns a proposal into single-fault variants of it, each labelled with the fault and the finding kind that names it.

A mutant may happen to be equivalent (an order that did not matter, a guard that was always true): the label says what
was done, not what admission must find.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import islice, product

from cfrc.model.contract import Contract
from cfrc.model.domain import Param
from cfrc.model.expr import Apply, Expr, Lit, NodeResult, Outcome, Var, walk
from cfrc.model.graph import Call, Kind, Proposal, Terminal
from cfrc.model.types import BOOL, STRING, Enum, Id, Prim, Type, is_identifier

OTHER_DIGEST = "sha256:" + "f" * 64


@dataclass(frozen=True, slots=True)
class Mutant:
    """A proposal with one fault. ``fault`` says what was done (and to which node), ``kind`` what it should lead to."""

    fault: str
    kind: Kind
    proposal: Proposal


def mutations(contract: Contract, proposal: Proposal) -> tuple[Mutant, ...]:
    """All single-fault variants of the proposal, in a fixed order."""
    return tuple(
        m
        for source in (_nodes, _calls, _arguments, _edges, _conditions, _failures, _terminals, _additions, _undone)
        for m in source(contract, proposal)
    )


def _with(proposal: Proposal, old: Call | Terminal, new: Call | Terminal) -> Proposal:
    return replace(proposal, nodes=tuple(new if n is old else n for n in proposal.nodes))


def _call_nodes(proposal: Proposal) -> list[Call]:
    return [n for n in proposal.nodes if isinstance(n, Call)]


def _mentions(node: Call | Terminal) -> set[str]:
    """Nodes that the node's sources, guard and conditions name."""
    exprs: list[Expr | None] = [node.when]
    if isinstance(node, Call):
        exprs += [*node.args.values(), node.until, node.expect]
    return {x.node for e in exprs if e is not None for x in walk(e) if isinstance(x, NodeResult | Outcome)}


def _fresh(proposal: Proposal, stem: str) -> str:
    taken = {n.id for n in proposal.nodes}
    return next(f"{stem}{i}" for i in range(1, len(taken) + 2) if f"{stem}{i}" not in taken)


def _append(proposal: Proposal, call: Call) -> Proposal:
    """Adds a call that terminals with an explicit ``after`` wait for too."""
    nodes = (
        replace(n, after=(*n.after, call.id)) if isinstance(n, Terminal) and n.after is not None else n
        for n in proposal.nodes
    )
    return replace(proposal, nodes=(call, *nodes))


def without(proposal: Proposal, name: str) -> Proposal | None:
    """The proposal without a call, its order kept; ``None`` when other nodes use its result or outcome."""
    gone = next((n for n in proposal.nodes if n.id == name), None)
    rest = [n for n in proposal.nodes if n is not gone]
    if gone is None or any(name in _mentions(n) for n in rest):
        return None
    before = tuple(gone.after or ())
    nodes = []
    for n in rest:
        if n.after is not None and name in n.after:
            n = replace(n, after=tuple(dict.fromkeys(x for a in n.after for x in (before if a == name else (a,)))))
        nodes.append(n)
    return replace(proposal, nodes=tuple(nodes))


def _nodes(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    for call in _call_nodes(proposal):
        tool = contract.domain.tools.get(call.tool)
        rest = without(proposal, call.id)
        if rest is not None and tool is not None and tool.writes:
            yield Mutant(f"drop {call.id}", "coverage", rest)
        if tool is not None and tool.causes:
            again = replace(call, id=_fresh(proposal, "again"), after=(*call.after, call.id), until=None, expect=None)
            yield Mutant(f"repeat {call.id}", "preservation", _append(proposal, again))
            beside = replace(again, after=call.after)
            yield Mutant(f"repeat {call.id} unordered", "preservation", _append(proposal, beside))


def _calls(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    for call in _call_nodes(proposal):
        unknown = replace(call, tool=call.tool + "_unknown")
        yield Mutant(f"unknown tool at {call.id}", "typing", _with(proposal, call, unknown))
        dangling = replace(call, after=(*call.after, "nowhere"))
        yield Mutant(f"dangling reference at {call.id}", "dependency", _with(proposal, call, dangling))
        for tool in contract.domain.tools.values():
            if tool.name not in contract.allow or tool.actor != "agent":
                other = replace(call, tool=tool.name)
                yield Mutant(f"unlisted tool at {call.id}", "authority", _with(proposal, call, other))
    if calls := _call_nodes(proposal):
        doubled = replace(proposal, nodes=(*proposal.nodes, calls[0]))
        yield Mutant(f"two nodes named {calls[0].id}", "typing", doubled)
        yield Mutant("another contract", "typing", replace(proposal, answers=OTHER_DIGEST))


def _arguments(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    for call in _call_nodes(proposal):
        tool = contract.domain.tools.get(call.tool)
        if tool is None:
            continue
        first = next(iter(call.args.values()), Lit(value=True, type=BOOL))
        extra = replace(call, args={**call.args, "unheard_of": first})
        yield Mutant(f"extra argument at {call.id}", "typing", _with(proposal, call, extra))
        for name, source in call.args.items():
            param = tool.param(name)
            if param is not None:
                yield from _argument(contract, proposal, call, param, source)


def _argument(contract: Contract, proposal: Proposal, call: Call, param: Param, source: Expr) -> Iterator[Mutant]:
    where = f"{call.id}.{param.name}"

    def given(new: Expr) -> Proposal:
        return _with(proposal, call, replace(call, args={**call.args, param.name: new}))

    if param.default is None:
        fewer = replace(call, args={n: e for n, e in call.args.items() if n != param.name})
        yield Mutant(f"missing argument {where}", "typing", _with(proposal, call, fewer))
    yield Mutant(f"wrong type of {where}", "typing", given(_of_another_type(param.type)))
    if is_identifier(param.type):
        made_up = Lit(value="made-up", type=param.type)
        yield Mutant(f"unsupported identifier {where}", "grounding", given(made_up))
    elif isinstance(param.type, Prim) and param.type.name in ("decimal", "int"):
        number = Fraction(3) if param.type.name == "decimal" else 3
        yield Mutant(f"unsupported value {where}", "grounding", given(Lit(value=number, type=param.type)))
    elif param.type == BOOL:
        flipped = Lit(value=not (isinstance(source, Lit) and source.value is True), type=BOOL)
        yield Mutant(f"flip {where}", "coverage", given(flipped))
    elif isinstance(param.type, Enum):
        for member in param.type.members:
            if not (isinstance(source, Lit) and source.value == member):
                yield Mutant(f"other member {where}", "coverage", given(Lit(value=member, type=param.type)))
    for n in contract.names.values():
        if n.type == param.type and not (isinstance(source, Var) and source.name == n.name):
            swapped = Var(name=n.name, kind="name", type=n.type)
            yield Mutant(f"swap {where} for {n.name}", "coverage", given(swapped))


def _of_another_type(t: Type) -> Lit:
    if isinstance(t, Id):
        return Lit(value="x", type=Id(t.name + "Other"))
    if t in (Prim("text"), STRING):
        return Lit(value=True, type=BOOL)
    return Lit(value=date(2026, 1, 1), type=Prim("date"))


def _edges(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    by_id = {n.id: n for n in proposal.nodes}
    for call in _call_nodes(proposal):
        for name in sorted({*call.after, *_mentions(call)} - {call.id}):
            before = by_id.get(name)
            if not isinstance(before, Call):
                continue
            cycle = replace(before, after=(*before.after, call.id))
            yield Mutant(f"cycle {name} {call.id}", "dependency", _with(proposal, before, cycle))
            if name in _mentions(call):
                continue
            free = _with(proposal, call, replace(call, after=tuple(a for a in call.after if a != name)))
            yield Mutant(f"forget that {call.id} is after {name}", "preservation", free)
            if call.id not in _mentions(before):
                yield Mutant(f"reverse {name} {call.id}", "dependency", _with(free, before, cycle))


def _conditions(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    for node in proposal.nodes:
        if node.when is not None:
            yield Mutant(f"drop the guard of {node.id}", "dependency", _with(proposal, node, replace(node, when=None)))
        if isinstance(node, Call) and node.expect is not None:
            yield Mutant(f"drop the expect of {node.id}", "coverage", _with(proposal, node, replace(node, expect=None)))
        if isinstance(node, Call) and node.until is not None:
            free = replace(node, until=None, polls=1)
            yield Mutant(f"drop the until of {node.id}", "coverage", _with(proposal, node, free))


def _failures(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    """Guards that let a source be missing, or a failure be passed over."""
    by_id = {n.id: n for n in proposal.nodes}
    for node in proposal.nodes:
        ill = replace(node, when=Lit(value=1, type=Prim("int")))
        yield Mutant(f"ill-typed guard at {node.id}", "typing", _with(proposal, node, ill))
        for name in sorted(_mentions(node) - {node.id}):
            source = by_id.get(name)
            if isinstance(source, Call):
                never = replace(source, when=Lit(value=False, type=BOOL))
                yield Mutant(f"never call {name}", "dependency", _with(proposal, source, never))
        for name in sorted({*(node.after or ()), *_mentions(node)} - {node.id}):
            fine = Apply(op="not", args=(Outcome(node=name, status="failed", type=BOOL),), type=BOOL)
            guard = fine if node.when is None else Apply(op="and", args=(fine, node.when), type=BOOL)
            yield Mutant(
                f"{node.id} unless {name} failed", "dependency", _with(proposal, node, replace(node, when=guard))
            )
            for status in ("failed", "skipped", "ok"):
                instead = replace(node, when=Outcome(node=name, status=status, type=BOOL))
                yield Mutant(f"{node.id} if {name} {status}", "dependency", _with(proposal, node, instead))


def _terminals(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    for node in proposal.nodes:
        if not isinstance(node, Terminal):
            continue
        rest = tuple(n for n in proposal.nodes if n is not node)
        yield Mutant(f"drop {node.id}", "coverage", replace(proposal, nodes=rest))
        claimed = replace(node, claims=(*node.claims, "unheard_of"))
        yield Mutant(f"extra claim at {node.id}", "evidence", _with(proposal, node, claimed))
        second = Terminal(_fresh(proposal, "second"), "yield", reason="a second end")
        yield Mutant("a second terminal", "evidence", replace(proposal, nodes=(*proposal.nodes, second)))
        for name in node.after or ():
            early = replace(node, after=tuple(a for a in node.after or () if a != name))
            yield Mutant(f"{node.id} does not wait for {name}", "evidence", _with(proposal, node, early))
        if node.after is not None:
            free = [c for c in _call_nodes(proposal) if c.id not in node.after]
            for call in free:
                late = replace(call, after=(*call.after, node.id))
                yield Mutant(f"{call.id} after {node.id}", "evidence", _with(proposal, call, late))


def _additions(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    """One more write, with arguments that the contract knows: outside the scope, unless scope is wide."""
    last = tuple(c.id for c in _call_nodes(proposal))
    for tool in contract.domain.tools.values():
        if not tool.writes:
            continue
        sources = {p.name: _sources(contract, p) for p in tool.params if p.default is None}
        if not all(sources.values()):
            continue
        for values in islice(product(*sources.values()), 6):
            args = dict(zip(sources, values, strict=True))
            call = Call(_fresh(proposal, "more"), tool.name, args, after=last)
            yield Mutant(f"one more {tool.name}", "scope", _append(proposal, call))


def _undone(contract: Contract, proposal: Proposal) -> Iterator[Mutant]:
    """Undoes what a call causes, where a tool can, with the arguments of that call."""
    for call in _call_nodes(proposal):
        tool = contract.domain.tools.get(call.tool)
        caused = {c.effect for c in tool.causes} if tool is not None else set()
        for other in contract.domain.tools.values():
            needed = [p.name for p in other.params if p.default is None]
            if caused & {u.effect for u in other.undoes} and set(needed) <= set(call.args):
                args = {n: call.args[n] for n in needed}
                undo = Call(_fresh(proposal, "undo"), other.name, args, after=(call.id,))
                yield Mutant(f"undo {call.id}", "preservation", _append(proposal, undo))


def _sources(contract: Contract, param: Param) -> list[Expr]:
    match param.type:
        case Prim("text"):
            return [Lit(value="hello", type=param.type)]
        case Prim("bool"):
            return [Lit(value=False, type=BOOL), Lit(value=True, type=BOOL)]
        case Enum(_, members):
            return [Lit(value=m, type=param.type) for m in members]
    return [Var(name=n.name, kind="name", type=n.type) for n in contract.names.values() if n.type == param.type]
