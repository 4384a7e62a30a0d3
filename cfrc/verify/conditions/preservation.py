"""Turns caused, undone and written instances into conditions: what is kept stays, what is done is not repeated.

``docs/semantics.md`` §3, *preservation*, with these readings: a doubt about a ``once`` effect also covers its key; a
``once`` key that a receipt in H witnesses counts as realized for later causes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, combinations, product

from cfrc.model.contract import Doubt
from cfrc.source import Span
from cfrc.verify.condition import Condition, Conditions, few, spans
from cfrc.verify.frame import Key
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Instance, Run, covers, match
from cfrc.verify.shapes import equal, literal
from cfrc.verify.terms import Term


def conditions(paths: Paths) -> Conditions:
    doubts = paths.frame.doubts
    residues = defaultdict(list)
    for run in paths.runs:
        for r in run.residues:
            residues[r.effect].append(r)
    for run in paths.runs:
        for c in run.causes:
            for k, key in paths.frame.kept_like(c.effect, c.args):
                yield from _repeats_kept(paths, run, c, key, k.span)
            for d, pattern in doubts.get(c.effect, ()):
                retry = _idempotent_retry(paths, run, d)
                yield from _repeats_doubt(paths, run, c, pattern, paths.terms.true, -1, retry, d.span)
            for r in residues[c.effect]:
                if r.pos != run.pos and not paths.order.anc[r.pos] >> run.pos & 1:
                    retry = _same_call(paths, run, paths.runs[r.pos])
                    for cond in _repeats_doubt(paths, run, c, r.args, r.cond, r.pos, retry, r.clause.span):
                        if not paths.order.anc[run.pos] >> r.pos & 1:  # unordered: the failure may come first
                            cond.mask |= paths.order.anc[r.pos] | 1 << r.pos
                            cond.earlier = ((r.pos, paths.runs[r.pos].called),)
                        yield cond
        for u in run.undoes:
            for k, key in paths.frame.kept_like(u.effect, u.args):
                yield _at(
                    paths, run, "PRS003", paths.terms.and_(u.cond, match(paths.terms, u.args, key)),
                    f"`{run.call.id}` may undo `{u.effect}`, which is kept", "leave what is done in place",
                    spans(("kept here", k.span), ("the clause", u.clause.span)),
                )  # fmt: skip
        yield from _kept_fluents(paths, run)
    yield from _repeats_key(paths)
    yield from _undoes_own(paths)


def project(paths: Paths, effect: str, args: tuple[Key | None, ...]) -> tuple[Key | None, ...]:
    """The key of an instance: its arguments at the effect's key positions."""
    return tuple(args[i] for i in paths.domain.effects[effect].key)


def _at(
    paths: Paths, run: Run, code: str, bad: Term, message: str, help: str, clauses: tuple[tuple[str, Span], ...]
) -> Condition:
    return Condition(
        kind="preservation",
        code=code,
        bad=bad,
        message=message,
        help=help,
        mask=paths.order.anc[run.pos],
        returned=1 << run.pos,
        step=run.pos,
        node=run.call.id,
        where=run.call.span,
        clauses=clauses,
    )


def _repeats_kept(paths: Paths, run: Run, c: Instance, key: tuple[Key, ...], span: Span | None) -> Iterator[Condition]:
    t = paths.terms
    identical = match(t, c.args, key)
    clauses = spans(("kept here", span), ("the clause", c.clause.span))
    yield _at(
        paths, run, "PRS001", t.and_(c.cond, identical),
        f"`{run.call.id}` may repeat `{c.effect}`, which is already realized",
        "drop this step: the effect is kept", clauses,
    )  # fmt: skip
    if paths.domain.effects[c.effect].once:
        same_key = match(t, project(paths, c.effect, c.args), project(paths, c.effect, key))
        yield _at(
            paths, run, "PRS002", t.and_(c.cond, same_key, t.not_(identical)),
            f"`{run.call.id}` may cause `{c.effect}` a second time for a key that is already realized",
            "an effect declared `once` happens once a key, whatever its other arguments", clauses,
        )  # fmt: skip


def _repeats_doubt(
    paths: Paths,
    run: Run,
    c: Instance,
    key: tuple[Key | None, ...],
    doubted: Term,
    since: int,
    retry: Term,
    span: Span | None,
) -> Iterator[Condition]:
    """The instance ``key`` is in doubt where ``doubted``, since the position ``since`` (-1: since before the freeze).
    Only what is sure to come between refutes it."""
    t = paths.terms
    effect = paths.domain.effects[c.effect]
    keyed = effect.key if effect.once else range(len(c.args))
    same = match(t, tuple(c.args[i] for i in keyed), tuple(key[i] for i in keyed))
    if same is t.false:
        return
    mask = paths.order.anc[run.pos]
    # refuted as a whole, or what there is to repeat of it
    of_it = tuple(a if i in keyed else k for i, (a, k) in enumerate(zip(c.args, key, strict=True)))
    refuted = [
        t.and_(r.cond, t.or_(covers(t, r.args, key), covers(t, r.args, of_it)))
        for p in range(since + 1, run.pos)
        if mask >> p & 1 and (since < 0 or paths.order.anc[p] >> since & 1)
        for r in paths.runs[p].refutes
        if r.effect == c.effect
    ]
    bad = t.and_(c.cond, same, doubted, t.not_(t.or_(*refuted)), t.not_(retry))
    yield _at(
        paths, run, "PRS006", bad,
        f"`{run.call.id}` may repeat `{c.effect}`, which may already have happened",
        "settle the doubt first: read whether it happened and go on where that refutes it",
        spans(("in doubt here", span), ("the clause", c.clause.span)),
    )  # fmt: skip


def _same_call(paths: Paths, run: Run, failed: Run) -> Term:
    """Whether the call is the identical call of an idempotent tool as one that failed before."""
    t = paths.terms
    if run.tool is None or not run.tool.idempotent or run.call.tool != failed.call.tool:
        return t.false
    return t.and_(*(equal(t, run.args[p.name], failed.args[p.name]) for p in run.tool.params))


def _idempotent_retry(paths: Paths, run: Run, d: Doubt) -> Term:
    """Whether the call is the identical call of an idempotent tool."""
    t = paths.terms
    if d.call is None or run.tool is None or not run.tool.idempotent or d.call[0] != run.tool.name:
        return t.false
    given = dict(d.call[1])
    parts = []
    for p in run.tool.params:
        if p.name not in given:
            return t.false
        parts.append(equal(t, run.args[p.name], literal(t, given[p.name], p.type)))
    return t.and_(*parts)


def _kept_fluents(paths: Paths, run: Run) -> Iterator[Condition]:
    t = paths.terms
    for w in run.writes:
        for fact, key, value in paths.frame.kept_facts.get(w.fluent, ()):
            bad = t.and_(w.cond, t.eq_all(key, w.key), t.not_(equal(t, w.value, value)))
            yield _at(
                paths, run, "PRS005", bad, f"`{run.call.id}` may change `{fact.fluent}`, which is kept",
                "leave the kept value in place", spans(("kept here", fact.span), ("the clause", w.clause.span)),
            )  # fmt: skip


def _repeats_key(paths: Paths) -> Conditions:
    """A ``once`` key caused twice in H, or caused after a receipt of H witnessed it: a group for every literal key, and
    one for an effect's keys that are not literal."""
    for effect, found in paths.by_effect.items():
        if not paths.domain.effects[effect].once or len(found) < 2:
            continue
        keyed: dict[tuple[Key | None, ...], list[Instance]] = defaultdict(list)
        symbolic: list[Instance] = []
        for i in found:
            key = project(paths, effect, i.args)
            literal_key = all(x is not None and all(t.ground for t in x) for x in key)
            (keyed[key] if literal_key else symbolic).append(i)
        form = partial(_pair, paths)
        for same in keyed.values():
            if len(same) > 1:
                yield from few(partial(combinations, same, 2), form)
        if symbolic:
            yield from few(partial(_mixed, found, keyed.values(), symbolic), form)


def _mixed(
    every: list[Instance], literal_ones: Iterable[list[Instance]], symbolic: list[Instance]
) -> Iterator[tuple[Instance, Instance]]:
    """Pairs with a key that is not literal, in the order of ``every``."""
    yield from combinations(symbolic, 2)
    rank = {id(i): n for n, i in enumerate(every)}
    for i, j in product(chain.from_iterable(literal_ones), symbolic):
        yield (i, j) if rank[id(i)] < rank[id(j)] else (j, i)


def _is_cause(paths: Paths, i: Instance) -> bool:
    return any(i is c for c in paths.runs[i.pos].causes)


def _pair(paths: Paths, first: Instance, second: Instance) -> Condition | None:
    t = paths.terms
    ordered = paths.order.ordered(first.pos, second.pos) or first.pos == second.pos
    if not _is_cause(paths, second):
        if ordered or not _is_cause(paths, first):
            return None
        first, second = second, first  # unordered: the witness may come first
    same = match(t, project(paths, first.effect, first.args), project(paths, second.effect, second.args))
    bad = t.and_(first.cond, second.cond, same)
    if bad is t.false:
        return None
    one, two = paths.runs[first.pos], paths.runs[second.pos]
    mask = paths.order.anc[second.pos]
    if not ordered:
        mask |= paths.order.anc[first.pos] | 1 << first.pos
    return Condition(
        kind="preservation",
        code="PRS002",
        bad=bad,
        message=(
            f"`{two.call.id}` may cause `{second.effect}` more than once for one key"
            if one is two
            else f"`{two.call.id}` may cause `{second.effect}` a second time: `{one.call.id}` realizes the same key"
        ),
        help=(
            "a call that is polled, or that loops over a collection, happens every time"
            if one is two
            else "drop one of the two, or put them on exclusive branches"
        ),
        mask=mask,
        returned=1 << second.pos,
        step=second.pos,
        node=two.call.id,
        where=two.call.span,
        clauses=spans((f"first in `{one.call.id}`", one.call.span), ("the clause", second.clause.span)),
        others=(one.call.id,),
    )


def _undoes_own(paths: Paths) -> Iterator[Condition]:
    t = paths.terms
    for run in paths.runs:
        for u in run.undoes:
            if not paths.domain.effects[u.effect].once:
                continue
            for c in paths.by_effect.get(u.effect, ()):
                unordered = not paths.order.ordered(c.pos, run.pos)
                before = paths.order.anc[run.pos] >> c.pos & 1
                if c.pos == run.pos or not (before or unordered) or not _is_cause(paths, c):
                    continue
                bad = t.and_(u.cond, c.cond, match(t, u.args, c.args))
                cond = _at(
                    paths, run, "PRS004", bad,
                    f"`{run.call.id}` may undo `{u.effect}`, which `{paths.runs[c.pos].call.id}` causes",
                    "an effect declared `once` that this plan causes must stay",
                    spans(("caused by", paths.runs[c.pos].call.span), ("the clause", u.clause.span)),
                )  # fmt: skip
                cond.mask |= paths.order.anc[c.pos] | 1 << c.pos
                cond.others = (paths.runs[c.pos].call.id,)
                yield cond
