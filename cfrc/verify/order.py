"""Turns a proposal's nodes into a partial order: predecessors, one linearization, ancestor bitsets.

Answers graph questions on the graph (``docs/semantics.md`` §4): cycles, dangling references, whether two calls are
ordered. The order of listing never matters. Linear in nodes and edges, up to the bitset unions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from cfrc.model import expr as ex
from cfrc.model.graph import Call, Proposal, Terminal


def mentioned(e: ex.Expr | None, own: str = "") -> set[str]:
    """The nodes whose result or outcome an expression reads, without ``own``."""
    if e is None or isinstance(e, ex.Lit | ex.Var):
        return set()
    found = {x.node for x in ex.walk(e) if isinstance(x, ex.NodeResult | ex.Outcome)}
    found.discard(own)
    return found


def sources(call: Call) -> set[str]:
    """The nodes that a call reads in arguments, guard, ``until`` and ``expect``."""
    found: set[str] = set()
    for e in call.args.values():
        found |= mentioned(e)
    return found | mentioned(call.when) | mentioned(call.until, call.id) | mentioned(call.expect, call.id)


@dataclass(frozen=True, slots=True)
class Order:
    """``calls`` in one linearization; ``anc[i]`` is the bitset of positions that precede position ``i``.

    ``cycle`` names the nodes of one cycle when there is one; then ``calls`` holds only what precedes every cycle.
    ``terminal_anc`` is the bitset of calls before each terminal (by id).
    """

    calls: tuple[Call, ...]
    position: dict[str, int]
    preds: tuple[tuple[int, ...], ...]
    anc: tuple[int, ...]
    terminals: tuple[Terminal, ...]
    terminal_anc: dict[str, int]
    cycle: tuple[str, ...]
    blocked: frozenset[int] = frozenset()
    """Calls that wait for a name that is no call of the graph: they are never enabled."""

    def ordered(self, i: int, j: int) -> bool:
        return bool(self.anc[j] >> i & 1 or self.anc[i] >> j & 1)

    def linearize(self, rank: Callable[[int], int]) -> list[int]:
        """The linearization in which, of the calls that may come next, the one of the lowest rank does."""
        waiting = [len(ps) for ps in map(set, self.preds)]
        succs: list[list[int]] = [[] for _ in self.calls]
        for p, ps in enumerate(self.preds):
            for q in set(ps):
                succs[q].append(p)
        heap = [(rank(p), p) for p, k in enumerate(waiting) if k == 0]
        heapify(heap)
        order = []
        while heap:
            _, p = heappop(heap)
            order.append(p)
            for q in succs[p]:
                waiting[q] -= 1
                if waiting[q] == 0:
                    heappush(heap, (rank(q), q))
        return order

    def closed(self, positions: Iterable[int]) -> int:
        """The bitset of the positions with all that precedes them."""
        mask = 0
        for i in positions:
            mask |= self.anc[i] | 1 << i
        return mask


def arrange(proposal: Proposal) -> Order:
    """The order of a proposal. Unknown names in ``after`` or sources are skipped (they are findings of their own)."""
    calls = {n.id: n for n in proposal.nodes if isinstance(n, Call)}
    wanted = {i: {*c.after, *sources(c)} for i, c in calls.items()}
    preds = {i: [p for p in sorted(ps) if p in calls] for i, ps in wanted.items()}
    order = _linearize(preds)
    position = {n: i for i, n in enumerate(order)}
    anc: list[int] = []
    for n in order:
        mask = 0
        for p in preds[n]:
            mask |= anc[position[p]] | 1 << position[p]
        anc.append(mask)
    terminals = tuple(n for n in proposal.nodes if isinstance(n, Terminal))
    terminal_anc = {}
    for t in terminals:
        mask = 0
        for p in {*(t.after or ()), *mentioned(t.when)}:
            if p in position:
                mask |= anc[position[p]] | 1 << position[p]
        terminal_anc[t.id] = mask
    return Order(
        calls=tuple(calls[n] for n in order),
        position=position,
        preds=tuple(tuple(position[p] for p in preds[n]) for n in order),
        anc=tuple(anc),
        terminals=terminals,
        terminal_anc=terminal_anc,
        cycle=_cycle(preds, set(order)) if len(order) < len(calls) else (),
        blocked=frozenset(position[n] for n in order if len(wanted[n]) > len(preds[n])),
    )


def _linearize(preds: dict[str, list[str]]) -> list[str]:
    """Kahn's algorithm in listing order; leaves out what a cycle blocks."""
    waiting = {n: len(ps) for n, ps in preds.items()}
    succs: dict[str, list[str]] = {n: [] for n in preds}
    for n, ps in preds.items():
        for p in ps:
            succs[p].append(n)
    order = [n for n, k in waiting.items() if k == 0]
    for n in order:
        for s in succs[n]:
            waiting[s] -= 1
            if waiting[s] == 0:
                order.append(s)
    return order


def find_cycle(preds: dict[str, list[str]]) -> tuple[str, ...]:
    """The nodes of one cycle of a graph, if it has any."""
    order = _linearize(preds)
    return _cycle(preds, set(order)) if len(order) < len(preds) else ()


def _cycle(preds: dict[str, list[str]], done: set[str]) -> tuple[str, ...]:
    """The nodes of one cycle, each after the one that follows it in the tuple."""
    n = next(n for n in preds if n not in done)
    seen: dict[str, int] = {}
    path: list[str] = []
    while n not in seen:
        seen[n] = len(path)
        path.append(n)
        n = next(p for p in preds[n] if p not in done)
    return tuple(path[seen[n] :])
