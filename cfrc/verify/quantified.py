"""Turns statements about every row of an opaque collection into statements about the rows that a question reads.

``all(p for x in xs)``, ``any(…)`` and ``observes … for x in xs`` range over collections that nobody knows. Their exact
meaning is quantified; here it is instantiated, soundly and finitely, at a witness and at each row that some term reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model import types as ty
from cfrc.verify.shapes import Fields, Maybe, Scalar, Shape, leaves, unknown
from cfrc.verify.terms import BOOL, INT, Term, Terms

ROUNDS = 3
"""Instantiating may read further rows: how often these are followed."""


@dataclass(slots=True)
class Quantified:
    """``app`` says that ``body`` holds for every row (``all``), for some row (``any``), or is a fact where it is true
    (``each``: only its consequences are wanted). ``source`` is the collection's term, ``type`` its type."""

    kind: Literal["all", "any", "each"]
    app: Term
    source: Term
    type: ty.Type
    body: Callable[[Shape], Term]
    done: set[tuple[int, ...]] = field(default_factory=set)


class Quantifiers:
    """All quantified statements of one admission, and the axioms that follow from them so far."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.known: dict[tuple[int, int], Quantified] = {}
        self.axioms: list[Term] = []
        self.later: list[Callable[[], Term]] = []
        """Axioms that can be formed when all runs are known."""

    def add(self, q: Quantified) -> None:
        key = (q.app.id, q.source.id)
        if q.kind != "each" and key in self.known:
            return
        self.known[key if q.kind != "each" else (q.app.id, -len(self.known))] = q
        if q.kind != "each":
            self._witness(q)

    def fact(self, axiom: Term) -> bool:
        """Adds something that holds of every value there is; whether it is new."""
        new = all(axiom is not known for known in self.axioms)
        if new:
            self._emit(axiom)
        return new

    def instantiate(self) -> None:
        """Adds the axioms for every row that the terms made so far read."""
        while self.later:
            self._emit(self.later.pop(0)())
        for _ in range(ROUNDS if self.known else 0):
            before = len(self.axioms)
            for q in list(self.known.values()):
                for row, inside in list(self.rows(q)):
                    key = tuple(t.id for t in leaves(self.terms, row))
                    if key not in q.done:
                        q.done.add(key)
                        self._emit(self._consequence(q, row, inside))
            if len(self.axioms) == before:
                return

    def _emit(self, axiom: Term) -> None:
        if axiom is not self.terms.true:
            self.axioms.append(axiom)

    def _consequence(self, q: Quantified, row: Shape, inside: Term) -> Term:
        t = self.terms
        body = q.body(row)
        if q.kind == "any":
            return t.implies(t.and_(inside, body), q.app)
        return t.implies(t.and_(q.app, inside), body)

    def _witness(self, q: Quantified) -> None:
        """Where ``all`` is false some row shows it; where ``any`` is true some row does."""
        t = self.terms
        tag = f"row of {q.app.id}"
        row, inside = generic_row(t, q.source, q.type, tag)
        body = q.body(row)
        shown = t.and_(inside, body if q.kind == "any" else t.not_(body))
        self._emit(t.implies(q.app if q.kind == "any" else t.not_(q.app), shown))

    def _nth(self, q: Quantified, i: Term) -> tuple[Shape, Term]:
        t = self.terms
        row = unknown(t, row_type(q.type), lambda s, sort: t.app(sort, f"nth{s}", (q.source, i)))
        size = t.app(INT, "len", (q.source,))
        return row, t.and_(t.le(t.const(INT, 0), i), t.le(i, size, strict=True))

    def rows(self, q: Quantified) -> Iterator[tuple[Shape, Term]]:
        """The rows that some term reads, each with the condition that it is one."""
        t = self.terms
        apps = [a for a in t.apps() if a.args and a.args[0] is q.source]
        if isinstance(q.type, ty.ListOf):
            # the first row too, so that a collection that must not be empty has a row to show
            positions = {t.const(INT, 0).id: t.const(INT, 0)}
            positions.update({a.args[1].id: a.args[1] for a in apps if str(a.data).startswith("nth")})
            for i in positions.values():
                yield self._nth(q, i)
        for a in apps:
            if a.data == "has":
                yield from_leaves(row_type(q.type), iter(a.args[1:])), a


def generic_row(t: Terms, source: Term, of: ty.Type, tag: str) -> tuple[Shape, Term]:
    """A row of an opaque collection that may be any of them, with the condition that it is one."""
    if isinstance(of, ty.ListOf):
        at = t.sym(INT, tag)
        row = unknown(t, of.item, lambda s, sort: t.app(sort, f"nth{s}", (source, at)))
        size = t.app(INT, "len", (source,))
        return row, t.and_(t.le(t.const(INT, 0), at), t.le(at, size, strict=True))
    row = unknown(t, row_type(of), lambda s, sort: t.sym(sort, tag + s))
    return row, t.app(BOOL, "has", (source, *leaves(t, row)))


def row_type(t: ty.Type) -> ty.Type:
    """The type of a list's or bag's elements, or of a map's keys."""
    match t:
        case ty.ListOf(i) | ty.BagOf(i):
            return i
        case ty.MapOf(k, _):
            return k
    return ty.ANY


def from_leaves(t: ty.Type, rest: Iterator[Term]) -> Shape:
    """The shape whose leaves, in canonical order, are these terms."""
    match t:
        case ty.Optional(i):
            present = next(rest)
            return Maybe(present, from_leaves(i, rest), t)
        case ty.RecordOf(_, fields):
            return Fields({n: from_leaves(f, rest) for n, f in sorted(fields)}, t)
    return Scalar(next(rest), t)
