"""Turns what goes wrong during resolution into a list that grows without end-stopping: many errors at once.

The same expression code serves specs, whose errors are diagnostics, and proposals, whose errors are faults that
admission judges; both hand it a :class:`Problems` and read it afterwards in their own way.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from cfrc.lang.diagnostics import Diagnostic, did_you_mean, quoted
from cfrc.source import Span

MAX_SUGGESTIONS = 100
MAX_CANDIDATES = 1000


class Problems:
    """Collects diagnostics. Suggestions are rationed, so that a hostile input cannot buy much search with them."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self._suggestions = 0

    def add(
        self, code: str, message: str, span: Span | None, help: str | None = None,
        notes: tuple[tuple[str, Span], ...] = (),
    ) -> None:  # fmt: skip
        self.found.append(Diagnostic(code, message, span, help, notes=notes))

    def suggest(self, word: str, candidates: Iterable[str], otherwise: str | None = None) -> str | None:
        """A "did you mean" line, or ``otherwise``."""
        self._suggestions += 1
        if self._suggestions > MAX_SUGGESTIONS:
            return otherwise
        return did_you_mean(word, islice(candidates, MAX_CANDIDATES), otherwise)

    def unknown(
        self,
        what: str,
        word: str,
        candidates: Iterable[str],
        span: Span | None,
        code: str,
        otherwise: str | None = None,
        *,
        help: str | None = None,
    ) -> None:
        """Add "unknown WHAT `word`" with ``help``, or else a suggestion, or else ``otherwise``."""
        self.add(code, f"unknown {what} {quoted(word)}", span, help or self.suggest(word, candidates, otherwise))

    def duplicate(self, what: str, word: str, span: Span | None, first: Span | None) -> None:
        """Add "duplicate WHAT `word`" that points at the first one too."""
        notes = (("first declared here", first),) if first is not None else ()
        self.add("NAM002", f"duplicate {what} {quoted(word)}", span, "give it another name, or remove it", notes)

    def take(self) -> list[Diagnostic]:
        """What was collected since the last call, and forget it."""
        found, self.found = self.found, []
        return found
