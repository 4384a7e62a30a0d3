"""Turns the recorded arguments of remaining calls into sources: names of the contract, paths into results, literals."""

from __future__ import annotations

from dataclasses import dataclass, field

from cfrc.adapters.runs import TaskRun
from cfrc.adapters.sources import Place, Places, Support, allows, exempt, mentions
from cfrc.handoff.closing.arguments import sourced
from cfrc.handoff.closing.leaves import Leaf, leaves, project
from cfrc.handoff.closing.made import Made
from cfrc.model.contract import Name, Origin
from cfrc.model.domain import Param
from cfrc.model.expr import Expr, Lit, NodeResult, Var
from cfrc.model.types import Id, Type
from cfrc.model.values import Value

OTHERS = 2
"""How many unused values of each identifier type the contract knows beside the used ones: the remainder must not need
them, and a checker must tell them apart."""


@dataclass(frozen=True, slots=True)
class Use:
    """One value that a remaining call passes, and where it comes from."""

    call: Made
    param: Param
    leaf: Leaf
    support: Support
    place: Place | None


@dataclass(slots=True)
class Arguments:
    """Sources for all arguments of the calls from ``cut`` on, and the contract names they use."""

    run: TaskRun
    cut: int
    places: Places = field(init=False)
    args: dict[int, dict[str, Expr]] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    _names: dict[tuple[Value, Type, int, tuple[str, ...]], tuple[str, Place]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[Made, ...]:
        return self.run.calls

    def __post_init__(self) -> None:
        self.places = Places(self.run, self.cut)
        for call in self.run.calls[self.cut :]:
            if call.tool is None:
                continue
            self.args[call.index] = {p.name: self._value(call, p) for p in call.tool.params if p.name in call.args}
        for call in self.run.calls[: self.cut]:
            self._accepted(call)

    def _accepted(self, call: Made) -> None:
        """What the request says and a call before the cut passed was accepted, and stays so."""
        for p in call.tool.params if call.tool is not None and call.problem is None else ():
            if p.name in call.args:
                for leaf in leaves(call.args[p.name], p.type):
                    place = Place(None, Leaf(leaf.value, leaf.type))
                    if (
                        not exempt(p, leaf.type)
                        and mentions(self.run.request, leaf.value, leaf.type)
                        and allows(p, place)
                    ):
                        self._name(place, p.name)

    def _value(self, call: Made, p: Param) -> Expr:
        return sourced(call.args[p.name], p.type, lambda leaf: self._leaf(call, p, leaf))

    def _leaf(self, call: Made, p: Param, leaf: Leaf) -> Expr:
        default = isinstance(p.default, Lit) and not leaf.steps and leaf.value == p.default.value
        if leaf.value is None or default or exempt(p, leaf.type):
            return Lit(value=leaf.value, type=leaf.type)
        found = self.places.find(leaf, p, call)
        self.uses.append(Use(call, p, leaf, found.support, found.place))
        if found.place is None:
            return Lit(value=leaf.value, type=leaf.type)
        return self.source(found.place, p.name)

    def source(self, place: Place, hint: str = "value") -> Expr:
        """A name of the contract for what stands before the cut, a path into a result for what is read later."""
        if place.index < self.cut:
            return Var(name=self._name(place, hint), kind="name", type=place.leaf.type)
        assert place.call is not None and place.call.tool is not None
        return project(NodeResult(node=place.call.id, type=place.call.tool.result), place.leaf.steps)

    def _name(self, place: Place, hint: str = "value") -> str:
        key = (place.leaf.value, place.leaf.type, place.index, place.leaf.names)
        if key not in self._names:
            base = place.leaf.type.name.lower() if isinstance(place.leaf.type, Id) else hint
            self._counts[base] = self._counts.get(base, 0) + 1
            self._names[key] = (f"{base}{self._counts[base]}", place)
        return self._names[key][0]

    # -- the contract's names ---------------------------------------------------------------------------------------

    def names(self) -> dict[str, Name]:
        """All names. What the user said is a binding, as tight as the remaining calls allow (:meth:`_binding`)."""
        self._unused()
        found: dict[str, Name] = {}
        for name, place in self._names.values():
            if place.call is None:
                fixed, targets = self._binding(place.leaf)
                origin = Origin("user", turn=1)
            else:
                fixed, targets = False, ()
                origin = Origin("receipt", receipt=place.call.id, tool=place.call.name, path=place.leaf.names)
            found[name] = Name(name, place.leaf.type, place.leaf.value, fixed, origin, targets)
        return found

    def _unused(self) -> None:
        """Names for a few real values that the remainder does not use."""
        types = {u.leaf.type for u in self.uses if isinstance(u.leaf.type, Id)}
        used = {u.leaf.value for u in self.uses}
        for type_ in sorted(types, key=str):
            for n, place in enumerate(self.places.others(type_, used)):
                if n < OTHERS:
                    self._name(place)

    def _binding(self, leaf: Leaf) -> tuple[bool, tuple[tuple[str, str], ...]]:
        """Whether, and for which parameters, a value of the request binds.

        An identifier binds its whole type when the remaining calls use no other value of the type than requested ones.
        Otherwise, as every value that is no identifier, it binds the parameters that only ever get this value. What
        binds neither way was mentioned and is known.
        """
        same = [u for u in self.uses if u.leaf.type == leaf.type]
        if isinstance(leaf.type, Id) and all(u.place is not None and u.place.call is None for u in same):
            return True, ()
        here = {
            (call.name, p.name)
            for call in self.run.calls
            for p in (call.tool.params if call.tool is not None else ())
            if p.type == leaf.type and call.args.get(p.name) == leaf.value
        }
        targets = tuple(sorted(t for t in here if all(v == leaf.value for v in self._passed(t))))
        return bool(targets), targets

    def _passed(self, target: tuple[str, str]) -> list[Value]:
        return [
            leaf.value
            for call in self.run.calls
            if call.name == target[0] and call.tool is not None and target[1] in call.args
            for p in [call.tool.param(target[1])]
            if p is not None
            for leaf in leaves(call.args[target[1]], p.type)
        ]
