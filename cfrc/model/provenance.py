"""Turns a parameter's ``from`` clause and the origin of a value into whether the one allows the other."""

from __future__ import annotations

from cfrc.model.contract import Origin
from cfrc.model.domain import Param, SourcePattern
from cfrc.model.values import Value


def from_tool(s: SourcePattern, tool: str | None, path: tuple[str, ...]) -> bool:
    """Whether the alternative allows a field of that tool's result."""
    named = s.kind == "receipt" or (s.kind == "tool" and tool in (None, s.tool))
    return named and path[: len(s.path)] == s.path


def allows(p: Param, origin: Origin) -> bool:
    """Whether the parameter takes values from there (a quotation is a further question)."""
    if p.sources is None:
        return True
    if origin.kind == "user":
        return any(s.kind == "user" for s in p.sources)
    return origin.kind == "receipt" and any(from_tool(s, origin.tool, origin.path) for s in p.sources)


def refuses_quote(p: Param, origin: Origin) -> bool:
    """Whether the value is quoted from prose, and the parameter does not take such values."""
    if origin.quoted is None:
        return False
    explicit = any(s.quoted and from_tool(s, origin.tool, origin.path) for s in p.sources or ())
    return p.unquoted and not explicit


def same_args(trusted: tuple[Value | None, ...], given: tuple[Value | None, ...] | None) -> bool:
    """Whether the receipt's call is the trusted one. What an origin does not say about its call is not assumed."""
    if given is None:
        return all(v is None for v in trusted)
    return all(v is None or v == w for v, w in zip(trusted, given, strict=False))
