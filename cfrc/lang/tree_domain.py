"""Turns the items of ``domain`` and the clauses of its tools into plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from cfrc.lang.nodes import (
    Declaration,
    ExprNode,
    GeneratorNode,
    Name,
    Node,
    Pattern,
    RecordType,
    Text,
    TypedName,
    TypeNode,
)


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
