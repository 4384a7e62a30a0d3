"""Turns ``python -m benchmarks.toolsandbox FOLDER`` into the table of ToolSandbox's recorded calls.

FOLDER holds ``tasks.jsonl``. Exit code 1: a frozen contract does not stand up to the audit of its ledger."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.toolsandbox.cuts import Went, cuts, tasks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.toolsandbox", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth task")
    options = parser.parse_args()
    found = [w for t in list(tasks(options.folder))[:: options.sample] for w in cuts(t)]
    print("\n".join(markdown(found)))
    return 0 if all(w.clean for w in found) else 1


def markdown(found: Sequence[Went]) -> Iterator[str]:
    ends = [w for w in found if w.last]
    words = Counter(w.word for w in found)
    hidden: Counter[str] = sum((Counter(w.hidden) for w in ends), Counter())
    yield "| ToolSandbox, recorded | |"
    yield "|---|---|"
    yield f"| tasks, cuts | {len(ends)}, {len(found)} |"
    yield f"| every cut | {', '.join(f'{w} {n}' for w, n in words.most_common())} |"
    yield f"| the frozen contract stands up to its ledger's audit | {sum(w.clean for w in found)} of {len(found)} |"
    owing = [w for w in ends if w.goals]
    done = sum(w.word == "complete" for w in owing)
    yield f"| tasks that owe something the tools tell: `complete` at the end | {done} of {len(owing)} |"
    yield f"| milestones that no receipt can tell | {', '.join(f'{k} {n}' for k, n in hidden.most_common())} |"
    yield f"| receipts that are no evidence by their type | {sum(w.untyped for w in ends)} |"
    yield ""
    yield "Cuts that are neither `complete` nor admitted, by reason:"
    yield ""
    by: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for w in found:
        if w.word not in ("complete", "admitted"):
            by[w.word, w.codes].append(w.cut)
    for (word, codes), names in sorted(by.items(), key=lambda entry: -len(entry[1])):
        yield f"- {word} ({' '.join(codes) or '–'}) {len(names)}: {', '.join(f'`{n}`' for n in names)}"


if __name__ == "__main__":
    sys.exit(main())
