"""Turns a condition that some model violates into a run that was replayed and shows it, or into nothing.

A model says which receipts came, not in which order calls were made that nothing orders, and what it says may not be
possible to carry out: other orders and other models are tried, within bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from cfrc.model.amended import amended
from cfrc.model.scenario import Event, Scenario
from cfrc.verify.condition import Condition
from cfrc.verify.decode import View, scenario
from cfrc.verify.paths import Paths
from cfrc.verify.replay import Confirmed, confirm
from cfrc.verify.terms import Term

if TYPE_CHECKING:
    from cfrc.verify.solve import Session

PRE_CALL = frozenset({"AUT002", "AUT003", "AUT004", "AUT005", "BND001", "BND002", "DEP003", "DEP004"})
"""Codes that are judged before the call returns."""

COLLECTIONS = frozenset({"Lis", "Bag", "Map"})

MOST = 400
"""How many pairs of collections are asked to differ."""

ATTEMPTS = 3
"""Models tried for one condition before it is left undecided."""


class Search:
    """Looks for runs of one admission. ``session`` is asked for only when another model is wanted."""

    def __init__(self, paths: Paths, today: date | None, session: Callable[[], Session]) -> None:
        self.paths = paths
        self.today = today
        self._session = session

    def find(
        self, c: Condition, shown: Condition, view: View, assumptions: Callable[[], list[Term]]
    ) -> Confirmed | None:
        """A run under a model of ``c`` that violates ``shown``; first under this one."""
        return self._try(c, shown, view) or self._retry(c, shown, assumptions)

    def _try(self, c: Condition, shown: Condition, view: View) -> Confirmed | None:
        nodes = c.mask | c.returned | (1 << c.step if c.step is not None else 0)
        for position, came in c.earlier:
            if view.truth(came):
                nodes |= 1 << position | self.paths.order.anc[position]
        last = [r.observer for r in self.paths.rivals.at(c.step) if view.truth(r.came)]
        nodes |= self.paths.order.closed(last)
        between = [r for r in self.paths.rivals.found.values() if nodes >> r.reader & 1 and view.truth(r.came)]
        nodes |= self.paths.order.closed(r.observer for r in between)
        earlier = (self._observed_last([r.observer], r.reader) for r in between)
        for order in chain(self._observed_last(last, c.step), *earlier, self._orders(c)):
            run = scenario(self.paths, view, nodes, shown.step, shown.code in PRE_CALL, order)
            found = confirm(self.paths, shown, run, self.today)
            if found is None and between:
                found = confirm(self.paths, shown, self._polled_early(run), self.today)
            if found is None and c.others:
                # of two unordered calls each saw the state before the other: the later one sees what the earlier did
                found = confirm(self.paths, shown, amended(self.paths.plan(self.today), run), self.today)
            if found is not None:
                return found
        return None

    def _observed_last(self, last: list[int], step: int | None) -> Iterator[Sequence[int]]:
        """The linearization in which these calls come as late as they can, if there are any; the step after them."""
        if last:
            anc = self.paths.order.anc
            late = {p for p in range(len(anc)) if any(p == u or anc[p] >> u & 1 for u in last)}
            yield self.paths.order.linearize(lambda p: 2 if p == step else int(p in late))

    def _polled_early(self, run: Scenario) -> Scenario:
        """The same run with the last receipt of every polled call as late as what waits for it lets it come."""
        order = self.paths.order
        polled = {e.node for e in run.events if e.outcome == "poll"}
        events: list[Event] = []
        held: list[Event] = []
        for e in run.events:
            needed = [h for h in held if order.anc[order.position[e.node]] >> order.position[h.node] & 1]
            events += needed
            held = [h for h in held if h not in needed]
            (held if e.node in polled and e.outcome != "poll" else events).append(e)
        return replace(run, events=(*events, *held))

    def _orders(self, c: Condition) -> Iterator[Sequence[int] | None]:
        """Linearizations worth replaying. Each of two unordered calls saw the state before the other, and a volatile
        fluent may change until it is pinned: only some orders of what the solver chose may be legal runs."""
        positions = range(len(self.paths.runs))
        late: list[int | None] = [c.step if c.earlier else None]
        late += [self.paths.order.position.get(o) for o in c.others] if c.code == "PRS007" else []
        for last in late:
            yield None if last is None else [*(p for p in positions if p != last), last]
        if c.code == "COV003" and c.node is not None:
            early = self.paths.order.closed([self.paths.order.position[c.node]])
            yield self.paths.order.linearize(lambda p: 0 if early >> p & 1 else 1)
        yield from self.paths.alternatives()

    def _retry(self, c: Condition, shown: Condition, assumptions: Callable[[], list[Term]]) -> Confirmed | None:
        """Other models of the same question: first ones that are easier to carry out, then each unlike the last."""
        t, session = self.paths.terms, self._session()
        base = [*assumptions(), c.bad]
        # a call outside the question that cannot even be made would end the run before what is asked about
        ready = [x for run in self.paths.runs for x in run.ready]
        required = [x for run in self.paths.runs for x in run.required]
        going_on = [x for run in self.paths.runs for x in run.cont]
        different: list[Term] = []
        kinds = ([*ready, *required, *going_on], [*ready, *required], ready)
        helps = [[*kind, *e] for kind in kinds for e in self.easier()]
        for extra in (*helps, *([different] * ATTEMPTS)):
            answer = session.check([*base, *extra])
            if answer.answer != "sat":
                continue
            view = View(t, session, answer)
            found = self._try(c, shown, view)
            if found is not None:
                return found
            different.append(self.unlike(view))
        return None

    def easier(self) -> list[list[Term]]:
        """Extra assumptions under which a model is easier to carry out: short collections, and unknown collections that
        are none of the literal ones. The last asks for nothing."""
        t = self.paths.terms
        short = [t.le(a, t.const("Int", 2)) for a in t.apps() if a.data == "len"]
        opaque = {
            a.args[0]
            for a in t.apps()
            if a.args and a.args[0].op in ("sym", "app") and a.args[0].sort[:3] in COLLECTIONS
        }
        fresh = [t.not_(t.eq(o, c)) for o in sorted(opaque, key=lambda o: o.id) for c in t.colls(o.sort)][:MOST]
        calm = [t.not_(r.came) for r in self.paths.rivals.found.values()]
        return [e for e in ([*short, *fresh, *calm], [*fresh, *calm], [*short, *calm], calm) if e] + [[]]

    def unlike(self, view: View) -> Term:
        """That another model chooses some Boolean atom differently."""
        t = self.paths.terms
        return t.not_(t.and_(*(self._same(view, s) for s in self._choices())))

    def _choices(self) -> list[Term]:
        """The Boolean atoms that a model chooses freely: what the next model must choose differently."""
        return [a for a in self.paths.terms.apps() if a.sort == "Bool"] + [
            x for run in self.paths.runs for x in (run.called, run.ok)
        ]

    def _same(self, view: View, atom: Term) -> Term:
        return atom if view.truth(atom) else self.paths.terms.not_(atom)
