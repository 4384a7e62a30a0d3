"""Turns what became of all cuts into a Markdown section: counts, and the other cuts by their reasons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks.retail.live import Went


def wrong(found: Sequence[Went]) -> list[str]:
    """What must never be: an admitted plan or a completed task that ends elsewhere, a refused plan that wrote."""
    return [
        f"{w.cut}: {w.word}, {w.outcome}"
        for w in found
        if (w.word in ("admitted", "complete") and not _right(w)) or (w.word != "admitted" and w.touched)
    ]


def _right(w: Went) -> bool:
    return bool(w.same) and w.outcome in (None, "done")


def markdown(found: Sequence[Went]) -> Iterator[str]:
    words = Counter(w.word for w in found)
    others = ", ".join(f"{k} {n}" for k, n in sorted(words.items()) if k not in ("admitted", "complete"))
    yield "| τ²-bench retail, live | |"
    yield "|---|---|"
    yield f"| tasks, cuts | {len({w.cut.partition('/')[0] for w in found})}, {len(found)} |"
    for word, what in (
        ("complete", "`complete`: database hash as after the reference run"),
        ("admitted", "closed, admitted, run to `done`: the same database hash"),
    ):
        yield f"| {what} | {sum(w.word == word and _right(w) for w in found)} of {words[word]} |"
    yield f"| other cuts | {others or 'none'} |"
    yield f"| … of these with any write | {sum(w.touched for w in found if w.word != 'admitted')} |"
    yield ""
    yield "The other cuts, by reason:"
    yield ""
    by: dict[tuple[str, tuple[str, ...]], list[Went]] = defaultdict(list)
    for w in found:
        if w.word not in ("admitted", "complete"):
            by[w.word, tuple(sorted(w.codes))].append(w)
    for (word, codes), group in sorted(by.items(), key=lambda entry: -len(entry[1])):
        why = f", as {'; '.join(group[0].why[:2])}" if group[0].why else ""
        yield f"- {word} ({' '.join(codes) or '–'}) {len(group)}: {', '.join(f'`{w.cut}`' for w in group)}{why}"
