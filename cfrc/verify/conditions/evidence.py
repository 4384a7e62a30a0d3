"""Turns terminals into conditions: at most one fires, and it waits for every call of its branch.

``semantics.md`` §3, *evidence*. (That nothing depends on a terminal is structural, see ``static.py``; that each claim is
discharged is judged with coverage.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cfrc.model.contract import StateGoal
from cfrc.model.graph import Call, Terminal
from cfrc.model.verdict import Finding
from cfrc.verify.condition import Condition, spans
from cfrc.verify.owed import effect_goals
from cfrc.verify.paths import Paths


def conditions(paths: Paths) -> Iterator[Condition]:
    for a, b in combinations(paths.order.terminals, 2):
        yield _several(paths, a, b)
    for terminal in paths.order.terminals:
        if terminal.after is not None:
            yield from _waits(paths, terminal)


def _several(paths: Paths, a: Terminal, b: Terminal) -> Condition:
    t = paths.terms
    (one, _, one_defined), (two, _, two_defined) = paths.fires(a), paths.fires(b)
    return Condition(
        kind="evidence",
        code="EVD001",
        bad=t.and_(one, two, one_defined, two_defined),
        message=f"`{a.id}` and `{b.id}` may both end one run",
        help="give the terminals exclusive guards",
        mask=paths.everything,
        node=b.id,
        where=b.span,
        clauses=spans((f"`{a.id}`", a.span)),
        others=(a.id,),
    )


def _waits(paths: Paths, terminal: Terminal) -> Iterator[Condition]:
    """Only the last calls that it does not wait for are reported: the ones before them follow."""
    t = paths.terms
    before = paths.order.terminal_anc[terminal.id]
    missing = [r for r in paths.runs if not before >> r.pos & 1]
    covered = 0
    for r in reversed(missing):
        if covered >> r.pos & 1:
            continue
        covered |= paths.order.anc[r.pos]
        fires, _, defined = paths.fires(terminal)
        yield Condition(
            kind="evidence",
            code="EVD003",
            bad=t.and_(fires, defined, r.called),
            message=f"`{terminal.id}` does not wait for `{r.call.id}`, a call of its branch",
            help=f"add `{r.call.id}` to its `after`, or leave `after` out to wait for everything",
            mask=paths.everything,
            node=terminal.id,
            where=terminal.span,
            clauses=spans((f"`{r.call.id}`", r.call.span)),
            others=(r.call.id,),
        )


def coverage_claims(paths: Paths) -> Iterator[Finding]:
    """``covers`` compared with what is computed: claiming more is a finding, less is a note."""
    by_name = {o.name: o for o in paths.contract.obligations}
    annotated = any(isinstance(n, Call) and n.covers for n in paths.proposal.nodes)
    for run in paths.runs if annotated else ():
        touched = {i.effect for i in (*run.causes, *run.witnesses)}
        written = {w.fluent for w in run.writes}
        for name in run.call.covers:
            o = by_name.get(name)
            if o is not None and not _serves(paths, run.pos, name, touched, written):
                yield Finding(
                    code="CFRC-COV006",
                    kind="coverage",
                    message=f"`{run.call.id}` says that it covers `{name}`, but no receipt of it can",
                    help="drop the annotation, or pass the arguments that the obligation asks for",
                    where=run.call.span,
                    node=run.call.id,
                    obligation=name,
                    clauses=spans((f"`{name}` is owed", o.span)),
                )
        for o in paths.contract.obligations:
            serves = {g.effect for g in effect_goals(o)} & touched
            if serves and o.name not in run.call.covers and _serves(paths, run.pos, o.name, touched, written):
                yield Finding(
                    code="CFRC-COV007",
                    kind="coverage",
                    message=f"`{run.call.id}` may cover `{o.name}`, which it does not say",
                    where=run.call.span,
                    node=run.call.id,
                    obligation=o.name,
                    severity="note",
                )


def _serves(paths: Paths, pos: int, name: str, touched: set[str], written: set[str]) -> bool:
    """Whether some instance of the call may match the obligation."""
    from cfrc.verify.assignment import Assignments
    from cfrc.verify.goals import Unbound

    assignments = Assignments(paths)
    o = assignments.by_name[name]
    if any(assignments.fluents(g) & written for g in o.goals if isinstance(g, StateGoal)):
        return True
    try:
        for discharges, _ in assignments.receipts(o):
            if any(c.instance.pos == pos for c in assignments.candidates(o, discharges, exhaustive=True)):
                return True
    except Unbound:
        return True
    return False
