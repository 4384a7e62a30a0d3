"""Turns the ``echoes p`` marks of a result type into what they say: which paths repeat ``p``, and that they equal it.

A field that is optional, or lies in something optional, may be absent; in a collection every element repeats ``p``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.typing import strip
from cfrc.model.domain import Param
from cfrc.model.expr import Apply, Comprehension, Expr, Field, Generator, Lit, Var, conjuncts
from cfrc.model.types import ANY, BOOL, BagOf, ListOf, MapOf, Optional, RecordOf, Type, fits
from cfrc.source import Span


@dataclass(slots=True)
class Echoes:
    """``paths`` maps a result path to the parameter it repeats; ``said`` are the equations, as ``ensures`` would be."""

    paths: dict[tuple[str, ...], str] = field(default_factory=dict)
    said: list[Expr] = field(default_factory=list)


def echoes(node: t.TypeNode | None, result: Expr, params: Mapping[str, Param], problems: Problems) -> Echoes:
    """What the marks of a written result type say; a mark of an unknown or ill-typed parameter is reported."""
    reader = _Reader(params, problems)
    if node is not None:
        reader.found.said = list(reader.read(node, result, ()))
    return reader.found


def with_echoes(ensures: Sequence[Expr], said: Sequence[Expr]) -> list[Expr]:
    """The ``ensures`` clauses and what the echoes add: nothing that is already written, in either direction."""
    written = [part for e in ensures for part in conjuncts(e)]
    return [*ensures, *(e for e in said if e not in written and _turned(e) not in written)]


def _turned(e: Expr) -> Expr:
    return Apply(op="==", args=e.args[::-1], type=BOOL, span=e.span) if isinstance(e, Apply) and e.op == "==" else e


class _Reader:
    """One result type while its marks are being read."""

    def __init__(self, params: Mapping[str, Param], problems: Problems) -> None:
        self.params, self.problems = params, problems
        self.found = Echoes()
        self.fresh = (name for i in count() if (name := f"element{i}") not in params)

    def read(self, node: t.TypeNode, at: Expr, path: tuple[str, ...]) -> Iterator[Expr]:
        """The equations of the marks in a written type, whose value is ``at``."""
        match node:
            case t.OptionalType(item=item):
                for said in self.read(item, at, path):
                    yield _unless_absent(at, said)
            case t.AppliedType(args=args):
                yield from self._elements(args[-1], at, path)
            case t.RecordType(fields=fields) if isinstance(owner := strip(at.type), RecordOf):
                for f in fields:
                    inner = Field(base=at, name=f.name.text, type=owner.field(f.name.text) or ANY, span=f.span)
                    own = (*path, f.name.text)
                    if f.echoes is not None and (param := self._param(f, inner.type)) is not None:
                        self.found.paths[own] = param.name
                        yield _equal(inner, param, f.echoes.span)
                    yield from self.read(f.type, inner, own)

    def _elements(self, node: t.TypeNode, at: Expr, path: tuple[str, ...]) -> Iterator[Expr]:
        owner = strip(at.type)
        match owner:
            case MapOf(value=item):
                source: Expr = Apply(op="values", args=(at,), type=BagOf(item), span=at.span)
            case ListOf(item=item) | BagOf(item=item):
                source = at
            case _:
                return
        var = Var(name=next(self.fresh), kind="bound", type=item, span=at.span)
        for said in self.read(node, var, path):
            yield Comprehension(
                kind="all", body=said, generators=(Generator(var.name, item, source),), type=BOOL, span=said.span
            )

    def _param(self, f: t.FieldType, own: Type) -> Param | None:
        assert f.echoes is not None
        param = self.params.get(f.echoes.text)
        if param is None:
            self.problems.unknown("parameter", f.echoes.text, self.params, f.echoes.span, "NAM001")
            return None
        if not fits(strip(param.type), strip(own)):
            mine, other = quoted(str(own), 80), quoted(str(param.type), 80)
            what = f"field {quoted(f.name.text)} of type {mine} cannot echo a {other}"
            self.problems.add("EXP001", what, f.echoes.span)
            return None
        return param


def _equal(at: Expr, param: Param, span: Span) -> Expr:
    """The field equals the parameter, where both are there: of two optional ones, both or neither."""
    var = Var(name=param.name, kind="param", type=param.type, span=span)
    same = Apply(op="==", args=(at, var), type=BOOL, span=span)
    mine, other = isinstance(at.type, Optional), isinstance(param.type, Optional)
    return same if mine == other else _unless_absent(at if mine else var, same)


def _unless_absent(at: Expr, said: Expr) -> Expr:
    absent = Apply(op="==", args=(at, Lit(value=None, type=at.type, span=said.span)), type=BOOL, span=said.span)
    return Apply(op="or", args=(absent, said), type=BOOL, span=said.span)
