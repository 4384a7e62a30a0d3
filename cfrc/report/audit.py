"""Turns an audit into the table of the residual-completion paper, as text or plain JSON with all it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cfrc.codes import explanations
from cfrc.handoff.auditing.audit import Audit, rate
from cfrc.handoff.auditing.rates import Rate
from cfrc.handoff.auditing.trials import Judgement
from cfrc.report.escape import clip
from cfrc.report.json import VERSION, Json
from cfrc.report.pieces import Line, paint, prose

CONFIDENCE = 0.95

_ROWS = (
    ("bindings grounded", "bindings"),
    ("obligations recovered", "obligations"),
    ("live writes with a source", "writes"),
    ("runs admitted when judged again", "admissions"),
    ("runs of the contract and plan given", "records"),
    ("journals that replay", "replays"),
    ("refusals that come out the same", "refusals"),
    ("interventions before a live write", "interventions"),
)
_WHAT = {name: label for label, name in _ROWS}
_WIDTH = 38


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars, or whatever one pays in, for a million tokens of each counter."""

    of: Mapping[str, Fraction]

    def cost(self, tokens: Mapping[str, int]) -> Fraction:
        return sum((self.of[n] * count for n, count in tokens.items() if n in self.of), Fraction(0)) / 1_000_000

    def unpriced(self, stages: Iterable[Mapping[str, int]]) -> list[str]:
        """Counters without a price, but for totals, which count the others again."""
        return sorted({n for tokens in stages for n in tokens if n not in self.of and n != "total_tokens"})


# -- JSON -------------------------------------------------------------------------------------------------------------


def audit_json(found: Audit, prices: Prices | None = None) -> Json:
    """Everything: each row with its judgements, counts, and lapses."""
    rows = {name: _two_sided(rate(row)) | {"each": [_judgement(j) for j in row]} for name, row in found.rows().items()}
    stages: dict[str, Any] = {}
    for stage, tokens in found.tokens.items():
        stages[stage] = {"tokens": dict(tokens)}
        if prices is not None:
            stages[stage]["cost"] = _money(prices.cost(tokens))
    whole = prices is not None and sum((prices.cost(t) for t in found.tokens.values()), Fraction(0))
    return {
        "cfrc": VERSION,
        "holds": not any(True for _ in found.lapses()),
        "runs": found.trials,
        "confidence": CONFIDENCE,
        **rows,
        "ungrounded_writes_admitted": {
            "hits": found.ungrounded.hits, "total": found.ungrounded.total, "rate": found.ungrounded.value,
            "upper": found.ungrounded.upper(CONFIDENCE),
        },
        "verdicts": dict(found.verdicts),
        "outcomes": dict(found.outcomes),
        "refused_by_kind": dict(found.kinds),
        "held_by_reason": dict(found.held),
        "stages": stages,
        "cost": _money(whole) if isinstance(whole, Fraction) else None,
        "lapses": [{"row": name, **_judgement(j)} for name, j in found.lapses()],
    }  # fmt: skip


def _two_sided(r: Rate) -> Json:
    low, high = r.interval(CONFIDENCE)
    return {"hits": r.hits, "total": r.total, "rate": r.value, "low": low, "high": high}


def _judgement(j: Judgement) -> Json:
    return {"run": j.trial, "subject": j.subject, "good": j.good, "why": j.why or None}


# -- text -------------------------------------------------------------------------------------------------------------


def render_audit(found: Audit, prices: Prices | None = None, *, color: bool = False, quiet: bool = False) -> str:
    """The table, what was refused and held and why, what it cost, and every lapse by its name."""
    lapses = list(found.lapses())
    lines: list[Line] = []
    if not quiet:
        lines += [*_table(found), *_interventions(found), *_costs(found, prices)]
        for name, j in lapses:
            about = f"{clip(j.trial, 60)}: {clip(j.subject, 60)}: "
            lines.append((("lapse: ", "error"), (f"{_WHAT[name]}: ", "strong"), (about, ""), *prose(j.why)))
    runs = "1 run" if found.trials == 1 else f"{found.trials:,} runs"
    if lapses:
        lines.append((("lapses", "error"), (f": {len(lapses):,} in {runs}", "")))
    else:
        lines.append((("holds", "ok"), (f": no lapse in {runs}", "")))
    return paint(lines, color)


def _table(found: Audit) -> list[Line]:
    rows = found.rows()
    lines = [_row(label, rate(rows[name]), _between(rate(rows[name]))) for label, name in _ROWS]
    bad = found.ungrounded
    upper = f"at most {_percent(bad.upper(CONFIDENCE))}" if bad.total else ""
    lines.insert(3, _row("plans admitted with an ungrounded write", bad, upper, good=not bad.hits))
    return [((f"{'':<{_WIDTH + 2}}{'of':>11}{'rate':>9}   95 % bound (exact)", "dim"),), *lines]


def _row(label: str, r: Rate, bound: str, good: bool | None = None) -> Line:
    if not r.total:
        return ((f"{label:<{_WIDTH + 2}}", "dim"), (f"{'-':>11}", "dim"))
    good = r.hits == r.total if good is None else good
    share = _percent(r.hits / r.total)
    return (
        (f"{label:<{_WIDTH + 2}}", ""),
        (f"{f'{r.hits:,}/{r.total:,}':>11}", "ok" if good else "error"),
        (f"{share:>9}   {bound}", ""),
    )


def _between(r: Rate) -> str:
    low, high = r.interval(CONFIDENCE)
    return f"{_percent(low)} to {_percent(high)}"


def _percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def _interventions(found: Audit) -> list[Line]:
    lines: list[Line] = []
    if found.verdicts:
        lines.append((("plans: ", "dim"), (_counts(found.verdicts), "")))
    if found.outcomes:
        lines.append((("runs: ", "dim"), (_counts(found.outcomes), "")))
    if found.kinds:
        lines.append((("refused for: ", "dim"), (_counts(found.kinds), "")))
    for code, n in sorted(found.held.items(), key=lambda x: (-x[1], x[0])):
        title = explanations()[code].title if code in explanations() else "an unknown reason"
        lines.append((("held: ", "dim"), (f"{n:,} {clip(code, 40)} {title}", "")))
    return lines


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {clip(what, 40)}" for what, n in sorted(counted.items(), key=lambda x: (-x[1], x[0])))


def _costs(found: Audit, prices: Prices | None) -> list[Line]:
    lines: list[Line] = []
    for stage, tokens in found.tokens.items():
        cost = f": {_money(prices.cost(tokens))}" if prices is not None else ""
        told = ", ".join(f"{n:,} {clip(name, 40)}" for name, n in tokens.items())
        lines.append(((f"stage {clip(stage, 40)}", "strong"), (f"{cost} ({told})", "")))
    if prices is not None and found.tokens:
        whole = sum((prices.cost(t) for t in found.tokens.values()), Fraction(0))
        left = prices.unpriced(found.tokens.values())
        without = f" (without a price: {', '.join(clip(n, 40) for n in left)})" if left else ""
        lines.append((("cost: ", "dim"), (_money(whole) + without, "")))
    return lines


def _money(x: Fraction) -> str:
    """Exact to the millionth."""
    return f"{float(x):.6f}"
