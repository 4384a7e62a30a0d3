"""Turns conditions over the state into conditions over receipts: the ``expect``s that a remainder needs.

A call's ``requires`` and an obligation's ``where`` speak of fluents. Where a remaining call observes the fluent, the
condition is asked of its receipt; where it was known before the cut, its value is filled in; where neither is, the
condition cannot be expected, and a checker must say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cfrc.handoff.closing.history import History, Seen, truth
from cfrc.handoff.closing.made import Made, WithSources
from cfrc.model.domain import FluentClause
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import (
    Apply,
    Build,
    Comprehension,
    Expr,
    Field,
    FluentRead,
    If,
    Index,
    Lit,
    NodeResult,
    Var,
    conjuncts,
    walk,
)  # fmt: skip
from cfrc.model.types import BOOL
from cfrc.model.values import Value


class Inexpressible(Exception):
    """The condition reads a fluent that nobody has seen."""


@dataclass(slots=True)
class Rewriter:
    """Rewrites conditions for one call: ``params`` and existentials become their sources, fluents become receipts."""

    history: History
    arguments: WithSources
    call: Made
    vars: Mapping[tuple[str, str], Expr] = field(default_factory=dict)
    values: Mapping[tuple[str, str], Value] = field(default_factory=dict)
    extra: list[Expr] = field(default_factory=list)

    def condition(self, e: Expr) -> list[Expr]:
        """The conjuncts to expect; none when the condition says nothing about receipts.

        Raises :class:`Inexpressible`. Of a disjunction the alternatives that can be said and were true are kept.
        """
        found: list[Expr] = []
        for c in conjuncts(e):
            self.extra = []
            if not self._relevant(c):
                continue
            found.append(self._disjunction(c) if isinstance(c, Apply) and c.op == "or" else self.rewrite(c))
            found.extend(self.extra)
        return [c for c in found if not trivial(c) and any(isinstance(x, NodeResult) for x in walk(c))]

    def _relevant(self, e: Expr) -> bool:
        """Whether the condition is about more than the call's own arguments."""
        return any(isinstance(x, FluentRead) for x in walk(e))

    def _disjunction(self, e: Apply) -> Expr:
        """The first alternative that was true and can be said of receipts."""
        for a in e.args:
            extra = list(self.extra)
            try:
                said = self.rewrite(a)
            except Inexpressible:
                self.extra = extra
                continue
            if truth(a, self._env()):
                return said
            self.extra = extra
        raise Inexpressible

    def _env(self) -> Env:
        env = self.history.env(self.call)
        return env.child(dict(self.values))

    def rewrite(self, e: Expr) -> Expr:
        match e:
            case Var(kind=kind, name=name):
                return self.vars.get((kind, name), e)
            case FluentRead():
                return self._fluent(e)
            case Field(base=b):
                return replace(e, base=self.rewrite(b))
            case Index(base=b, key=k):
                return replace(e, base=self.rewrite(b), key=self.rewrite(k))
            case Apply(args=args):
                return replace(e, args=tuple(self.rewrite(a) for a in args))
            case If(cond=c, then=t, orelse=o):
                return replace(e, cond=self.rewrite(c), then=self.rewrite(t), orelse=self.rewrite(o))
            case Build(items=items, keys=keys):
                return replace(e, items=tuple(map(self.rewrite, items)), keys=tuple(map(self.rewrite, keys)))
            case Comprehension():
                sources = tuple(replace(g, source=self.rewrite(g.source)) for g in e.generators)
                return replace(
                    e, generators=sources, body=self.rewrite(e.body),
                    cond=None if e.cond is None else self.rewrite(e.cond),
                    key=None if e.key is None else self.rewrite(e.key),
                )  # fmt: skip
        return e

    def _fluent(self, e: FluentRead) -> Expr:
        try:
            args = tuple(evaluate(a, self._env()) for a in e.args)
        except Undefined:
            raise Inexpressible from None
        cut = self.arguments.cut
        changed = self._set(e.fluent, args, cut)
        seen = self.history.before[cut].get((e.fluent, args))
        if seen is not None and not changed and not self.history.domain.fluents[e.fluent].volatile:
            self._same(e, [Lit(value=v, type=a.type) for v, a in zip(args, e.args, strict=True)])
            return Lit(value=seen.value, type=e.type)
        call = self._observer(e.fluent, args, changed)
        if call is None:
            raise Inexpressible
        return self._receipt(call, e, args)

    def _same(self, e: FluentRead, others: list[Expr]) -> None:
        """The instance that is asked for must be the one that was seen: equal whatever the receipts say."""
        for mine, other in zip(map(self.rewrite, e.args), others, strict=True):
            if mine != other and not (ground(mine) and ground(other)):
                self.extra.append(Apply(op="==", args=(mine, other), type=BOOL))

    def _observer(self, fluent: str, args: tuple[Value, ...], changed: bool) -> Made | None:
        """The remaining call before this one whose receipt shows the instance: the first, or the last if it changes."""
        calls = self.arguments.calls[self.arguments.cut : self.call.index]
        for call in reversed(calls) if changed else calls:
            deed = self.history.deeds[call.index]
            if call.usable and any(c.fluent == fluent and a == args and not c.generators for c, a in deed.observes):
                return None if changed and self._set(fluent, args, call.index + 1) else call
        return None

    def _set(self, fluent: str, args: tuple[Value, ...], start: int) -> bool:
        """Whether a call from ``start`` on and before this one sets the instance."""
        return any(
            c.fluent == fluent and a in (None, args)
            for call in self.arguments.calls[start : self.call.index]
            if call.usable
            for c, a in self.history.deeds[call.index].sets
        )

    def _receipt(self, call: Made, e: FluentRead, args: tuple[Value, ...]) -> Expr:
        assert call.tool is not None
        clause = next(
            c
            for c, a in self.history.deeds[call.index].observes
            if c.fluent == e.fluent and a == args and not c.generators
        )
        own: dict[tuple[str, str], Expr] = {("param", n): x for n, x in self.arguments.args[call.index].items()}
        own["result", "result"] = NodeResult(node=call.id, type=call.tool.result)
        inner = Rewriter(self.history, self.arguments, call, own)
        self._same(e, [inner.rewrite(a) for a in clause.args])
        self._guarded(clause, inner)
        return inner.rewrite(clause.value)

    def _guarded(self, clause: FluentClause, inner: Rewriter) -> None:
        """What is observed only ``when`` something holds needs that, too."""
        if clause.when is not None:
            self.extra.extend(inner.rewrite(c) for c in conjuncts(clause.when))


def ground(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


def trivial(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op == "==" and e.args[0] == e.args[1]


def latest(e: Expr, calls: Mapping[str, Made]) -> Made:
    """The last call whose receipt the expression reads."""
    return max((calls[x.node] for x in walk(e) if isinstance(x, NodeResult)), key=lambda c: c.index)


def implied(e: Expr, others: list[Expr]) -> bool:
    """Whether the others imply an expectation: ``x == b`` implies ``x != a`` and ``x in [b, c]``, reading ``m[k]``
    implies ``k in keys(m)``."""
    match e:
        case Apply(op="in", args=(x, Build(items=members))):
            known = [o.args[1] for o in others if isinstance(o, Apply) and o.op == "==" and o.args[0] == x]
            return any(k in members for k in known)
        case Apply(op="!=", args=(x, Lit(value=a))):
            return any(
                isinstance(o, Apply)
                and o.op == "=="
                and o.args[0] == x
                and isinstance(o.args[1], Lit)
                and o.args[1].value != a
                for o in others
            )
        case Apply(op="in", args=(k, Apply(op="keys", args=(m,)))):
            return any(
                isinstance(x, Index) and x.base == m and x.key == k
                for o in others
                if o is not e and not (isinstance(o, Apply) and o.op in ("or", "implies"))
                for x in walk(o)
            )
    return False


__all__ = ["Inexpressible", "Rewriter", "Seen", "implied", "latest", "trivial"]
