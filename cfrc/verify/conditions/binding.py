"""Turns accepted bindings into conditions: a bound identifier is the one that is used.

``docs/semantics.md`` §3, *binding*. A binding with targets governs those parameters in every call; one without governs
identifier parameters of its type in every call that writes, or whose result flows into a write or a discharge.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.contract import Name
from cfrc.model.graph import Call
from cfrc.verify.condition import Condition, spans
from cfrc.verify.paths import Paths
from cfrc.verify.quantified import generic_row
from cfrc.verify.runs import Run
from cfrc.verify.shapes import Fields, Items, Maybe, Scalar, Shape, equal, leaves, literal, unknown
from cfrc.verify.terms import Term


def conditions(paths: Paths) -> Iterator[Condition]:
    fixed = [n for n in paths.contract.names.values() if n.fixed]
    if not fixed:
        return
    by_type: dict[ty.Type, list[Name]] = {}
    for n in fixed:
        if not n.targets and isinstance(n.type, ty.Id):
            by_type.setdefault(n.type, []).append(n)
    serving = _serving(paths)
    for run in paths.runs:
        yield from _targeted(paths, run, fixed)
        if run.call.id in serving:
            yield from _governed(paths, run, by_type)


def _serving(paths: Paths) -> set[str]:
    """The calls that write or whose result flows into a write or a discharge."""
    owed = {g.effect for o in paths.contract.obligations for g in o.goals if hasattr(g, "effect")}
    todo = [
        r.call.id for r in paths.runs
        if r.tool is None or r.tool.writes or any(i.effect in owed for i in (*r.causes, *r.witnesses))
    ]  # fmt: skip
    feeds = {r.call.id: _results(r.call) for r in paths.runs}
    found: set[str] = set()
    while todo:
        n = todo.pop()
        if n not in found:
            found.add(n)
            todo.extend(feeds.get(n, ()))
    return found


def _results(call: Call) -> set[str]:
    """The nodes whose result a call reads; a guard decides whether it is made, so what it reads flows there as well."""
    exprs = [*call.args.values(), *([call.when] if call.when is not None else [])]
    return {x.node for e in exprs for x in ex.walk(e) if isinstance(x, ex.NodeResult)}


def _targeted(paths: Paths, run: Run, fixed: list[Name]) -> Iterator[Condition]:
    t = paths.terms
    for n in fixed:
        for tool, param in n.targets:
            if tool != run.call.tool or run.tool is None:
                continue
            p = run.tool.param(param)
            if p is None:
                continue
            bad = t.and_(run.called, t.not_(equal(t, run.args[param], literal(t, n.value, n.type))))
            if param not in run.call.args and p.default is None:
                bad = run.called
            yield _condition(paths, run, bad, "BND002", param, [n], f"`{n.name}` is fixed for `{tool}.{param}`")


def _governed(paths: Paths, run: Run, by_type: dict[ty.Type, list[Name]]) -> Iterator[Condition]:
    t = paths.terms
    for p in run.tool.params if run.tool is not None else ():
        if p.name not in run.call.args and p.default is None:
            continue
        for found, when in _identifiers(paths, run.args[p.name], f"{run.call.id}:{p.name}"):
            bound = by_type.get(found.type, [])
            if bound:
                agrees = t.or_(*(equal(t, found, literal(t, n.value, n.type)) for n in bound))
                bad = t.and_(run.called, when, t.not_(agrees))
                yield _condition(paths, run, bad, "BND001", p.name, bound, f"every `{found.type}` is bound")


def _identifiers(paths: Paths, shape: Shape, tag: str) -> Iterator[tuple[Scalar, Term]]:
    """Every identifier in a value, with the condition under which it is there; a generic element for opaque
    collections."""
    t = paths.terms
    match shape:
        case Scalar(_, ty.Id()):
            yield shape, t.true
        case Maybe(present, value):
            for s, when in _identifiers(paths, value, tag):
                yield s, t.and_(present, when)
        case Fields(items):
            for n in sorted(items):
                yield from _identifiers(paths, items[n], f"{tag}.{n}")
        case Items(items, _, keys):
            for x in (*(keys or ()), *items):
                yield from _identifiers(paths, x, tag)
        case Scalar(term, ty.ListOf() | ty.BagOf() | ty.MapOf()) if ty.holds_identifier(shape.type):
            some, inside = generic_row(t, term, shape.type, f"some {tag}")
            for s, when in _identifiers(paths, some, tag):
                yield s, t.and_(inside, when)
            if isinstance(shape.type, ty.MapOf) and ty.holds_identifier(shape.type.value):
                key = tuple(leaves(t, some))
                value = unknown(t, shape.type.value, lambda s, sort: t.app(sort, f"get{s}", (term, *key)))
                for s, when in _identifiers(paths, value, tag):
                    yield s, t.and_(inside, when)


def _condition(paths: Paths, run: Run, bad: Term, code: str, param: str, names: list[Name], why: str) -> Condition:
    values = ", ".join(f"`{n.name}`" for n in names)
    return Condition(
        kind="binding",
        code=code,
        bad=bad,
        message=f"`{run.call.id}` may pass another `{param}` than the one accepted: {why}",
        help=f"pass {values}",
        mask=paths.order.anc[run.pos],
        step=run.pos,
        node=run.call.id,
        where=(e.span if (e := run.call.args.get(param)) is not None and e.span is not None else run.call.span),
        clauses=spans(*((f"`{n.name}` is fixed here", n.span) for n in names)),
    )
