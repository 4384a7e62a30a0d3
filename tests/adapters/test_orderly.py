"""Whole runs whose order no argument carries: the support domain, the handoff built of a run, and its disorders."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfrc.adapters.disorder import disorders
from cfrc.adapters.handoffs import Case
from cfrc.adapters.orderly import whole
from cfrc.adapters.runs import TaskRun, read_runs
from cfrc.adapters.sweep import Report, sweep
from cfrc.adapters.text import contract_text, proposal_text
from cfrc.handoff.closing.history import History, truth
from cfrc.lang.files import read_source
from cfrc.lang.load import load
from cfrc.model.domain import Domain
from cfrc.model.expr import conjuncts
from cfrc.model.verdict import Status
from cfrc.verify import admit

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "specs" / "domains" / "support.cfrc"
OWN = Path(__file__).parent / "support_runs.jsonl"
REAL = ROOT.parent / "shared" / "data" / "state-bench-customer-support" / "tasks.jsonl"

DOMAIN = next(iter(load(SPEC).domains.values()))
SAMPLE = (
    "10-return_full_order",
    "30-warranty_manufacturer",
    "33-exchange_size_swap",
    "40-hard_in_transit_cancel_fee_approval_tablet",
    "42-compound_exchange_plus_credit",
    "67-challenge_seasonal_plus_bulk_clawback",
    "9-hard_edge_post_return_restocking_fee_reversal_denied",
)


def runs_of(path: Path) -> dict[str, TaskRun]:
    return {r.id: r for r in read_runs(read_source(path), DOMAIN)}


RUNS = runs_of(OWN)


def case_of(name: str) -> Case:
    return next(iter(whole(DOMAIN, RUNS[name])))


def swept(runs: list[TaskRun], most: int | None = None, mutate: bool = True) -> Report:
    return sweep(DOMAIN, SPEC, runs, admit, mutate=mutate, most=most, cases=whole, breaks=disorders)


def unkept(domain: Domain, run: TaskRun) -> list[str]:
    """Conditions of the domain that the record contradicts, or does not show to hold."""
    history, found = History(domain, run.calls), []
    for call in run.calls:
        assert call.problem is None, f"{run.id} {call.id}: {call.problem}"
        if call.usable and call.tool is not None:
            env = history.env(call)
            found += [f"{call.id} ensures" for e in call.tool.ensures if truth(e, env) is not True]
            required = [c for r in call.tool.requires for c in conjuncts(r)]
            found += [f"{call.id} requires" for c in required if history.requires(call, c) is not True]
    return found


def test_the_domain_is_the_whole_interface() -> None:
    reads = {t.name for t in DOMAIN.tools.values() if t.kind == "read"}
    assert reads == {
        "get_order", "get_customer", "search_products", "get_product_details", "get_policies", "get_warranty_status"
    }  # fmt: skip
    assert {t.name for t in DOMAIN.tools.values()} - reads == {
        "process_return", "process_refund", "cancel_order", "process_exchange", "process_warranty_claim"
    }  # fmt: skip
    assert not any(t.undeclared for t in DOMAIN.tools.values())


@pytest.mark.parametrize("name", sorted(RUNS))
def test_what_the_domain_promises_holds_in_the_record(name: str) -> None:
    assert unkept(DOMAIN, RUNS[name]) == []


def test_a_run_becomes_a_contract_of_what_it_changed() -> None:
    text = contract_text(case_of("return-the-mug").contract)
    assert 'fixed order1: Order = "O-10" from user turn 1' in text
    assert 'owes owed3: returned("L-2", changed_mind, 12)' in text
    assert 'within active("L-2")' in text and "within reviewed(_)" in text
    assert text.count("owes ") == 1  # neither the policy read nor the preview is owed


def test_values_of_later_turns_are_bound_to_their_turn() -> None:
    text = contract_text(case_of("cancel-all").contract)
    assert 'fixed order1: Order = "O-13" from user turn 2' in text
    assert "owes owed3: order_cancelled(order1)" in text


def test_the_proposal_waits_expects_and_copies() -> None:
    case = case_of("return-the-mug")
    assert case.proposal is not None
    lines = [line.strip() for line in proposal_text(case.proposal).splitlines()]
    assert lines[1:] == [
        "c0 = get_order(order_id: order1)",
        'expect c0.items[1].item_id == "L-2"',
        "c1 = get_policies(topic: return)",
        "c2 = process_return(item_id: c0.items[1].item_id, reason: changed_mind, amount: 0, confirm: false)",
        "after c1",
        "expect c2.status != rejected and c2.refund_amount == 12",
        "c3 = process_return(item_id: c0.items[1].item_id, reason: changed_mind, amount: c2.refund_amount, confirm: true)",
        "expect c3.status == returned",
        "end = done claims owed3",
    ]


def test_an_exchange_relies_on_the_stock_that_its_preview_shows() -> None:
    for name, shown in (
        ("exchange-the-mug", " not present(c3."),
        ("exchange-out-of-stock", "rejected and present(c3."),
    ):
        case = case_of(name)
        assert case.proposal is not None
        assert shown in proposal_text(case.proposal)


def test_a_claim_relies_on_the_item_being_active() -> None:
    case = case_of("claim-the-lamp")
    assert case.proposal is not None
    assert "c0.items[0].item_status" in proposal_text(case.proposal)


def test_verdicts_of_the_synthetic_runs() -> None:
    report = swept(list(RUNS.values()), mutate=False)
    assert report.broken == [] and report.surprises == []
    other = {c.case.run.id: c.status for c in report.cases if c.status is not Status.ADMITTED}
    assert other == {"confirmed-too-early": Status.REFUSED, "nothing-to-do": Status.COMPLETE}
    early = next(c for c in report.cases if c.case.run.id == "confirmed-too-early")
    assert early.kinds == ("dependency",)


@pytest.mark.parametrize(
    "name", ["return-the-mug", "policy-read-twice", "cancel-one", "exchange-the-mug", "claim-the-lamp"]
)
def test_every_disorder_is_refused_for_its_reason(name: str) -> None:
    report = swept([RUNS[name]])
    assert report.clean, [(m.mutant.rule, m.mutant.what, m.outcome, m.codes) for m in report.mutants]
    assert {m.mutant.rule.split()[0] for m in report.mutants} >= {"drop", "move", "swap", "the"}
    assert any(m.outcome == "killed" and "DEP004" in m.codes for m in report.mutants)


def test_what_is_no_fault_is_known_without_the_checker() -> None:
    mutants = list(disorders(case_of("policy-read-twice")))
    fine = {m.what for m in mutants if m.equivalent is not None}
    assert fine == {"c2", "c2 behind c3", "c2 behind c4", "c2, c3"}  # the first reading of the policy serves as well
    dropped = next(m for m in mutants if m.rule == "drop the preview")
    assert dropped.equivalent is None and dropped.kinds == {"dependency"}


def test_a_run_with_a_failed_call_or_without_a_write_is_not_broken() -> None:
    assert list(disorders(case_of("confirmed-too-early"))) == []
    assert list(disorders(case_of("nothing-to-do"))) == []


needs_data = pytest.mark.skipif(not REAL.exists(), reason="the recorded runs are not beside the repository")


@needs_data
def test_what_the_domain_promises_holds_in_every_real_run() -> None:
    assert {r.id: found for r in runs_of(REAL).values() if (found := unkept(DOMAIN, r))} == {}


@needs_data
def test_a_sample_of_real_gold_runs() -> None:
    runs = runs_of(REAL)
    report = swept([runs[name] for name in SAMPLE], most=1)
    assert report.clean, [c.messages for c in report.surprises]
    statuses = {c.case.run.id.partition("-")[0]: c.status.word for c in report.cases}
    assert statuses == {
        "10": "admitted", "30": "admitted", "33": "admitted", "40": "admitted", "67": "admitted",
        "42": "refused", "9": "complete",
    }  # fmt: skip
