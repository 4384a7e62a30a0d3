"""Turns ``python -m benchmarks.banking`` into the live table of AgentDojo's banking suite. Needs the extra
``agentdojo``. Exit code 1: a run differs from the reference, or an attacker's call or value got through."""

from __future__ import annotations

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.banking", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="only these (user_task_0 …)")
    options = parser.parse_args()
    try:
        from benchmarks.banking.report import markdown, measured
    except ModuleNotFoundError as missing:
        if missing.name != "agentdojo":
            raise
        print("the suite needs its package: pip install 'cfrc[agentdojo]'", file=sys.stderr)
        return 2
    report = measured(options.tasks, _progress)
    print("\n".join(markdown(report)))
    for line in report.wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if report.wrong else 0


def _progress(name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{name:<40}", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
