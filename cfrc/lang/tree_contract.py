"""Turns the items of ``contract`` into plain data; ledgers share origins and approvals with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from cfrc.lang.nodes import (
    DateLit,
    Declaration,
    ExprNode,
    Name,
    Node,
    Number,
    Pattern,
    Text,
    TimeLit,
    TypedName,
    TypeNode,
)


@dataclass(frozen=True, slots=True)
class OriginNode(Node):
    """``from user [turn 3]``, ``from policy``, ``from receipt c7[.path] [of tool[(args)]] [quoted 2..9] [unknown]``."""

    kind: OneOf["user", "receipt", "policy"]
    turn: Number | None = None
    receipt: Name | None = None
    path: tuple[Name, ...] = ()
    call: Pattern | None = None
    quoted: tuple[Number, Number] | None = None
    status: Name | None = None


@dataclass(frozen=True, slots=True)
class Target(Node):
    """``tool.param``."""

    tool: Name
    param: Name


@dataclass(frozen=True, slots=True)
class RequestItem(Node):
    """``request "…"``."""

    text: Text


@dataclass(frozen=True, slots=True)
class PolicyItem(Node):
    """``policy "v2"``: the policy version in force."""

    version: Text


@dataclass(frozen=True, slots=True)
class AsOfItem(Node):
    """``as of 2026-11-30``."""

    when: DateLit | TimeLit


@dataclass(frozen=True, slots=True)
class HeadItem(Node):
    """``head "…"``: the ledger head at the freeze."""

    head: Text


@dataclass(frozen=True, slots=True)
class NameItem(Node):
    """``fixed`` (a binding) or ``known n: T = v [for tool.param, …] [from …]``."""

    kind: OneOf["fixed", "known"]
    name: Name
    type: TypeNode
    value: ExprNode
    targets: tuple[Target, ...] = ()
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class FactItem(Node):
    """``kept E(args)`` (``value`` is ``None``), ``kept f(x) == v``, ``holds f(x) == v``, each ``[from …]``."""

    kind: OneOf["kept", "holds"]
    subject: Pattern
    value: ExprNode | None = None
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class DoubtItem(Node):
    """``doubt E(args) [by tool(arg: v)] [from …]``."""

    effect: Pattern
    call: Pattern | None = None
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class OwesItem(Node):
    """``owes [name:] [N of | one of | any of] GOAL… [exists …] [where …] [if …] [before …] [shared] [from …]``.

    ``goals`` are expressions (one, unless ``choice`` is ``one`` or ``any``): a :class:`Call` may turn out to be an
    effect pattern, with :class:`Wildcard` arguments, or a state condition.
    """

    name: Name | None
    goals: tuple[ExprNode, ...]
    choice: OneOf["all", "one", "any"] = "all"
    count: Number | None = None
    exists: tuple[TypedName, ...] = ()
    where: ExprNode | None = None
    condition: ExprNode | None = None
    before: tuple[Name, ...] = ()
    shared: bool = False
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class AllowItem(Node):
    """``allow a, b``."""

    tools: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class WithinItem(Node):
    """``within P, Q [exists n: T] [where c]`` (the clauses go for each pattern), or ``within tool t, u``."""

    patterns: tuple[Pattern, ...] = ()
    tools: tuple[Name, ...] = ()
    exists: tuple[TypedName, ...] = ()
    where: ExprNode | None = None


@dataclass(frozen=True, slots=True)
class LimitItem(Node):
    """``limit sum(a) of e(_, a) <= 98.70``, ``limit count of e(_) <= 1``; ``amount`` is ``None`` for ``count``."""

    kind: OneOf["sum", "count"]
    amount: ExprNode | None
    effect: Pattern
    bound: ExprNode


@dataclass(frozen=True, slots=True)
class ApprovalItem(Node):
    """``approved`` or ``denied tool(args) [policy "v2"] [expires DATE] [from …]`` (in contracts and ledgers)."""

    kind: OneOf["approved", "denied"]
    call: Pattern
    policy: Text | None = None
    expires: DateLit | TimeLit | None = None
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class TrustItem(Node):
    """``trust tool(args) for tool.param``."""

    call: Pattern
    target: Target


ContractItem = (
    RequestItem
    | PolicyItem
    | AsOfItem
    | HeadItem
    | NameItem
    | FactItem
    | DoubtItem
    | OwesItem
    | AllowItem
    | WithinItem
    | LimitItem
    | ApprovalItem
    | TrustItem
)


@dataclass(frozen=True, slots=True)
class ContractDecl(Declaration):
    name: Name
    domain: Name
    items: tuple[ContractItem, ...]
