"""Turns the remaining calls into the order dependencies that the domain asks for, and the inequalities it relies on.

Two calls that may touch one thing keep their recorded order. Two writes that touched different things, though a receipt
might have said the same for both, need the difference to be expected, unless what else is expected of the two already
tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cfrc.handoff.closing.expects import Rewriter
from cfrc.handoff.closing.history import History
from cfrc.handoff.closing.made import Made, WithSources
from cfrc.model.domain import EffectClause, FluentClause, Tool
from cfrc.model.evaluate import Undefined, evaluate
from cfrc.model.expr import Apply, Expr, FluentRead, Lit, Var, conjuncts, walk
from cfrc.model.types import BOOL
from cfrc.model.values import Value

Kept = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Touch:
    """One fluent instance or ``once`` key that a call reads or writes: as sources, and as it was.

    ``value`` is what a write sets, or what a ``requires`` asks for, where that is one expression. ``mode``
    names what only counts like a write for the order: a ``witness`` or a ``refute`` of an effect, an ``observe`` of
    what others may change as well.
    """

    symbol: str
    writes: bool
    sources: tuple[Expr, ...]
    values: tuple[Value, ...]
    value: Expr | None = None
    mode: str = ""


@dataclass(slots=True)
class Footprints:
    history: History
    arguments: WithSources
    different: set[frozenset[Expr]] = field(default_factory=set)
    """Pairs of sources that are expected to differ."""
    _touches: dict[int, list[Touch]] = field(default_factory=dict)

    def of(self, call: Made) -> list[Touch]:
        if call.index not in self._touches:
            self._touches[call.index] = list(self._find(call)) if call.tool is not None else []
        return self._touches[call.index]

    def _find(self, call: Made) -> Iterator[Touch]:
        tool, domain = call.tool, self.history.domain
        assert tool is not None
        for clause in tool.sets:
            for touch in self._touch(call, clause.fluent, clause.args, True):
                yield replace(touch, value=self._passed(call, clause.value))
        for observed in tool.observes:
            yield from self._touch(call, observed.fluent, observed.args, False)
        for e in _conditions(tool):
            for x in walk(e):
                if isinstance(x, FluentRead):
                    yield from self._touch(call, x.fluent, x.args, False)
        for cause in (*tool.causes, *tool.undoes):
            effect = domain.effects[cause.effect]
            key = tuple(a for i, a in enumerate(cause.args) if i in effect.key and a is not None)
            yield from self._touch(call, f"{cause.effect}()", key, effect.once or cause in tool.undoes)

    def _source(self, call: Made, e: Expr) -> Expr:
        own = self.arguments.args[call.index]
        return own.get(e.name, e) if isinstance(e, Var) and e.kind == "param" else e

    def _touch(self, call: Made, symbol: str, args: tuple[Expr, ...], writes: bool) -> Iterator[Touch]:
        try:
            values = tuple(evaluate(a, self.history.env(call)) for a in args)
        except Undefined:
            return
        yield Touch(symbol, writes, tuple(self._source(call, a) for a in args), values)

    def _passed(self, call: Made, e: Expr) -> Expr | None:
        """A clause's value as the sources of this call; ``None`` if it depends on more than the arguments."""
        if any(isinstance(x, FluentRead) or (isinstance(x, Var) and x.kind == "result") for x in walk(e)):
            return None
        own = {("param", n): x for n, x in self.arguments.args[call.index].items()}
        return Rewriter(self.history, self.arguments, call, own).rewrite(e)

    # -- order --------------------------------------------------------------------------------------------------

    def conflicts(self, a: Made, b: Made) -> bool:
        """Whether the calls may touch one thing that at least one of them writes."""
        return any(not self._apart(x, y) and not _equal_writes(x, y) for x, y in self._pairs(a, b))

    def met(self, a: Made, b: Made) -> bool:
        """Whether the calls, as they were recorded, touched one thing that at least one of them writes."""
        return any(x.values == y.values for x, y in self._pairs(a, b))

    def _pairs(self, a: Made, b: Made) -> Iterator[tuple[Touch, Touch]]:
        for x in self.of(a):
            for y in self.of(b):
                if x.symbol == y.symbol and (x.writes or y.writes):
                    yield x, y

    def _apart(self, x: Touch, y: Touch) -> bool:
        """Whether the instances differ whatever the receipts say, or are expected to."""
        return any(
            u != v and ((_fixed(s) and _fixed(t)) or frozenset((s, t)) in self.different)
            for s, t, u, v in zip(x.sources, y.sources, x.values, y.values, strict=True)
        )

    # -- differences --------------------------------------------------------------------------------------------

    def differences(self, a: Made, b: Made) -> Iterator[Expr]:
        """``x != y`` for what both calls write, that was different, and of which one side comes from a receipt."""
        for x, y in self._pairs(a, b):
            if x.writes and y.writes and not (x.mode or y.mode) and not self._apart(x, y) and not _equal_writes(x, y):
                for s, t, u, v in zip(x.sources, y.sources, x.values, y.values, strict=True):
                    if u != v:
                        if not self._told(a, b, s, t):
                            yield Apply(op="!=", args=(s, t), type=BOOL)
                        break

    def from_kept(self, call: Made, kept: list[Kept]) -> Iterator[Expr]:
        """``x != "kept"`` for every kept ``once`` key or kept fluent instance that a receipt might repeat."""
        for touch in self.of(call):
            for symbol, values in kept if touch.writes and not touch.mode else ():
                if symbol == touch.symbol and len(values) == len(touch.values):
                    for s, u, v in zip(touch.sources, touch.values, values, strict=True):
                        if u != v:
                            if not _fixed(s) and not self._told_by_fact(call, s, v):
                                yield Apply(op="!=", args=(s, Lit(value=v, type=s.type)), type=BOOL)
                            break

    def _required(self, call: Made) -> Iterator[Touch]:
        """What the call requires of single fluents: ``f(x) == literal``."""
        for required in call.tool.requires if call.tool is not None else ():
            for c in conjuncts(required):
                match c:
                    case Apply(op="==", args=(FluentRead() as read, Lit() as value)):
                        yield from (replace(x, value=value) for x in self._touch(call, read.fluent, read.args, False))

    def _told(self, a: Made, b: Made, s: Expr, t: Expr) -> bool:
        """Whether the two could not be one thing anyway: one is required to be as the other, then, is not."""
        for x in self._required(a):
            for y in self._required(b):
                if x.symbol == y.symbol and s in x.sources and t in y.sources:
                    set_ = next(
                        (w.value for w in self.of(a) if w.writes and (w.symbol, w.sources) == (x.symbol, x.sources)),
                        x.value,
                    )
                    # what `b` requires was read after `a` wrote, or before: then `a`'s own condition was read, too
                    if (set_ if self._read_after(a, b, y) else x.value) != y.value:
                        return True
        return False

    def _read_after(self, a: Made, b: Made, y: Touch) -> bool:
        calls = self.arguments.calls[self.arguments.cut : b.index]
        seen = [
            c.index for c in calls
            if c.usable
            and any(o.fluent == y.symbol and at == y.values for o, at in self.history.deeds[c.index].observes)
        ]  # fmt: skip
        return bool(seen) and seen[0] > a.index

    def _told_by_fact(self, call: Made, s: Expr, kept: Value) -> bool:
        """Whether the kept thing is known to be in another state than the one required."""
        known = self.history.before[self.arguments.cut]
        for y in self._required(call):
            if s in y.sources and isinstance(y.value, Lit):
                at = tuple(kept if source == s else value for source, value in zip(y.sources, y.values, strict=True))
                seen = known.get((y.symbol, at))
                if seen is not None and seen.value != y.value.value:
                    return True
        return False


def _conditions(tool: Tool) -> list[Expr]:
    fluents: tuple[FluentClause, ...] = (*tool.sets, *tool.observes)
    effects: tuple[EffectClause, ...] = (*tool.causes, *tool.undoes, *tool.witnesses, *tool.refutes)
    guards = [f.when for f in fluents] + [e.when for e in effects]
    return [*tool.requires, *(g for g in guards if g is not None), *(s.value for s in tool.sets)]


def _fixed(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


def _equal_writes(x: Touch, y: Touch) -> bool:
    """Two writes that set the same value: in any order, of one thing or of two, the outcome is the same."""
    return x.writes and y.writes and x.value is not None and x.value == y.value
