"""Turns what a whole run changed into ground obligations and their scope.

Effects are owed in recorded values. Bookkeeping of the session (what was read, what was previewed) is licensed, never
owed; so is what a write sets besides its effects.
"""

from __future__ import annotations

from cfrc.adapters.arguments import Arguments
from cfrc.adapters.goals import Exists, Goals, Owed
from cfrc.handoff.closing.history import Deed, History
from cfrc.handoff.closing.made import Made
from cfrc.model.contract import EffectGoal, Licence, Obligation
from cfrc.model.domain import FluentClause
from cfrc.model.expr import Expr, Lit, Var, walk
from cfrc.model.types import TEXT, Type
from cfrc.model.values import Value


class Ground(Goals):
    """What the successful writes changed, in recorded values; bookkeeping of the session is licensed, never owed."""

    def __init__(self, history: History, arguments: Arguments) -> None:
        self.owed: list[Owed] = []
        self.licences: list[Licence] = []
        self.arguments, self.domain = arguments, history.domain
        for call in arguments.run.calls:
            if call.usable:
                self._changed(call, history.deeds[call.index])

    def _changed(self, call: Made, deed: Deed) -> None:
        for n, (clause, values) in enumerate(deed.causes):
            types = [t for _, t in self.domain.effects[clause.effect].params]
            args = tuple(None if t == TEXT else self._said(v, t) for v, t in zip(values, types, strict=True))
            goal = EffectGoal(clause.effect, args)
            self.owed.append(Owed(Obligation(f"owed{call.index}" + (f"_{n}" if n else ""), (goal,)), call, Exists()))
            self._allow(Licence("effect", clause.effect, args))
        for set_, at in deed.sets:
            types = [t for _, t in self.domain.fluents[set_.fluent].params]
            ground = None if at is None or not deed.causes or _told_by_result(set_) else at
            wild: tuple[Expr | None, ...] = (None,) * len(types)
            named = wild if ground is None else tuple(map(self._said, ground, types))
            self._allow(Licence("fluent", set_.fluent, named))

    def _said(self, value: Value, type_: Type) -> Expr:
        """The value, by the contract's name for it if the user said it."""
        for use in self.arguments.uses:
            if use.leaf.value == value and use.leaf.type == type_ and use.place is not None and use.place.call is None:
                return self.arguments.source(use.place)
        return Lit(value=value, type=type_)

    def _allow(self, licence: Licence) -> None:
        if licence not in self.licences:
            self.licences.append(licence)


def _told_by_result(clause: FluentClause) -> bool:
    """Whether only the receipt tells which instances the clause sets."""
    parts = (*clause.args, *(g.source for g in clause.generators))
    return any(isinstance(x, Var) and x.kind == "result" for e in parts for x in walk(e))
