"""Turns a proposal into a graph H: the successor's whole remainder, closed, untrusted, possibly faulty.

``semantics.md`` §1. Resolution never rejects a proposal for what admission must judge: an unknown tool, a missing
argument or a dangling name becomes a :class:`Fault` on its node, and admission turns it into a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model.expr import Expr
from cfrc.source import Span

Kind = Literal[
    "typing", "authority", "grounding", "binding", "dependency", "preservation", "scope", "coverage", "evidence"
]
"""The finding kinds of ``semantics.md`` §3."""


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
    own result is ``NodeResult(node=id)``. ``polls`` is the k of ``semantics.md`` (1 without ``until``).
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
    """``done claims … after … when …`` or ``yield "reason" …``. ``after`` is ``None`` when not written: waits for all calls of its branch."""

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
