"""Turns reads and preconditions into conditions: what is read is there, what is required holds.

``docs/semantics.md`` §3, *dependency*.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.expr import Expr
from cfrc.source import Span
from cfrc.verify.condition import Condition, Conditions, spans
from cfrc.verify.paths import Paths
from cfrc.verify.polls import unmodelled
from cfrc.verify.runs import Run
from cfrc.verify.terms import Term


def conditions(paths: Paths) -> Conditions:
    for run in paths.runs:
        yield from _sources(paths, run)
        for requirement, holds in run.requires:
            yield _requirement(paths, run, requirement, holds)
        why = unmodelled(paths, run)
        if why is not None:
            assert run.call.until is not None
            again = _requirement(paths, run, run.call.until, paths.terms.false)
            assert again is not None
            again.message = f"what `{run.call.id}` does may change what its later polls meet"
            again.clauses = spans(("polled until this is true", run.call.until.span))
            again.undecidable = why
            yield again
    for terminal in paths.order.terminals:
        _, musts, _ = paths.fires(terminal)
        for node, reached in musts:
            other = paths.run_of(node)
            if other is not None:
                bad = paths.terms.and_(reached, paths.terms.not_(other.ok))
                yield _undefined(paths, terminal.id, node, bad, None, terminal.span)


def _sources(paths: Paths, run: Run) -> Iterator[Condition]:
    seen = set()
    for node, reached in (*run.guard_musts, *run.arg_musts):
        other = paths.run_of(node)
        if other is None or (node, reached.id) in seen:
            continue
        seen.add((node, reached.id))
        bad = paths.terms.and_(reached, paths.terms.not_(other.ok))
        yield _undefined(paths, run.call.id, node, bad, run.pos, run.call.span)


def _undefined(paths: Paths, reader: str, node: str, bad: Term, pos: int | None, span: Span | None) -> Condition:
    other = paths.run_of(node)
    assert other is not None
    return Condition(
        kind="dependency",
        code="DEP003",
        bad=bad,
        message=f"`{reader}` reads the result of `{node}`, which may have been skipped or have failed",
        help=f"guard it with `when ok({node})` or with the same guard as `{node}`",
        mask=paths.order.anc[pos] if pos is not None else paths.everything,
        step=pos,
        node=reader,
        where=span,
        clauses=spans((f"`{node}`", other.call.span)),
        others=(node,),
    )


def _requirement(paths: Paths, run: Run, requirement: Expr, holds: Term) -> Condition | None:
    t = paths.terms
    assert run.tool is not None
    bad = t.and_(run.called, t.not_(holds))
    if bad is t.false:
        return None
    return Condition(
        kind="dependency",
        code="DEP004",
        bad=bad,
        message=f"`{run.call.id}` may be called where its `requires` is false",
        help="read the state in an earlier step and `expect` what is required, or establish it first",
        mask=paths.order.anc[run.pos],
        step=run.pos,
        node=run.call.id,
        where=run.call.span,
        clauses=spans((f"`{run.tool.name}` requires", requirement.span or run.tool.span)),
        failing=requirement,
    )
