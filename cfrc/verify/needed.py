"""Turns an admission into the converse of blame: which nodes and clauses it needed, and which not.

A node is needed when an obligation may be discharged by it, when a needed node reads it, or when a proof used what its
receipt says. (Kind 2's inductive validity cores are the model: the solver's unsatisfiable cores name the assumptions.)
"""

from __future__ import annotations

from cfrc.model.contract import Obligation, StateGoal
from cfrc.model.graph import Call
from cfrc.verify.assignment import Assignments
from cfrc.verify.certain import Certain
from cfrc.verify.goals import Unbound
from cfrc.verify.order import sources
from cfrc.verify.owed import effect_goals
from cfrc.verify.paths import Paths


def needs(paths: Paths, core: set[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of needed and unneeded nodes, and of the obligations and constraints that were used."""
    todo = [*_discharging(paths)]
    used = []
    for run in paths.runs:
        if any(c.id in core for c in run.base):
            used.append(f"the receipt of {run.call.id}")
            todo.append(run.call.id)
        if any(c.id in core for c in (*run.ready, *run.required, *run.cont)):
            used.append(f"what {run.call.id} expects")
            todo.append(run.call.id)
    feeds = {r.call.id: sources(r.call) for r in paths.runs}
    found: set[str] = set()
    while todo:
        n = todo.pop()
        if n not in found:
            found.add(n)
            todo.extend(feeds.get(n, ()))
    names = [n.id for n in paths.proposal.nodes if isinstance(n, Call)]
    needed = tuple(n for n in names if n in found) + tuple(dict.fromkeys(used))
    return needed, tuple(n for n in names if n not in found)


def _discharging(paths: Paths) -> set[str]:
    """The calls whose receipts may discharge an obligation: first those that are found at once, then what is left of
    each effect, one by one."""
    assignments = Assignments(paths)
    certain = Certain(assignments)
    found = {node for o in paths.contract.obligations for node in certain.nodes(o)}
    left = {
        effect: {paths.runs[i.pos].call.id for i in instances} - found for effect, instances in paths.by_effect.items()
    }
    for o in paths.contract.obligations:
        fluents = {f for g in o.goals if isinstance(g, StateGoal) for f in assignments.fluents(g)}
        if fluents:
            found |= {r.call.id for r in paths.runs if any(w.fluent in fluents for w in r.writes)}
        if any(left.get(g.effect) for g in effect_goals(o)):
            found |= _trying(assignments, o)
    return found


def _trying(assignments: Assignments, o: Obligation) -> set[str]:
    runs = assignments.paths.runs
    try:
        return {
            runs[c.instance.pos].call.id
            for discharges, _ in assignments.receipts(o)
            for c in assignments.candidates(o, discharges, exhaustive=True)
        }
    except Unbound:
        return set()
