"""Turns one published tool into the lines that declare it, with comments on what a person has to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from cfrc.adapters.interfaces.names import is_name, pascal
from cfrc.adapters.interfaces.read import Hints, PublishedTool
from cfrc.adapters.interfaces.registry import Registry
from cfrc.adapters.interfaces.schema import Schemas
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.lang.scalars import show_decimal
from cfrc.model.show import show_string
from cfrc.model.types import BOOL, DECIMAL, INT, STRING, TEXT, Enum, Id, MapOf, Optional, RecordOf, Type

MOST_PARAMS = 500
LONGEST_NUMBER = 60


@dataclass(slots=True)
class Declared:
    """A tool's lines. ``types`` are the types that they name; ``why`` says why it cannot be declared."""

    name: str
    lines: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    why: str | None = None
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    default: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default is not None else "")


def declare(tool: PublishedTool, name: str, registry: Registry, hinted: bool) -> Declared:
    """The declaration. ``hinted``: whether the server's hints are believed."""
    hints = tool.hints if hinted else Hints()
    out = Declared(name, writes=not hints.read_only)
    if tool.description.strip():
        out.lines.append(_first(tool.description))
    if name != tool.name:
        out.lines.append(f"its own name: {show_string(tool.name)}; whoever calls it has to use that")
    out.lines.append(_said(tool.hints, hinted))
    params, why = _params(tool, registry, out)
    if why is not None:
        out.why = why
        return out
    result = _result(tool, registry, out, params)
    if out.writes:
        out.lines.append(
            "decide: what does it cause, undo or set (or `causes nothing`)? Until then it may do anything, "
            "and a contract must license it by name"
        )
    if hints.idempotent and out.writes:
        out.lines.append(
            "decide: is it idempotent, as the server says? Then it may be retried after an unknown outcome"
        )
    out.types = [p.type for p in params] + [result]
    shown = _inline(result, params)
    kind = "write" if out.writes else "read"
    declared = f"{kind} {name}({', '.join(map(str, params))}) -> {shown}"
    out.lines = [*_comments(out.lines), f"    {declared}"]
    if hints.idempotent and out.writes:
        out.lines.append("        idempotent")
    return out


def _params(tool: PublishedTool, registry: Registry, out: Declared) -> tuple[list[Parameter], str | None]:
    """The parameters, or why the tool cannot be called from here."""
    schemas = Schemas(tool.input, registry)
    top = tool.input.value if isinstance(tool.input.value, dict) else {}
    if not _object(top):
        return [], "its arguments are no plain object"
    properties = top["properties"].value if "properties" in top else {}
    listed = top["required"].value if "required" in top and isinstance(top["required"].value, list) else []
    required = {r.value for r in listed}
    params: list[Parameter] = []
    pairs = list(properties.items()) if isinstance(properties, dict) else []
    if len(pairs) > MOST_PARAMS:
        return [], f"it has more than {MOST_PARAMS} parameters"
    for name, j in pairs:
        found = schemas.type_of(j, pascal(tool.name, name), "", name) if is_name(name) and name != "result" else None
        if found is None and is_name(name) and name != "result" and name in required and _is_free_object(j):
            found = MapOf(STRING, STRING)
            schemas.remark(f"decide: what is in {quoted(name, 60)}? It is read as a map of strings")
        if found is not None:
            params.append(_param(name, found, j, name in required, tool.strict, schemas))
            continue
        why = "is no name of the language" if not is_name(name) or name == "result" else "has no type here"
        if name in required:
            return [], f"its required parameter {quoted(name, 60)} {why}"
        schemas.remark(f"the parameter {quoted(name, 60)} is left out: it {why}")
    missing = [str(r) for r in required if isinstance(r, str) and r not in dict(pairs)]
    if missing:
        return [], f"its required parameter {quoted(min(missing), 60)} is not described"
    out.lines += schemas.taken()
    return params, None


def _object(top: dict[str, Json]) -> bool:
    kind = top["type"].value if "type" in top else "object"
    plain = "properties" not in top or isinstance(top["properties"].value, dict)
    return kind == "object" and plain and not {"$ref", "anyOf", "oneOf", "allOf", "enum", "const"} & set(top)


def _is_free_object(j: Json) -> bool:
    s = j.value if isinstance(j.value, dict) else {}
    return "type" in s and s["type"].value == "object"


def _param(name: str, found: Type, j: Json, required: bool, strict: bool, schemas: Schemas) -> Parameter:
    members = j.value if isinstance(j.value, dict) else {}
    given = members.get("default")
    default = None if given is None or required else literal(given, found)
    if given is not None and given.value is not None and default is None and not required:
        schemas.remark(f"the tool's own default of {quoted(name, 60)} cannot be written here")
    if required and isinstance(found, Optional):
        if strict:
            return Parameter(name, found, "absent")
        schemas.remark(f"{quoted(name, 60)} is required but may be null; what is absent here is left out of the call")
        return Parameter(name, found)
    if required or default is not None:
        return Parameter(name, found, default)
    return Parameter(name, found if isinstance(found, Optional) else Optional(found), "absent")


def literal(j: Json, t: Type) -> str | None:
    """A scalar as a literal of the type; ``None`` when it is none."""
    inner = t.item if isinstance(t, Optional) else t
    match j.value:
        case bool() as flag if inner == BOOL:
            return "true" if flag else "false"
        case bool():
            return None
        case int() | Fraction() as number if inner == DECIMAL or (inner == INT and isinstance(number, int)):
            shown = show_decimal(number)
            return shown if len(shown) <= LONGEST_NUMBER else None
        case str() as text if isinstance(inner, Enum) and text in inner.wire:
            return inner.members[inner.wire.index(text)]
        case str() as text if inner in (STRING, TEXT) or isinstance(inner, Id):
            return show_string(text)
    return None


def _result(tool: PublishedTool, registry: Registry, out: Declared, params: list[Parameter]) -> Type:
    if tool.output is None:
        if out.writes:
            out.lines.append("decide: what does it return? The interface does not say; nothing of it can be used")
            return RecordOf(None, ())
        out.lines.append("decide: what does it return? The interface does not say; it is read as text")
        return TEXT
    schemas = Schemas(tool.output, registry)
    found = schemas.type_of(tool.output, pascal(tool.name, "result"), "")
    out.lines += schemas.taken()
    return RecordOf(None, ()) if found is None else found


def _inline(result: Type, params: list[Parameter]) -> str:
    """The result's type; a record that only this tool has is written out, with what it echoes."""
    if not isinstance(result, RecordOf) or result.name is None or not result.name.endswith("Result"):
        return str(result)
    same = {p.name: p.type for p in params if p.default is None}
    fields = [
        f"{n}: {t}" + (f" echoes {n}" if same.get(n) == t and isinstance(t, Id) else "") for n, t in result.fields
    ]
    return f"{{ {', '.join(fields)} }}"


def written_out(result: Type) -> bool:
    """Whether :func:`_inline` writes the record out, so that it needs no declaration."""
    return isinstance(result, RecordOf) and result.name is not None and result.name.endswith("Result")


def _said(hints: Hints, hinted: bool) -> str:
    """What the server said, and what is therefore taken for true."""
    if not hints.said or not hinted:
        why = "the server says nothing" if not hints.said else "the server's hints are not believed"
        return f"{why}: it may write and destroy, and a repeat may do so again"
    words = {
        "readOnlyHint": "read-only" if hints.read_only else "writes",
        "destructiveHint": "destroys" if hints.destructive else "only adds",
        "idempotentHint": "idempotent" if hints.idempotent else "not idempotent",
        "openWorldHint": "open world" if hints.open_world else "closed world",
    }
    relevant = [h for h in words if not hints.read_only or h in ("readOnlyHint", "openWorldHint")]
    said = ", ".join(words[h] for h in relevant if h in hints.said) or "nothing that matters here"
    silent = ", ".join(words[h] for h in relevant if h not in hints.said)
    return f"the server says: {said}" + (f"; by the protocol's default: {silent}" if silent else "")


def _first(text: str) -> str:
    """The first sentence of a description, made safe for a comment."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text[:2_000]).split())
    sentence = re.search(r"\. (?=[A-Z])", clean)
    clean = clean if sentence is None else clean[: sentence.start() + 1]
    return clean if len(clean) <= 200 else clean[:199] + "…"


def _comments(lines: list[str]) -> Iterator[str]:
    from textwrap import wrap

    for line in lines:
        safe = "".join(c if c.isprintable() else " " for c in line)
        for n, part in enumerate(wrap(safe, 108, break_on_hyphens=False)):
            yield f"    # {'  ' if n else ''}{part}"


def comments(lines: list[str]) -> list[str]:
    """The lines as comments of the domain's level."""
    return list(_comments(lines))
