"""A guarded run: the journal has everything, a killed guard is taken up, nothing is repeated, and two cannot share one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cfrc.handoff.guarding.guarded import GuardedRun
from cfrc.handoff.guarding.monitor import Allowed, Monitor, NotAdmitted, Refusal
from cfrc.handoff.running.journal import JournalError
from cfrc.handoff.running.replay import replay
from cfrc.handoff.tools import Answer
from cfrc.lang.load import load, load_contract, load_proposal
from cfrc.model.verdict import Status
from cfrc.source import Source
from tests.handoff.test_monitor import DOMAIN, SEEN

ANSWERS = {"look": SEEN | {"price": 12}, "cancel": {"ref": "r1"}, "tell": {"at": "2026-12-01T09:00:00Z"}}
START = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Killed(BaseException):
    """The process ends here."""


def plan(name: str = "good", text: str = DOMAIN) -> tuple:
    loaded = load(Source("shop.cfrc", text))
    return loaded.contracts["z"], loaded.proposals[name]


class Clock:
    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def opened(tmp_path: Path, name: str = "good", **more: object) -> GuardedRun:
    return GuardedRun(*plan(name), tmp_path / "journal", clock=Clock(), **more)  # type: ignore[arg-type]


def call(run: GuardedRun, tool: str, arguments: dict, answer: Answer | None = None) -> str:
    allowed = run.offer(tool, arguments)
    assert isinstance(allowed, Allowed), allowed
    return run.record(allowed, answer or Answer("success", ANSWERS[tool]))  # type: ignore[arg-type]


ORDER = [("look", {"o": "o1"}), ("cancel", {"o": "o1"}), ("tell", {"r": "r1", "text": "gone"})]


def test_a_whole_run_is_in_the_journal(tmp_path: Path) -> None:
    run = opened(tmp_path)
    for tool, arguments in ORDER:
        assert call(run, tool, arguments) == "ok"
    run.close()
    told = replay(tmp_path / "journal")
    assert told.outcome is not None and told.outcome["kind"] == "done"
    assert [r.tool for r in told.ledger.entries] == ["look", "cancel", "tell"]  # type: ignore[union-attr]
    assert not told.open_calls
    with pytest.raises(JournalError) as over:
        opened(tmp_path)
    assert over.value.code == "JRN005"


def test_refused_calls_leave_no_trace(tmp_path: Path) -> None:
    run = opened(tmp_path)
    before = run.journal.count
    for tool, arguments in (("tell", {}), ("look", {"o": "o2"}), ("nothing", {})):
        assert isinstance(run.offer(tool, arguments), Refusal)
    assert run.journal.count == before
    run.close()


@pytest.mark.parametrize("made", range(len(ORDER)))
def test_a_guard_that_went_away_is_taken_up(tmp_path: Path, made: int) -> None:
    run = opened(tmp_path)
    for tool, arguments in ORDER[:made]:
        call(run, tool, arguments)
    run.close()
    again = opened(tmp_path)
    for tool, arguments in ORDER[:made]:
        refused = again.offer(tool, arguments)
        assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN102"
    for tool, arguments in ORDER[made:]:
        assert call(again, tool, arguments) == "ok"
    assert again.ending is not None and again.ending.kind == "done"
    again.close()
    assert replay(tmp_path / "journal").outcome is not None


def test_killed_at_every_record_nothing_is_repeated(tmp_path: Path) -> None:
    """Whatever was on the disk last: a write that may have been made is never let through a second time."""
    for stop in range(40):
        folder = tmp_path / str(stop)
        folder.mkdir()
        made: list[str] = []
        left = [stop]

        def hook(moment: str, count: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        finished = _until_killed(folder, made, hook)
        if finished:
            assert made == ["look", "cancel", "tell"]
            return
        _again(folder, made)
        assert made.count("cancel") <= 1 and made.count("tell") <= 1, (stop, made)
    raise AssertionError("the run is longer than expected")


def _until_killed(folder: Path, made: list[str], hook: object) -> bool:
    run = None
    try:
        run = opened(folder, hook=hook)
        for tool, arguments in ORDER:
            allowed = run.offer(tool, arguments)
            assert isinstance(allowed, Allowed)
            made.append(tool)
            run.record(allowed, Answer("success", ANSWERS[tool]))  # type: ignore[arg-type]
        run.journal.close()
        return True
    except Killed:
        return False
    finally:
        if run is not None:  # as the system does for a process that ends
            run.journal.close()
            if run.lease is not None:
                run.lease.release()


def _again(folder: Path, made: list[str]) -> None:
    try:
        run = opened(folder)
    except JournalError as problem:
        assert problem.code == "JRN005" and made == ["look", "cancel", "tell"]
        return
    for tool, arguments in ORDER:
        offered = run.offer(tool, arguments)
        if isinstance(offered, Allowed):
            made.append(tool)
            run.record(offered, Answer("success", ANSWERS[tool]))  # type: ignore[arg-type]
    run.close()
    replay(folder / "journal")


def test_two_guards_cannot_share_one_journal(tmp_path: Path) -> None:
    run = opened(tmp_path)
    with pytest.raises(JournalError) as busy:
        opened(tmp_path)
    assert busy.value.code == "JRN002"
    run.close()


def test_two_guards_cannot_share_one_contract(tmp_path: Path) -> None:
    run = opened(tmp_path)
    other = GuardedRun(*plan(), tmp_path / "another", clock=Clock())
    refused = other.offer("look", {"o": "o1"})
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and "lease" in refused.reason
    run.close()
    other.close()


def test_a_journal_of_another_plan_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(JournalError) as other:
        opened(tmp_path, "approved")
    assert other.value.code == "JRN004"


def test_another_interface_is_held(tmp_path: Path) -> None:
    opened(tmp_path, interface="sha256:1").close()
    run = opened(tmp_path, interface="sha256:2")
    refused = run.offer("look", {"o": "o1"})
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and "interface" in refused.reason
    run.close()


def test_a_plan_that_is_not_admitted_opens_no_journal(tmp_path: Path) -> None:
    contract, good = plan(text=DOMAIN.replace('text: "gone")', 'text: "gone") when a.phase == shipped', 1))
    with pytest.raises(NotAdmitted) as raised:
        GuardedRun(contract, good, tmp_path / "journal")
    assert raised.value.verdict.status is Status.REFUSED
    assert not (tmp_path / "journal").exists()


def test_a_journal_that_cannot_be_written_stops_the_call_before_it_is_made(tmp_path: Path) -> None:
    run = opened(tmp_path)
    run.journal.connection.execute("pragma query_only = on")
    refused = run.offer("look", {"o": "o1"})
    assert isinstance(refused, Refusal) and refused.code == "CFRC-JRN003" and "not made" in refused.reason
    after = run.offer("look", {"o": "o1"})
    assert isinstance(after, Refusal) and after.code == "CFRC-RUN105"
    run.close()
    again = opened(tmp_path)
    assert call(again, "look", {"o": "o1"}) == "ok"
    again.close()


def test_an_answer_that_cannot_be_written_is_lost_and_in_doubt_later(tmp_path: Path) -> None:
    run = opened(tmp_path)
    call(run, "look", {"o": "o1"})
    allowed = run.offer("cancel", {"o": "o1"})
    assert isinstance(allowed, Allowed)
    run.journal.connection.execute("pragma query_only = on")
    assert run.record(allowed, Answer("success", {"ref": "r1"})) == "lost"
    run.close()
    again = opened(tmp_path)
    refused = again.offer("cancel", {"o": "o1"})
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105"
    again.close()


@pytest.mark.parametrize("result", [1e400, {"o": {1, 2}}, "x" * 20_000_000])
def test_an_answer_that_no_journal_can_hold_is_no_receipt(tmp_path: Path, result: object) -> None:
    run = opened(tmp_path)
    assert call(run, "look", {"o": "o1"}, Answer("success", result)) in ("doubt", "outside")  # type: ignore[arg-type]
    assert run.ending is not None and run.ending.kind == "held"
    run.close()
    assert replay(tmp_path / "journal").ledger.entries[-1].status == "unknown"  # type: ignore[union-attr]


def test_the_document_tells_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    text = (root / "docs" / "handoff.md").read_text(encoding="utf-8")
    section = text.partition("\n## Guard")[2].partition("\n## ")[0]
    code = section.partition("```python\n")[2].partition("```")[0]
    exec(compile(code, "docs/handoff.md", "exec"), {})
    contract, plan = (
        load_contract("examples/invoice/contract.cfrc"),
        load_proposal("examples/invoice/good.cfrc", load_contract("examples/invoice/contract.cfrc")),
    )
    refused = Monitor.open(contract, plan, START).offer("delivery_status", {"send": "mail-1"}, START)
    assert f"```text\n{refused}\n```" in section
    assert (root / "docs" / "../examples/guard-sqlite/README.md").exists()


def test_the_ledger_s_end_is_compared_again_before_the_first_write(tmp_path: Path) -> None:
    """Between the guard's start and the first write a client may take its time."""
    frozen, moved = (f"sha256:{n * 64}" for n in "01")
    contract, proposal = plan(text=DOMAIN.replace("    fixed order", f'    head "{frozen}"\n    fixed order'))
    ends = [frozen]
    run = GuardedRun(contract, proposal, tmp_path / "journal", head=lambda: ends[0], clock=Clock())
    assert call(run, "look", {"o": "o1"}) == "ok"
    ends[0] = moved
    assert isinstance(run.offer("tell", {"r": "r1", "text": "gone"}), Refusal)  # not its turn: nothing is compared
    assert run.ending is None
    refused = run.offer("cancel", {"o": "o1"})
    assert isinstance(refused, Refusal) and refused.code == "CFRC-RUN105" and "moved on" in refused.reason
    run.close()
    told = replay(tmp_path / "journal")
    assert told.outcome is not None and told.outcome["code"] == "RUN006"
    assert [e["is"] for e in told.entries].count("intent") == 1


def test_a_ledger_that_has_not_moved_is_compared_once_more(tmp_path: Path) -> None:
    frozen, asked = f"sha256:{'0' * 64}", []
    contract, proposal = plan(text=DOMAIN.replace("    fixed order", f'    head "{frozen}"\n    fixed order'))

    def head() -> str:
        asked.append(1)
        return frozen

    run = GuardedRun(contract, proposal, tmp_path / "journal", head=head, clock=Clock())
    for tool, arguments in ORDER:
        assert call(run, tool, arguments) == "ok"
    run.close()
    assert len(asked) == 2 and replay(tmp_path / "journal").outcome["kind"] == "done"  # type: ignore[index]
