"""Turns a source text into the same text in the house layout: same tokens, same comments, so the same meaning.

Works on tokens, not on the tree: nothing can be lost. The tree only tells which parts begin a line (a kind's
``layout``). Blank lines are kept, at most one in a row. Formatting twice changes nothing more.
"""

from __future__ import annotations

from bisect import bisect_left

from cfrc.lang.diagnostics import Diagnostic, has_errors
from cfrc.lang.kinds import Line, kind_of
from cfrc.lang.parse import Parse
from cfrc.lang.pretty import INDENT, Printer
from cfrc.lang.tables import END
from cfrc.source import Source


def format_source(source: Source) -> str:
    """The formatted text; the text itself, untouched, if it has syntax errors."""
    return format_file(source)[0]


def format_file(source: Source) -> tuple[str, list[Diagnostic]]:
    """The formatted text and no errors, or the untouched text and what is wrong with it."""
    run = Parse(source)
    declarations = run.declarations()
    diagnostics = run.finish()
    if has_errors(diagnostics):
        return source.text, diagnostics
    lines: list[Line] = []
    for declaration in declarations:
        start = declaration.span.start
        keyword = run.tokens[bisect_left(run.tokens, start, key=lambda t: t[2])][1]
        lines.append(Line(start, 0))
        lines.extend(kind_of(keyword).layout(declaration))
    return _Layout(run, sorted(lines, key=lambda line: line.offset)).write(), diagnostics


class _Layout:
    """The whole file: lines by lines, with the comments and blank lines between them."""

    def __init__(self, run: Parse, lines: list[Line]) -> None:
        self.text, self.tokens, self.lines = run.source.text, run.tokens, lines
        names = {i for engine, _ in run.engines.values() for i in engine.names}
        self.before: dict[int, list[tuple[int, int]]] = {}
        trailing: dict[int, str] = {}
        starts = [t[2] for t in run.tokens]
        for start, end in run.comments:
            following = bisect_left(starts, start)
            if following and self.text.find("\n", run.tokens[following - 1][3], start) < 0:
                trailing[following - 1] = self.text[start:end].rstrip()
            else:
                self.before.setdefault(following, []).append((start, end))
        self.first = [bisect_left(starts, line.offset) for line in lines]
        begins = set(self.first) | {len(run.tokens) - 1}
        leading = {
            i: [self.text[s:e].rstrip() for s, e in found] for i, found in self.before.items() if i not in begins
        }
        self.printer = Printer(run.tokens, names, self.text, trailing, leading)

    def write(self) -> str:
        printer, level = self.printer, 0
        ends = [*self.first[1:], len(self.tokens) - 1][: len(self.first)]
        for line, start, end in zip(self.lines, self.first, ends, strict=True):
            self.comments(start, level, line.level)
            self.blank(self.tokens[start][2])
            level = line.level
            printer.newline(level * INDENT)
            self.line(line, start, end)
        printer.newline(0)
        assert self.tokens[-1][0] == END
        self.comments(len(self.tokens) - 1, level, 0)
        printer.newline(0)
        return "".join(line + "\n" for line in printer.lines)

    def line(self, line: Line, start: int, end: int) -> None:
        printer, indent = self.printer, line.level * INDENT
        parts = printer.parts(start, end)
        word = printer.text(start)
        if len(word) < line.width and len(parts) > 1 and start not in printer.trailing:
            printer.emit(start, indent)
            printer.line = printer.line.ljust(indent + line.width)
            parts = parts[1:]
        printer.put(parts, indent)

    def comments(self, index: int, level: int, following: int) -> None:
        """Comments on lines of their own before a line. Where blocks end, their own column says where they belong."""
        for start, end in self.before.get(index, ()):
            self.blank(start)
            begin = self.text.rfind("\n", 0, start) + 1
            column = len(self.text[begin:start].expandtabs(INDENT))
            indent = max(following, min(level, (column + INDENT - 1) // INDENT)) * INDENT
            self.printer.newline(indent)
            self.printer.line += self.text[start:end].rstrip()

    def blank(self, offset: int) -> None:
        """A blank line, if there is at least one before this offset."""
        printer = self.printer
        begin = offset
        while begin and self.text[begin - 1] in " \t\r\n":
            begin -= 1
        if begin and self.text.count("\n", begin, offset) > 1:
            printer.newline(0)
            printer.lines.append("")
