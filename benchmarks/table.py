"""Turns rows into one plain table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.rows import Row

HEADINGS = ("what", "ms", "aim", "of aim", "peers: ms (cfrc is so many times that)", "note")


def number(x: float | None, missing: str = "-") -> str:
    """Three significant digits, thousands separated."""
    if x is None:
        return missing
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def cells(row: Row) -> tuple[str, ...]:
    found = []
    for peer, ms in row.peers.items():
        ratio = row.ratio(peer)
        times = f" ({number(ratio)}x)" if ratio is not None else ""
        found.append(f"{peer} {number(ms, 'absent')}{times}")
    notes = [n for n in (f"{row.megabytes:.0f} MB at the peak" if row.megabytes is not None else "", row.note) if n]
    of_aim = f"{number(row.of_aim)}x" if row.of_aim is not None else "-"
    return (row.name, number(row.ms), number(row.aim), of_aim, ", ".join(found), "; ".join(notes))


def lines(rows: Iterable[Row]) -> list[str]:
    """Heading, rule, and one line a row; a blank line between groups."""
    listed: list[tuple[str, Sequence[str]]] = [(r.group, cells(r)) for r in rows]
    widths = [max(len(c[i]) for c in (HEADINGS, *(c for _, c in listed))) for i in range(len(HEADINGS))]

    def line(parts: Sequence[str]) -> str:
        aligned = [
            p.rjust(w) if 1 <= i <= 3 else p.ljust(w) for i, (p, w) in enumerate(zip(parts, widths, strict=True))
        ]
        return "  ".join(aligned).rstrip()

    found = [line(HEADINGS), "  ".join("-" * w for w in widths)]
    group = listed[0][0] if listed else ""
    for name, parts in listed:
        if name != group:
            found.append("")
            group = name
        found.append(line(parts))
    return found
