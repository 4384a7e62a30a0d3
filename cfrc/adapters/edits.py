"""Turns proposals into other proposals: replace a node, a leaf of an argument; add and remove calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cfrc.handoff.closing.leaves import Step, project, strip
from cfrc.model.canon import default_value
from cfrc.model.contract import Contract, Name
from cfrc.model.domain import Param, Tool
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Apply, Build, Expr, Field, Index, Lit, NodeResult, Outcome, Var, conjuncts, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import BOOL, BagOf, Enum, ListOf, MapOf, RecordOf, Type
from cfrc.model.values import Bag, Map, Value


@dataclass(frozen=True, slots=True)
class Site:
    """One leaf of an argument: its parameter, the positions in the ``Build``s on the way, its expression and type."""

    param: str
    at: tuple[int, ...]
    expr: Expr
    type: Type


def sites(tool: Tool, call: Call) -> Iterator[Site]:
    """The leaves of a call's arguments, in the order of the tool's parameters."""

    def go(param: Param, e: Expr, at: tuple[int, ...], type_: Type) -> Iterator[Site]:
        if isinstance(e, Build):
            inner = strip(type_)
            for i, item in enumerate(e.items):
                match inner:
                    case ListOf(t) | BagOf(t) | MapOf(_, t):
                        yield from go(param, item, (*at, i), t)
                    case RecordOf():
                        yield from go(param, item, (*at, i), inner.field(e.names[i]) or item.type)
        else:
            yield Site(param.name, at, e, strip(type_))

    for p in tool.params:
        if p.name in call.args:
            yield from go(p, call.args[p.name], (), p.type)


def with_leaf(call: Call, site: Site, new: Expr) -> Call:
    """The call with one leaf of one argument replaced."""

    def go(e: Expr, at: tuple[int, ...]) -> Expr:
        if not at or not isinstance(e, Build):
            return new
        items = list(e.items)
        items[at[0]] = go(items[at[0]], at[1:])
        return replace(e, items=tuple(items))

    return replace(call, args={**call.args, site.param: go(call.args[site.param], site.at)})


def named(name: Name) -> Var:
    return Var(name=name.name, kind="name", type=name.type)


def edit(proposal: Proposal, node: Call | Terminal) -> Proposal:
    """The proposal with the node of the same id replaced."""
    return replace(proposal, nodes=tuple(node if n.id == node.id else n for n in proposal.nodes))


def add(proposal: Proposal, call: Call) -> Proposal:
    """The proposal with one more call, which runs whenever ``done`` may."""
    when = next((n.when for n in proposal.nodes if isinstance(n, Terminal) and n.kind == "done"), None)
    extra = replace(call, when=call.when or when)
    calls = [n for n in proposal.nodes if isinstance(n, Call)]
    return replace(proposal, nodes=(*calls, extra, *(n for n in proposal.nodes if isinstance(n, Terminal))))


def without(proposal: Proposal, node: str, claims: set[str]) -> Proposal:
    """The proposal without one call, without the expectations that mention it, and without some claims.

    What waited for the call waits for what the call waited for. Arguments and guards that read its result stay as they
    are: they dangle.
    """
    gone = next(n for n in proposal.nodes if n.id == node)
    before = _waits_for(gone) if isinstance(gone, Call) else ()
    nodes: list[Call | Terminal] = []
    for n in proposal.nodes:
        if n.id == node:
            continue
        after = n.after
        if after is not None and node in after:
            after = tuple(dict.fromkeys([*(a for a in after if a != node), *before]))
        if isinstance(n, Call):
            kept = tuple(c for c in conjuncts(n.expect) if not mentions(c, node))
            expect = None if not kept else kept[0] if len(kept) == 1 else Apply(op="and", args=kept, type=BOOL)
            nodes.append(replace(n, after=after or (), expect=expect))
        else:
            nodes.append(replace(n, after=after, claims=tuple(c for c in n.claims if c not in claims)))
    return replace(proposal, nodes=tuple(nodes))


def _waits_for(call: Call) -> tuple[str, ...]:
    parts = [*call.args.values(), *(e for e in (call.expect, call.when) if e is not None)]
    read = {x.node for e in parts for x in walk(e) if isinstance(x, NodeResult | Outcome)} - {call.id}
    return (*call.after, *sorted(read))


def mentions(e: Expr, node: str) -> bool:
    return any(isinstance(x, NodeResult | Outcome) and x.node == node for x in walk(e))


def build_call(contract: Contract, tool: Tool, node: str, args: dict[str, Value]) -> Call:
    """A call with the given values, each by its name in the contract if it has one; what is missing is made up."""
    found: dict[str, Expr] = {}
    for p in tool.params:
        if p.name in args:
            found[p.name] = _said(contract, args[p.name], p.type)
        elif p.default is None:
            same = next((n for n in contract.names.values() if n.type == p.type), None)
            found[p.name] = named(same) if same is not None else Lit(value=_made_up(p.type), type=p.type)
    return Call(node, tool.name, found)


def _made_up(type_: Type) -> Value:
    inner = strip(type_)
    value = default_value(inner)
    return "made-up" if value == "" and not isinstance(inner, Enum) else value


def _said(contract: Contract, value: Value, type_: Type) -> Expr:
    inner = strip(type_)
    match value:
        case tuple() if isinstance(inner, ListOf):
            return Build(kind="list", items=tuple(_said(contract, v, inner.item) for v in value), type=inner)
        case Bag(items) if isinstance(inner, BagOf):
            return Build(kind="bag", items=tuple(_said(contract, v, inner.item) for v in items), type=inner)
    name = next((n for n in contract.names.values() if n.type == inner and n.value == value), None)
    return named(name) if name is not None else Lit(value=value, type=inner)


def neighbours(e: Expr, results: dict[str, Value]) -> Iterator[tuple[Expr, Value]]:
    """The same path through the other recorded elements of the last collection on it, with the values they lead to."""
    steps, base = _steps(e)
    last = max((i for i, (kind, _) in enumerate(steps) if kind != "field"), default=None)
    if base is None or last is None:
        return
    env = Env(results=results)
    for other in _keys(_value(project(base, steps[:last]), env)):
        if other != steps[last][1]:
            path = project(base, (*steps[:last], (steps[last][0], other), *steps[last + 1 :]))
            found = _value(path, env)
            if found is not None and found != _value(e, env):
                yield path, found


def _steps(e: Expr) -> tuple[tuple[Step, ...], NodeResult | None]:
    steps: list[Step] = []
    while True:
        match e:
            case Field(base=base, name=name):
                steps.append(("field", name))
                e = base
            case Index(base=base, key=Lit(value=key)):
                steps.append(("key" if isinstance(strip(base.type), MapOf) else "index", key))
                e = base
            case NodeResult():
                return tuple(reversed(steps)), e
            case _:
                return (), None


def _keys(value: Any) -> list[Value]:
    match value:
        case tuple():
            return list(range(len(value)))
        case Map(pairs):
            return [k for k, _ in pairs]
    return []


def _value(e: Expr, env: Env) -> Value:
    try:
        return evaluate(e, env)
    except Undefined:
        return None


__all__ = ["Site", "add", "build_call", "edit", "mentions", "named", "neighbours", "sites", "with_leaf", "without"]
