"""Turns a source text into tokens and comments, and whatever is no token into diagnostics.

A token is a plain tuple ``(kind, text, start, end)``: the kind of a word is ``NAME`` (whether it is a keyword is the
parser's decision), that of punctuation its own text, and that of a literal its grammar name. The text of a ``STRING``
has its escapes undone. A faulty literal yields its diagnostic and a harmless token, so that one slip is one complaint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cfrc.lang.diagnostics import Diagnostic, quoted
from cfrc.lang.scalars import parse_date, parse_duration, parse_time
from cfrc.source import Source, Span

Token = tuple[str, str, int, int]

MAX_TOKENS = 1_000_000
MAX_DIGITS = 100
MAX_EXPONENT = 100
MAX_NESTING = 200
MAX_COMPLAINTS = 100

_TOKEN = re.compile(
    r"""(?P<SPACE>[ \t\r\n]+)
      | (?P<NAME>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<COMMENT>\#[^\n]*)
      | (?P<STRING>"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*")
      | (?P<TIME>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))
      | (?P<DATE>\d{4}-\d{2}-\d{2})
      | (?P<DURATION>(?:\d+[wdhm])+(?:\d+(?:\.\d+)?s)?|\d+(?:\.\d+)?s)
      | (?P<DECIMAL>\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
      | (?P<INT>\d+)
      | (?P<OP>->|==|!=|<=|>=|\.\.|[()\[\]{},:=<>+*\-.|?])""",
    re.VERBOSE | re.ASCII,
)
_AFTER_NUMBER = re.compile(r"[A-Za-z0-9_]+")
_LOOSE_STRING = re.compile(r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"')
_TO_LINE_END = re.compile(r"[^\r\n]*")
_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})(?:\\u([Dd][C-Fc-f][0-9A-Fa-f]{2}))?|(.))", re.DOTALL)
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Characters that change what a reader sees (controls, direction overrides, half characters): refused everywhere.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)")
_QUOTES = "“”„«»'‘’`"
_PLAIN = {"–": "`-`", "—": "`-`", "−": "`-`", "≤": "`<=`", "≥": "`>=`", "≠": "`!=`", "→": "`->`", "×": "`*`"}
_WORDS = {"&": "`and`", "!": "`not`", "/": "`div(a, b)`", ";": "a new line", "∧": "`and`", "∨": "`or`", "¬": "`not`"}


@dataclass(frozen=True, slots=True)
class Lexed:
    """The tokens (ending in one ``$END``), the places of the comments, and what was wrong."""

    tokens: list[Token]
    comments: list[tuple[int, int]]
    diagnostics: list[Diagnostic]


class _Lexer:
    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self.out = Lexed([], [], [])
        self.open: list[Token] = []

    def run(self, begin: int, end: int) -> Lexed:
        out, text, match = self.out, self.text, _TOKEN.match
        tokens, at = out.tokens, begin
        for unsafe in _UNSAFE.finditer(text, begin, end):
            self.unsafe(unsafe.start())
            if len(out.diagnostics) >= MAX_COMPLAINTS:
                break
        while at < end and len(out.diagnostics) < MAX_COMPLAINTS:
            m = match(text, at, end)
            if m is None:
                at = self.stray(at, end)
                continue
            kind, after = m.lastgroup, m.end()
            if kind == "NAME":
                tokens.append(("NAME", m.group(), at, after))
            elif kind == "OP":
                op = m.group()
                tokens.append((op, op, at, after))
                if op in "()[]{}" and not self.bracket(tokens[-1]):
                    break
            elif kind == "COMMENT":
                out.comments.append((at, after - text[at:after].endswith("\r")))
            elif kind == "STRING":
                tokens.append(("STRING", self.string(m.group(), at), at, after))
            elif kind != "SPACE":
                after = self.number(str(kind), at, after, end)
            if len(tokens) > MAX_TOKENS:
                self.complain("SYN012", f"more than {MAX_TOKENS:,} tokens", at, at + 1, "split the file and import it")
                break
            at = after
        tokens.append(("$END", "", end, end))
        return out

    def complain(self, code: str, message: str, start: int, end: int, help: str | None = None) -> None:
        self.out.diagnostics.append(Diagnostic(code, message, Span(self.source, start, end), help))

    def bracket(self, token: Token) -> bool:
        """Keeps count of open brackets; false when they nest too deep to go on."""
        if token[0] in "([{":
            self.open.append(token)
            if len(self.open) > MAX_NESTING:
                help = "give the inner parts names, or split the expression"
                self.complain("SYN011", f"brackets nest deeper than {MAX_NESTING} levels", token[2], token[3], help)
                return False
        elif self.open:
            self.open.pop()
        return True

    def unsafe(self, at: int) -> None:
        c = self.text[at]
        what = "lone carriage return" if c == "\r" else f"character U+{ord(c):04X}"
        self.complain("SYN008", f"{what} is not allowed in a source file", at, at + 1, _escape_help(c))

    def number(self, kind: str, at: int, after: int, end: int) -> int:
        """A number, date, time or duration: it must stand alone, be of bounded size and exist in the calendar."""
        rest = _AFTER_NUMBER.match(self.text, after, end)
        text = self.text[at:after]
        if rest:
            after = rest.end()
            word = quoted(self.text[at:after])
            help = 'put a space between them, or quote an identifier: `"42x"`'
            self.complain("SYN007", f"{word} is neither a number nor a name", at, after, help)
            text = "0"
        elif kind in ("INT", "DECIMAL"):
            mantissa, _, exponent = text.lower().partition("e")
            if len(mantissa) - ("." in mantissa) > MAX_DIGITS:
                self.complain("SYN007", f"number has more than {MAX_DIGITS} digits", at, after)
                text = "0"
            elif exponent and (len(exponent) > 5 or abs(int(exponent)) > MAX_EXPONENT):
                self.complain("SYN007", f"exponent is beyond ±{MAX_EXPONENT}", at, after)
                text = "0"
        else:
            parse, word, instead = {
                "DATE": (parse_date, "date", "1970-01-01"),
                "TIME": (parse_time, "time", "1970-01-01T00:00:00Z"),
                "DURATION": (parse_duration, "duration", "0s"),
            }[kind]
            if parse(text) is None:
                order = "write units once each, largest first: `1h30m`" if word == "duration" else None
                self.complain("SYN009", f"{quoted(text)} is not a valid {word}", at, after, order)
                text = instead
        self.out.tokens.append((kind, text, at, after))
        return after

    def string(self, text: str, at: int) -> str:
        body = text[1:-1]
        return _ESCAPE.sub(lambda m: self.escape(m, at + 1), body) if "\\" in body else body

    def escape(self, m: re.Match[str], base: int) -> str:
        first, second, simple = m.groups()
        if simple is not None:
            if simple in _SIMPLE:
                return _SIMPLE[simple]
        else:
            high, low = int(first, 16), int(second, 16) if second else None
            if low is None and not 0xD800 <= high < 0xE000:
                return chr(high)
            if low is not None and 0xD800 <= high < 0xDC00:
                return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        help = 'escapes are `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\uXXXX`'
        self.complain("SYN006", f"{quoted(m.group())} is not an escape", base + m.start(), base + m.end(), help)
        return "\ufffd"

    def stray(self, at: int, end: int) -> int:
        """A character that begins no token: says what is wrong with it and where to go on."""
        c, text = self.text[at], self.text
        if c == '"':
            return self.broken_string(at, end)
        if _UNSAFE.match(c):
            return at + 1  # complained of already
        if c in _QUOTES:
            help = 'strings are in plain double quotes: `"`'
            self.complain("SYN003", f"unexpected quote {_named(c)}", at, at + 1, help)
            return at + 1
        if c.isalnum():
            return self.foreign_name(at)
        instead = _PLAIN.get(c) or _WORDS.get(c)
        after = at + 1
        while after < end and text[after] == c:
            after += 1  # a run of the same character is one slip
        self.complain("SYN003", f"unexpected character {_named(c)}", at, after, instead and f"write {instead}")
        return after

    def broken_string(self, at: int, end: int) -> int:
        loose = _LOOSE_STRING.match(self.text, at, end)
        m = loose or _TO_LINE_END.match(self.text, at, end)
        after = m.end() if m else end
        if loose is None:
            help = "close it on the same line; a line end inside is written `\\n`"
            self.complain("SYN005", "string is not closed", at, after, help)
        elif "\t" in loose.group():
            tab = at + loose.group().index("\t")
            self.complain("SYN008", "tab is not allowed in a string", tab, tab + 1, "write `\\t`")
        self.out.tokens.append(("STRING", "", at, after))
        return after

    def foreign_name(self, at: int) -> int:
        """A name with letters outside ASCII: look-alikes would make two names out of what a reader sees as one."""
        m = _WORD.match(self.text, at)
        start, after = at, m.end() if m else at + 1
        tokens = self.out.tokens
        if tokens and tokens[-1][3] == at and tokens[-1][0] in ("NAME", "INT"):
            start = tokens.pop()[2]
        help = "names use the letters a-z and A-Z, digits and `_`; any text may stand in a string"
        word = quoted(self.text[start:after])
        self.complain("SYN004", f"name {word} contains {_named(self.text[at])}", start, after, help)
        tokens.append(("NAME", self.text[start:after], start, after))
        return after


def _named(c: str) -> str:
    """A character as a reader can recognise it: itself if harmless, its code point, and its Unicode name."""
    if c.isascii():
        return quoted(c)
    import unicodedata

    return f"{quoted(c)} (U+{ord(c):04X} {unicodedata.name(c, 'unnamed')})"


def _escape_help(c: str) -> str:
    if c == "\r":
        return "end lines with a line feed, or carriage return and line feed"
    return f"inside a string write `\\u{ord(c):04x}`"


def lex(source: Source, begin: int = 0, end: int | None = None) -> Lexed:
    """The tokens of a source, or of a part of it. Never raises; stops early after too many complaints."""
    return _Lexer(source).run(begin, len(source.text) if end is None else end)
