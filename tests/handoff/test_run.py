"""Every way in which a run may go wrong ends in a clear outcome, with nothing lost and nothing done twice."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cfrc.handoff.freezing.heads import heads
from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.journal import Journal, JournalError
from cfrc.handoff.running.lease import FileLease
from cfrc.handoff.running.replay import replay
from cfrc.handoff.running.retell import Opening
from cfrc.handoff.running.run import Outcome, Stopper, interface_of, resume, run
from cfrc.handoff.tools import Answer, PythonTools, ToolError
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.transcript import JSON
from cfrc.verify.happened import happened
from tests.handoff.shop import TEXT, Shop, case

CONTRACT, PROPOSAL = case()
FAST = Settings(interval=lambda poll: 0.0, grace=0.0)


class Bent(PythonTools):
    """The shop, with some tools replaced by others: functions, or answers as they come."""

    def __init__(self, shop: Shop, **others: Callable[..., object] | Answer) -> None:
        super().__init__(shop)
        self.others, self.made = others, list[str]()

    def call(self, tool: str, arguments: Mapping[str, JSON], call: str) -> Answer:
        self.made.append(tool)
        other = self.others.get(tool)
        if isinstance(other, Answer):
            return other
        return PythonTools({tool: other}).call(tool, arguments, call) if other else super().call(tool, arguments, call)


def go(folder: Path, settings: Settings = FAST, **others: Any) -> tuple[Outcome, Bent]:
    tools = Bent(Shop(folder / "shop"), **others)
    return run(CONTRACT, PROPOSAL, tools, folder / "journal", settings=settings), tools


def code(outcome: Outcome) -> str:
    (found,) = outcome.findings
    return found.code.removeprefix("CFRC-")


def statuses(outcome: Outcome, tool: str) -> list[str]:
    return [r.status for r in outcome.ledger.entries if isinstance(r, Receipt) and r.tool == tool]


def raises(problem: BaseException) -> Callable[..., object]:
    def tool(**_: object) -> object:
        raise problem

    return tool


# -- admission first --------------------------------------------------------------------------------------------------


def test_a_plan_that_is_not_admitted_never_runs(tmp_path: Path) -> None:
    contract, proposal = case(
        TEXT.replace("m = mail(order: order) after c", "m = mail(order: order)\n    n = mail(order: order)")
    )
    tools = Bent(Shop(tmp_path / "shop"))
    outcome = run(contract, proposal, tools, tmp_path / "journal")
    assert outcome.kind == "refused" and outcome.verdict is not None and outcome.verdict.findings
    assert not tools.made and not (tmp_path / "journal").exists()


def test_where_nothing_is_owed_there_is_nothing_to_do(tmp_path: Path) -> None:
    contract = replace(CONTRACT, obligations=(), scope=())
    outcome = run(contract, replace(PROPOSAL, nodes=()), {}, tmp_path / "journal")
    assert outcome.kind == "idle" and not (tmp_path / "journal").exists()


# -- answers ----------------------------------------------------------------------------------------------------------


def test_reads_that_do_not_depend_on_each_other_run_side_by_side(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=10)

    def look(order: str) -> dict[str, object]:
        both.wait()
        return {"order": order, "price": 12.5}

    def stock(order: str) -> dict[str, object]:
        both.wait()
        return {"left": 1}

    outcome, _ = go(tmp_path, look=look, stock=stock)
    assert outcome.kind == "done"


def test_a_definite_refusal_is_a_failure_and_is_not_tried_again(tmp_path: Path) -> None:
    outcome, tools = go(tmp_path, mail=raises(ToolError("no such mailbox")))
    assert outcome.kind == "yield" and code(outcome) == "RUN012" and outcome.steps["m"] == "failed"
    assert tools.made.count("mail") == 1 and statuses(outcome, "mail") == ["failure"]
    assert Shop(tmp_path / "shop").done() == ["charge"]


def test_a_slow_tool_is_in_doubt_and_settled_by_its_read(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")

    def mail(order: str) -> None:
        shop.mail(order)
        time.sleep(2)

    outcome, tools = go(tmp_path, replace(FAST, timeout=0.2), mail=mail)
    assert outcome.kind == "done", outcome.reason
    assert tools.made.count("mail") == 1 and tools.made.count("outbox") == 1
    assert statuses(outcome, "mail") == ["unknown"] and shop.done() == ["charge", "mail", "tag", "ship"]


def test_a_write_that_a_read_refutes_is_not_made_again(tmp_path: Path) -> None:
    """The client gave up by itself; the server is still at it, and a read cannot tell that it will not finish."""
    shop = Shop(tmp_path / "shop")

    def mail(order: str) -> None:
        threading.Timer(0.5, shop.mail, (order,)).start()
        raise TimeoutError("the client's own")

    outcome, tools = go(tmp_path, mail=mail)
    time.sleep(0.7)
    assert outcome.kind == "held" and code(outcome) == "RUN005" and tools.made.count("mail") == 1
    assert statuses(outcome, "mail") == ["unknown", "pending"] and happened(outcome.ledger).doubts
    assert shop.done().count("mail") == 1


def test_a_write_that_was_refuted_is_made_again(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    first = iter([True])

    def mail(order: str) -> None:
        if next(first, False):
            raise ConnectionError("before anything was sent")
        shop.mail(order)

    outcome, tools = go(tmp_path, mail=mail)
    assert outcome.kind == "done" and tools.made.count("mail") == 2
    assert statuses(outcome, "mail") == ["unknown", "success"]


def test_what_a_journal_holds_is_not_resumed_unless_it_is_admitted(tmp_path: Path) -> None:
    contract, proposal = case(
        TEXT.replace("m = mail(order: order) after c", "m = mail(order: order)\n    n = mail(order: order)")
    )
    tools = Bent(Shop(tmp_path / "shop"))
    now = datetime.now(UTC)
    with Journal(tmp_path / "journal") as book:
        book.append([Opening("r", contract, proposal, now, 2, interface_of(tools, proposal, contract)[0]).entry(now)])
    outcome = resume(tools, tmp_path / "journal", settings=FAST)
    assert outcome.kind == "refused" and outcome.verdict is not None and outcome.verdict.findings
    assert not tools.made


def test_a_lost_write_has_time_to_land_before_anybody_looks(tmp_path: Path) -> None:
    """The connection is lost, the mail goes out a little later: whoever looks at once would send it twice."""
    shop = Shop(tmp_path / "shop")

    def mail(order: str) -> None:
        threading.Timer(0.3, shop.mail, (order,)).start()
        raise ConnectionResetError

    outcome, tools = go(tmp_path, replace(FAST, grace=1.0), mail=mail)
    assert outcome.kind == "done" and tools.made.count("mail") == 1
    assert shop.done() == ["charge", "mail", "tag", "ship"]


def test_a_write_that_no_read_settles_is_never_tried_again(tmp_path: Path) -> None:
    outcome, tools = go(tmp_path, ship=raises(TimeoutError()))
    assert outcome.kind == "held" and code(outcome) == "RUN005" and not outcome.resumable
    assert tools.made.count("ship") == 1 and statuses(outcome, "ship") == ["unknown"]


def test_a_write_whose_result_is_lost_is_held_although_it_happened(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")

    def charge(order: str, amount: float) -> object:
        shop.charge(order, amount)
        raise ConnectionResetError

    outcome, tools = go(tmp_path, charge=charge)
    assert outcome.kind == "held" and code(outcome) == "RUN005" and "result is not known" in outcome.reason
    assert tools.made.count("charge") == 1 and shop.done() == ["charge"]
    assert statuses(outcome, "charges") == ["success"], "what settled it is in the ledger for the next tenant"


def test_an_idempotent_write_is_made_again_and_a_read_too(tmp_path: Path) -> None:
    fails = {"tag": 2, "stock": 2}
    shop = Shop(tmp_path / "shop")

    def flaky(tool: str) -> Callable[..., object]:
        def made(**given: Any) -> object:
            fails[tool] -= 1
            if fails[tool] >= 0:
                raise TimeoutError
            return getattr(shop, tool)(**given)

        return made

    outcome, tools = go(tmp_path, tag=flaky("tag"), stock=flaky("stock"))
    assert outcome.kind == "done" and tools.made.count("tag") == 3
    assert statuses(outcome, "tag") == ["unknown", "unknown", "success"]
    attempts = [(r.id, r.attempt) for r in outcome.ledger.entries if isinstance(r, Receipt) and r.tool == "tag"]
    assert len({i for i, _ in attempts}) == 1 and [n for _, n in attempts] == [1, 2, 3]


def test_a_read_that_never_answers_ends_the_run(tmp_path: Path) -> None:
    outcome, tools = go(tmp_path, look=raises(TimeoutError()))
    assert outcome.kind == "held" and code(outcome) == "RUN005" and tools.made.count("look") == 3
    assert Shop(tmp_path / "shop").done() == []


@pytest.mark.parametrize("status", ["pending", "partial"])
def test_what_is_pending_or_partly_done_is_never_evidence(tmp_path: Path, status: Any) -> None:
    outcome, tools = go(tmp_path, mail=Answer(status, None))
    assert outcome.kind == "held" and code(outcome) == "RUN005" and tools.made.count("mail") == 1
    assert statuses(outcome, "mail") == [status]


@pytest.mark.parametrize(
    "answer",
    [
        {"slip": 7}, {"slip": None}, {}, [], "slip-1", None, 3.5, {"slip": ["a"]}, '{"slip": "a", "slip": "b"}', "{",
        object(), {"slip": float("nan")}, {1: 2}, "[" * 100_000, {"slip": "\ud800"},
    ],
    ids=lambda a: repr(a)[:20],
)  # fmt: skip
def test_an_answer_of_another_type_is_no_receipt(tmp_path: Path, answer: object) -> None:
    outcome, tools = go(tmp_path, charge=lambda **_: answer)
    assert outcome.kind == "held" and code(outcome) == "RUN003", outcome.reason
    assert statuses(outcome, "charge") == ["unknown"] and "mail" not in tools.made
    assert replay(tmp_path / "journal").outcome is not None


def test_what_a_tool_does_not_declare_does_not_matter(tmp_path: Path) -> None:
    more = {"order": "O1", "price": "12.50", "more": object.__name__}
    outcome, _ = go(tmp_path, look=lambda **_: more, ship=lambda **_: '{"label": "L", "extra": [1]}')
    assert outcome.kind == "done", outcome.reason


def test_an_answer_too_large_is_no_receipt(tmp_path: Path) -> None:
    outcome, _ = go(tmp_path, charge=lambda **_: {"slip": "x" * 10_000_001})
    assert outcome.kind == "held" and code(outcome) == "RUN003"


def test_a_receipt_outside_what_admission_assumed_ends_the_run_before_it_is_used(tmp_path: Path) -> None:
    outcome, tools = go(tmp_path, look=lambda **_: {"order": "another", "price": 1})
    assert outcome.kind == "held" and code(outcome) == "RUN004" and "charge" not in tools.made
    assert statuses(outcome, "look") == ["unknown"]


def test_what_is_observed_twice_must_agree(tmp_path: Path) -> None:
    text = """
domain d
    id Order, Email
    fluent payer(order: Order): Email
    effect sent(order: Order, to: Email)
    read look(order: Order) -> { payer: Email }
        observes payer(order) = result.payer
    write send(order: Order, to: Email)
        causes sent(order, to)
contract rest for d
    fixed order: Order = "O1" from user turn 1
    owes mail: sent(order, payer(order))
    allow look, send
    within sent(order, _)
proposal plan for rest
    a = look(order: order)
    b = look(order: order) after a
    s = send(order: order, to: a.payer) after b
    done
"""
    seen = iter(["p1", "p2"])
    tools = {"look": lambda order: {"payer": next(seen)}, "send": raises(AssertionError())}
    outcome = run(*case(text), tools, tmp_path / "journal")
    assert outcome.kind == "held" and code(outcome) == "RUN004", outcome.reason
    same = iter(["p1", "p1"])
    tools = {"look": lambda order: {"payer": next(same)}, "send": lambda order, to: None}
    outcome = run(*case(text), tools, tmp_path / "other", settings=replace(FAST, lease=FileLease(tmp_path / "lease")))
    assert outcome.kind == "done", outcome.reason


@pytest.mark.parametrize(
    "ensures",
    [
        "result.price == price(order)",
        "price(order) == result.price and result.price >= 0",
        "(price(order) == result.price) == true",
    ],
)
def test_what_an_ensures_says_of_an_unknown_value_must_stay_true(tmp_path: Path, ensures: str) -> None:
    """Admission takes both prices for one; the run learns it from the first receipt, and checks the second."""
    text = f"""
domain d
    id Order
    fluent price(order: Order): decimal
    effect charged(order: Order, amount: decimal)
    read look(order: Order) -> {{ price: decimal }}
        ensures {ensures}
    write charge(order: Order, amount: decimal)
        causes charged(order, amount)
contract rest for d
    fixed order: Order = "O1" from user turn 1
    owes it: charged(order, price(order))
    allow look, charge
    within charged(order, _)
proposal plan for rest
    a = look(order: order)
    b = look(order: order) after a
    c = charge(order: order, amount: b.price) after b
    done
"""
    for second, kind in ((2, "held"), (1, "done")):
        prices = iter([1, second])
        tools = {"look": lambda order, p=prices: {"price": next(p)}, "charge": lambda order, amount: None}
        settings = replace(FAST, lease=FileLease(tmp_path / f"lease{second}"))
        outcome = run(*case(text), tools, tmp_path / f"journal{second}", settings=settings)
        assert outcome.kind == kind, (outcome.reason, outcome.verdict)


# -- polls ------------------------------------------------------------------------------------------------------------

POLLS = """
domain d
    id Job
    effect finished(job: Job)
    read status(job: Job) -> { done: bool }
        witnesses finished(job) when result.done
contract rest for d
    fixed job: Job = "J1" from user turn 1
    owes it: finished(job)
    allow status
proposal plan for rest
    p = status(job: job) until p.done within 4 polls
    done claims it
"""


@pytest.mark.parametrize(("needed", "kind"), [(1, "done"), (4, "done"), (5, "yield")])
def test_polls_are_bounded_and_wait_in_between(tmp_path: Path, needed: int, kind: str) -> None:
    made: list[float] = []

    def status(job: str) -> dict[str, bool]:
        made.append(time.monotonic())
        return {"done": len(made) >= needed}

    outcome = run(*case(POLLS), {"status": status}, tmp_path / "journal", settings=Settings(interval=lambda poll: 0.05))
    assert outcome.kind == kind and len(made) == min(needed, 4)
    assert all(b - a >= 0.05 for a, b in pairwise(made))


# -- approvals, head, lease, interface --------------------------------------------------------------------------------

APPROVED = """
domain d
    id Order
    effect refunded(order: Order) once
    read look(order: Order) -> { ok: bool }
    write refund(order: Order)
        causes refunded(order)
        approved
contract rest for d
    fixed order: Order = "O1" from user turn 1
    owes it: refunded(order)
    allow look, refund
    approved refund(order: "O1") expires 2026-12-01 from user turn 2
proposal plan for rest
    l = look(order: order)
    r = refund(order: order) after l
    done
"""


def test_an_approval_that_expires_meanwhile_bars_the_call(tmp_path: Path) -> None:
    contract, proposal = case(APPROVED)
    now = [datetime(2026, 11, 30, 23, tzinfo=UTC)]

    def look(order: str) -> dict[str, bool]:
        now[0] = datetime(2026, 12, 1, 1, tzinfo=UTC)
        return {"ok": True}

    tools = {"look": look, "refund": raises(AssertionError())}
    settings = replace(FAST, clock=lambda: now[0])
    outcome = run(contract, proposal, tools, tmp_path / "journal", settings=settings, today=now[0])
    assert outcome.kind == "held" and code(outcome) == "RUN001" and "AUT003" in outcome.reason
    assert replay(tmp_path / "journal").outcome is not None


def test_a_clock_that_goes_back_does_not_renew_an_approval(tmp_path: Path) -> None:
    contract, proposal = case(APPROVED)
    times = [datetime(2026, 11, 30, 23, tzinfo=UTC)] * 3 + [datetime(2026, 12, 1, 1, tzinfo=UTC)]
    left = iter(times)
    settings = replace(FAST, clock=lambda: next(left, times[0]))
    tools = {"look": lambda order: {"ok": True}, "refund": raises(AssertionError())}
    outcome = run(contract, proposal, tools, tmp_path / "journal", settings=settings, today=times[0])
    assert outcome.kind == "held" and code(outcome) == "RUN001" and "AUT003" in outcome.reason


def test_the_ledger_must_still_end_where_it_was_frozen(tmp_path: Path) -> None:
    ledger = Ledger("l", CONTRACT.domain, ())
    one = Receipt("x", "tag", (("order", "O1"),), None, "success")
    frozen = replace(CONTRACT, head=heads(replace(ledger, entries=(one,)))[-1])
    proposal = replace(PROPOSAL, contract=frozen.name)
    moved = heads(replace(ledger, entries=(one, replace(one, id="y"))))[-1]
    settings = replace(FAST, head=lambda: moved)
    tools = Bent(Shop(tmp_path / "shop"))
    outcome = run(frozen, proposal, tools, tmp_path / "journal", settings=settings)
    assert outcome.kind == "held" and code(outcome) == "RUN006"
    assert set(tools.made) <= {"look", "stock"} and Shop(tmp_path / "shop").done() == []
    assert replay(tmp_path / "journal").outcome is not None
    settings = replace(FAST, head=lambda: frozen.head, lease=FileLease(tmp_path / "lease"))
    assert run(frozen, proposal, tools, tmp_path / "again", settings=settings).kind == "done"


def test_one_contract_is_executed_once(tmp_path: Path) -> None:
    assert go(tmp_path)[0].kind == "done"
    tools = Bent(Shop(tmp_path / "shop"))
    outcome = run(CONTRACT, PROPOSAL, tools, tmp_path / "second", settings=FAST)
    assert outcome.kind == "held" and code(outcome) == "RUN007" and not tools.made


def test_a_surface_without_the_tools_is_not_touched(tmp_path: Path) -> None:
    outcome = run(CONTRACT, PROPOSAL, {"look": raises(AssertionError())}, tmp_path / "journal")
    assert outcome.kind == "held" and code(outcome) == "RUN002" and not (tmp_path / "journal").exists()


def test_another_interface_is_not_touched(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    wanted, _ = interface_of(PythonTools(shop), PROPOSAL, CONTRACT)
    changed = Bent(shop)
    changed.interface = lambda: {**PythonTools(shop).interface(), "ship": "(order, slip, express=True)"}  # type: ignore[method-assign]
    outcome = run(CONTRACT, PROPOSAL, changed, tmp_path / "journal", interface=wanted)
    assert outcome.kind == "held" and code(outcome) == "RUN010" and not changed.made


def test_a_run_is_not_resumed_against_another_interface(tmp_path: Path) -> None:
    stopper = Stopper()
    shop = Shop(tmp_path / "shop", lambda where: stopper.stop("enough") if where == "after charge" else None)
    assert run(CONTRACT, PROPOSAL, shop, tmp_path / "journal", settings=FAST, stopper=stopper).resumable
    changed = Bent(shop)
    changed.interface = lambda: {**PythonTools(shop).interface(), "ship": "(order, slip, express=True)"}  # type: ignore[method-assign]
    outcome = resume(changed, tmp_path / "journal", settings=FAST)
    assert outcome.kind == "held" and code(outcome) == "RUN010" and outcome.resumable and not changed.made
    assert resume(Shop(tmp_path / "shop"), tmp_path / "journal", settings=FAST).kind == "done"
    assert shop.done() == ["charge", "mail", "tag", "ship"]


# -- stops ------------------------------------------------------------------------------------------------------------


def test_a_stop_waits_for_writes_in_the_air_and_can_be_taken_up(tmp_path: Path) -> None:
    stopper = Stopper()
    shop = Shop(tmp_path / "shop")

    def charge(order: str, amount: float) -> object:
        stopper.stop("SIGTERM")
        time.sleep(0.2)
        return shop.charge(order, amount)

    tools = Bent(shop, charge=charge)
    outcome = run(CONTRACT, PROPOSAL, tools, tmp_path / "journal", settings=FAST, stopper=stopper)
    assert outcome.kind == "held" and code(outcome) == "RUN008" and outcome.resumable
    assert statuses(outcome, "charge") == ["success"] and shop.done() == ["charge"]
    outcome, _ = go(tmp_path)
    assert outcome.kind == "done" and shop.done() == ["charge", "mail", "tag", "ship"]


def test_a_stop_that_cannot_wait_puts_the_write_in_doubt(tmp_path: Path) -> None:
    stopper = Stopper()
    shop = Shop(tmp_path / "shop")

    def mail(order: str) -> None:
        shop.mail(order)
        stopper.stop("SIGTERM")
        time.sleep(3)

    tools = Bent(shop, mail=mail)
    settings = replace(FAST, drain=0.1)
    outcome = run(CONTRACT, PROPOSAL, tools, tmp_path / "journal", settings=settings, stopper=stopper)
    assert outcome.kind == "held" and code(outcome) == "RUN008" and statuses(outcome, "mail") == ["unknown"]
    outcome, tools = go(tmp_path)
    assert outcome.kind == "done" and "mail" not in tools.made, "the look-up says that it went out"


# -- journals ---------------------------------------------------------------------------------------------------------


def test_two_processes_cannot_run_one_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as held:
        assert held.count == 0
        child = os.fork()
        if child == 0:
            try:
                Journal(tmp_path / "journal")
            except JournalError as problem:
                os._exit(3 if problem.code == "JRN002" else 4)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        with pytest.raises(JournalError) as problem:
            go(tmp_path)
        assert problem.value.code == "JRN002"
    assert go(tmp_path)[0].kind == "done"


def test_a_journal_is_of_one_contract_and_one_proposal(tmp_path: Path) -> None:
    stopper = Stopper()
    stopper.stop("at once")
    run(CONTRACT, PROPOSAL, Shop(tmp_path / "shop"), tmp_path / "journal", stopper=stopper)
    other, proposal = case(TEXT.replace('"O1"', '"O2"'))
    with pytest.raises(JournalError) as problem:
        run(other, proposal, Shop(tmp_path / "shop"), tmp_path / "journal")
    assert problem.value.code == "JRN004"


def test_a_full_disk_before_a_call_stops_it_and_after_it_leaves_a_doubt(tmp_path: Path) -> None:
    """The file may not grow: the first record that does not fit is the end of this process's part."""
    outcomes = set()
    for room in range(2, 12):
        folder = tmp_path / str(room)
        folder.mkdir()
        shop = Shop(folder / "shop")

        bounded = _bounded(folder / "journal", room)
        try:
            outcome = run(CONTRACT, PROPOSAL, shop, folder / "journal", settings=FAST)
        except JournalError as problem:
            assert problem.code == "JRN003" and not shop.done()
            continue
        finally:
            bounded.undo()
        if outcome.kind == "done":
            break
        assert outcome.kind == "held" and code(outcome) == "JRN003" and outcome.resumable, room
        done = shop.done()
        assert all(statuses(outcome, t) == ["success"] for t in done), "no receipt is lost to the caller"
        again, _ = go(folder)
        outcomes.add(again.kind)
        effects = shop.done()
        assert all(effects.count(t) <= 1 for t in ("charge", "mail", "ship"))
        assert effects[: len(done)] == done
    assert room > 5 and "done" in outcomes


class _bounded:
    """Lets a journal grow by so many transactions only: then SQLite itself says that the disk is full."""

    def __init__(self, path: Path, transactions: int) -> None:
        self.patch = pytest.MonkeyPatch()
        original, left = Journal.append, [transactions]

        def append(journal: Journal, entries: Any) -> None:
            left[0] -= 1
            if left[0] <= 0:
                pages = journal.connection.execute("pragma page_count").fetchone()[0]
                journal.connection.execute(f"pragma max_page_count = {pages}")
                entries = [*entries, {"is": "filler", "text": "x" * 200_000}]
            original(journal, entries)

        self.patch.setattr(Journal, "append", append)

    def undo(self) -> None:
        self.patch.undo()


def test_a_journal_that_cannot_be_written_begins_no_run(tmp_path: Path) -> None:
    tools = Bent(Shop(tmp_path / "shop"))
    with pytest.raises(JournalError) as problem:
        run(CONTRACT, PROPOSAL, tools, tmp_path / "no" / "such" / "folder")
    assert problem.value.code == "JRN001" and not tools.made
    (tmp_path / "text").write_text("not a journal, but long enough to be looked at\n" * 50)
    with pytest.raises(JournalError) as problem:
        run(CONTRACT, PROPOSAL, tools, tmp_path / "text")
    assert problem.value.code in {"JRN001", "JRN006"} and not tools.made


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become somebody else")
def test_a_read_only_journal_begins_no_run(tmp_path: Path) -> None:
    Journal(tmp_path / "journal").close()
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == "root" and str(path).startswith("/tmp/"):
            path.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            Journal(tmp_path / "journal")
        except JournalError as problem:
            os._exit(3 if problem.code == "JRN001" else 4)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    first = go(tmp_path)[0]
    assert first.kind == "done"
    made = Shop(tmp_path / "shop").done()
    again, resumed = go(tmp_path)[0], resume(Shop(tmp_path / "shop"), tmp_path / "journal")
    for told in (again, resumed):
        assert (told.kind, told.reason, told.terminal, told.steps) == (
            "done",
            first.reason,
            first.terminal,
            first.steps,
        )
        assert told.journal == first.journal and told.ledger == first.ledger and not told.resumable
    assert Shop(tmp_path / "shop").done() == made


# -- replay -----------------------------------------------------------------------------------------------------------


def edit(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_replay_needs_the_journal_alone_and_gives_the_same(tmp_path: Path) -> None:
    outcome, _ = go(tmp_path)
    (tmp_path / "shop").unlink()
    told = replay(tmp_path / "journal", head=outcome.journal)
    assert told.contract == CONTRACT and told.proposal == PROPOSAL and told.ledger == outcome.ledger
    assert told.steps == outcome.steps and told.outcome is not None and told.outcome["kind"] == "done"


@pytest.mark.parametrize(
    "statement",
    [
        "delete from entries where seq = 3",
        "delete from entries where seq = 0",
        """update entries set body = replace(body, '"success"', '"failure"') where body like '%"receipt"%'""",
        "update entries set body = replace(body, 'O1', 'O2')",
        "insert into entries select 99, body, hash from entries where seq = 1",
        "update entries set hash = 'x' where seq = 5",
        "update entries set body = x'00ff' where seq = 5",
    ],
)
def test_a_touched_journal_is_noticed(tmp_path: Path, statement: str) -> None:
    go(tmp_path)
    edit(tmp_path / "journal", "update entries set seq = seq" if "x'00ff'" in statement else statement)
    if "x'00ff'" in statement:
        with pytest.raises(sqlite3.IntegrityError):
            edit(tmp_path / "journal", statement)
        return
    with pytest.raises(JournalError) as problem:
        replay(tmp_path / "journal")
    assert problem.value.code == "JRN006"


def test_records_cut_off_the_end_are_missed_by_the_last_hash(tmp_path: Path) -> None:
    outcome, _ = go(tmp_path)
    edit(tmp_path / "journal", "delete from entries where seq >= 6")
    assert replay(tmp_path / "journal").outcome is None
    with pytest.raises(JournalError) as problem:
        replay(tmp_path / "journal", head=outcome.journal)
    assert problem.value.code == "JRN006"


def test_a_forged_journal_with_valid_hashes_decides_otherwise(tmp_path: Path) -> None:
    """Somebody writes the chain anew over other answers: the decisions do not follow from them."""
    go(tmp_path)
    told = replay(tmp_path / "journal")
    for lie in (("status", "failure"), ("result", {"slip": 7}), ("call", "other")):
        forged = tmp_path / f"forged-{lie[0]}"
        with Journal(forged) as book:
            for entry in told.entries:
                mine = dict(entry)
                if mine["is"] == "receipt" and str(mine["call"]).endswith(".c"):
                    mine[lie[0]] = lie[1]
                book.append([mine])
        with pytest.raises(JournalError) as problem:
            replay(forged)
        assert problem.value.code == "JRN007", lie


@pytest.mark.parametrize(
    "change",
    [
        {"contract": None}, {"contract": {"is": "Contract", "name": 1, "domain": 2, "digest": ""}}, {"proposal": [1]},
        {"now": "soon"}, {"retries": "x"}, {"version": 2}, {"is": "intent"}, {"is": 7}, {"run": None}, {"contract": "[" * 9},
    ],
    ids=str,
)  # fmt: skip
def test_a_forged_opening_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    go(tmp_path)
    entries = replay(tmp_path / "journal").entries
    with Journal(tmp_path / "forged") as book:
        book.append([{**entries[0], **change}, *entries[1:]])
    with pytest.raises(JournalError) as problem:
        replay(tmp_path / "forged")
    assert problem.value.code in {"JRN006", "JRN007", "JRN008"}


TOLD = {"at", "error", "broken", "late", "lost", "result"}
"""What may be one thing or another: whether it was true cannot be seen. What is decided from it can."""


@pytest.mark.parametrize("number", range(1, 8))
def test_forged_records_never_raise_anything_else(tmp_path: Path, number: int) -> None:
    go(tmp_path)
    entries = list(replay(tmp_path / "journal").entries)
    for i, key in enumerate(list(entries[number])):
        for j, value in enumerate((None, 7, "x", [], {"a": []}, "2026-01-01T00:00:00+00:00")):
            forged = tmp_path / f"forged-{i}-{j}"
            with Journal(forged) as book:
                book.append([*entries[:number], {**entries[number], key: value}, *entries[number + 1 :]])
            with (
                suppress(JournalError) if key in TOLD or entries[number][key] == value else pytest.raises(JournalError)
            ):
                replay(forged)


def test_an_adapter_that_gives_no_answer_leaves_a_doubt(tmp_path: Path) -> None:
    class Broken(Bent):
        def call(self, tool: str, arguments: Mapping[str, JSON], call: str) -> Answer:
            return None if tool == "ship" else super().call(tool, arguments, call)  # type: ignore[return-value]

    outcome = run(CONTRACT, PROPOSAL, Broken(Shop(tmp_path / "shop")), tmp_path / "journal", settings=FAST)
    assert outcome.kind == "held" and code(outcome) == "RUN005"


def test_a_damaged_file_is_noticed(tmp_path: Path) -> None:
    go(tmp_path)
    data = bytearray((tmp_path / "journal").read_bytes())
    for at in range(4096, len(data), 61):
        data[at] ^= 0x55
    (tmp_path / "journal").write_bytes(bytes(data))
    with pytest.raises(JournalError) as problem:
        replay(tmp_path / "journal")
    assert problem.value.code == "JRN006"
    with pytest.raises(JournalError):
        replay(tmp_path / "nowhere")


def test_a_slow_write_that_a_read_does_not_see_yet_is_not_made_again(tmp_path: Path) -> None:
    """A refutation tells about the past: what is still under way may land after it."""
    shop = Shop(tmp_path / "shop")

    def mail(order: str) -> None:
        time.sleep(1)
        shop.mail(order)

    outcome, tools = go(tmp_path, replace(FAST, timeout=0.2), mail=mail)
    assert outcome.kind == "held" and code(outcome) == "RUN005" and "under way" in outcome.reason
    time.sleep(1.2)
    assert tools.made.count("mail") == 1 and shop.done().count("mail") == 1
    assert statuses(outcome, "mail") == ["unknown", "pending"]
    assert happened(outcome.ledger).doubts, "and whoever freezes next must still doubt it"
