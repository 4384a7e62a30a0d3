"""Turns spans into an excerpt of the source: numbered lines with carets under the place, dashes under related ones."""

from __future__ import annotations

from cfrc.report.escape import columns, message, safe
from cfrc.report.pieces import Line
from cfrc.source import Span

_TAB = "    "
_MAX_LINES = 4


def excerpt(
    where: Span | None, related: tuple[tuple[str, Span], ...] = (), width: int = 100, style: str = "error"
) -> list[Line]:
    """The excerpt as lines of at most ``width`` columns. Empty when there is no place at all."""
    own = [label for label, span in related if span == where]
    places = [(", ".join(own), where, True)] if where else []
    places += [(label, span, False) for label, span in related if span != where]
    gutter = max((len(str(_last_line(span))) for _, span, _ in places), default=1)
    lines: list[Line] = []
    for label, span, primary in places:
        corner = "┌─" if not lines else "├─"
        lines.append(((" " * (gutter + 1) + corner + " ", "frame"), (_place(span, width - gutter - 5), "frame")))
        numbers = _numbers(span)
        if len(numbers) == 1 or not primary:  # of a related place, such as a whole contract, the first line is enough
            lines += _one_line(span, label, primary, gutter, width, style)
        else:
            lines += _many_lines(span, numbers, label, primary, gutter, width, style)
    return lines


def _place(span: Span, room: int) -> str:
    name = safe(span.source.name)
    tail = f":{span.line}:{span.column}"
    room = max(room - len(tail), 12)
    return (name if len(name) <= room else "…" + name[1 - room :]) + tail


def _last_line(span: Span) -> int:
    return span.source.position(max(span.start, span.end - 1))[0]


def _numbers(span: Span) -> list[int | None]:
    """The line numbers to show; ``None`` stands for lines left out."""
    first, last = span.line, _last_line(span)
    if last - first < _MAX_LINES:
        return list(range(first, last + 1))
    return [*range(first, first + _MAX_LINES - 1), None, last]


def _one_line(span: Span, label: str, primary: bool, gutter: int, width: int, style: str) -> list[Line]:
    text = span.source.line(span.line)
    start = min(span.column - 1, len(text))
    length = max(1, min(span.end - span.start, len(text) - start))
    room = max(20, width - gutter - 4)
    text, before, under = _crop(text, start, length, room)
    mark, color = ("^", style) if primary else ("-", "note")
    underline = " " * columns(before) + mark * max(1, columns(under))
    code: Line = ((f"{span.line:>{gutter}} │ ", "frame"), (text, ""))
    marks: Line = ((" " * gutter + " │ ", "frame"), (underline, color))
    if not label:
        return [code, marks]
    label = message(label)
    if columns(underline) + 1 + columns(label) <= room:
        return [code, (*marks, (" " + label, color))]
    return [code, marks, ((" " * gutter + " │ ", "frame"), (label, color))]


def _crop(text: str, start: int, length: int, room: int) -> tuple[str, str, str]:
    """A line cut to ``room`` columns around a place, as (shown text, shown part before the place, shown place)."""
    before, under, after = (_show(s) for s in (text[:start], text[start : start + length], text[start + length :]))
    if columns(before + under + after) <= room:
        return before + under + after, before, under
    if columns(before) > room // 3:
        keep = max(8, min(len(before), room - columns(under) - 12), room // 4)
        before = "…" + before[-keep:]
    left = room - columns(before)
    if columns(under) > left:
        under = _fit(under, max(1, left))
        return before + under, before, under
    return before + under + _fit(after, left - columns(under)), before, under


def _show(text: str) -> str:
    return safe(text.replace("\t", _TAB))


def _fit(text: str, room: int) -> str:
    """The longest beginning of the text that fits, ending in an ellipsis where it was cut."""
    if columns(text) <= room:
        return text
    kept = text[: max(0, room - 1)]
    while kept and columns(kept) > room - 1:
        kept = kept[:-1]
    return kept + "…" if room > 0 else ""


def _many_lines(
    span: Span, numbers: list[int | None], label: str, primary: bool, gutter: int, width: int, style: str
) -> list[Line]:
    room = max(20, width - gutter - 4)
    lines: list[Line] = []
    color = style if primary else "note"
    for number in numbers:
        if number is None:
            lines.append(((" " * gutter + " ", "frame"), ("⋮", color)))
        else:
            text = _fit(_show(span.source.line(number)), room)
            lines.append(((f"{number:>{gutter}} ", "frame"), ("┃ ", color), (text, "")))
    if label:
        lines.append(((" " * gutter + " ", "frame"), ("└ ", color), (message(label), color)))
    return lines
