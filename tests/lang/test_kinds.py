"""A later room adds a declaration kind of its own without touching the others: grammar, tables, builder, layout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from cfrc.data import data_dir
from cfrc.lang import kinds
from cfrc.lang.build import SharedBuilder
from cfrc.lang.core import CoreBuilder
from cfrc.lang.format import format_file
from cfrc.lang.kinds import Grammar, Kind, Line
from cfrc.lang.nodes import Declaration, ExprNode, Name, Node, StringLit, walk
from cfrc.lang.parse import parse_file
from cfrc.lang.tables import build
from cfrc.source import Source

GATE = """
gate_decl: "gate" name gate_item*
gate_item: "on" expr "->" name -> gate_rule
         | "otherwise" "->" name -> gate_rest
"""


@dataclass(frozen=True, slots=True)
class GateRule(Node):
    condition: ExprNode | None
    then: Name


@dataclass(frozen=True, slots=True)
class GateDecl(Declaration):
    name: Name
    rules: tuple[GateRule, ...]


class GateBuilder(CoreBuilder):
    def on_gate_decl(self, s: int, e: int, name: Name, *rules: GateRule) -> GateDecl:
        return GateDecl(name, rules, span=self.span(s, e))

    def on_gate_rule(self, s: int, e: int, condition: ExprNode, then: Name) -> GateRule:
        return GateRule(condition, then, span=self.span(s, e))

    def on_gate_rest(self, s: int, e: int, then: Name) -> GateRule:
        return GateRule(None, then, span=self.span(s, e))


def layout(declaration: Declaration) -> Iterator[Line]:
    assert isinstance(declaration, GateDecl)
    return (Line(rule.span.start, 1, 9) for rule in declaration.rules)


@pytest.fixture
def gate_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = (data_dir("grammars") / "cfrc.lark").read_text("utf-8") + GATE
    path = tmp_path / "gate.json"
    tables = Grammar(path, lambda: build(grammar, ["gate_decl"], ["gate_item"]))
    path.write_text(json.dumps(tables.build()), "utf-8")
    room = ModuleType("gate_room")
    room.KINDS = {"gate": Kind("gate", "gate_decl", ("gate_item",), tables, GateBuilder, layout)}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gate_room", room)
    monkeypatch.setattr(kinds, "ROOMS", {**kinds.ROOMS, "gate": "gate_room"})
    monkeypatch.setattr("cfrc.lang.parse.ROOMS", kinds.ROOMS)


@pytest.mark.usefixtures("gate_room")
def test_a_new_kind_parses_formats_and_reports_like_the_others() -> None:
    text = 'check p admits gate g on x == "a" -> stop otherwise -> go\ndomain d id gate'
    file, found = parse_file(Source("x", text))
    assert not found
    assert [type(d).__name__ for d in file.declarations] == ["CheckDecl", "GateDecl", "DomainDecl"]
    gate = file.declarations[1]
    assert isinstance(gate, GateDecl) and len(gate.rules) == 2
    assert any(isinstance(n, StringLit) for n in walk(gate))
    assert format_file(Source("x", text))[0] == (
        'check p admits\ngate g\n    on        x == "a" -> stop\n    otherwise -> go\ndomain d\n    id gate\n'
    )
    _, found = parse_file(Source("x", "gate g\n    onn x -> y\n    otherwise stop\ngat h"))
    assert [(d.code, d.span and d.span.line) for d in found] == [("SYN001", 2), ("SYN001", 3), ("SYN002", 4)]
    assert found[2].help == "did you mean `gate`?"


def test_every_kind_derives_from_declaration_and_builds_with_a_shared_builder() -> None:
    for keyword in kinds.ROOMS:
        assert issubclass(kinds.kind_of(keyword).builder, SharedBuilder)  # type: ignore[arg-type]
