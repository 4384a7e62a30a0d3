"""Turns a counterexample into a short numbered story: the world, the receipts in order, the step that goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfrc.model.verdict import Counterexample, Step
from cfrc.report.escape import clip
from cfrc.report.naming import Naming
from cfrc.report.pieces import Line, Piece, quote

_QUIET = 3
"""From so many steps in a row whose values do not matter, one sentence stands for all of them."""
_NAME = 40


def story(run: Counterexample, names: Naming) -> tuple[list[Line], Line, list[Line]]:
    """The sentences up to the step that goes wrong, what goes wrong there, and the sentences after it.

    Values that do not matter are shown as ``·``.
    """
    opening = _world(run, names)
    last = max((i for i, s in enumerate(run.order) if s.node == run.step), default=None)
    if last is not None:
        told = _steps(run.order[:last], names)
        return [*opening, *told, _sentence(run.order[last], names)], _wrong(run), _steps(run.order[last + 1 :], names)
    where: Line = (quote(run.step, _NAME), (" is reached", "")) if run.step else (("the run ends", ""),)
    return [*opening, *_steps(run.order, names), where], _wrong(run), []


def _world(run: Counterexample, names: Naming) -> list[Line]:
    lines: list[Line] = []
    if run.world:
        facts = [(quote(what), (" is ", ""), quote(names.fluent(what, value), None)) for what, value in run.world]
        lines.append((("in a world where ", ""), *_and(facts)))
    if run.branch:
        guards = [(quote(guard), (" is true" if holds else " is false", "")) for guard, holds in run.branch]
        lines.append((("on the branch where ", ""), *_and(guards)))
    return lines


def _steps(steps: Sequence[Step], names: Naming) -> list[Line]:
    lines: list[Line] = []
    quiet: list[Step] = []
    for step in steps:
        if not step.relevant and step.outcome in {"ok", "poll"}:
            quiet.append(step)
            continue
        lines += _together(quiet, names)
        quiet = []
        lines.append(_sentence(step, names))
    return lines + _together(quiet, names)


def _together(quiet: Sequence[Step], names: Naming) -> list[Line]:
    """Sentences for consecutive steps whose values do not matter."""
    if len(quiet) < _QUIET:
        return [_sentence(s, names) for s in quiet]
    listed: Line = tuple(p for s in quiet[:6] for p in ((", ", "dim"), quote(s.node, _NAME)))[1:]
    more = f" and {len(quiet) - 6} more" if quiet[6:] else ""
    return [(*listed, (f"{more} succeed; what they answer does not matter", "dim"))]


def _sentence(step: Step, names: Naming) -> Line:
    if step.outcome == "skipped":
        return (quote(step.node, _NAME), (" is skipped: its guard is false", "dim"))
    call = quote(f"{clip(step.node, _NAME)} = {clip(step.tool, _NAME)}({_arguments(step, names)})", None)
    if step.outcome == "failed":
        return (call, (" fails", "bad"))
    answer = quote(names.result(step.tool, step.result) if step.relevant else "·", None)
    if step.outcome == "poll":
        return (call, (" answers ", ""), answer, (": not yet, so it is asked again", ""))
    return (call, (" answers ", ""), answer)


def _arguments(step: Step, names: Naming) -> str:
    if not step.relevant:
        return "·" if step.args else ""
    return ", ".join(f"{clip(n, _NAME)}: {names.argument(step.tool, n, v)}" for n, v in step.args)


def _wrong(run: Counterexample) -> Line:
    if run.failing is None:
        return (("here it goes wrong", "error"),)
    return (("here ", "error"), quote(run.failing), (" is false", "error"))


def _and(parts: Iterable[Line]) -> Line:
    """``a, b and c``."""
    lines = list(parts)
    pieces: list[Piece] = []
    for i, line in enumerate(lines):
        if i:
            pieces.append((" and " if i == len(lines) - 1 else ", ", ""))
        pieces += line
    return tuple(pieces)
