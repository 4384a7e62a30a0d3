"""Turns styled pieces of text into plain text or text with colours; the common currency of all renderings.

A line is a sequence of (text, style name). Nothing in a piece is ever interpreted: there is no markup language.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cfrc.report.escape import VALUE_LIMIT, clip, message

if TYPE_CHECKING:
    from rich.text import Text

Piece = tuple[str, str]
Line = tuple[Piece, ...]

STYLES = {
    "": "",
    "error": "bold red",
    "undecided": "bold yellow",
    "warning": "bold yellow",
    "note": "bold cyan",
    "ok": "bold green",
    "strong": "bold",
    "quote": "cyan",
    "frame": "blue",
    "dim": "dim",
    "bad": "red",
    "good": "green",
}
"""What each style name looks like, in words that rich understands too."""

_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


def paint(lines: Iterable[Line], color: bool) -> str:
    """The lines as text, each with its line end, with terminal colours if wanted."""
    return "".join("".join(_sgr(t, s) if color else t for t, s in line).rstrip() + "\n" for line in lines)


def _sgr(text: str, style: str) -> str:
    codes = ";".join(_SGR[word] for word in STYLES[style].split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def rich_text(line: Line) -> Text:
    """The line as a rich text."""
    from rich.text import Text

    return Text.assemble(*((text, STYLES[style]) for text, style in line))


def prose(text: str, style: str = "") -> Line:
    """A hostile message as a line: made safe, with what stands in backticks set off."""
    parts = message(text).split("`")
    if len(parts) % 2 == 0:  # an odd backtick quotes nothing
        return ((message(text), style),)
    return tuple((f"`{part}`", "quote") if i % 2 else (part, style) for i, part in enumerate(parts))


def word(text: str, style: str = "", limit: int = 60) -> Piece:
    """A hostile word as a piece."""
    return clip(text, limit), style


def quote(text: str, limit: int | None = VALUE_LIMIT) -> Piece:
    """A piece of the user's language in backticks. ``limit`` is ``None`` for what is safe and short already."""
    shown = text if limit is None else clip(text, limit)
    return f"`{shown}`", "quote"
