"""Closing: sources, order, expectations, coverage and pruning; never a call more, and admitted again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from cfrc.handoff.closing.author import Desk, Planned
from cfrc.handoff.closing.close import Closed, close
from cfrc.handoff.closing.replica import CopyReplica
from cfrc.handoff.closing.simulated import SimulatedReplica
from cfrc.handoff.tools import Answer, ToolError
from cfrc.handoff.wire import outgoing
from cfrc.lang.jsonforms.write import source_to_json
from cfrc.lang.jsonvalues import to_json
from cfrc.lang.load import load
from cfrc.lang.textforms import proposal_to_text
from cfrc.model.contract import Contract
from cfrc.model.graph import Call
from cfrc.model.judge import Replayer
from cfrc.model.plan import prepare
from cfrc.model.simulate import simulations
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.testing.strategies import Case, cases
from cfrc.verify import admit

ROOT = Path(__file__).parents[2]
INVOICE = load(ROOT / "examples" / "invoice" / "contract.cfrc").contracts["send_receipt"]
SEND = {"to": "ap@acme.test", "attachment": "txn7.pdf", "body": "Your receipt"}

SHOP = """
domain shop
    id Order, Item, Coupon
    enum State { open, shipped }
    fluent state(order: Order): State
    fluent stock(item: Item): int volatile
    effect refunded(order: Order, amount: decimal) once key order
    effect mailed(coupon: Coupon)
    read get_order(order: Order) -> { order: Order, state: State, paid: decimal, items: list[Item], note: text }
        ensures  result.order == order
        observes state(order) = result.state
    read find_coupon() -> { coupon: Coupon, spare: Coupon }
    read look_up(coupon: Coupon) -> { coupon: Coupon echoes coupon }
    write refund(order: Order, amount: decimal from get_order.paid) -> { ok: bool }
        requires state(order) == open and amount > 0
        causes   refunded(order, amount) when result.ok
    write mail(coupon: Coupon) -> {}
        causes mailed(coupon)

contract refunding for shop
    fixed order: Order = "O-1" from user turn 1
    owes  money: refunded(order, amount) exists amount: decimal
    allow get_order, find_coupon, look_up, refund, mail
    within refunded(order, _)

contract mailing for shop
    fixed order: Order = "O-1" from user turn 1
    owes  note: mailed(c) exists c: Coupon
    allow get_order, find_coupon, look_up, refund, mail
    within mailed(_)
"""
CONTRACTS = load(Source("shop.cfrc", SHOP)).contracts


def calls(*planned: tuple[str, Mapping[str, object]], answers: dict[int, object] | None = None) -> list[Planned]:
    found = answers or {}
    return [
        Planned(tool, args, f"c{i}", Answer("success", found[i]) if i in found else None)  # type: ignore[arg-type]
        for i, (tool, args) in enumerate(planned, 1)
    ]


def nodes(closed: Closed) -> dict[str, Call]:
    return {n.id: n for n in closed.proposal.nodes if isinstance(n, Call)}


def codes(closed: Closed) -> list[str]:
    return [n.code for n in closed.notes]


def status(contract: Contract, closed: Closed) -> Status:
    return admit(contract, closed.proposal).status


def test_replica_values_become_sources_and_the_needless_read_is_left_out() -> None:
    def author(desk: Desk) -> None:
        desk.call("get_invoice", {"invoice": "INV-42"})
        sent = desk.call("send_email", SEND)
        assert isinstance(sent.result, dict)
        desk.call("delivery_status", {"send": sent.result["id"]})

    closed = close(INVOICE, author)
    text = proposal_to_text(closed.proposal)
    assert 'c2 = send_email(to: payee, attachment: receipt, body: "Your receipt") covers delivery' in text
    assert "c3 = delivery_status(send: c2.id) expect c3.state == delivered covers confirmation" in text
    assert "end = done claims delivery, confirmation" in text
    assert codes(closed) == ["CLO004"] and not closed.problems
    assert status(INVOICE, closed) is Status.ADMITTED


def test_a_call_covers_the_state_that_it_brought_about() -> None:
    text = """
domain rooms
    id B
    enum S { held, confirmed }
    fluent status(b: B): S
    effect posted(b: B)
    read look(b: B) -> { status: S }
        observes status(b) = result.status
    write confirm(b: B)
        sets status(b) = confirmed
    write post(b: B)
        causes posted(b)

contract task for rooms
    fixed b: B = "B1" from user turn 1
    owes confirmed: status(b) == confirmed
    owes news: posted(b)
    allow look, confirm, post
    within status(b), posted(b)
"""
    z = load(Source("rooms.cfrc", text)).contracts["task"]
    closed = close(z, calls(("confirm", {"b": "B1"}), ("post", {"b": "B1"})))
    assert {i: n.covers for i, n in nodes(closed).items()} == {"c1": ("confirmed",), "c2": ("news",)}
    verdict = admit(z, closed.proposal)
    assert verdict.status is Status.ADMITTED and not [f for f in verdict.findings if f.code.startswith("CFRC-COV")]


def test_arguments_may_be_sources_already() -> None:
    closed = close(INVOICE, calls(("send_email", SEND), ("delivery_status", {"send": {"out": "c1.id"}})))
    assert not closed.notes and status(INVOICE, closed) is Status.ADMITTED


def test_what_a_call_requires_is_expected_of_the_receipt_that_shows_it() -> None:
    z = CONTRACTS["refunding"]
    order = {"order": "O-1", "state": "open", "paid": "12.50", "items": ["I-1"], "note": "ok"}
    closed = close(
        z, calls(("get_order", {"order": "O-1"}), ("refund", {"order": "O-1", "amount": 12.5}),
                 answers={1: order, 2: {"ok": True}})
    )  # fmt: skip
    text = proposal_to_text(closed.proposal)
    assert "expect c1.state == open and c1.paid > 0" in text
    assert "c2 = refund(order: order, amount: c1.paid) expect c2.ok covers money" in text
    assert status(z, closed) is Status.ADMITTED


def test_a_simulated_replica_shows_the_way_that_lets_clauses_apply() -> None:
    z = CONTRACTS["refunding"]

    def author(desk: Desk) -> None:
        seen = desk.call("get_order", {"order": "O-1"})
        assert isinstance(seen.result, dict)
        desk.call("refund", {"order": "O-1", "amount": seen.result["paid"]})

    closed = close(z, author)
    assert not closed.problems and status(z, closed) is Status.ADMITTED


def test_several_receipts_of_one_value_are_reported_and_expected_to_agree() -> None:
    z = CONTRACTS["mailing"]
    closed = close(
        z, calls(("find_coupon", {}), ("mail", {"coupon": "K-1"}), answers={1: {"coupon": "K-1", "spare": "K-1"}})
    )
    assert codes(closed) == ["CLO001"] and "`c1.coupon`, `c1.spare`" in closed.notes[0].message
    assert "expect c1.coupon == c1.spare" in proposal_to_text(closed.proposal)
    assert status(z, closed) is Status.ADMITTED
    told = close(z, calls(("find_coupon", {}), ("mail", {"coupon": {"out": "c1.spare"}})))
    assert not told.notes and status(z, told) is Status.ADMITTED


def test_a_field_that_repeats_an_argument_is_no_source() -> None:
    z = CONTRACTS["mailing"]
    closed = close(
        z, calls(("look_up", {"coupon": "K-7"}), ("mail", {"coupon": "K-7"}), answers={1: {"coupon": "K-7"}})
    )
    assert codes(closed) == [
        "CLO004",
        "CLO002",
    ]
    assert "only repeats an argument" in closed.problems[0].message
    assert status(z, closed) is Status.REFUSED


def test_a_source_that_the_parameter_does_not_take_is_reported() -> None:
    z = CONTRACTS["refunding"]
    closed = close(z, calls(("refund", {"order": "O-1", "amount": 3}), answers={1: {"ok": True}}))
    assert "CLO002" in codes(closed) and status(z, closed) is Status.REFUSED


def test_a_condition_that_nobody_has_seen_is_reported() -> None:
    z = CONTRACTS["refunding"]
    closed = close(z, calls(("refund", {"order": "O-1", "amount": 3}), answers={1: {"ok": True}}))
    assert any(n.code == "CLO003" and "state(order) == open" in n.message for n in closed.notes)


def test_a_read_that_was_asked_again_is_one_call_with_polls() -> None:
    asked = [Planned("delivery_status", {"send": {"out": "c1.id"}}, f"d{i}", Answer("success", {"state": state}))
             for i, state in enumerate(("queued", "queued", "delivered"))]  # fmt: skip
    sent = calls(("send_email", SEND), answers={1: {"id": "S-1"}})
    closed = close(INVOICE, [*sent, *asked])
    assert "d2 = delivery_status(send: c1.id) until d2.state == delivered within 3 polls" in proposal_to_text(
        closed.proposal
    )
    assert not closed.problems and status(INVOICE, closed) is Status.ADMITTED


@pytest.mark.parametrize("amount", [12.5, Decimal("12.5"), Fraction(25, 2), "12.5"], ids=repr)
def test_numbers_stay_exact(amount: object) -> None:
    order = {"order": "O-1", "state": "open", "paid": "12.5", "items": [], "note": ""}
    closed = close(
        CONTRACTS["refunding"],
        calls(("get_order", {"order": "O-1"}), ("refund", {"order": "O-1", "amount": amount}), answers={1: order}),
    )
    assert not closed.problems and "amount: c1.paid" in proposal_to_text(closed.proposal)


def test_what_is_still_owed_is_said() -> None:
    closed = close(INVOICE, calls(("send_email", SEND)))
    assert [n.code for n in closed.problems] == ["CLO005"] and "`confirmation`" in closed.problems[0].message
    assert status(INVOICE, closed) is Status.REFUSED


def test_a_failed_look_up_is_left_out_and_a_failed_write_stays() -> None:
    answer = Answer("failure", error="no such coupon")
    lost = Planned("look_up", {"coupon": "K-9"}, "c1", answer)
    closed = close(CONTRACTS["mailing"], [lost, *calls(("find_coupon", {}))[:0]])
    assert not nodes(closed)
    wrote = Planned("mail", {"coupon": "K-9"}, "c1", answer)
    closed = close(CONTRACTS["mailing"], [wrote])
    assert list(nodes(closed)) == ["c1"] and "CLO007" in [n.code for n in closed.problems]


def test_a_fault_of_a_call_is_left_to_admission() -> None:
    closed = close(INVOICE, calls(("send_mail", SEND), ("send_email", {"to": "ap@acme.test"})))
    verdict = admit(INVOICE, closed.proposal)
    assert {"CFRC-TYP001", "CFRC-TYP002"} <= {f.code for f in verdict.findings}


def test_going_back_on_the_replica_leaves_nothing_behind() -> None:
    world = {"mails": 0}

    def mail(env: dict[str, int], coupon: str) -> dict[str, str]:
        env["mails"] += 1
        if coupon == "bad":
            raise ToolError("no such coupon")
        return {}

    replica = CopyReplica(
        world, {"mail": mail, "find_coupon": lambda env: {"coupon": f"K-{env['mails']}", "spare": "S"}}
    )

    def author(desk: Desk) -> None:
        mark = desk.snapshot()
        assert desk.call("mail", {"coupon": "bad"}).status == "failure"
        desk.restore(mark)
        found = desk.call("find_coupon", {})
        assert found.result == {"coupon": "K-0", "spare": "S"}
        desk.call("mail", {"coupon": "K-0"})

    closed = close(CONTRACTS["mailing"], author, replica)
    assert [n.tool for n in nodes(closed).values()] == ["find_coupon", "mail"]
    assert not closed.problems and status(CONTRACTS["mailing"], closed) is Status.ADMITTED
    assert world == {"mails": 0}


def test_a_tool_of_the_replica_that_breaks_leaves_its_call_in_doubt() -> None:
    def broken(env: object) -> None:
        raise RuntimeError("disk on fire")

    closed = close(CONTRACTS["mailing"], calls(("find_coupon", {})), CopyReplica({}, {"find_coupon": broken}))
    assert "disk on fire" in closed.problems[0].message and closed.problems[0].code == "CLO006"


def test_a_simulated_replica_says_the_same_again_and_can_go_back() -> None:
    first, second = (SimulatedReplica(CONTRACTS["refunding"], seed=3) for _ in range(2))
    mark = first.snapshot()
    one = first.call("get_order", {"order": "O-1"})
    assert one == second.call("get_order", {"order": "O-1"})
    assert first.call("get_order", {"order": "O-2"}) != one
    first.restore(mark)
    assert first.call("get_order", {"order": "O-1"}) == one
    assert SimulatedReplica(CONTRACTS["refunding"], seed=4).call("get_order", {"order": "O-1"}) != one


def test_a_simulated_replica_refuses_what_is_known_to_be_impossible() -> None:
    replica = SimulatedReplica(CONTRACTS["refunding"])
    assert replica.call("refund", {"order": "O-1", "amount": -1}).status == "failure"
    assert replica.call("nothing", {}).status == "failure"
    assert replica.call("get_order", {"oder": "O-1"}).status == "failure"


def test_the_documented_example_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    section = (ROOT / "docs" / "handoff.md").read_text(encoding="utf-8").partition("## Close")[2]
    exec(section.partition("```python\n")[2].partition("```")[0], {})


# -- for all --------------------------------------------------------------------------------------------------------------


def finished(case: Case) -> list[Planned] | None:
    """The calls of one simulated run to ``done`` of an admitted proposal."""
    z, tools = case.contract, case.domain.tools
    replayer, by_id = Replayer(z, case.proposal), {n.id: n for n in case.proposal.nodes}
    runs = simulations(z, case.proposal, random.Random(7), failures=0.0)
    for _ in range(6):
        scenario = next(runs)
        trace = replayer.replay(scenario)
        quiet = not scenario.changes and not any(e.changes for e in scenario.events)
        if not (quiet and trace.ended and trace.terminals) or by_id[trace.terminals[0]].kind != "done":  # type: ignore[union-attr]
            continue
        if any(trace.outcomes[e.node] != "ok" for e in scenario.events):
            continue
        found = []
        for i, e in enumerate(scenario.events):
            tool = tools[by_id[e.node].tool]  # type: ignore[union-attr]
            result = to_json(e.result, tool.result)
            found.append(
                Planned(tool.name, outgoing(dict(trace.args[e.node]), tool), f"k{i}", Answer("success", result))
            )
        return found
    return None


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_closing_a_simulated_run_of_an_admitted_proposal_is_admitted_or_says_why_not(case: Case) -> None:
    if admit(case.contract, case.proposal).status is not Status.ADMITTED:
        return
    planned = finished(case)
    if planned is None:
        return
    closed = close(case.contract, planned)
    assert closed == close(case.contract, planned)
    tools = [p.tool for p in planned]
    kept = [n.tool for n in nodes(closed).values()]
    left = iter(tools)
    assert all(any(t == k for t in left) for k in kept), "an action was added or replaced"
    gone = [p for p in planned if p.id not in nodes(closed)]
    assert all(not case.domain.tools[p.tool].writes for p in gone)
    assert closed.problems or status(case.contract, closed) is Status.ADMITTED


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_calls_with_sources_close_on_a_simulated_replica(case: Case) -> None:
    z, given_ = case.contract, [n for n in case.proposal.nodes if isinstance(n, Call)]
    if any(n.when for n in given_) or admit(z, case.proposal).status is not Status.ADMITTED:
        return
    order = {n: e.before.bit_count() for n, e in prepare(z, case.proposal).nodes.items()}
    planned = [
        Planned(n.tool, {k: source_to_json(e) for k, e in n.args.items()}, n.id)
        for n in sorted(given_, key=lambda n: order[n.id])
    ]
    closed = close(z, planned)
    assert closed.problems or status(z, closed) is Status.ADMITTED
