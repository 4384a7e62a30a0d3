"""Turns the clauses of a call's tool into effect instances and fluent writes, each with the condition that it takes
place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.domain import EffectClause, FluentClause
from cfrc.verify.quantified import generic_row
from cfrc.verify.runs import Instance, Run
from cfrc.verify.shapes import Items, Scalar, Shape, as_term, leaves
from cfrc.verify.state import Write
from cfrc.verify.symbolic import Evaluator
from cfrc.verify.terms import INT, Term

if TYPE_CHECKING:
    from cfrc.verify.paths import Paths


def clause_evaluator(paths: Paths, run: Run, mask: int, upto: int = -1) -> Evaluator:
    """An evaluator for clauses of the call's tool: its parameters (and result, once it is known) are in scope."""
    ev = paths.evaluator(run.pos, mask, upto, run.reads)
    ev.vars = dict(run.args)
    if run.result is not None:
        ev.vars["result"] = run.result
    return ev


def clauses(paths: Paths, run: Run) -> None:
    """Instances and writes; conditions and right-hand sides are read in the pre-state, observations in the
    post-state."""
    tool = run.tool
    assert tool is not None
    mask = paths.order.anc[run.pos]
    for clauses, into in ((tool.causes, run.causes), (tool.undoes, run.undoes),
                          (tool.witnesses, run.witnesses), (tool.refutes, run.refutes)):  # fmt: skip
        for clause in clauses:
            into.extend(instances(paths, run, clause, run.happened))
    left = paths.terms.and_(run.called, paths.terms.not_(run.happened))
    for clause in tool.may_cause:
        run.residues.extend(instances(paths, run, clause, left))
    for assignment in tool.sets:
        run.writes.extend(writes(paths, run, assignment, mask, -1))
    for w in run.writes:
        paths.world.write(w)
    for inst in (*run.causes, *run.witnesses):
        paths.by_effect.setdefault(inst.effect, []).append(inst)


def _generic(ev: Evaluator, source: Shape, tag: str) -> Iterator[tuple[Shape, Term]]:
    """Two elements of an opaque collection, each with the condition that it is one. In a list they have two places,
    so that equal elements are two."""
    t = ev.terms
    one, two = (generic_row(t, as_term(t, source), source.type, f"{tag}{copy}") for copy in "ab")
    yield one
    apart = isinstance(source.type, ty.ListOf)
    yield two[0], t.and_(two[1], t.not_(t.eq(t.sym(INT, f"{tag}a"), t.sym(INT, f"{tag}b")))) if apart else two[1]


def _bindings(ev: Evaluator, clause: EffectClause | FluentClause, tag: str) -> Iterable[Term]:
    """Binds the clause's generators in every way, yielding each binding's condition. Over an opaque collection two
    generic elements stand for all: what goes wrong for one element, or for a pair, goes wrong for these."""
    t = ev.terms
    if not clause.generators:
        return (t.true,)

    def go(index: int, cond: Term) -> Iterable[Term]:
        if index == len(clause.generators):
            yield cond
            return
        g = clause.generators[index]
        source = ev.plain(ev.eval(g.source))
        if isinstance(source, Items):
            for item in source.keys if source.keys is not None else source.items:
                ev.vars[g.var] = item
                yield from go(index + 1, cond)
            return
        for item, inside in _generic(ev, source, f"{tag}:{g.var}"):
            ev.vars[g.var] = item
            yield from go(index + 1, t.and_(cond, inside))

    return go(0, t.true)


def _how_many(ev: Evaluator, clause: EffectClause, tag: str) -> Term | None:
    """The size of the opaque collection that a clause ranges over; an unknown number where it ranges over several."""
    if not clause.generators:
        return None
    source = ev.plain(ev.eval(clause.generators[0].source))
    if len(clause.generators) > 1:
        return ev.terms.sym(INT, f"{tag}:many")
    return None if isinstance(source, Items) else ev.terms.app(INT, "len", (as_term(ev.terms, source),))


def instances(paths: Paths, run: Run, clause: EffectClause, when: Term) -> Iterable[Instance]:

    t = paths.terms
    ev = clause_evaluator(paths, run, paths.order.anc[run.pos])
    params = paths.domain.effects[clause.effect].params
    many = _how_many(ev, clause, f"{run.call.id}:{clause.effect}")
    for bound in _bindings(ev, clause, f"{run.call.id}:{clause.effect}"):
        ev.defs = []
        cond = ev.total(clause.when) if clause.when is not None else t.true
        if cond is t.false:
            continue
        shapes: list[Shape | None] = []
        for a, (_, want) in zip(clause.args, params, strict=True):
            shapes.append(None if a is None else ev.as_type(ev.eval(a), want))
        args = tuple(None if s is None else tuple(leaves(t, s)) for s in shapes)
        full = t.and_(when, bound, cond, ev.defined())
        if full is not t.false:
            yield Instance(clause.effect, args, tuple(shapes), full, run.pos, clause, many)


def writes(
    paths: Paths,
    run: Run,
    clause: FluentClause,
    mask: int,
    upto: int,
    observed: bool = False,
    bound: Mapping[str, Shape] | None = None,
) -> list[Write]:
    """The clause's writes (or observations) for every binding of its generators; ``bound`` are variables bound
    already."""
    t = paths.terms
    fluent = paths.domain.fluents[clause.fluent]
    found = []
    ev = clause_evaluator(paths, run, mask, upto)
    ev.vars.update(bound or {})
    for within in _bindings(ev, clause, f"{run.call.id}:{clause.fluent}"):
        ev.defs = []
        cond = ev.total(clause.when) if clause.when is not None else t.true
        if cond is t.false:
            continue
        args = tuple(ev.as_type(ev.eval(a), want) for a, (_, want) in zip(clause.args, fluent.params, strict=True))
        before = len(run.reads)
        value = ev.as_type(ev.eval(clause.value), fluent.type)
        added = None
        amount = None if observed or not isinstance(value, Scalar) or fluent.type == ty.DATE else _increment(clause)
        if amount is not None:
            del run.reads[before:]  # an increment commutes with another one: its own read is no interference
            added = _signed(ev, clause, amount, fluent.type)
        full = t.and_(run.happened, within, cond, ev.defined())
        found.append(Write(clause.fluent, paths.world.key(args), args, value, full, run.pos, clause, observed, added))
    return found


def _signed(ev: Evaluator, clause: FluentClause, amount: ex.Expr, t: ty.Type) -> Term:
    """What ``f(x) = f(x) + e`` or ``f(x) = f(x) - e`` adds."""
    found = ev.as_type(ev.eval(amount), t if t in (ty.INT, ty.DECIMAL) else amount.type)
    assert isinstance(found, Scalar) and isinstance(clause.value, ex.Apply)
    if clause.value.op == "+":
        return found.term
    return ev.terms.sub(ev.terms.const(found.term.sort, 0), found.term)


def _increment(clause: FluentClause) -> ex.Expr | None:
    """``e`` of ``f(x) = f(x) + e``, ``f(x) = e + f(x)`` or ``f(x) = f(x) - e``."""
    v = clause.value
    if isinstance(v, ex.Apply) and v.op in ("+", "-"):
        for own, amount in ((v.args[0], v.args[1]), (v.args[1], v.args[0])):
            same = isinstance(own, ex.FluentRead) and own.fluent == clause.fluent and own.args == clause.args
            if same and (own is v.args[0] or v.op == "+"):
                return amount
    return None
