"""Turns expressions over collections into shapes: literal collections are computed element by element, opaque ones
through uninterpreted accessors, and what cannot be said exactly is an uninterpreted function of everything it depends
on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.verify.quantified import Quantified
from cfrc.verify.shapes import (
    Fields,
    Items,
    Scalar,
    Shape,
    as_term,
    choose,
    convert,
    default,
    equal,
    leaves,
    sort_of,
    unknown,
)
from cfrc.verify.terms import BOOL, INT, Term

if TYPE_CHECKING:
    from cfrc.verify.symbolic import Evaluator


def member(ev: Evaluator, x: Shape, coll: Shape) -> Term:
    """``x in coll``; for a map, of its keys."""
    t = ev.terms
    if isinstance(coll, Items):
        return t.or_(*(equal(t, x, k) for k in (coll.keys if coll.keys is not None else coll.items)))
    c = as_term(t, coll)
    if c.op == "app" and c.data == "keys":
        c = c.args[0]
    item = item_type(coll.type)
    return t.app(BOOL, "has", (c, *leaves(t, convert(t, x, item)[0])))


def item_type(t: ty.Type) -> ty.Type:
    match t:
        case ty.ListOf(i) | ty.BagOf(i):
            return i
        case ty.MapOf(k, _):
            return k
    return ty.ANY


def collection(ev: Evaluator, e: ex.Apply, c: Shape) -> Shape:
    t = ev.terms
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


def index(ev: Evaluator, e: ex.Index) -> Shape:
    t = ev.terms
    base, key = ev.plain(ev.eval(e.base)), ev.plain(ev.eval(e.key))
    if isinstance(base, Items):
        return index_items(ev, base, key, e.type)
    c = as_term(t, base)
    if isinstance(base.type, ty.MapOf):
        where = tuple(leaves(t, convert(t, key, base.type.key)[0]))
        ev.define(t.app(BOOL, "has", (c, *where)))
        return unknown(t, e.type, lambda s, sort: t.app(sort, f"get{s}", (c, *where)))
    i, size = as_term(t, key), t.app(INT, "len", (c,))
    zero = t.const(INT, 0)
    negative = t.le(i, zero, strict=True)
    i = t.ite(negative, t.add(size, i), i)
    ev.define(t.and_(t.le(zero, i), t.le(i, size, strict=True)))
    return unknown(t, e.type, lambda s, sort: t.app(sort, f"nth{s}", (c, i)))


def index_items(ev: Evaluator, base: Items, key: Shape, wanted: ty.Type) -> Shape:
    t = ev.terms
    n = len(base.items)
    if base.keys is not None:
        hits = [equal(t, k, key) for k in base.keys]
    else:
        i = as_term(t, key)
        hits = [t.or_(t.eq(i, t.const(INT, j)), t.eq(i, t.const(INT, j - n))) for j in range(n)]
    ev.define(t.or_(*hits))
    value = None
    for hit, item in zip(hits, base.items, strict=True):
        if hit is not t.false:
            value = item if value is None else choose(t, hit, item, value)
    return value if value is not None else default(t, wanted)


def build(ev: Evaluator, e: ex.Build) -> Shape:
    if e.kind == "record":
        assert isinstance(e.type, ty.RecordOf)
        parts = {n: ev.eval(x) for n, x in zip(e.names, e.items, strict=True)}
        return Fields({n: ev.as_type(x, e.type.field(n) or ty.ANY) for n, x in parts.items()}, e.type)
    item = e.type.value if isinstance(e.type, ty.MapOf) else item_type(e.type)
    keys = tuple(ev.eval(k) for k in e.keys) if e.kind == "map" else None
    return Items(tuple(ev.as_type(ev.eval(x), item) for x in e.items), e.type, keys)


def comprehension(ev: Evaluator, e: ex.Comprehension) -> Shape:
    """Expanded over literal collections, otherwise an uninterpreted value of everything it depends on."""
    found = rows(ev, e, list(e.generators), [])
    if found is None or (e.kind in ("list", "bag", "map") and any(not c.is_const for c, _, _ in found)):
        return quantified(ev, e) if e.kind in ("all", "any") and len(e.generators) == 1 else opaque(ev, e)
    t = ev.terms
    if e.kind in ("all", "any"):
        bodies = [(c, as_term(t, ev.plain(b))) for c, b, _ in found]
        if e.kind == "all":
            return Scalar(t.and_(*(t.implies(c, b) for c, b in bodies)), ty.BOOL)
        return Scalar(t.or_(*(t.and_(c, b) for c, b in bodies)), ty.BOOL)
    if e.kind == "count":
        one, zero = t.const(INT, 1), t.const(INT, 0)
        # a Boolean body counts where it is true, any other body counts elements
        boolean = e.body.type in (ty.BOOL, ty.Optional(ty.BOOL))
        hits = [t.and_(c, as_term(t, ev.plain(b))) if boolean else c for c, b, _ in found]
        return Scalar(t.add(zero, *(t.ite(h, one, zero) for h in hits)), ty.INT)
    if e.kind == "sum":
        sort = sort_of(e.type)
        zero = t.const(sort, 0)
        return Scalar(t.add(zero, *(t.ite(c, as_term(t, ev.plain(b)), zero) for c, b, _ in found)), e.type)
    found = [r for r in found if r[0] is not t.false]
    if e.kind == "only":
        count = t.add(*(t.ite(c, t.const(INT, 1), t.const(INT, 0)) for c, _, _ in found), t.const(INT, 0))
        ev.define(t.eq(count, t.const(INT, 1)))
        value: Shape | None = None
        for c, b, _ in found:
            value = b if value is None else choose(t, c, b, value)
        return value if value is not None else default(t, e.type)
    keys = tuple(k for _, _, k in found if k is not None) if e.kind == "map" else None
    return Items(tuple(b for _, b, _ in found), e.type, keys)


def quantified(ev: Evaluator, e: ex.Comprehension) -> Shape:
    """``all`` or ``any`` over an opaque collection: uninterpreted, but known to follow from and to imply its rows."""
    shape = opaque(ev, e)
    g = e.generators[0]
    source = ev.plain(ev.eval(g.source))
    if ev.quantifiers is None or not isinstance(source, Scalar) or not isinstance(shape, Scalar):
        return shape
    within = replace(ev, vars=dict(ev.vars), path=[], defs=[], musts=[])

    def body(row: Shape) -> Term:
        inner = replace(within, vars={**within.vars, g.var: row}, path=[], defs=[], musts=[])
        cond = inner.total(e.cond) if e.cond is not None else inner.terms.true
        holds = inner.total(e.body)
        return inner.terms.implies(cond, holds) if e.kind == "all" else inner.terms.and_(cond, holds)

    kind: Literal["all", "any"] = "all" if e.kind == "all" else "any"
    ev.quantifiers.add(Quantified(kind, shape.term, source.term, source.type, body))
    return shape


def rows(
    ev: Evaluator, e: ex.Comprehension, generators: list[ex.Generator], conds: list[Term]
) -> list[tuple[Term, Shape, Shape | None]] | None:
    """(condition, body, key) for every binding of the generators; ``None`` if a source is not literal."""
    t = ev.terms
    if not generators:
        cond = ev.bool(e.cond) if e.cond is not None else t.true
        ev.path.append(cond)
        row = (cond, ev.eval(e.body), ev.eval(e.key) if e.key is not None else None)
        ev.path.pop()
        return [row]
    head, *rest = generators
    source = ev.plain(ev.eval(head.source))
    if not isinstance(source, Items):
        return None
    out: list[tuple[Term, Shape, Shape | None]] = []
    saved = ev.vars.get(head.var)
    for item in source.keys if source.keys is not None else source.items:
        ev.vars[head.var] = item
        inner = rows(ev, e, rest, conds)
        if inner is None:
            break
        out.extend(inner)
    else:
        inner = out
    if saved is None:
        ev.vars.pop(head.var, None)
    else:
        ev.vars[head.var] = saved
    return inner


def opaque(ev: Evaluator, e: ex.Expr) -> Shape:
    """An uninterpreted value: a function of the expression's form and of the values of its free parts.

    Sound for proofs (it may be anything that is the same for the same inputs); counterexamples are replayed anyway.
    """
    t = ev.terms
    bound = {g.var for x in ex.walk(e) if isinstance(x, ex.Comprehension) for g in x.generators}
    inputs: list[Term] = []
    for x in ex.walk(e):
        if isinstance(x, ex.FluentRead):
            if any(isinstance(y, ex.Var) and y.name in bound for y in ex.walk(x)):
                # reads a state at unknown instances: nothing may be shared between two evaluations
                inputs.append(t.const(INT, len(ev.names) + t.size))
            else:
                inputs.extend(leaves(t, ev.eval(x)))
        elif (isinstance(x, ex.Var) and x.name not in bound) or isinstance(x, ex.NodeResult | ex.Discharge):
            inputs.extend(leaves(t, ev.eval(x)))
    number = ev.names.setdefault(e, len(ev.names))
    name = f"opaque{number}"
    if not isinstance(e, ex.Comprehension) or e.kind == "only":
        ev.define(t.app(BOOL, f"{name}:defined", inputs))
    return unknown(t, e.type, lambda s, sort: t.app(sort, f"{name}{s}", inputs))
