"""Turns END(T) into violations of coverage and evidence (``docs/semantics.md`` §3)."""

from __future__ import annotations

from collections.abc import Mapping

from cfrc.model.contract import EffectGoal, Obligation, StateGoal
from cfrc.model.coverage import Coverage, Option
from cfrc.model.evaluate import Undefined, holds
from cfrc.model.expr import Expr, conjuncts
from cfrc.model.graph import Terminal
from cfrc.model.run import Run
from cfrc.model.show import show_expr


def close(run: Run, fired: list[Terminal]) -> None:
    """Judges the end of a run in which the terminals fire."""
    if len(fired) > 1:
        run.report("EVD001", fired[0].id, others=tuple(t.id for t in fired[1:]))
    for terminal in fired:
        _waits(run, terminal)
    if any(t.kind == "done" for t in fired) or any(t.claims for t in fired):
        _coverage(run, fired)


def _waits(run: Run, terminal: Terminal) -> None:
    """A terminal with its own ``after`` must wait for every call that was made."""
    if terminal.after is None:
        return
    entry = run.book.plan.nodes[terminal.id]
    early = tuple(n for n in run.args if not entry.before >> run.book.plan.nodes[n].position & 1)
    if early:
        run.report("EVD003", terminal.id, others=early, failing=f"after {', '.join(early)}")


def _coverage(run: Run, fired: list[Terminal]) -> None:
    owed = [e for e in run.book.owed if run.active(e.obligation.name)]
    coverage = run.coverage()
    chosen, missing = coverage.assign(owed, ordered=True)
    if missing:
        # Is it only the order? Then say so, about the best assignment without it.
        loose, still = coverage.assign(owed, ordered=False)
        if len(still) < len(missing):
            chosen, missing = loose, still
    if len(fired) == 1 and fired[0].kind == "done":
        pair = coverage.misplaced(owed, chosen)
        if pair is not None:
            _misplaced(run, coverage, pair, chosen)
        for name in missing:
            _missing(run, coverage, run.book.obligations[name], fired[0].id, chosen)
    for terminal in fired:
        for claim in terminal.claims:
            if claim in run.book.obligations and claim not in chosen:
                # A claim of an obligation that is not active needs its evidence all the same.
                o = run.book.obligations[claim]
                if claim in missing or next(coverage.options(o, chosen, set()), None) is None:
                    run.report("EVD004", terminal.id, obligation=claim, failing=f"claims {claim}")


def _misplaced(run: Run, coverage: Coverage, pair: tuple[str, str], chosen: Mapping[str, Option]) -> None:
    """Reports ``a before b`` at the call that realized b."""
    first, second = pair
    at = coverage.realized(second, chosen[second], earliest=True)
    node = next((n for n, i in run.steps if i == at), None)
    run.report("COV003", node, obligation=first, failing=f"{first} before {second}", index=at)


def _missing(run: Run, coverage: Coverage, o: Obligation, node: str, chosen: Mapping[str, Option]) -> None:
    """Says why an obligation is not discharged."""
    state = [g for g in o.goals if isinstance(g, StateGoal)]
    if o.choice == "one" and coverage.alternatives(o, chosen) > 1:
        run.report("COV005", node, obligation=o.name, failing=show_owed(o))
    elif o.choice == "all" and state:
        failing = _false(run, state[0].condition) if not o.exists else state[0].condition
        run.report("COV004", node, obligation=o.name, failing=show_expr(failing))
    else:
        run.report("COV001", node, obligation=o.name, failing=show_owed(o))


def _false(run: Run, condition: Expr) -> Expr:
    """The first conjunct that is false or undefined in the final state."""
    for c in conjuncts(condition):
        try:
            if not holds(c, run.env):
                return c
        except Undefined:
            return c
    return condition


def show_owed(o: Obligation) -> str:
    """What an obligation asks for, with its alternatives."""
    return " or ".join(show_goal(g) for g in o.goals)


def show_goal(goal: EffectGoal | StateGoal) -> str:
    """What an obligation asks for, as text: ``sent(receipt, _)`` or ``roaming == false``."""
    if isinstance(goal, StateGoal):
        return show_expr(goal.condition)
    return f"{goal.effect}({', '.join('_' if a is None else show_expr(a) for a in goal.args)})"
