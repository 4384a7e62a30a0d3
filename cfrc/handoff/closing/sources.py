"""Turns a value that a call passes into the places where it may have come from: contract names and earlier receipts.

A field that merely repeats an argument is no place: the tool says so (``echoes``), ``ensures`` says so, or its value
was given to that very call. Between several places nobody guesses: a name of the contract stands for its frozen
value, whichever of two equal ones is taken; several different receipts are *ambiguous*, and that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cfrc.handoff.closing.leaves import Leaf, Step, echoes, leaves, project
from cfrc.handoff.closing.made import Made
from cfrc.model.contract import Contract, Name, Origin
from cfrc.model.domain import Param, Tool
from cfrc.model.expr import Expr, NodeResult, Var
from cfrc.model.provenance import allows, refuses_quote, same_args
from cfrc.model.types import BOOL, TEXT, Enum, Id, Prim, Type, fits
from cfrc.model.values import Value

Verdict = Literal["found", "ambiguous", "forbidden", "echo", "prose", "none"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A leaf of a contract name's value, or of a call's result."""

    leaf: Leaf
    name: Name | None = None
    call: Made | None = None

    @property
    def expr(self) -> Expr:
        if self.name is not None:
            return project(Var(name=self.name.name, kind="name", type=self.name.type), self.leaf.steps)
        assert self.call is not None and self.call.tool is not None
        return project(NodeResult(node=self.call.id, type=self.call.tool.result), self.leaf.steps)

    @property
    def shown(self) -> str:
        """How a report names the place."""
        if self.name is not None:
            return ".".join((self.name.name, *self.leaf.names))
        assert self.call is not None
        return f"{self.call.id}{_path(self.leaf.steps)}"


@dataclass(frozen=True, slots=True)
class Found:
    """``spot`` where one was found; otherwise the ``spots`` that were looked at (and not taken)."""

    verdict: Verdict
    spot: Spot | None = None
    spots: tuple[Spot, ...] = ()


def exempt(param: Param, type_: Type) -> bool:
    """Whether a literal of this type needs no source (``docs/semantics.md`` §3, grounding)."""
    return param.free or type_ in (TEXT, BOOL) or isinstance(type_, Enum) or param.type == TEXT


class Sources:
    """All places of one contract and the calls made under it."""

    def __init__(self, contract: Contract, calls: Sequence[Made]) -> None:
        self.contract = contract
        self.calls = calls
        self.named: dict[Value, list[Spot]] = {}
        self.shown: dict[Value, list[Spot]] = {}
        self.echoed: dict[Value, list[Spot]] = {}
        for name in contract.names.values():
            for leaf in leaves(name.value, name.type):
                if leaf.reachable:
                    self.named.setdefault(leaf.value, []).append(Spot(leaf, name=name))
        for call in calls:
            if call.usable and call.tool is not None and not call.tool.grounds_nothing:
                self._results(call, call.tool)

    def _results(self, call: Made, tool: Tool) -> None:
        mere = echoes(tool)
        given = {x.value for p in tool.params if p.name in call.args for x in leaves(call.args[p.name], p.type)}
        for leaf in leaves(call.result, tool.result):
            if leaf.reachable:
                echo = leaf.names in mere or leaf.value in given
                (self.echoed if echo else self.shown).setdefault(leaf.value, []).append(Spot(leaf, call=call))

    def find(self, leaf: Leaf, param: Param, call: Made) -> Found:
        """The one place for a value that ``call`` passes as (part of) ``param``, or why there is none."""
        named = [s for s in self.named.get(leaf.value, ()) if _typed(s.leaf.type, leaf.type)]
        earlier = [s for s in self.shown.get(leaf.value, ()) if _before(s, call) and _typed(s.leaf.type, leaf.type)]
        taken = [s for s in named if self._allowed(s, param, call)]
        if taken:
            return Found("found", min(taken, key=lambda s: not (s.name is not None and s.name.fixed)))
        fresh = _latest([s for s in earlier if self._allowed(s, param, call)])
        if len(fresh) == 1:
            return Found("found", fresh[0])
        if fresh:
            return Found("ambiguous", None, tuple(fresh))
        if named or earlier:
            return Found("forbidden", None, tuple((*named, *earlier)))
        mere = [s for s in self.echoed.get(leaf.value, ()) if _before(s, call)]
        if mere:
            return Found("echo", None, tuple(mere))
        prose = tuple(self._quoting(leaf, call))
        return Found("prose" if prose else "none", None, prose)

    def _allowed(self, spot: Spot, param: Param, call: Made) -> bool:
        origin = self._origin(spot)
        if origin is None:
            return False
        return self._trusted(origin, param, call) or (allows(param, origin) and not refuses_quote(param, origin))

    def _origin(self, spot: Spot) -> Origin | None:
        if spot.name is not None:
            o = spot.name.origin
            return None if o is None else replace(o, path=(*o.path, *spot.leaf.names))
        assert spot.call is not None and spot.call.tool is not None
        args = tuple(spot.call.args.get(p.name) for p in spot.call.tool.params)
        return Origin("receipt", receipt=spot.call.id, tool=spot.call.name, path=spot.leaf.names, args=args)

    def _trusted(self, origin: Origin, param: Param, call: Made) -> bool:
        return origin.kind == "receipt" and any(
            (t.tool, t.for_tool, t.for_param) == (origin.tool, call.name, param.name) and same_args(t.args, origin.args)
            for t in self.contract.trusts
        )

    def _quoting(self, leaf: Leaf, call: Made) -> Iterator[Spot]:
        """Where the value stands inside longer text: nothing that a graph can say."""
        if isinstance(leaf.value, str) and len(leaf.value) > 3 and isinstance(leaf.type, Id | Prim):
            for value, spots in self.shown.items():
                if isinstance(value, str) and leaf.value in value:
                    yield from (s for s in spots if _before(s, call))


def _typed(have: Type, wanted: Type) -> bool:
    return have == wanted or fits(have, wanted)


def _before(spot: Spot, call: Made) -> bool:
    return spot.call is not None and spot.call.index < call.index


def _latest(spots: list[Spot]) -> list[Spot]:
    """Of the same place in repetitions of one call, the latest."""
    found: dict[object, Spot] = {}
    for s in spots:
        assert s.call is not None
        found[s.call.name, tuple(sorted(s.call.args.items(), key=lambda a: a[0])), s.leaf.steps] = s
    return list(found.values())


def _path(steps: tuple[Step, ...]) -> str:
    return "".join(f".{what}" if kind == "field" else f"[{what!r}]" for kind, what in steps)


__all__ = ["Found", "Sources", "Spot", "exempt"]
