"""Turns calls and their tools' signatures into typing findings: every tool known, parameters complete, known and typed.

``docs/semantics.md`` §3, *typing*. Resolution reports most of this with the better place; what it has reported on a
node is not reported twice. Proposals that were built in memory are judged here alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cfrc.model import types as ty
from cfrc.model.domain import Domain, Param
from cfrc.model.expr import Expr
from cfrc.model.graph import Call, Proposal
from cfrc.model.verdict import Finding
from cfrc.verify.suggest import did_you_mean


def findings(domain: Domain, proposal: Proposal) -> Iterator[Finding]:
    yield from _duplicates(proposal)
    for n in proposal.nodes:
        seen = {f.code.removeprefix("CFRC-") for f in n.faults}
        for code, message, help in _node(domain, n) if isinstance(n, Call) else _guard(n.when):
            if code not in seen:
                yield Finding(f"CFRC-{code}", "typing", message, help, where=n.span, node=n.id)


def usable(given: Expr, p: Param) -> bool:
    """Whether an argument may be evaluated as a value of the parameter's type; an optional one is expected to be
    present."""
    have = given.type.item if isinstance(given.type, ty.Optional) else given.type
    return ty.fits(given.type, p.type) or ty.fits(have, p.type)


def _duplicates(proposal: Proposal) -> Iterator[Finding]:
    if any(f.code.endswith("TYP006") for n in proposal.nodes for f in n.faults) or any(
        f.code.endswith("TYP006") for f in proposal.faults
    ):
        return
    for name, count in Counter(n.id for n in proposal.nodes).items():
        if count > 1:
            node = [n for n in proposal.nodes if n.id == name][1]
            yield Finding(
                "CFRC-TYP006", "typing", f"`{name}` names {count} steps", "give every step a name of its own",
                where=node.span, node=name,
            )  # fmt: skip


def _node(domain: Domain, n: Call) -> Iterator[tuple[str, str, str | None]]:
    tool = domain.tools.get(n.tool)
    if tool is None:
        yield "TYP001", f"`{n.tool}` is not a tool of `{domain.name}`", did_you_mean(n.tool, domain.tools)
        return
    missing = {p.name for p in tool.params if p.name not in n.args and p.default is None}
    left_out = {f.code.removeprefix("CFRC-") for f in n.faults}
    for p in tool.params:
        if p.name in missing and not left_out:
            yield "TYP002", f"`{n.tool}` needs the argument `{p.name}`", f"its type is `{p.type}`"
        elif p.name in n.args and not usable(n.args[p.name], p):
            yield "TYP004", f"`{p.name}` is `{p.type}`, not `{n.args[p.name].type}`", None
    for name in n.args:
        if tool.param(name) is None:
            yield "TYP003", f"`{n.tool}` has no parameter `{name}`", did_you_mean(name, [p.name for p in tool.params])
    for e in (n.when, n.until, n.expect):
        yield from _guard(e)


def _guard(e: Expr | None) -> Iterator[tuple[str, str, str | None]]:
    if e is not None and not ty.fits(e.type, ty.Optional(ty.BOOL)):
        yield "TYP005", f"a condition is `bool`, not `{e.type}`", None
