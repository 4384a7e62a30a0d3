"""Turns the declarations of a file into plain data: one class a clause, with the places written.

The whole vocabulary can be had from here: names, types, expressions and traversal (:mod:`cfrc.lang.nodes`) and the
parts of each declaration kind. Clauses whose order is free are stored in fields; where several of a kind are allowed,
as a tuple in written order. Optional parts that were not written are ``None`` or empty. Syntax: ``docs/language.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    Pattern,
    RecordLit,
    RecordType,
    Ref,
    StringLit,
    Subscript,
    Text,
    TimeLit,
    TypedName,
    TypeNode,
    Unary,
    Wildcard,
    children,
    walk,
)
from cfrc.lang.tree_contract import (
    AllowItem,
    ApprovalItem,
    AsOfItem,
    ContractDecl,
    ContractItem,
    DoubtItem,
    FactItem,
    HeadItem,
    LimitItem,
    NameItem,
    OriginNode,
    OwesItem,
    PolicyItem,
    RequestItem,
    Target,
    TrustItem,
    WithinItem,
)
from cfrc.lang.tree_domain import (
    ConditionClause,
    DomainDecl,
    DomainItem,
    EffectClauseNode,
    EffectDecl,
    EnumDecl,
    EnumMember,
    FlagClause,
    FluentClauseNode,
    FluentDecl,
    IdDecl,
    ParamDecl,
    RecordDecl,
    RuleDecl,
    SourceNode,
    ToolClause,
    ToolDecl,
)
from cfrc.lang.tree_flow import (
    CallStep,
    CheckDecl,
    ChoiceItem,
    ExpectedNode,
    LedgerDecl,
    ProposalDecl,
    ReceiptItem,
    TerminalStep,
)

__all__ = [
    "AbsentLit", "AllowItem", "AppliedType", "ApprovalItem", "Arg", "AsOfItem", "Binary", "BoolLit", "Call",
    "CallStep", "CheckDecl", "ChoiceItem", "ComprehensionNode", "ConditionClause", "ContractDecl", "ContractItem",
    "DateLit", "DecimalLit", "Declaration", "DomainDecl", "DomainItem", "DoubtItem", "DurationLit",
    "EffectClauseNode", "EffectDecl", "EnumDecl", "EnumMember", "ExpectedNode", "ExprNode", "FactItem", "FieldInit",
    "FieldType", "File", "FlagClause", "FluentClauseNode", "FluentDecl", "GeneratorNode", "HeadItem", "IdDecl",
    "Import", "IntLit", "LedgerDecl", "LimitItem", "ListLit", "Literal", "MapEntry", "MapLit", "Member", "Name",
    "NameItem", "NamedType", "Node", "Number", "OptionalType", "OriginNode", "OwesItem", "ParamDecl", "Pattern",
    "PolicyItem", "ProposalDecl", "ReceiptItem", "RecordDecl", "RecordLit", "RecordType", "Ref", "RequestItem",
    "RuleDecl", "SourceNode", "StringLit", "Subscript", "Target", "TerminalStep", "Text", "TimeLit", "ToolClause",
    "ToolDecl", "TrustItem", "TypeNode", "TypedName", "Unary", "Wildcard", "WithinItem", "children", "walk",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class File(Node):
    """One source file. ``declarations`` are in written order and may be of kinds that other rooms registered."""

    declarations: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Import(Declaration):
    """``import "path.cfrc"``."""

    path: Text
