"""Turns the productions of ``domain`` into tree nodes."""

from __future__ import annotations

from typing import Any

from cfrc.lang import tree as t
from cfrc.lang.build import Clause, SharedBuilder
from cfrc.lang.lexer import Token


class DomainBuilder(SharedBuilder):
    def on_import_decl(self, s: int, e: int, path: t.Text) -> t.Import:
        return t.Import(path, span=self.span(s, e))

    def on_domain_decl(self, s: int, e: int, name: t.Name, *items: t.DomainItem) -> t.DomainDecl:
        return t.DomainDecl(name, items, span=self.span(s, e))

    def on_id_decl(self, s: int, e: int, names: tuple[t.Name, ...], canonical: tuple[t.Name, ...] | None) -> t.IdDecl:
        return t.IdDecl(names, canonical or (), span=self.span(s, e))

    def on_enum_decl(self, s: int, e: int, name: t.Name, *members: t.EnumMember) -> t.EnumDecl:
        return t.EnumDecl(name, members, span=self.span(s, e))

    def on_enum_member(self, s: int, e: int, name: t.Name, wire: t.Text | None) -> t.EnumMember:
        return t.EnumMember(name, wire, span=self.span(s, e))

    def on_record_decl(self, s: int, e: int, name: t.Name, type: t.RecordType) -> t.RecordDecl:
        return t.RecordDecl(name, type, span=self.span(s, e))

    def on_fluent_decl(
        self, s: int, e: int, name: t.Name, params: tuple[t.TypedName, ...] | None, type: t.TypeNode, volatile: Any
    ) -> t.FluentDecl:
        return t.FluentDecl(name, params or (), type, bool(volatile), span=self.span(s, e))

    def on_effect_decl(
        self, s: int, e: int, name: t.Name, params: tuple[t.TypedName, ...], once: Any, key: tuple[t.Name, ...] | None
    ) -> t.EffectDecl:
        return t.EffectDecl(name, params, bool(once), key, span=self.span(s, e))

    def on_rule_decl(self, s: int, e: int, name: t.Name, when: t.Pattern, owes: t.Pattern) -> t.RuleDecl:
        return t.RuleDecl(name, when, owes, span=self.span(s, e))

    # --- tools ------------------------------------------------------------------------------------------------------

    def on_tool_kind(self, s: int, e: int, token: Token) -> str:
        return token[1]

    def on_params(self, s: int, e: int, *params: t.ParamDecl) -> tuple[t.ParamDecl, ...]:
        return params

    def on_tool_decl(
        self,
        s: int,
        e: int,
        kind: Any,
        name: t.Name,
        params: tuple[t.ParamDecl, ...],
        actor: t.Name | None,
        result: t.TypeNode | None,
        grounds_nothing: Any,
        *clauses: t.ToolClause,
    ) -> t.ToolDecl:
        return t.ToolDecl(kind, name, params, actor, result, bool(grounds_nothing), clauses, span=self.span(s, e))

    def on_param(self, s: int, e: int, name: t.Name, type: t.TypeNode, *clauses: Clause) -> t.ParamDecl:
        return t.ParamDecl(name, type, **self.clauses(clauses), span=self.span(s, e))

    def on_sources(self, s: int, e: int, *sources: t.SourceNode) -> Clause:
        return Clause("sources", sources, self.span(s, e))

    def on_free(self, s: int, e: int) -> Clause:
        return Clause("free", True, self.span(s, e))

    def on_unquoted(self, s: int, e: int) -> Clause:
        return Clause("unquoted", True, self.span(s, e))

    def on_default(self, s: int, e: int, value: t.ExprNode) -> Clause:
        return Clause("default", value, self.span(s, e))

    def on_user_source(self, s: int, e: int) -> t.SourceNode:
        return t.SourceNode("user", span=self.span(s, e))

    def on_receipt_source(self, s: int, e: int, path: tuple[t.Name, ...] | None) -> t.SourceNode:
        return t.SourceNode("receipt", None, path or (), span=self.span(s, e))

    def on_tool_source(self, s: int, e: int, tool: t.Name, path: tuple[t.Name, ...] | None) -> t.SourceNode:
        return t.SourceNode("tool", tool, path or (), span=self.span(s, e))

    def on_quoted_source(self, s: int, e: int, source: t.SourceNode) -> t.SourceNode:
        return t.SourceNode(source.kind, source.tool, source.path, True, span=self.span(s, e))

    # --- clauses of tools -------------------------------------------------------------------------------------------

    def on_condition_clause(self, s: int, e: int, word: Any, condition: t.ExprNode) -> t.ConditionClause:
        return t.ConditionClause(word[1], condition, span=self.span(s, e))

    def on_approved_clause(self, s: int, e: int, word: Token, *when: Any) -> t.ConditionClause:
        return t.ConditionClause("approved", when[-1] if when else None, span=self.span(s, e))

    def on_idempotent(self, s: int, e: int, word: Token) -> t.FlagClause:
        return t.FlagClause("idempotent", span=self.span(s, e))

    def on_causes_nothing(self, s: int, e: int, *words: Token) -> t.FlagClause:
        return t.FlagClause("causes nothing", span=self.span(s, e))

    def on_fluent_clause(
        self, s: int, e: int, word: Any, target: t.Pattern, equals: Token, value: t.ExprNode, *modifiers: Any
    ) -> t.FluentClauseNode:
        when, generators = self.modifiers(modifiers)
        return t.FluentClauseNode(word[1], target, value, when, generators, span=self.span(s, e))

    def on_effect_clause(self, s: int, e: int, word: Any, effect: t.Pattern, *modifiers: Any) -> t.EffectClauseNode:
        when, generators = self.modifiers(modifiers)
        return t.EffectClauseNode(word[1], effect, when, generators, span=self.span(s, e))

    def on_failure_clause(
        self, s: int, e: int, failure: Token, may: Token, cause: Token, effect: t.Pattern, *modifiers: Any
    ) -> t.EffectClauseNode:
        when, generators = self.modifiers(modifiers)
        return t.EffectClauseNode("failure may cause", effect, when, generators, span=self.span(s, e))

    def modifiers(
        self, parts: tuple[Clause | t.GeneratorNode, ...]
    ) -> tuple[t.ExprNode | None, tuple[t.GeneratorNode, ...]]:
        """``when`` at most once, ``for`` any number of times, in any order."""
        fields = self.clauses(p for p in parts if isinstance(p, Clause))
        return fields.get("when"), tuple(p for p in parts if isinstance(p, t.GeneratorNode))
