"""Turns the productions of ``proposal``, ``ledger`` and ``check`` into tree nodes."""

from __future__ import annotations

from typing import Any

from cfrc.lang import tree as t
from cfrc.lang.build import Clause, SharedBuilder
from cfrc.lang.lexer import Token

Rejection = tuple[t.Name, bool, tuple[t.ExpectedNode, ...]]


class FlowBuilder(SharedBuilder):
    # --- proposal ---------------------------------------------------------------------------------------------------

    def on_proposal_decl(
        self, s: int, e: int, name: t.Name, contract: t.Name, answers: t.Text | None, *steps: Any
    ) -> t.ProposalDecl:
        return t.ProposalDecl(name, contract, answers, steps, span=self.span(s, e))

    def on_call_step(
        self, s: int, e: int, id: t.Name, tool: t.Name, args: tuple[Any, ...], *clauses: Clause
    ) -> t.CallStep:
        fields = self.clauses(clauses)
        until = fields.pop("until", None)
        if until is not None:
            fields["until"], fields["polls"] = until
        return t.CallStep(id, tool, self.plain(args), **fields, span=self.span(s, e))

    def on_named_terminal(self, s: int, e: int, id: t.Name, step: t.TerminalStep) -> t.TerminalStep:
        return t.TerminalStep(step.kind, id, step.claims, step.reason, step.when, step.after, span=self.span(s, e))

    def on_done(self, s: int, e: int, *clauses: Clause) -> t.TerminalStep:
        return t.TerminalStep("done", None, **self.clauses(clauses), span=self.span(s, e))

    def on_yield_(self, s: int, e: int, reason: t.Text | None, *clauses: Clause) -> t.TerminalStep:
        for clause in clauses:
            if clause.kind == "claims":
                help = "`yield` hands back without a claim; only `done` claims"
                self.complain("SYN016", "`claims` does not belong to `yield`", clause.span, help)
        kept = (c for c in clauses if c.kind != "claims")
        return t.TerminalStep("yield", None, reason=reason, **self.clauses(kept), span=self.span(s, e))

    def on_claims(self, s: int, e: int, names: tuple[t.Name, ...]) -> Clause:
        return Clause("claims", names, self.span(s, e))

    def on_after(self, s: int, e: int, names: tuple[t.Name, ...]) -> Clause:
        return Clause("after", names, self.span(s, e))

    def on_covers(self, s: int, e: int, names: tuple[t.Name, ...]) -> Clause:
        return Clause("covers", names, self.span(s, e))

    def on_until(self, s: int, e: int, condition: t.ExprNode, polls: t.Number) -> Clause:
        return Clause("until", (condition, polls), self.span(s, e))

    def on_expect(self, s: int, e: int, condition: t.ExprNode) -> Clause:
        return Clause("expect", condition, self.span(s, e))

    # --- ledger -----------------------------------------------------------------------------------------------------

    def on_ledger_decl(self, s: int, e: int, name: t.Name, domain: t.Name, *items: Any) -> t.LedgerDecl:
        return t.LedgerDecl(name, domain, items, span=self.span(s, e))

    def on_receipt_item(
        self,
        s: int,
        e: int,
        id: t.Name,
        call: t.Pattern,
        result: t.ExprNode | None,
        status: t.Name,
        *clauses: Clause,
    ) -> t.ReceiptItem:
        return t.ReceiptItem(id, call, status, result, **self.clauses(clauses), span=self.span(s, e))

    def on_attempt(self, s: int, e: int, number: t.Number) -> Clause:
        return Clause("attempt", number, self.span(s, e))

    def on_by(self, s: int, e: int, actor: t.Name) -> Clause:
        return Clause("actor", actor, self.span(s, e))

    def on_at(self, s: int, e: int, time: t.TimeLit) -> Clause:
        return Clause("at", time, self.span(s, e))

    def on_choice_item(
        self, s: int, e: int, name: t.Name, type: t.TypeNode, value: t.ExprNode, origin: t.OriginNode | None
    ) -> t.ChoiceItem:
        return t.ChoiceItem(name, type, value, origin, span=self.span(s, e))

    # --- check ------------------------------------------------------------------------------------------------------

    def on_check_proposal(
        self, s: int, e: int, subject: t.Name, without: tuple[t.Name, ...] | None, verdict: Rejection
    ) -> t.CheckDecl:
        word, only, expected = verdict
        return t.CheckDecl("proposal", subject, word, without or (), only=only, expected=expected, span=self.span(s, e))

    def on_check_contract(
        self, s: int, e: int, subject: t.Name, against: t.Name | None, verdict: Rejection
    ) -> t.CheckDecl:
        word, only, expected = verdict
        return t.CheckDecl("contract", subject, word, (), against, only=only, expected=expected, span=self.span(s, e))

    def on_check_claim(
        self, s: int, e: int, claims: tuple[t.Name, ...], subject: t.Name, against: t.Name, verdict: Rejection
    ) -> t.CheckDecl:
        word, only, expected = verdict
        return t.CheckDecl("claim", subject, word, (), against, claims, only, expected, span=self.span(s, e))

    def on_verdict(self, s: int, e: int, token: Token) -> Rejection:
        return t.Name(token[1], span=self.span(s, e)), False, ()

    on_contract_word = on_claim_word = on_verdict

    def on_rejection(self, s: int, e: int, word: Token, *rest: Any) -> Rejection:
        name = t.Name(word[1], span=self.span(word[2], word[3]))
        expected: tuple[t.ExpectedNode, ...] = rest[-1] if rest else ()
        return name, len(rest) == 2, expected

    def on_expectations(self, s: int, e: int, *expected: t.ExpectedNode) -> tuple[t.ExpectedNode, ...]:
        return expected

    def on_expected(self, s: int, e: int, kind: t.Name, subject: t.Name | None) -> t.ExpectedNode:
        return t.ExpectedNode(kind, subject, span=self.span(s, e))
