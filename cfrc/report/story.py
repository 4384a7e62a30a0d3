"""Turns a counterexample into a short numbered story: the world, the receipts in order, the step that goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfrc.model.values import record
from cfrc.model.verdict import Counterexample, Step
from cfrc.report.escape import clip
from cfrc.report.naming import Naming
from cfrc.report.pieces import Line, Piece, quote

_QUIET = 3
"""From so many steps in a row whose values do not matter, one sentence stands for all of them."""
_NAME = 40

_WRONG = {
    "AUT002": "is missing",
    "AUT003": "is missing",
    "AUT004": "is missing",
    "AUT005": "forbids it",
    "BND001": "is not a bound value",
    "BND002": "is not the bound value",
    "COV001": "is not discharged",
    "COV003": "is violated",
    "COV005": "is met more than once",
    "DEP003": "is undefined",
    "EVD003": "is missing",
    "EVD004": "has no evidence",
    "PRS001": "happens again",
    "PRS002": "happens again",
    "PRS003": "is undone",
    "PRS004": "is undone",
    "PRS005": "no longer holds",
    "PRS006": "may happen again",
    "PRS007": "depends on the order",
    "SCP001": "is missing",
    "SCP002": "is missing",
    "SCP003": "is missing",
}
"""What is wrong with the failing part, by code; ``is false`` where nothing more telling can be said."""


def story(run: Counterexample, names: Naming, code: str = "") -> tuple[list[Line], Line, list[Line]]:
    """The sentences up to the step that goes wrong, what goes wrong there, and the sentences after it.

    ``code`` is the finding's, which decides how the failing part is spoken of. Answers that do not matter are
    left out.
    """
    opening = _world(run, names)
    last = max((i for i, s in enumerate(run.order) if s.node == run.step), default=None)
    if last is not None:
        told = _steps(run.order[:last], names)
        return (
            [*opening, *told, _sentence(run.order[last], names)],
            _wrong(run, code),
            _steps(run.order[last + 1 :], names),
        )
    where: Line = (quote(run.step, _NAME), (" is reached", "")) if run.step else (("the run ends", ""),)
    return [*opening, *_steps(run.order, names), where], _wrong(run, code), []


def _world(run: Counterexample, names: Naming) -> list[Line]:
    lines: list[Line] = []
    if run.world:
        facts = [(quote(what), (" is ", ""), quote(names.fluent(what, value), None)) for what, value in run.world]
        lines.append((("in a world where ", ""), *_and(facts)))
    if run.branch:
        guards = [(quote(guard), (_taken(guard, holds, names), "")) for guard, holds in run.branch]
        lines.append((("on the branch where ", ""), *_and(guards)))
    return lines


def _taken(guard: str, holds: bool, names: Naming) -> str:
    """A branch is named by a guard's text, or by the node whose guard it is."""
    if names.node(guard) is None:
        return " is true" if holds else " is false"
    return " is called" if holds else " is skipped"


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
    if step.result is None or step.result == record({}):
        return (call, (" succeeds", ""))
    if not step.relevant:
        again = step.outcome == "poll"
        return (call, (" is not there yet, so it is asked again" if again else " succeeds, whatever it answers", ""))
    answer = quote(names.result(step.tool, step.result), None)
    if step.outcome == "poll":
        return (call, (" answers ", ""), answer, (": not yet, so it is asked again", ""))
    return (call, (" answers ", ""), answer)


def _arguments(step: Step, names: Naming) -> str:
    return ", ".join(f"{clip(n, _NAME)}: {names.argument(step.tool, n, v)}" for n, v in step.args)


def _wrong(run: Counterexample, code: str) -> Line:
    if run.failing is None:
        return (("here it goes wrong", "error"),)
    return (("here ", "error"), quote(run.failing), (" " + _WRONG.get(code[-6:], "is false"), "error"))


def _and(parts: Iterable[Line]) -> Line:
    """``a, b and c``."""
    lines = list(parts)
    pieces: list[Piece] = []
    for i, line in enumerate(lines):
        if i:
            pieces.append((" and " if i == len(lines) - 1 else ", ", ""))
        pieces += line
    return tuple(pieces)
