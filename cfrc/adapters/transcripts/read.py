"""Turns a file or text of a recorded conversation into a transcript, whatever its provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfrc.adapters.transcripts import anthropic, chat, receipts, responses
from cfrc.adapters.transcripts.collect import Collector
from cfrc.adapters.transcripts.detect import FORMATS, Format, detect
from cfrc.adapters.transcripts.shape import wrong
from cfrc.collector import collector_paused
from cfrc.lang.diagnostics import Diagnostic, SpecError
from cfrc.lang.files import read_source
from cfrc.lang.jsonread import Json, JsonProblem, read_json_values, wrap
from cfrc.model.transcript import Approved, Attempt, Note, Transcript
from cfrc.source import Source, Span

MAX_EVENTS = 100_000

_READERS: dict[Format, Callable[[list[Json], Collector], None]] = {
    "openai-chat": chat.read,
    "openai-responses": responses.read,
    "anthropic": anthropic.read,
    "receipts": receipts.read,
}


def read_transcript(
    path_or_text: str | Path | Source | Sequence[Any] | Mapping[str, Any],
    format: Format | None = None,
    names: Mapping[str, str] | None = None,
) -> Transcript:
    """The transcript in a file (a path), a text (anything with a bracket or a line end), or parsed JSON.

    The document is one JSON value (a list of messages, a request, a response) or one a line. ``format`` is told from
    its shape when it is not given. ``names`` says what a domain calls tools whose own names are none in the language
    (:func:`cfrc.adapters.interfaces.own_names`). Raises :class:`cfrc.lang.diagnostics.SpecError` with ``TRN`` codes
    (not a transcript), ``JSN`` codes (not acceptable JSON) or ``INP`` codes (the file cannot be read).
    """
    with collector_paused():
        found = _read(path_or_text, format)
    return _renamed(found, names) if names else found


def _read(path_or_text: str | Path | Source | Sequence[Any] | Mapping[str, Any], format: Format | None) -> Transcript:
    source: Source | None = None
    torn: Note | None = None
    if isinstance(path_or_text, Source):
        source = path_or_text
    elif isinstance(path_or_text, str) and (path_or_text.lstrip()[:1] in ("{", "[") or "\n" in path_or_text):
        source = Source("<string>", path_or_text)
    elif isinstance(path_or_text, str | Path):
        source = read_source(path_or_text)
    if source is None:
        items = _parsed(path_or_text)
    else:
        items, torn = _items(source)
    out = Collector(source.name if source is not None else "<values>")
    if torn is not None:
        out.notes.append(torn)
    if len(items) > MAX_EVENTS:
        raise wrong("TRN006", f"more than {MAX_EVENTS:,} items", items[MAX_EVENTS], "hand over the part that matters")
    if items:  # nothing said and nothing done has no format
        _READERS[format or detect(items)](items, out)
    if len(out.events) > MAX_EVENTS:
        raise wrong("TRN006", f"more than {MAX_EVENTS:,} events", items[0], "hand over the part that matters")
    return out.finish()


def _renamed(t: Transcript, names: Mapping[str, str]) -> Transcript:
    events = (replace(e, tool=names.get(e.tool, e.tool)) if isinstance(e, Attempt | Approved) else e for e in t.events)
    return replace(t, events=tuple(events))


def _parsed(value: Any) -> list[Json]:
    try:
        top = wrap(value)
    except (TypeError, ValueError) as problem:
        raise wrong("TRN001", f"the value is no JSON: {problem}", None) from None
    return top.value if isinstance(top.value, list) else [top]


def _items(source: Source) -> tuple[list[Json], Note | None]:
    """The elements of the document: of its array, its values one a line, or itself. The note is about a torn end."""
    values: list[Json] = []
    torn: Note | None = None
    try:
        values.extend(read_json_values(source))
    except JsonProblem as problem:
        last = source.text.rfind("\n", 0, len(source.text.rstrip())) + 1
        whole = [v for v in values if v.span is not None and v.span.end <= last]
        if not whole or problem.span.start < last or problem.span.end < len(source.text.rstrip()):
            raise SpecError([Diagnostic(problem.code, problem.message, problem.span, problem.help)]) from None
        place = Span(source, last, len(source.text))
        torn = Note("TRN021", "the last line is torn off and passed over", place, "was the run killed as it wrote?")
        values = whole
    if len(values) == 1 and isinstance(values[0].value, list):
        return values[0].value, torn
    if not values:
        raise wrong("TRN001", "the text is empty", Span(source, 0, 0), "one JSON value, or one object a line")
    for value in values:
        if not isinstance(value.value, dict):
            raise wrong("TRN001", "a transcript is an array, an object, or one object a line", value)
    return values, torn


__all__ = ["FORMATS", "MAX_EVENTS", "Format", "read_transcript"]
