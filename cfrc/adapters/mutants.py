"""Turns an admitted remainder into remainders with one fault each, and says which finding must name the fault.

Every mutant differs in one way from a proposal that is right. The rules are in the ``faults_of_…`` modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from cfrc.adapters import faults_of_duty as duty
from cfrc.adapters import faults_of_form as form
from cfrc.adapters import faults_of_reach as reach
from cfrc.adapters.handoffs import Case
from cfrc.adapters.mutant import NOWHERE, Mutant, View

RULES: tuple[Callable[[View], Iterator[Mutant]], ...] = (
    duty.drop_write, duty.claim_without_evidence, duty.drop_expect, duty.swap_identifier, duty.unsupported_identifier,
    duty.change_bound_argument, duty.change_choice, form.reverse_dependency, form.drop_order, form.close_cycle,
    form.dangling, reach.unlisted_tool, reach.repeat_kept, reach.repeat_write, reach.outside_scope, reach.exceed_limit,
    form.wrong_form, form.missing_argument, form.extra_argument, form.other_digest,
)  # fmt: skip


def mutants(case: Case, most: int | None = None) -> Iterator[Mutant]:
    """All single-fault mutants of the case's proposal, at most ``most`` of each rule."""
    if case.proposal is None:
        return
    view = View(case, case.proposal)
    for rule in RULES:
        yield from islice(rule(view), most)


__all__ = ["NOWHERE", "RULES", "Mutant", "mutants"]
