"""Turns the results of ``check`` declarations into a report: what failed, expected against found, and a summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cfrc.lang.diagnostics import Diagnostic
from cfrc.model.check import Check
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.report.escape import clip
from cfrc.report.excerpt import excerpt
from cfrc.report.json import VERSION, diagnostic_json, span_json, verdict_json, verdict_word
from cfrc.report.naming import Naming
from cfrc.report.pieces import Line, paint, prose, quote
from cfrc.report.terminal import render_verdict

Outcome = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True, slots=True)
class Ran:
    """One executed check. ``verdict`` is what was found; ``message`` says how it differs from what was expected."""

    file: str
    check: Check
    passed: bool
    verdict: Verdict | None
    message: str
    names: Naming

    @property
    def outcome(self) -> Outcome:
        """Undecided is neither a pass nor a failure, unless it is what the check expects."""
        if self.passed:
            return "passed"
        undecided = self.verdict is not None and self.verdict.status is Status.UNDECIDED
        return "undecided" if undecided else "failed"


def describe(check: Check) -> str:
    """The check as it would be written."""
    if check.target == "claim":
        subject = f"claim {', '.join(check.claims)} of {check.subject}"
    else:
        subject = f"contract {check.subject}" if check.target == "contract" else check.subject
    without = f" without {', '.join(check.without)}" if check.without else ""
    against = f" against {check.against}" if check.against else ""
    return f"check {subject}{without}{against} {expected(check)}"


def expected(check: Check) -> str:
    """The expectation as it would be written: ``rejects only coverage(confirmation)``."""
    kinds = ", ".join(e.kind if e.subject is None else f"{e.kind}({e.subject})" for e in check.expected)
    return " ".join(part for part in (check.verdict, "only" if check.only else "", kinds) if part)


def found(verdict: Verdict | None) -> str:
    """The verdict's word and the kinds of its findings, with what they are about."""
    if verdict is None:
        return "no verdict"
    about = {f"{f.kind}({f.obligation})" if f.obligation else f.kind: None for f in verdict.findings}
    return verdict_word(verdict) + (f": {', '.join(about)}" if about else "")


def render_checks(
    ran: Sequence[Ran],
    *,
    shown: Callable[[Verdict], Sequence[Finding]],
    quiet: bool = False,
    color: bool = False,
    width: int = 100,
) -> str:
    """The report as text. ``shown`` chooses the findings of a failed check to print; ``quiet`` is the summary only."""
    parts: list[str] = []
    told: set[tuple[Finding, ...]] = set()  # what is wrong with a contract is said once, not for each proposal
    for r in ran if not quiet else ():
        if r.outcome != "passed":
            parts.append(paint(_complaint(r, width), color))
            if r.verdict is not None and r.verdict.findings:
                again = r.verdict.status is Status.WITHHELD and r.verdict.findings in told
                told.add(r.verdict.findings)
                text = render_verdict(
                    r.verdict, r.names, shown=shown(r.verdict), quiet=again, color=color, width=width
                )  # fmt: skip
                parts.append(text + "\n")
    parts.append(paint([summary(ran)], color))
    return "".join(parts)


def _complaint(r: Ran, width: int) -> list[Line]:
    lines: list[Line] = [
        ((r.outcome, "error" if r.outcome == "failed" else "undecided"), (": ", ""), quote(describe(r.check)))
    ]
    lines += excerpt(r.check.span, (), width)
    lines.append((("   expected: ", "good"), (clip(expected(r.check)), "")))
    lines.append((("      found: ", "bad"), (clip(found(r.verdict)), "")))
    if r.message and not r.passed:
        lines.append((("       note: ", "note"), *prose(r.message)))
    lines.append(())
    return lines


def summary(ran: Sequence[Ran]) -> Line:
    """The last line: how many checks in how many files, and how they ended. No check at all is vacuous, not a pass."""
    if not ran:
        return (("vacuous", "error"), (": there is no check to run", ""))
    counts = {o: sum(r.outcome == o for r in ran) for o in ("passed", "failed", "undecided")}
    files = len({r.file for r in ran})
    word = overall(ran)
    told = ", ".join(f"{n:,} {o}" for o, n in counts.items() if n)
    of = f"{len(ran):,} check{'s' if len(ran) != 1 else ''} in {files:,} file{'s' if files != 1 else ''}"
    return ((word, {"passed": "ok", "failed": "error"}.get(word, "undecided")), (f": {of}: {told}", ""))


def overall(ran: Sequence[Ran]) -> Literal["passed", "failed", "undecided", "vacuous"]:
    """The worst outcome, in one word."""
    if not ran:
        return "vacuous"
    outcomes = {r.outcome for r in ran}
    return "failed" if "failed" in outcomes else "undecided" if "undecided" in outcomes else "passed"


def checks_json(ran: Sequence[Ran], diagnostics: Sequence[Diagnostic] = ()) -> dict[str, Any]:
    """The report as JSON. Bad input is worse than any outcome: its word is ``invalid``."""
    return {
        "cfrc": VERSION,
        "verdict": "invalid" if diagnostics else overall(ran),
        "checks": [
            {
                "file": r.file,
                "check": describe(r.check),
                "where": span_json(r.check.span),
                "outcome": r.outcome,
                "expected": expected(r.check),
                "found": found(r.verdict),
                "message": r.message or None,
                "result": verdict_json(r.verdict, about=r.names) if r.verdict is not None else None,
            }
            for r in ran
        ],
        "diagnostics": [diagnostic_json(d) for d in diagnostics],
    }
