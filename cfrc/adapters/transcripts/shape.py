"""Turns members of JSON that somebody else shaped into texts and plain values, or into a diagnostic with its place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
from cfrc.lang.jsonread import Json, JsonProblem, read_json
from cfrc.lang.jsonvalues import kind_of
from cfrc.lang.scalars import parse_time, show_decimal
from cfrc.model.transcript import JSON
from cfrc.source import Source, Span

Members = Mapping[str, Json]


def wrong(code: str, message: str, at: Json | Span | None, help: str | None = None) -> SpecError:
    """The error that ends the reading."""
    return SpecError([Diagnostic(code, message, at.span if isinstance(at, Json) else at, help)])


def plain(j: Json) -> JSON:
    """The value in Python's own types; numbers that are not whole become exact decimals."""
    match j.value:
        case list() as items:
            return [plain(i) for i in items]
        case dict() as members:
            return {k: plain(v) for k, v in members.items()}
        case Fraction() as number:
            return Decimal(show_decimal(number)) if _finite(number) else str(number)
        case scalar:
            return scalar


def _finite(number: Fraction) -> bool:
    """Whether it has a finite decimal: every number that was read from a text does."""
    return "/" not in show_decimal(number)


def json_of(text: str) -> Json | str:
    """The JSON value that a text within the document spells, or why it spells none (in a few words)."""
    try:
        return read_json(Source("<text>", text))
    except JsonProblem as problem:
        return problem.message


def obj(j: Json, code: str, what: str) -> Members:
    """The members of an object. Raises :class:`SpecError` when it is something else."""
    if isinstance(j.value, dict):
        return j.value
    raise wrong(code, f"expected {what}, an object; found {kind_of(j)}", j)


def items_of(j: Json | None, code: str, what: str) -> list[Json]:
    """The elements of an array; none when the member is missing or null."""
    if j is None or j.value is None:
        return []
    if isinstance(j.value, list):
        return j.value
    raise wrong(code, f"expected {what}, an array; found {kind_of(j)}", j)


def string(members: Members, *names: str) -> str | None:
    """The first of the members that is a string (empty strings count as missing)."""
    for name in names:
        j = members.get(name)
        if j is not None and isinstance(j.value, str) and j.value:
            return j.value
    return None


def given(members: Members, *names: str) -> Json | None:
    """The first of the members that is there and not null."""
    for name in names:
        j = members.get(name)
        if j is not None and j.value is not None:
            return j
    return None


def flag(members: Members, *names: str) -> bool:
    return any(name in members and members[name].value is True for name in names)


def instant(members: Members, *names: str) -> datetime | None:
    text = string(members, *names)
    return None if text is None else parse_time(text)


def prose(j: Json | None, code: str) -> str:
    """The text of a message's content: a string, or the texts of its parts, a line apart. Images and such are not text.

    Raises :class:`SpecError` for content that is neither.
    """
    if j is None or j.value is None:
        return ""
    if isinstance(j.value, str):
        return j.value
    if isinstance(j.value, dict):
        return part_text(j) or ""
    return "\n".join(t for t in map(part_text, items_of(j, code, "content")) if t is not None)


def part_text(part: Json) -> str | None:
    """The text of one part of a content array; ``None`` when it is of another kind."""
    if isinstance(part.value, str):
        return part.value
    if not isinstance(part.value, dict):
        return None
    found = part.value.get("text", part.value.get("refusal"))
    if found is None and string(part.value, "type") == "text":
        found = part.value.get("content")
    return found.value if found is not None and isinstance(found.value, str) else None


def only_text(j: Json | None) -> bool:
    """Whether content is a string or text parts alone (so that its text is all of it)."""
    if j is None or j.value is None or isinstance(j.value, str):
        return True
    return isinstance(j.value, list) and all(part_text(p) is not None for p in j.value)


def arguments(j: Json | None) -> tuple[Mapping[str, JSON] | None, str | None]:
    """The arguments of a call, from an object or a string that spells one; else ``None`` and the reason."""
    if j is None or j.value is None or j.value == "":
        return {}, None
    found: Json | str = json_of(j.value) if isinstance(j.value, str) else j
    if isinstance(found, str):
        return None, f"the arguments are not JSON: {found}"
    value = plain(found)
    if not isinstance(value, dict):
        return None, f"the arguments are {kind_of(found)}, not an object"
    return value, None


def name_of(members: Members, at: Json, *names: str) -> str:
    """The tool's name. Raises :class:`SpecError` (``TRN004``) when there is none."""
    name = string(members, *names)
    if name is None:
        raise wrong("TRN004", "a call without the name of a tool", at, f"expected a string in {quoted(names[0])}")
    return name
