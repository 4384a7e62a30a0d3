"""Turns a verdict into something that a reviewer enjoys: findings with excerpts, plan and story, and one last line.

Layout (hanging indents, wrapping) is rich's; every text in it has been made safe before and is never read as markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from cfrc.codes import full
from cfrc.model.verdict import Counterexample, Difference, Finding, Status, Verdict
from cfrc.report.drawing import draw
from cfrc.report.escape import clip, columns, lookalikes
from cfrc.report.excerpt import excerpt
from cfrc.report.json import verdict_word
from cfrc.report.naming import Naming
from cfrc.report.pieces import Line, Piece, paint, prose, rich_text, word
from cfrc.report.story import story

if TYPE_CHECKING:
    from rich.console import RenderableType

_STATUS_STYLE = {
    Status.ADMITTED: "ok",
    Status.COMPLETE: "ok",
    Status.FRESH: "ok",
    Status.UNDECIDED: "undecided",
    Status.REFUSED: "error",
    Status.WITHHELD: "error",
}
_DRAWN = {"dependency", "preservation", "evidence"}
_LABEL = 12


def render_verdict(
    verdict: Verdict,
    names: Naming | None = None,
    *,
    shown: Sequence[Finding] | None = None,
    quiet: bool = False,
    color: bool = False,
    width: int = 100,
) -> str:
    """The verdict as text.

    ``shown`` are the findings to print when not all are wanted; how many are left out is said, and the verdict's line
    always speaks of all of them. ``quiet`` prints that line only.
    """
    findings = verdict.findings if shown is None else tuple(shown)
    parts: list[RenderableType] = []
    if not quiet:
        told = _Told()
        for finding in findings:
            parts += _finding(finding, names or Naming(), width, told)
        hidden = len(verdict.findings) - len(findings)
        if hidden:
            parts.append(
                rich_text(((f"{hidden} finding{'s' if hidden > 1 else ''} not shown (--select, --ignore)", "dim"),))
            )
        if verdict.status is Status.ADMITTED:
            parts += _needs(verdict)
    parts.append(rich_text(headline(verdict)))
    return to_text(parts, color, width)


def to_text(parts: Iterable[RenderableType], color: bool, width: int) -> str:
    """Renderables as text of the given width, with or without terminal colours."""
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out, width=width, color_system="standard" if color else None, force_terminal=color, no_color=not color,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    for part in parts:  # printing rebuilds a text without its own layout options, so they are passed again
        console.print(part, no_wrap=getattr(part, "no_wrap", None), overflow=getattr(part, "overflow", None))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def headline(verdict: Verdict) -> Line:
    """The last and most important line: the verdict in one word, what it is about, and how it came about."""
    said: Piece = (verdict_word(verdict), _STATUS_STYLE[verdict.status])
    if verdict.proposal is None:
        about: tuple[Piece, ...] = ((" contract ", ""), word(verdict.contract, "strong"))
    else:
        about = (
            (" ", ""),
            word(verdict.proposal, "strong"),
            (" for ", ""),
            word(verdict.contract, "strong"),
        )
    return (said, (":", ""), *about, (_because(verdict), "dim"))


def render_summary(counts: Mapping[Status, int], *, color: bool = False, alone: bool = False) -> str:
    """One line over several verdicts: ``9 verdicts: 1 admitted, 8 refused``; ``alone``: they are about contracts."""
    told: list[Piece] = []
    for status in sorted(counts):
        said = "supported" if alone and status is Status.ADMITTED else status.word
        told += [(", ", ""), (f"{counts[status]:,} {said}", _STATUS_STYLE[status])]
    return paint([((f"{sum(counts.values()):,} verdicts: ", ""), *told[1:])], color)


def _because(verdict: Verdict) -> str:
    kinds = Counter(f.kind for f in verdict.findings if f.severity != "note")
    if kinds:
        return " (" + ", ".join(kind if n == 1 else f"{kind} ×{n}" for kind, n in kinds.items()) + ")"
    match verdict.status:
        case Status.COMPLETE:
            return " (nothing is owed any more)"
        case Status.FRESH:
            return " (nothing is bound or kept yet)"
        case Status.ADMITTED if verdict.stats.obligations:
            stats = verdict.stats
            solved = f", {stats.solved:,} by the solver" if stats.solved else ""
            return f" ({stats.obligations:,} condition{'s' if stats.obligations != 1 else ''} hold{solved})"
    return ""


@dataclass(slots=True)
class _Told:
    """What was shown for earlier findings: a plan is not shown twice, nor a run right after itself."""

    plans: set[Line] = field(default_factory=set)
    run: Line | None = None


def _finding(f: Finding, names: Naming, width: int, told: _Told) -> list[RenderableType]:
    """One finding. ``told`` is what was shown for earlier ones, and is kept up to date."""
    from rich.text import Text

    style = {"error": "error", "undecided": "undecided", "note": "note"}[f.severity]
    head: Line = ((f"{f.severity}[{full(f.code)}]", style), (f" {f.kind}: ", ""), *prose(f.message, "strong"))
    parts: list[RenderableType] = [rich_text(head)]
    run = f.counterexample
    related = f.clauses
    if run is not None and run.failing_span is not None and run.failing_span not in {s for _, s in related}:
        related = (*related, ("this is false", run.failing_span))
    parts += _lines(excerpt(f.where, related, width, style))
    if names.node(f.node) and names.proposal and (run is not None or (f.kind in _DRAWN and f.severity == "error")):
        step = (run.step or f.node) if run else f.node
        plan = draw(names.proposal, step, run)
        whole = _whole(plan)
        if whole not in told.plans:
            told.plans.add(whole)
            parts += [Text(), _label("the plan"), *_lines(plan)]
    if run is not None:
        parts += [Text(), *_what_can_happen(run, names, f.code, told)]
        if run.difference:
            parts += [Text(), _label("what it changes"), *_lines(_difference(run.difference))]
    parts.append(Text())
    parts += _advice(f)
    return parts


def _advice(f: Finding) -> list[RenderableType]:
    from rich.text import Text

    rows: list[tuple[Piece, Line]] = [(("note", "note"), prose(note)) for note in lookalikes(f.message)]
    if f.help:
        rows.append((("help", "good"), prose(f.help)))
    if f.advice:
        rows.append((("one change", "good"), prose(f.advice)))
    if not rows:
        return []
    return [_hanging([((label, (":", "")), line) for label, line in rows], _LABEL + 1), Text()]


def _hanging(rows: Sequence[tuple[Line, Line]], width: int) -> RenderableType:
    """Labels set flush right in ``width`` columns, the last of them blank, and texts that wrap beside them."""
    from rich.table import Table

    table = Table.grid(padding=0)
    table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold")
    for label, line in rows:
        space = " " * (width - 1 - sum(columns(text) for text, _ in label))
        table.add_row(rich_text(((space, ""), *label, (" ", ""))), rich_text(line))
    return table


def _whole(lines: Sequence[Line]) -> Line:
    return tuple(piece for line in lines for piece in (*line, ("\n", "")))


def _what_can_happen(run: Counterexample, names: Naming, code: str, told: _Told) -> list[RenderableType]:
    """The story; of the very run that was told last, only what goes wrong in it."""
    before, wrong, after = story(run, names, code)
    label = "what can happen"
    rows: list[tuple[Piece, Line]] = []
    whole = _whole(before)
    if whole != told.run:
        rows += [((f"{i}.", "frame"), line) for i, line in enumerate(before, 1)]
    else:
        label = "what can happen, in the run above"
    told.run = whole
    rows.append((("▶", "error"), wrong))
    rows += [((f"{i}.", "frame"), line) for i, line in enumerate(after, len(before) + 1)]
    return [_label(label), _hanging([((mark,), line) for mark, line in rows], 6 + len(str(len(rows))))]


def _difference(difference: tuple[Difference, ...]) -> list[Line]:
    name = max(columns(clip(d.what)) for d in difference)
    lines: list[Line] = []
    for d in difference:
        what = clip(d.what)
        line: list[Piece] = [("    ", ""), (what + " " * (name - columns(what)), ""), ("  ", "")]
        line += [("before: " if not d.after else "", "dim"), (clip(d.before), "")] if d.before else []
        line += [(" → ", "dim")] if d.before and d.after else []
        line += [("now: " if not d.before else "", "dim"), (clip(d.after), "strong")] if d.after else []
        lines.append(tuple(line))
    return lines


def _needs(verdict: Verdict) -> list[RenderableType]:
    """Which clauses and nodes an admission needed, and which not."""
    parts: list[RenderableType] = []
    for label, items in (("needed", verdict.needed), ("not needed", verdict.unneeded)):
        if items:
            more = f" and {len(items) - 12} more" if items[12:] else ""
            listed = ", ".join(clip(i, 60) for i in items[:12]) + more
            parts.append(rich_text(((f"{label:>{_LABEL}}: ", "dim"), (listed, ""))))
    return parts


def _label(text: str) -> RenderableType:
    return rich_text((("  " + text, "frame"),))


def _lines(lines: Iterable[Line]) -> list[RenderableType]:
    """Lines that were laid out already: too long ones are cut, never wrapped."""
    texts = [rich_text(line) for line in lines]
    for text in texts:
        text.no_wrap, text.overflow = True, "ellipsis"
    return list(texts)
