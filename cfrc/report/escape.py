"""Turns hostile text into text that is safe to print: one line, nothing that a terminal obeys, bounded in length."""

from __future__ import annotations

import re
import unicodedata

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_GLYPHS = str.maketrans({
    "│": "|", "┃": "|", "┌": "+", "├": "+", "└": "+", "─": "-", "▶": ">", "←": "<", "→": "->",
    "✓": "+", "✗": "x", "○": "o", "↻": "~", "·": ".", "…": "...", "⋮": ":", "–": "-", "×": "x", "≤": "<=",
})  # fmt: skip
_QUOTED = re.compile(r"(`[^`]*`)")
_WORD = re.compile(r"[\w\-.]+")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL")

MESSAGE_LIMIT = 2_000
VALUE_LIMIT = 160


def safe(text: str) -> str:
    """The text with every character that is not plainly printable written out as ``\\n`` or ``\\u{202e}``.

    This covers terminal escapes, bidirectional and zero-width controls, lone surrogates, unusual spaces and line ends.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _SHORT.get(c) or f"\\u{{{ord(c):x}}}" for c in text)


def clip(text: str, limit: int = VALUE_LIMIT) -> str:
    """Safe text, cut after ``limit`` characters with a note of its full length."""
    if len(text) <= limit:
        return safe(text)
    return f"{safe(text[:limit])}… ({len(text):,} characters)"


def message(text: str) -> str:
    """A message made safe: what stands in backticks is cut at a value's length, the whole at a message's."""
    if len(text) <= VALUE_LIMIT:
        return safe(text)
    parts = (
        f"`{clip(part[1:-1])}`" if len(part) > 1 and part[0] == part[-1] == "`" else part
        for part in _QUOTED.split(text[: 50 * MESSAGE_LIMIT])
    )
    return clip("".join(parts), MESSAGE_LIMIT)


def columns(text: str) -> int:
    """How many terminal columns the (safe) text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(c: str) -> int:
    if unicodedata.category(c) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(c) in {"W", "F"} else 1


def plain_glyphs(text: str) -> str:
    """The text with this program's own line-drawing characters replaced by ASCII, for terminals that lack them."""
    return text.translate(_GLYPHS)


def lookalikes(text: str) -> list[str]:
    """One note for each character that imitates another in a word of mixed scripts (a Cyrillic ``А`` in ``А-1``)."""
    notes: dict[str, None] = {}
    for word in _WORD.findall(text[: 2 * MESSAGE_LIMIT]) if not text.isascii() else ():
        names = {c: unicodedata.name(c, "") for c in word if c.isalnum()}
        scripts = {c: _script(c, name) for c, name in names.items()}
        if len({s for s in scripts.values() if s}) > 1:
            for c, script in scripts.items():
                if script not in {"", "LATIN"}:
                    notes[f"`{c}` is U+{ord(c):04X} {names[c]}"] = None
    return list(notes)


def _script(c: str, name: str) -> str:
    """The script of a character as far as it can be mistaken; ASCII digits belong to Latin text."""
    if c.isascii():
        return "LATIN"
    return next((s for s in _SCRIPTS if name.startswith(s)), "")
