"""Turns expressions into shapes: symbolic evaluation in an environment of shapes.

Beside the value, evaluation collects what it silently relied on: ``defs`` (conditions under which every projection that
was evaluated is defined; an undefined projection is an implied expectation) and ``musts`` (nodes whose result was read,
with the condition under which the read is reached: the node must have returned there). Short-circuit operators guard
both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.verify.arithmetic import arithmetic
from cfrc.verify.containers import build, collection, comprehension, index, member, opaque
from cfrc.verify.quantified import Quantifiers
from cfrc.verify.shapes import (
    Fields,
    Items,
    Maybe,
    Scalar,
    Shape,
    as_term,
    choose,
    convert,
    default,
    equal,
    literal,
    sort_of,
)
from cfrc.verify.terms import BOOL, Term, Terms

ReadFluent = Callable[[str, tuple[Shape, ...]], Shape]


def no_fluents(name: str, args: tuple[Shape, ...]) -> Shape:
    """For expressions that cannot read the state."""
    raise LookupError(f"fluent `{name}` is read where there is no state")


@dataclass(slots=True)
class Evaluator:
    """One environment. ``vars`` by name, ``results`` by node id, ``discharges`` by obligation name."""

    terms: Terms
    names: dict[ex.Expr, int]
    vars: dict[str, Shape] = field(default_factory=dict)
    constants: Mapping[str, Shape] = field(default_factory=dict)
    results: Mapping[str, Shape] = field(default_factory=dict)
    outcome: Callable[[str, str], Term] | None = None
    fluent: ReadFluent = no_fluents
    discharges: Mapping[str, Shape] = field(default_factory=dict)
    quantifiers: Quantifiers | None = None
    known: Mapping[int, Items] = field(default_factory=dict)
    """Opaque collections, by term, that an expectation before has equated with literal ones."""
    path: list[Term] = field(default_factory=list)
    defs: list[Term] = field(default_factory=list)
    musts: list[tuple[str, Term]] = field(default_factory=list)

    def defined(self) -> Term:
        """The condition under which everything evaluated so far is defined."""
        return self.terms.and_(*self.defs)

    def bool(self, e: ex.Expr) -> Term:
        """A condition's term (undefinedness is collected in ``defs``)."""
        shape = self.plain(self.eval(e))
        if sort_of(shape.type) != BOOL:
            return self.terms.sym(BOOL, f"!ill-typed {self.names.setdefault(e, len(self.names))}")  # a typing finding
        return as_term(self.terms, shape)

    def total(self, e: ex.Expr) -> Term:
        """A condition that counts as false where it is undefined."""
        outer, self.defs = self.defs, []
        value = self.bool(e)
        value = self.terms.and_(value, *self.defs)
        self.defs = outer
        return value

    def define(self, cond: Term) -> None:
        if cond is not self.terms.true:
            self.defs.append(self.terms.implies(self.terms.and_(*self.path), cond))

    def plain(self, shape: Shape) -> Shape:
        """The value of an optional, which is thereby expected to be present; the rows of a collection that are
        known."""
        while isinstance(shape, Maybe):
            self.define(shape.present)
            shape = shape.value
        return self.known.get(shape.term.id, shape) if self.known and isinstance(shape, Scalar) else shape

    def as_type(self, shape: Shape, wanted: ty.Type) -> Shape:
        """The shape as a value of the wanted type; a required presence is expected."""
        value, ok = convert(self.terms, shape, wanted)
        self.define(ok)
        return value

    # -- expressions --------------------------------------------------------------------------------------------

    def eval(self, e: ex.Expr) -> Shape:
        return _EVAL[e.__class__](self, e)

    def _lit(self, e: ex.Lit) -> Shape:
        return literal(self.terms, e.value, e.type)

    def _var(self, e: ex.Var) -> Shape:
        found = self.vars.get(e.name)
        return found if found is not None else self.constants[e.name]

    def _node(self, e: ex.NodeResult) -> Shape:
        self.musts.append((e.node, self.terms.and_(*self.path)))
        found = self.results.get(e.node)
        if found is None:  # dangling, or behind a cycle: a finding of its own; nothing can be read there
            self.define(self.terms.false)
            return default(self.terms, e.type)
        return found

    def _discharge(self, e: ex.Discharge) -> Shape:
        return self.discharges[e.obligation]

    def _outcome(self, e: ex.Outcome) -> Shape:
        assert self.outcome is not None
        return Scalar(self.outcome(e.node, e.status), ty.BOOL)

    def _read(self, e: ex.FluentRead) -> Shape:
        return self.fluent(e.fluent, tuple([self.eval(a) for a in e.args]))

    def _field(self, e: ex.Field) -> Shape:
        return self.field(e, self.plain(self.eval(e.base)), e.name)

    def _if(self, e: ex.If) -> Shape:
        cond = self.bool(e.cond)
        then = self.under(cond, e.then, e.type)
        return choose(self.terms, cond, then, self.under(self.terms.not_(cond), e.orelse, e.type))

    def _apply(self, e: ex.Apply) -> Shape:
        if e.op in ("and", "or", "implies"):
            return Scalar(self.connective(e), ty.BOOL)
        return self.apply(e, [self.eval(a) for a in e.args])

    def field(self, e: ex.Field, base: Shape, name: str) -> Shape:
        """A record's field; a receipt of another tool may lack it: then it is undefined."""
        if not isinstance(base, Fields):
            return opaque(self, e)
        if name in base.items:
            return base.items[name]
        self.define(self.terms.false)
        return default(self.terms, e.type)

    def under(self, cond: Term, e: ex.Expr, wanted: ty.Type = ty.ANY) -> Shape:
        """Evaluates where ``cond`` holds: what is collected is guarded by it."""
        self.path.append(cond)
        value = self.as_type(self.eval(e), wanted)
        self.path.pop()
        return value

    def connective(self, e: ex.Apply) -> Term:
        """``and``, ``or``, ``implies``, each argument evaluated only where the ones before leave it open."""
        t = self.terms
        seen: list[Term] = []
        for a in e.args:
            reach = t.and_(*seen) if e.op != "or" else t.and_(*(t.not_(s) for s in seen))
            seen.append(as_term(t, self.under(reach, a, ty.BOOL)))
        if e.op == "and":
            return t.and_(*seen)
        return t.or_(*seen) if e.op == "or" else t.implies(seen[0], seen[1])

    def apply(self, e: ex.Apply, args: list[Shape]) -> Shape:
        t = self.terms
        if e.op in ("==", "!="):
            same = equal(t, args[0], args[1])
            return Scalar(same if e.op == "==" else t.not_(same), ty.BOOL)
        if e.op == "present":
            return Scalar(args[0].present if isinstance(args[0], Maybe) else t.true, ty.BOOL)
        if e.op == "in":
            return Scalar(member(self, args[0], self.plain(args[1])), ty.BOOL)
        args = [self.plain(a) for a in args]
        if e.op in ("keys", "values", "count"):
            return collection(self, e, args[0])
        if e.op == "not":
            return Scalar(t.not_(as_term(t, args[0])), ty.BOOL)
        if e.op in ("<", "<=", ">", ">="):
            a, b = (as_term(t, x) for x in (args if e.op[0] == "<" else reversed(args)))
            return Scalar(t.le(a, b, strict=len(e.op) == 1), ty.BOOL)
        return arithmetic(self, e, args)


_EVAL: dict[type, Callable[[Evaluator, Any], Shape]] = {
    ex.Lit: Evaluator._lit,
    ex.Var: Evaluator._var,
    ex.NodeResult: Evaluator._node,
    ex.Discharge: Evaluator._discharge,
    ex.Outcome: Evaluator._outcome,
    ex.FluentRead: Evaluator._read,
    ex.Field: Evaluator._field,
    ex.Index: index,
    ex.If: Evaluator._if,
    ex.Build: build,
    ex.Comprehension: comprehension,
    ex.Apply: Evaluator._apply,
}
