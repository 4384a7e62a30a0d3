"""Turns ``python -m benchmarks.support FOLDER`` into the table of the recorded runs of STATE-Bench's customer support.

FOLDER holds ``tasks.jsonl`` (recorded runs with their results) and ``task_defs.jsonl`` (what was owed). Exit code 1: a
run that is not gold was accepted as complete, or a frozen contract does not stand up to the audit of its ledger."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.support.cuts import cut, runs
from benchmarks.support.report import markdown, wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.support", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="only these, by id")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth run")
    options = parser.parse_args()
    cuts = []
    for number, run in enumerate(runs(options.folder)):
        if number % options.sample or (options.tasks and run.id not in options.tasks):
            continue
        if sys.stderr.isatty():
            print(f"\r{run.id:<70}", end="", file=sys.stderr)
        cuts += [cut(run, at) for at in range(len(run.actions) + 1)]
    print("\n".join(markdown(cuts)))
    for line in (found := wrong(cuts)):
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
