"""Turns what stands in the way of a freeze into findings: reasons withhold the contract, notes do not."""

from __future__ import annotations

from cfrc.model.verdict import Finding
from cfrc.source import Span


def reason(
    code: str, message: str, help: str | None = None, where: Span | None = None, obligation: str | None = None
) -> Finding:
    """Why the contract is withheld."""
    return Finding(f"CFRC-{code}", "support", message, help, where=where, obligation=obligation)


def note(
    code: str, message: str, help: str | None = None, where: Span | None = None, obligation: str | None = None
) -> Finding:
    """Something to know that withholds nothing."""
    return Finding(f"CFRC-{code}", "support", message, help, where=where, obligation=obligation, severity="note")
