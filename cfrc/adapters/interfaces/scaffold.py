"""Turns a published interface into the text of a domain file: what schemas say is declared, the rest is asked.

The text loads as it is and is in the canonical layout. It is a safe start, not a finished domain: tools that are not
read-only are undeclared writes, which no contract allows without a licence by name.
"""

from __future__ import annotations

from cfrc.adapters.interfaces.declare import Declared, comments, declare, written_out
from cfrc.adapters.interfaces.digests import lines as digest_lines
from cfrc.adapters.interfaces.names import declared_names, is_name
from cfrc.adapters.interfaces.read import Interface
from cfrc.adapters.interfaces.registry import Registry, reachable
from cfrc.adapters.interfaces.schema import stems_of
from cfrc.lang.format import format_source
from cfrc.model.show import show_string
from cfrc.model.types import Enum, Id, RecordOf
from cfrc.source import Source

_OPENING = """\
# A scaffold of {what}. Schemas say what is passed, not what it means: lines with `decide:`
# are for a person. Worth deciding besides: which fluents a read observes, and which events it witnesses or refutes;
# where an argument may come from (`from user | tool.field`; else from any trusted source); which strings are prose.
# The digests tell when the interface has changed: `cfrc import {kind} FILE --against THIS`.
"""
_WHAT = {"mcp": "an MCP server's `tools/list`", "openai": "OpenAI tool schemas", "anthropic": "Anthropic tool schemas"}


def scaffold(interface: Interface, name: str, hinted: bool = True) -> str:
    """The text of the domain. ``hinted``: whether what the server says about its tools is believed.

    Raises ``ValueError`` when ``name`` is no name of the language.
    """
    if not is_name(name):
        raise ValueError(f"{name!r} is no name")
    names = declared_names(t.name for t in interface.tools)
    stems = {s for t in interface.tools for j in (t.input, t.output) if j is not None for s in stems_of(j)}
    registry = Registry(stems, [*names.values(), name])
    tools = [declare(t, names[t.name], registry, hinted) for t in interface.tools]
    text = "\n".join(
        [
            _OPENING.format(what=_WHAT[interface.kind], kind=interface.kind) + "#",
            *digest_lines(interface),
            f"domain {name}",
            *_types(tools),
            *(line for t in tools for line in _lines(t)),
            "",
        ]
    )
    return format_source(Source(f"{name}.cfrc", text))


def _types(tools: list[Declared]) -> list[str]:
    """The declarations of all types that the tools name."""
    out: list[str] = []
    roots = [t for tool in tools if tool.why is None for t in tool.types]
    # A record that is written out in its tool needs no declaration, unless something else names it.
    inner = [t for root in roots if written_out(root) and isinstance(root, RecordOf) for _, t in root.fields]
    named = reachable([*(r for r in roots if not written_out(r)), *inner])
    ids = [t.name for t in named if isinstance(t, Id)]
    if ids:
        out += ["    # decide: guessed from names. Are these identifiers, copied and never computed? Are any the same?"]
        out += [f"    id {', '.join(ids)}"]
    for t in named:
        if isinstance(t, Enum):
            members = (m if m == w else f"{m} = {show_string(w)}" for m, w in zip(t.members, t.wire, strict=True))
            out.append(f"    enum {t.name} {{ {', '.join(members)} }}")
    for t in named:
        if isinstance(t, RecordOf):
            out.append(f"    record {t.name} {{ {', '.join(f'{n}: {f}' for n, f in t.fields)} }}")
    return out


def _lines(tool: Declared) -> list[str]:
    if tool.why is None:
        return ["", *tool.lines]
    return ["", *comments([f"not declared: `{tool.name}` cannot be called from here: {tool.why}", *tool.lines])]
