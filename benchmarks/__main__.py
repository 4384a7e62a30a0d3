"""Turns the command line into one table of measurements (or one JSON document)."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys

from benchmarks.measures import MEASURES
from benchmarks.rows import Row
from benchmarks.table import lines


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What cfrc costs, beside peers and aims.")
    parser.add_argument("--quick", action="store_true", help="the smallest sizes, each once: a smoke test")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--only", action="append", choices=list(MEASURES), metavar="NAME",
                        help=f"only this group of rows (may be repeated): {', '.join(MEASURES)}")  # fmt: skip
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    rows: list[Row] = []
    for name in options.only or MEASURES:
        for row in MEASURES[name](options.quick):
            rows.append(row)
            if sys.stderr.isatty():
                print(f"\r{row.name:<60}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(f"\r{'':<60}\r", end="", file=sys.stderr)
    machine = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}
    if options.json:
        print(json.dumps({"machine": machine, "rows": [r.json() for r in rows]}, indent=2))
        return 0
    print(f"Python {machine['python']} on {machine['system']}, {machine['cores']} cores; medians in milliseconds.\n")
    print("\n".join(lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
