"""Turns expressions over collections into shapes: literal collections are computed element by element, opaque ones
through uninterpreted accessors, and what cannot be said exactly is an uninterpreted function of everything it depends
on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.values import Value, bag, mapping, order_key, record
from cfrc.verify.quantified import Quantified
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
    unleaf,
)
from cfrc.verify.terms import BOOL, INT, Term, Terms

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
    element, there = convert(t, x, item)
    has = t.app(BOOL, "has", (c, *leaves(t, element)))
    if isinstance(coll.type, ty.ListOf) and ev.quantifiers is not None and c.op != "coll":
        # a list has what stands at some place in it
        ev.quantifiers.add(Quantified("any", has, c, coll.type, lambda row: equal(t, row, element)))
    return t.and_(there, has)


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
        left_out = {n: literal(ev.terms, None, f) for n, f in e.type.fields if isinstance(f, ty.Optional)}
        return Fields(left_out | {n: ev.as_type(x, e.type.field(n) or ty.ANY) for n, x in parts.items()}, e.type)
    item = e.type.value if isinstance(e.type, ty.MapOf) else item_type(e.type)
    items = [ev.as_type(ev.eval(x), item) for x in e.items]
    if e.kind == "map":
        return mapped(ev, e, [(item_of_key(ev, e, k), x) for k, x in zip(e.keys, items, strict=True)])
    return Items(tuple(items), e.type)


def item_of_key(ev: Evaluator, e: ex.Expr, key: ex.Expr) -> Shape:
    return ev.as_type(ev.eval(key), e.type.key if isinstance(e.type, ty.MapOf) else ty.ANY)


def mapped(ev: Evaluator, e: ex.Build | ex.Comprehension, pairs: list[tuple[Shape, Shape]]) -> Shape:
    """A map of its entries; of equal keys the last wins. Opaque where keys may or may not be equal."""
    found: dict[int, tuple[Shape, Shape]] = {}
    for key, value in pairs:
        found[as_term(ev.terms, key).id] = (key, value)
    if len(found) > 1 and not all(as_term(ev.terms, k).is_const for k, _ in found.values()):
        return opaque(ev, e)
    return Items(tuple(v for _, v in found.values()), e.type, tuple(k for k, _ in found.values()))


def comprehension(ev: Evaluator, e: ex.Comprehension) -> Shape:
    """Expanded over literal collections, otherwise an uninterpreted value of everything it depends on."""
    stops: list[Term] = []
    found = rows(ev, e, list(e.generators), stops)
    del ev.path[len(ev.path) - len(stops) :]
    if found is None or (e.kind in ("list", "bag", "map") and any(not c.is_const for c, _, _ in found)):
        return quantified(ev, e) if e.kind in ("all", "any") and len(e.generators) == 1 else opaque(ev, e)
    t = ev.terms
    if e.kind == "all":
        return Scalar(t.and_(*(t.implies(c, as_term(t, b)) for c, b, _ in found)), ty.BOOL)
    if e.kind == "any":
        return Scalar(t.or_(*(t.and_(c, as_term(t, b)) for c, b, _ in found)), ty.BOOL)
    one, zero = t.const(INT, 1), t.const(INT, 0)
    if e.kind == "count":
        hits = [t.and_(c, counted(t, b)) for c, b, _ in found]
        return Scalar(t.add(zero, *(t.ite(h, one, zero) for h in hits)), ty.INT)
    if e.kind == "sum":
        none = t.const(sort_of(e.type), 0)
        return Scalar(t.add(none, *(t.ite(c, as_term(t, b), none) for c, b, _ in found)), e.type)
    found = [r for r in found if r[0] is not t.false]
    if e.kind == "only":
        ev.define(t.eq(t.add(zero, *(t.ite(c, one, zero) for c, _, _ in found)), one))
        value: Shape | None = None
        for c, b, _ in found:
            value = b if value is None else choose(t, c, b, value)
        return value if value is not None else default(t, e.type)
    if e.kind == "map":
        return mapped(ev, e, [(k, b) for _, b, k in found if k is not None])
    return Items(tuple(b for _, b, _ in found), e.type)


def counted(t: Terms, body: Shape) -> Term:
    """A Boolean body counts where it is not false, any other body counts elements."""
    if isinstance(body, Maybe):
        return t.implies(body.present, counted(t, body.value))
    return body.term if isinstance(body, Scalar) and body.term.sort == BOOL else t.true


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
    ev: Evaluator, e: ex.Comprehension, generators: list[ex.Generator], stops: list[Term]
) -> list[tuple[Term, Shape, Shape | None]] | None:
    """(condition, body, key) for every binding of the generators; ``None`` if a source is not literal.

    ``stops`` (also put on the path) say that ``all`` and ``any`` have not been decided by the rows before.
    """
    t = ev.terms
    if not generators:
        return [_row(ev, e, stops)]
    head, *rest = generators
    source = ev.plain(ev.eval(head.source))
    if not isinstance(source, Items):
        return None
    items = source.keys if source.keys is not None else source.items
    if e.kind in ("list", "map") and not isinstance(source.type, ty.ListOf):
        ordered = in_order(t, items)
        if ordered is None:
            return None
        items = ordered
    out: list[tuple[Term, Shape, Shape | None]] = []
    saved = ev.vars.get(head.var)
    for item in items:
        ev.vars[head.var] = item
        inner = rows(ev, e, rest, stops)
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


def _row(ev: Evaluator, e: ex.Comprehension, stops: list[Term]) -> tuple[Term, Shape, Shape | None]:
    """One binding of all generators."""
    t = ev.terms
    cond = ev.bool(e.cond) if e.cond is not None else t.true
    wanted = (
        e.type.value if isinstance(e.type, ty.MapOf) else item_type(e.type) if e.kind in ("list", "bag") else ty.ANY
    )
    ev.path.append(cond)
    key = item_of_key(ev, e, e.key) if e.key is not None else None
    body = ev.as_type(ev.eval(e.body), wanted)
    if e.kind in ("all", "any", "sum"):
        body = ev.plain(body)
    ev.path.pop()
    if e.kind in ("all", "any"):
        holds = as_term(t, body)
        stops.append(t.implies(cond, holds) if e.kind == "all" else t.not_(t.and_(cond, holds)))
        ev.path.append(stops[-1])
    return cond, body, key


def in_order(t: Terms, items: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
    """Elements of a bag, or keys of a map, in the order of values; ``None`` where it is not known."""
    if len(items) < 2:
        return items
    if not all(x.is_const for item in items for x in leaves(t, item)):
        return None
    return tuple(sorted(items, key=lambda item: order_key(value_of(item))))


def value_of(shape: Shape) -> Value:
    """The value of a shape all of whose leaves are literals."""
    match shape:
        case Maybe(present, inner):
            return value_of(inner) if present.data else None
        case Fields(items):
            return record({n: value_of(x) for n, x in items.items()})
        case Items(items, of, keys):
            found = [value_of(x) for x in items]
            if keys is not None:
                return mapping(list(zip([value_of(k) for k in keys], found, strict=True)))
            return bag(found) if isinstance(of, ty.BagOf) else tuple(found)
        case Scalar(term, of):
            return unleaf(term.data, of)


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
    if may_be_undefined(e):
        ev.define(t.app(BOOL, f"{name}:defined", inputs))
    return unknown(t, e.type, lambda s, sort: t.app(sort, f"{name}{s}", inputs))


def may_be_undefined(e: ex.Expr) -> bool:
    """Whether some part of the expression is a projection, or uses a value that may be absent."""
    for x in ex.walk(e):
        match x:
            case ex.Index() | ex.Comprehension(kind="only"):
                return True
            case ex.Apply(op="div" | "round" | "min" | "max"):
                return True
            case ex.Apply(type=of) if of in (ty.DATE, ty.TIME, ty.DURATION):
                return True
            case ex.Apply(op="in", args=(_, source)) if isinstance(source.type, ty.Optional):
                return True
            case ex.Apply(op=op, args=args) if op not in ("==", "!=", "present", "in"):
                if any(isinstance(a.type, ty.Optional) for a in args):
                    return True
            case ex.Field(base=base) if isinstance(base.type, ty.Optional):
                return True
            case ex.Comprehension(generators=generators):
                if any(isinstance(g.source.type, ty.Optional) for g in generators):
                    return True
    return not isinstance(e, ex.Comprehension)
