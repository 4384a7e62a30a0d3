"""Turns the remaining calls into the order dependencies that the domain asks for, and the inequalities it relies on.

Two calls that may touch one thing keep their recorded order. Two that touched different things, though a receipt might
have said the same for both, keep their order too, and the remainder expects the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.adapters.arguments import Arguments
from cfrc.adapters.history import History
from cfrc.adapters.runs import Recorded
from cfrc.model.domain import EffectClause, FluentClause, Tool
from cfrc.model.evaluate import Undefined, evaluate
from cfrc.model.expr import Apply, Expr, FluentRead, Lit, Var, walk
from cfrc.model.types import BOOL
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Touch:
    """One fluent instance or ``once`` key that a call reads or writes: as sources, and as it was."""

    symbol: str
    writes: bool
    sources: tuple[Expr, ...]
    values: tuple[Value, ...]


@dataclass(slots=True)
class Footprints:
    history: History
    arguments: Arguments
    _touches: dict[int, list[Touch]] = field(default_factory=dict)

    def of(self, call: Recorded) -> list[Touch]:
        if call.index not in self._touches:
            self._touches[call.index] = list(self._find(call)) if call.tool is not None else []
        return self._touches[call.index]

    def _find(self, call: Recorded) -> Iterator[Touch]:
        tool, domain = call.tool, self.history.domain
        assert tool is not None
        for clause in tool.sets:
            yield from self._touch(call, clause.fluent, clause.args, True)
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

    def _touch(self, call: Recorded, symbol: str, args: tuple[Expr, ...], writes: bool) -> Iterator[Touch]:
        own = self.arguments.args[call.index]
        sources = tuple(own.get(a.name, a) if isinstance(a, Var) and a.kind == "param" else a for a in args)
        try:
            values = tuple(evaluate(a, self.history.env(call)) for a in args)
        except Undefined:
            return
        yield Touch(symbol, writes, sources, values)

    def conflicts(self, a: Recorded, b: Recorded) -> bool:
        """Whether the calls may touch one thing that at least one of them writes."""
        return any(not _apart(x, y) for x, y in self._pairs(a, b))

    def _pairs(self, a: Recorded, b: Recorded) -> Iterator[tuple[Touch, Touch]]:
        for x in self.of(a):
            for y in self.of(b):
                if x.symbol == y.symbol and (x.writes or y.writes):
                    yield x, y

    def differences(self, a: Recorded, b: Recorded) -> Iterator[Expr]:
        """``x != y`` for what both calls write, that was different, and of which one side comes from a receipt."""
        for x, y in self._pairs(a, b):
            if x.writes and y.writes and not _apart(x, y):
                for s, t, u, v in zip(x.sources, y.sources, x.values, y.values, strict=True):
                    if u != v:
                        yield Apply(op="!=", args=(s, t), type=BOOL)
                        break


def from_kept(footprints: Footprints, call: Recorded, kept: list[tuple[str, tuple[Value, ...]]]) -> Iterator[Expr]:
    """``x != "kept"`` for every kept ``once`` key or kept fluent instance that a receipt might repeat."""
    for touch in footprints.of(call):
        if not touch.writes:
            continue
        for symbol, values in kept:
            if symbol == touch.symbol and len(values) == len(touch.values):
                for s, u, v in zip(touch.sources, touch.values, values, strict=True):
                    if u != v:
                        if not _fixed(s):
                            yield Apply(op="!=", args=(s, Lit(value=v, type=s.type)), type=BOOL)
                        break


def _conditions(tool: Tool) -> list[Expr]:
    fluents: tuple[FluentClause, ...] = (*tool.sets, *tool.observes)
    effects: tuple[EffectClause, ...] = (*tool.causes, *tool.undoes, *tool.witnesses, *tool.refutes)
    guards = [f.when for f in fluents] + [e.when for e in effects]
    return [*tool.requires, *(g for g in guards if g is not None), *(s.value for s in tool.sets)]


def _fixed(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


def _apart(x: Touch, y: Touch) -> bool:
    """Whether the instances differ whatever the receipts say."""
    return any(
        _fixed(s) and _fixed(t) and u != v for s, t, u, v in zip(x.sources, y.sources, x.values, y.values, strict=True)
    )
