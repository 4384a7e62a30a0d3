"""Turns a whole recorded run into a handoff whose order no argument carries: read the policy, preview, then confirm.

The contract is made before the first call: bindings from what the user said in any turn, and as obligations what the
run really changed, in the recorded values. The proposal is the run itself. Whatever its values come from is expected to
be what was recorded, as far as an obligation or a later ``requires`` depends on it, and so is every answer (a preview
that was not rejected, a write that was executed) without which the next step would not be allowed. Calls that may touch
one thing keep their recorded order.

``requires`` are traced to the call that made them true, be it by ``sets`` (a policy was read, a preview was given) or
by ``observes`` (an item was active when its order was read).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cfrc.adapters.arguments import Arguments
from cfrc.adapters.expects import Inexpressible, Rewriter
from cfrc.adapters.goals import Exists, Goals, Owed
from cfrc.adapters.handoffs import Case, Gap, Handoff
from cfrc.adapters.history import Deed, History, bindings, truth
from cfrc.adapters.order import Footprints, Touch
from cfrc.adapters.runs import Recorded, TaskRun
from cfrc.adapters.sources import mentions
from cfrc.model.contract import EffectGoal, Fact, KeptEffect, Licence, Name, Obligation, Origin
from cfrc.model.domain import Domain, FluentClause
from cfrc.model.evaluate import Env, Undefined, elements, evaluate
from cfrc.model.expr import (
    Apply,
    Build,
    Comprehension,
    Expr,
    FluentRead,
    Generator,
    Index,
    Lit,
    NodeResult,
    Var,
    conjuncts,
    walk,
)
from cfrc.model.show import show_expr
from cfrc.model.types import BOOL, INT, TEXT, Type
from cfrc.model.values import Value


def whole(domain: Domain, run: TaskRun) -> Iterator[Case]:
    """The one case of a run: all of it as a proposal, against the contract of what it changed."""
    session = () if run.user is None else (f"user {run.user}",)
    spoken = replace(run, request="\n".join((run.request, *run.turns, *session)))
    case = _Whole(History(domain, spoken), spoken).case()
    names = {n.name: _heard(n, run) for n in case.contract.names.values()}
    contract = replace(case.contract, request=run.request, names=names)
    yield replace(case, run=run, contract=contract)


def _heard(name: Name, run: TaskRun) -> Name:
    """The name with the user turn that says its value first."""
    for turn, words in enumerate((run.request, *run.turns), 1):
        if mentions(words, name.value, name.type):
            return replace(name, origin=Origin("user", turn=turn))
    return name


class _Whole(Handoff):
    def __init__(self, history: History, run: TaskRun) -> None:
        super().__init__(history, run, 0)
        self.name = f"task_{''.join(c if c.isalnum() else '_' for c in run.id)}"
        self.goals = Ground(history, self.arguments)
        self.footprints = Pinned(history, self.arguments, pinned=self.pinned)

    def _expect(self, kept: tuple[KeptEffect, ...], facts: tuple[Fact, ...]) -> None:
        for call in self.rest:
            for required in call.tool.requires if call.tool is not None else ():
                for c in conjuncts(required):
                    said = self.history.requires(call, c) and self._say(self._tracer(call), c, "requires")
                    if not said:
                        self.unseen.append(Gap("unseen", call.id, show_expr(c), frozenset({"DEP004"})))
        for owed in self.goals.owed:
            self._answers(owed)
            self._foretold(owed)
            for use in self.arguments.uses:
                if use.call is owed.call and use.place is not None and use.place.call is not None:
                    self._add(owed.call, _equals(self.arguments.source(use.place), use.leaf.value), "where")

    def _add(self, call: Recorded, condition: Expr, why: str) -> None:
        match condition:
            case Apply(op="not", args=(Apply(op="not", args=(plain,)),)):
                condition = plain
        super()._add(call, condition, why)

    def _gaps(self) -> Iterator[Gap]:
        for gap in super()._gaps():
            if gap.why != "failed write" or self._may_act(self.run.calls[int(gap.node[1:])]):
                yield gap

    def _may_act(self, call: Recorded) -> bool:
        """Whether the call, had it not failed, would have done more than bookkeeping: a preview would not."""
        env = self.history.env(call)
        causes = call.tool.causes if call.tool is not None else ()
        return any(c.when is None or truth(c.when, env) is not False for c in causes)

    def _answers(self, owed: Owed) -> None:
        """The write was executed, not rejected: what its ``causes`` asks of the result."""
        tracer = self._tracer(owed.call)
        goal = owed.obligation.goals[0]
        assert owed.call.tool is not None and isinstance(goal, EffectGoal)
        for clause in owed.call.tool.causes:
            if clause.effect == goal.effect:
                for c in conjuncts(clause.when) if clause.when is not None else ():
                    said = tracer.rewrite(c)
                    if reads_result(said):
                        self._add(owed.call, said, "where")

    def _foretold(self, owed: Owed) -> None:
        """What the write's receipt will show was seen before, so it decides what the write does: a preview tells it."""
        tracer, deed = self._tracer(owed.call), self.history.deeds[owed.call.index]
        for clause, at in deed.observes:
            if (clause.fluent, at) in self.history.before[owed.call.index]:
                f = self.domain.fluents[clause.fluent]
                value = self.history.before[owed.call.index][clause.fluent, at].value
                read = FluentRead(fluent=clause.fluent, args=clause.args, type=f.type)
                self._say(tracer, _holds(read, value), "apart")

    def _tracer(self, call: Recorded) -> Tracer:
        return Tracer(self.history, self.arguments, call, own(self.arguments, call))

    def pinned(self, e: Expr) -> bool:
        """Whether the remainder expects the value to be what was recorded."""
        return any(_settles(x.condition, e) for x in self.expectations)


def own(arguments: Arguments, call: Recorded) -> dict[tuple[str, str], Expr]:
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
        clause, bound = self._clause(seen.call, e.fluent, args)
        inner = Tracer(self.history, self.arguments, seen.call, {**own(self.arguments, seen.call), **bound})
        when = [inner.rewrite(w) for w in conjuncts(clause.when)] if clause.when is not None else []
        self.extra.extend(w for w in when if reads_result(w))
        for mine, theirs, value in zip(e.args, clause.args, args, strict=True):
            here, there = self.rewrite(mine), inner.rewrite(theirs)
            if here != there:
                self.extra.extend(_equals(x, value) for x in (here, there) if reads_result(x))
        return inner.rewrite(clause.value)

    def _clause(
        self, call: Recorded, fluent: str, args: tuple[Value, ...]
    ) -> tuple[FluentClause, dict[tuple[str, str], Expr]]:
        """The clause of the call that gave the instance its value, and the elements its generators stood at."""
        assert call.tool is not None
        for clause in (*call.tool.observes[::-1], *call.tool.sets[::-1]):
            if clause.fluent == fluent:
                for env, bound in self._places(clause, call):
                    if _instance(clause, env) == args:
                        return clause, bound
        raise Inexpressible

    def _places(self, clause: FluentClause, call: Recorded) -> Iterator[tuple[Env, dict[tuple[str, str], Expr]]]:
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


def _equals(e: Expr, value: Value) -> Expr:
    return Apply(op="==", args=(e, Lit(value=value, type=e.type)), type=BOOL)


def _holds(e: Expr, value: Value) -> Expr:
    """``e == value``, as one says it of a flag."""
    if e.type != BOOL:
        return _equals(e, value)
    return e if value is True else Apply(op="not", args=(e,), type=BOOL)


def _settles(condition: Expr, e: Expr) -> bool:
    match condition:
        case Apply(op="==", args=(settled, value)):
            return settled == e and _fixed(value)
    return False


def _told_by_result(clause: FluentClause) -> bool:
    """Whether only the receipt tells which instances the clause sets."""
    parts = (*clause.args, *(g.source for g in clause.generators))
    return any(isinstance(x, Var) and x.kind == "result" for e in parts for x in walk(e))


def _fixed(e: Expr) -> bool:
    return isinstance(e, Lit) or (isinstance(e, Var) and e.kind == "name")


def _closed(e: Expr) -> bool:
    return isinstance(e, Comprehension)


class Ground(Goals):
    """What the successful writes changed, in recorded values; bookkeeping of the session is licensed, never owed."""

    def __init__(self, history: History, arguments: Arguments) -> None:
        self.owed: list[Owed] = []
        self.licences: list[Licence] = []
        self.arguments, self.domain = arguments, history.domain
        for call in arguments.run.calls:
            if call.usable:
                self._changed(call, history.deeds[call.index])

    def _changed(self, call: Recorded, deed: Deed) -> None:
        for n, (clause, values) in enumerate(deed.causes):
            types = [t for _, t in self.domain.effects[clause.effect].params]
            args = tuple(None if t == TEXT else self._said(v, t) for v, t in zip(values, types, strict=True))
            goal = EffectGoal(clause.effect, args)
            self.owed.append(Owed(Obligation(f"owed{call.index}" + (f"_{n}" if n else ""), (goal,)), call, Exists()))
            self._allow(Licence("effect", clause.effect, args))
        for set_, at in deed.sets:
            types = [t for _, t in self.domain.fluents[set_.fluent].params]
            ground = None if at is None or not deed.causes or _told_by_result(set_) else at
            wild: tuple[Expr | None, ...] = (None,) * len(types)
            named = wild if ground is None else tuple(map(self._said, ground, types))
            self._allow(Licence("fluent", set_.fluent, named))

    def _said(self, value: Value, type_: Type) -> Expr:
        """The value, by the contract's name for it if the user said it."""
        for use in self.arguments.uses:
            if use.leaf.value == value and use.leaf.type == type_ and use.place is not None and use.place.call is None:
                return self.arguments.source(use.place)
        return Lit(value=value, type=type_)

    def _allow(self, licence: Licence) -> None:
        if licence not in self.licences:
            self.licences.append(licence)


@dataclass(slots=True)
class Pinned(Footprints):
    """Footprints with generators, in which a value that is expected to be a known one is as good as a literal."""

    pinned: Callable[[Expr], bool] = _fixed

    def _touch(self, call: Recorded, symbol: str, args: tuple[Expr, ...], writes: bool) -> Iterator[Touch]:
        here = Rewriter(self.history, self.arguments, call, own(self.arguments, call))
        sources = tuple(here.rewrite(a) for a in args)
        if any(isinstance(x, Var) and x.kind == "bound" for a in sources for x in walk(a) if not _closed(a)):
            yield Touch(symbol, writes, (), ())  # any instance
            return
        try:
            values = tuple(evaluate(a, self.history.env(call)) for a in args)
        except Undefined:
            yield Touch(symbol, writes, (), ())
            return
        yield Touch(symbol, writes, sources, values)

    def conflicts(self, a: Recorded, b: Recorded) -> bool:
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
        return _fixed(e) or self.pinned(e)
