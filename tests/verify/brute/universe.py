"""Turns a contract and a proposal into finite value sets: every literal in play, plus a few values that nobody named.

Identifiers know only equality, so literals and two fresh values per type show every pattern of equalities that small
graphs can tell apart; numbers get each constant, the points between, and one beyond either end.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from cfrc.model.contract import Contract
from cfrc.model.expr import Lit
from cfrc.model.graph import Call, Proposal
from cfrc.model.types import Enum, Id, Optional, Prim, RecordOf, Type
from cfrc.model.values import Record, Value, record

FRESH = 2
MIDPOINTS_UP_TO = 4


def leaves(t: Type, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Type]]:
    """The fields of a result type that are no records themselves, with their paths."""
    if isinstance(t, RecordOf):
        for name, inner in t.fields:
            yield from leaves(inner, (*path, name))
    else:
        yield path, t


@lru_cache(maxsize=1000)
def leaf_types(t: Type) -> dict[tuple[str, ...], Type]:
    return dict(leaves(t))


class Universe:
    """The values of each type over which brute force ranges."""

    def __init__(self, contract: Contract, proposal: Proposal) -> None:
        self.constants: dict[str, set[Value]] = {}
        self.symbolic: dict[str, int] = {}
        self.cache: dict[Type, tuple[Value, ...]] = {}
        self._gather(contract, proposal)

    def values(self, t: Type) -> tuple[Value, ...]:
        found = self.cache.get(t)
        if found is None:
            found = self.cache[t] = self._values(t)
        return found

    def _values(self, t: Type) -> tuple[Value, ...]:
        match t:
            case Id(name):
                known = sorted(str(v) for v in self.constants.get(name, ()))
                fresh = min(FRESH, self.symbolic.get(name, 0)) or (0 if known else 1)
                return (*known, *(f"~{name}{i}" for i in range(fresh)))
            case Enum(_, members):
                return members
            case Prim("bool"):
                return (False, True)
            case Prim("int"):
                numbers = sorted({int(v) for v in self.constants.get("int", ()) if isinstance(v, int)} | {0})
                return tuple(sorted({*numbers, numbers[0] - 1, numbers[-1] + 1}))
            case Prim("decimal"):
                return self._decimals()
            case Prim("text"):
                return ("~text",)
            case Prim(name):
                return (*sorted(str(v) for v in self.constants.get(name, ())), f"~{name}")
            case Optional(item):
                return (None, *self.values(item))
            case RecordOf(_, fields):
                names = [n for n, _ in fields]
                parts = [self.values(f) for _, f in fields]
                return tuple(record(dict(zip(names, vs, strict=True))) for vs in itertools.product(*parts))
        raise NotImplementedError(f"brute force does not range over {t}")

    def _decimals(self) -> tuple[Value, ...]:
        named = {Fraction(v) for v in self.constants.get("decimal", ()) if isinstance(v, int | Fraction)}
        points = sorted(named | {Fraction(0)})
        found = {*points, points[0] - 1, points[-1] + 1}
        if len(points) <= MIDPOINTS_UP_TO:
            found |= {(a + b) / 2 for a, b in itertools.pairwise(points)}
        return tuple(sorted(found))

    def _gather(self, contract: Contract, proposal: Proposal) -> None:
        for name in contract.names.values():
            self._add(name.type, name.value)
        d = contract.domain
        for kept in contract.kept:
            self._add_all(d.effects[kept.effect].params, kept.args)
        for doubt in contract.doubts:
            self._add_all(d.effects[doubt.effect].params, doubt.args)
            if doubt.call is not None:
                self._add_named(d, *doubt.call)
        for fact in contract.facts:
            self._add_all(d.fluents[fact.fluent].params, fact.args)
            self._add(d.fluents[fact.fluent].type, fact.value)
        for approval in contract.approvals:
            self._add_named(d, approval.tool, approval.args)
        for limit in contract.limits:
            self._add(Prim("decimal"), limit.bound)
        for lit in _literals((contract.obligations, contract.scope, contract.limits, proposal.nodes)):
            self._add(lit.type, lit.value)
        for lit in _literals((tuple(d.tools.values()),)):
            self._add(lit.type, lit.value)
        for node in proposal.nodes:
            if isinstance(node, Call) and node.tool in d.tools:
                self._count(d.tools[node.tool].result, node.polls)
        for fluent in d.fluents.values():
            self._count(fluent.type, 1)

    def _add_named(self, d: Any, tool: str, args: tuple[tuple[str, Value], ...]) -> None:
        for name, value in args:
            param = d.tools[tool].param(name) if tool in d.tools else None
            if param is not None:
                self._add(param.type, value)

    def _add_all(self, params: tuple[tuple[str, Type], ...], values: tuple[Value, ...]) -> None:
        for (_, t), v in zip(params, values, strict=True):
            self._add(t, v)

    def _add(self, t: Type, value: Value) -> None:
        match t:
            case Id(name) | Prim(name):
                self.constants.setdefault(name, set()).add(value)
            case Optional(item) if value is not None:
                self._add(item, value)
            case RecordOf(_, fields) if isinstance(value, Record):
                for name, inner in fields:
                    self._add(inner, value.get(name))

    def _count(self, t: Type, times: int) -> None:
        for _, leaf in leaves(t):
            inner = leaf.item if isinstance(leaf, Optional) else leaf
            if isinstance(inner, RecordOf):
                self._count(inner, times)
            elif isinstance(inner, Id):
                self.symbolic[inner.name] = self.symbolic.get(inner.name, 0) + times


def _literals(thing: Any) -> Iterator[Lit]:
    """Every literal inside model objects, whatever their shape."""
    if isinstance(thing, Lit):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from _literals(part)
    elif isinstance(thing, dict):
        yield from _literals(tuple(thing.values()))
    elif dataclasses.is_dataclass(thing):
        for f in dataclasses.fields(thing):
            if f.name not in ("span", "type"):
                yield from _literals(getattr(thing, f.name))
