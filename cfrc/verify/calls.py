"""Turns one call node into its symbolic run: conditions, arguments, result, and the instances of its tool's clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.expr import conjuncts
from cfrc.model.graph import Call
from cfrc.verify.clauses import clause_evaluator, clauses
from cfrc.verify.conditions.typing import usable
from cfrc.verify.polls import agreeing, earlier_poll
from cfrc.verify.receipts import continuation, receipt
from cfrc.verify.runs import Run, failures, missing
from cfrc.verify.shapes import Fields, Scalar, Shape, unknown
from cfrc.verify.terms import BOOL

if TYPE_CHECKING:
    from cfrc.verify.paths import Paths

Path = tuple[str, ...]


def build_run(paths: Paths, call: Call, pos: int) -> Run:
    """The symbolic run of ``call``; everything before it in the linearization has been built."""

    t = paths.terms
    run = Run(call, paths.domain.tools.get(call.tool), pos)
    _conditions(paths, run)
    _arguments(paths, run)
    _outcomes(paths, run)
    if run.tool is None:
        run.result = Scalar(t.sym("Any", call.id), ty.ANY)
        run.needs_approval = t.false
        paths.results[call.id] = run.result
        return run
    ev = clause_evaluator(paths, run, paths.order.anc[pos])
    for r in run.tool.requires:
        for c in conjuncts(r):
            run.requires.append((c, ev.total(c)))
    run.required = [x for _, r in run.requires if (x := t.implies(run.called, r)) is not t.true]
    run.needs_approval = t.false
    if run.tool.approved is not None:
        # where the condition is undefined nobody has said that the call may go without
        ev.defs = []
        needed = ev.bool(run.tool.approved)
        run.needs_approval = t.and_(run.called, t.or_(needed, t.not_(ev.defined())))
        ev.defs = []
    run.result = _result(paths, run)
    paths.results[call.id] = run.result
    poll = earlier_poll(paths, run)
    clauses(paths, run)
    receipt(paths, run)
    if poll is not None:
        run.base.extend(agreeing(paths, run, poll))
    continuation(paths, run)
    run.base = [c for c in run.base if c is not t.true]
    run.cont = [c for c in run.cont if c is not t.true]
    return run


def _conditions(paths: Paths, run: Run) -> None:
    """When the call is dead, skipped or called."""

    t, call = paths.terms, run.call
    run.dead = paths.dead(paths.order.preds[run.pos], failures(call.when))
    if run.pos in paths.order.blocked:
        run.dead = t.true  # it waits for something that is not there
    alive = t.not_(run.dead)
    if call.when is None:
        run.skip, run.called = t.false, alive
        return
    ev = paths.evaluator(run.pos, paths.order.anc[run.pos], reads=run.reads)
    guard = ev.bool(call.when)
    run.guard_musts = [(n, t.and_(alive, p)) for n, p in ev.musts]
    run.cont.append(t.implies(alive, ev.defined()))
    run.skip, run.called = t.and_(alive, t.not_(guard)), t.and_(alive, guard)


def _arguments(paths: Paths, run: Run) -> None:
    """Argument shapes of the parameters' types; defaults filled in."""

    t = paths.terms
    ev = paths.evaluator(run.pos, paths.order.anc[run.pos])
    for p in run.tool.params if run.tool is not None else ():
        given = run.call.args.get(p.name, p.default)
        if given is None or not usable(given, p):
            run.args[p.name] = missing(t, f"{run.call.id}({p.name})", p.type)
        else:
            run.args[p.name] = ev.as_type(ev.eval(given), p.type)
    run.arg_musts = [(n, t.and_(run.called, path)) for n, path in ev.musts]
    run.ready = [c for c in (t.implies(run.called, ev.defined()),) if c is not t.true]


def _outcomes(paths: Paths, run: Run) -> None:
    """Definite failure is a free choice of the world where some guard handles it; elsewhere it ends the run."""
    t = paths.terms
    if run.call.id in paths.handled:
        definite = t.sym(BOOL, f"{run.call.id}:fails")
        run.happened = t.and_(run.called, t.not_(definite))
        returned = t.sym(BOOL, f"{run.call.id}:returns")  # expect/until true; tied down in continuation
        run.ok = t.and_(run.happened, returned)
        run.fail = t.and_(run.called, t.not_(run.ok))
    else:
        run.happened = run.ok = run.called
        run.fail = t.false


# -- the result ---------------------------------------------------------------------------------------------------


def _result(paths: Paths, run: Run) -> Shape:
    """The result's shape. Fields that ``ensures`` or an observation equate with something known are that thing, so that
    copy-through cases are decided by construction."""
    tool = run.tool
    assert tool is not None
    if not tool.ensures and not tool.observes:
        return _overlay(paths, tool.result, run.call.id, (), {})
    given: dict[Path, Shape] = {}
    ev = clause_evaluator(paths, run, paths.order.anc[run.pos])
    for e in tool.ensures:
        for c in conjuncts(e):
            if isinstance(c, ex.Apply) and c.op == "==":
                for side, other in (c.args, reversed(c.args)):
                    path = _path(side)
                    if path is not None and not _uses_result(other) and path not in given:
                        given[path] = ev.eval(other)
                        break
    for o in tool.observes:
        path = _path(o.value)
        if (
            path is None
            or path in given
            or o.when is not None
            or o.generators
            or paths.domain.fluents[o.fluent].volatile
            or any(_uses_result(a) for a in o.args)
        ):
            continue
        if not any(s.fluent == o.fluent for s in tool.sets):
            given[path] = ev.eval(ex.FluentRead(fluent=o.fluent, args=o.args, type=paths.domain.fluents[o.fluent].type))
    if ev.defs:
        given = {}  # something in them may be undefined: leave it to the receipt constraints
    return _overlay(paths, tool.result, run.call.id, (), given)


def _overlay(paths: Paths, want: ty.Type, node: str, path: Path, given: dict[Path, Shape]) -> Shape:
    t = paths.terms
    known = given.get(path)
    if known is not None and known.type == want:
        return known
    if isinstance(want, ty.RecordOf) and any(p[: len(path)] == path for p in given):
        return Fields({n: _overlay(paths, f, node, (*path, n), given) for n, f in want.fields}, want)
    name = node + "".join(f".{p}" for p in path)
    return unknown(t, want, lambda s, sort: t.sym(sort, name + s))


def _path(e: ex.Expr) -> Path | None:
    """The field path of ``result.a.b``; ``None`` for anything else."""
    steps: list[str] = []
    while isinstance(e, ex.Field):
        steps.append(e.name)
        e = e.base
    return tuple(reversed(steps)) if isinstance(e, ex.Var) and e.kind == "result" else None


def _uses_result(e: ex.Expr) -> bool:
    return any(isinstance(x, ex.Var) and x.kind == "result" for x in ex.walk(e))
