"""Turns what is wrong with an input into one message a person can act on, with its place and a stable code.

House style (after Cedar's): the message is lower case without full stop, what the user wrote stands in backticks, the
help is separate and says what to do. Codes are ``SYN001`` here and printed as ``CFRC-SYN001``; each has one
explanation in ``cfrc/explanations``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cfrc.source import Span

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint about an input. ``notes`` are further places with a few words each."""

    code: str
    message: str
    span: Span | None = None
    help: str | None = None
    severity: Severity = "error"
    notes: tuple[tuple[str, Span], ...] = ()

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        help_line = f" (help: {self.help})" if self.help else ""
        return f"{place}{self.severity}[CFRC-{self.code}]: {self.message}{help_line}"


class SpecError(Exception):
    """The input cannot be used. ``diagnostics`` is never empty and holds at least one error."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = in_order(diagnostics)
        super().__init__("\n".join(str(d) for d in self.diagnostics))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them makes the input unusable."""
    return any(d.severity == "error" for d in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place (those without one first), each once. The order of sources is that of first mention."""
    unique = list(dict.fromkeys(diagnostics))
    sources: dict[int, int] = {}
    for d in unique:
        if d.span is not None:
            sources.setdefault(id(d.span.source), len(sources))

    def key(d: Diagnostic) -> tuple[int, int, int]:
        return (-1, 0, 0) if d.span is None else (sources[id(d.span.source)], d.span.start, d.span.end)

    return tuple(sorted(unique, key=key))


def limited(diagnostics: Iterable[Diagnostic], shown: int = 50) -> tuple[tuple[Diagnostic, ...], int]:
    """The first ``shown`` in order, errors before the rest when not all fit, and how many were left out."""
    ordered = in_order(diagnostics)
    if len(ordered) <= shown:
        return ordered, 0
    worst_first = sorted(ordered, key=lambda d: d.severity != "error")[:shown]
    return in_order(worst_first), len(ordered) - shown


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that ``word`` is most likely a misspelling of, or ``None``. Case differences count as close; the
    very word is no suggestion."""
    if not 1 <= len(word) <= 100:
        return None
    names = [n for n in dict.fromkeys(candidates) if n != word]
    for name in names:
        if name.lower() == word.lower():
            return name
    from difflib import get_close_matches  # loaded only when something is wrong

    found = get_close_matches(word, names, n=1, cutoff=0.7 if len(word) > 3 else 0.6)
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str], otherwise: str | None = None) -> str | None:
    """A help line ``did you mean `x`?`` for a misspelt word, else ``otherwise``."""
    found = closest(word, candidates)
    return f"did you mean `{found}`?" if found is not None else otherwise


def quoted(text: str, limit: int = 40) -> str:
    """User input made safe for a message: in backticks, on one line, control characters named, cut when long."""
    shown = "".join(c if c.isprintable() and c != "`" else f"\\u{{{ord(c):x}}}" for c in text[:limit])
    return f"`{shown}…`" if len(text) > limit else f"`{shown}`"
