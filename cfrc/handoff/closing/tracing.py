"""Turns a condition over the state into one over the receipts of the calls that made it so.

A fluent is traced to the call that last gave it its value: by ``sets`` (a policy was read, a preview was given) or by
``observes`` (an item was active when its order was read, as one element of a list). What that relied on is asked, too:
that the call was not rejected, and that it spoke of the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.handoff.closing.expects import Inexpressible, Rewriter
from cfrc.handoff.closing.history import bindings, truth
from cfrc.handoff.closing.made import Made, WithSources
from cfrc.model.domain import FluentClause
from cfrc.model.evaluate import Env, Undefined, elements, evaluate
from cfrc.model.expr import Apply, Expr, FluentRead, Index, Lit, NodeResult, conjuncts, walk
from cfrc.model.types import BOOL, INT
from cfrc.model.values import Value


def own(arguments: WithSources, call: Made) -> dict[tuple[str, str], Expr]:
    """A call's parameters as the sources it passes (defaults filled), and its result."""
    found: dict[tuple[str, str], Expr] = {}
    for p in call.tool.params if call.tool is not None else ():
        given = arguments.args.get(call.index, {}).get(p.name, p.default)
        if given is not None:
            found["param", p.name] = given
    if call.tool is not None:
        found["result", "result"] = NodeResult(node=call.id, type=call.tool.result)
    return found


class Tracer(Rewriter):
    """Rewrites a fluent to what the call that last set or showed it made of it, and remembers what that relied on."""

    def condition(self, e: Expr) -> list[Expr]:
        """As ever; but what a literal argument rules out asks for nothing."""
        if isinstance(e, Apply) and e.op == "implies" and truth(e.args[0], self._env()) is False:
            return []
        return Rewriter.condition(self, e)

    def _fluent(self, e: FluentRead) -> Expr:
        try:
            args = tuple(evaluate(a, self._env()) for a in e.args)
        except Undefined:
            raise Inexpressible from None
        seen = self.history.before[self.call.index].get((e.fluent, args))
        if seen is None:
            raise Inexpressible
        if seen.call is None:
            if self.history.domain.fluents[e.fluent].volatile:
                raise Inexpressible
            self._same(e, [Lit(value=v, type=a.type) for v, a in zip(args, e.args, strict=True)])
            return Lit(value=seen.value, type=e.type)
        clause, bound = self._clause(seen.call, e.fluent, args)
        inner = Tracer(self.history, self.arguments, seen.call, {**own(self.arguments, seen.call), **bound})
        when = [inner.rewrite(w) for w in conjuncts(clause.when)] if clause.when is not None else []
        self.extra.extend(w for w in when if reads_result(w))
        for mine, theirs, value in zip(e.args, clause.args, args, strict=True):
            here, there = self.rewrite(mine), inner.rewrite(theirs)
            if here != there:
                self.extra.extend(equals(x, value) for x in (here, there) if reads_result(x))
        return inner.rewrite(clause.value)

    def _clause(
        self, call: Made, fluent: str, args: tuple[Value, ...]
    ) -> tuple[FluentClause, dict[tuple[str, str], Expr]]:
        """The clause of the call that gave the instance its value, and the elements its generators stood at."""
        assert call.tool is not None
        for clause in (*call.tool.observes[::-1], *call.tool.sets[::-1]):
            if clause.fluent == fluent:
                for env, bound in self._places(clause, call):
                    if _instance(clause, env) == args:
                        return clause, bound
        raise Inexpressible

    def _places(self, clause: FluentClause, call: Made) -> Iterator[tuple[Env, dict[tuple[str, str], Expr]]]:
        env = self.history.env(call)
        if not clause.generators:
            yield from ((e, {}) for e in bindings(clause, env))
        elif len(clause.generators) == 1:
            g = clause.generators[0]
            source = Tracer(self.history, self.arguments, call, own(self.arguments, call)).rewrite(g.source)
            for i, item in enumerate(elements(evaluate(g.source, env), g.source)):
                at = Index(base=source, key=Lit(value=i, type=INT), type=g.type)
                yield env.child({("bound", g.var): item}), {("bound", g.var): at}


def _instance(clause: FluentClause, env: Env) -> tuple[Value, ...] | None:
    try:
        return tuple(evaluate(a, env) for a in clause.args)
    except Undefined:
        return None


def reads_result(e: Expr) -> bool:
    return any(isinstance(x, NodeResult) for x in walk(e))


def equals(e: Expr, value: Value) -> Expr:
    return Apply(op="==", args=(e, Lit(value=value, type=e.type)), type=BOOL)


def holds(e: Expr, value: Value) -> Expr:
    """``e == value``, as one says it of a flag."""
    if e.type != BOOL:
        return equals(e, value)
    return e if value is True else Apply(op="not", args=(e,), type=BOOL)


__all__ = ["Tracer", "equals", "holds", "own", "reads_result"]
