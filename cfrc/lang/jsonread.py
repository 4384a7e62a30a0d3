"""Turns a hostile JSON text into values that know their place, exactly and within bounds.

The reader keeps exact decimals, refuses what two readers could understand differently (duplicate keys, NaN, lone
surrogates, trailing text) and what is only there to hurt (deep nesting, giant numbers). Every value and every key
keeps its offsets, so that a later diagnostic can point at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cfrc.lang.diagnostics import quoted
from cfrc.source import Source, Span

MAX_DEPTH = 64
MAX_DIGITS = 100
MAX_EXPONENT = 100

Scalar = None | bool | int | Fraction | str


@dataclass(frozen=True, slots=True, eq=False)
class Json:
    """One JSON value with its place. ``value`` is a scalar, a list of :class:`Json`, or a dict of them by member name.

    ``span`` is ``None`` for values that did not come from a text (see :func:`wrap`).
    """

    value: Scalar | list[Json] | dict[str, Json]
    span: Span | None
    keys: Mapping[str, Span] = field(default_factory=dict)

    def key_span(self, key: str) -> Span | None:
        return self.keys.get(key, self.span)


class JsonProblem(Exception):
    """The text is not acceptable JSON: ``code`` (without prefix), message, help and place."""

    def __init__(self, code: str, message: str, help: str | None, span: Span) -> None:
        super().__init__(message)
        self.code, self.message, self.help, self.span = code, message, help, span


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[-+]?[A-Za-z_][A-Za-z0-9_]*|[-+.]?[0-9][0-9A-Za-z_.+-]*")
_CHUNK = re.compile(r'[^"\\\x00-\x1f]*')
_PLAIN = re.compile(r'"([^"\\\x00-\x1f\ud800-\udfff]*)"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "null": None}


def read_json(source: Source) -> Json:
    """The one JSON value of the text. Raises :class:`JsonProblem` at the first thing that is not acceptable."""
    return _Reader(source).document()


def read_json_values(source: Source) -> Iterator[Json]:
    """The JSON values of the text, one after the other (such as one a line). Raises :class:`JsonProblem`."""
    reader = _Reader(source)
    while reader.skip():
        yield reader.value()


def wrap(value: Any, depth: int = 0) -> Json:
    """A plain Python JSON value without a place; floats are read by their shortest decimal text.

    Raises ``TypeError`` for what is not JSON, ``ValueError`` for NaN, infinities and too many levels.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
    match value:
        case None | bool() | int() | str() | Fraction():
            return Json(value, None)
        case float():
            return Json(Fraction(repr(value)), None)
        case Mapping():
            return Json({str(k): wrap(v, depth + 1) for k, v in value.items()}, None)
        case Sequence():
            return Json([wrap(v, depth + 1) for v in value], None)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


class _Reader:
    """One pass over the text with an explicit stack, so that nesting cannot exhaust Python's own."""

    def __init__(self, source: Source) -> None:
        self.source, self.text, self.at = source, source.text, 0

    def fail(self, code: str, message: str, start: int, end: int | None = None, help: str | None = None) -> JsonProblem:
        end = min(start + 1 if end is None else end, len(self.text))
        return JsonProblem(code, message, help, Span(self.source, start, max(start, end)))

    def skip(self) -> str:
        """Skip white space; the next character, or an empty string at the end."""
        c = self.text[self.at : self.at + 1]
        if c > " ":
            return c
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def document(self) -> Json:
        value = self.value()
        if self.skip():
            raise self.fail("JSN001", "text after the end of the JSON value", self.at, len(self.text))
        return value

    def value(self) -> Json:
        """The next value. ``stack`` holds the open containers: (start, items or members, key spans, pending key)."""
        stack: list[_Open] = []
        while True:
            c = self.skip()
            done: Json | None = None
            if c == "{" or c == "[":
                if len(stack) >= MAX_DEPTH:
                    raise self.fail("JSN004", f"more than {MAX_DEPTH} levels of nesting", self.at)
                stack.append(_Open(self.at, c == "{"))
                self.at += 1
                if self.skip() == ("}" if c == "{" else "]"):
                    self.at += 1
                    done = self.close(stack.pop())
                elif c == "{":
                    self.key(stack[-1])
            else:
                done = self.scalar(c)
            while done is not None:
                if not stack:
                    return done
                stack[-1].add(done)
                if self.more(stack[-1]):
                    break
                done = self.close(stack.pop())

    def more(self, top: _Open) -> bool:
        """Whether another element follows in the open container; reads its key. False after the closing bracket."""
        c = self.skip()
        end = "}" if top.is_object else "]"
        if c == end:
            self.at += 1
            return False
        if c != ",":
            what = "object" if top.is_object else "array"
            raise self.fail("JSN001", f"expected `,` or `{end}` in the {what}, found {self.found(c)}", self.at)
        comma = self.at
        self.at += 1
        if self.skip() == end:
            raise self.fail("JSN001", f"trailing comma before `{end}`", comma, help="remove the comma")
        if top.is_object:
            self.key(top)
        return True

    def close(self, top: _Open) -> Json:
        span = Span(self.source, top.start, self.at)
        return Json(top.members, span, top.keys) if top.is_object else Json(top.items, span)

    def key(self, top: _Open) -> None:
        if self.skip() != '"':
            raise self.fail(
                "JSN001", f"expected a member name in double quotes, found {self.found(self.skip())}", self.at
            )
        start = self.at
        key = self.string()
        span = Span(self.source, start, self.at)
        if key in top.members:
            first = top.keys[key].line
            raise self.fail(
                "JSN003", f"duplicate member {quoted(key, 80)}", start, self.at, f"it is first given in line {first}"
            )
        if self.skip() != ":":
            raise self.fail("JSN001", f"expected `:` after the member name, found {self.found(self.skip())}", self.at)
        self.at += 1
        top.pending, top.keys[key] = key, span

    def scalar(self, c: str) -> Json:
        start = self.at
        value: Scalar
        if c == '"':
            value = self.string()
        elif c.isdigit() or c == "-":
            value = self.number()
        else:
            match = _WORD.match(self.text, start)
            word = match.group() if match else ""
            if word not in _WORDS:
                help = None
                if word.lstrip("+-") in ("NaN", "Infinity"):
                    help = "JSON has no such number; leave the value out or write a string"
                raise self.fail(
                    "JSN001",
                    f"expected a JSON value, found {self.found(word or c)}",
                    start,
                    start + len(word or c),
                    help,
                )
            value = _WORDS[word]
            self.at += len(word)
        return Json(value, Span(self.source, start, self.at))

    def number(self) -> int | Fraction:
        start = self.at
        match = _NUMBER.match(self.text, start)
        word = _WORD.match(self.text, start)
        if match is None or (word is not None and word.end() > match.end()):
            end = word.end() if word is not None else start + 1
            raise self.fail("JSN001", f"`{self.text[start : min(end, start + 40)]}` is not a JSON number", start, end)
        whole, fraction, exponent = match.groups()
        self.at = match.end()
        digits = len(whole) + len(fraction or "")
        if digits > MAX_DIGITS or (exponent and (len(exponent) > 6 or abs(int(exponent[1:])) > MAX_EXPONENT)):
            raise self.fail(
                "JSN005", "number is too large", start, self.at,
                f"at most {MAX_DIGITS} digits and an exponent of at most {MAX_EXPONENT} are read",
            )  # fmt: skip
        return Fraction(match.group()) if fraction or exponent else int(match.group())

    def string(self) -> str:
        plain = _PLAIN.match(self.text, self.at)
        if plain is not None:
            self.at = plain.end()
            return plain.group(1)
        start, parts = self.at, []
        self.at += 1
        while True:
            match = _CHUNK.match(self.text, self.at)
            assert match is not None
            parts.append(match.group())
            self.at = match.end()
            c = self.text[self.at : self.at + 1]
            if c == '"':
                self.at += 1
                break
            if c != "\\":
                if not c or c == "\n":
                    raise self.fail("JSN001", "string is not closed", start, self.at)
                raise self.fail("JSN001", f"control character U+{ord(c):04X} in a string", self.at, help="escape it")
            parts.append(self.escape())
        text = "".join(parts)
        if _SURROGATE.search(text):
            raise self.fail(
                "JSN006", "string holds half of a surrogate pair", start, self.at, "write the whole character"
            )
        return text

    def escape(self) -> str:
        start = self.at
        c = self.text[start + 1 : start + 2]
        if c in _SIMPLE and c:
            self.at += 2
            return _SIMPLE[c]
        code = self.hex4(start) if c == "u" else None
        if code is None:
            raise self.fail("JSN001", "unknown escape in a string", start, start + 2)
        self.at += 6
        if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", self.at):
            low = self.hex4(self.at)
            if low is not None and 0xDC00 <= low < 0xE000:
                self.at += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        return chr(code)

    def hex4(self, at: int) -> int | None:
        digits = self.text[at + 2 : at + 6]
        return int(digits, 16) if re.fullmatch("[0-9a-fA-F]{4}", digits) else None

    @staticmethod
    def found(c: str) -> str:
        if not c:
            return "the end of the text"
        return f"`{c[:40]}`" if c.isprintable() else f"U+{ord(c[0]):04X}"


class _Open:
    """A container that is being read."""

    __slots__ = ("is_object", "items", "keys", "members", "pending", "start")

    def __init__(self, start: int, is_object: bool) -> None:
        self.start, self.is_object, self.pending = start, is_object, ""
        self.items: list[Json] = []
        self.members: dict[str, Json] = {}
        self.keys: dict[str, Span] = {}

    def add(self, value: Json) -> None:
        if self.is_object:
            self.members[self.pending] = value
        else:
            self.items.append(value)
