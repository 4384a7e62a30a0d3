"""Turns expressions into shapes: symbolic evaluation in an environment of shapes.

Beside the value, evaluation collects what it silently relied on: ``defs`` (conditions under which every projection that
was evaluated is defined; an undefined projection is an implied expectation) and ``musts`` (nodes whose result was read,
with the condition under which the read is reached: the node must have returned there). Short-circuit operators guard both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cfrc.model import expr as ex
from cfrc.model import types as ty
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
    leaves,
    literal,
    sort_of,
    unknown,
)
from cfrc.verify.terms import BOOL, INT, REAL, Term, Terms

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
        """The value of an optional, which is thereby expected to be present."""
        while isinstance(shape, Maybe):
            self.define(shape.present)
            shape = shape.value
        return shape

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
        return self.results[e.node]

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
        return choose(self.terms, cond, self.under(cond, e.then), self.under(self.terms.not_(cond), e.orelse))

    def _apply(self, e: ex.Apply) -> Shape:
        if e.op in ("and", "or", "implies"):
            return Scalar(self.connective(e), ty.BOOL)
        return self.apply(e, [self.eval(a) for a in e.args])

    def field(self, e: ex.Field, base: Shape, name: str) -> Shape:
        """A record's field; a receipt of another tool may lack it: then it is undefined."""
        if not isinstance(base, Fields):
            return self.opaque(e)
        if name in base.items:
            return base.items[name]
        self.define(self.terms.false)
        return default(self.terms, e.type)

    def under(self, cond: Term, e: ex.Expr) -> Shape:
        """Evaluates where ``cond`` holds: what is collected is guarded by it."""
        if cond is self.terms.true:
            return self.eval(e)
        self.path.append(cond)
        value = self.eval(e)
        self.path.pop()
        return value

    def connective(self, e: ex.Apply) -> Term:
        """``and``, ``or``, ``implies``, each argument evaluated only where the ones before leave it open."""
        t = self.terms
        seen: list[Term] = []
        for a in e.args:
            reach = t.and_(*seen) if e.op != "or" else t.and_(*(t.not_(s) for s in seen))
            seen.append(as_term(t, self.plain(self.under(reach, a))))
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
            return Scalar(self.member(args[0], self.plain(args[1])), ty.BOOL)
        args = [self.plain(a) for a in args]
        if e.op in ("keys", "values", "count"):
            return self.collection(e, args[0])
        if e.op == "not":
            return Scalar(t.not_(as_term(t, args[0])), ty.BOOL)
        xs = [as_term(t, a) for a in args]
        if e.op in ("<", "<=", ">", ">="):
            a, b = (xs[0], xs[1]) if e.op[0] == "<" else (xs[1], xs[0])
            return Scalar(t.le(a, b, strict=len(e.op) == 1), ty.BOOL)
        return self.as_type(Scalar(self.arithmetic(e, xs), e.args[0].type), e.type)

    def arithmetic(self, e: ex.Apply, xs: list[Term]) -> Term:
        t = self.terms
        if len({x.sort for x in xs}) > 1 and e.op != "round":
            xs = [t.to_real(x) for x in xs]
        match e.op:
            case "+":
                return t.add(*xs)
            case "-":
                return t.sub(xs[0], xs[1])
            case "neg":
                return t.sub(t.const(xs[0].sort, 0), xs[0])
            case "*":
                return t.mul(xs[0], xs[1]) or t.app(xs[0].sort, "mul", xs)
            case "abs":
                return t.ite(t.le(t.const(xs[0].sort, 0), xs[0]), xs[0], t.sub(t.const(xs[0].sort, 0), xs[0]))
            case "min" | "max":
                best = xs[0]
                for x in xs[1:]:
                    best = t.ite(t.le(best, x) if e.op == "min" else t.le(x, best), best, x)
                return best
            case "div":
                return self.divide(t.to_real(xs[0]), t.to_real(xs[1]))
            case "round":
                if all(x.is_const for x in xs):
                    return t.const(REAL, round(Fraction(xs[0].data), xs[1].data if len(xs) > 1 else 0))
                return t.app(REAL, "round", [t.to_real(xs[0]), *xs[1:]])
        raise NotImplementedError(e.op)

    def divide(self, a: Term, b: Term) -> Term:
        t = self.terms
        self.define(t.not_(t.eq(b, t.const(REAL, 0))))
        if b.is_const and b.data != 0:
            return t.mul(t.const(REAL, 1 / b.data), a) or a
        return t.app(REAL, "div", (a, b))

    # -- collections --------------------------------------------------------------------------------------------

    def member(self, x: Shape, coll: Shape) -> Term:
        """``x in coll``; for a map, of its keys."""
        t = self.terms
        if isinstance(coll, Items):
            return t.or_(*(equal(t, x, k) for k in (coll.keys if coll.keys is not None else coll.items)))
        c = as_term(t, coll)
        if c.op == "app" and c.data == "keys":
            c = c.args[0]
        item = self.item_type(coll.type)
        return t.app(BOOL, "has", (c, *leaves(t, convert(t, x, item)[0])))

    @staticmethod
    def item_type(t: ty.Type) -> ty.Type:
        match t:
            case ty.ListOf(i) | ty.BagOf(i):
                return i
            case ty.MapOf(k, _):
                return k
        return ty.ANY

    def collection(self, e: ex.Apply, c: Shape) -> Shape:
        t = self.terms
        if isinstance(c, Items):
            keys = c.keys if c.keys is not None else ()
            if e.op == "count":
                return Scalar(t.const(INT, len(c.items)), ty.INT)
            return Items(keys if e.op == "keys" else c.items, e.type)
        term = as_term(t, c)
        if e.op == "count":
            if term.op == "app" and term.data in ("keys", "values"):
                term = term.args[0]
            return Scalar(t.app(INT, "len", (term,)), ty.INT)
        return Scalar(t.app(sort_of(e.type), e.op, (term,)), e.type)

    def index(self, e: ex.Index) -> Shape:
        t = self.terms
        base, key = self.plain(self.eval(e.base)), self.plain(self.eval(e.key))
        if isinstance(base, Items):
            return self.index_items(base, key, e.type)
        c = as_term(t, base)
        if isinstance(base.type, ty.MapOf):
            where = tuple(leaves(t, convert(t, key, base.type.key)[0]))
            self.define(t.app(BOOL, "has", (c, *where)))
            return unknown(t, e.type, lambda s, sort: t.app(sort, f"get{s}", (c, *where)))
        i, size = as_term(t, key), t.app(INT, "len", (c,))
        zero = t.const(INT, 0)
        negative = t.le(i, zero, strict=True)
        i = t.ite(negative, t.add(size, i), i)
        self.define(t.and_(t.le(zero, i), t.le(i, size, strict=True)))
        return unknown(t, e.type, lambda s, sort: t.app(sort, f"nth{s}", (c, i)))

    def index_items(self, base: Items, key: Shape, wanted: ty.Type) -> Shape:
        t = self.terms
        n = len(base.items)
        if base.keys is not None:
            hits = [equal(t, k, key) for k in base.keys]
        else:
            i = as_term(t, key)
            hits = [t.or_(t.eq(i, t.const(INT, j)), t.eq(i, t.const(INT, j - n))) for j in range(n)]
        self.define(t.or_(*hits))
        value = None
        for hit, item in zip(hits, base.items, strict=True):
            if hit is not t.false:
                value = item if value is None else choose(t, hit, item, value)
        return value if value is not None else default(t, wanted)

    def build(self, e: ex.Build) -> Shape:
        if e.kind == "record":
            assert isinstance(e.type, ty.RecordOf)
            parts = {n: self.eval(x) for n, x in zip(e.names, e.items, strict=True)}
            return Fields({n: self.as_type(x, e.type.field(n) or ty.ANY) for n, x in parts.items()}, e.type)
        item = e.type.value if isinstance(e.type, ty.MapOf) else self.item_type(e.type)
        keys = tuple(self.eval(k) for k in e.keys) if e.kind == "map" else None
        return Items(tuple(self.as_type(self.eval(x), item) for x in e.items), e.type, keys)

    # -- comprehensions -----------------------------------------------------------------------------------------

    def comprehension(self, e: ex.Comprehension) -> Shape:
        """Expanded over literal collections, otherwise an uninterpreted value of everything it depends on."""
        rows = self.rows(e, list(e.generators), [])
        if rows is None or (e.kind in ("list", "bag", "map") and any(not c.is_const for c, _, _ in rows)):
            return self.opaque(e)
        t = self.terms
        if e.kind in ("all", "any"):
            bodies = [(c, as_term(t, self.plain(b))) for c, b, _ in rows]
            if e.kind == "all":
                return Scalar(t.and_(*(t.implies(c, b) for c, b in bodies)), ty.BOOL)
            return Scalar(t.or_(*(t.and_(c, b) for c, b in bodies)), ty.BOOL)
        if e.kind == "count":
            one, zero = t.const(INT, 1), t.const(INT, 0)
            # a Boolean body counts where it is true, any other body counts elements
            boolean = e.body.type in (ty.BOOL, ty.Optional(ty.BOOL))
            hits = [t.and_(c, as_term(t, self.plain(b))) if boolean else c for c, b, _ in rows]
            return Scalar(t.add(zero, *(t.ite(h, one, zero) for h in hits)), ty.INT)
        if e.kind == "sum":
            sort = sort_of(e.type)
            zero = t.const(sort, 0)
            return Scalar(t.add(zero, *(t.ite(c, as_term(t, self.plain(b)), zero) for c, b, _ in rows)), e.type)
        rows = [r for r in rows if r[0] is not t.false]
        if e.kind == "only":
            count = t.add(*(t.ite(c, t.const(INT, 1), t.const(INT, 0)) for c, _, _ in rows), t.const(INT, 0))
            self.define(t.eq(count, t.const(INT, 1)))
            value: Shape | None = None
            for c, b, _ in rows:
                value = b if value is None else choose(t, c, b, value)
            return value if value is not None else default(t, e.type)
        keys = tuple(k for _, _, k in rows if k is not None) if e.kind == "map" else None
        return Items(tuple(b for _, b, _ in rows), e.type, keys)

    def rows(
        self, e: ex.Comprehension, generators: list[ex.Generator], conds: list[Term]
    ) -> list[tuple[Term, Shape, Shape | None]] | None:
        """(condition, body, key) for every binding of the generators; ``None`` if a source is not literal."""
        t = self.terms
        if not generators:
            cond = self.bool(e.cond) if e.cond is not None else t.true
            self.path.append(cond)
            row = (cond, self.eval(e.body), self.eval(e.key) if e.key is not None else None)
            self.path.pop()
            return [row]
        head, *rest = generators
        source = self.plain(self.eval(head.source))
        if not isinstance(source, Items):
            return None
        out: list[tuple[Term, Shape, Shape | None]] = []
        saved = self.vars.get(head.var)
        for item in source.keys if source.keys is not None else source.items:
            self.vars[head.var] = item
            inner = self.rows(e, rest, conds)
            if inner is None:
                break
            out.extend(inner)
        else:
            inner = out
        if saved is None:
            self.vars.pop(head.var, None)
        else:
            self.vars[head.var] = saved
        return inner

    def opaque(self, e: ex.Expr) -> Shape:
        """An uninterpreted value: a function of the expression's form and of the values of its free parts.

        Sound for proofs (it may be anything that is the same for the same inputs); counterexamples are replayed anyway.
        """
        t = self.terms
        bound = {g.var for x in ex.walk(e) if isinstance(x, ex.Comprehension) for g in x.generators}
        inputs: list[Term] = []
        for x in ex.walk(e):
            if isinstance(x, ex.FluentRead):
                if any(isinstance(y, ex.Var) and y.name in bound for y in ex.walk(x)):
                    # reads a state at unknown instances: nothing may be shared between two evaluations
                    inputs.append(t.const(INT, len(self.names) + t.size))
                else:
                    inputs.extend(leaves(t, self.eval(x)))
            elif (isinstance(x, ex.Var) and x.name not in bound) or isinstance(x, ex.NodeResult | ex.Discharge):
                inputs.extend(leaves(t, self.eval(x)))
        number = self.names.setdefault(e, len(self.names))
        name = f"opaque{number}"
        if not isinstance(e, ex.Comprehension) or e.kind == "only":
            self.define(t.app(BOOL, f"{name}:defined", inputs))
        return unknown(t, e.type, lambda s, sort: t.app(sort, f"{name}{s}", inputs))


_EVAL: dict[type, Callable[[Evaluator, Any], Shape]] = {
    ex.Lit: Evaluator._lit,
    ex.Var: Evaluator._var,
    ex.NodeResult: Evaluator._node,
    ex.Discharge: Evaluator._discharge,
    ex.Outcome: Evaluator._outcome,
    ex.FluentRead: Evaluator._read,
    ex.Field: Evaluator._field,
    ex.Index: Evaluator.index,
    ex.If: Evaluator._if,
    ex.Build: Evaluator.build,
    ex.Comprehension: Evaluator.comprehension,
    ex.Apply: Evaluator._apply,
}
