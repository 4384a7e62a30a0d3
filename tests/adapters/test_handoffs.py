"""Every cut of recorded runs: what the contract says, what the proposal relies on, and what the sweep reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfrc.adapters.handoffs import Case, handoffs
from cfrc.adapters.mutants import mutants
from cfrc.adapters.runs import RunProblem, TaskRun, read_runs
from cfrc.adapters.sources import mentions
from cfrc.adapters.sweep import Report, as_json, lines, outcome, sweep
from cfrc.adapters.text import contract_text, proposal_text
from cfrc.lang.files import read_source
from cfrc.lang.load import load
from cfrc.model.expr import conjuncts
from cfrc.model.graph import Call
from cfrc.model.show import show_expr
from cfrc.model.types import STRING, Id
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify import admit

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "specs" / "domains" / "retail.cfrc"
OWN = Path(__file__).parent / "retail_runs.jsonl"
REAL = ROOT.parent / "shared" / "data" / "tau2-retail" / "tasks.jsonl"

DOMAIN = next(iter(load(SPEC).domains.values()))
RUNS = {r.id: r for r in read_runs(read_source(OWN), DOMAIN)}


def case_of(run: str, cut: int) -> Case:
    return list(handoffs(DOMAIN, RUNS[run]))[cut]


def swept(runs: list[TaskRun], *, mutate: bool = False, most: int | None = None) -> Report:
    return sweep(DOMAIN, SPEC, runs, admit, mutate=mutate, most=most)


def call(case: Case, node: str) -> Call:
    assert case.proposal is not None
    return next(n for n in case.proposal.nodes if isinstance(n, Call) and n.id == node)


def expected(case: Case, node: str) -> list[str]:
    return [show_expr(c) for c in conjuncts(call(case, node).expect)]


# -- the handoff --------------------------------------------------------------------------------------------------------


def test_what_is_read_later_is_existential_and_described() -> None:
    text = contract_text(case_of("exchange", 1).contract)
    assert "owes owed3: exchanged(order1, bag([some_item1]), bag([some_item2]), some_paymentmethod3)" in text
    assert 'some_item1 == lines(order1)[0].item_id and lines(order1)[0].name == "Lamp"' in text
    assert 'variants(lines(order1)[0].product_id)[some_item2].options["color"] == "blue"' in text
    assert "some_paymentmethod3 == paid_with(order1)" in text


def test_what_was_read_before_the_cut_is_ground() -> None:
    case = case_of("exchange", 3)
    assert "owes owed3: exchanged(order1, bag([item1]), bag([item2]), paymentmethod1)" in contract_text(case.contract)
    assert case.proposal is not None
    assert call(case, "c3").expect is None


def test_expectations_are_what_the_write_and_the_obligation_ask_of_receipts() -> None:
    case = case_of("exchange", 1)
    assert expected(case, "c1") == ["c1.status == delivered", 'c1.items[0].name == "Lamp"']
    assert 'c2.variants[c2.variants["L-blue"].item_id].options["color"] == "blue"' in expected(case, "c2")


def test_the_request_binds_and_what_was_accepted_stays_bound() -> None:
    names = {n.value: n for n in case_of("exchange", 2).contract.names.values()}
    assert names["#A1"].fixed and names["ann@lee.test"].fixed
    assert not names["card_1"].fixed


def test_two_orders_that_a_receipt_might_confuse_are_told_apart() -> None:
    assert expected(case_of("same kind twice", 1), "c1") == ["c1.orders[1] != c1.orders[2]"]
    # an order that must be delivered is not one that must be pending
    assert expected(case_of("two writes", 1), "c1") == []


def test_kept_effects_and_facts_come_from_the_calls_before_the_cut() -> None:
    contract = case_of("two writes", 5).contract
    assert [k.effect for k in contract.kept] == ["returned"]
    assert ("status", ("#A1",), "return_requested", False) in [
        (f.fluent, f.args, f.value, f.kept) for f in contract.facts
    ]


def test_a_plain_fluent_that_was_set_is_kept_and_one_to_be_set_is_owed_as_a_state() -> None:
    case = case_of("address", 3)
    kept = [f for f in case.contract.facts if f.kept]
    assert [(f.fluent, f.args) for f in kept] == [("order_address", ("#A3",))]
    assert show_expr(case.contract.obligations[0].goals[0].condition).startswith("user_address(user1).address1 == ")  # type: ignore[union-attr]


def test_a_look_up_that_missed_stays_and_the_rest_waits_for_the_miss() -> None:
    case = case_of("missed look-up", 0)
    assert case.proposal is not None
    text = proposal_text(case.proposal)
    assert text.count("when failed(c0)") == 4
    assert 'yield "find_user_id_by_email succeeded; when this run was recorded it failed"' in text


def test_nothing_owed_is_complete() -> None:
    assert all(c.proposal is None for c in handoffs(DOMAIN, RUNS["only a question"]))


@pytest.mark.parametrize(
    ("request_", "value", "named"),
    [
        ("order #W12 please", "#W12", True),
        ("order #W123 please", "#W12", False),
        ("order 12 please", "#W12", False),
        ("I am mei_kovacs_8020", "mei", True),
        ("the meister", "mei", False),
        ("", "", False),
    ],
)
def test_a_request_names_whole_words(request_: str, value: str, named: bool) -> None:
    assert mentions(request_, value, Id("Name", ("trim", "lower")) if value == "mei" else STRING) is named


# -- the sweep ----------------------------------------------------------------------------------------------------------


def test_every_cut_of_our_own_runs_gets_the_verdict_that_the_record_supports() -> None:
    report = swept(list(RUNS.values()))
    assert not report.surprises and not report.broken
    verdicts = {(c.case.run.id, c.case.cut): (c.status, c.codes) for c in report.cases}
    assert verdicts["exchange", 0] == (Status.ADMITTED, ())
    assert verdicts["missed look-up", 0] == (Status.ADMITTED, ())
    assert verdicts["two writes", 6][0] is Status.COMPLETE
    assert verdicts["unread", 0] == (Status.REFUSED, ("DEP004",))
    assert verdicts["no source", 0] == (Status.REFUSED, ("GRD001",))
    assert verdicts["wrong source", 2] == (Status.REFUSED, ("GRD002",))
    assert "DEP004" in verdicts["refused write", 0][1]
    assert not any(c.status is Status.UNDECIDED for c in report.cases)


def test_every_single_fault_is_named() -> None:
    report = swept([RUNS["exchange"], RUNS["address"]], mutate=True, most=1)
    assert report.clean, "\n".join(lines(report))
    assert {m.mutant.rule for m in report.mutants} >= {
        "drop a write", "claim without evidence", "drop an expect", "swap an identifier", "change a bound argument",
        "an identifier that nothing supports", "reverse a dependency", "close a cycle", "call an unlisted tool",
        "repeat a write", "act outside the scope", "write a fluent outside the scope", "exceed a limit", "wrong type",
        "missing argument", "extra argument", "answer another contract", "drop an order",
    }  # fmt: skip


def test_a_kept_write_that_is_repeated_is_named() -> None:
    case = case_of("two writes", 5)
    repeats = [m for m in mutants(case) if m.rule == "repeat a kept write"]
    assert [m.what for m in repeats] == ["c4"]
    assert "preservation" in repeats[0].kinds


def test_a_survivor_and_a_false_alarm_are_not_passed_over() -> None:
    mutant = next(iter(mutants(case_of("exchange", 0))))
    assert outcome(mutant, Status.ADMITTED, set(), set()) == "survived"
    assert outcome(mutant, Status.UNDECIDED, set(), set()) == "undecided"
    assert outcome(mutant, Status.REFUSED, {"typing"}, {"TYP004"}) == "other kind"


def test_the_report_is_json_and_text() -> None:
    report = swept([RUNS["unread"]])
    assert json.loads(json.dumps(as_json(report)))["cases"][0]["gaps"][0]["why"] == "unseen"
    assert any("unseen at c0: status(order_id) == pending" in line for line in lines(report, listing=True))


# -- input --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected a task run"),
        ("{", "x:1"),
        ('{"request": "a"}', "expected a member `actions`"),
        ('{"request": "a", "actions": [{"name": 7}]}', "expected a member `name`"),
        ('{"request": "a", "actions": [{"name": "calculate", "arguments": []}]}', "expected arguments"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(line: str, message: str) -> None:
    with pytest.raises(RunProblem, match=message):
        read_runs(Source("x", line), DOMAIN)


def test_what_does_not_fit_the_domain_is_a_problem_of_its_call() -> None:
    actions = [
        {"name": "get_order_details", "arguments": {"order_id": 7}, "result": {}},
        {"name": "fly", "arguments": {}},
    ]
    (run,) = read_runs(Source("x", json.dumps({"request": "", "actions": actions})), DOMAIN)
    assert "argument `order_id`" in (run.calls[0].problem or "")
    assert run.calls[1].problem == "the domain has no tool `fly`"
    assert not any(c.usable for c in run.calls)


# -- the real runs ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL.exists(), reason="the shared data is not here")
def test_a_sample_of_the_real_runs() -> None:
    runs = read_runs(read_source(REAL), DOMAIN)
    assert len(runs) == 114 and not any(c.problem for r in runs for c in r.calls)
    report = swept([runs[i] for i in (0, 12, 40, 46, 67, 105)])
    assert not report.surprises and not report.broken


@pytest.mark.skipif(not REAL.exists(), reason="the shared data is not here")
def test_how_much_of_the_real_runs_is_still_owed() -> None:
    runs = read_runs(read_source(REAL), DOMAIN)
    cases = [c for r in runs for c in handoffs(DOMAIN, r)]
    assert len(cases) == 667
    assert sum(c.proposal is not None for c in cases) == 511
    assert sum(c.proposal is not None and not c.gaps for c in cases) == 344
