"""Turns the arguments that a successor gave into sources: each literal part into the one place where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cfrc.handoff.closing.arguments import sourced
from cfrc.handoff.closing.leaves import Leaf
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.notes import Note
from cfrc.handoff.closing.sources import Found, Sources, exempt
from cfrc.model.contract import Contract
from cfrc.model.domain import Param
from cfrc.model.expr import Apply, Build, Expr, Lit, rebuild
from cfrc.model.graph import Call
from cfrc.model.show import show_value
from cfrc.model.types import BOOL

MOST = 8
"""How many places of one value are expected to agree; a value that stands at more is left without a source."""


@dataclass(slots=True)
class Bound:
    """The calls with a source for every argument (see :class:`cfrc.handoff.closing.made.WithSources`)."""

    calls: tuple[Made, ...]
    args: dict[int, dict[str, Expr]] = field(default_factory=dict)
    cut: int = 0


class Passed:
    """The calls with their sources. ``tied`` are equalities that a call relies on, because its value stood at several
    places."""

    def __init__(self, contract: Contract, calls: Sequence[Made], draft: Mapping[str, Call]) -> None:
        self.draft = draft
        self.notes: list[Note] = []
        self.tied: list[tuple[Made, Expr]] = []
        self.bound = Bound(tuple(calls))
        self.sources = Sources(contract, self.bound.calls)
        for call in calls:
            self.bound.args[call.index] = dict(self._arguments(call))

    def _arguments(self, call: Made) -> Iterator[tuple[str, Expr]]:
        for name, given in self.draft[call.id].args.items():
            param = call.tool.param(name) if call.tool is not None else None
            yield name, given if param is None else self._bind(call, param, given)

    def _bind(self, call: Made, param: Param, given: Expr) -> Expr:
        """The given expression with every literal part replaced by its source; what is a source already stays."""
        match given:
            case Lit(value=value, type=type_):
                return sourced(value, type_, lambda leaf: self._source(call, param, leaf))
            case Build() | Apply():  # what is computed is computed of sources
                return rebuild(given, lambda e: self._bind(call, param, e))
        return given

    def _source(self, call: Made, param: Param, leaf: Leaf) -> Expr:
        literal = Lit(value=leaf.value, type=leaf.type)
        default = isinstance(param.default, Lit) and not leaf.steps and leaf.value == param.default.value
        if leaf.value is None or default or exempt(param, leaf.type):
            return literal
        found = self.sources.find(leaf, param, call)
        if found.spot is not None:
            return found.spot.expr
        self.notes.append(_unsourced(call, param, leaf, found))
        if found.verdict != "ambiguous" or len(found.spots) > MOST:
            return literal
        # Whichever is meant: as long as all say the same, it is the same value. Where they do not, nobody acts.
        first, *others = (s.expr for s in found.spots)
        self.tied += [(call, Apply(op="==", args=(first, other), type=BOOL)) for other in others]
        return first


def _unsourced(call: Made, param: Param, leaf: Leaf, found: Found) -> Note:
    what = f"`{call.id}` passes {show_value(leaf.value, leaf.type)} as `{param.name}`"
    places = ", ".join(f"`{s.shown}`" for s in found.spots[:6])
    match found.verdict:
        case "ambiguous":
            return Note(
                "CLO001", f"{what}, which stands at several places: {places}", call.id,
                'they are expected to agree; to say which is meant give a source as the argument: {"out": "…"}',
            )  # fmt: skip
        case "forbidden":
            return Note(
                "CLO002", f"{what}; it stands only where the parameter does not take it from: {places}", call.id
            )
        case "echo":
            return Note("CLO002", f"{what}; {places} only repeats an argument", call.id)
        case "prose":
            return Note(
                "CLO002", f"{what}; it stands only inside the text at {places}", call.id,
                "a graph cannot quote: read it before the freeze, where a contract can know it as quoted",
            )  # fmt: skip
    return Note("CLO002", f"{what}, which stands nowhere", call.id)


__all__ = ["Bound", "Passed"]
