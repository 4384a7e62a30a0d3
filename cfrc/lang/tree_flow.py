"""Turns ``proposal``, ``ledger`` and ``check`` declarations into plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from cfrc.lang.nodes import Arg, Declaration, ExprNode, Name, Node, Number, Pattern, Text, TimeLit, TypeNode
from cfrc.lang.tree_contract import ApprovalItem, OriginNode


@dataclass(frozen=True, slots=True)
class CallStep(Node):
    """``x = tool(a: e) [when g] [after a, b] [until c within N polls] [expect c] [covers o, p]``."""

    id: Name
    tool: Name
    args: tuple[Arg, ...]
    when: ExprNode | None = None
    after: tuple[Name, ...] | None = None
    until: ExprNode | None = None
    polls: Number | None = None
    expect: ExprNode | None = None
    covers: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class TerminalStep(Node):
    """``[end =] done [claims a, b]`` or ``yield ["reason"]``, each ``[when g] [after x]``."""

    kind: OneOf["done", "yield"]
    id: Name | None = None
    claims: tuple[Name, ...] | None = None
    reason: Text | None = None
    when: ExprNode | None = None
    after: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class ProposalDecl(Declaration):
    """``proposal good for send_receipt [answers "sha256:…"]``."""

    name: Name
    contract: Name
    answers: Text | None
    steps: tuple[CallStep | TerminalStep, ...]


@dataclass(frozen=True, slots=True)
class ReceiptItem(Node):
    """``receipt c7: tool(a: v) [-> result] STATUS [attempt 2] [by ACTOR] [at TIME]``."""

    id: Name
    call: Pattern
    status: Name
    result: ExprNode | None = None
    attempt: Number | None = None
    actor: Name | None = None
    at: TimeLit | None = None


@dataclass(frozen=True, slots=True)
class ChoiceItem(Node):
    """``accepted n: T = v [from user turn 3]``."""

    name: Name
    type: TypeNode
    value: ExprNode
    origin: OriginNode | None = None


@dataclass(frozen=True, slots=True)
class LedgerDecl(Declaration):
    """``ledger L for billing``."""

    name: Name
    domain: Name
    items: tuple[ReceiptItem | ChoiceItem | ApprovalItem, ...]


@dataclass(frozen=True, slots=True)
class ExpectedNode(Node):
    """``coverage(confirmation)``."""

    kind: Name
    subject: Name | None = None


@dataclass(frozen=True, slots=True)
class CheckDecl(Declaration):
    """``check [contract | claim …] SUBJECT … VERDICT``; ``subject`` is the proposal's or the contract's name."""

    target: OneOf["proposal", "contract", "claim"]
    subject: Name
    verdict: Name
    without: tuple[Name, ...] = ()
    against: Name | None = None
    claims: tuple[Name, ...] = ()
    only: bool = False
    expected: tuple[ExpectedNode, ...] = ()
