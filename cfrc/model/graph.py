"""Turns a proposal into a graph H: the successor's whole remainder, closed, untrusted, possibly faulty.

``docs/semantics.md`` §1. Resolution never rejects a proposal for what admission must judge: an unknown tool, a missing
argument or a dangling name becomes a :class:`Fault` on its node, and admission turns it into a finding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from cfrc.model.expr import Expr, NodeResult, Outcome, walk
from cfrc.source import Span

Kind = Literal[
    "typing", "authority", "grounding", "binding", "dependency", "preservation", "scope", "coverage", "evidence"
]
"""The finding kinds of ``docs/semantics.md`` §3."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a proposal that was seen while resolving it."""

    kind: Kind
    code: str
    message: str
    help: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``id = tool(args) when guard after … until cond within polls polls expect cond covers …``.

    ``args`` holds the given arguments only (defaults are filled by the kernel). In ``until`` and ``expect`` the node's
    own result is ``NodeResult(node=id)``. ``polls`` is the k of ``docs/semantics.md`` (1 without ``until``).
    """

    id: str
    tool: str
    args: Mapping[str, Expr]
    when: Expr | None = None
    after: tuple[str, ...] = ()
    until: Expr | None = None
    polls: int = 1
    expect: Expr | None = None
    covers: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Terminal:
    """``done claims … after … when …`` or ``yield "reason" …``. ``after`` is ``None`` when not written: waits for all
    calls of its branch."""

    id: str
    kind: Literal["done", "yield"]
    claims: tuple[str, ...] = ()
    reason: str = ""
    when: Expr | None = None
    after: tuple[str, ...] | None = None
    faults: tuple[Fault, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal graph. ``answers`` is the contract digest it names (``None`` when it names the contract only).

    ``contract`` is the contract's name in text. ``faults`` are those that belong to no single node.
    """

    name: str
    contract: str
    nodes: tuple[Call | Terminal, ...]
    answers: str | None = None
    faults: tuple[Fault, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


def without(proposal: Proposal, ids: Collection[str]) -> Proposal:
    """The proposal without some nodes: ``check P without d``.

    The nodes are dropped from ``after`` lists. An argument or a guard that still names one refers to nothing now: it is
    left out and becomes a ``DEP001`` fault, as a dangling reference in a text does.
    """
    gone = frozenset(ids)
    kept = tuple(_cut(n, gone) for n in proposal.nodes if n.id not in gone)
    return replace(proposal, nodes=kept)


def _cut(node: Call | Terminal, gone: frozenset[str]) -> Call | Terminal:
    faults = list(node.faults)
    after = node.after if node.after is None else tuple(a for a in node.after if a not in gone)
    when = _intact(node.when, gone, faults)
    if isinstance(node, Terminal):
        return replace(node, after=after, when=when, faults=tuple(faults))
    args = {name: e for name, value in node.args.items() if (e := _intact(value, gone, faults)) is not None}
    return replace(
        node,
        args=args,
        after=after or (),
        when=when,
        until=_intact(node.until, gone, faults),
        expect=_intact(node.expect, gone, faults),
        faults=tuple(faults),
    )


def _intact(e: Expr | None, gone: frozenset[str], faults: list[Fault]) -> Expr | None:
    """The expression, or ``None`` with a fault when it names a node that is gone."""
    if e is None:
        return None
    for part in walk(e):
        if isinstance(part, NodeResult | Outcome) and part.node in gone:
            faults.append(Fault("dependency", "DEP001", f"no node `{part.node}`", None, part.span or e.span))
            return None
    return e
