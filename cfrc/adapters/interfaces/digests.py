"""Turns an interface into digests: one of the whole, and short ones that tell which part of which tool has changed.

They are kept as comments at the top of a domain file, where the formatter leaves them alone and a person's edits do not
touch them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from cfrc.adapters.interfaces.names import declared_names
from cfrc.adapters.interfaces.read import Interface, PublishedTool
from cfrc.lang.canonical import digest
from cfrc.lang.jsonread import Json
from cfrc.model.show import show_string

PARTS = ("in", "out", "hints", "words")
_WHOLE = re.compile(r'^# interface "(sha256:[0-9a-f]{64})"$', re.MULTILINE)
_TOOL = re.compile(
    r'^# tool ("(?:[^"\\\n]|\\.)*") ' + " ".join(rf"{p}:([0-9a-f]{{12}})" for p in PARTS) + "$", re.MULTILINE
)


def interface_digest(interface: Interface) -> str:
    """``sha256:…`` of everything that is published about the tools; their order means nothing."""
    return digest({t.name: _whole(t) for t in interface.tools})


def tool_digests(tool: PublishedTool) -> dict[str, str]:
    """Twelve digits for each of :data:`PARTS`: enough to say what changed. The whole digest says whether."""
    return {part: digest(value)[7:19] for part, value in _whole(tool).items()}


def lines(interface: Interface) -> Iterator[str]:
    """The comment lines that :func:`recorded` reads."""
    yield f'# interface "{interface_digest(interface)}"'
    for t in interface.tools:
        yield f"# tool {show_string(t.name)} " + " ".join(f"{p}:{d}" for p, d in tool_digests(t).items())


def recorded(text: str) -> tuple[str | None, Mapping[str, Mapping[str, str]]]:
    """The digests that the text of a domain file records: of the whole (if any), and of each tool's parts."""
    whole = _WHOLE.search(text)
    tools = {}
    for m in _TOOL.finditer(text):
        name = json.loads(m[1])
        tools[str(name)] = dict(zip(PARTS, m.groups()[1:], strict=True))
    return (whole[1] if whole else None), tools


def accepted(text: str, interface: Interface) -> str:
    """The text of a domain file with the digests of this interface instead of those on record (or at its top)."""
    old = [m.span() for pattern in (_WHOLE, _TOOL) for m in pattern.finditer(text)]
    at = min((start for start, _ in old), default=0)
    for start, end in sorted(old, reverse=True):
        text = text[:start] + text[end:].removeprefix("\n")
    return text[:at] + "".join(f"{line}\n" for line in lines(interface)) + text[at:]


def own_names(text: str) -> Mapping[str, str]:
    """What the domain of this text calls each tool whose digest it records: a server's names need not be names here."""
    return declared_names(recorded(text)[1])


def _whole(t: PublishedTool) -> dict[str, Any]:
    hints = {"readOnly": t.hints.read_only, "destructive": t.hints.destructive, "idempotent": t.hints.idempotent}
    return {
        "in": [_value(t.input), t.strict],
        "out": _value(t.output) if t.output is not None else None,
        "hints": {**hints, "openWorld": t.hints.open_world},
        "words": t.description,
    }


def _value(j: Json) -> Any:
    """Numbers as text with a mark: they are exact, and of any size."""
    match j.value:
        case list() as items:
            return [_value(i) for i in items]
        case dict() as members:
            return {k: _value(v) for k, v in members.items()}
        case bool() | None | str() as scalar:
            return scalar
        case int() | Fraction() as number:
            return {"number": str(Fraction(number))}
