"""Turns a write that nobody knows the outcome of into reads that settle it, and their receipts into an answer.

``docs/semantics.md`` §2: an in-doubt write is settled by a declared witness or refutation, never by trying
again. Only an effect that the call would certainly have had tells whether it took place, and only if it was not there
before. All of them have to say the same: a call of which one effect is there and another is not was partly done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cfrc.model.domain import EffectClause, Tool
from cfrc.model.evaluate import Env, Undefined, elements, equal, evaluate, holds
from cfrc.model.expr import Expr, Generator, Lit, Var, walk
from cfrc.model.footprint import matches
from cfrc.model.instances import Instance, Signatures
from cfrc.model.machine import Machine
from cfrc.model.plan import full_args
from cfrc.model.receipts import World
from cfrc.model.values import Value

Read = tuple[Tool, dict[str, Value]]


@dataclass(slots=True)
class Settlement:
    """The reads that are left, and for each certain effect whether it is there (``None``: not told yet)."""

    reads: list[Read]
    effects: dict[Instance, bool | None] = field(default_factory=dict)

    def learn(self, machine: Machine, read: Read, result: Value) -> None:
        """Takes the receipt of a read into account."""
        tool, args = read
        told = World(machine.plan.contract.domain)
        told.values = dict(machine.state.world)
        found = told.take(tool, args, result, "success")
        for effect, where in self.effects:
            witnessed = (effect, where) in found.witnessed
            refuted = any(p[0] == effect and matches(p[1], where) for p in found.refuted)
            if witnessed != refuted:
                self.effects[effect, where] = witnessed

    @property
    def happened(self) -> bool | None:
        """Whether the call took place; ``None`` where nobody knows, or only partly."""
        told = set(self.effects.values())
        return told.pop() if len(told) == 1 else None


def settlement(machine: Machine, tool: Tool, args: dict[str, Value]) -> Settlement | None:
    """How to find out whether a call took place; ``None`` where no declared read of the contract can tell."""
    effects = dict.fromkeys(_certain(machine, tool, args))
    if not effects or any(machine.state.is_realized(i) for i in effects):
        return None
    reads: list[Read] = []
    for effect, where in effects:
        read = _read_for(machine, effect, where)
        if read is None:
            return None
        if read not in reads:
            reads.append(read)
    return Settlement(reads, {i: None for i in effects})


def _certain(machine: Machine, tool: Tool, args: dict[str, Value]) -> Iterator[Instance]:
    """The effects that the call has for sure when it takes place, as far as they do not depend on its result."""
    env = Env({("param", n): v for n, v in args.items()}, read=machine.read)
    sig: Signatures = machine.plan.sig
    for clause in tool.causes:
        for inner in _bindings(clause.generators, env):
            try:
                if holds(clause.when, inner):
                    where = tuple([evaluate(a, inner) for a in clause.args if a is not None])
                    if sig.present("effect", clause.effect, where):
                        yield clause.effect, sig.effect(clause.effect, where)  # type: ignore[misc]  # ground stays ground
            except Undefined:
                continue


def _bindings(generators: tuple[Generator, ...], env: Env) -> Iterator[Env]:
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


def _read_for(machine: Machine, effect: str, where: tuple[Value, ...]) -> Read | None:
    """A read that the contract allows and that tells about one effect; best one that can say both yes and no."""
    plan = machine.plan
    best: tuple[int, Read] | None = None
    for name in plan.contract.allow:
        tool = plan.contract.domain.tools.get(name)
        if tool is None or tool.writes or tool.requires or tool.approved is not None or name in plan.denials:
            continue
        for given in _aims(tool, effect, where):
            sides = sum(any(_aim(c, effect, where) == given for c in cs) for cs in (tool.witnesses, tool.refutes))
            args = full_args(tool, tuple(given.items()))
            if args.keys() == {p.name for p in tool.params} and (best is None or sides > best[0]):
                best = sides, (tool, args)
    return best[1] if best is not None else None


def _aims(tool: Tool, effect: str, where: tuple[Value, ...]) -> Iterator[Mapping[str, Value]]:
    for clause in (*tool.witnesses, *tool.refutes):
        given = _aim(clause, effect, where)
        if given is not None:
            yield given


def _aim(clause: EffectClause, effect: str, where: tuple[Value, ...]) -> dict[str, Value] | None:
    """The arguments with which a clause of a read is about the effect; ``None`` if it can never be."""
    if clause.effect != effect or clause.generators:
        return None
    given: dict[str, Value] = {}
    for a, value in zip(clause.args, where, strict=True):
        match a:
            case None:
                continue
            case Var(name=name, kind="param"):
                if not equal(given.setdefault(name, value), value):
                    return None
            case Lit(value=said):
                if not equal(said, value):
                    return None
            case _:
                if not _of_result(a):
                    return None
    return given


def _of_result(e: Expr) -> bool:
    return any(isinstance(x, Var) and x.kind == "result" for x in walk(e))
