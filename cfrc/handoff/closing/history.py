"""Turns calls that were made into what was true before each of them, and what each did, by the domain's clauses.

Concrete: clauses are evaluated on the arguments and results as they were. What a clause needs and nobody has seen stays
unknown, and an assignment of an unknown value makes its instance unknown again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cfrc.handoff.closing.made import Made
from cfrc.model.domain import Domain, EffectClause, FluentClause, Tool
from cfrc.model.evaluate import Env, Undefined, elements, evaluate, holds
from cfrc.model.expr import Expr
from cfrc.model.values import Value

Instance = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A fluent's value and the call that showed or set it; ``None``: it was known before the first call."""

    value: Value
    call: Made | None


@dataclass(frozen=True, slots=True)
class Deed:
    """What one call did: effects caused, fluent instances set (``None`` args: unknown which), instances observed."""

    causes: tuple[tuple[EffectClause, tuple[Value, ...]], ...] = ()
    sets: tuple[tuple[FluentClause, tuple[Value, ...] | None], ...] = ()
    observes: tuple[tuple[FluentClause, tuple[Value, ...]], ...] = ()


@dataclass(slots=True)
class History:
    """``before[i]`` is what was known before call ``i`` (one more entry for the end); ``deeds[i]`` what it did.

    A failed call did nothing; its deed is what it would have done, as far as its arguments tell.
    """

    domain: Domain
    calls: tuple[Made, ...]
    start: Mapping[Instance, Seen] = field(default_factory=dict)
    before: list[dict[Instance, Seen]] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)

    def __post_init__(self) -> None:
        state: dict[Instance, Seen] = dict(self.start)
        for call in self.calls:
            self.before.append(dict(state))
            self.deeds.append(self._deed(call, state))
            if call.usable:
                self._apply(call, self.deeds[-1], state)
        self.before.append(state)

    def env(self, call: Made, state: Mapping[Instance, Seen] | None = None) -> Env:
        """The environment in which the call's clauses are read: in ``state``, by default the one before it."""
        known = self.before[call.index] if state is None else state

        def read(fluent: str, args: tuple[Value, ...]) -> Value:
            return known[fluent, args].value

        vars_: dict[tuple[str, str], Value] = {("param", n): v for n, v in call.args.items()}
        for p in call.tool.params if call.tool is not None else ():
            if p.name not in call.args and p.default is not None:
                vars_["param", p.name] = evaluate(p.default, Env())
        if call.usable:
            vars_["result", "result"] = call.result
        return Env(vars_, read=read)

    def requires(self, call: Made, conjunct: Expr) -> bool | None:
        """Whether a condition held before the call; ``None`` when nobody had seen enough to tell."""
        return truth(conjunct, self.env(call))

    def _deed(self, call: Made, state: dict[Instance, Seen]) -> Deed:
        tool = call.tool
        if tool is None or call.problem is not None:
            return Deed()
        env = self.env(call, state)
        causes = [(c, x) for c in tool.causes for e in bindings(c, env) if (x := _args(c.args, e)) is not None]
        sets = [(s, _args(s.args, e)) for s in tool.sets for e in bindings(s, env)]
        after = dict(state)
        self._assign(call, sets, after, env)
        post = self.env(call, after)
        observes = [
            (o, x) for o in tool.observes for e in bindings(o, post) if (x := _args(o.args, e)) is not None
        ] if call.usable else []  # fmt: skip
        return Deed(tuple(causes), tuple(sets), tuple(observes))

    def _assign(self, call: Made, sets: Any, state: dict[Instance, Seen], env: Env) -> None:
        for clause, args in sets:
            value = _try(clause.value, env)
            if args is None:
                for instance in [i for i in state if i[0] == clause.fluent]:
                    del state[instance]
            elif value is MISSING:
                state.pop((clause.fluent, args), None)
            else:
                state[clause.fluent, args] = Seen(value, call)

    def _apply(self, call: Made, deed: Deed, state: dict[Instance, Seen]) -> None:
        self._assign(call, deed.sets, state, self.env(call))
        for clause, args in deed.observes:
            # With generators the value belongs to a binding: take it from the binding whose instance this is.
            for env in bindings(clause, self.env(call, state)):
                value = _try(clause.value, env)
                if value is not MISSING and _args(clause.args, env) == args:
                    state[clause.fluent, args] = Seen(value, call)


MISSING: Any = object()


def _try(e: Expr, env: Env) -> Any:
    try:
        return evaluate(e, env)
    except Undefined:
        return MISSING


def truth(e: Expr, env: Env) -> bool | None:
    try:
        return holds(e, env)
    except Undefined:
        return None


def _args(args: tuple[Expr | None, ...], env: Env) -> tuple[Value, ...] | None:
    values = [MISSING if a is None else _try(a, env) for a in args]
    return None if any(v is MISSING for v in values) else tuple(values)


def bindings(clause: EffectClause | FluentClause, env: Env) -> Iterator[Env]:
    """Every binding of the clause's generators under which it applies; none where its condition is unknown."""

    def go(index: int, inner: Env) -> Iterator[Env]:
        if index == len(clause.generators):
            if truth(clause.when, inner) if clause.when is not None else True:
                yield inner
            return
        g = clause.generators[index]
        source = _try(g.source, inner)
        if source is MISSING:
            return
        for item in elements(source, g.source):
            yield from go(index + 1, inner.child({("bound", g.var): item}))

    yield from go(0, env)


def plain(tool: Tool) -> bool:
    """Whether all that the tool changes is the value of fluents: its writes are owed as states, not as events."""
    return bool(tool.sets) and not tool.causes and not tool.undoes
