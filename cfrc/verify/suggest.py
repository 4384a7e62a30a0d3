"""Turns a misspelled name into a suggestion."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """``did you mean `x`?`` for the closest known name, if one is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, [k for k in known if k != name], n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else None
