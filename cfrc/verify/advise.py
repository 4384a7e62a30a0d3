"""Turns a refusal into advice: the one change that would make it an admission, if a simple one exists.

Each candidate edit answers one finding; it is offered only after the edited proposal has been judged and admitted.
Advice is never applied: checking does not repair (``docs/semantics.md`` §3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.contract import Contract
from cfrc.model.domain import FluentClause
from cfrc.model.graph import Call, Proposal, Terminal, without
from cfrc.model.show import show_expr
from cfrc.model.verdict import Finding, Status

TRIES = 12
"""Edited proposals that are judged before advice is given up."""

LARGEST = 200
"""Nodes beyond which a second judgement costs too much for advice."""

Edit = tuple[str, Proposal]


def advise(
    contract: Contract, proposal: Proposal, findings: list[Finding], status: Callable[[Proposal], Status]
) -> list[Finding]:
    """The findings, one of them with advice when an edit was found that ``status`` admits."""
    errors = [f for f in findings if f.severity == "error"]
    if not errors or len(errors) > 6 or len(proposal.nodes) > LARGEST:
        return findings
    tried = 0
    for f in errors:
        for text, edited in _edits(contract, proposal, f):
            if tried >= TRIES:
                return findings
            tried += 1
            if status(edited) is Status.ADMITTED:
                return [replace(g, advice=text) if g is f else g for g in findings]
    return findings


def _edits(contract: Contract, proposal: Proposal, f: Finding) -> Iterator[Edit]:
    code = f.code.removeprefix("CFRC-")
    node = next((n for n in proposal.nodes if n.id == f.node), None)
    if code == "TYP010":
        yield "answer this contract's digest", replace(proposal, answers=contract.digest)
    if node is None:
        return
    if code in ("PRS007", "COV003"):
        yield from _order(proposal, node, f)
    if code == "DEP004" and isinstance(node, Call):
        yield from _expect(contract, proposal, node)
    if code in ("GRD001", "GRD002", "BND001", "BND002") and isinstance(node, Call):
        yield from _arguments(contract, proposal, node)
    if code == "DEP003" and isinstance(node, Call):
        yield from _guard(proposal, node)
    if code in ("EVD004", "COV001") and isinstance(node, Terminal) and f.obligation in node.claims and code == "EVD004":
        fewer = tuple(c for c in node.claims if c != f.obligation)
        yield f"drop the claim `{f.obligation}`", _with(proposal, replace(node, claims=fewer))
    if code == "EVD003" and isinstance(node, Terminal):
        yield "leave `after` out: the terminal then waits for everything", _with(proposal, replace(node, after=None))
    if code == "COV006" and isinstance(node, Call):
        fewer = tuple(c for c in node.covers if c != f.obligation)
        yield "drop the annotation", _with(proposal, replace(node, covers=fewer))
    if isinstance(node, Call) and code[:3] in ("PRS", "SCP", "AUT", "TYP", "DEP"):
        yield f"drop the step `{node.id}`", without(proposal, [node.id])


def _with(proposal: Proposal, node: Call | Terminal) -> Proposal:
    return replace(proposal, nodes=tuple(node if n.id == node.id else n for n in proposal.nodes))


def _order(proposal: Proposal, node: Call | Terminal, f: Finding) -> Iterator[Edit]:
    for other in proposal.nodes:
        if isinstance(node, Call) and isinstance(other, Call) and other.id != node.id and f"`{other.id}`" in f.message:
            yield (
                f"add `after {other.id}` to `{node.id}`",
                _with(proposal, replace(node, after=(*node.after, other.id))),
            )
            yield (
                f"add `after {node.id}` to `{other.id}`",
                _with(proposal, replace(other, after=(*other.after, node.id))),
            )


def _guard(proposal: Proposal, node: Call) -> Iterator[Edit]:
    for other in proposal.nodes:
        if isinstance(other, Call) and other.id != node.id and other.when is not None:
            guard = other.when if node.when is None else ex.Apply(op="and", args=(other.when, node.when), type=ty.BOOL)
            yield f"guard `{node.id}` like `{other.id}`", _with(proposal, replace(node, when=guard))


def _arguments(contract: Contract, proposal: Proposal, node: Call) -> Iterator[Edit]:
    """Another value of the contract of the same type."""
    tool = contract.domain.tools.get(node.tool)
    for p in tool.params if tool is not None else ():
        given = node.args.get(p.name)
        for n in contract.names.values():
            if given is not None and n.type == p.type and not (isinstance(given, ex.Var) and given.name == n.name):
                value = ex.Var(name=n.name, kind="name", type=n.type)
                edited = replace(node, args={**node.args, p.name: value})
                yield f"pass `{n.name}` as `{p.name}` of `{node.id}`", _with(proposal, edited)


def _expect(contract: Contract, proposal: Proposal, node: Call) -> Iterator[Edit]:
    """An ``expect`` on a step that observes what is required; if need be, ordered before the call."""
    tool = contract.domain.tools.get(node.tool)
    for requirement in (c for r in (tool.requires if tool is not None else ()) for c in ex.conjuncts(r)):
        for reader in proposal.nodes:
            seen = contract.domain.tools.get(reader.tool) if isinstance(reader, Call) else None
            if seen is None or not isinstance(reader, Call) or reader.id == node.id:
                continue
            for o in seen.observes:
                wanted = _observed(requirement, o, reader)
                if wanted is not None:
                    both = (
                        wanted
                        if reader.expect is None
                        else ex.Apply(op="and", args=(reader.expect, wanted), type=ty.BOOL)
                    )
                    text = f"add `expect {show_expr(wanted)}` to `{reader.id}`"
                    edited = _with(proposal, replace(reader, expect=both))
                    yield text, edited
                    later = replace(node, after=(*node.after, reader.id))
                    yield f"{text} and `after {reader.id}` to `{node.id}`", _with(edited, later)


def _observed(requirement: ex.Expr, o: FluentClause, reader: Call) -> ex.Expr | None:
    """``f(x) op v`` as a condition on the reader's result, when the reader observes ``f`` at a path of its result."""
    if not isinstance(requirement, ex.Apply) or len(requirement.args) != 2:
        return None
    left, right = requirement.args
    path = _on_result(o.value, reader.id)
    if path is None or not isinstance(left, ex.FluentRead) or left.fluent != o.fluent or not isinstance(right, ex.Lit):
        return None
    return ex.Apply(op=requirement.op, args=(path, right), type=ty.BOOL)


def _on_result(e: ex.Expr, node: str) -> ex.Expr | None:
    if isinstance(e, ex.Var) and e.kind == "result":
        return ex.NodeResult(node=node, type=e.type)
    if isinstance(e, ex.Field):
        base = _on_result(e.base, node)
        return None if base is None else ex.Field(base=base, name=e.name, type=e.type)
    return None
