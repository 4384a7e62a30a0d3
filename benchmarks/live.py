"""Turns plans whose tools do nothing, or sleep, into rows: what checked execution adds to a call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from benchmarks.graphs import Ground, ground
from benchmarks.rows import Row
from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.journal import Journal
from cfrc.handoff.running.replay import replay
from cfrc.handoff.running.run import run
from cfrc.verify.admission import admit

AIM = 1.0
"""Milliseconds that checking and journaling may add to one call."""


def run_rows(quick: bool) -> Iterator[Row]:
    """Checked execution with the journal on the disk: time per call, without the admission before."""
    for size in (20,) if quick else (20, 200, 1_000):
        yield _row(size, 0.0, 1 if quick else 5)
    if not quick:
        yield _row(50, 0.01, 3)
    yield _replay(20 if quick else 200)


def _tool(seconds: float) -> Callable[..., None]:
    def make(item: str, needs: str, also: str) -> None:
        if seconds:
            sleep(seconds)

    return make


def _row(size: int, seconds: float, times: int) -> Row:
    plan, tool = ground("chain", size), _tool(seconds)
    mine = median(_checked(plan, tool) for _ in range(times)) / size
    direct = median(_direct(plan, tool) for _ in range(times)) / size
    what = f"one of {size:,} calls" + (
        f" to a tool of {seconds * 1000:.0f} ms" if seconds else " to a tool that does nothing"
    )
    bare = median(_bare(size) for _ in range(times)) / size
    added = f"{mine - direct:.2f} ms added to a call, {bare:.2f} of them the disk's"
    return Row("run", what, mine, AIM if not seconds else None, {"direct": direct, "bare journal": bare}, added)


def _checked(plan: Ground, tool: Callable[..., None]) -> float:
    """Milliseconds of a whole run, without its admission."""
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        outcome = run(plan.contract, plan.proposal, {"make": tool}, Path(folder) / "journal", settings=Settings())
        whole = perf_counter() - start
    assert outcome.kind == "done", outcome.reason
    start = perf_counter()
    admit(plan.contract, plan.proposal)
    return (whole - (perf_counter() - start)) * 1000


def _direct(plan: Ground, tool: Callable[..., None]) -> float:
    start = perf_counter()
    for item, needs, also in plan.steps:
        tool(item=f"item-{item}", needs=f"item-{needs}", also=f"item-{also}")
    return (perf_counter() - start) * 1000


def _bare(size: int) -> float:
    """Milliseconds of as many synchronized transactions in the same kind of file, with nothing around them."""
    entry = {"is": "intent", "text": "x" * 900}
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal") as book:
        start = perf_counter()
        for _ in range(size):
            book.append([entry])
        return (perf_counter() - start) * 1000


def _replay(size: int) -> Row:
    plan = ground("chain", size)
    with tempfile.TemporaryDirectory() as folder:
        run(plan.contract, plan.proposal, {"make": _tool(0.0)}, Path(folder) / "journal", settings=Settings())
        start = perf_counter()
        replay(Path(folder) / "journal")
        return Row("run", f"replay a journal of {size:,} calls", (perf_counter() - start) * 1000)
