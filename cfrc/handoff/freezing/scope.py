"""Turns open obligations into the tightest scope in which they can be discharged.

An obligation licenses its own instances. A tool that discharges it may write fluents or cause effects beside, and may
require a state that another tool has to set first: without licences for these no plan could be admitted. So each
allowed tool that can discharge an obligation brings what it writes, at the obligation's arguments where they are
known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cfrc.model.contract import Contract, EffectGoal, Licence, Obligation
from cfrc.model.domain import EffectClause, FluentClause, Tool
from cfrc.model.expr import Expr, FluentRead, Lit, Var, rebuild, walk
from cfrc.verify.spelled import spelled_out

DEPTH = 3
"""How many calls in a row may be needed to reach a state that a tool requires."""

Bound = Mapping[str, Expr | None]


def tight_scope(contract: Contract) -> tuple[Licence, ...] | None:
    """The licences of the contract's obligations; ``None`` where their own instances are enough (then none need be
    written)."""
    own: dict[Licence, None] = {}
    more: dict[Licence, None] = {}
    for o in contract.obligations:
        for g in o.goals:
            if isinstance(g, EffectGoal):
                own[_licence("effect", g.effect, g.args, o)] = None
                beside = _around_effect(contract, g)
            else:
                reads = list(_reads(g.condition))
                own.update({_licence("fluent", r.fluent, _patterns(r.args), o): None for r in reads})
                beside = (x for r in reads for x in _around_fluent(contract, r.fluent, r.args, 0))
            for kind, name, args in beside:
                more[_licence(kind, name, args, o)] = None
    extra = [x for x in more if x not in own]
    return (*own, *extra) if extra else None


def is_tight(contract: Contract) -> bool:
    """Whether the contract's scope is the one that its obligations imply, so that it goes on with them."""
    if contract.scope is None:
        return True
    own = replace(contract, scope=tight_scope(contract))
    mine, theirs = spelled_out(contract).scope, spelled_out(own).scope
    return theirs is not None and set(mine or ()) == set(theirs)


def _licence(kind: str, name: str, args: tuple[Expr | None, ...], o: Obligation) -> Licence:
    used = {x.name for a in args if a is not None for x in walk(a) if isinstance(x, Var) and x.kind == "exists"}
    effect = kind == "effect"
    if used:
        return Licence("effect" if effect else "fluent", name, args, o.exists, o.where)
    return Licence("effect" if effect else "fluent", name, args)


Place = tuple[str, str, tuple[Expr | None, ...]]


def _around_effect(contract: Contract, goal: EffectGoal) -> Iterator[Place]:
    for tool in _allowed(contract):
        for clause in (*tool.causes, *tool.witnesses):
            if clause.effect == goal.effect:
                bound = _bind(tool, clause, goal.args)
                yield from _beside(tool, bound, clause)
                yield from _required(contract, tool, bound, 0)


def _around_fluent(contract: Contract, fluent: str, args: tuple[Expr, ...], depth: int) -> Iterator[Place]:
    """What the tools that set a fluent instance write beside it."""
    for tool in _allowed(contract):
        for clause in tool.sets:
            if clause.fluent == fluent and (depth == 0 or not (tool.causes or tool.undoes)):
                bound = _bind(tool, clause, args)
                yield from _beside(tool, bound, clause)
                yield from _required(contract, tool, bound, depth)


def _required(contract: Contract, tool: Tool, bound: Bound, depth: int) -> Iterator[Place]:
    """The fluents that a tool requires, where an allowed tool that only sets fluents can bring them about."""
    if depth >= DEPTH:
        return
    for condition in tool.requires:
        for read in _reads(condition):
            setters = [
                t for t in _allowed(contract)
                if t is not tool and not t.causes and not t.undoes and any(s.fluent == read.fluent for s in t.sets)
            ]  # fmt: skip
            args = tuple(_given(a, bound) for a in read.args)
            if setters:
                yield "fluent", read.fluent, args
                known = tuple(a for a in args if a is not None)
                if len(known) == len(args):
                    yield from _around_fluent(contract, read.fluent, known, depth + 1)


def _allowed(contract: Contract) -> list[Tool]:
    return [contract.domain.tools[t] for t in contract.allow if t in contract.domain.tools]


def _beside(tool: Tool, bound: Bound, own: EffectClause | FluentClause) -> Iterator[Place]:
    for s in tool.sets:
        if s is not own or s.generators:
            yield "fluent", s.fluent, tuple(_given(a, bound) for a in s.args)
    for c in tool.causes:
        if c is not own:
            yield "effect", c.effect, tuple(None if a is None else _given(a, bound) for a in c.args)


def _bind(tool: Tool, clause: EffectClause | FluentClause, args: tuple[Expr | None, ...]) -> Bound:
    """What the obligation's arguments say of the tool's parameters."""
    found: dict[str, Expr | None] = {}
    for have, want in zip(clause.args, args, strict=True):
        if isinstance(have, Var) and have.kind == "param" and want is not None:
            found.setdefault(have.name, want)
    return found


def _given(a: Expr, bound: Bound) -> Expr | None:
    """A clause's argument in the obligation's words; ``None`` (any) where these do not say it."""
    for x in walk(a):
        if isinstance(x, FluentRead) or (isinstance(x, Var) and (x.kind != "param" or bound.get(x.name) is None)):
            return None
    return _put(a, bound)


def _put(a: Expr, bound: Bound) -> Expr:
    if isinstance(a, Var):
        given = bound[a.name]
        assert given is not None
        return given
    return a if isinstance(a, Lit) else rebuild(a, lambda x: _put(x, bound))


def _reads(e: Expr) -> Iterator[FluentRead]:
    yield from (x for x in walk(e) if isinstance(x, FluentRead))


def _patterns(args: tuple[Expr, ...]) -> tuple[Expr | None, ...]:
    """Arguments as a pattern: what a comprehension ranges over is any value, and so is what the state decides."""
    return tuple(
        None if any(isinstance(x, FluentRead) or (isinstance(x, Var) and x.kind == "bound") for x in walk(a)) else a
        for a in args
    )
