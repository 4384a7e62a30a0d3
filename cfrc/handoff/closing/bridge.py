"""Turns calls with known sources into the nodes of a closed graph: what they rely on, and in which order they come.

No call is added, left out or changed. Calls that may touch one thing keep their order; what a call relies on is
expected as soon as its last receipt is there. A call that failed when it was made stays; what came after it runs only
if it fails again, otherwise control is handed back, because nobody knows what to do then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cfrc.handoff.closing.expects import Inexpressible, Rewriter, implied, latest
from cfrc.handoff.closing.history import History
from cfrc.handoff.closing.made import Made, WithSources
from cfrc.handoff.closing.order import Footprints
from cfrc.model.contract import Fact, KeptEffect
from cfrc.model.expr import Apply, Expr, NodeResult, Outcome, conjuncts, walk
from cfrc.model.graph import Call, Terminal
from cfrc.model.types import BOOL
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expected conjunct: the node that carries it, and why it is there (``requires``, ``where`` or ``apart``)."""

    node: str
    condition: Expr
    why: str


class Bridge:
    """Collects what the remaining calls rely on, then lays the nodes out. ``relied`` says on whose receipts a call
    (by index) relies beyond its arguments; ``added`` holds the order that no argument carries: (earlier, later)."""

    def __init__(self, history: History, arguments: WithSources, footprints: Footprints) -> None:
        self.history, self.arguments, self.footprints, self.domain = history, arguments, footprints, history.domain
        self.rest = [c for c in arguments.calls[arguments.cut :] if c.tool is not None]
        self.place = {c.id: c for c in arguments.calls}
        self.end = "end"
        self.expectations: list[Expectation] = []
        self.relied: dict[int, set[str]] = {}
        self.added: set[tuple[str, str]] = set()

    # -- what the remainder relies on -----------------------------------------------------------------------------

    def _say(self, rewriter: Rewriter, condition: Expr, why: str) -> bool:
        """Expects the condition of receipts. False when nobody has seen what it asks for: a checker must say so."""
        try:
            found = rewriter.condition(condition)
        except Inexpressible:
            return False
        for c in found:
            self._add(rewriter.call, c, why)
        return True

    def _add(self, call: Made, condition: Expr, why: str) -> None:
        """Expects the condition as soon as its last receipt is there; ``call`` relies on it and waits for that."""
        node = self._latest(condition).id
        self.relied.setdefault(call.index, set()).add(node)
        if not any(e.node == node and e.condition == condition for e in self.expectations):
            self.expectations.append(Expectation(node, condition, why))

    def _latest(self, condition: Expr) -> Made:
        return latest(condition, self.place)

    def _apart(self, kept: Iterable[KeptEffect], facts: Iterable[Fact]) -> None:
        """What two writes touched was not one thing, nor a thing that must not be touched: that is relied on."""
        writers = [c for c in self.rest if c.tool is not None and (c.tool.sets or c.tool.causes)]
        fixed = [(f"{k.effect}()", self._key(k)) for k in kept if self.domain.effects[k.effect].once]
        fixed += [(f.fluent, f.args) for f in facts if f.kept]
        for n, call in enumerate(writers):
            differences = [d for other in writers[:n] for d in self.footprints.differences(other, call)]
            differences += self.footprints.from_kept(call, fixed)
            for d in differences:
                if any(isinstance(x, NodeResult) for x in walk(d)) and self._latest(d).index < call.index:
                    self._add(call, d, "apart")
                    if isinstance(d, Apply):
                        self.footprints.different.add(frozenset(d.args))

    def _key(self, kept: KeptEffect) -> tuple[Value, ...]:
        return tuple(kept.args[i] for i in self.domain.effects[kept.effect].key)

    # -- the nodes ------------------------------------------------------------------------------------------------

    def _nodes(self, claims: tuple[str, ...]) -> tuple[Call | Terminal, ...]:
        """The calls in their order, and the terminals."""
        nodes: list[Call | Terminal] = []
        before: dict[str, set[str]] = {}
        missed: Made | None = None
        for call in self.rest:
            when = _outcome(missed, "failed") if missed is not None else None
            nodes.append(self._node(call, when, before))
            missed = call if call.failed else missed
        nodes.append(
            Terminal(self.end, "done", claims, when=_outcome(missed, "failed") if missed is not None else None)
        )
        for call in self.rest:
            if call.failed:
                reason = f"{call.name} succeeded; when this run was recorded it failed"
                nodes.append(Terminal(f"back{call.index}", "yield", reason=reason, when=_outcome(call, "ok")))
        self.expectations = [
            e for e in self.expectations
            if any(isinstance(n, Call) and n.id == e.node and e.condition in conjuncts(n.expect) for n in nodes)
        ]  # fmt: skip
        return tuple(nodes)

    def _node(self, call: Made, when: Expr | None, before: dict[str, set[str]]) -> Call:
        mine = [e.condition for e in self.expectations if e.node == call.id]
        mine = [c for c in mine if not implied(c, mine)]
        args = self.arguments.args[call.index]
        known = _mentioned([*args.values(), *mine, *([when] if when is not None else [])]) - {call.id}
        seen = set(known).union(*(before.get(k, set()) for k in known))
        after = []
        for other in reversed(self.rest):
            relies = other.id in self.relied.get(call.index, ()) or self.footprints.conflicts(other, call)
            if other.index < call.index and other.id not in seen and relies:
                after.append(other.id)
                self.added.add((other.id, call.id))
                seen |= {other.id} | before[other.id]
        before[call.id] = seen
        return Call(call.id, call.name, args, when=when, after=tuple(reversed(after)), expect=conjunction(mine))


def conjunction(parts: list[Expr]) -> Expr | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Apply(op="and", args=tuple(parts), type=BOOL)


def _outcome(call: Made, status: str) -> Expr:
    return Outcome(node=call.id, status="failed" if status == "failed" else "ok", type=BOOL)


def _mentioned(exprs: list[Expr]) -> set[str]:
    return {x.node for e in exprs for x in walk(e) if isinstance(x, NodeResult | Outcome)}


__all__ = ["Bridge", "Expectation", "conjunction"]
