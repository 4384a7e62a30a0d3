"""Turns a domain's declarations and a contract into a replica: an environment that is made up as it is asked.

A call is refused where its ``requires`` is known to be false; its effects and fluents follow its clauses. A result is
made up by type: first what it must be (``ensures``, what observations of known facts say), then what makes its clauses
apply (the mail is delivered, the payment accepted, the order still open, as some tool requires). For the rest it holds
values that stand nowhere else, so that a value's source is never a coincidence. The same seed and calls give the same
answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from cfrc.handoff.freezing.past import begin
from cfrc.handoff.tools import Answer
from cfrc.handoff.wire import Malformed, incoming
from cfrc.lang.jsonvalues import Mismatch, to_json
from cfrc.model.contract import Contract, StateGoal
from cfrc.model.domain import Domain, FluentClause, Tool
from cfrc.model.evaluate import Env, Undefined, equal, evaluate, holds
from cfrc.model.expr import Apply, Build, Expr, Field, FluentRead, Lit, Var, conjuncts
from cfrc.model.instances import Instance, call_instances
from cfrc.model.ledger import Ledger
from cfrc.model.plan import full_args
from cfrc.model.receipts import World
from cfrc.model.simulate import path_of, put_at
from cfrc.model.transcript import JSON
from cfrc.model.types import BOOL, BagOf, Enum, Id, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Record, Value, bag, mapping, record

TRIES = 8
"""How often a result is made up anew, with other members of its enums and other truth values, to be a possible one."""


class SimulatedReplica:
    """A replica of any domain, in the state that the contract tells."""

    def __init__(self, contract: Contract, seed: int = 0) -> None:
        self.contract, self.domain, self.seed = contract, contract.domain, seed
        self.world: World = begin(contract, Ledger("replica", contract.domain, ())).world
        self.count = 0
        self.hopes = dict(reversed(list(_hopes(contract.domain))))
        self.owed = dict(_owed(contract, self.world))

    def snapshot(self) -> object:
        return dict(self.world.values), list(self.world.lost), self.count

    def restore(self, mark: object) -> None:
        assert isinstance(mark, tuple)
        values, lost, self.count = mark
        self.world.values, self.world.lost = dict(values), list(lost)

    def call(self, tool: str, arguments: Mapping[str, JSON]) -> Answer:
        declared = self.domain.tools.get(tool)
        if declared is None:
            return Answer("failure", error=f"there is no tool {tool}")
        try:
            args = self._args(declared, arguments)
        except (Malformed, Mismatch) as problem:
            return Answer("failure", error=str(problem))
        env = Env({("param", n): v for n, v in args.items()}, read=self.world.read)
        for required in declared.requires:
            for c in conjuncts(required):
                if _known_false(c, env):
                    return Answer("failure", error=f"{tool} refuses: what it requires is not so")
        for attempt in range(TRIES):
            result = self._result(declared, env, attempt)
            if self._possible(declared, env, result):
                self.world.take(declared, args, result, "success")
                return Answer("success", to_json(result, declared.result))
        return Answer("unknown", error=f"no possible result of {tool} was found")

    def _args(self, tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, Value]:
        given = []
        for name, value in arguments.items():
            p = tool.param(name)
            if p is None:
                raise Mismatch(f"{tool.name} has no parameter {name}")
            given.append((name, incoming(value, p.type)))
        args = full_args(tool, tuple(given))
        missing = [p.name for p in tool.params if p.name not in args]
        if missing:
            raise Mismatch(f"{tool.name} needs {', '.join(missing)}")
        return args

    # -- results ------------------------------------------------------------------------------------------------------

    def _result(self, tool: Tool, env: Env, attempt: int) -> Value:
        value = self._fresh(tool.result, attempt)
        for condition in _wishes(tool):
            value = _fulfil(value, condition, env)
        for o in tool.observes:
            if not o.generators:
                value = self._observed(o, value, env, attempt)
        for ensured in tool.ensures:
            for c in conjuncts(ensured):
                value = _fulfil(value, c, env)
        return value

    def _observed(self, o: FluentClause, value: Value, env: Env, attempt: int) -> Value:
        """The result with what it shows of a fluent: what is known of it, else what is owed or some tool would like."""
        try:
            args = tuple(evaluate(a, env) for a in o.args)
        except Undefined:
            return value
        path = path_of(o.value, None)
        try:
            return put_at(value, path, self.world.read(o.fluent, args))
        except LookupError:
            if attempt > 0:
                return value
            place = (o.fluent, self.world.signatures.fluent(o.fluent, args))
            hoped = self.owed.get(place, self.hopes.get(o.fluent))
            return value if hoped is None else put_at(value, path, hoped)

    def _possible(self, tool: Tool, env: Env, result: Value) -> bool:
        """Whether the result satisfies ``ensures`` and does not contradict what is known and cannot have changed."""
        inner = env.child({("result", "result"): result})
        if any(_known_false(e, inner) for e in tool.ensures):
            return False
        found = call_instances(tool, inner, self.world.read, self.world.signatures)
        own = {(w.fluent, w.args): w.value for w in found.writes}
        known = {**self.world.values, **own}
        return all(
            equal(known.get((f, where), value), value)
            for f, where, value in found.observes
            if not self.domain.fluents[f].volatile or (f, where) in own
        )

    def _fresh(self, t: Type, attempt: int) -> Value:
        """A value that stands nowhere else, where the type has such values."""
        match t:
            case Optional(item):
                return self._fresh(item, attempt)
            case ListOf(item):
                return (self._fresh(item, attempt),)
            case BagOf(item):
                return bag([self._fresh(item, attempt)])
            case MapOf(key, item):
                return mapping([(self._fresh(key, attempt), self._fresh(item, attempt))])
            case RecordOf(_, fields):
                return record({n: self._fresh(f, attempt) for n, f in fields})
            case Enum(_, members):
                return members[attempt % len(members)] if members else ""
            case Prim("bool"):
                return attempt % 2 == 0
        self.count += 1
        n = self.seed * 1000 + self.count
        match t:
            case Id(name, forms):
                made = f"{name}-replica-{n}"
                return made.lower() if "lower" in forms else made
            case Prim(name):
                return _primitive(name, n)
        return None


def _primitive(name: str, n: int) -> Value:
    match name:
        case "int":
            return 1000 + n
        case "decimal":
            return Fraction(1000 + n) + Fraction(37, 100)
        case "date":
            return date(2026, 1, 1) + timedelta(days=n)
        case "time":
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=n)
        case "duration":
            return timedelta(minutes=n)
    return f"replica {name} {n}"


def _hopes(domain: Domain) -> Iterator[tuple[str, Value]]:
    """The value of a fluent that some tool requires, or that lets one of its effects take place."""
    for tool in domain.tools.values():
        for e in (*tool.requires, *(c.when for c in tool.causes if c.when is not None)):
            for c in conjuncts(e):
                match c:
                    case Apply(op="==", args=(FluentRead(fluent=name), Lit(value=value))):
                        yield name, value
                    case Apply(op="not", args=(FluentRead(fluent=name),)):
                        yield name, False
                    case FluentRead(fluent=name):
                        yield name, True


def _owed(contract: Contract, world: World) -> Iterator[tuple[Instance, Value]]:
    """The fluent instances that are to have a certain value in the end."""
    env = Env({("name", n.name): n.value for n in contract.names.values()}, read=world.read)
    goals = [g.condition for o in contract.obligations for g in o.goals if isinstance(g, StateGoal)]
    for c in (c for g in goals for c in conjuncts(g)):
        match c:
            case Apply(op="==", args=(FluentRead(fluent=name, args=args), wanted)):
                try:
                    where = tuple(evaluate(a, env) for a in args)
                    yield (name, world.signatures.fluent(name, where)), evaluate(wanted, env)
                except Undefined:
                    continue


def _wishes(tool: Tool) -> Iterator[Expr]:
    """What makes the tool's clauses apply; of two that exclude each other the first wins (it comes last)."""
    clauses = [c.when for c in (*tool.causes, *tool.witnesses)] + [c.when for c in tool.sets]
    for when in reversed(clauses):
        yield from conjuncts(when)


def _fulfil(value: Value, condition: Expr, env: Env) -> Value:
    """The result with its part as the condition asks: ``result.a == e``, ``result.ok``, ``not …``, ``… in […]``."""
    match condition:
        case Apply(op="==", args=(left, right)):
            for side, other in ((left, right), (right, left)):
                value = _put(value, side, other, env)
            return value
        case Apply(op="not", args=(Field() | Var() as side,)):
            return _put(value, side, Lit(value=False, type=BOOL), env)
        case Apply(op="in", args=(side, Build(items=(first, *_)))):
            return _put(value, side, first, env)
        case Apply(op=("<" | "<=" | ">" | ">="), args=(left, right)):
            return _put(value, left, right, env, {"<": -1, ">": 1}.get(condition.op, 0))
        case Apply(op="implies", args=(_, then)):
            return _fulfil(value, then, env)
        case Field() | Var() if condition.type == BOOL:
            return _put(value, condition, Lit(value=True, type=BOOL), env)
    return value


def _put(value: Value, side: Expr, other: Expr, env: Env, more: int = 0) -> Value:
    path = path_of(side, None)
    if path is None or not _has(value, path):
        return value
    try:
        part = evaluate(other, env.child({("result", "result"): value}))
    except Undefined:
        return value
    if more and isinstance(part, int | Fraction) and not isinstance(part, bool):
        part = part + more
    return put_at(value, path, part)


def _has(value: Value, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(value, Record) or name not in value:
            return False
        value = value.get(name)
    return True


def _known_false(e: Expr, env: Env) -> bool:
    try:
        return not holds(e, env)
    except Undefined:
        return False


__all__ = ["SimulatedReplica"]
