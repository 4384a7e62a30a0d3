"""Turns all findings of one admission into those worth saying: nothing twice, nothing that only follows from another.

Only what is undecided is ever left out, and only beside an error or beside the same words: no verdict changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfrc.model.graph import Call
from cfrc.model.verdict import Finding
from cfrc.verify.order import Order


def tidied(order: Order, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in their order, without the undecided ones that say nothing of their own."""
    every = list(findings)
    idle = _after_ill_formed(order, every)
    return list(_once(f for f in every if f.severity != "undecided" or f.node not in idle))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """What is undecided about several instances of one clause reads the same, and is said once."""
    said: set[tuple[object, ...]] = set()
    for f in findings:
        words = (f.message, f.help, f.where, f.node, f.obligation, f.clauses)
        if f.severity == "undecided":
            if words in said:
                continue
            said.add(words)
        yield f


def _after_ill_formed(order: Order, findings: list[Finding]) -> set[str | None]:
    """The steps that are, or come after, a call without a usable value for each argument, and the ends of the run.

    Nothing can be replayed there, whatever the solver says; the call's own finding refuses the proposal.
    """
    ill = {f.node for f in findings if f.severity == "error" and f.kind == "typing"}
    ill |= {c.id for c in order.calls if _without_source(c)} & {f.node for f in findings if f.severity == "error"}
    at = sum(1 << i for i, c in enumerate(order.calls) if c.id in ill)
    if not at:
        return set()
    after: set[str | None] = {c.id for i, c in enumerate(order.calls) if (order.anc[i] | 1 << i) & at}
    return {None} | after | {t.id for t in order.terminals}


def _without_source(call: Call) -> bool:
    return any(f.code.endswith("GRD001") for f in call.faults)
