"""Turns random choices into admission cases for Hypothesis: small domains, contracts, and proposals that nearly fit.

    from hypothesis import given
    from cfrc.testing.strategies import cases

    @given(cases())
    def test_something(case):
        verdict = admit(case.contract, case.proposal)

Between a third and two thirds of the proposals are admissible; most of the others have a single fault. For the
single-fault variants of a proposal of your own, see :func:`cfrc.testing.mutate.mutations`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.graph import Call, Proposal
from cfrc.testing.random_contract import contracts
from cfrc.testing.random_domain import Draw, domains
from cfrc.testing.random_proposal import proposals

MOST_CALLS = 6


@dataclass(frozen=True, slots=True)
class Case:
    """One admission question: a contract (with its domain) and a proposal that answers it."""

    domain: Domain
    contract: Contract
    proposal: Proposal


@st.composite
def cases(draw: Draw, most_calls: int = MOST_CALLS) -> Case:
    """A domain, a contract of it and a proposal for the contract with at most so many calls."""
    domain = draw(domains())
    contract = draw(contracts(domain))
    small = proposals(contract).filter(lambda p: sum(isinstance(n, Call) for n in p.nodes) <= most_calls)
    return Case(domain, contract, draw(small))


__all__ = ["Case", "cases", "contracts", "domains", "proposals"]
