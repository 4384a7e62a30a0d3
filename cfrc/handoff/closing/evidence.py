"""Turns calls and their results into the obligations that they discharge, and by which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cfrc.handoff.closing.made import Made
from cfrc.handoff.freezing.past import active, past_of
from cfrc.model.contract import Contract, EffectGoal, Obligation
from cfrc.model.coverage import Evidence
from cfrc.model.evaluate import Env
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.matching import Quantified, solutions
from cfrc.model.values import Value
from cfrc.verify.discharged import Discharges


@dataclass(frozen=True, slots=True)
class By:
    """How one obligation is discharged: its alternative, and the receipts (none for a state)."""

    goal: int
    items: tuple[Evidence, ...]
    nodes: tuple[str, ...]


@dataclass(slots=True)
class Evidenced:
    """``missing`` are the active obligations that the calls leave open, ``idle`` those whose ``if`` is false."""

    chosen: dict[str, By]
    missing: tuple[str, ...]
    idle: frozenset[str]
    env: Env

    def binding(self, o: Obligation, call: Made) -> dict[str, Value]:
        """The values that the existentials have in the discharge by this call."""
        by = self.chosen[o.name]
        goal = o.goals[by.goal]
        for item, node in zip(by.items, by.nodes, strict=True):
            if node == call.id and isinstance(goal, EffectGoal):
                quantified = Quantified(o.exists, None, {})
                found = next(solutions(goal.args, item.identity[1], quantified, self.env), None)
                if found is not None:
                    return found
        return {}


def discharged(contract: Contract, calls: Sequence[Made]) -> Evidenced:
    """What the calls discharge, if live receipts say what these say."""
    entries = tuple(_receipt(c) for c in calls if c.tool is not None and c.problem is None)
    past = past_of(contract, Ledger("calls", contract.domain, entries))
    search = Discharges(contract, past.happened, fresh=True)
    owed = [o.name for o in active(contract, past)]
    chosen, missing = search.assign(owed, ordered=True)
    by = {n: By(o.goal, o.items, tuple(search.receipt(i.step).id for i in o.items)) for n, o in chosen.items()}
    idle = frozenset(o.name for o in contract.obligations) - set(owed)
    return Evidenced(by, tuple(missing), idle, search.env)


def _receipt(call: Made) -> Receipt:
    return Receipt(call.id, call.name, tuple(call.args.items()), call.result, "failure" if call.failed else "success")


__all__ = ["By", "Evidenced", "discharged"]
