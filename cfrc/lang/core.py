"""Turns the declaration kinds ``import domain contract proposal ledger check`` into entries of the register."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cfrc.data import data_dir
from cfrc.lang import tree as t
from cfrc.lang.build_contract import ContractBuilder
from cfrc.lang.build_domain import DomainBuilder
from cfrc.lang.build_flow import FlowBuilder
from cfrc.lang.kinds import Grammar, Kind, Line
from cfrc.lang.tables import build

EXPRESSION = "expr"
_STARTS = {
    "import": ("import_decl", ()),
    "domain": ("domain_decl", ("domain_item", "tool_clause")),
    "contract": ("contract_decl", ("contract_opening", "contract_rest")),
    "proposal": ("proposal_decl", ("step",)),
    "ledger": ("ledger_decl", ("ledger_item",)),
    "check": ("check_decl", ()),
}


class CoreBuilder(DomainBuilder, ContractBuilder, FlowBuilder):
    """All actions of ``cfrc.lark``."""


def _build() -> dict[str, Any]:
    grammar = (data_dir("grammars") / "cfrc.lark").read_text("utf-8")
    items = [item for _, names in _STARTS.values() for item in names]
    return build(grammar, [start for start, _ in _STARTS.values()] + [EXPRESSION], items)


GRAMMAR = Grammar(Path(__file__).with_name("tables.json"), _build)


def _lines(declaration: t.Declaration) -> Iterator[Line]:
    """Items begin lines at level 1, clauses of tools at level 2; keywords of one block are padded to one width."""
    match declaration:
        case t.DomainDecl(items=items):
            for item in items:
                yield Line(item.span.start, 1)
                if isinstance(item, t.ToolDecl):
                    yield from _clauses(item)
        case t.ContractDecl(items=facts):
            # most keywords have five letters: the shorter ones line up with them
            yield from (Line(item.span.start, 1, 0 if isinstance(item, t.AsOfItem) else 5) for item in facts)
        case t.LedgerDecl(items=entries):
            yield from (Line(item.span.start, 1) for item in entries)
        case t.ProposalDecl(steps=steps):
            yield from (Line(step.span.start, 1) for step in steps)


def _clauses(tool: t.ToolDecl) -> Iterator[Line]:
    words = [_padded(clause) for clause in tool.clauses]
    width = max(map(len, words), default=0)
    for clause, word in zip(tool.clauses, words, strict=True):
        yield Line(clause.span.start, 2, width if word else 0)


def _padded(clause: t.ToolClause) -> str:
    """The first word of a clause, if something to line up follows it directly."""
    match clause:
        case t.FlagClause(kind="idempotent") | t.ConditionClause(condition=None):
            return ""
        case t.EffectClauseNode(kind="failure may cause"):
            return ""
        case t.FlagClause():
            return "causes"
    return clause.kind


def _kind(keyword: str) -> Kind:
    start, items = _STARTS[keyword]
    return Kind(keyword, start, items, GRAMMAR, CoreBuilder, _lines)


KINDS = {keyword: _kind(keyword) for keyword in _STARTS}
