"""Turns one call node into its symbolic run: conditions, arguments, result, and the instances of its tool's clauses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.domain import EffectClause, FluentClause
from cfrc.model.expr import conjuncts
from cfrc.model.graph import Call
from cfrc.verify.conditions.typing import usable
from cfrc.verify.runs import Instance, Read, Run, failures, match, missing
from cfrc.verify.shapes import Fields, Items, Scalar, Shape, equal, leaves, unknown
from cfrc.verify.state import Write
from cfrc.verify.symbolic import Evaluator
from cfrc.verify.terms import BOOL, Term

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
    _clauses(paths, run)
    _receipt(paths, run)
    _continuation(paths, run)
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
        returned = t.sym(BOOL, f"{run.call.id}:returns")  # expect/until true; tied down in _continuation
        run.ok = t.and_(run.happened, returned)
        run.fail = t.and_(run.called, t.not_(run.ok))
    else:
        run.happened = run.ok = run.called
        run.fail = t.false


def clause_evaluator(paths: Paths, run: Run, mask: int, upto: int = -1) -> Evaluator:
    """An evaluator for clauses of the call's tool: its parameters (and result, once it is known) are in scope."""
    ev = paths.evaluator(run.pos, mask, upto, run.reads)
    ev.vars = dict(run.args)
    if run.result is not None:
        ev.vars["result"] = run.result
    return ev


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
        if path is None or path in given or o.when is not None or o.generators or _awaits(paths, run, o.fluent) or any(_uses_result(a) for a in o.args):
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


# -- clauses ------------------------------------------------------------------------------------------------------


def _clauses(paths: Paths, run: Run) -> None:
    """Instances and writes; conditions and right-hand sides are read in the pre-state, observations in the post-state."""
    tool = run.tool
    assert tool is not None
    mask = paths.order.anc[run.pos]
    _polls(paths, run)
    for clauses, into in ((tool.causes, run.causes), (tool.undoes, run.undoes),
                          (tool.witnesses, run.witnesses), (tool.refutes, run.refutes)):  # fmt: skip
        for clause in clauses:
            into.extend(_instances(paths, run, clause, run.happened))
    left = paths.terms.and_(run.called, paths.terms.not_(run.happened))
    for clause in tool.may_cause:
        run.residues.extend(_instances(paths, run, clause, left))
    for assignment in tool.sets:
        run.writes.extend(_writes(paths, run, assignment, mask, -1))
    for w in run.writes:
        paths.world.write(w)
    for inst in (*run.causes, *run.witnesses):
        paths.by_effect.setdefault(inst.effect, []).append(inst)


def _polls(paths: Paths, run: Run) -> None:
    """A write that is polled happens at every poll: one earlier poll, with its ``until`` false, stands for all of them."""
    tool, call, t = run.tool, run.call, paths.terms
    assert tool is not None
    if call.until is None or call.polls < 2 or not tool.causes:
        return
    final = run.result
    assert final is not None
    run.poll_result = missing(t, f"{call.id}@poll", tool.result)
    run.result = paths.results[call.id] = run.poll_result
    ev = clause_evaluator(paths, run, paths.order.anc[run.pos])
    parts = [run.called, t.sym(BOOL, f"{call.id}:polled"), *(ev.total(e) for e in tool.ensures)]
    again = paths.evaluator(run.pos, paths.order.anc[run.pos], run.pos)
    parts.append(t.not_(again.total(call.until)))
    for clause in tool.observes:
        for o in _writes(paths, run, clause, paths.order.anc[run.pos], -1, observed=True):
            actual = paths.world.read(o.fluent, o.args, paths.order.anc[run.pos], run.pos)
            parts.append(t.implies(o.cond, equal(t, actual, o.value)))
    run.polled = t.and_(*parts)
    for cause in tool.causes:
        run.causes += [replace(i, poll=True) for i in _instances(paths, run, cause, run.polled)]
    run.result = paths.results[call.id] = final


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
        for copy in "ab":
            item = unknown(t, g.type, lambda s, sort, c=copy: t.sym(sort, f"{tag}:{g.var}{c}{s}"))  # type: ignore[misc]
            ev.vars[g.var] = item
            yield from go(index + 1, t.and_(cond, ev.member(item, source)))

    return go(0, t.true)


def _instances(paths: Paths, run: Run, clause: EffectClause, when: Term) -> Iterable[Instance]:

    t = paths.terms
    ev = clause_evaluator(paths, run, paths.order.anc[run.pos])
    params = paths.domain.effects[clause.effect].params
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
            yield Instance(clause.effect, args, tuple(shapes), full, run.pos, clause)


def _writes(paths: Paths, run: Run, clause: FluentClause, mask: int, upto: int, observed: bool = False) -> list[Write]:
    t = paths.terms
    fluent = paths.domain.fluents[clause.fluent]
    found = []
    ev = clause_evaluator(paths, run, mask, upto)
    for bound in _bindings(ev, clause, f"{run.call.id}:{clause.fluent}"):
        ev.defs = []
        cond = ev.total(clause.when) if clause.when is not None else t.true
        if cond is t.false:
            continue
        args = tuple(ev.as_type(ev.eval(a), want) for a, (_, want) in zip(clause.args, fluent.params, strict=True))
        before = len(run.reads)
        value = ev.as_type(ev.eval(clause.value), fluent.type)
        delta = not observed and _increments(clause)
        if delta:
            del run.reads[before:]  # an increment commutes with another one: its own read is no interference
        full = t.and_(run.happened, bound, cond, ev.defined())
        found.append(Write(clause.fluent, paths.world.key(args), args, value, full, run.pos, clause, observed, delta))
    return found


def _increments(clause: FluentClause) -> bool:
    """``f(x) = f(x) + e`` or ``f(x) - e`` where ``e`` reads no fluent."""
    v = clause.value
    if not (isinstance(v, ex.Apply) and v.op in ("+", "-") and isinstance(v.args[0], ex.FluentRead)):
        return False
    own = v.args[0].fluent == clause.fluent and v.args[0].args == clause.args
    return own and not any(isinstance(x, ex.FluentRead) for x in ex.walk(v.args[1]))


# -- what a receipt says ------------------------------------------------------------------------------------------


def _receipt(paths: Paths, run: Run) -> None:
    """Res: ``ensures``, observations in the post-state, consistency with what was refuted or realized."""
    t, tool = paths.terms, run.tool
    assert tool is not None
    mask = paths.order.anc[run.pos]
    if tool.ensures:
        ev = clause_evaluator(paths, run, mask)
        run.base.extend(t.implies(run.happened, ev.total(e)) for e in tool.ensures)
    for clause in tool.observes:
        for o in _writes(paths, run, clause, mask, run.pos, observed=True):
            if not _awaits(paths, run, o.fluent):
                actual = paths.world.read(o.fluent, o.args, mask, run.pos, upto=run.pos)
                run.base.append(t.implies(o.cond, equal(t, actual, o.value)))
            if paths.domain.fluents[o.fluent].volatile:
                paths.world.write(o)  # from here on it is pinned

            run.reads.append(Read(o.fluent, o.key))
    _consistent(paths, run, mask)


def _awaits(paths: Paths, run: Run, fluent: str) -> bool:
    """Whether the call polls a volatile fluent: it waits for others to change it, so no earlier value binds its receipt."""
    return run.call.until is not None and run.call.polls > 1 and paths.domain.fluents[fluent].volatile


def _consistent(paths: Paths, run: Run, mask: int) -> None:
    """A receipt neither refutes what is realized nor witnesses what was refuted."""
    t = paths.terms
    for r in run.refutes:
        for _, key in paths.frame.kept.get(r.effect, ()):
            run.base.append(t.not_(t.and_(r.cond, match(t, r.args, key))))
        for other in paths.by_effect.get(r.effect, ()):
            if mask >> other.pos & 1:
                undone = [
                    t.and_(u.cond, match(t, u.args, other.args))
                    for p in range(other.pos + 1, run.pos)
                    if mask >> p & 1
                    for u in paths.runs[p].undoes
                    if u.effect == r.effect
                ]
                both = t.and_(r.cond, other.cond, match(t, r.args, other.args), t.not_(t.or_(*undone)))
                run.base.append(t.not_(both))
    for w in run.witnesses:
        for p in range(run.pos):
            if mask >> p & 1:
                for r in paths.runs[p].refutes:
                    if r.effect == w.effect:
                        caused = [
                            t.and_(c.cond, match(t, c.args, w.args))
                            for q in range(p, run.pos + 1)
                            if mask >> q & 1 or q == run.pos
                            for c in (paths.runs[q].causes if q < run.pos else run.causes)
                            if c.effect == w.effect
                        ]
                        both = t.and_(r.cond, w.cond, match(t, r.args, w.args), t.not_(t.or_(*caused)))
                        run.base.append(t.not_(both))


def _continuation(paths: Paths, run: Run) -> None:
    """``until`` and ``expect`` hold, and are defined, in every run that goes on; a handled failure may be theirs."""
    t, call = paths.terms, run.call
    parts = []
    for e in (call.until, call.expect):
        if e is not None:
            ev = paths.evaluator(run.pos, paths.order.anc[run.pos], run.pos)
            parts.append(ev.total(e))
            if e is call.until:
                run.until = parts[-1]
            run.arg_musts.extend((n, t.and_(run.happened, p)) for n, p in ev.musts if n != call.id)
    holds = t.and_(*parts)
    if call.id in paths.handled:
        returned = t.sym(BOOL, f"{call.id}:returns")
        run.cont.append(t.eq(returned, holds))
    else:
        run.cont.append(t.implies(run.happened, holds))
