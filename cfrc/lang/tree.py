"""Turns the declarations of a file into plain data: one class a clause, in the order and with the places written.

The shared parts (names, types, expressions, traversal) are in :mod:`cfrc.lang.nodes` and re-exported here. Clauses
whose order is free are stored in fields; where several of a kind are allowed, as a tuple in written order. Optional
parts that were not written are ``None`` or empty. Syntax: ``design.md`` §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from cfrc.lang.nodes import (
    AbsentLit,
    AppliedType,
    Arg,
    Binary,
    BoolLit,
    Call,
    ComprehensionNode,
    DateLit,
    DecimalLit,
    Declaration,
    DurationLit,
    ExprNode,
    FieldInit,
    FieldType,
    GeneratorNode,
    IntLit,
    ListLit,
    Literal,
    MapEntry,
    MapLit,
    Member,
    Name,
    NamedType,
    Node,
    Number,
    OptionalType,
    RecordLit,
    RecordType,
    Ref,
    StringLit,
    Subscript,
    Text,
    TimeLit,
    TypeNode,
    Unary,
    Wildcard,
    children,
    walk,
)

__all__ = [
    "AbsentLit", "AppliedType", "Arg", "Binary", "BoolLit", "Call", "ComprehensionNode", "DateLit", "DecimalLit",
    "Declaration", "DurationLit", "ExprNode", "FieldInit", "FieldType", "GeneratorNode", "IntLit", "ListLit",
    "Literal", "MapEntry", "MapLit", "Member", "Name", "NamedType", "Node", "Number", "OptionalType", "RecordLit",
    "RecordType", "Ref", "StringLit", "Subscript", "Text", "TimeLit", "TypeNode", "Unary", "Wildcard", "children",
    "walk",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class File(Node):
    """One source file. ``declarations`` are in written order and may be of kinds that other rooms registered."""

    declarations: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Import(Declaration):
    """``import "path.cfrc"``."""

    path: Text


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``paid(invoice, _)`` or a bare ``roaming``: an effect, a fluent or a tool with arguments; resolution decides.

    ``args`` is ``None`` when no parentheses are written. Arguments may be :class:`Wildcard` and may be named.
    """

    name: Name
    args: tuple[Arg, ...] | None = None


@dataclass(frozen=True, slots=True)
class TypedName(Node):
    """``n: T`` (a parameter of an effect or a fluent, an existential)."""

    name: Name
    type: TypeNode


# --- domain ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IdDecl(Node):
    """``id File, Txn canonical trim, lower``."""

    names: tuple[Name, ...]
    canonical: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class EnumMember(Node):
    """``void = "voided"``; ``wire`` is ``None`` when the tool spells it as the name."""

    name: Name
    wire: Text | None = None


@dataclass(frozen=True, slots=True)
class EnumDecl(Node):
    name: Name
    members: tuple[EnumMember, ...]


@dataclass(frozen=True, slots=True)
class RecordDecl(Node):
    """``record Address { line: string }``."""

    name: Name
    type: RecordType


@dataclass(frozen=True, slots=True)
class FluentDecl(Node):
    name: Name
    params: tuple[TypedName, ...]
    type: TypeNode
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class EffectDecl(Node):
    """``effect paid(invoice: Invoice) once key invoice``; ``key`` is ``None`` when not written."""

    name: Name
    params: tuple[TypedName, ...]
    once: bool = False
    key: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class SourceNode(Node):
    """One alternative after a parameter's ``from``. ``tool`` is set iff ``kind`` is ``tool``; ``path`` may be empty."""

    kind: OneOf["user", "tool", "receipt"]
    tool: Name | None = None
    path: tuple[Name, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ParamDecl(Node):
    """A tool's parameter; ``sources`` is ``None`` when no ``from`` is written."""

    name: Name
    type: TypeNode
    sources: tuple[SourceNode, ...] | None = None
    free: bool = False
    unquoted: bool = False
    default: ExprNode | None = None


@dataclass(frozen=True, slots=True)
class ConditionClause(Node):
    """``requires c``, ``ensures c``, or ``approved [when c]`` (``condition`` is ``None`` without ``when``)."""

    kind: OneOf["requires", "ensures", "approved"]
    condition: ExprNode | None


@dataclass(frozen=True, slots=True)
class FluentClauseNode(Node):
    """``sets`` or ``observes TARGET = value [when c] [for m in xs]``."""

    kind: OneOf["sets", "observes"]
    target: Pattern
    value: ExprNode
    when: ExprNode | None = None
    generators: tuple[GeneratorNode, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectClauseNode(Node):
    """``causes``, ``undoes``, ``witnesses``, ``refutes`` or ``failure may cause EFFECT [when c] [for m in xs]``."""

    kind: OneOf["causes", "undoes", "witnesses", "refutes", "failure may cause"]
    effect: Pattern
    when: ExprNode | None = None
    generators: tuple[GeneratorNode, ...] = ()


@dataclass(frozen=True, slots=True)
class FlagClause(Node):
    """``causes nothing`` or ``idempotent``."""

    kind: OneOf["causes nothing", "idempotent"]


ToolClause = ConditionClause | FluentClauseNode | EffectClauseNode | FlagClause


@dataclass(frozen=True, slots=True)
class ToolDecl(Node):
    """``read | write name(params) [by ACTOR] [-> T] [grounds nothing]`` and its clauses in written order."""

    kind: OneOf["read", "write"]
    name: Name
    params: tuple[ParamDecl, ...]
    actor: Name | None = None
    result: TypeNode | None = None
    grounds_nothing: bool = False
    clauses: tuple[ToolClause, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleDecl(Node):
    """``rule name: paid(i, _) owes sent(_, payer(i))``."""

    name: Name
    when: Pattern
    owes: Pattern


DomainItem = IdDecl | EnumDecl | RecordDecl | FluentDecl | EffectDecl | ToolDecl | RuleDecl


@dataclass(frozen=True, slots=True)
class DomainDecl(Declaration):
    name: Name
    items: tuple[DomainItem, ...]


# --- contract -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OriginNode(Node):
    """``from user [turn 3]``, ``from policy``, ``from receipt c7[.path] [of tool] [quoted 271..293] [unknown]``."""

    kind: OneOf["user", "receipt", "policy"]
    turn: Number | None = None
    receipt: Name | None = None
    path: tuple[Name, ...] = ()
    tool: Name | None = None
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
    """``within P, Q [exists n: T] [where c]`` (``exists`` and ``where`` go for each pattern), or ``within tool t, u``."""

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


# --- proposal, ledger, check ----------------------------------------------------------------------------------------


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
