"""Turns one call with concrete arguments and result into what it does: instances, writes, observations, footprint.

``docs/semantics.md`` §2 (OK) and §4 (Independence). Conditions and right-hand sides are read in the state before the
call, observations in the state after its own writes; generators are expanded. Every fluent that a clause reads is
recorded. An instance with an undefined condition, argument or value does not take place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cfrc.model.canon import canonical, default_value, needs_canonical
from cfrc.model.domain import Domain, Effect, EffectClause, Fluent, FluentClause, Tool
from cfrc.model.evaluate import Env, Reader, Undefined, elements, equal, evaluate, holds
from cfrc.model.expr import Apply, Expr, FluentRead, Generator, Var, walk
from cfrc.model.footprint import WILD, Footprint, Mode, Wild
from cfrc.model.types import AnyType, Optional, Type
from cfrc.model.values import Value

Instance = tuple[str, tuple[Value, ...]]
"""An effect identity or a fluent instance: name and canonical arguments."""

Pattern = tuple[str, tuple[Value | Wild, ...]]

World = Mapping[Instance, Value]


class Write(NamedTuple):
    """A fluent write. ``before`` is the value in the pre-state; ``increment``: it adds to whatever the fluent holds."""

    fluent: str
    args: tuple[Value, ...]
    value: Value
    before: Value
    increment: bool

    @property
    def held(self) -> bool:
        """Whether the fluent already has the value: then the write is a read."""
        return equal(self.value, self.before)


@dataclass(slots=True)
class Instances:
    """What one call does, in clause order. ``reads`` are the fluent instances that it depended on."""

    causes: list[Instance] = field(default_factory=list)
    undoes: list[Pattern] = field(default_factory=list)
    witnesses: list[Instance] = field(default_factory=list)
    refutes: list[Pattern] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    observes: list[tuple[str, tuple[Value, ...], Value]] = field(default_factory=list)
    reads: set[Instance] = field(default_factory=set)


class Signatures:
    """The declared argument types of a domain's effects and fluents, as far as values of them have canonical forms."""

    __slots__ = ("_defaults", "_effects", "_fluents", "_types", "domain")

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._effects = {n: _needing(e.params) for n, e in domain.effects.items()}
        self._fluents = {n: _needing(f.params) for n, f in domain.fluents.items()}
        self._types = {**_types(domain.fluents, "fluent"), **_types(domain.effects, "effect")}
        self._defaults = {n: default_value(f.type) for n, f in domain.fluents.items()}

    def effect(self, name: str, args: tuple[Value | Wild, ...]) -> tuple[Value | Wild, ...]:
        """Effect arguments in canonical form."""
        types = self._effects[name]
        if types is None:
            return args
        return tuple(a if isinstance(a, Wild) else canonical(t, a) for a, t in zip(args, types, strict=True))

    def fluent(self, name: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """Fluent arguments in canonical form."""
        types = self._fluents[name]
        return args if types is None else tuple(canonical(t, a) for a, t in zip(args, types, strict=True))

    def pattern(self, kind: str, name: str, args: tuple[Value | Wild, ...]) -> tuple[Value | Wild, ...]:
        """The arguments of an ``effect`` or ``fluent`` pattern in canonical form."""
        types = self._types[kind, name]
        return tuple(a if isinstance(a, Wild) else canonical(t, a) for a, t in zip(args, types, strict=True))

    def present(self, kind: str, name: str, args: tuple[Value | Wild, ...]) -> bool:
        """Whether no argument is absent where a value is needed (then there is no such instance)."""
        if None not in args:
            return True
        types = self._types[kind, name]
        return all(a is not None or isinstance(t, Optional | AnyType) for a, t in zip(args, types, strict=True))

    def lookup(self, world: World, fluent: str, args: tuple[Value, ...]) -> Value:
        """A fluent's value in a world; ``LookupError`` for an unknown fluent or an absent argument."""
        if None in args and not self.present("fluent", fluent, args):
            raise LookupError(fluent)
        key = (fluent, self.fluent(fluent, args))
        return world[key] if key in world else self._defaults[fluent]

    def reader(self, world: World) -> Reader:
        """The fluents of a world as expressions read them."""
        return lambda fluent, args: self.lookup(world, fluent, args)

    def key(self, effect: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """The declared key of an effect identity."""
        return tuple([args[i] for i in self.domain.effects[effect].key])


def _types(declared: Mapping[str, Fluent] | Mapping[str, Effect], kind: str) -> dict[tuple[str, str], tuple[Type, ...]]:
    return {(kind, n): tuple(t for _, t in d.params) for n, d in declared.items()}


def _needing(params: tuple[tuple[str, Type], ...]) -> tuple[Type, ...] | None:
    return tuple(t for _, t in params) if any(needs_canonical(t) for _, t in params) else None


def _bindings(generators: tuple[Generator, ...], env: Env) -> Iterator[Env]:
    """An environment for every binding of the generators; none where a source is undefined."""
    if not generators:
        yield env
        return
    head, rest = generators[0], generators[1:]
    try:
        items = elements(evaluate(head.source, env), head.source)
    except Undefined:
        return
    for item in items:
        yield from _bindings(rest, env.child({("bound", head.var): item}))


def _effects(clauses: tuple[EffectClause, ...], env: Env, sig: Signatures) -> Iterator[Pattern]:
    for clause in clauses:
        for inner in _bindings(clause.generators, env) if clause.generators else (env,):
            try:
                if clause.when is not None and not holds(clause.when, inner):
                    continue
                args = tuple([WILD if a is None else evaluate(a, inner) for a in clause.args])
            except Undefined:
                continue
            if sig.present("effect", clause.effect, args):
                yield clause.effect, sig.effect(clause.effect, args)


def _ground(patterns: Iterator[Pattern]) -> Iterator[Instance]:
    """``causes`` and ``witnesses`` have no wildcards; a domain that has one anyway gets no instance from it."""
    for name, args in patterns:
        yield name, tuple([a for a in args if not isinstance(a, Wild)])


def _delta(clause: FluentClause) -> Expr | None:
    """The amount of ``f(x) = f(x) + e`` and its kin; ``None`` when the clause is no increment."""
    value = clause.value
    if not isinstance(value, Apply) or value.op not in ("+", "-"):
        return None
    for own, amount in (value.args, tuple(reversed(value.args))):
        same = isinstance(own, FluentRead) and own.fluent == clause.fluent and own.args == clause.args
        if same and (own is value.args[0] or value.op == "+"):
            return amount
    return None


def _write(clause: FluentClause, env: Env, raw: Reader, sig: Signatures) -> Write:
    args = sig.fluent(clause.fluent, tuple([evaluate(a, env) for a in clause.args]))
    try:
        before = raw(clause.fluent, args)
    except LookupError:
        if not sig.present("fluent", clause.fluent, args):
            raise Undefined(clause.value) from None
        before = None  # nobody knows the old value: the new one may be known all the same
    delta = _delta(clause)
    if delta is None:
        value = evaluate(clause.value, env)
    else:
        # The amount is read (and recorded); the fluent's own old value is not a read: increments commute.
        evaluate(delta, env)
        value = evaluate(clause.value, env.child(read=raw))
    declared = sig.domain.fluents[clause.fluent].type
    if value is None and not isinstance(declared, Optional | AnyType):
        raise Undefined(clause.value)
    value = canonical(declared, value)
    return Write(clause.fluent, args, value, before, delta is not None)


def _writes(clauses: tuple[FluentClause, ...], env: Env, raw: Reader, sig: Signatures) -> Iterator[Write]:
    for clause in clauses:
        for inner in _bindings(clause.generators, env) if clause.generators else (env,):
            try:
                if clause.when is not None and not holds(clause.when, inner):
                    continue
                write = _write(clause, inner, raw, sig)
            except Undefined:
                continue
            yield write


def recording(read: Reader, reads: set[Instance]) -> Reader:
    """A reader that notes every instance it is asked for."""

    def note(fluent: str, args: tuple[Value, ...]) -> Value:
        reads.add((fluent, args))
        return read(fluent, args)

    return note


def call_instances(
    tool: Tool, env: Env, read: Reader, sig: Signatures, reads: set[Instance] | None = None
) -> Instances:
    """What a successful call does. ``env`` holds its parameters and result, ``read`` the fluents of the pre-state.

    ``reads`` may already hold what ``requires`` and ``approved`` read.
    """
    found = Instances(reads=set() if reads is None else reads)
    env.read = recording(read, found.reads)
    if tool.undoes:
        found.undoes.extend(_effects(tool.undoes, env, sig))
    if tool.causes:
        found.causes.extend(_ground(_effects(tool.causes, env, sig)))
    if tool.sets:
        found.writes.extend(_writes(tool.sets, env, read, sig))
    if tool.witnesses:
        found.witnesses.extend(_ground(_effects(tool.witnesses, env, sig)))
    if tool.refutes:
        found.refutes.extend(_effects(tool.refutes, env, sig))
    if tool.observes:
        _observe(tool, env, read, sig, found)
    return found


def _observe(tool: Tool, env: Env, read: Reader, sig: Signatures, found: Instances) -> None:
    """Observations, read in the state after the call's own writes."""
    own = {(w.fluent, w.args): w.value for w in found.writes}
    after: Reader = read
    if own:

        def after(fluent: str, args: tuple[Value, ...]) -> Value:
            key = (fluent, sig.fluent(fluent, args))
            return own[key] if key in own else read(fluent, args)

    inner = env.child(read=recording(after, found.reads))
    for w in _writes(tool.observes, inner, after, sig):
        found.observes.append((w.fluent, w.args, w.value))
        found.reads.add((w.fluent, w.args))


def failure_instances(tool: Tool, env: Env, sig: Signatures) -> list[Pattern]:
    """What a failed call may have caused all the same (``failure may cause …``). What depends on the missing result
    counts as possible: an undefined condition as true, an undefined argument as any value."""
    found: list[Pattern] = []
    for clause in tool.may_cause:
        if any(isinstance(v, Var) and v.kind == "result" for g in clause.generators for v in walk(g.source)):
            found.append((clause.effect, (WILD,) * len(clause.args)))
            continue
        for inner in _bindings(clause.generators, env):
            if clause.when is None or _attempt(clause.when, inner, True) is not False:
                args = tuple(WILD if a is None else _attempt(a, inner, WILD) for a in clause.args)
                found.append((clause.effect, sig.effect(clause.effect, args)))
    return found


def _attempt(e: Expr, env: Env, otherwise: Value | Wild) -> Value | Wild:
    try:
        return evaluate(e, env)
    except Undefined:
        return otherwise


def call_footprint(
    tool: Tool, found: Instances, sig: Signatures, in_doubt: Callable[[Instance], bool] = lambda _: False
) -> Footprint:
    """R and W of a call. ``in_doubt`` says which witnessed identities are in U: witnessing them reads their status."""
    result = Footprint(opaque=tool.undeclared)
    for fluent, args in found.reads:
        result.read(("fluent", fluent, sig.fluent(fluent, args)))
    for w in found.writes:
        result.write_fluent(("fluent", w.fluent, w.args), w.value, w.increment, w.held)
    for mode, patterns in _accesses(found):
        for effect, pattern in patterns:
            declared = sig.domain.effects[effect]
            # Realizing, undoing or refuting one identity of a `once` key bears on all identities with that key.
            touched = tuple([pattern[i] for i in declared.key]) if declared.once else pattern
            result.touch(mode, effect, touched, declared.once)
    for instance in found.witnesses:
        if in_doubt(instance):
            effect, declared = instance[0], sig.domain.effects[instance[0]]
            result.touch("refute", effect, sig.key(*instance) if declared.once else instance[1], declared.once)
    return result


def _accesses(found: Instances) -> Iterator[tuple[Mode, Sequence[Pattern]]]:
    yield "cause", found.causes
    yield "undo", found.undoes
    yield "witness", found.witnesses
    yield "refute", found.refutes
