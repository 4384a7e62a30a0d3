"""Turns calls into what they touch, when some values are expected to be what they were.

Such a value tells calls apart as well as a literal does: a preview of one item and the confirmation of another are
independent. A clause over all elements of a receipt may touch any instance, a tool without declared effects anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cfrc.handoff.closing.expects import Inexpressible, Rewriter
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.order import Footprints, Touch
from cfrc.handoff.closing.tracing import own
from cfrc.model.domain import Tool
from cfrc.model.evaluate import Undefined, evaluate
from cfrc.model.expr import Build, Comprehension, Expr, FluentRead, Generator, Lit, Var, walk


def fixed(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


@dataclass(slots=True)
class Pinned(Footprints):
    """Footprints with generators, witnesses, refutations and observations of volatile fluents. A value that is expected
    to be a known one is as good as a literal."""

    pinned: Callable[[Expr], bool] = fixed

    def _find(self, call: Made) -> Iterator[Touch]:
        assert call.tool is not None
        yield from Footprints._find(self, call)
        for mode, clauses in (("witness", call.tool.witnesses), ("refute", call.tool.refutes)):
            for clause in clauses:
                effect = self.history.domain.effects[clause.effect]
                key = tuple(a for i, a in enumerate(clause.args) if i in effect.key and a is not None)
                for touch in self._touch(call, f"{clause.effect}()", key, True):
                    yield replace(touch, mode=mode)
        for observed in call.tool.observes:
            if self.history.domain.fluents[observed.fluent].volatile:
                for touch in self._touch(call, observed.fluent, observed.args, True):
                    yield replace(touch, mode="observe")
        for e in _further(call.tool):
            for x in walk(e):
                if isinstance(x, FluentRead):
                    yield from self._touch(call, x.fluent, x.args, False)

    def _touch(self, call: Made, symbol: str, args: tuple[Expr, ...], writes: bool) -> Iterator[Touch]:
        here = Rewriter(self.history, self.arguments, call, own(self.arguments, call))
        try:
            sources = tuple(here.rewrite(a) for a in args)
            values = tuple(evaluate(a, self.history.env(call)) for a in args)
        except (Undefined, Inexpressible):
            yield Touch(symbol, writes, (), ())  # any instance
        else:
            yield Touch(symbol, writes, sources, values)

    def conflicts(self, a: Made, b: Made) -> bool:
        if any(c.tool is not None and c.tool.undeclared for c in (a, b)):
            return True
        return any(_clash(x, y) and not self._differ(x, y) for x, y in self._pairs(a, b))

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


def _clash(x: Touch, y: Touch) -> bool:
    """Two witnesses of one identity, two refutations or two observations may come in any order."""
    return not (x.mode == y.mode and x.mode)


def _further(tool: Tool) -> Iterator[Expr]:
    """What the clauses read beyond their conditions and the values they set."""
    fluents = (*tool.sets, *tool.observes)
    effects = (*tool.causes, *tool.undoes, *tool.witnesses, *tool.refutes)
    for f in fluents:
        yield from (*f.args, *(g.source for g in f.generators))
    for e in effects:
        yield from (*(a for a in e.args if a is not None), *(g.source for g in e.generators))
    yield from (o.value for o in tool.observes)
    yield from tool.ensures
    if tool.approved is not None:
        yield tool.approved


__all__ = ["Pinned", "fixed"]
