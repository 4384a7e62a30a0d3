"""Turns list, bag, record and map literals, and the arrays and objects of JSON forms, into built values with a type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonnodes import JsonArray, JsonObject, JsonScalar
from cfrc.lang.jsonvalues import key_of
from cfrc.lang.resolve.literals import failed
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import element, is_any, join, join_all, strip
from cfrc.model.expr import Build, Expr, Lit
from cfrc.model.types import ANY, BagOf, ListOf, MapOf, Optional, RecordOf, Type, fits

if TYPE_CHECKING:
    from cfrc.lang.resolve.expressions import Resolver, Written


def list_literal(r: Resolver, node: t.ListLit, scope: Scope, hint: Type | None) -> Expr:
    return collection(r, "bag" if isinstance(strip(hint or ANY), BagOf) else "list", node, scope, hint)


def collection(
    r: Resolver, kind: str, node: t.ListLit, scope: Scope, hint: Type | None, whole: t.Node | None = None
) -> Expr:
    """A list, or a bag: ``bag([…])`` and a list literal where a bag is wanted."""
    wish = element(hint) if hint is not None and not isinstance(strip(hint), MapOf) else None
    found: list[Expr] = []
    for part in node.items:  # a loop, not a generator: deep literals are legal and each frame counts
        found.append(_part(r, part, wish, scope, "element"))
    items = tuple(found)
    item = wish if wish is not None and not is_any(wish) else join_all([i.type for i in items])
    if item is None:
        first = next(i for i in items[1:] if join(items[0].type, i.type) is None or i is items[-1])
        what = f"{quoted(str(items[0].type), 80)} and {quoted(str(first.type), 80)} in one collection"
        r.problems.add("EXP001", what, first.span, "all elements have one type")
        return failed(node)
    span = (whole or node).span
    if kind == "bag":
        return Build(kind="bag", items=items, type=BagOf(item), span=span)
    return Build(kind="list", items=items, type=ListOf(item), span=span)


def _part(r: Resolver, node: Written, wanted: Type | None, scope: Scope, what: str) -> Expr:
    """An element or a field: checked here, so that a wrong one is reported at its own place."""
    if wanted is None or is_any(wanted):
        return r.resolve(node, scope)
    return r.check(node, wanted, scope, what)


def record_literal(r: Resolver, node: t.RecordLit, scope: Scope, hint: Type | None) -> Expr:
    wanted = strip(hint) if hint is not None else ANY
    types = dict(wanted.fields) if isinstance(wanted, RecordOf) else {}
    values: dict[str, Expr] = {}
    for init in node.fields:
        name = init.name.text
        if name in values:
            r.problems.duplicate("field", name, init.name.span, values[name].span)
            continue
        if types and name not in types:
            help = r.problems.suggest(name, types)
            r.problems.add("NAM006", f"no field {quoted(name)} in {quoted(str(wanted), 80)}", init.name.span, help)
        values[name] = _part(r, init.value, types.get(name), scope, f"field `{name}`")
    for name, type_ in types.items():
        if name not in values and isinstance(type_, Optional):
            values[name] = Lit(value=None, type=type_, span=node.span)
        elif name not in values:
            r.problems.add("EXP001", f"field `{name}` of {quoted(str(wanted), 80)} is missing", node.span)
            return failed(node)
    own = RecordOf(None, tuple((n, v.type) for n, v in values.items()))
    names = tuple(values)
    if isinstance(wanted, RecordOf) and fits(own, wanted):
        names, own = tuple(n for n, _ in wanted.fields), wanted
    items = tuple(values[n] for n in names)
    return Build(kind="record", items=items, names=names, type=own, span=node.span)


def map_of(r: Resolver, node: t.MapLit, scope: Scope, hint: Type | None) -> Expr:
    """``map({ key: value })``."""
    return map_literal(r, node, [(e.key, e.value) for e in node.entries], scope, hint)


def map_literal(
    r: Resolver, node: t.Node, entries: list[tuple[Written, t.ExprNode]], scope: Scope, hint: Type | None
) -> Expr:
    wanted = strip(hint) if hint is not None else ANY
    wish = wanted if isinstance(wanted, MapOf) else MapOf(ANY, ANY)
    pairs: list[tuple[Expr, Expr]] = []
    for k, v in entries:
        pairs.append((_part(r, k, wish.key, scope, "key"), _part(r, v, wish.value, scope, "value")))
    key = wish.key if not is_any(wish.key) else join_all([k.type for k, _ in pairs])
    value = wish.value if not is_any(wish.value) else join_all([v.type for _, v in pairs])
    if key is None or value is None:
        r.problems.add("EXP001", "keys or values of different types in one map", node.span)
        return failed(node)
    literals_seen = [k.value for k, _ in pairs if isinstance(k, Lit) and not is_any(k.type)]
    if len(set(literals_seen)) < len(literals_seen):
        r.problems.add("EXP012", "the same key twice in one map", node.span)
    return Build(
        kind="map", items=tuple(v for _, v in pairs), keys=tuple(k for k, _ in pairs),
        type=MapOf(key, value), span=node.span,
    )  # fmt: skip


def json_array(r: Resolver, node: JsonArray, scope: Scope, hint: Type | None) -> Expr:
    """An array of a JSON form: pairs where a map is wanted, else a list or a bag."""
    wanted = strip(hint) if hint is not None else ANY
    if not isinstance(wanted, MapOf):
        return list_literal(r, t.ListLit(node.items, span=node.span), scope, hint)
    entries: list[tuple[Written, t.ExprNode]] = []
    for pair in node.items:
        items = pair.items if isinstance(pair, JsonArray) else ()
        if len(items) != 2:
            r.problems.add("EXP001", "expected a pair [key, value] of the map", pair.span)
            return failed(node)
        entries.append((items[0], items[1]))
    return map_literal(r, node, entries, scope, wanted)


def json_object(r: Resolver, node: JsonObject, scope: Scope, hint: Type | None) -> Expr:
    """An object of a JSON form: a map where a map is wanted (keys by their wire spelling), else a record."""
    wanted = strip(hint) if hint is not None else ANY
    if not isinstance(wanted, MapOf):
        return record_literal(r, t.RecordLit(node.fields, span=node.span), scope, hint)
    keys: list[Written] = [
        JsonScalar(key_of(f.name.text, f.name.span, wanted.key), span=f.name.span) for f in node.fields
    ]
    return map_literal(r, node, list(zip(keys, [f.value for f in node.fields], strict=True)), scope, wanted)
