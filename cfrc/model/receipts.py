"""Turns one receipt of a ledger into what it is evidence of: caused, undone, witnessed, refuted and in-doubt
identities.

Only a terminal success is evidence. An unsettled receipt (``pending``, ``partial``, ``unknown``) puts everything that
it may have caused, undone or set in doubt; a definite failure only what its tool says a failure may cause
(``docs/semantics.md`` §1, §2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cfrc.model.domain import Domain, EffectClause, FluentClause, Tool
from cfrc.model.evaluate import Env, Undefined, elements, evaluate, holds
from cfrc.model.expr import Expr, FluentRead, Generator, Var
from cfrc.model.footprint import WILD, Wild, matches
from cfrc.model.instances import Signatures, call_instances, failure_instances
from cfrc.model.ledger import Status
from cfrc.model.plan import full_args
from cfrc.model.values import Value

Identity = tuple[str, tuple[Value, ...]]
Pattern = tuple[str, tuple[Value | Wild, ...]]
"""``_`` is an argument that nobody knows (it depends on a result that did not arrive)."""


@dataclass(slots=True)
class Effects:
    """``shaken`` are the identities that the call may or may not have undone."""

    caused: list[Identity] = field(default_factory=list)
    undone: list[Pattern] = field(default_factory=list)
    witnessed: list[Identity] = field(default_factory=list)
    refuted: list[Pattern] = field(default_factory=list)
    doubted: list[Pattern] = field(default_factory=list)
    shaken: list[Pattern] = field(default_factory=list)


class World:
    """The fluent values that the receipts so far imply; an instance that none of them settles is unknown. ``lost`` are
    the instances that became unknown, because a call may have set them."""

    def __init__(self, domain: Domain) -> None:
        self.signatures = Signatures(domain)
        self.values: dict[Identity, Value] = {}
        self.lost: list[Pattern] = []

    def read(self, fluent: str, args: tuple[Value, ...]) -> Value:
        """``LookupError`` when nothing says it."""
        return self.values[fluent, self.signatures.fluent(fluent, args)]

    def is_lost(self, fluent: str, args: tuple[Value, ...]) -> bool:
        """Whether a call may have changed the instance since it was last known."""
        where = self.signatures.fluent(fluent, args)
        return (fluent, where) not in self.values and any(f == fluent and matches(p, where) for f, p in self.lost)

    def asks(self, tool: Tool, args: dict[str, Value]) -> bool | None:
        """Whether the call needed an approval in this world; ``None`` when nobody knows."""
        if tool.approved is None:
            return False
        return _truth(tool.approved, self._env(tool, args, None), True)

    def take(self, tool: Tool, args: dict[str, Value], result: Value, status: Status) -> Effects:
        """What the receipt is evidence of; the world moves on."""
        env = self._env(tool, args, result if status in ("success", "partial", "pending") else None)
        found = Effects()
        if status == "failure":
            found.doubted = failure_instances(tool, env, self.signatures)
            return found
        sure = status == "success"
        found.doubted = [p for c in tool.causes for p in self._possible(c, env, sure)]
        found.shaken = [p for c in tool.undoes for p in self._possible(c, env, sure)]
        unknown = [p for c in tool.sets for p in self._unsettled(c, env, sure)]
        instances = call_instances(tool, env, self.read, self.signatures) if sure else None
        for pattern in unknown:
            self.forget(pattern)
        if instances is not None:
            found.caused, found.undone = instances.causes, instances.undoes
            found.witnessed, found.refuted = instances.witnesses, instances.refutes
            for w in instances.writes:
                self.values[w.fluent, w.args] = w.value
            for fluent, where, value in instances.observes:
                self.values[fluent, where] = value
        return found

    def unsettled(self, tool: Tool, args: dict[str, Value], result: Value) -> list[Pattern]:
        """The fluent instances whose value nobody knows after a successful call."""
        env = self._env(tool, args, result)
        return [p for c in tool.sets for p in self._unsettled(c, env, True)]

    def forget(self, pattern: Pattern) -> None:
        """Nobody knows the matching fluent instances any more."""
        fluent, args = pattern
        self.lost.append(pattern)
        for known in [k for k in self.values if k[0] == fluent and matches(args, k[1])]:
            del self.values[known]

    def _possible(self, clause: EffectClause, env: Env, sure: bool) -> Iterator[Pattern]:
        """The instances that nobody knows to have taken place or not: all possible ones, without a success."""
        for inner in _bindings(clause.generators, env, sure):
            args = _unknown(clause.when, clause.args, None, inner, sure)
            if args is not None and self.signatures.present("effect", clause.effect, args):
                yield clause.effect, self.signatures.pattern("effect", clause.effect, args)

    def _unsettled(self, clause: FluentClause, env: Env, sure: bool) -> Iterator[Pattern]:
        """The fluent instances whose value nobody knows after the call."""
        for inner in _bindings(clause.generators, env, sure):
            args = _unknown(clause.when, clause.args, clause.value, inner, sure)
            if args is not None:
                yield clause.fluent, self.signatures.pattern("fluent", clause.fluent, args)

    def _env(self, tool: Tool, args: dict[str, Value], result: Value) -> Env:
        env = Env(read=self.read)
        for name, value in full_args(tool, tuple(args.items())).items():
            env.vars["param", name] = value
        if result is not None:
            env.vars["result", "result"] = result
        return env


class _Nothing(Exception):
    """An expression has no value, whatever the unknown may be: then there is no such instance."""


def _bindings(generators: tuple[Generator, ...], env: Env, sure: bool) -> Iterator[Env | None]:
    """An environment for every binding; ``None`` where nobody knows what a generator ranges over."""
    if not generators:
        yield env
        return
    head, rest = generators[0], generators[1:]
    try:
        source = elements(evaluate(head.source, env), head.source)
    except Undefined as u:
        if not sure or isinstance(u.expr, FluentRead | Var):
            yield None
        return
    for item in source:
        yield from _bindings(rest, env.child({("bound", head.var): item}), sure)


def _value(e: Expr, env: Env, sure: bool) -> Value | Wild:
    """The value, or :data:`WILD` where it rests on what nobody knows."""
    try:
        return evaluate(e, env)
    except Undefined as u:
        if sure and not isinstance(u.expr, FluentRead | Var):
            raise _Nothing from None
        return WILD


def _truth(e: Expr, env: Env, sure: bool) -> bool | None:
    """Whether a condition holds; ``None`` where that rests on what nobody knows."""
    try:
        return holds(e, env)
    except Undefined as u:
        return False if sure and not isinstance(u.expr, FluentRead | Var) else None


def _unknown(
    when: Expr | None, args: Sequence[Expr | None], value: Expr | None, env: Env | None, sure: bool
) -> tuple[Value | Wild, ...] | None:
    """The arguments of an instance if nobody knows whether it took place, where, or with which value; else ``None``."""
    if env is None:
        return (WILD,) * len(args)
    held = True if when is None else _truth(when, env, sure)
    if held is False:
        return None
    try:
        where = tuple([WILD if a is None else _value(a, env, sure) for a in args])
        blurred = value is not None and isinstance(_value(value, env, sure), Wild)
    except _Nothing:
        return None
    blurred = blurred or any(a is not None and isinstance(v, Wild) for a, v in zip(args, where, strict=True))
    return where if blurred or held is None or not sure else None
