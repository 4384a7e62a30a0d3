"""Turns the productions of ``contract`` into tree nodes; ledgers share origins and approvals with it."""

from __future__ import annotations

from typing import Any

from cfrc.lang import tree as t
from cfrc.lang.build import Clause, SharedBuilder
from cfrc.lang.lexer import Token


class ContractBuilder(SharedBuilder):
    def on_contract_decl(self, s: int, e: int, name: t.Name, domain: t.Name, *items: t.ContractItem) -> t.ContractDecl:
        return t.ContractDecl(name, domain, items, span=self.span(s, e))

    def on_request_item(self, s: int, e: int, text: t.Text) -> t.RequestItem:
        return t.RequestItem(text, span=self.span(s, e))

    def on_policy_item(self, s: int, e: int, version: t.Text) -> t.PolicyItem:
        return t.PolicyItem(version, span=self.span(s, e))

    def on_as_of_item(self, s: int, e: int, when: t.DateLit | t.TimeLit) -> t.AsOfItem:
        return t.AsOfItem(when, span=self.span(s, e))

    def on_head_item(self, s: int, e: int, head: t.Text) -> t.HeadItem:
        return t.HeadItem(head, span=self.span(s, e))

    # --- facts ------------------------------------------------------------------------------------------------------

    def on_name_kind(self, s: int, e: int, token: Token) -> str:
        return token[1]

    on_fact_kind = on_approval_kind = on_name_kind

    def on_targets(self, s: int, e: int, *targets: t.Target) -> tuple[t.Target, ...]:
        return targets

    def on_name_item(
        self,
        s: int,
        e: int,
        kind: Any,
        name: t.Name,
        type: t.TypeNode,
        value: t.ExprNode,
        targets: tuple[t.Target, ...] | None,
        origin: t.OriginNode | None,
    ) -> t.NameItem:
        return t.NameItem(kind, name, type, value, targets or (), origin, span=self.span(s, e))

    def on_fact_item(
        self, s: int, e: int, kind: Any, subject: t.Pattern, value: t.ExprNode | None, origin: t.OriginNode | None
    ) -> t.FactItem:
        if kind == "holds" and value is None:
            self.complain("SYN015", "`holds` needs a value", subject.span, "write `holds fluent(args) == value`")
        return t.FactItem(kind, subject, value, origin, span=self.span(s, e))

    def on_doubt_item(
        self, s: int, e: int, effect: t.Pattern, call: t.Pattern | None, origin: t.OriginNode | None
    ) -> t.DoubtItem:
        return t.DoubtItem(effect, call, origin, span=self.span(s, e))

    # --- obligations ------------------------------------------------------------------------------------------------

    def on_label(self, s: int, e: int, name: t.Name) -> t.Name:
        return name

    def on_goal(self, s: int, e: int, goal: t.ExprNode) -> dict[str, Any]:
        return {"goals": (goal,)}

    def on_goal_count(self, s: int, e: int, count: t.Number, goal: t.ExprNode) -> dict[str, Any]:
        return {"goals": (goal,), "count": count}

    def on_goal_one(self, s: int, e: int, *goals: t.ExprNode) -> dict[str, Any]:
        return {"goals": goals, "choice": "one"}

    def on_goal_any(self, s: int, e: int, *goals: t.ExprNode) -> dict[str, Any]:
        return {"goals": goals, "choice": "any"}

    def on_owes_item(self, s: int, e: int, name: t.Name | None, goal: dict[str, Any], *clauses: Clause) -> t.OwesItem:
        return t.OwesItem(name, **goal, **self.clauses(clauses), span=self.span(s, e))

    def on_exists(self, s: int, e: int, *names: t.TypedName) -> Clause:
        return Clause("exists", names, self.span(s, e))

    def on_where(self, s: int, e: int, condition: t.ExprNode) -> Clause:
        return Clause("where", condition, self.span(s, e))

    def on_if_clause(self, s: int, e: int, condition: t.ExprNode) -> Clause:
        return Clause("condition", condition, self.span(s, e))

    def on_before(self, s: int, e: int, names: tuple[t.Name, ...]) -> Clause:
        return Clause("before", names, self.span(s, e))

    def on_shared(self, s: int, e: int) -> Clause:
        return Clause("shared", True, self.span(s, e))

    def on_origin_clause(self, s: int, e: int, origin: t.OriginNode) -> Clause:
        return Clause("origin", origin, origin.span)

    # --- scope, limits, approvals -----------------------------------------------------------------------------------

    def on_allow_item(self, s: int, e: int, tools: tuple[t.Name, ...]) -> t.AllowItem:
        return t.AllowItem(tools, span=self.span(s, e))

    def on_patterns(self, s: int, e: int, *patterns: t.Pattern) -> tuple[t.Pattern, ...]:
        return patterns

    def on_within_tool(self, s: int, e: int, tools: tuple[t.Name, ...]) -> t.WithinItem:
        return t.WithinItem((), tools, span=self.span(s, e))

    def on_within_item(self, s: int, e: int, patterns: tuple[t.Pattern, ...], *clauses: Clause) -> t.WithinItem:
        return t.WithinItem(patterns, **self.clauses(clauses), span=self.span(s, e))

    def on_limit_sum(self, s: int, e: int, amount: t.ExprNode, effect: t.Pattern, bound: t.ExprNode) -> t.LimitItem:
        return t.LimitItem("sum", amount, effect, bound, span=self.span(s, e))

    def on_limit_count(self, s: int, e: int, effect: t.Pattern, bound: t.ExprNode) -> t.LimitItem:
        return t.LimitItem("count", None, effect, bound, span=self.span(s, e))

    def on_approval_item(self, s: int, e: int, kind: Any, call: t.Pattern, *clauses: Clause) -> t.ApprovalItem:
        return t.ApprovalItem(kind, call, **self.clauses(clauses), span=self.span(s, e))

    def on_policy_clause(self, s: int, e: int, version: t.Text) -> Clause:
        return Clause("policy", version, self.span(s, e))

    def on_expires(self, s: int, e: int, when: t.DateLit | t.TimeLit) -> Clause:
        return Clause("expires", when, self.span(s, e))

    def on_trust_item(self, s: int, e: int, call: t.Pattern, target: t.Target) -> t.TrustItem:
        return t.TrustItem(call, target, span=self.span(s, e))

    # --- origins ----------------------------------------------------------------------------------------------------

    def on_user_origin(self, s: int, e: int, turn: t.Number | None) -> t.OriginNode:
        return t.OriginNode("user", turn, span=self.span(s, e))

    def on_policy_origin(self, s: int, e: int) -> t.OriginNode:
        return t.OriginNode("policy", span=self.span(s, e))

    def on_receipt_origin(
        self, s: int, e: int, receipt: t.Name, path: tuple[t.Name, ...] | None, *clauses: Clause | t.Name
    ) -> t.OriginNode:
        parts = (c if isinstance(c, Clause) else Clause("status", c, c.span) for c in clauses)
        fields = self.clauses(parts)
        return t.OriginNode("receipt", None, receipt, path or (), **fields, span=self.span(s, e))

    def on_of_call(self, s: int, e: int, call: t.Pattern) -> Clause:
        return Clause("call", call, self.span(s, e))

    def on_quoted_range(self, s: int, e: int, first: t.Number, last: t.Number) -> Clause:
        return Clause("quoted", (first, last), self.span(s, e))

    def on_status(self, s: int, e: int, token: Token) -> t.Name:
        return t.Name(token[1], span=self.span(s, e))
