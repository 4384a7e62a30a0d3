"""Turns limits into running totals over K + U (not refuted) + what was caused so far (``docs/semantics.md`` §3, scope).

Undoing gives nothing back: the multiset counts occurrences. What a total cannot be computed for counts as exceeding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cfrc.model.contract import Limit
from cfrc.model.evaluate import Env, Undefined, equal, evaluate
from cfrc.model.footprint import Wild
from cfrc.model.instances import Pattern
from cfrc.model.values import Value


def amount(limit: Limit, instance: Pattern, env: Env) -> int | Fraction | None:
    """What an instance adds to a limit: 0 when it does not match, ``None`` when that is undefined or not a number."""
    effect, args = instance
    if effect != limit.effect:
        return 0
    bound: dict[tuple[str, str], Value] = {}
    for want, have in zip(limit.params, args, strict=True):
        if want is None:
            continue
        if isinstance(want, str):
            if not isinstance(have, Wild):
                bound["bound", want] = have
        elif not isinstance(have, Wild):
            try:
                if not equal(evaluate(want, env), have):
                    return 0
            except Undefined:
                return None
    if limit.kind == "count" or limit.amount is None:
        return 1
    try:
        value = evaluate(limit.amount, env.child(bound))
    except Undefined:
        return None
    return value if isinstance(value, int | Fraction) else None


@dataclass(slots=True)
class Total:
    """The running total of one limit. ``unknown`` counts what nobody knows the amount of."""

    limit: Limit
    value: int | Fraction = 0
    unknown: int = 0

    def add(self, instance: Pattern, env: Env, sign: int = 1) -> bool:
        """Adds (or takes back) an instance; says whether it mattered to this limit."""
        found = amount(self.limit, instance, env)
        if found is None:
            self.unknown += sign
            return True
        self.value += sign * found
        return found != 0

    @property
    def exceeded(self) -> bool:
        bound = self.limit.bound
        return self.unknown > 0 or not isinstance(bound, int | Fraction) or self.value > bound
