"""Turns a contract and a proposal into what every run of it needs again and again: predecessors, ancestors, checks.

Nothing here depends on a run. Prepared once, a plan serves any number of scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.model.canon import canonical, needs_canonical
from cfrc.model.contract import Approval, Contract
from cfrc.model.domain import Param, Tool
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Expr, NodeResult, Outcome, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.instances import Signatures
from cfrc.model.types import BagOf, Id, ListOf, MapOf, Optional, RecordOf, Type, holds_identifier
from cfrc.model.values import Bag, Map, Record, Value


@dataclass(slots=True)
class Bound:
    """One parameter that a binding governs: its value, or every identifier in it, must be one of ``values``."""

    param: str
    code: str
    values: dict[str, frozenset[Value]]
    type: Type


@dataclass(slots=True)
class NodePlan:
    """One call or terminal. ``preds`` are node names (possibly unknown ones: then it never becomes ready);
    ``handles`` are the nodes whose failure its guard mentions; ``before`` is the bitset of pred⁺. ``args``: parameter,
    source and whether values of the type have canonical forms; ``spelled`` says so of the result."""

    node: Call | Terminal
    position: int
    preds: tuple[str, ...]
    handles: frozenset[str]
    tool: Tool | None = None
    args: tuple[tuple[Param, Expr, bool], ...] = ()
    spelled: bool = False
    malformed: str | None = None
    before: int = 0
    bounds: tuple[Bound, ...] = ()


@dataclass(slots=True)
class Plan:
    """Everything that all runs of one proposal under one contract share. ``linear``: any two calls are ordered."""

    contract: Contract
    proposal: Proposal
    sig: Signatures
    names: dict[tuple[str, str], Value]
    nodes: dict[str, NodePlan] = field(default_factory=dict)
    successors: dict[str, list[str]] = field(default_factory=dict)
    handled: frozenset[str] = frozenset()
    linear: bool = False
    approvals: dict[str, list[tuple[int, Approval, dict[str, Value]]]] = field(default_factory=dict)
    denials: dict[str, list[dict[str, Value]]] = field(default_factory=dict)

    def env(self) -> Env:
        """An environment that holds the contract's names."""
        return Env(dict(self.names))


def mentions(e: Expr | None, own: str = "") -> set[str]:
    """The nodes whose result or outcome an expression reads, other than ``own``."""
    if e is None:
        return set()
    return {x.node for x in walk(e) if isinstance(x, NodeResult | Outcome) and x.node != own}


def predecessors(node: Call | Terminal) -> set[str]:
    """``after`` and the nodes named in sources, guard, ``until`` and ``expect``."""
    found = set(node.after or ()) | mentions(node.when)
    if isinstance(node, Call):
        found |= mentions(node.until, node.id) | mentions(node.expect, node.id)
        for e in node.args.values():
            found |= mentions(e)
    return found


def prepare(contract: Contract, proposal: Proposal) -> Plan:
    """The plan of a proposal. Faulty nodes are kept and marked ``malformed``: they can never be called."""
    names = {("name", n.name): canonical(n.type, n.value) for n in contract.names.values()}
    plan = Plan(contract, proposal, Signatures(contract.domain), names)
    for position, node in enumerate(proposal.nodes):
        handles = frozenset(
            x.node for x in walk(node.when) if isinstance(x, Outcome) and x.status == "failed"
        ) if node.when is not None else frozenset()  # fmt: skip
        plan.nodes[node.id] = NodePlan(node, position, tuple(sorted(predecessors(node))), handles)
        if isinstance(node, Call):
            _call(plan, plan.nodes[node.id], node)
    plan.handled = frozenset().union(*(n.handles for n in plan.nodes.values()))
    plan.successors = {n: [] for n in plan.nodes}
    for name, entry in plan.nodes.items():
        for p in entry.preds:
            if p in plan.successors:
                plan.successors[p].append(name)
    _ancestors(plan)
    _approvals(plan)
    _bindings(plan)
    return plan


def _call(plan: Plan, entry: NodePlan, call: Call) -> None:
    tool = plan.contract.domain.tools.get(call.tool)
    if tool is None:
        entry.malformed = f"unknown tool {call.tool}"
        return
    entry.tool = tool
    args: list[tuple[Param, Expr, bool]] = []
    for p in tool.params:
        given = call.args.get(p.name, p.default)
        if given is not None:
            args.append((p, given, needs_canonical(p.type)))
        elif not isinstance(p.type, Optional):
            entry.malformed = f"argument {p.name} is missing"
    if set(call.args) - {p.name for p in tool.params}:
        entry.malformed = "an argument has no parameter"
    entry.args = tuple(args)
    entry.spelled = needs_canonical(tool.result)


def _ancestors(plan: Plan) -> None:
    """Fills ``before``. Nodes on or behind a cycle never become ready; their bitset stays partial."""
    waiting = {n: sum(1 for p in e.preds if p in plan.nodes) for n, e in plan.nodes.items()}
    queue = [n for n, k in waiting.items() if k == 0]
    for n in queue:
        entry = plan.nodes[n]
        for p in entry.preds:
            if p in plan.nodes:
                entry.before |= plan.nodes[p].before | 1 << plan.nodes[p].position
        for s in plan.successors[n]:
            waiting[s] -= 1
            if waiting[s] == 0:
                queue.append(s)
    calls = sorted(e.before.bit_count() for e in plan.nodes.values() if isinstance(e.node, Call))
    plan.linear = calls == list(range(len(calls)))


def full_args(tool: Tool, args: tuple[tuple[str, Value], ...]) -> dict[str, Value]:
    """Arguments by name, canonical, with declared defaults filled in; what has no default stays missing."""
    given = dict(args)
    found: dict[str, Value] = {}
    for p in tool.params:
        if p.name in given:
            found[p.name] = canonical(p.type, given[p.name])
        elif p.default is not None:
            try:
                found[p.name] = canonical(p.type, evaluate(p.default, Env()))
            except Undefined:
                continue
        elif isinstance(p.type, Optional):
            found[p.name] = None
    return found


def _approvals(plan: Plan) -> None:
    tools = plan.contract.domain.tools
    for i, approval in enumerate(plan.contract.approvals):
        tool = tools.get(approval.tool)
        if tool is None:
            continue
        if approval.denied:
            types = {p.name: p.type for p in tool.params}
            pattern = {n: canonical(types[n], v) for n, v in approval.args if n in types}
            plan.denials.setdefault(tool.name, []).append(pattern)
        else:
            plan.approvals.setdefault(tool.name, []).append((i, approval, full_args(tool, approval.args)))


def _flowing(plan: Plan) -> set[str]:
    """The calls that the binding rule is about: those that write or witness, and those whose result flows there."""
    found: set[str] = set()
    queue = [n for n, e in plan.nodes.items() if e.tool is not None and (e.tool.writes or e.tool.witnesses)]
    while queue:
        name = queue.pop()
        if name in found:
            continue
        found.add(name)
        node = plan.nodes[name].node
        if isinstance(node, Call):
            # a guard decides whether the call is made: what it reads flows there as well
            sources = [*node.args.values(), *([node.when] if node.when is not None else [])]
            read = {x.node for e in sources for x in walk(e) if isinstance(x, NodeResult)}
            queue.extend(n for n in read if n in plan.nodes)
    return found


def _bindings(plan: Plan) -> None:
    fixed = [n for n in plan.contract.names.values() if n.fixed]
    if not fixed:
        return
    targeted: dict[tuple[str, str], set[Value]] = {}
    by_type: dict[str, set[Value]] = {}
    for n in fixed:
        for target in n.targets:
            targeted.setdefault(target, set()).add(plan.names["name", n.name])
        if not n.targets and isinstance(n.type, Id):
            by_type.setdefault(n.type.name, set()).add(plan.names["name", n.name])
    governed = {t: frozenset(v) for t, v in by_type.items()}
    flowing = _flowing(plan)
    for name, entry in plan.nodes.items():
        bounds: list[Bound] = []
        for p in entry.tool.params if entry.tool is not None else ():
            wanted = targeted.get((entry.tool.name if entry.tool else "", p.name))
            if wanted is not None:
                bounds.append(Bound(p.name, "BND002", {"": frozenset(wanted)}, p.type))
            elif governed and name in flowing and holds_identifier(p.type) and _id_types(p.type) & set(governed):
                bounds.append(Bound(p.name, "BND001", governed, p.type))
        entry.bounds = tuple(bounds)


def _id_types(t: Type) -> set[str]:
    match t:
        case Id(name):
            return {name}
        case Optional(i) | ListOf(i) | BagOf(i):
            return _id_types(i)
        case MapOf(k, v):
            return _id_types(k) | _id_types(v)
        case RecordOf(_, fields):
            return set().union(*(_id_types(f) for _, f in fields))
    return set()


def identifiers(value: Value, t: Type) -> Iterator[tuple[str, Value]]:
    """Every identifier inside a value, with the name of its type."""
    match t, value:
        case Id(name), str():
            yield name, value
        case Optional(item), _ if value is not None:
            yield from identifiers(value, item)
        case ListOf(item), tuple():
            for v in value:
                yield from identifiers(v, item)
        case BagOf(item), Bag(items):
            for v in items:
                yield from identifiers(v, item)
        case MapOf(key, item), Map(pairs):
            for k, v in pairs:
                yield from identifiers(k, key)
                yield from identifiers(v, item)
        case RecordOf(_, fields), Record():
            for n, f in fields:
                if n in value:
                    yield from identifiers(value.get(n), f)


def canonical_args(entry: NodePlan, env: Env) -> dict[str, Value]:
    """The call's argument values by parameter. Raises :class:`Undefined`, also for an absent value that is needed."""
    found: dict[str, Value] = {}
    assert entry.tool is not None
    for p, e, spelled in entry.args:
        value = evaluate(e, env)
        if value is None and not isinstance(p.type, Optional):
            raise Undefined(e)
        found[p.name] = canonical(p.type, value) if spelled else value
    if len(found) < len(entry.tool.params):
        for p in entry.tool.params:
            found.setdefault(p.name, None)
    return found
