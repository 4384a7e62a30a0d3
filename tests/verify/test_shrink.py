"""Counterexamples of long runs are made smaller within a budget."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cfrc.lang.load import load
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify.admission import admit
from cfrc.verify.paths import Paths

CALLS = 150

DOMAIN = """
domain d
    id Item, Receipt
    effect sent(item: Item) once
    write send(item: Item) -> { receipt: Receipt, fee: int, late: bool }
        ensures result.fee >= 0
        causes sent(item)
"""


def chain() -> str:
    """A long chain whose last call repeats the first."""
    lines = ["contract c for d", '    kept sent("k") from receipt r0 of send']
    lines += [f'    known x{i}: Item = "i{i}" from user turn 1' for i in range(CALLS)]
    lines += ["    owes o: sent(x0)", "    allow send", "    within sent(_)", "", "proposal p for c"]
    lines += [f"    s{i} = send(item: x{i})" + (f" after s{i - 1}" if i else "") for i in range(CALLS)]
    return "\n".join([DOMAIN, *lines, f"    again = send(item: x0) after s{CALLS - 1}", "    done", ""])


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The lengths of the runs that are replayed."""
    lengths: list[int] = []
    replay = Paths.replay

    def noting(self: Paths, scenario: object, today: object) -> object:
        lengths.append(len(scenario.events))  # type: ignore[attr-defined]
        return replay(self, scenario, today)  # type: ignore[arg-type]

    monkeypatch.setattr(Paths, "replay", noting)
    yield lengths


def test_a_long_run_is_replayed_a_bounded_number_of_times(replays: list[int]) -> None:
    spec = load(Source("<chain>", chain()))
    verdict = admit(spec.contracts["c"], spec.proposals["p"])
    assert verdict.status is Status.REFUSED
    example = next(f.counterexample for f in verdict.findings if f.code == "CFRC-PRS002")
    assert example is not None
    assert [s.node for s in example.order][-1] == "again"
    assert len(example.order) == CALLS + 1  # each waits for the one before: none can go
    assert sum(replays) < 60_000
