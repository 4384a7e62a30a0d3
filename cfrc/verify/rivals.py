"""Turns observers of volatile fluents that nothing orders into the open question which of them saw last.

Others may change a volatile fluent; what pins it for a reader is the last observation before (``docs/semantics.md`` §2,
ENV), and a new receipt may say something else than an older one. One linearization knows one last observation only.
Every other observation that may be the last one in some order is an alternative here, under a condition of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cfrc.verify.frame import Key
from cfrc.verify.polls import repeats
from cfrc.verify.shapes import Shape, choose, equal, unknown
from cfrc.verify.state import Write
from cfrc.verify.terms import BOOL, Term

if TYPE_CHECKING:
    from cfrc.verify.paths import Paths


@dataclass(frozen=True, slots=True)
class Rival:
    """Where ``came`` is true, the call at ``observer`` is the last one that saw the instance before the call at
    ``reader`` (or before END)."""

    came: Term
    observer: int
    reader: int


class Rivals:
    """All alternatives of one admission."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.found: dict[int, Rival] = {}
        self._observers: dict[str, list[int]] = defaultdict(list)
        self._pinning: dict[str, list[int]] = defaultdict(list)
        for pos, call in enumerate(paths.order.calls):
            tool = paths.domain.tools.get(call.tool)
            seen = {o.fluent for o in tool.observes} if tool is not None else set()
            for fluent in seen:
                self._observers[fluent].append(pos)
            for fluent in seen | ({s.fluent for s in tool.sets} if tool is not None else set()):
                self._pinning[fluent].append(pos)

    def alternatives(self, fluent: str, key: Key, value: Shape, mask: int, at: int, upto: int) -> Shape:
        """What a reader at ``at`` finds where the calls in ``mask`` have been made, ``value`` in the linearization."""
        t = self.paths.terms
        if at >= 0:
            for u in self._observers[fluent]:
                if u not in (at, upto) and self._may_be_last(fluent, u, mask, at):
                    tag = ",".join(str(x.id) for x in key)
                    came = t.sym(BOOL, f"{fluent}({tag})@{at}: {u} is last")
                    other = unknown(t, value.type, lambda s, so, u=u: t.app(so, f"{fluent}@{at} by {u}{s}", key))  # type: ignore[misc]
                    value = choose(t, came, other, value)
                    if came.id not in self.found:
                        self.found[came.id] = Rival(came, u, at)
                        self.paths.quantifiers.later.append(
                            lambda came=came, u=u, other=other: self._means(came, fluent, key, other, u, mask)  # type: ignore[misc]
                        )
        return value

    def _may_be_last(self, fluent: str, u: int, mask: int, at: int) -> bool:
        """Whether the linearization does not settle by itself whether the observation at ``u`` is the last one."""
        order = self.paths.order
        if at < len(order.calls) and order.anc[u] >> at & 1:
            return False
        pins = [p for p in self._pinning[fluent] if mask >> p & 1 and p != u]
        return bool(pins) and (not mask >> u & 1 or not all(order.ordered(u, p) for p in pins))

    def _means(self, came: Term, fluent: str, key: Key, other: Shape, u: int, mask: int) -> Term:
        """The observer has been called, saw this instance and the value, and no call that waits for it did.

        A reader that does not wait for it may come between two of its polls: then it has not ended the polling."""
        paths, t = self.paths, self.paths.terms
        run = paths.runs[u]
        cont = () if repeats(run) and not mask >> u & 1 else run.cont
        same = [(w, t.and_(w.cond, t.eq_all(key, w.key))) for w in self._pins(fluent)]
        mine = [(w, c) for w, c in same if w.pos == u and w.observed]
        after = [c for w, c in same if mask >> w.pos & 1 and paths.order.anc[w.pos] >> u & 1]
        return t.implies(
            came,
            t.and_(
                *self._saw(other, mine, mask, u),
                *(t.not_(c) for c in after),
                *paths.assume(paths.order.anc[u]),
                *(*run.ready, *run.required, *run.base, *cont),
            ),
        )

    def _saw(self, value: Shape, pins: list[tuple[Write, Term]], mask: int, u: int) -> list[Term]:
        """That the observation is one of the pins: of the last receipt, if the reader waits for it, which comes after
        those of the polls; else of any."""
        t = self.paths.terms
        means = [equal(t, value, w.value) for w, _ in pins]
        if not mask >> u & 1 and repeats(self.paths.runs[u]):
            return [t.or_(*(t.and_(c, same) for (_, c), same in zip(pins, means, strict=True)))]
        later = [t.or_(*(c for _, c in pins[n + 1 :])) for n in range(len(pins))]
        return [
            t.or_(*(c for _, c in pins)),
            *(t.implies(t.and_(c, t.not_(d)), same) for (_, c), d, same in zip(pins, later, means, strict=True)),
        ]

    def _pins(self, fluent: str) -> list[Write]:
        world = self.paths.world
        return [*world.all.get(fluent, ()), *(w for _, pins in world.rows.get(fluent, ()) for w in pins())]

    def at(self, reader: int | None) -> list[Rival]:
        """The alternatives for one call, or for END."""
        where = len(self.paths.runs) if reader is None else reader
        return [r for r in self.found.values() if r.reader == where]
