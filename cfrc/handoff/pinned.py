"""Turns the calls of a run into what they touch, when some values are expected to be what was recorded.

Such a value tells calls apart as well as a literal does: a preview of one item and the confirmation of another are
independent. A clause over all elements of a receipt may touch any instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cfrc.handoff.expects import Rewriter
from cfrc.handoff.made import Made
from cfrc.handoff.order import Footprints, Touch
from cfrc.handoff.tracing import own
from cfrc.model.evaluate import Undefined, evaluate
from cfrc.model.expr import Build, Comprehension, Expr, Generator, Lit, Var


def fixed(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


@dataclass(slots=True)
class Pinned(Footprints):
    """Footprints with generators, in which a value that is expected to be a known one is as good as a literal."""

    pinned: Callable[[Expr], bool] = fixed

    def _touch(self, call: Made, symbol: str, args: tuple[Expr, ...], writes: bool) -> Iterator[Touch]:
        here = Rewriter(self.history, self.arguments, call, own(self.arguments, call))
        sources = tuple(here.rewrite(a) for a in args)
        try:
            values = tuple(evaluate(a, self.history.env(call)) for a in args)
        except Undefined:
            yield Touch(symbol, writes, (), ())  # any instance
        else:
            yield Touch(symbol, writes, sources, values)

    def conflicts(self, a: Made, b: Made) -> bool:
        return any(not self._differ(x, y) for x, y in self._pairs(a, b))

    def _differ(self, x: Touch, y: Touch) -> bool:
        return any(
            self._known(s) and self._known(t) and u != v
            for s, t, u, v in zip(x.sources, y.sources, x.values, y.values, strict=False)
        )

    def _known(self, e: Expr) -> bool:
        """A literal, a name, a pinned path, or a collection of such."""
        match e:
            case Build(items=items):
                return all(map(self._known, items))
            case Comprehension(generators=(Generator(source=Build() as source),), cond=None):
                return self._known(source)
        return fixed(e) or self.pinned(e)
