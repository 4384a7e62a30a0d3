"""Turns how an execution ended, or what a journal retells, into text for a terminal or plain JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cfrc.codes import full
from cfrc.handoff.freezing.freeze import Frozen
from cfrc.handoff.running.replay import Replayed
from cfrc.handoff.running.run import Outcome
from cfrc.model.ledger import Receipt
from cfrc.model.verdict import Finding
from cfrc.report.json import VERSION, Json, finding_json, value_json, verdict_json
from cfrc.report.naming import Naming
from cfrc.report.pieces import Line, Piece, paint, prose, word

_STYLE = {
    "done": "ok",
    "idle": "ok",
    "yield": "undecided",
    "held": "error",
    "refused": "error",
    "unfinished": "undecided",
}


def outcome_json(outcome: Outcome) -> Json:
    """Everything that is known about an execution."""
    about = Naming(outcome.contract, outcome.proposal)
    return {
        "cfrc": VERSION,
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "contract": outcome.contract.name,
        "digest": outcome.contract.digest,
        "terminal": outcome.terminal,
        "resumable": outcome.resumable,
        "journal": outcome.journal,
        "steps": dict(outcome.steps),
        "findings": [finding_json(f) for f in outcome.findings],
        "receipts": [_receipt(r) for r in outcome.ledger.entries if isinstance(r, Receipt)],
        "verdict": verdict_json(outcome.verdict, about=about) if outcome.verdict is not None else None,
        "residual": _residual(outcome.residual) if outcome.residual is not None else None,
    }


def _residual(left: Frozen) -> Json:
    from cfrc.lang.jsonforms import contract_to_json

    reasons = [finding_json(f) for f in left.reasons]
    form = contract_to_json(left.contract)
    return {"kind": left.kind, "digest": left.contract.digest, "contract": form, "reasons": reasons}


def replayed_json(told: Replayed) -> Json:
    """What a journal retells. ``outcome`` is ``unfinished`` where nothing closed it."""
    closed = told.outcome or {}
    return {
        "cfrc": VERSION,
        "outcome": closed.get("kind", "unfinished"),
        "reason": closed.get("reason"),
        "code": full(closed["code"]) if closed.get("code") else None,
        "contract": told.contract.name,
        "digest": told.contract.digest,
        "proposal": told.proposal.name,
        "terminal": closed.get("terminal"),
        "journal": told.head,
        "records": len(told.entries),
        "steps": dict(told.steps),
        "open": list(told.open_calls),
        "receipts": [_receipt(r) for r in told.ledger.entries if isinstance(r, Receipt)],
    }


def _receipt(r: Receipt) -> Json:
    args: Any = {n: value_json(v) for n, v in r.args}
    head = {"id": r.id, "attempt": r.attempt, "tool": r.tool, "args": args, "status": r.status}
    return head | {"result": value_json(r.result), "at": r.time.isoformat() if r.time is not None else None}


def render_outcome(outcome: Outcome, *, color: bool = False, quiet: bool = False) -> str:
    """The findings, the receipts in one line, and how it ended."""
    lines: list[Line] = []
    if not quiet:
        for f in outcome.findings:
            lines += [*_finding(f), ()]
        lines += _receipts([r for r in outcome.ledger.entries if isinstance(r, Receipt)])
    more = "; the journal can be taken up again" if outcome.resumable and outcome.journal is not None else ""
    lines.append(_headline(outcome.kind, outcome.contract.name, outcome.reason + more))
    if outcome.residual is not None and not quiet:
        lines.append(_left(outcome.residual))
    if outcome.journal is not None and not quiet:
        lines.append((("journal: ", "dim"), (outcome.journal, "")))
    return paint(lines, color)


def render_replayed(told: Replayed, *, color: bool = False, quiet: bool = False) -> str:
    """What happened, record by record, and how it ended."""
    lines: list[Line] = []
    if not quiet:
        lines += [_record(number, dict(entry)) for number, entry in enumerate(told.entries)]
        lines += _receipts([r for r in told.ledger.entries if isinstance(r, Receipt)])
    closed = told.outcome or {}
    open_calls = f"; in doubt: {', '.join(told.open_calls)}" if told.open_calls else ""
    reason = str(closed.get("reason", f"{len(told.entries):,} records, and no outcome")) + open_calls
    lines.append(_headline(str(closed.get("kind", "unfinished")), told.contract.name, reason))
    if not quiet:
        lines.append((("every decision comes out the same; journal: ", "dim"), (told.head, "")))
    return paint(lines, color)


def _left(left: Frozen) -> Line:
    """What is left, in one line."""
    owed = ", ".join(o.name for o in left.contract.obligations)
    doubts = ", ".join(dict.fromkeys(d.effect for d in left.contract.doubts))
    said = [f"owed: {owed}" if owed else "", f"in doubt: {doubts}" if doubts else ""]
    told = "; ".join(s for s in said if s) or "nothing"
    words = {"contract": "", "complete": "complete, ", "fresh": "fresh, ", "withheld": "withheld, "}
    return (("left: ", "dim"), *prose(words[left.kind] + told))


def _headline(kind: str, contract: str, reason: str) -> Line:
    return (
        (kind, _STYLE[kind]),
        (": contract ", ""),
        word(contract, "strong"),
        (" (", "dim"),
        *prose(reason),
        (")", "dim"),
    )


def _finding(f: Finding) -> list[Line]:
    style = "note" if f.severity == "note" else "error"
    lines: list[Line] = [((f"{f.severity}[{full(f.code)}]", style), (f" {f.kind}: ", ""), *prose(f.message, "strong"))]
    if f.help:
        lines.append((("   help: ", "good"), *prose(f.help)))
    return lines


def _receipts(receipts: list[Receipt]) -> list[Line]:
    if not receipts:
        return []
    counted = Counter(r.status for r in receipts)
    said = ", ".join(f"{n:,} {status}" for status, n in counted.items())
    return [((f"{len(receipts):,} receipts: ", "dim"), (said, ""))]


def _record(number: int, entry: Json) -> Line:
    what = str(entry["is"])
    told: list[Piece] = [(f"{number:>5} ", "dim"), (f"{what:<9}", "strong" if what == "outcome" else "")]
    match what:
        case "open":
            told.append((f"run {entry['run']}", ""))
        case "intent":
            told += [word(str(entry["call"])), (f" attempt {entry['attempt']}: ", "dim"), word(str(entry["tool"]))]
        case "receipt":
            style = "" if entry["status"] == "success" else "undecided"
            told += [word(str(entry["call"])), (" ", ""), word(str(entry["status"]), style)]
        case "decision":
            told += [word(str(entry["call"])), (" is ", "dim"), word(str(entry["after"]))]
        case "outcome":
            told.append(word(str(entry["kind"]), _STYLE.get(str(entry["kind"]), "")))
        case "hold" | "stopped":
            told.append(word(str(entry.get("message", entry.get("reason")))))
        case "guard":
            told.append(word(str(entry["head"])))
    return tuple(told)
