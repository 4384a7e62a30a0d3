"""Turns diagnostics of a bad input into text: the message, the place in the source, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from cfrc.lang.diagnostics import Diagnostic, limited
from cfrc.report.excerpt import excerpt
from cfrc.report.pieces import Line, paint, prose


def render_diagnostics(diagnostics: Iterable[Diagnostic], *, color: bool = False, width: int = 100) -> str:
    """All diagnostics, at most fifty, with a closing line that counts them."""
    everything = tuple(diagnostics)
    shown, left_out = limited(everything)
    lines: list[Line] = []
    for d in shown:
        lines += diagnostic_lines(d, width)
        lines.append(())
    errors = sum(d.severity == "error" for d in everything)
    more = f", {left_out} more not shown" if left_out else ""
    lines.append(((f"{errors} error{'s' if errors != 1 else ''} in the input{more}", "error"),))
    return paint(lines, color)


def diagnostic_lines(d: Diagnostic, width: int) -> list[Line]:
    """One diagnostic: headline, excerpt, help."""
    lines: list[Line] = [((f"{d.severity}[CFRC-{d.code}]", d.severity), (": ", ""), *prose(d.message, "strong"))]
    lines += excerpt(d.span, d.notes, width, d.severity)
    if d.help:
        lines.append((("   help: ", "good"), *prose(d.help)))
    return lines
