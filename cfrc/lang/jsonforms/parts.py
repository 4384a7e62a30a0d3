"""Turns the small parts of a JSON form (names, types, expressions, sources) into syntax placed in the JSON text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import Diagnostic, quoted
from cfrc.lang.jsonnodes import JsonArray, JsonObject, JsonScalar, OutRef
from cfrc.lang.jsonread import Json
from cfrc.lang.parse import parse_expression
from cfrc.source import Source, Span

SOURCES = ("ref", "out", "expr", "lit")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[\[\]{}?,:]|\S)")

N = TypeVar("N", bound=t.Node)


class Parts:
    """Makes nodes of JSON parts of one document; complaints go to ``diagnostics``."""

    def __init__(self, source: Source) -> None:
        self.source, self.diagnostics = source, list[Diagnostic]()

    def span(self, j: Json) -> Span:
        return j.span or Span(self.source, 0, 0)

    def inside(self, j: Json) -> Span:
        """The place of a string's contents, without its quotes."""
        span = self.span(j)
        return Span(span.source, span.start + 1, span.end - 1) if span.text[:1] == '"' and len(span.text) > 1 else span

    def complain(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, help))

    # --- words ------------------------------------------------------------------------------------------------------

    def name(self, j: Json) -> t.Name:
        return t.Name(str(j.value), span=self.inside(j))

    def names(self, j: Json) -> tuple[t.Name, ...]:
        return tuple(self.name(i) for i in cast("list[Json]", j.value))

    def text(self, j: Json) -> t.Text:
        return t.Text(str(j.value), span=self.span(j))

    def number(self, j: Json) -> t.Number:
        return t.Number(cast("int", j.value), span=self.span(j))

    def target(self, j: Json) -> t.Target:
        tool, _, param = str(j.value).partition(".")
        span = self.inside(j)
        middle = span.start + len(tool)
        return t.Target(
            t.Name(tool, span=replace(span, end=middle)), t.Name(param, span=replace(span, start=middle + 1)), span=span
        )

    # --- values and sources -----------------------------------------------------------------------------------------

    def plain(self, j: Json) -> t.ExprNode:
        """A plain value: nothing in it is a source."""
        return self._value(j, sources=False)

    def argument(self, j: Json) -> t.ExprNode:
        """A value in which, at any depth, an object with exactly one of the keys ref, out, expr and lit is a source."""
        return self._value(j, sources=True)

    def _value(self, j: Json, *, sources: bool) -> t.ExprNode:
        span = self.span(j)
        found: t.Node
        match j.value:
            case list() as items:
                found = JsonArray(tuple(self._value(i, sources=sources) for i in items), span=span)
            case dict() as members if sources and len(members) == 1 and next(iter(members)) in SOURCES:
                key = next(iter(members))
                return self._source(key, members[key], span)
            case dict() as members:
                inits = (
                    t.FieldInit(
                        t.Name(k, span=j.key_span(k) or span), self._value(v, sources=sources), span=self.span(v)
                    )
                    for k, v in members.items()
                )
                found = JsonObject(tuple(inits), span=span)
            case _:
                found = JsonScalar(j, span=span)
        # The resolver takes these beside the language's own expressions, in every place where a form has a value.
        return cast("t.ExprNode", found)

    def _source(self, key: str, j: Json, span: Span) -> t.ExprNode:
        if key == "lit":
            return self.plain(j)
        if not isinstance(j.value, str):
            self.complain("JSN012", f"`{key}` needs a string", self.span(j))
            return t.Ref("", span=span)
        if key == "expr":
            return self.expression(j)
        steps = j.value.split(".") if key == "out" else [j.value]
        if not all(_NAME.fullmatch(s) for s in steps):
            help = 'write an expression, {"expr": …}, for anything but names joined by `.`' if key == "out" else None
            self.complain("JSN013", f"{quoted(j.value)} is not a name", self.span(j), help)
            return t.Ref("", span=span)
        inside = self.inside(j)
        node: t.ExprNode = OutRef(steps[0], span=inside) if key == "out" else t.Ref(steps[0], span=inside)
        for step in steps[1:]:
            node = t.Member(node, t.Name(step, span=inside), span=inside)
        return node

    # --- strings of the language ------------------------------------------------------------------------------------

    def expression(self, j: Json) -> t.ExprNode:
        """An expression in a string; a syntax error is reported inside the string."""
        span = self.inside(j)
        if "\\" not in span.text:
            node, found = parse_expression(self.source, span.start, span.end)
            self.diagnostics.extend(found)
        else:
            # Escapes move offsets: the parts then all point at the whole string.
            node, found = parse_expression(Source(self.source.name, str(j.value)))
            self.diagnostics.extend(replace(d, span=span, notes=()) for d in found)
            node = move(node, span) if node is not None else None
        return node if node is not None else t.Ref("", span=span)

    def optional_expression(self, j: Json | None) -> t.ExprNode | None:
        return None if j is None or j.value is None else self.expression(j)

    def pattern(self, j: Json) -> t.Pattern:
        """``sent(receipt, _)`` or a bare name in a string."""
        before = len(self.diagnostics)
        node = self.expression(j)
        match node:
            case t.Call(func=func, args=args):
                return t.Pattern(func, args, span=node.span)
            case t.Ref(name=name):
                return t.Pattern(t.Name(name, span=node.span), None, span=node.span)
        if len(self.diagnostics) == before:
            self.complain("JSN015", "expected a pattern such as `sent(receipt, _)`", node.span)
        return t.Pattern(t.Name("", span=node.span), (), span=node.span)

    def typed_names(self, j: Json | None) -> tuple[t.TypedName, ...]:
        members = cast("dict[str, Json]", j.value) if j is not None else {}
        return tuple(
            t.TypedName(t.Name(k, span=(j and j.key_span(k)) or self.span(v)), self.type(v), span=self.span(v))
            for k, v in members.items()
        )

    def type(self, j: Json) -> t.TypeNode:
        """A type in a string: ``list[Item]``, ``Item?``, ``{ a: T }``."""
        reader = _TypeReader(str(j.value), self.inside(j))
        try:
            return reader.whole()
        except _NoType:
            self.complain(
                "JSN016", f"{quoted(str(j.value))} is not a type", self.span(j), "such as `Item`, `list[Item]`, `Item?`"
            )
            return t.NamedType("text", span=self.span(j))


class _NoType(Exception):
    """The text is no type."""


class _TypeReader:
    """A recursive-descent reader of types; nesting is bounded by the bound on JSON strings being short: 50 levels."""

    def __init__(self, text: str, span: Span) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at, self.span = 0, span

    def whole(self) -> t.TypeNode:
        found = self.type(0)
        if self.at < len(self.tokens):
            raise _NoType
        return found

    def take(self, wanted: str | None = None) -> str:
        if self.at >= len(self.tokens) or (wanted is not None and self.tokens[self.at] != wanted):
            raise _NoType
        self.at += 1
        token: str = self.tokens[self.at - 1]
        return token

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def name(self) -> t.Name:
        token = self.take()
        if not _NAME.fullmatch(token):
            raise _NoType
        return t.Name(token, span=self.span)

    def type(self, depth: int) -> t.TypeNode:
        if depth > 50:
            raise _NoType
        found: t.TypeNode
        if self.peek() == "{":
            found = self.record(depth)
        else:
            name = self.name()
            found = t.NamedType(name.text, span=self.span)
            if self.peek() == "[":
                found = t.AppliedType(name, tuple(self.until("]", "[", depth)), span=self.span)
        while self.peek() == "?":
            self.take()
            found = t.OptionalType(found, span=self.span)
        return found

    def until(self, close: str, opening: str, depth: int) -> Iterable[t.TypeNode]:
        self.take(opening)
        found = [self.type(depth + 1)]
        while self.peek() == ",":
            self.take()
            found.append(self.type(depth + 1))
        self.take(close)
        return found

    def record(self, depth: int) -> t.RecordType:
        self.take("{")
        found: list[t.FieldType] = []
        while self.peek() != "}":
            if found:
                self.take(",")
            name = self.name()
            self.take(":")
            found.append(t.FieldType(name, self.type(depth + 1), span=self.span))
        self.take("}")
        return t.RecordType(tuple(found), span=self.span)


def move(node: N, span: Span) -> N:
    """The tree with every part at one place."""
    changes: dict[str, Any] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, Span):
            changes[f.name] = span
        elif isinstance(value, t.Node):
            changes[f.name] = move(value, span)
        elif isinstance(value, tuple):
            changes[f.name] = tuple(move(v, span) if isinstance(v, t.Node) else v for v in value)
    return replace(node, **changes)
