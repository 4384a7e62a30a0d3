"""Turns a published list of tools (MCP's ``tools/list``, OpenAI's or Anthropic's tool schemas) into one plain form.

What a server says about its tools is a hint. The protocol's defaults hold where it says nothing: a tool may write, may
destroy, does more when called again, and acts on an open world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
from cfrc.lang.jsonread import Json, JsonProblem, read_json
from cfrc.lang.jsonvalues import kind_of
from cfrc.source import Source, Span

Kind = Literal["mcp", "openai", "anthropic"]
KINDS: tuple[Kind, ...] = ("mcp", "openai", "anthropic")
MAX_TOOLS = 2_000

_INPUT = {"mcp": "inputSchema", "openai": "parameters", "anthropic": "input_schema"}
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_NO_SCHEMA = Json({}, None)


@dataclass(frozen=True, slots=True)
class Hints:
    """What the server says, with the protocol's defaults. ``said`` holds the hints that it really gave."""

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    said: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PublishedTool:
    """One tool as published. ``strict``: every parameter is listed as required, and null means left out (OpenAI)."""

    name: str
    description: str
    input: Json
    output: Json | None
    hints: Hints = field(default_factory=Hints)
    strict: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Interface:
    kind: Kind
    source: str
    tools: tuple[PublishedTool, ...]

    def tool(self, name: str) -> PublishedTool | None:
        return next((t for t in self.tools if t.name == name), None)


def read_interface(source: Source, kind: Kind) -> Interface:
    """The tools of the document: an array, ``{"tools": […]}``, or a JSON-RPC response to ``tools/list``.

    Raises :class:`cfrc.lang.diagnostics.SpecError`: ``IFC001`` (no list of tools), ``IFC002`` (a malformed tool),
    ``IFC003`` (two tools of one name), or a ``JSN`` code.
    """
    try:
        top = read_json(source)
    except JsonProblem as problem:
        raise SpecError([Diagnostic(problem.code, problem.message, problem.span, problem.help)]) from None
    items = _list(top)
    if len(items) > MAX_TOOLS:
        raise _wrong("IFC001", f"more than {MAX_TOOLS:,} tools", items[MAX_TOOLS], "import the ones that are used")
    tools: dict[str, PublishedTool] = {}
    for item in items:
        tool = _tool(item, kind)
        if tool is None:
            continue
        if tool.name in tools:
            raise _wrong("IFC003", f"two tools are called {quoted(tool.name)}", item, "which one is meant?")
        tools[tool.name] = tool
    if not tools:
        raise _wrong(
            "IFC001", "there are no tools here", top, "the answer to `tools/list`, or the `tools` of a request"
        )
    return Interface(kind, source.name, tuple(tools.values()))


def _list(top: Json) -> list[Json]:
    found = top
    for name in ("result", "tools"):
        if isinstance(found.value, dict) and name in found.value:
            found = found.value[name]
    if not isinstance(found.value, list):
        help = "an array of tools, or an object with the member `tools`"
        raise _wrong("IFC001", f"expected a list of tools, found {kind_of(found)}", found, help)
    return found.value


def _tool(item: Json, kind: Kind) -> PublishedTool | None:
    """One tool; ``None`` for a tool that the provider runs itself and publishes no schema of."""
    members = _object(item, "a tool")
    function = members.get("function")
    if kind == "openai" and function is not None:
        members = _object(function, "a function")
    elif kind == "openai" and _text(members, "type") not in (None, "function"):
        return None
    name = members.get("name")
    if name is None or not isinstance(name.value, str) or not name.value:
        raise _wrong("IFC002", "a tool without a name", name or item, "expected a string in `name`")
    schema = next((members[n] for n in (_INPUT[kind], *_INPUT.values()) if n in members), _NO_SCHEMA)
    if schema.value is None:
        schema = _NO_SCHEMA
    _object(schema, f"the schema of {quoted(name.value)}")
    output = members.get("outputSchema")
    if output is not None and output.value is None:
        output = None
    if output is not None:
        _object(output, f"the result's schema of {quoted(name.value)}")
    strict = "strict" in members and members["strict"].value is True
    hints = _hints(members.get("annotations")) if kind == "mcp" else Hints()
    description = _text(members, "description") or _text(members, "title") or ""
    return PublishedTool(name.value, description, schema, output, hints, strict, item.span)


def _hints(j: Json | None) -> Hints:
    given = j.value if j is not None and isinstance(j.value, dict) else {}
    said = {n: v for n in _HINTS if n in given and isinstance(v := given[n].value, bool)}
    return Hints(
        said.get("readOnlyHint", False),
        said.get("destructiveHint", True),
        said.get("idempotentHint", False),
        said.get("openWorldHint", True),
        frozenset(said),
    )


def _object(j: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(j.value, dict):
        raise _wrong("IFC002", f"expected {what}, an object; found {kind_of(j)}", j)
    return j.value


def _text(members: Mapping[str, Json], name: str) -> str | None:
    j = members.get(name)
    return j.value if j is not None and isinstance(j.value, str) else None


def _wrong(code: str, message: str, at: Json, help: str | None = None) -> SpecError:
    return SpecError([Diagnostic(code, message, at.span, help)])
