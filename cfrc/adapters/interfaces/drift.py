"""Turns a domain file and a newly published interface into what no longer agrees between them.

Two comparisons: the digests that the scaffold recorded tell exactly what was published then and is not now; where there
is no digest (the domain was written by hand) or a tool's digest differs, its declaration is compared with its schema.
A person's own types (an identifier for a string, an enum for a few strings) agree with the schema's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cfrc.adapters.interfaces.digests import interface_digest, recorded, tool_digests
from cfrc.adapters.interfaces.names import declared_names
from cfrc.adapters.interfaces.read import Interface, PublishedTool
from cfrc.adapters.interfaces.schema import MOST_FIELDS, kinds_of
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.domain import Domain, Param, Tool
from cfrc.model.types import BOOL, DECIMAL, INT, BagOf, Enum, ListOf, MapOf, Optional, RecordOf, Type
from cfrc.source import Span

_GONE = "the interface has no such tool any more"
_CHANGED = {
    "in": "its parameters have changed",
    "out": "what it returns has changed",
    "hints": "what the server says about its effects has changed",
    "words": "its description has changed",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference. ``span`` is the tool's declaration, if it has one."""

    code: str
    tool: str
    message: str
    span: Span | None = None


def drifted(domain: Domain, text: str, interface: Interface) -> list[Drift]:
    """All differences, by tool: first those that the domain declares, in its order, then new ones.

    ``text`` is that of the file that declares the domain, whose comments hold the digests. Codes: ``IFC010`` a tool is
    gone, ``IFC011`` it is new, ``IFC012`` its declaration does not fit, ``IFC013`` something about it has changed.
    """
    whole, parts = recorded(text)
    if whole == interface_digest(interface):
        return []
    names = declared_names(dict.fromkeys([*parts, *(t.name for t in interface.tools)]))
    published = {names[t.name]: t for t in interface.tools}
    out: list[Drift] = []
    for tool in domain.tools.values():
        now = published.get(tool.name)
        if now is None:
            out.append(Drift("IFC010", tool.name, _GONE, tool.span))
        else:
            out += _tool(tool, now, parts.get(now.name))
    for name, now in published.items():
        before = parts.get(now.name)
        if name in domain.tools or (before is None and whole is None):
            continue  # a domain written by hand need not declare every tool
        if before is None:
            out.append(Drift("IFC011", now.name, "the interface has it, the domain does not"))
        else:
            out += [Drift("IFC013", now.name, why) for why in _changes(before, now)]
    gone = [n for n in parts if names[n] not in published and names[n] not in domain.tools]
    out += [Drift("IFC010", n, _GONE) for n in gone]
    if not out and whole is not None:
        out.append(Drift("IFC013", "", "the interface has another digest than the one on record"))
    return out


def _tool(tool: Tool, now: PublishedTool, before: Mapping[str, str] | None) -> Iterator[Drift]:
    if before is not None:
        changes = _changes(before, now)
        if not changes:
            return
        for why in changes:
            yield Drift("IFC013", tool.name, why, tool.span)
    elif tool.kind == "read" and "readOnlyHint" in now.hints.said and not now.hints.read_only:
        yield Drift("IFC012", tool.name, "is declared to read, and the server says that it writes", tool.span)
    for why in _misfits(tool, now):
        yield Drift("IFC012", tool.name, why, tool.span)


def _changes(before: Mapping[str, str], now: PublishedTool) -> list[str]:
    return [_CHANGED[part] for part, digest in tool_digests(now).items() if before.get(part) != digest]


def _misfits(tool: Tool, now: PublishedTool) -> Iterator[str]:
    top = now.input.value if isinstance(now.input.value, dict) else {}
    inner = top["properties"].value if "properties" in top else {}
    properties = inner if isinstance(inner, dict) else {}
    closed = "additionalProperties" in top and top["additionalProperties"].value is False
    listed = top["required"].value if "required" in top and isinstance(top["required"].value, list) else []
    required = [str(r.value) for r in listed][:MOST_FIELDS]
    for p in tool.params:
        schema = properties.get(p.name)
        if schema is None:
            if properties or closed or not top:
                yield f"it has no parameter {quoted(p.name, 60)}"
            continue
        yield from _parameter(p, schema, now)
        if p.default is not None and p.name in required and isinstance(p.type, Optional) and not now.strict:
            yield f"its parameter {quoted(p.name, 60)} must be given, and may be absent in the domain"
    for name in required:
        if tool.param(name) is None:
            yield f"it requires {quoted(name, 60)}, which the domain lacks"


def _parameter(p: Param, schema: Json, now: PublishedTool) -> Iterator[str]:
    kinds, wires = kinds_of(now.input, schema)
    t = p.type.item if isinstance(p.type, Optional) else p.type
    if kinds and not kinds & _kinds(t):
        said = " or ".join(sorted(kinds))
        yield f"its parameter {quoted(p.name, 60)} takes {said}, and the domain says {quoted(str(t), 60)}"
    elif isinstance(t, Enum) and wires is not None:
        for wire in t.wire:
            if wire not in wires:
                yield f"its parameter {quoted(p.name, 60)} does not take {quoted(wire, 60)}"


def _kinds(t: Type) -> set[str]:
    """The JSON types that values of a type are passed as."""
    match t:
        case ListOf() | BagOf():
            return {"array"}
        case MapOf():
            return {"object", "array"}
        case RecordOf():
            return {"object"}
    if t == BOOL:
        return {"boolean"}
    if t == INT:
        return {"integer", "number"}
    return {"number", "integer"} if t == DECIMAL else {"string"}
