"""Turns limits into conditions over prefixes.

``docs/semantics.md`` §3, *scope*: every limit holds over the multiset K + U (not refuted) + caused so far, at every
prefix. With non-negative amounts the largest downset is the worst one; with amounts that may be negative the solver
chooses the downset (a maximum-closure problem), one Boolean per call that touches the effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from cfrc.model.contract import Limit
from cfrc.model.footprint import Wild
from cfrc.verify.condition import Condition, spans
from cfrc.verify.frame import Key
from cfrc.verify.paths import Paths
from cfrc.verify.polls import repeats
from cfrc.verify.runs import Instance, Run, covers
from cfrc.verify.shapes import Shape, as_term, equal, literal
from cfrc.verify.terms import BOOL, INT, REAL, Term


@dataclass(frozen=True, slots=True)
class Share:
    """What one instance adds to a limit when it is counted: ``amount`` where ``cond``; ``pos`` is -1 before the
    freeze. ``polls``: it is what a call's earlier polls add up to."""

    pos: int
    cond: Term
    amount: Term
    polls: bool = False
    refuters: tuple[tuple[int, Term], ...] = ()
    """Where it is in doubt only: the calls (position, condition) that refute it."""


def conditions(paths: Paths) -> Iterator[Condition]:
    for limit in paths.contract.limits:
        before = list(frozen(paths, limit))
        shares = [s for run in paths.runs for s in _caused(paths, limit, run.pos)]
        if shares and not _within(limit, [*before, *shares]):
            yield from _exceeds(paths, limit, before, shares)


def _within(limit: Limit, shares: list[Share]) -> bool:
    """Whether even everything together, where it takes place or not, stays within the bound."""
    if not all(s.amount.is_const for s in shares) or not isinstance(limit.bound, int | Fraction):
        return False
    return sum((max(Fraction(s.amount.data), Fraction(0)) for s in shares), Fraction(0)) <= limit.bound


def _share(paths: Paths, limit: Limit, shapes: tuple[Shape | None, ...], cond: Term, pos: int) -> Share | None:
    """The instance's share, when it matches the limit's pattern."""
    t = paths.terms
    ev = paths.evaluator(pos, 0)
    parts = [cond]
    for p, s in zip(limit.params, shapes, strict=True):
        if isinstance(p, str) and s is not None:
            ev.vars[p] = s
        elif p is not None and not isinstance(p, str) and s is not None:
            parts.append(equal(t, s, ev.eval(p)))
    cond = t.and_(*parts)
    if cond is t.false:
        return None
    if limit.amount is not None and any(
        isinstance(p, str) and s is None for p, s in zip(limit.params, shapes, strict=True)
    ):
        # Nobody knows how much it was: as much as it takes.
        return Share(pos, cond, t.sym(REAL, f"unknown amount of {limit.effect} at {pos}"))
    amount = t.const(INT, 1) if limit.amount is None else t.to_real(as_term(t, ev.plain(ev.eval(limit.amount))))
    return Share(pos, t.and_(cond, ev.defined()), amount)


def frozen(paths: Paths, limit: Limit) -> Iterator[Share]:
    """What counts before the first step: K, and U where nothing in H refutes it."""
    t = paths.terms
    params = paths.domain.effects[limit.effect].params
    sources = [(k, False) for k in paths.contract.kept] + [(d, True) for d in paths.contract.doubts]
    for source, doubted in sources:
        if source.effect != limit.effect:
            continue
        shapes = tuple(
            None if isinstance(v, Wild) else literal(t, v, want)
            for v, (_, want) in zip(source.args, params, strict=True)
        )
        share = _share(paths, limit, shapes, t.true, -1)
        if share is None:
            continue
        key = paths.frame.pattern_of(source.effect, source.args)
        yield replace(share, refuters=_refuters(paths, limit, key, paths.everything if doubted else 0))


def _caused(paths: Paths, limit: Limit, pos: int) -> Iterator[Share]:
    run = paths.runs[pos]
    counted: set[tuple[int, bool]] = set()
    for i in (*run.causes, *run.residues):
        if i.effect != limit.effect:
            continue
        share = _share(paths, limit, i.shapes, i.cond, pos)
        if share is None:
            continue
        if i.many is not None:
            if (id(i.clause), i.poll) in counted:
                continue  # one share stands for all elements
            counted.add((id(i.clause), i.poll))
            share = _repeated(paths, run, i, share)
        if i.poll:
            times = paths.terms.mul(paths.terms.const(INT, run.call.polls - 1), share.amount)
            share = Share(share.pos, share.cond, times if times is not None else share.amount, True)
        if any(i is r for r in run.residues) and None not in i.args:
            share = replace(share, refuters=_refuters(paths, limit, i.args, _after(paths, pos)))
        yield share


def _after(paths: Paths, pos: int) -> int:
    """The calls that surely come later."""
    return sum(1 << p for p in range(pos + 1, len(paths.runs)) if paths.order.anc[p] >> pos & 1)


def _refuters(paths: Paths, limit: Limit, key: tuple[Key | None, ...], among: int) -> tuple[tuple[int, Term], ...]:
    """The calls of a set that may refute all that a pattern is about."""
    t = paths.terms
    return tuple(
        (run.pos, t.and_(r.cond, covers(t, r.args, key)))
        for run in paths.runs
        if among >> run.pos & 1
        for r in run.refutes
        if r.effect == limit.effect
    )


def _repeated(paths: Paths, run: Run, i: Instance, share: Share) -> Share:
    """What a clause over an opaque collection adds up to: any number of elements up to the size of the collection, each
    with the same amount where that is known, with any sum where it is not."""
    t = paths.terms
    assert i.many is not None
    number = t.sym(INT, f"{run.call.id}:{i.effect} elements {i.clause.span}")
    cond = t.and_(run.called, t.le(t.const(INT, 0), number), t.le(number, i.many))
    if share.amount.is_const:
        total = t.mul(share.amount, t.to_real(number) if share.amount.sort == REAL else number)
        assert total is not None
        return Share(share.pos, cond, total)
    return Share(share.pos, cond, t.sym(REAL, f"{run.call.id}:{i.effect} sum {i.clause.span}"))


def _exceeds(paths: Paths, limit: Limit, before: list[Share], shares: list[Share]) -> Iterator[Condition]:
    """One condition a call: with it as the last one, some downset exceeds the bound."""
    t = paths.terms
    zero = t.const(INT if limit.kind == "count" else REAL, 0)
    bound = t.const(REAL, limit.bound)
    for pos in sorted({s.pos for s in shares}):
        anc = paths.order.anc[pos]

        def refuted(s: Share, anc: int = anc) -> Term:
            return t.or_(*(c for p, c in s.refuters if anc >> p & 1))

        parts = []
        for f in before:
            parts.append(t.ite(t.and_(f.cond, t.not_(refuted(f))), f.amount, zero))
        chosen = _chosen(paths, pos, shares)
        for s in shares:
            inside = t.true if s.pos == pos or anc >> s.pos & 1 else chosen.get(s.pos, t.false)
            if s.pos in chosen and repeats(paths.runs[s.pos]) and not s.polls:
                inside = t.and_(inside, *paths.runs[s.pos].cont)
            parts.append(t.ite(t.and_(inside, s.cond, t.not_(refuted(s))), s.amount, zero))
        takes_place = t.or_(*(s.cond for s in shares if s.pos == pos))
        bad = t.and_(takes_place, t.le(bound, t.add(zero, *parts), strict=True), *_downset(paths, chosen))
        yield _condition(paths, limit, pos, bad, chosen)


def _chosen(paths: Paths, pos: int, shares: list[Share]) -> dict[int, Term]:
    """Calls unordered with ``pos`` may have come before it: whether they did is the world's choice."""
    t = paths.terms
    unordered = {s.pos for s in shares if s.pos != pos and not paths.order.ordered(s.pos, pos)}
    return {p: t.sym(BOOL, f"{p} before {pos}") for p in unordered}


def _downset(paths: Paths, chosen: dict[int, Term]) -> Iterator[Term]:
    """A chosen call brings its predecessors and what its receipts imply; one that is polled may still be polled."""
    t = paths.terms
    for p, c in chosen.items():
        run = paths.runs[p]
        own = [*run.ready, *run.required, *run.base, *(() if repeats(run) else run.cont)]
        yield t.implies(c, t.and_(*own, *paths.assume(paths.order.anc[p])))
        for q, d in chosen.items():
            if paths.order.anc[p] >> q & 1:
                yield t.implies(c, d)


def _condition(paths: Paths, limit: Limit, pos: int, bad: Term, chosen: dict[int, Term]) -> Condition:
    run = paths.runs[pos]
    what = f"the sum over `{limit.effect}`" if limit.kind == "sum" else f"the number of `{limit.effect}`"
    return Condition(
        kind="scope",
        code="SCP004",
        bad=bad,
        message=f"`{run.call.id}` may exceed a limit: {what}",
        help="what is kept and what may have happened counts too",
        mask=paths.order.anc[pos],
        returned=1 << pos,
        step=pos,
        node=run.call.id,
        where=run.call.span,
        clauses=spans(("the limit", limit.span)),
        earlier=tuple(chosen.items()),
    )
