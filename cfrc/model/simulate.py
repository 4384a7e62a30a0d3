"""Turns a contract, a proposal and a random generator into legal scenarios: a world, an order, receipts, failures.

For tests: on an admitted proposal no simulated run may violate anything. Receipts are drawn by type from the values
that the case mentions, then made to satisfy what equates a part of the result with something known (``ensures``,
observations of what does not change and, mostly, ``until`` and ``expect``); what still is outside Res is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import islice, product
from random import Random

from cfrc.model.canon import default_value, has_type
from cfrc.model.contract import Contract
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Apply, Expr, Field, Lit, NodeResult, Var, conjuncts, walk
from cfrc.model.footprint import Wild
from cfrc.model.graph import Call, Proposal
from cfrc.model.instances import Instance, Pattern
from cfrc.model.machine import Machine, Step
from cfrc.model.matching import collect
from cfrc.model.plan import Plan, prepare
from cfrc.model.scenario import Event, Scenario
from cfrc.model.state import Illegal
from cfrc.model.types import BagOf, Enum, Id, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Record, Value, bag, mapping, record

Pool = dict[Type, list[Value]]
TRIES = 30
"""How often a receipt is drawn before the call counts as having no possible result."""
INSTANCES = 64
"""The most instances of one fluent that get a random initial value."""


def simulate(contract: Contract, proposal: Proposal, random: Random, failures: float = 0.1) -> Scenario:
    """One random legal scenario, run as far as it goes. ``failures`` is the chance that a call fails definitely."""
    return Simulation(prepare(contract, proposal), random, failures).run()


def simulations(contract: Contract, proposal: Proposal, random: Random, failures: float = 0.1) -> Iterator[Scenario]:
    """Any number of random legal scenarios; the plan is prepared once."""
    plan = prepare(contract, proposal)
    while True:
        yield Simulation(plan, random, failures).run()


class Simulation:
    """One scenario in the making."""

    def __init__(self, plan: Plan, random: Random, failures: float) -> None:
        self.plan = plan
        self.random = random
        self.failures = failures
        self.pool = mentioned(plan)

    def run(self) -> Scenario:
        world = self._world()
        machine = Machine(self.plan, world)
        machine.lenient = True
        events: list[Event] = []
        blocked: set[str] = set()
        while not machine.over and set(machine.ready) - blocked:
            node = self.random.choice(sorted(set(machine.ready) - blocked))
            event = self._event(machine, node)
            if event is None:
                blocked.add(node)
                continue
            blocked.clear()
            events.append(event)
        changes = self._changes(machine) if not machine.over else ()
        return Scenario(world, tuple(events), changes)

    # -- the world --------------------------------------------------------------------------------------------------

    def _world(self) -> dict[Instance, Value]:
        """Random values for the instances over what the case mentions; facts that must hold are kept."""
        contract, sig = self.plan.contract, self.plan.sig
        world: dict[Instance, Value] = {}
        for fluent in contract.domain.fluents.values():
            choices = [self.pool.get(t) or [default_value(t)] for _, t in fluent.params]
            for args in islice(product(*choices), INSTANCES):
                world[fluent.name, sig.fluent(fluent.name, args)] = self.draw(fluent.type)
        for fact in contract.facts:
            if not contract.domain.fluents[fact.fluent].volatile or self.random.random() < 0.8:
                world[fact.fluent, sig.fluent(fact.fluent, fact.args)] = fact.value
        return world

    def _changes(self, machine: Machine) -> tuple[tuple[str, tuple[Value, ...], Value], ...]:
        fluents = self.plan.contract.domain.fluents
        free = [
            i for i in machine.state.world
            if fluents[i[0]].volatile and i not in machine.state.pinned and self.random.random() < 0.2
        ]  # fmt: skip
        return tuple((name, args, self.draw(fluents[name].type)) for name, args in free)

    # -- one call ---------------------------------------------------------------------------------------------------

    def _event(self, machine: Machine, node: str) -> Event | None:
        """Makes one call return somehow; ``None`` when no legal result was found."""
        if self.plan.nodes[node].malformed is not None:
            return None
        changes = self._changes(machine)
        machine.state.change(changes)
        step = machine.inspect(node)
        if step.false is not None:
            machine.over = "requires"
            return Event(node, "ok", self.draw(step.tool.result), changes)
        if self.random.random() < self.failures:
            event = Event(node, "fail", None, changes)
            machine.result(step, event)
            machine.commit(step, event)
            return event
        polls = machine.state.polls.get(node, 0)
        for _ in range(TRIES):
            event = Event(node, "ok", self._result(machine, step), changes)
            try:
                machine.result(step, event)
            except Illegal:
                continue
            machine.commit(step, event)
            collect(self.pool, event.result, step.tool.result)
            polled = machine.state.polls.get(node, 0) > polls
            return Event(node, "poll", event.result, changes) if polled else event
        return Event(node, "fail", None, changes) if self._gives_up(machine, step, changes) else None

    def _gives_up(
        self, machine: Machine, step: Step, changes: tuple[tuple[str, tuple[Value, ...], Value], ...]
    ) -> bool:
        """Where no result was found a definite failure is always possible, so that ENV steps are not lost."""
        if not changes:
            return False
        event = Event(step.node, "fail", None, changes)
        machine.result(step, event)
        machine.commit(step, event)
        return True

    def _result(self, machine: Machine, step: Step) -> Value:
        value = self.draw(step.tool.result)
        known = self.plan.contract.domain.fluents
        for ensured in step.tool.ensures:
            value = self._equate(value, conjuncts(ensured), step.env, None)
        for o in step.tool.observes:
            if not known[o.fluent].volatile:
                try:
                    args = tuple(evaluate(a, step.env) for a in o.args)
                    value = put_at(value, path_of(o.value, None), machine.read(o.fluent, args))
                except (Undefined, LookupError):
                    continue
        call = step.entry.node
        assert isinstance(call, Call)
        if self.random.random() < 0.7:
            wishes = (*conjuncts(call.until), *conjuncts(call.expect))
            value = self._equate(value, wishes, machine.env, step.node)
        return value

    def _equate(self, value: Value, wanted: tuple[Expr, ...], env: Env, node: str | None) -> Value:
        """Puts what ``result.path == e`` asks for in its place."""
        for c in wanted:
            if isinstance(c, Apply) and c.op == "==":
                for side, other in (c.args, tuple(reversed(c.args))):
                    path = path_of(side, node)
                    if path is not None:
                        try:
                            value = put_at(value, path, evaluate(other, env))
                        except Undefined:
                            continue
        return value

    # -- values -----------------------------------------------------------------------------------------------------

    def draw(self, t: Type) -> Value:
        """A random value of a type: one that the case mentions, or another one."""
        seen = self.pool.get(t)
        if seen and self.random.random() < 0.7:
            return self.random.choice(seen)
        few = range(self.random.randrange(3))
        match t:
            case Optional(item):
                return None if self.random.random() < 0.3 else self.draw(item)
            case ListOf(item):
                return tuple(self.draw(item) for _ in few)
            case BagOf(item):
                return bag(self.draw(item) for _ in few)
            case MapOf(key, item):
                return mapping([(self.draw(key), self.draw(item)) for _ in few])
            case RecordOf(_, fields):
                return record({n: self.draw(f) for n, f in fields})
            case Enum(_, members):
                return self.random.choice(members)
            case Id(name):
                return f"{name.lower()}{self.random.randrange(4)}"
            case Prim(name):
                return _primitive(name, self.random)
        return None


def _primitive(name: str, random: Random) -> Value:
    n = random.randrange(-2, 12)
    match name:
        case "int":
            return n
        case "decimal":
            return Fraction(n) + Fraction(random.randrange(4), 4)
        case "bool":
            return random.random() < 0.5
        case "date":
            return date(2026, 1, 15) + timedelta(days=n)
        case "time":
            return datetime(2026, 1, 15, tzinfo=UTC) + timedelta(hours=n)
        case "duration":
            return timedelta(minutes=n)
    return f"{name}{n}"


def mentioned(plan: Plan) -> Pool:
    """The values that a contract and a proposal mention, by type."""
    contract, pool = plan.contract, Pool()
    for name in contract.names.values():
        collect(pool, name.value, name.type)
    for fact in contract.facts:
        declared = contract.domain.fluents[fact.fluent]
        for a, (_, t) in zip(fact.args, declared.params, strict=True):
            collect(pool, a, t)
        collect(pool, fact.value, declared.type)
    patterns: list[Pattern] = [(k.effect, k.args) for k in contract.kept]
    patterns += [(d.effect, d.args) for d in contract.doubts]
    for effect, said in patterns:
        for value, (_, t) in zip(said, contract.domain.effects[effect].params, strict=True):
            if not isinstance(value, Wild):
                collect(pool, value, t)
    for entry in plan.nodes.values():
        for p, e, _ in entry.args:
            for lit in walk(e):
                if isinstance(lit, Lit) and has_type(lit.value, p.type):
                    collect(pool, lit.value, p.type)
    return pool


def path_of(e: Expr, node: str | None) -> tuple[str, ...] | None:
    """The fields of ``result.a.b`` (of ``n.a.b`` for a node's own result); ``None`` for anything else."""
    names: list[str] = []
    while isinstance(e, Field):
        names.append(e.name)
        e = e.base
    own = isinstance(e, NodeResult) and e.node == node if node else isinstance(e, Var) and e.kind == "result"
    return tuple(reversed(names)) if own else None


def put_at(value: Value, path: tuple[str, ...] | None, part: Value) -> Value:
    """The value with one part replaced; unchanged where there is no such part."""
    if path is None:
        return value
    if not path:
        return part
    if not isinstance(value, Record) or path[0] not in value:
        return value
    return record({**dict(value.items), path[0]: put_at(value.get(path[0]), path[1:], part)})
