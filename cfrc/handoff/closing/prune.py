"""Turns a closed graph into the calls that it could do without: reads that nothing depends on and nobody needs.

A call stays if it may change anything, if its receipt discharges an obligation, if a call that stays takes a value from
it or relies on what it showed, or if its successor waits for it in so many words. Nothing is added or replaced. A read
that was asked several times on end, until it said what is relied on, is one call with as many polls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from cfrc.handoff.closing.graph import Closing
from cfrc.handoff.closing.made import Made
from cfrc.model.expr import NodeResult, Outcome, walk
from cfrc.model.graph import Call, Proposal, Terminal


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


def repeats(calls: Sequence[Made], kept: Collection[str]) -> dict[str, int]:
    """How often a kept read was asked on end: with the same calls just before it that are left out."""
    found: dict[str, int] = {}
    count = 1
    for before, call in pairwise(calls):
        again = call.tool is not None and not call.tool.writes and before.id not in kept and call.usable
        same = again and before.usable and (before.name, before.args) == (call.name, call.args)
        count = count + 1 if same else 1
        if call.id in kept and count > 1:
            found[call.id] = count
    return found


def polled(proposal: Proposal, counts: Mapping[str, int]) -> Proposal:
    """The proposal with those reads as polls, where what is expected of them is only about their own answer."""
    return replace(proposal, nodes=tuple(_polled(n, counts.get(n.id, 1)) for n in proposal.nodes))


def _polled(node: Call | Terminal, count: int) -> Call | Terminal:
    if not isinstance(node, Call) or count == 1 or node.expect is None or node.until is not None:
        return node
    own = all(x.node == node.id for x in walk(node.expect) if isinstance(x, NodeResult))
    return replace(node, until=node.expect, expect=None, polls=count) if own else node


__all__ = ["idle", "polled", "repeats"]
