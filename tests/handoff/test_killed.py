"""``kill -9`` between any two steps: a resumed run repeats no completed write and never blindly retries one in doubt."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.replay import replay
from cfrc.handoff.running.run import Outcome, run
from tests.handoff.shop import ONCE, Shop, case

CONTRACT, PROPOSAL = case()
SETTINGS = Settings(parallel=2, interval=lambda poll: 0.0, grace=0.0)


class Points:
    """Counts the places where a process may end, and ends it at one of them."""

    def __init__(self, fatal: int | None = None) -> None:
        self.passed, self.fatal, self.names = 0, fatal, list[str]()

    def __call__(self, where: str, count: int = 0) -> None:
        if self.passed == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1
        self.names.append(f"{where} {count}")


def execute(folder: Path, points: Points) -> Outcome:
    return run(CONTRACT, PROPOSAL, Shop(folder / "shop", points), folder / "journal", settings=SETTINGS, hook=points)


def in_child(work: Callable[[], object]) -> int:
    """Runs something in a process of its own and returns the signal that ended it (0: none)."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # a child must not come back into the test runner
            os._exit(77)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def count_points(folder: Path) -> list[str]:
    points = Points()
    folder.mkdir()
    assert execute(folder, points).kind == "done"
    return points.names


def judge(folder: Path, where: str) -> None:
    """What must hold of the world and the journal, whatever happened."""
    outcome = execute(folder, Points())
    effects = Shop(folder / "shop").done()
    for write in ONCE:
        assert effects.count(write) <= 1, (where, effects)
    recorded = {(r.tool, r.status) for r in outcome.ledger.entries}  # type: ignore[union-attr]
    for write in set(effects):
        assert {(write, "success"), (write, "unknown")} & recorded, (where, effects, recorded)
    if outcome.kind == "done":
        assert set(effects) == {*ONCE, "tag"}
    else:
        assert outcome.kind == "held" and outcome.findings[0].code == "CFRC-RUN005", (where, outcome.reason)
        assert {(s, "unknown") for s in ("charge", "ship")} & recorded, where
    again = replay(folder / "journal", head=outcome.journal)
    assert again.outcome is not None and again.outcome["kind"] == outcome.kind
    assert again.ledger == outcome.ledger


def test_a_run_killed_at_any_step_is_resumed(tmp_path: Path) -> None:
    names = count_points(tmp_path / "whole")
    assert len(names) > 20
    kinds = set()
    for fatal, where in enumerate(names):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        if in_child(lambda: execute(folder, Points(fatal))) == 0:  # noqa: B023
            assert fatal >= len(names) - 4, "threads that were faster share a record, so there are fewer steps"
        else:
            judge(folder, where)
        kinds.add(replay(folder / "journal").outcome["kind"])  # type: ignore[index]
    assert kinds == {"done", "held"}


@pytest.mark.parametrize("second", [0, 2, 5])
def test_a_resumed_run_killed_again_is_resumed_again(tmp_path: Path, second: int) -> None:
    names = count_points(tmp_path / "whole")
    for fatal in range(2, len(names), 3):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        in_child(lambda: execute(folder, Points(fatal)))  # noqa: B023
        ended = in_child(lambda: execute(folder, Points(second)))  # noqa: B023
        assert ended in (0, -signal.SIGKILL) or (ended == 77 and replay(folder / "journal").outcome is not None)
        if replay(folder / "journal").outcome is None:
            judge(folder, names[fatal])
        effects = Shop(folder / "shop").done()
        assert all(effects.count(write) <= 1 for write in ONCE)
