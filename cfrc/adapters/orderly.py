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

from collections.abc import Iterator
from dataclasses import replace

from cfrc.adapters.goals import Owed
from cfrc.adapters.ground import Ground
from cfrc.adapters.handoffs import Case, Gap, Handoff
from cfrc.adapters.runs import TaskRun
from cfrc.adapters.sources import mentions
from cfrc.handoff.closing.history import History, truth
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.pinned import Pinned, fixed
from cfrc.handoff.closing.tracing import Tracer, equals, holds, own, reads_result
from cfrc.model.contract import EffectGoal, Fact, KeptEffect, Name, Origin
from cfrc.model.domain import Domain
from cfrc.model.expr import Apply, Expr, FluentRead, conjuncts
from cfrc.model.show import show_expr


def whole(domain: Domain, run: TaskRun) -> Iterator[Case]:
    """The one case of a run: all of it as a proposal, against the contract of what it changed."""
    session = () if run.user is None else (f"user {run.user}",)
    spoken = replace(run, request="\n".join((run.request, *run.turns, *session)))
    case = _Whole(History(domain, spoken.calls), spoken).case()
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
                    self._add(owed.call, equals(self.arguments.source(use.place), use.leaf.value), "where")

    def _add(self, call: Made, condition: Expr, why: str) -> None:
        match condition:
            case Apply(op="not", args=(Apply(op="not", args=(plain,)),)):
                condition = plain
        super()._add(call, condition, why)

    def _gaps(self) -> Iterator[Gap]:
        for gap in super()._gaps():
            if gap.why != "failed write" or self._may_act(self.run.calls[int(gap.node[1:])]):
                yield gap

    def _may_act(self, call: Made) -> bool:
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
                self._say(tracer, holds(read, value), "apart")

    def _tracer(self, call: Made) -> Tracer:
        return Tracer(self.history, self.arguments, call, own(self.arguments, call))

    def pinned(self, e: Expr) -> bool:
        """Whether the remainder expects the value to be what was recorded."""
        return any(_settles(x.condition, e) for x in self.expectations)


def _settles(condition: Expr, e: Expr) -> bool:
    match condition:
        case Apply(op="==", args=(settled, value)):
            return settled == e and fixed(value)
    return False


__all__ = ["whole"]
