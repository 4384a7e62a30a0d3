"""Turns interned terms into Z3 expressions, each once, with the axioms that opaque sorts need.

Opaque sorts are uninterpreted; a literal ``i`` of one carries ``code(literal) = i``, so that literals are distinct at a
linear cost. Literal collections are constants with axioms about their size, members and equality to one another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import z3

from cfrc.verify.terms import Term, Terms

OPAQUE_ARITHMETIC = frozenset({"mul", "div", "round"})


class Encoder:
    """``emit`` receives every axiom as it becomes necessary; axioms are permanent."""

    def __init__(self, terms: Terms, context: Any, emit: Callable[[Any], None]) -> None:
        self.terms = terms
        self.emit = emit
        self._context = context
        self.literals: dict[str, dict[Any, Any]] = defaultdict(dict)
        """Per opaque sort: literal value to its Z3 constant."""
        self._memo: dict[int, Any] = {}
        self._sorts: dict[str, Any] = {
            "Bool": z3.BoolSort(context),
            "Int": z3.IntSort(context),
            "Real": z3.RealSort(context),
        }
        self._codes: dict[str, Any] = {}
        self._colls: dict[str, list[Term]] = defaultdict(list)
        self._members: dict[str, list[Term]] = defaultdict(list)
        self._elements: dict[str, list[Term]] = defaultdict(list)

    def sort(self, name: str) -> Any:
        if name.startswith("Enum:"):
            return self._sorts["Int"]
        if name not in self._sorts:
            self._sorts[name] = z3.DeclareSort(name, self._context)
        return self._sorts[name]

    def encode(self, term: Term) -> Any:
        """The Z3 expression of a term; iterative, so that deep conditionals are no problem."""
        memo = self._memo
        stack = [term]
        while stack:
            t = stack[-1]
            if t.id in memo:
                stack.pop()
                continue
            waiting = [a for a in t.args if a.id not in memo]
            if waiting:
                stack.extend(waiting)
                continue
            memo[t.id] = self._node(t, [memo[a.id] for a in t.args])
            stack.pop()
            self._axioms(t)
        return memo[term.id]

    def _node(self, t: Term, args: list[Any]) -> Any:
        match t.op:
            case "const":
                return self._literal(t)
            case "sym":
                return self._bounded(t, z3.Const(f"{t.data}:{t.sort}", self.sort(t.sort)))
            case "app":
                name = f"{t.data}:{'/'.join(a.sort for a in t.args)}:{t.sort}"
                f = z3.Function(name, *(self.sort(a.sort) for a in t.args), self.sort(t.sort))
                return self._bounded(t, f(*args))
            case "coll":
                return z3.Const(f"coll{t.id}", self.sort(t.sort))
            case "not":
                return self._bool(z3.Z3_mk_not, args[0].as_ast())
            case "and":
                return self._bool(z3.Z3_mk_and, *_array(args))
            case "or":
                return self._bool(z3.Z3_mk_or, *_array(args))
            case "ite":
                return z3.If(*args)
            case "eq":
                return self._bool(z3.Z3_mk_eq, args[0].as_ast(), args[1].as_ast())
            case "le":
                return args[0] <= args[1]
            case "lt":
                return args[0] < args[1]
            case "add":
                return z3.Sum(*args)
            case "mul":
                return args[0] * args[1]
            case "to_real":
                return z3.ToReal(args[0])
        raise AssertionError(t.op)

    def implies(self, a: Any, b: Any) -> Any:
        return self._bool(z3.Z3_mk_implies, a.as_ast(), b.as_ast())

    def _bool(self, make: Callable[..., Any], *args: Any) -> Any:
        """A Boolean expression made without the checks and coercions of :mod:`z3`, which cost more than Z3: terms have
        sorts of their own, so that nothing is to be coerced."""
        return z3.BoolRef(make(self._context.ref(), *args), self._context)

    def _literal(self, t: Term) -> Any:
        if t.sort == "Bool":
            return z3.BoolVal(t.data, self._context)
        if t.sort == "Int" or t.sort.startswith("Enum:"):
            return z3.IntVal(t.data, self._context)
        if t.sort == "Real":
            return z3.RealVal(str(t.data), self._context)
        known = self.literals[t.sort]
        if t.data not in known:
            if t.sort not in self._codes:
                self._codes[t.sort] = z3.Function(f"code:{t.sort}", self.sort(t.sort), self._sorts["Int"])
            value = z3.Const(f"literal{len(known)}:{t.sort}", self.sort(t.sort))
            self.emit(self._codes[t.sort](value) == len(known))
            known[t.data] = value
        return known[t.data]

    def _bounded(self, t: Term, x: Any) -> Any:
        if t.sort.startswith("Enum:"):
            self.emit(z3.And(x >= 0, x < int(t.sort.split(":")[1])))
        elif t.op == "app" and t.data == "len":
            self.emit(x >= 0)
        return x

    # -- collections --------------------------------------------------------------------------------------------

    def _axioms(self, t: Term) -> None:
        if t.op == "coll":
            self._sizes(t)
            for other in self._colls[t.sort]:
                same = self.terms._eq_coll(t, other)
                self.emit((self._memo[t.id] == self._memo[other.id]) == self.encode(same))
            for m in self._members[t.sort]:
                self._membership(m, t)
            for e in self._elements[t.sort]:
                self._element(e, t)
            self._colls[t.sort].append(t)
        elif t.op == "app" and t.data == "has":
            size = self.encode(self.terms.app("Int", "len", (t.args[0],)))
            self.emit(z3.Implies(self._memo[t.id], size >= 1))
            for c in self._colls[t.args[0].sort]:
                self._membership(t, c)
            self._members[t.args[0].sort].append(t)
        elif t.op == "app" and t.args and str(t.data).startswith(("get", "nth")):
            for c in self._colls[t.args[0].sort]:
                self._element(t, c)
            self._elements[t.args[0].sort].append(t)

    def _element(self, access: Term, coll: Term) -> None:
        """If the collection asked is this literal one, the element is the one that it has there."""
        keyed, suffixes = self.terms.layouts[coll.sort]
        suffix = str(access.data)[3:]
        if suffix not in suffixes:
            return
        leaf = keyed + suffixes.index(suffix)
        same = self._memo[access.args[0].id] == self._memo[coll.id]
        for i, row in enumerate(self.terms.rows(coll)):
            where = row[:keyed] if keyed else (self.terms.const("Int", i),)
            here = self.encode(self.terms.eq_all(where, access.args[1:]))
            value = self.encode(row[leaf])
            self.emit(z3.Implies(z3.And(same, here), self._memo[access.id] == value))

    def _sizes(self, coll: Term) -> None:
        if not coll.sort.startswith("Map"):
            size = self.terms.app("Int", "len", (coll,))
            self.emit(self.encode(size) == len(self.terms.rows(coll)))

    def _membership(self, has: Term, coll: Term) -> None:
        """If the collection asked about is this literal one, membership is that of its elements."""
        width = len(has.args) - 1
        rows = [r[:width] for r in self.terms.rows(coll)]
        inside = self.terms.or_(*(self.terms.eq_all(r, has.args[1:]) for r in rows))
        same = self._memo[has.args[0].id] == self._memo[coll.id]
        self.emit(z3.Implies(same, self._memo[has.id] == self.encode(inside)))


def _array(args: list[Any]) -> tuple[int, Any]:
    """Expressions as Z3's interface takes several of them: how many, and where."""
    return len(args), (z3.Ast * len(args))(*[a.as_ast() for a in args])
