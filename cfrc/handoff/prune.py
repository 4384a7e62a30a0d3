"""Turns a closed graph into the calls that it could do without: reads that nothing depends on and nobody needs.

A call stays if it may change anything, if its receipt discharges an obligation, if a call that stays takes a value from
it or relies on what it showed, or if its successor waits for it in so many words. Nothing is added or replaced.
"""

from __future__ import annotations

from cfrc.handoff.closing import Closing
from cfrc.handoff.made import Made
from cfrc.model.expr import NodeResult, Outcome, walk
from cfrc.model.graph import Call, Proposal


def idle(closing: Closing, proposal: Proposal) -> tuple[Made, ...]:
    """The calls that may be left out, in their order."""
    calls = {c.id: c for c in closing.bound.calls}
    nodes = {n.id: n for n in proposal.nodes if isinstance(n, Call)}
    serving = {node for by in closing.evidence.chosen.values() for node in by.nodes}
    queue = [c.id for c in calls.values() if _stays(c, closing.draft[c.id]) or c.id in serving]
    queue += sorted(closing.relied.get(len(calls), ()))
    needed: set[str] = set()
    while queue:
        name = queue.pop()
        if name not in needed:
            needed.add(name)
            queue.extend(_needs(closing, nodes[name], calls[name]))
    return tuple(c for c in calls.values() if c.id not in needed)


def _stays(call: Made, given: Call) -> bool:
    """Whether the call may change something, or the successor asked for more than its result."""
    asked = bool(given.expect or given.until or given.when)
    return asked or call.write or call.tool is None or call.tool.writes or call.problem is not None


def _needs(closing: Closing, node: Call, call: Made) -> set[str]:
    """The calls whose receipts this one takes values from, or relies on."""
    found = set(closing.draft[call.id].after) | closing.relied.get(call.index, set())
    when = closing.draft[call.id].when
    parts = [*node.args.values(), *([when] if when is not None else [])]
    parts += [e.condition for e in closing.expectations if e.node == call.id or e.node in found]
    found |= {x.node for e in parts for x in walk(e) if isinstance(x, NodeResult | Outcome)}
    return {f for f in found if f in closing.place}


__all__ = ["idle"]
