"""Turns the declaration kinds ``import domain contract proposal ledger check`` into entries of the register."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cfrc.data import data_dir
from cfrc.lang import tree as t
from cfrc.lang.build_contract import ContractBuilder
from cfrc.lang.build_domain import DomainBuilder
from cfrc.lang.build_flow import FlowBuilder
from cfrc.lang.kinds import Grammar, Kind
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


def _lines(declaration: t.Declaration) -> Iterator[tuple[int, int]]:
    """Items begin lines at level 1, clauses of tools at level 2."""
    items: tuple[t.Node, ...] = ()
    match declaration:
        case t.DomainDecl(items=found) | t.ContractDecl(items=found) | t.LedgerDecl(items=found):
            items = found
        case t.ProposalDecl(steps=steps):
            items = steps
    for item in items:
        yield item.span.start, 1
        if isinstance(item, t.ToolDecl):
            for clause in item.clauses:
                yield clause.span.start, 2


def _kind(keyword: str, layout: Callable[[t.Declaration], Iterator[tuple[int, int]]] = _lines) -> Kind:
    start, items = _STARTS[keyword]
    return Kind(keyword, start, items, GRAMMAR, CoreBuilder, layout)


KINDS = {keyword: _kind(keyword) for keyword in _STARTS}
