"""Turns an explanation in Markdown into text for a terminal; without colours the Markdown is plain enough."""

from __future__ import annotations

from collections.abc import Iterable

from cfrc.codes import Explanation
from cfrc.report.pieces import Line, paint


def render_explanation(e: Explanation, *, quiet: bool = False, color: bool = False, width: int = 100) -> str:
    """The heading, and unless ``quiet`` the text."""
    heading: Line = ((e.code, "error"), (f" {e.title}", "strong"))
    if quiet:
        return paint([heading], color)
    if not color:
        return paint([heading, ()], color) + e.text + "\n"
    from rich.markdown import Markdown

    from cfrc.report.terminal import to_text

    text = to_text([Markdown(e.text, code_theme="ansi_dark")], color, min(width, 100))
    return paint([heading, ()], color) + text


def render_list(explanations: Iterable[Explanation], *, color: bool = False) -> str:
    """One line for each code, under the word for its kind."""
    lines: list[Line] = []
    kind = None
    for e in explanations:
        if e.kind != kind:
            lines += [(), ((e.kind, "strong"),)] if lines else [((e.kind, "strong"),)]
            kind = e.kind
        lines.append(((f"  {e.code:<13} ", "frame"), (e.title, "")))
    return paint(lines, color)
