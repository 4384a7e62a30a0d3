"""Turns a function into the median time of a warm call, and a command into the median time of a cold process.

A call computes and waits for nothing: it is timed in processor time, which other work on the machine hardly changes. A
process is timed by the clock on the wall.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

ROOT = Path(__file__).parent.parent


def warm(work: Callable[[], object], seconds: float = 1.0, most: int = 15) -> float:
    """Milliseconds: the median of up to ``most`` calls after one unmeasured call, as many as fit into ``seconds``."""
    work()
    times: list[float] = []
    while len(times) < most and (sum(times) < seconds or len(times) < 1):
        start = process_time()
        work()
        times.append(process_time() - start)
    return median(times) * 1000


def once(work: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    """Milliseconds of one call."""
    start = clock()
    work()
    return (clock() - start) * 1000


def run(arguments: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
    """Runs ``python ARGUMENTS`` at the top of the tree. Raises :class:`subprocess.TimeoutExpired`."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


def cold(arguments: Sequence[str], times: int) -> tuple[float, int]:
    """Milliseconds: the median of whole processes of ``python ARGUMENTS``; and the last exit code."""
    code = 0

    def process() -> None:
        nonlocal code
        code = run(arguments, 60).returncode

    return median(once(process, perf_counter) for _ in range(times)), code
