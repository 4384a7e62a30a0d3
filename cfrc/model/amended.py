"""Turns a scenario whose receipts contradict the state into one whose receipts are read off the state.

The solver gives each call a receipt of the state after what is *ordered* before it. Where one of two unordered calls
comes second, it has seen what the first one did. What comes out is replayed like any other scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from cfrc.model.domain import FluentClause
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Apply, Expr, Field, Var, conjuncts
from cfrc.model.instances import Instance, call_instances
from cfrc.model.machine import Machine, Step
from cfrc.model.plan import Plan
from cfrc.model.scenario import Event, Scenario
from cfrc.model.simulate import path_of, put_at
from cfrc.model.state import Illegal
from cfrc.model.values import Value


def amended(plan: Plan, scenario: Scenario) -> Scenario:
    """The scenario up to its first event that cannot be mended, with every contradicting receipt mended."""
    events: list[Event] = []
    try:
        machine = Machine(plan, scenario.world)
        machine.lenient = True
        for event in scenario.events:
            step = machine.begin(event)
            try:
                machine.result(step, event)
            except Illegal:
                event = replace(event, result=_seen(machine, step, event.result))
                step = machine.inspect(event.node)
                machine.result(step, event)
            polls = machine.state.polls.get(event.node, 0)
            machine.commit(step, event)
            if event.outcome in ("ok", "poll"):
                again = machine.state.polls.get(event.node, 0) > polls
                event = replace(event, outcome="poll" if again else "ok")
            events.append(event)
            if step.false is not None:
                break
    except (Illegal, Undefined, LookupError):
        pass  # replay says the same of the scenario as it stands
    return replace(scenario, events=tuple(events))


def _seen(machine: Machine, step: Step, result: Value) -> Value:
    """The result with everything that the call observes as it is in this state."""
    env = step.env
    for e in (c for ensured in step.tool.ensures for c in conjuncts(ensured)):
        if isinstance(e, Apply) and e.op == "==":
            for side, other in (e.args, tuple(reversed(e.args))):
                with suppress(Undefined):
                    result = put_at(result, path_of(side, None), evaluate(other, env))
    env.vars["result", "result"] = result
    own = call_instances(step.tool, env, machine.read, machine.plan.sig).writes
    set_here = {(w.fluent, w.args): w.value for w in own}
    for clause in step.tool.observes:
        env.vars["result", "result"] = result
        if not clause.generators:
            result = put_at(result, path_of(clause.value, None), _actual(machine, clause, env, set_here))
        elif len(clause.generators) == 1:
            result = _rows(machine, clause, env, set_here, result)
    return result


def _rows(machine: Machine, clause: FluentClause, env: Env, own: Mapping[Instance, Value], result: Value) -> Value:
    """The result with every row of the list that the clause ranges over as it is in this state."""
    head = clause.generators[0]
    rows = evaluate(head.source, env)
    if not isinstance(rows, tuple):
        return result
    seen = []
    for row in rows:
        inner = env.child({("bound", head.var): row})
        seen.append(put_at(row, _path(clause.value, head.var), _actual(machine, clause, inner, own)))
    return put_at(result, path_of(head.source, None), tuple(seen))


def _actual(machine: Machine, clause: FluentClause, env: Env, own: Mapping[Instance, Value]) -> Value:
    """What the clause observes: what the call itself has set, or else what holds; of a volatile fluent anything."""
    where = clause.fluent, machine.plan.sig.fluent(clause.fluent, tuple([evaluate(a, env) for a in clause.args]))
    if where in own:
        return own[where]
    if machine.plan.contract.domain.fluents[clause.fluent].volatile:
        return evaluate(clause.value, env)
    return machine.read(*where)


def _path(e: Expr, var: str) -> tuple[str, ...] | None:
    """The fields of ``row.a.b``; ``None`` for anything else."""
    names: list[str] = []
    while isinstance(e, Field):
        names.append(e.name)
        e = e.base
    return tuple(reversed(names)) if isinstance(e, Var) and e.name == var else None
