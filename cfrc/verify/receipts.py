"""Turns what a receipt says into assumptions: Res for the receipt itself, and what must hold for the run to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.domain import FluentClause
from cfrc.verify.clauses import clause_evaluator, writes
from cfrc.verify.condition import positions
from cfrc.verify.order import mentioned
from cfrc.verify.quantified import Quantified
from cfrc.verify.runs import Read, Run, match
from cfrc.verify.shapes import Items, Scalar, Shape, equal
from cfrc.verify.state import Write
from cfrc.verify.terms import BOOL, Term

if TYPE_CHECKING:
    from cfrc.verify.paths import Paths


def receipt(paths: Paths, run: Run) -> None:
    """Res: ``ensures``, observations in the post-state, consistency with what was refuted or realized."""
    t, tool = paths.terms, run.tool
    assert tool is not None
    mask = paths.order.anc[run.pos]
    if tool.ensures:
        ev = clause_evaluator(paths, run, mask)
        run.steady.extend(t.implies(run.happened, ev.total(e)) for e in tool.ensures)
    for clause in tool.observes:
        if _each(paths, run, clause, mask):
            continue
        for o in writes(paths, run, clause, mask, run.pos, observed=True):
            into = run.base if _choosy(clause) else run.steady
            if paths.domain.fluents[o.fluent].volatile:
                # others may have changed it, whatever was seen before; from here on it is pinned
                run.steady.extend(_agrees_with_own(paths, run, o))
                paths.world.write(o)
            else:
                actual = paths.world.read(o.fluent, o.args, mask, run.pos, upto=run.pos)
                into.append(t.implies(o.cond, equal(t, actual, o.value)))
            run.reads.append(Read(o.fluent, o.key, o.cond))
    run.base += [*run.steady, *_consistent(paths, run, mask)]


def receipt_after(paths: Paths, run: Run, other: Run) -> list[Term]:
    """Res where ``other``, which nothing orders against the call, came just before it: the result may then be about
    instances that it could not be about without."""
    t, found = paths.terms, list(run.steady)
    mask = paths.order.anc[run.pos] | paths.order.anc[other.pos] | 1 << other.pos
    known = len(run.reads)
    for clause in run.tool.observes if run.tool is not None else ():
        own = any(w.fluent == clause.fluent for w in run.writes)  # they would count as older than the other's
        if not _choosy(clause) or own or paths.domain.fluents[clause.fluent].volatile:
            continue
        rows = _rows_after(paths, run, clause, mask, other)
        if rows is not None:
            found.append(rows)
            continue
        for o in writes(paths, run, clause, mask, run.pos, observed=True):
            actual = paths.world.read(o.fluent, o.args, mask, run.pos)
            found.append(t.implies(o.cond, equal(t, actual, o.value)))
    del run.reads[known:]
    return [*found, *_consistent(paths, run, mask, other)]


def _rows_after(paths: Paths, run: Run, clause: FluentClause, mask: int, other: Run) -> Term | None:
    """As :func:`_each`, under a condition of its own, for the state that ``other`` leaves."""
    t = paths.terms
    ev = clause_evaluator(paths, run, mask, run.pos)
    source = ev.plain(ev.eval(clause.generators[0].source)) if len(clause.generators) == 1 else None
    if not isinstance(source, Scalar):
        return None
    one, var = replace(clause, generators=()), clause.generators[0].var

    def body(row: Shape) -> Term:
        known = len(run.reads)
        found = writes(paths, run, one, mask, run.pos, observed=True, bound={var: row})
        del run.reads[known:]
        return t.and_(*(t.implies(w.cond, equal(t, paths.world.read(w.fluent, w.args, mask, run.pos), w.value))
                        for w in found))  # fmt: skip

    so = t.sym(BOOL, f"{run.call.id}: after {other.call.id}")
    paths.quantifiers.add(Quantified("each", t.and_(run.happened, so), source.term, source.type, body))
    return so


def _choosy(clause: FluentClause) -> bool:
    """Whether the result decides what is observed, if anything."""
    parts = [*clause.args, *([clause.when] if clause.when is not None else []), *(g.source for g in clause.generators)]
    return any(isinstance(x, ex.Var) and x.kind == "result" for e in parts for x in ex.walk(e))


def _each(paths: Paths, run: Run, clause: FluentClause, mask: int) -> bool:
    """An observation for every row of an opaque collection: it is stated of each row that is read. False otherwise."""
    if len(clause.generators) != 1:
        return False
    g = clause.generators[0]
    ev = clause_evaluator(paths, run, mask, run.pos)
    source = ev.plain(ev.eval(g.source))
    if not isinstance(source, Scalar):
        return False
    t = paths.terms
    one = replace(clause, generators=())
    volatile = paths.domain.fluents[clause.fluent].volatile

    def observed(row: Shape) -> Write | None:
        found = writes(paths, run, one, mask, run.pos, observed=True, bound={g.var: row})
        return found[0] if found else None

    def agreeing_rows(w: Write) -> Iterator[Term]:
        """One receipt does not say two things about one instance: that could not hold in the post-state."""
        for other in _pins(paths, rows, observed):
            same = paths.terms.and_(w.cond, other.cond, paths.terms.eq_all(w.key, other.key))
            yield paths.terms.implies(same, equal(paths.terms, w.value, other.value))

    def body(row: Shape) -> Term:
        w = observed(row)
        if w is None:
            return paths.terms.true
        if volatile:
            return paths.terms.and_(*_agrees_with_own(paths, run, w), *agreeing_rows(w))
        actual = paths.world.read(w.fluent, w.args, mask, run.pos, upto=run.pos)
        return paths.terms.implies(w.cond, equal(paths.terms, actual, w.value))

    seen = run.happened
    if not volatile:
        # left open only where another call, which nothing orders against this one, came just before
        run.base.append(t.sym(BOOL, f"{run.call.id}: as ordered"))
        seen = t.and_(seen, run.base[-1])
    rows = Quantified("each", seen, source.term, source.type, body)
    paths.quantifiers.add(rows)
    if volatile:
        paths.world.rows[clause.fluent].append((run.pos, lambda: _pins(paths, rows, observed)))
    run.reads.extend(Read(o.fluent, o.key, o.cond) for o in writes(paths, run, clause, mask, run.pos, observed=True))
    return True


def _pins(paths: Paths, rows: Quantified, observed: Callable[[Shape], Write | None]) -> list[Write]:
    """The pins of the rows that some term reads by now."""
    found = []
    for row, inside in list(paths.quantifiers.rows(rows)):
        w = observed(row)
        if w is not None:
            found.append(replace(w, cond=paths.terms.and_(inside, w.cond)))
    return found


def _agrees_with_own(paths: Paths, run: Run, o: Write) -> list[Term]:
    """What the call itself has just set is what its receipt observes. Res binds a receipt to known *non-volatile*
    observations only: a volatile fluent may differ from what an earlier call saw or set."""
    t = paths.terms
    return [
        t.implies(t.and_(o.cond, w.cond, t.eq_all(o.key, w.key)), equal(t, w.value, o.value))
        for w in run.writes
        if w.fluent == o.fluent
    ]


def _consistent(paths: Paths, run: Run, mask: int, other: Run | None = None) -> Iterator[Term]:
    """A receipt neither refutes what is realized nor witnesses what was refuted. ``other`` is a call that comes just
    before."""
    if not run.refutes and not run.witnesses:
        return
    t = paths.terms
    before = [p for p in positions(mask) if other is None or p != other.pos]
    last = (other,) if other is not None else ()
    for r in run.refutes:
        for _, key in paths.frame.kept.get(r.effect, ()):
            yield t.not_(t.and_(r.cond, match(t, r.args, key)))
        for i in paths.by_effect.get(r.effect, ()):
            if mask >> i.pos & 1:
                late = () if other is not None and i.pos == other.pos else last
                undoing = (*(paths.runs[p] for p in before if i.pos < p < run.pos), *late, run)
                undone = [
                    t.and_(u.cond, match(t, u.args, i.args)) for o in undoing for u in o.undoes if u.effect == r.effect
                ]
                yield t.not_(t.and_(r.cond, i.cond, match(t, r.args, i.args), t.not_(t.or_(*undone))))
    for w in run.witnesses:
        for p in positions(mask):
            for r in paths.runs[p].refutes:
                if r.effect == w.effect:
                    causing = (*(paths.runs[q] for q in before if q >= p), *last, run)
                    found = (c for o in causing for c in o.causes if c.effect == w.effect)
                    caused = [t.and_(c.cond, match(t, c.args, w.args)) for c in found]
                    yield t.not_(t.and_(r.cond, w.cond, match(t, r.args, w.args), t.not_(t.or_(*caused))))


def _expected(paths: Paths, run: Run, e: ex.Expr) -> None:
    """Whoever reads the call's result knows that it is as expected: notes the collections that have known rows then."""
    for c in ex.conjuncts(e):
        if isinstance(c, ex.Apply) and c.op == "==":
            ev = paths.evaluator(run.pos, paths.order.anc[run.pos], run.pos)
            for one, other in (c.args, tuple(reversed(c.args))):
                if isinstance(one.type, ty.ListOf | ty.BagOf | ty.MapOf) and run.call.id in mentioned(one):
                    left, right = ev.eval(one), ev.plain(ev.eval(other))
                    if isinstance(left, Scalar) and isinstance(right, Items) and left.type == right.type:
                        paths.expected.append((run.pos, left.term.id, right))


def continuation(paths: Paths, run: Run) -> None:
    """``until`` and ``expect`` hold, and are defined, in every run that goes on; a handled failure may be theirs."""
    t, call = paths.terms, run.call
    parts = []
    for e in (call.until, call.expect):
        if e is not None:
            ev = paths.evaluator(run.pos, paths.order.anc[run.pos], run.pos)
            parts.append(ev.total(e))
            if call.id not in paths.handled:  # where a failure is handled, the receipt may be another one
                _expected(paths, run, e)
            if e is call.until:
                run.until = parts[-1]
            run.arg_musts.extend((n, t.and_(run.happened, p)) for n, p in ev.musts if n != call.id)
    holds = t.and_(*parts)
    if call.id in paths.handled:
        returned = t.sym(BOOL, f"{call.id}:returns")
        run.cont.append(t.eq(returned, holds))
    else:
        run.cont.append(t.implies(run.happened, holds))
