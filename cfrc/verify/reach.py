"""Turns "some reachable run ends in done" into a replayed run, or into the vacuity finding (COV002)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cfrc.model.verdict import Finding
from cfrc.verify.condition import spans
from cfrc.verify.decode import View, scenario
from cfrc.verify.obvious import obviously_satisfiable
from cfrc.verify.paths import Paths
from cfrc.verify.terms import Term

if TYPE_CHECKING:
    from cfrc.verify.decide import Decider


ATTEMPTS = 3
"""Further models that are tried, each different from the ones before."""


def unreachable(paths: Paths, decider: Decider) -> Iterator[Finding]:
    """Nothing when a run to ``done`` was found (by construction, or replayed); else why there is none."""
    t = paths.terms
    done = t.or_(*(paths.ends(x) for x in paths.order.terminals if x.kind == "done"))
    if done is t.true and not paths.restrictive:
        return
    if done is t.false:
        yield _vacuous(paths, "no run of this proposal ends in `done`")
        return
    paths.quantifiers.instantiate()
    base = [*paths.assume(paths.everything), *paths.quantifiers.axioms, done]
    if obviously_satisfiable(t, t.and_(*base)):
        return
    different: list[Term] = []
    for extra in (*decider.search.easier(), *([different] * ATTEMPTS)):
        answer = decider.session.check([*base, *extra])
        if answer.answer == "unsat" and not extra:
            yield _vacuous(paths, "no run of this proposal can end in `done`: what it expects cannot all be true")
            return
        if answer.answer == "sat":
            view = View(t, decider.session, answer)
            if _reached(paths, decider, view):
                return
            different.append(decider.search.unlike(view))
    yield Finding(
        code="CFRC-UND001",
        kind="coverage",
        message="undecided (`COV002`): whether some run of this proposal ends in `done`",
        help="no run to `done` could be carried out on concrete values",
        where=paths.proposal.span,
        severity="undecided",
    )


def _reached(paths: Paths, decider: Decider, view: View) -> bool:
    done = {x.id for x in paths.order.terminals if x.kind == "done"}
    for order in (None, *paths.alternatives()):
        trace = paths.replay(scenario(paths, view, paths.everything, None, False, order), decider.today)
        if trace.legal and trace.ended and done & set(trace.terminals):
            return True
    return False


def _vacuous(paths: Paths, message: str) -> Finding:
    return Finding(
        code="CFRC-COV002",
        kind="coverage",
        message=message,
        help="a proposal that can never finish proves nothing: add `done`, or drop what contradicts it",
        where=paths.proposal.span,
        clauses=spans(*((f"`{x.id}`", x.span) for x in paths.order.terminals)),
    )
