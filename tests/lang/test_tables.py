"""The tables that are shipped are those of the grammar, which has no conflict, and every action has its method."""

from __future__ import annotations

import json

import pytest

from cfrc.data import data_dir
from cfrc.lang.core import EXPRESSION, GRAMMAR, KINDS, CoreBuilder
from cfrc.lang.kinds import ROOMS, kind_of
from cfrc.lang.lexer import _TOKEN
from cfrc.lang.tables import LIST, PASS, build, load
from cfrc.source import Source


def grammar() -> str:
    return (data_dir("grammars") / "cfrc.lark").read_text("utf-8")


def test_the_shipped_tables_are_those_of_the_grammar_built_strictly() -> None:
    assert json.loads(GRAMMAR.path.read_text("utf-8")) == GRAMMAR.build(), "run python -m cfrc.lang.tables"


def test_a_conflict_is_an_error_and_not_resolved_silently() -> None:
    from lark.exceptions import GrammarError

    ambiguous = 'start: "a" start "b" start | "a" start | "c"'
    with pytest.raises(GrammarError, match="Shift/Reduce"):
        build(ambiguous, ["start"], [])


def test_rules_may_not_be_empty() -> None:
    with pytest.raises(ValueError, match="may be empty"):
        build('start: "a" part\npart: "b"?', ["start"], [])


def test_every_action_has_a_method_and_every_method_an_action() -> None:
    actions = {f"on_{r.action}" for r in load(GRAMMAR.path).rules if r.action not in (PASS, LIST)}
    methods = {name for name in dir(CoreBuilder) if name.startswith("on_")}
    assert actions == methods


def test_every_registered_keyword_has_its_kind_and_start() -> None:
    for keyword in ROOMS:
        kind = kind_of(keyword)
        tables = load(kind.grammar.path)
        assert kind.keyword == keyword and kind.start in tables.starts
        assert keyword in tables.actions[tables.starts[kind.start]]
        assert all(tables.first[item] for item in kind.items)
    assert set(KINDS) <= set(ROOMS) and EXPRESSION in load(GRAMMAR.path).starts


def test_the_lexer_knows_the_tokens_of_the_grammar() -> None:
    tables = load(GRAMMAR.path)
    terminals = {t for row in tables.actions for t in row}
    patterns = {t for t in terminals if t.isupper() and t != "_"}
    assert patterns - {"$END"} <= set(_TOKEN.groupindex)
    for terminal in terminals - patterns - {"$END"}:
        m = _TOKEN.fullmatch(terminal)
        assert m is not None and m.lastgroup in ("OP", "NAME"), terminal


def test_lark_itself_reads_what_the_parser_reads() -> None:
    """The grammar is complete by itself: its own (contextual) lexer accepts the design's example, part by part."""
    from lark import Lark

    from cfrc.lang.parse import parse_file
    from tests.lang.texts import DESIGN

    starts = [kind.start for kind in KINDS.values()]
    parser = Lark(grammar(), parser="lalr", start=starts, maybe_placeholders=True)
    file, _ = parse_file(Source("x", DESIGN))
    for declaration, keyword in zip(
        file.declarations, ["domain", "contract", "proposal", "check", "check"], strict=True
    ):
        parser.parse(declaration.span.text, start=KINDS[keyword].start)
