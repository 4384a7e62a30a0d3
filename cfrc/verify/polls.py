"""Turns a polled call into an earlier poll of it, with its ``until`` false, beside the final one.

A poll has all effects of a call (``docs/semantics.md`` §2). One earlier poll stands for all of them: what it causes or
witnesses, and what it sees of volatile fluents where the final receipt says nothing about the same instance. What else
a poll may do is no more than what the final receipt may, where that is not assumed to end the polling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model.domain import Tool
from cfrc.verify.clauses import instances
from cfrc.verify.receipts import receipt
from cfrc.verify.runs import Run, match, missing
from cfrc.verify.terms import BOOL, Term

if TYPE_CHECKING:
    from cfrc.verify.paths import Paths


def repeats(run: Run) -> bool:
    """Whether the call may be made more than once."""
    return run.call.until is not None and run.call.polls > 1


def earlier_poll(paths: Paths, run: Run) -> Run | None:
    """The earlier poll, if it matters. Its instances and pins are added; the final receipt's come after them."""
    tool, call, t = run.tool, run.call, paths.terms
    assert tool is not None
    if not repeats(run) or not (tool.causes or tool.witnesses or tool.approved is not None or _seen(paths, tool)):
        return None
    made = t.and_(run.called, t.sym(BOOL, f"{call.id}:polled"))
    poll = Run(replace(call, id=f"{call.id}@poll"), tool, run.pos, run.args, missing(t, f"{call.id}@poll", tool.result))
    poll.called = poll.happened = made
    for clauses, into in ((tool.causes, poll.causes), (tool.witnesses, poll.witnesses), (tool.refutes, poll.refutes)):
        for clause in clauses:
            into.extend(instances(paths, poll, clause, made))
    receipt(paths, poll)
    run.polled = t.and_(made, *poll.base, _again(paths, run, poll))
    run.poll_result = poll.result
    run.base.append(t.implies(made, run.polled))
    for found, into in ((poll.causes, run.causes), (poll.witnesses, run.witnesses)):
        into.extend(replace(i, cond=t.and_(i.cond, run.polled), poll=True) for i in found)
    return poll


def agreeing(paths: Paths, run: Run, poll: Run) -> Iterator[Term]:
    """Res: the final receipt neither refutes what the poll realized, nor witnesses what the poll refuted."""
    t = paths.terms
    causable = {c.effect for c in run.causes}
    undoable = {u.effect for u in run.undoes}
    for mine, others in ((run.refutes, [*poll.causes, *poll.witnesses]), (run.witnesses, poll.refutes)):
        for i in mine:
            for o in others:
                if i.effect == o.effect and not i.poll and i.effect not in (causable | undoable):
                    yield t.implies(poll.happened, t.not_(t.and_(i.cond, o.cond, match(t, i.args, o.args))))


def _again(paths: Paths, run: Run, poll: Run) -> Term:
    """That ``until`` is false of the poll's result."""
    assert run.call.until is not None and run.result is not None and poll.result is not None
    paths.results[run.call.id] = poll.result
    ev = paths.evaluator(run.pos, paths.order.anc[run.pos], run.pos)
    false = paths.terms.not_(ev.total(run.call.until))
    paths.results[run.call.id] = run.result
    return false


def _seen(paths: Paths, tool: Tool) -> set[str]:
    """The volatile fluents that the tool observes."""
    return {o.fluent for o in tool.observes if paths.domain.fluents[o.fluent].volatile}


def unmodelled(paths: Paths, run: Run) -> str | None:
    """Why the state that a later poll of the call meets is not modelled, if it is not."""
    tool = run.tool
    if tool is None or not repeats(run):
        return None
    if tool.sets or tool.undoes:
        return "a call that sets or undoes something is polled: the state after several polls is not modelled"
    seen = _seen(paths, tool)
    if seen & {x.fluent for e in _before(tool) for x in ex.walk(e) if isinstance(x, ex.FluentRead)}:
        return "a call depends on a volatile fluent that its own earlier polls see: that state is not modelled"
    if any(o.generators and sum(p.fluent == o.fluent for p in tool.observes) > 1 for o in tool.observes):
        return "a polled call sees one fluent in several ways: which of its polls saw it last is not modelled"
    return None


def _before(tool: Tool) -> Iterator[ex.Expr]:
    """The expressions that are read in the state before a call."""
    yield from tool.requires
    if tool.approved is not None:
        yield tool.approved
    for clause in (*tool.causes, *tool.witnesses, *tool.refutes, *tool.may_cause):
        yield from (a for a in clause.args if a is not None)
        if clause.when is not None:
            yield clause.when
        yield from (g.source for g in clause.generators)
