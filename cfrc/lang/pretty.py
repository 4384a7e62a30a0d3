"""Turns the tokens of one line of a file into text: on one line if it fits, else broken where a reader would.

A part that is too long is broken before clause keywords, else before ``and``/``or``/``implies``, else inside its
brackets, one element a line. Comments are written where they stood, at the end of a line or on one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cfrc.lang.lexer import Token

WIDTH = 120
INDENT = 4
COMMENT_COLUMN = 68

_SOFT = frozenset([
    "->", "after", "at", "attempt", "before", "by", "claims", "covers", "echoes", "exists", "expect", "expires", "for",
    "from", "grounds", "if", "owes", "policy", "shared", "until", "when", "where",
])  # fmt: skip
_LOGIC = ("implies", "or", "and")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_TIGHT_AFTER = frozenset({"(", "[", ".", ".."})
_TIGHT_BEFORE = frozenset({")", "]", ",", ".", "..", "?", ":"})
_VALUE_END = frozenset({"STRING", "INT", "DECIMAL", "DATE", "TIME", "DURATION", ")", "]", "}"})
_VALUE_WORDS = frozenset({"true", "false", "absent", "_"})


@dataclass(frozen=True, slots=True)
class Group:
    """A pair of brackets and the elements between its commas (indices of the brackets and commas)."""

    open: int
    close: int
    elements: tuple[Sequence[int | Group], ...]
    commas: tuple[int, ...]


Part = int | Group


@dataclass(slots=True)
class Printer:
    """Writes parts of one file's tokens. ``names`` are the words that are names; comments hang on tokens."""

    tokens: Sequence[Token]
    names: frozenset[int] | set[int]
    source: str
    trailing: Mapping[int, str]
    leading: Mapping[int, Sequence[str]]
    lines: list[str] = field(default_factory=list)
    line: str = ""
    last: int | None = None
    must_break: bool = False

    # --- structure --------------------------------------------------------------------------------------------------

    def parts(self, start: int, end: int) -> list[Part]:
        """The tokens ``start`` to ``end`` with their brackets matched (the parser has seen to it that they do)."""
        stack: list[tuple[int, list[list[Part]], list[int]]] = [(-1, [[]], [])]
        for i in range(start, end):
            kind = self.tokens[i][0]
            if kind in _OPEN:
                stack.append((i, [[]], []))
            elif kind in (")", "]", "}"):
                opened, elements, commas = stack.pop()
                if not elements[-1] and commas:
                    elements.pop()  # a trailing comma
                if elements == [[]]:
                    elements = []
                stack[-1][1][-1].append(Group(opened, i, tuple(elements), tuple(commas)))
            elif kind == "," and len(stack) > 1:
                stack[-1][1].append([])
                stack[-1][2].append(i)
            else:
                stack[-1][1][-1].append(i)
        return stack[0][1][0]

    def word(self, part: Part) -> str | None:
        """The keyword or punctuation that a part is, ``None`` for names, literals and groups."""
        if isinstance(part, Group) or part in self.names:
            return None
        kind, text, _, _ = self.tokens[part]
        return text if kind == "NAME" else kind

    def split(self, parts: Sequence[Part], at: Callable[[str], bool]) -> list[Sequence[Part]]:
        """The parts before and from each keyword on; a keyword in first place does not count."""
        cuts = [i for i, p in enumerate(parts) if i > 0 and (w := self.word(p)) is not None and at(w)]
        return [parts[a:b] for a, b in zip([0, *cuts], [*cuts, len(parts)], strict=True)]

    # --- one line ---------------------------------------------------------------------------------------------------

    def text(self, i: int) -> str:
        _, _, start, end = self.tokens[i]
        return self.source[start:end]

    def space(self, a: int, b: int) -> bool:
        """Whether a space stands between two adjacent tokens."""
        left, right = self.tokens[a][0], self.tokens[b][0]
        if right in _TIGHT_BEFORE or left in _TIGHT_AFTER:
            return False
        if right in ("(", "["):
            return not (a in self.names or left in (")", "]", "STRING") or self.tokens[a][1] == "sum")
        if left == "{" and right == "}":
            return False
        return not (left == "-" and self.unary(a))

    def unary(self, i: int) -> bool:
        if i == 0 or i - 1 in self.names:
            return False
        kind, text, _, _ = self.tokens[i - 1]
        return kind not in _VALUE_END and not (kind == "NAME" and text in _VALUE_WORDS)

    def indices(self, parts: Sequence[Part]) -> list[int]:
        """All tokens of the parts in order, without trailing commas."""
        out: list[int] = []
        for part in parts:
            if isinstance(part, int):
                out.append(part)
                continue
            out.append(part.open)
            for n, element in enumerate(part.elements):
                out += self.indices(element)
                if n + 1 < len(part.elements):
                    out.append(part.commas[n])
            out.append(part.close)
        return out

    def flat(self, parts: Sequence[Part]) -> str | None:
        """The parts on one line, ``None`` if a comment stands in the way. A comment at the very end does not."""
        first, last = self.first(parts), self.final(parts)
        if any(i in self.trailing for i in range(first, last)):
            return None
        if any(i in self.leading for i in range(first + 1, last + 1)):
            return None
        out: list[str] = []
        previous: int | None = None
        for i in self.indices(parts):
            if previous is not None and self.space(previous, i):
                out.append(" ")
            out.append(self.text(i))
            previous = i
        return "".join(out)

    @staticmethod
    def first(parts: Sequence[Part]) -> int:
        return parts[0] if isinstance(parts[0], int) else parts[0].open

    @staticmethod
    def final(parts: Sequence[Part]) -> int:
        return parts[-1] if isinstance(parts[-1], int) else parts[-1].close

    # --- writing ----------------------------------------------------------------------------------------------------

    def newline(self, indent: int) -> None:
        if self.line.strip():
            self.lines.append(self.line.rstrip())
        self.line, self.last, self.must_break = " " * indent, None, False

    def emit(self, i: int, indent: int, *, dropped: bool = False) -> None:
        """One token with its comments; ``dropped``: only its comments."""
        self.own_lines(i, indent)
        if not dropped:
            self.finish(i, indent)
        else:
            self.comment(i)

    def finish(self, i: int, indent: int) -> None:
        """A token without the comments before it."""
        if self.must_break:
            self.newline(indent)
        if self.last is not None and self.space(self.last, i):
            self.line += " "
        self.line += self.text(i)
        self.last = i
        self.comment(i)

    def own_lines(self, i: int, indent: int) -> None:
        """The comments on lines of their own before a token."""
        for comment in self.leading.get(i, ()):
            self.newline(indent)
            self.line += comment
            self.must_break = True

    def comment(self, i: int) -> None:
        if i in self.trailing:
            self.line = f"{self.line:<{COMMENT_COLUMN - 2}}  {self.trailing[i]}" if self.line.strip() else self.line
            self.must_break = True

    def fits(self, parts: Sequence[Part], tail: int) -> bool:
        flat = None if self.must_break else self.flat(parts)
        if flat is None or self.first(parts) in self.leading:
            return False
        gap = self.last is not None and self.space(self.last, self.first(parts))
        return len(self.line) + gap + len(flat) + tail <= WIDTH

    def put(self, parts: Sequence[Part], indent: int, tail: int = 0, level: int = 0) -> None:
        """Writes parts at the current place; what must go on a new line goes to ``indent`` plus one step.

        ``level`` counts the ways of breaking already tried: clauses, then each logical operator, then brackets.
        """
        if not parts:
            return
        if self.fits(parts, tail):
            for i in self.indices(parts):
                self.emit(i, indent)
            return
        if level <= len(_LOGIC):
            at = _SOFT.__contains__ if level == 0 else _LOGIC[level - 1].__eq__
            pieces = self.split(parts, at)
            inner, begun = indent, len(self.lines)
            for n, piece in enumerate(pieces):
                if n and not self.stays(piece, begun, indent):
                    inner = indent + INDENT
                    self.newline(inner)
                self.put(piece, inner, tail if n + 1 == len(pieces) else 0, level + 1)
            return
        for part in parts:
            if isinstance(part, int):
                self.emit(part, indent + INDENT)
            elif self.fits([part], tail):
                self.put([part], indent, tail)
            else:
                self.broken(part, indent)

    def stays(self, piece: Sequence[Part], begun: int, indent: int) -> bool:
        """Whether a result type goes on where the parameters end: if those, or it, take several lines anyway."""
        if self.word(piece[0]) != "->" or self.must_break:
            return False
        flat = self.flat(piece)
        return len(self.lines) > begun or flat is None or indent + INDENT + len(flat) > WIDTH

    def broken(self, group: Group, indent: int) -> None:
        """A pair of brackets with one element a line."""
        self.emit(group.open, indent)
        for n, element in enumerate(group.elements):
            self.newline(indent + INDENT)
            self.put(element, indent + INDENT, tail=1)
            if n < len(group.commas):
                self.emit(group.commas[n], indent + INDENT, dropped=n + 1 == len(group.elements))
        self.own_lines(group.close, indent + INDENT)
        if group.elements or self.must_break:
            self.newline(indent)
        self.finish(group.close, indent)
