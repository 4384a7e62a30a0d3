"""Turns symbolic values into interned terms that fold as they are built.

Most questions about a ground or copy-through graph are answered here, by construction, and never reach the solver:
equal terms are the same object, literals of one sort are distinct, Boolean structure simplifies. A :class:`Terms`
factory owns its table; there is no global state. Folding can be switched off (``fold=False``), so that tests can run
the solver against normalization.

Sorts are strings: ``Bool``, ``Int``, ``Real``, ``Enum:<n>`` (an integer below n), and opaque sorts ``Id:<Type>``,
``Str``, ``List:…``, ``Bag:…``, ``Map:…`` whose only built-in relation is equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

BOOL, INT, REAL, STR = "Bool", "Int", "Real", "Str"


class Term:
    """An interned node: ``op``, ``sort``, ``args`` (terms) and ``data`` (a literal's value or a symbol's name).

    ``ground`` says that no symbol or uninterpreted application occurs in it.
    """

    __slots__ = ("args", "data", "ground", "id", "op", "sort")

    def __init__(self, op: str, sort: str, args: tuple[Term, ...], data: Any, number: int) -> None:
        self.op, self.sort, self.args, self.data, self.id = op, sort, args, data, number
        self.ground: bool = op == "const" or (op not in ("sym", "app") and all(a.ground for a in args))

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    def __repr__(self) -> str:
        if self.op in ("const", "sym"):
            return str(self.data)
        name = self.data if self.op in ("app", "coll") else self.op
        return f"{name}({', '.join(map(repr, self.args))})"


class Terms:
    """A factory of interned terms. All terms of one admission come from one factory."""

    def __init__(self, fold: bool = True, base: Terms | None = None) -> None:
        self.fold = fold
        self._table: dict[Any, Term] = {}
        self._base: dict[Any, Term] = base._table if base is not None else {}
        self._offset = len(self._base)
        self.layouts: dict[str, tuple[int, tuple[str, ...]]] = dict(base.layouts) if base is not None else {}
        """Per collection sort of a literal: how many leaves its key has, and the path suffixes of its elements'
        leaves."""
        self.true = self.const(BOOL, True)
        self.false = self.const(BOOL, False)

    def fork(self) -> Terms:
        """A factory that shares the terms made so far and keeps new ones to itself. Nothing may be added to ``self``
        after."""
        return Terms(self.fold, self)

    def _make(self, op: str, sort: str, args: tuple[Term, ...], data: Any = None) -> Term:
        key = (op, sort, tuple([a.id for a in args]), data) if args else (op, sort, data)
        found = self._table.get(key)
        if found is None:
            found = self._base.get(key)
            if found is None:
                found = self._table[key] = Term(op, sort, args, data, self._offset + len(self._table))
        return found

    @property
    def size(self) -> int:
        return self._offset + len(self._table)

    def _all(self) -> Iterator[Term]:
        yield from self._base.values()
        yield from self._table.values()

    # -- leaves -------------------------------------------------------------------------------------------------

    def const(self, sort: str, value: Any) -> Term:
        """A literal. Numbers are normalized so that ``2`` and ``2.0`` of one sort are one term."""
        if sort == REAL:
            value = Fraction(value)
        return self._make("const", sort, (), value)

    def sym(self, sort: str, name: str) -> Term:
        """An unknown constant, named."""
        return self._make("sym", sort, (), name)

    def app(self, sort: str, name: str, args: Iterable[Term]) -> Term:
        """An uninterpreted function's application: equal arguments give equal values, nothing else is known."""
        return self._make("app", sort, tuple(args), name)

    def coll(self, sort: str, args: Iterable[Term], width: int) -> Term:
        """A literal collection of elements of ``width`` leaf terms each; a bag's or map's elements are sorted by
        identity."""
        flat = tuple(args)
        if not sort.startswith("List"):
            rows = sorted(
                (flat[i : i + width] for i in range(0, len(flat), width or 1)), key=lambda r: [t.id for t in r]
            )
            flat = tuple(t for row in rows for t in row)
        return self._make("coll", sort, flat, width)

    # -- Booleans -----------------------------------------------------------------------------------------------

    def not_(self, a: Term) -> Term:
        if a is self.true:
            return self.false
        if a is self.false:
            return self.true
        return a.args[0] if a.op == "not" else self._make("not", BOOL, (a,))

    def and_(self, *parts: Term) -> Term:
        return self._junction("and", self.true, self.false, parts)

    def or_(self, *parts: Term) -> Term:
        return self._junction("or", self.false, self.true, parts)

    def _junction(self, op: str, unit: Term, zero: Term, parts: tuple[Term, ...]) -> Term:
        seen: dict[int, Term] = {}
        for p in parts:
            for q in p.args if p.op == op else (p,):
                if q is zero:
                    return zero
                if q is not unit:
                    seen[q.id] = q
        for q in seen.values():
            if q.op == "not" and q.args[0].id in seen:
                return zero
        if not seen:
            return unit
        return next(iter(seen.values())) if len(seen) == 1 else self._make(op, BOOL, tuple(seen.values()))

    def implies(self, a: Term, b: Term) -> Term:
        return self.or_(self.not_(a), b)

    def ite(self, c: Term, a: Term, b: Term) -> Term:
        if c is self.true or a is b:
            return a
        if c is self.false:
            return b
        if a.sort == BOOL:
            return self.or_(self.and_(c, a), self.and_(self.not_(c), b))
        return self._make("ite", a.sort, (c, a, b))

    # -- equality and arithmetic --------------------------------------------------------------------------------

    def eq(self, a: Term, b: Term) -> Term:
        if a is b:
            return self.true
        if a.sort != b.sort:
            if {a.sort, b.sort} != {INT, REAL}:
                return self.false  # ill-typed: reported as such
            a, b = self._widen(a, b)
            if a is b:
                return self.true
        if self.fold:
            if a.is_const and b.is_const:
                return self.true if a.data == b.data else self.false
            if a.sort == BOOL:
                for x, y in ((a, b), (b, a)):
                    if x is self.true:
                        return y
                    if x is self.false:
                        return self.not_(y)
            if a.op == "coll" and b.op == "coll":
                return self._eq_coll(a, b)
        return self._make("eq", BOOL, (a, b) if a.id < b.id else (b, a))

    def _widen(self, a: Term, b: Term) -> tuple[Term, Term]:
        if {a.sort, b.sort} == {INT, REAL}:
            return self.to_real(a), self.to_real(b)
        raise TypeError(f"cannot compare {a.sort} with {b.sort}")

    def to_real(self, a: Term) -> Term:
        if a.sort == REAL:
            return a
        return self.const(REAL, a.data) if a.is_const else self._make("to_real", REAL, (a,))

    def rows(self, coll: Term) -> list[tuple[Term, ...]]:
        """The elements of a literal collection, each a tuple of leaf terms."""
        w = coll.data
        return [coll.args[i : i + w] for i in range(0, len(coll.args), w)] if w else []

    def _eq_coll(self, a: Term, b: Term) -> Term:
        left, right = self.rows(a), self.rows(b)
        if len(left) != len(right):
            return self.false
        if a.sort.startswith("List"):
            return self.and_(*(self.eq_all(x, y) for x, y in zip(left, right, strict=True)))
        # a multiset: every element occurs equally often on both sides
        parts = []
        for row in {tuple(t.id for t in r): r for r in (*left, *right)}.values():
            counts = [self.add(*(self.ite(self.eq_all(row, r), self.const(INT, 1), self.const(INT, 0)) for r in side))
                      for side in (left, right)]  # fmt: skip
            parts.append(self.eq(*counts))
        return self.and_(*parts)

    def eq_all(self, left: Iterable[Term], right: Iterable[Term]) -> Term:
        """Pointwise equality of two rows of equal length; stops at the first pair that can never be equal."""
        parts = []
        for a, b in zip(left, right, strict=True):
            if a is b:
                continue
            e = self.eq(a, b)
            if e is self.false:
                return e
            parts.append(e)
        return self.and_(*parts) if parts else self.true

    def le(self, a: Term, b: Term, strict: bool = False) -> Term:
        """``a <= b``, or ``a < b`` if strict."""
        if a.sort != b.sort:
            a, b = self._widen(a, b)
        if self.fold and a.is_const and b.is_const:
            return self.true if (a.data < b.data if strict else a.data <= b.data) else self.false
        if a is b:
            return self.false if strict else self.true
        return self._make("lt" if strict else "le", BOOL, (a, b))

    def add(self, *parts: Term) -> Term:
        sort = REAL if any(p.sort == REAL for p in parts) else INT
        total: Any = Fraction(0) if sort == REAL else 0
        rest: list[Term] = []
        for p in parts:
            q = self.to_real(p) if sort == REAL else p
            for r in q.args if q.op == "add" else (q,):
                if r.is_const:
                    total += r.data
                else:
                    rest.append(r)
        if not rest:
            return self.const(sort, total)
        if total != 0:
            rest.append(self.const(sort, total))
        return rest[0] if len(rest) == 1 else self._make("add", sort, tuple(rest))

    def mul(self, a: Term, b: Term) -> Term | None:
        """A product; ``None`` when both sides are symbolic (undecided by design: never approximated)."""
        if a.sort != b.sort:
            a, b = self._widen(a, b)
        if a.is_const and b.is_const:
            return self.const(a.sort, a.data * b.data)
        if b.is_const:
            a, b = b, a
        if not a.is_const:
            return None
        if a.data == 0:
            return a
        return b if a.data == 1 else self._make("mul", b.sort, (a, b))

    def sub(self, a: Term, b: Term) -> Term:
        minus = self.mul(self.const(b.sort, -1), b)
        assert minus is not None
        return self.add(a, minus)

    # -- inspection, for decoding models ------------------------------------------------------------------------

    def apps(self) -> list[Term]:
        """Every uninterpreted application made so far."""
        return [t for t in self._all() if t.op == "app"]

    def colls(self, sort: str) -> list[Term]:
        """Every literal collection of the sort made so far."""
        return [t for t in self._all() if t.op == "coll" and t.sort == sort]

    def literals(self, sort: str) -> list[Term]:
        return [t for t in self._all() if t.op == "const" and t.sort == sort]

    def rebuild(self, term: Term, args: list[Term]) -> Term:
        """The term with other arguments, folded: evaluates an interpreted operator on literals."""
        match term.op:
            case "not":
                return self.not_(args[0])
            case "and":
                return self.and_(*args)
            case "or":
                return self.or_(*args)
            case "ite":
                return self.ite(args[0], args[1], args[2])
            case "eq":
                return self.const(BOOL, args[0].data == args[1].data)
            case "le" | "lt":
                return self.le(args[0], args[1], strict=term.op == "lt")
            case "add":
                return self.add(*args)
            case "mul":
                return self.mul(args[0], args[1]) or term
            case "to_real":
                return self.to_real(args[0])
        return term
