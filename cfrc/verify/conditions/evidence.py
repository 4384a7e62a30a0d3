"""Turns terminals into conditions: at most one fires, and it waits for every call of its branch.

``docs/semantics.md`` §3, *evidence*. (That nothing depends on a terminal is structural, see ``static.py``; that each
claim is discharged is judged with coverage.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from cfrc.model.contract import Obligation, StateGoal
from cfrc.model.graph import Call, Terminal
from cfrc.model.verdict import Finding
from cfrc.verify.assignment import Assignments
from cfrc.verify.condition import Condition, spans
from cfrc.verify.goals import Unbound
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


def coverage_claims(paths: Paths, contested: int = 0) -> Iterator[Finding]:
    """``covers`` compared with what is computed: claiming more is a finding, less is a note. Of ``contested`` calls
    (a bitset) it depends on the order what they do: they are not said to claim more."""
    if not any(isinstance(n, Call) and n.covers for n in paths.proposal.nodes):
        return
    assignments = Assignments(paths)
    serves = {o.name: _serving(paths, assignments, o) for o in paths.contract.obligations}
    computed: dict[int, list[str]] = defaultdict(list)
    for name, positions in serves.items():
        for p in positions:
            computed[p].append(name)
    for run in paths.runs:
        for name in run.call.covers:
            o = assignments.by_name.get(name)
            sure = run.called is not paths.terms.false and not contested >> run.pos & 1
            if o is not None and run.pos not in serves[name] and sure:
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
        for name in computed[run.pos]:
            if name not in run.call.covers:
                yield Finding(
                    code="CFRC-COV007",
                    kind="coverage",
                    message=f"`{run.call.id}` may cover `{name}`, which it does not say",
                    where=run.call.span,
                    node=run.call.id,
                    obligation=name,
                    severity="note",
                )


def _serving(paths: Paths, assignments: Assignments, o: Obligation) -> set[int]:
    """The positions of the calls some instance or write of which may serve the obligation."""
    fluents = {f for g in o.goals if isinstance(g, StateGoal) for f in assignments.fluents(g)}
    found = {r.pos for r in paths.runs if any(w.fluent in fluents for w in r.writes)} if fluents else set()
    try:
        for discharges, _ in assignments.receipts(o):
            found |= {c.instance.pos for c in assignments.candidates(o, discharges, exhaustive=True)}
    except Unbound:
        found |= {r.pos for r in paths.runs}
    return found
