"""Turns one ground case into one line of JSON: times, statistics and the peak of this process's memory.

``python -m benchmarks.worker SHAPE SIZE [named]``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.graphs import ground
from benchmarks.timing import once, warm
from cfrc.verify.admission import Admission


def peak() -> float:
    """Megabytes: the largest resident size of this process so far; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux: `ru_maxrss` there still counts the parent, from before this program was loaded
        sizes = dict(line.split(":", 1) for line in status.read_text(encoding="ascii", errors="replace").splitlines())
        return int(sizes["VmHWM"].split()[0]) * 1024 / 1e6
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main(shape: str, size: int, named: bool) -> None:
    plan = ground(shape, size, named)
    prepared: list[Admission] = []
    prepare = once(lambda: prepared.append(Admission(plan.contract)))
    verdict = prepared[0].admit(plan.proposal)
    found = {
        "prepare": prepare,
        "ms": warm(lambda: prepared[0].admit(plan.proposal), seconds=3.0, most=7),
        "status": verdict.status.word,
        "obligations": verdict.stats.obligations,
        "normalized": verdict.stats.normalized,
        "megabytes": peak(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "named" in sys.argv[3:])
