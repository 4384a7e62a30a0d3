"""Laws that relate the verdicts of two questions: what must not matter does not, and asking for more never admits more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfrc.model.contract import Limit
from cfrc.model.expr import NodeResult, Outcome
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.verdict import Status, Verdict
from cfrc.testing.strategies import Case, cases
from cfrc.verify.admission import admit
from cfrc.verify.order import arrange

law = settings(max_examples=15, suppress_health_check=list(HealthCheck))


def renamed(x: Any, names: Mapping[str, str]) -> Any:
    """The same with every mention of a node under its new name."""
    if isinstance(x, NodeResult | Outcome):
        return replace(x, node=names.get(x.node, x.node))
    if isinstance(x, Call | Terminal):
        x = replace(x, id=names[x.id], after=x.after and tuple(names.get(a, a) for a in x.after))
    if isinstance(x, tuple):
        return tuple(renamed(y, names) for y in x)
    if isinstance(x, Mapping):
        return {k: renamed(v, names) for k, v in x.items()}
    if is_dataclass(x) and not isinstance(x, type):
        return replace(x, **{f.name: renamed(getattr(x, f.name), names) for f in fields(x) if f.name != "type"})
    return x


def codes(verdict: Verdict) -> set[str]:
    return {f.code for f in verdict.errors}


def calls(proposal: Proposal) -> list[Call]:
    return [n for n in proposal.nodes if isinstance(n, Call)]


@law
@given(cases(), st.randoms(use_true_random=False))
def test_names_of_nodes_do_not_matter(case: Case, random: Any) -> None:
    ids = list(dict.fromkeys(n.id for n in case.proposal.nodes))
    fresh = [f"z{i}" for i in range(len(ids))]
    random.shuffle(fresh)
    other = renamed(case.proposal, dict(zip(ids, fresh, strict=True)))
    first, second = admit(case.contract, case.proposal), admit(case.contract, other)
    assert (first.status, codes(first)) == (second.status, codes(second))


@law
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_listing_does_not_matter(case: Case, random: Any) -> None:
    nodes = list(case.proposal.nodes)
    random.shuffle(nodes)
    other = admit(case.contract, replace(case.proposal, nodes=tuple(nodes)))
    assert other.status is admit(case.contract, case.proposal).status


@law
@given(cases())
def test_a_last_pure_read_keeps_an_admission(case: Case) -> None:
    look = case.domain.tools.get("look")
    assume(look is not None and not look.requires and not look.writes and "look" in case.contract.allow)
    # what a read sees of a volatile fluent is news: a state obligation may rest on what was known before
    assume(not any(f.volatile for f in case.domain.fluents.values()))
    terminals = [n for n in case.proposal.nodes if isinstance(n, Terminal)]
    assume(all(t.after is None for t in terminals))
    assume(admit(case.contract, case.proposal).status is Status.ADMITTED)
    last = Call("last", "look", {}, after=tuple(c.id for c in calls(case.proposal)))
    other = replace(case.proposal, nodes=(*case.proposal.nodes, last))
    verdict = admit(case.contract, other)
    # a definite failure that someone handles leaves the read dead: the run still ends
    assert verdict.status is Status.ADMITTED, verdict.findings


@law
@given(cases(), st.data())
def test_an_edge_between_unordered_calls_never_makes_them_interfere(case: Case, data: st.DataObject) -> None:
    order = arrange(case.proposal)
    assume(not order.cycle)
    assume("CFRC-PRS007" not in codes(admit(case.contract, case.proposal)))
    pairs = [
        (a, b)
        for i, a in enumerate(order.calls)
        for j, b in enumerate(order.calls)
        if i != j and not order.ordered(i, j) and not order.ordered(j, i)
    ]
    assume(pairs)
    first, second = data.draw(st.sampled_from(pairs))
    nodes = tuple(replace(n, after=(*(n.after or ()), first.id)) if n is second else n for n in case.proposal.nodes)
    assert "CFRC-PRS007" not in codes(admit(case.contract, replace(case.proposal, nodes=nodes)))


@law
@given(cases(), st.data())
def test_a_smaller_scope_never_admits_more(case: Case, data: st.DataObject) -> None:
    scope = case.contract.scope
    assume(scope)
    assert scope is not None
    assume(admit(case.contract, case.proposal).status is Status.REFUSED)
    gone = data.draw(st.integers(0, len(scope) - 1))
    smaller = replace(case.contract, scope=scope[:gone] + scope[gone + 1 :])
    assert admit(smaller, case.proposal).status is not Status.ADMITTED


@law
@given(cases(), st.sampled_from(["charged", "moved", "noted"]), st.integers(0, 2))
def test_a_limit_never_admits_more(case: Case, effect: str, bound: int) -> None:
    assume(admit(case.contract, case.proposal).status is Status.REFUSED)
    anything = (None,) * len(case.domain.effects[effect].params)
    more = replace(case.contract, limits=(*case.contract.limits, Limit("count", effect, anything, None, bound)))
    assert admit(more, case.proposal).status is not Status.ADMITTED


@law
@given(cases())
def test_a_tiny_budget_never_changes_a_definite_verdict(case: Case) -> None:
    """A contract is not withheld for what the budget cut off, so a withheld one may be looked at after all."""
    small, full = admit(case.contract, case.proposal, budget=1), admit(case.contract, case.proposal)
    if full.status is not Status.WITHHELD:
        assert small.status in (full.status, Status.UNDECIDED)
    else:
        assert small.status is not Status.ADMITTED
