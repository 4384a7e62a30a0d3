"""Turns what the freezes of all cuts said into a Markdown section: counts, and the exceptions by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.support.cuts import Cut


def wrong(cuts: Sequence[Cut]) -> list[str]:
    """What must never be: done where it is not, or a contract that the ledger contradicts."""
    found = [f"{_name(c)}: complete at the end, but not gold" for c in cuts if _done(c) and c.last and not c.run.gold]
    found += [f"{_name(c)}: the audit refuses what was frozen" for c in cuts if not c.clean]
    return found


def _name(c: Cut) -> str:
    return f"{c.run.id}/{c.at}"


def _done(c: Cut) -> bool:
    return c.kind == "complete"


def _early(cuts: Sequence[Cut]) -> list[Cut]:
    """A gold run whose work is called done while there are changes to come that its task asks for."""
    return [c for c in cuts if _done(c) and c.run.gold and c.run.owed.goals and c.at < max(c.run.changes, default=0)]


def markdown(cuts: Sequence[Cut]) -> Iterator[str]:
    yield "| STATE-Bench customer support, recorded | |"
    yield "|---|---|"
    for what, count in _rows(cuts):
        yield f"| {what} | {count} |"
    yield ""
    yield from _lists(cuts)


def _rows(cuts: Sequence[Cut]) -> Iterator[tuple[str, str]]:
    ends = [c for c in cuts if c.last]
    gold, other = [c for c in ends if c.run.gold], [c for c in ends if not c.run.gold]
    yield "runs (gold), cuts", f"{len(ends)} ({len(gold)}), {len(cuts)}"
    yield "what every cut comes to", _counted(c.kind for c in cuts)
    yield "the frozen contract stands up to its ledger's audit", f"{sum(c.clean for c in cuts)} of {len(cuts)}"
    yield "gold runs: `complete` at the end", f"{sum(map(_done, gold))} of {len(gold)}"
    yield "gold runs: `complete` before the last change that was owed", str(len(_early(cuts)))
    yield "other runs: `complete` at the end", f"{sum(map(_done, other))} of {len(other)}"
    yield "… what they come to instead", _counted(c.kind for c in other)
    owing = [c for c in other if c.run.owed.goals]
    yield (
        "… of those that owe something: all of it claimed, and discharged",
        f"{sum(c.claimed for c in owing)} of {len(owing)}",
    )
    hidden = [f for c in ends for f in c.run.owed.hidden]
    told = sum(len(c.run.owed.goals) for c in ends)
    yield "owed events and states; limits on single items", f"{told}; {sum(len(c.run.owed.never) for c in ends)}"
    yield "requirements that no call of the interface tells", f"{len(hidden)} ({_counted(hidden)})"
    yield "receipts that are no evidence by their type", str(sum(c.notes for c in ends))


def _counted(words: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(f"{w} {n}" for w, n in Counter(words).most_common()) or "none"


def _lists(cuts: Sequence[Cut]) -> Iterator[str]:
    yield "Gold runs that are not `complete` at the end (done in another way than the owed one):"
    yield ""
    for c in cuts:
        if c.last and c.run.gold and not _done(c):
            yield _line(c)
    yield ""
    yield "Cuts of gold runs that are `complete` although a change is still to come that no obligation can express:"
    yield ""
    for c in _early(cuts):
        yield f"- `{_name(c)}`: the task also asks for {', '.join(dict.fromkeys(c.run.owed.hidden))}"
    yield ""
    yield "Runs that are not gold, and why they are not accepted:"
    yield ""
    for c in cuts:
        if c.last and not c.run.gold:
            yield _line(c)


def _line(c: Cut) -> str:
    return f"- `{c.run.id}` {c.kind}: {'; '.join(c.reasons) or 'something is still owed'}"
