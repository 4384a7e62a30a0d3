"""Turns a source text into a syntax tree and diagnostics; never raises for any text.

The parser reads one declaration after the other, each by the tables of its kind (:mod:`cfrc.lang.kinds`). A text with
errors yields a tree of what could be read: good for editors, not to be resolved.
"""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.lang.build import SharedBuilder
from cfrc.lang.core import EXPRESSION, GRAMMAR, CoreBuilder
from cfrc.lang.diagnostics import Diagnostic, in_order
from cfrc.lang.engine import Engine, Failure, TooDeep
from cfrc.lang.expected import complaint, misplaced
from cfrc.lang.kinds import ROOMS, Kind, kind_of
from cfrc.lang.lexer import MAX_COMPLAINTS, MAX_NESTING, Token, lex
from cfrc.lang.nodes import Declaration, ExprNode
from cfrc.lang.tables import END, load
from cfrc.lang.tree import File
from cfrc.source import Source, Span


class Parse:
    """One run over one source: the tokens, an engine for each kind met, and the complaints."""

    def __init__(self, source: Source, begin: int = 0, end: int | None = None) -> None:
        self.source = source
        lexed = lex(source, begin, end)
        self.tokens: Sequence[Token] = lexed.tokens
        self.comments = lexed.comments
        self.diagnostics = lexed.diagnostics
        self.engines: dict[type[SharedBuilder] | object, tuple[Engine, SharedBuilder]] = {}

    def engine(self, kind: Kind) -> Engine:
        key = (kind.grammar.path, kind.builder)
        if key not in self.engines:
            builder = kind.builder(self.source)
            tables = load(kind.grammar.path)
            self.engines[key] = Engine(tables, self.source.text, self.tokens, builder, ROOMS), builder
        return self.engines[key][0]

    def failed(self, failure: Failure) -> bool:
        self.diagnostics.append(complaint(self.source, self.tokens, failure, ROOMS))
        return len(self.diagnostics) < MAX_COMPLAINTS

    def too_deep(self, error: TooDeep) -> None:
        help = "give the inner parts names, or split the expression"
        span = Span(self.source, error.start, error.end)
        self.diagnostics.append(Diagnostic("SYN011", f"this nests deeper than {MAX_NESTING} levels", span, help))

    def declarations(self) -> list[Declaration]:
        found: list[Declaration] = []
        index = 0
        while self.tokens[index][0] != END and len(self.diagnostics) < MAX_COMPLAINTS:
            kind, text, _, _ = self.tokens[index]
            if kind != "NAME" or text not in ROOMS:
                self.diagnostics.append(misplaced(self.source, self.tokens[index], list(ROOMS)))
                index = self.next_declaration(index + 1)
                continue
            here = kind_of(text)
            engine = self.engine(here)
            resync = frozenset().union(*(engine.tables.first[name] for name in here.items))
            try:
                node, index = engine.parse(index, here.start, resync, self.failed)
            except TooDeep as error:
                self.too_deep(error)
                node, index = None, self.next_declaration(index + 1)
            if node is not None:
                found.append(node)
        return found

    def next_declaration(self, index: int) -> int:
        engine = self.engine(kind_of("import"))
        return engine.boundary(index)

    def finish(self) -> list[Diagnostic]:
        for _, builder in self.engines.values():
            builder.done()
            self.diagnostics.extend(builder.diagnostics)
        return list(in_order(self.diagnostics))


def parse_file(source: Source) -> tuple[File, list[Diagnostic]]:
    """The declarations of a file, and what is wrong with its text (in order of place)."""
    run = Parse(source)
    declarations = run.declarations()
    return File(tuple(declarations), span=Span(source, 0, len(source.text))), run.finish()


def parse_expression(
    source: Source, start: int = 0, end: int | None = None
) -> tuple[ExprNode | None, list[Diagnostic]]:
    """The one expression that a source, or the part from ``start`` to ``end`` of it, consists of.

    ``None`` exactly when there is an error.
    """
    run = Parse(source, start, end)
    builder = CoreBuilder(source)
    engine = Engine(load(GRAMMAR.path), source.text, run.tokens, builder, ())
    run.engines[EXPRESSION] = engine, builder
    value: ExprNode | None = None

    def failed(failure: Failure) -> bool:
        run.failed(failure)
        return False

    try:
        value, _ = engine.parse(0, EXPRESSION, (), failed)
    except TooDeep as error:
        run.too_deep(error)
    found = run.finish()
    return (None if found else value), found
