"""Turns a contract and a proposal into the findings that need no run: typing, authority, grounding, structure, claims.

Each is the simplest literal reading of the table in semantics §3.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.contract import Contract, Fact, Origin
from cfrc.model.domain import Param, SourcePattern
from cfrc.model.expr import Discharge, Expr, Field, If, Index, Lit, NodeResult, Outcome, Var, children, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import BOOL, AnyType, Enum, Prim, Type, fits, is_identifier
from tests.verify.brute.evaluate import canonical

Finding = tuple[str, str]
STRUCTURE = ("TYP", "DEP001", "DEP002", "EVD002")


def sources(node: Call | Terminal) -> set[str]:
    """The nodes that are named in the argument sources or the guard."""
    read: list[Expr] = [] if node.when is None else [node.when]
    if isinstance(node, Call):
        read.extend(node.args.values())
    return {x.node for e in read for x in walk(e) if isinstance(x, NodeResult | Outcome)}


def preds(node: Call | Terminal) -> set[str]:
    return set(node.after or ()) | sources(node)


def closure(proposal: Proposal) -> dict[str, set[str]]:
    """pred⁺ of every node; a node on a cycle is in its own."""
    direct = {n.id: preds(n) for n in proposal.nodes}
    result: dict[str, set[str]] = {}
    for start in direct:
        seen: set[str] = set()
        stack = list(direct[start])
        while stack:
            n = stack.pop()
            if n not in seen:
                seen.add(n)
                stack.extend(direct.get(n, ()))
        result[start] = seen
    return result


def handles(node: Call | Terminal, failed: str) -> bool:
    """Whether the guard mentions ``failed(failed)``."""
    return node.when is not None and any(
        isinstance(x, Outcome) and x.node == failed and x.status == "failed" for x in walk(node.when)
    )


def static(contract: Contract, proposal: Proposal) -> set[Finding]:
    """All findings that hold of the texts, whatever happens."""
    found: set[Finding] = {(f.kind, f.code.removeprefix("CFRC-")) for f in proposal.faults}
    for node in proposal.nodes:
        found |= {(f.kind, f.code.removeprefix("CFRC-")) for f in node.faults}
        found |= set(_terminal(contract, node) if isinstance(node, Terminal) else _call(contract, proposal, node))
    if proposal.answers is not None and proposal.answers != contract.digest:
        found.add(("typing", "TYP010"))
    return found | set(_structure(proposal))


def _structure(proposal: Proposal) -> Iterator[Finding]:
    ids = [n.id for n in proposal.nodes]
    if len(set(ids)) < len(ids):
        yield "typing", "TYP006"
    terminals = {n.id for n in proposal.nodes if isinstance(n, Terminal)}
    for node in proposal.nodes:
        if not preds(node) <= set(ids):
            yield "dependency", "DEP001"
        if preds(node) & terminals:
            yield "evidence", "EVD002"
    if any(n in before for n, before in closure(proposal).items()):
        yield "dependency", "DEP002"


def _terminal(contract: Contract, node: Terminal) -> Iterator[Finding]:
    if node.when is not None and not fits(node.when.type, BOOL):
        yield "typing", "TYP005"
    if not set(node.claims) <= {o.name for o in contract.obligations}:
        yield "evidence", "EVD005"


def _call(contract: Contract, proposal: Proposal, node: Call) -> Iterator[Finding]:
    if any(e is not None and not fits(e.type, BOOL) for e in (node.when, node.until, node.expect)):
        yield "typing", "TYP005"
    tool = contract.domain.tools.get(node.tool)
    if tool is None:
        yield "typing", "TYP001"
        return
    if tool.name not in contract.allow:
        yield "authority", "AUT001"
    for p in tool.params:
        if p.name not in node.args and p.default is None:
            yield "typing", "TYP002"
    for name, source in node.args.items():
        param = tool.param(name)
        if param is None:
            yield "typing", "TYP003"
        elif not fits(source.type, param.type):
            yield "typing", "TYP004"
        else:
            yield from grounding(contract, proposal, param, source)


def grounding(contract: Contract, proposal: Proposal, param: Param, source: Expr) -> Iterator[Finding]:
    """Findings about where the argument's leaves come from."""
    if param.free:
        return
    if is_identifier(param.type) and not _copy(source):
        yield "grounding", "GRD003"
        return
    for leaf in _leaves(source):
        code = _leaf(contract, proposal, param, leaf, frozenset())
        if code is not None:
            yield "grounding", code


def _copy(e: Expr) -> bool:
    if isinstance(e, If):
        return _copy(e.then) and _copy(e.orelse)
    return isinstance(e, Lit | Var | NodeResult | Discharge | Field | Index)


def _leaves(e: Expr) -> Iterator[Expr]:
    if isinstance(e, If):
        yield from _leaves(e.then)
        yield from _leaves(e.orelse)
    elif isinstance(e, Field | Index | Lit | Var | NodeResult):
        yield e
    else:
        for c in children(e):
            yield from _leaves(c)


def _leaf(contract: Contract, proposal: Proposal, param: Param, leaf: Expr, seen: frozenset[str]) -> str | None:
    if isinstance(leaf, Lit):
        if leaf.type in (Prim("text"), BOOL) or isinstance(leaf.type, Enum) or param.type in (Prim("text"), BOOL):
            return None
        value = canonical(leaf.value, param.type)
        if leaf.value is None:
            return None
        if isinstance(param.default, Lit) and canonical(param.default.value, param.type) == value:
            return None  # said or left out, it is the same call
        same = [n for n in contract.names.values() if n.type == param.type and canonical(n.value, n.type) == value]
        origins = [n.origin for n in same]
        # known fluent values are evidence as well (§1, E)
        origins += [f.origin for f in contract.facts if _type_of(contract, f) == param.type and f.value == value]
        codes = [_origin(param, o) for o in origins if o is not None]
        return "GRD001" if not codes else None if None in codes else codes[0]
    if isinstance(leaf, Var):
        name = contract.names.get(leaf.name)
        return None if name is None or name.origin is None else _origin(param, name.origin)
    return _result(contract, proposal, param, leaf, seen)


def _type_of(contract: Contract, fact: Fact) -> Type:
    return contract.domain.fluents[fact.fluent].type


def _origin(param: Param, origin: Origin) -> str | None:
    if origin.quoted is not None and param.unquoted:
        return "GRD004"
    if param.sources is None or any(_matches_origin(p, origin) for p in param.sources):
        return None
    return "GRD002"


def _matches_origin(pattern: SourcePattern, origin: Origin) -> bool:
    if pattern.quoted and origin.quoted is None:
        return False
    match pattern.kind:
        case "user":
            return origin.kind == "user"
        case "receipt":
            return origin.kind == "receipt"
    ok = origin.kind == "receipt" and origin.tool == pattern.tool
    return ok and origin.path[: len(pattern.path)] == pattern.path


def _result(contract: Contract, proposal: Proposal, param: Param, leaf: Expr, seen: frozenset[str]) -> str | None:
    path: tuple[str, ...] = ()
    while isinstance(leaf, Field | Index):
        path = (leaf.name, *path) if isinstance(leaf, Field) else path
        leaf = leaf.base
    call = next((n for n in proposal.nodes if isinstance(leaf, NodeResult) and n.id == leaf.node), None)
    if not isinstance(call, Call) or call.tool not in contract.domain.tools or isinstance(leaf.type, AnyType):
        return None
    tool = contract.domain.tools[call.tool]
    if tool.grounds_nothing:
        return "GRD001"
    if path in tool.echoes and call.id not in seen:
        echoed = call.args.get(tool.echoes[path])
        codes = (
            [] if echoed is None else [_leaf(contract, proposal, param, x, seen | {call.id}) for x in _leaves(echoed)]
        )
        return next((c for c in codes if c is not None), None)
    if param.sources is None:
        return None
    for p in param.sources:
        if not p.quoted and (
            p.kind == "receipt" or (p.kind == "tool" and p.tool == tool.name and path[: len(p.path)] == p.path)
        ):
            return None
    return "GRD002"
