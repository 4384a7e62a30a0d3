"""Turns obligations into conditions at END({done}): live receipts discharge every active one.

``docs/semantics.md`` §3, *coverage* and the claims of *evidence*: there is an assignment of the active obligations to
receipts after the freeze that cause or witness an identity not in K, still alive, matching arguments and ``where``;
existential obligations get different identities unless ``shared``; state obligations hold in the final state;
``one of`` exactly one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from cfrc.model.contract import Obligation, StateGoal
from cfrc.model.graph import Terminal
from cfrc.verify.assignment import Assignments
from cfrc.verify.certain import Certain
from cfrc.verify.condition import Condition, Conditions, spans
from cfrc.verify.goals import Unbound
from cfrc.verify.held import holds_at
from cfrc.verify.owed import effect_goals
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Run
from cfrc.verify.terms import Term


def conditions(paths: Paths) -> Conditions:
    assignments = Assignments(paths)
    certain = Certain(assignments)
    for terminal in paths.order.terminals:
        if terminal.kind == "done":
            yield from _terminal(paths, assignments, certain, terminal)
            yield from _before(paths, assignments, terminal)


def _terminal(paths: Paths, assignments: Assignments, certain: Certain, terminal: Terminal) -> Conditions:
    t = paths.terms
    done = paths.ends(terminal)
    if done is t.false:
        return
    for o in paths.contract.obligations:
        active = assignments.active(o)
        surely = certain.discharged(o)
        if surely is not t.false:
            yield from _certain(paths, assignments, o, terminal, done, surely)
            continue
        try:
            covered = assignments.discharged(o)
            several = t.and_(done, assignments.several(o)) if o.choice == "one" else t.false
        except Unbound as gap:
            yield _undecidable(paths, o, terminal, f"not bound: {gap}")
            continue
        if covered is None:
            yield _undecidable(paths, o, terminal, "too many ways to assign receipts to obligations")
            continue
        bad = t.and_(done, t.not_(covered))
        open_ = t.and_(active, bad)
        yield None if open_ is t.false else _uncovered(paths, o, terminal, open_)
        if o.choice == "one":
            yield _exclusive(paths, o, terminal, t.and_(active, several))
        if o.name in terminal.claims:
            unproved = t.or_(bad, several)
            yield None if unproved is t.false else _claim(paths, o, terminal, unproved)
    for group in assignments.groups():
        yield _together(paths, assignments, group, terminal, done, certain.joint(group))


def _together(
    paths: Paths, assignments: Assignments, group: list[Obligation], terminal: Terminal, done: Term, surely: Term
) -> Condition | None:
    """One assignment for a whole group. (A member that is not active is excused, the others are not.)"""
    t = paths.terms
    joint = surely if surely is not t.false else assignments.joint(group)
    if joint is None:
        return _undecidable(paths, group[-1], terminal, "too many ways to assign receipts to obligations")
    bad = t.and_(done, t.not_(joint))
    if bad is t.false:
        return None
    cond = _uncovered(paths, group[-1], terminal, bad)
    cond.together = tuple(group)
    names = ", ".join(f"`{o.name}`" for o in group)
    cond.message = f"at `{terminal.id}` there may be no receipts for all of {names} together"
    if joint is surely:
        cond.exact = partial(_exactly, paths, done, surely, lambda: assignments.joint(group))
    return cond


def _exactly(paths: Paths, assumed: Term, surely: Term, every: Callable[[], Term | None]) -> Term:
    """The violation by the exact formula; by the stronger claim where there are too many ways to write it out."""
    covered = every()
    return paths.terms.and_(assumed, paths.terms.not_(covered if covered is not None else surely))


def _certain(
    paths: Paths, assignments: Assignments, o: Obligation, terminal: Terminal, done: Term, surely: Term
) -> Conditions:
    """The copy-through case: first only the receipts that match by construction; the others, which may turn out to
    match, are considered only where these do not suffice."""
    t = paths.terms
    for active, make in ((assignments.active(o), _uncovered), (t.true, _claim)):
        if make is _claim and o.name not in terminal.claims:
            continue
        assumed = t.and_(active, done)
        bad = t.and_(assumed, t.not_(surely))
        if bad is t.false:
            yield None
        else:
            cond = make(paths, o, terminal, bad)
            cond.exact = partial(_exactly, paths, assumed, surely, partial(assignments.discharged, o))
            yield cond


def _end(paths: Paths, o: Obligation, terminal: Terminal, code: str, bad: Term, message: str, help: str) -> Condition:
    return Condition(
        kind="evidence" if code.startswith("EVD") else "coverage",
        code=code,
        bad=bad,
        message=message,
        help=help,
        mask=paths.everything,
        node=terminal.id,
        obligation=o.name,
        where=terminal.span if code.startswith("EVD") else o.span,
        clauses=spans((f"`{o.name}` is owed", o.span), ("the terminal", terminal.span)),
    )


def _uncovered(paths: Paths, o: Obligation, terminal: Terminal, bad: Term) -> Condition:
    state = [g for g in o.goals if isinstance(g, StateGoal)]
    if state and len(state) == len(o.goals):
        cond = _end(
            paths, o, terminal, "COV004", bad, f"`{o.name}` may not hold when `{terminal.id}` is reached",
            "establish it last, or `expect` it from a read with nothing after that can change it",
        )  # fmt: skip
        cond.failing = state[0].condition
        return cond
    tools = sorted(
        tool.name for tool in paths.domain.tools.values()
        for c in (*tool.causes, *tool.witnesses) if any(c.effect == g.effect for g in effect_goals(o))
    )  # fmt: skip
    by = " or ".join(f"`{n}`" for n in dict.fromkeys(tools)) or "no tool of this domain"
    return _end(
        paths, o, terminal, "COV001", bad, f"`{o.name}` may still be open when `{terminal.id}` is reached",
        f"it is discharged by a receipt of {by} with matching arguments",
    )  # fmt: skip


def _claim(paths: Paths, o: Obligation, terminal: Terminal, bad: Term) -> Condition:
    return _end(
        paths, o, terminal, "EVD004", bad, f"`{terminal.id}` claims `{o.name}` without evidence",
        "a claim needs a receipt that discharges the obligation",
    )  # fmt: skip


def _exclusive(paths: Paths, o: Obligation, terminal: Terminal, bad: Term) -> Condition:
    return _end(
        paths, o, terminal, "COV005", bad, f"more than one alternative of `{o.name}` may be realized",
        "`one of` means exactly one: put the alternatives on exclusive branches",
    )  # fmt: skip


def _undecidable(paths: Paths, o: Obligation, terminal: Terminal, why: str) -> Condition:
    cond = _uncovered(paths, o, terminal, paths.terms.true)
    cond.undecidable = why
    return cond


# -- order --------------------------------------------------------------------------------------------------------


def _before(paths: Paths, assignments: Assignments, terminal: Terminal) -> Conditions:
    """In every run to END({done}), ``a before b`` holds at the step that realizes b."""
    done = paths.ends(terminal)
    by_name = {o.name: o for o in paths.contract.obligations}
    for first in paths.contract.obligations:
        for name in first.before:
            later = by_name.get(name)
            if later is not None:
                for run in paths.runs:
                    try:
                        yield from _premature(paths, assignments, first, later, run, done)
                    except Unbound as gap:
                        yield _undecidable(paths, first, terminal, f"not bound: {gap}")


def _premature(
    paths: Paths, assignments: Assignments, first: Obligation, later: Obligation, run: Run, done: Term
) -> Conditions:
    t = paths.terms
    realizes = t.or_(*_realizations(paths, assignments, later, run))
    if realizes is t.false:
        return
    mask = paths.order.anc[run.pos]
    ready: list[Term] = []
    late: list[Term] = []
    for p, other in enumerate(paths.runs):
        in_time = mask >> p & 1 or p == run.pos
        (ready if in_time else late).extend(_realizations(paths, assignments, first, other))
    for g in first.goals:
        if isinstance(g, StateGoal):
            ready.append(holds_at(paths, g, run.pos, mask))
            late.append(t.true)
    # what never happens does not happen too late: then it is still open in the end, which is another finding
    out_of_order = t.and_(t.not_(t.or_(*ready)), t.or_(*late))
    yield Condition(
        kind="coverage",
        code="COV003",
        bad=t.and_(done, assignments.active(first), assignments.active(later), realizes, out_of_order),
        message=f"`{run.call.id}` may realize `{later.name}` before `{first.name}` is",
        help=f"make `{run.call.id}` wait for the step that realizes `{first.name}`",
        mask=paths.everything,
        node=run.call.id,
        obligation=first.name,
        where=run.call.span,
        clauses=spans((f"`{first.name}` comes before `{later.name}`", first.span)),
    )


def _realizations(paths: Paths, assignments: Assignments, o: Obligation, run: Run) -> Iterator[Term]:
    """The conditions under which this call realizes the obligation: by an effect, or by making a state goal true."""
    t = paths.terms
    yield assignments.realized(o, run)
    mask = paths.order.anc[run.pos]
    for g in o.goals:
        if isinstance(g, StateGoal) and any(w.fluent in assignments.fluents(g) for w in run.writes):
            before = holds_at(paths, g, run.pos, mask)
            after = holds_at(paths, g, run.pos, mask, run.pos)
            yield t.and_(run.happened, after, t.not_(before))
