"""Turns verdicts, check results and diagnostics into plain JSON values, versioned, complete on success too.

Decimals, dates, times and durations travel as strings (exactly), maps with string keys as objects and other maps as
arrays of pairs. The shapes are published as JSON Schema by :mod:`cfrc.report.schema`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from cfrc.codes import full
from cfrc.lang import scalars
from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.jsonforms.digests import contract_digest, proposal_digest
from cfrc.model.values import Bag, Map, Record, Value
from cfrc.model.verdict import Counterexample, Finding, Status, Step, Verdict
from cfrc.report.naming import Naming
from cfrc.source import Span

Json = dict[str, Any]
VERSION = 1
_SAFE = 2**53 - 1


def dumps(value: Json) -> str:
    """JSON text with a line end. Lone surrogates and control characters are escaped, so it can always be encoded."""
    return json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def verdict_json(verdict: Verdict, hidden: Container[int] = (), about: Naming | None = None) -> Json:
    """The verdict as JSON. ``verdict`` is its word; a contract that passes its own checks says ``supported``.

    ``hidden`` holds the ``id`` of findings that are not wanted; how many were left out is said. ``about`` is what was
    judged, whose digests bind the verdict to it; what is not at hand has the digest ``null``.
    """
    about = about or Naming()
    wanted = [f for f in verdict.findings if id(f) not in hidden]
    return {
        "cfrc": VERSION,
        "verdict": verdict_word(verdict),
        "contract": verdict.contract,
        "contract_digest": contract_digest(about.contract) if about.contract is not None else None,
        "proposal": verdict.proposal,
        "proposal_digest": proposal_digest(about.proposal) if about.proposal is not None else None,
        "findings": [finding_json(f) for f in wanted],
        "hidden": len(verdict.findings) - len(wanted),
        "needed": list(verdict.needed),
        "unneeded": list(verdict.unneeded),
        "stats": {
            "obligations": verdict.stats.obligations,
            "normalized": verdict.stats.normalized,
            "solved": verdict.stats.solved,
            "seconds": round(verdict.stats.seconds, 6),
        },
    }


def verdict_word(verdict: Verdict) -> str:
    """The verdict in one word; a contract that passes its own checks is ``supported``, not admitted."""
    supported = verdict.proposal is None and verdict.status is Status.ADMITTED
    return "supported" if supported else verdict.status.word


def verdicts_json(
    verdicts: Sequence[Verdict],
    diagnostics: Iterable[Diagnostic] = (),
    hidden: Container[int] = (),
    about: Sequence[Naming] = (),
) -> Json:
    """One verdict as itself; anything else as lists of verdicts and diagnostics with the worst word on top.

    Bad input is worse than any verdict: its word is ``invalid``. ``about`` is what each of them judged.
    """
    complaints = [diagnostic_json(d) for d in diagnostics]
    each = [verdict_json(v, hidden, n) for v, n in zip_longest(verdicts, about[: len(verdicts)])]
    if len(verdicts) == 1 and not complaints:
        return each[0]
    worst = max(verdicts, key=lambda v: v.status, default=None)
    word = "invalid" if complaints or worst is None else verdict_word(worst)
    return {"cfrc": VERSION, "verdict": word, "verdicts": each, "diagnostics": complaints}


def diagnostic_json(d: Diagnostic) -> Json:
    return {
        "code": full(d.code),
        "severity": d.severity,
        "message": d.message,
        "help": d.help,
        "where": span_json(d.span),
        "notes": [{"label": label, "where": span_json(span)} for label, span in d.notes],
    }


def finding_json(f: Finding) -> Json:
    return {
        "code": full(f.code),
        "kind": f.kind,
        "severity": f.severity,
        "message": f.message,
        "help": f.help,
        "advice": f.advice,
        "where": span_json(f.where),
        "node": f.node,
        "obligation": f.obligation,
        "clauses": [{"label": label, "where": span_json(span)} for label, span in f.clauses],
        "counterexample": counterexample_json(f.counterexample) if f.counterexample else None,
    }


def counterexample_json(c: Counterexample) -> Json:
    return {
        "world": [{"fluent": what, "value": value_json(value)} for what, value in c.world],
        "receipts": [step_json(s) for s in c.order if s.outcome != "skipped"],
        "branch": [{"guard": guard, "holds": holds} for guard, holds in c.branch],
        "order": [s.node for s in c.order],
        "step": c.step,
        "difference": [{"what": d.what, "before": d.before, "after": d.after} for d in c.difference],
        "failing": c.failing,
        "failing_where": span_json(c.failing_span),
        "replayed": c.replayed,
    }


def step_json(s: Step) -> Json:
    return {
        "node": s.node,
        "tool": s.tool,
        "outcome": s.outcome,
        "args": {name: value_json(value) for name, value in s.args},
        "result": value_json(s.result),
        "relevant": s.relevant,
    }


def span_json(span: Span | None) -> Json | None:
    """A place: 1-based line and column, and 0-based character offsets (end exclusive)."""
    if span is None:
        return None
    return {"file": span.source.name, "line": span.line, "column": span.column, "start": span.start, "end": span.end}


def value_json(value: Value) -> Any:
    """A value whose type is not at hand."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= _SAFE else str(value)
        case Fraction():
            return scalars.show_decimal(value)
        case datetime():
            return scalars.show_time(value)
        case date():
            return value.isoformat()
        case timedelta():
            return scalars.show_duration(value)
        case tuple() | Bag():
            return [value_json(v) for v in value]
        case Record(fields):
            return {name: value_json(v) for name, v in fields}
        case Map(pairs):
            if all(isinstance(k, str) for k, _ in pairs):
                return {str(k): value_json(v) for k, v in pairs}
            return [[value_json(k), value_json(v)] for k, v in pairs]
