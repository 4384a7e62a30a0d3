"""Turns a contract alone into the judgement "supported": may a proposal be looked at, and is there anything to do?

``docs/semantics.md`` §3, *Supported*. Everything here is asked before any proposal is seen. What cannot be settled
within the bound (one call an obligation, with everything else left open) is not a reason to withhold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime
from time import perf_counter

from cfrc.collector import collector_paused
from cfrc.model.contract import Contract, Fact, KeptEffect, Obligation
from cfrc.model.footprint import Wild
from cfrc.model.graph import Proposal
from cfrc.model.show import show_instance, show_value
from cfrc.model.values import Value
from cfrc.model.verdict import Finding, Stats, Status, Verdict
from cfrc.source import Span
from cfrc.verify.assignment import Assignments
from cfrc.verify.condition import spans
from cfrc.verify.conflicts import conflicts
from cfrc.verify.feasible import Feasibility
from cfrc.verify.frame import Frame
from cfrc.verify.ground import Ground
from cfrc.verify.owed import effect_goals, literal_args, references
from cfrc.verify.paths import Paths
from cfrc.verify.spelled import spelled_out
from cfrc.verify.terms import Terms
from cfrc.verify.together import unreconciled


def support(contract: Contract, *, budget: int = 20_000_000, today: date | datetime | None = None) -> Verdict:
    """``admitted`` when the contract is supported and open; ``withheld`` with reasons; ``complete`` or ``fresh``."""
    contract = spelled_out(contract)
    return supported(contract, Ground(contract, today or datetime.now(UTC)), budget)


def supported(contract: Contract, ground: Ground, budget: int) -> Verdict:
    """:func:`support` of a contract that is spelled out and whose look-up tables are there already."""
    with collector_paused():
        return _judge(contract, ground, budget)


def _judge(contract: Contract, ground: Ground, budget: int) -> Verdict:
    start = perf_counter()
    findings = [*_sources(contract), *_facts(contract), *_kept(contract), *_cycles(contract), *conflicts(contract)]
    open_ = _active(contract)
    feasibility = Feasibility(contract, budget, ground)
    solved = 0
    if not findings:
        findings += _rivals(contract, open_)
        for o in open_:
            asked = feasibility.queries
            findings += feasibility.judge(o)
            solved += feasibility.queries > asked
    if not findings:
        findings += unreconciled(contract, open_, feasibility)
    if findings:
        status = Status.WITHHELD
    elif not open_:
        status = Status.COMPLETE
    elif not (any(n.fixed for n in contract.names.values()) or contract.kept or contract.doubts
              or any(f.kept for f in contract.facts)):  # fmt: skip
        status = Status.FRESH
    else:
        status = Status.ADMITTED
    count = len(contract.obligations)
    stats = Stats(count, count - solved, solved, perf_counter() - start)
    return Verdict(status, contract.name, None, tuple(findings), stats=stats)


def _active(contract: Contract) -> list[Obligation]:
    """The obligations whose ``if`` is not false at the freeze."""
    if all(o.condition is None for o in contract.obligations):
        return list(contract.obligations)
    paths = Paths(Frame(Terms(), contract), Proposal("", contract.name, ()))
    assignments = Assignments(paths)
    return [o for o in contract.obligations if assignments.active(o) is not paths.terms.false]


def _finding(
    code: str,
    message: str,
    help: str,
    where: Span | None,
    obligation: str | None = None,
    *clauses: tuple[str, Span | None],
) -> Finding:
    return Finding(
        code=f"CFRC-{code}",
        kind="support",
        message=message,
        help=help,
        where=where,
        obligation=obligation,
        clauses=spans(*clauses),
    )


def _sources(c: Contract) -> Iterator[Finding]:
    """Every field has a trusted source."""
    fields = [
        *((f"`{n.name}`", n.origin, n.span) for n in c.names.values()),
        *((f"kept `{k.effect}`", k.origin, k.span) for k in c.kept),
        *((f"`{f.fluent}`", f.origin, f.span) for f in c.facts),
        *((f"doubt about `{d.effect}`", d.origin, d.span) for d in c.doubts),
        *((f"approval of `{a.tool}`", a.origin, a.span) for a in c.approvals if not a.denied),
    ]
    for what, origin, span in fields:
        if origin is None:
            yield _finding(
                "CON001",
                f"{what} has no trusted source",
                "say where it comes from: `from user turn …` or `from receipt …`",
                span,
            )
        elif origin.kind == "receipt" and origin.status not in (None, "success") and not what.startswith("doubt"):
            yield _finding(
                "CON001", f"{what} rests on a receipt that is `{origin.status}`",
                "only a terminal success is evidence: record it as `doubt`", span,
            )  # fmt: skip


def _facts(c: Contract) -> Iterator[Finding]:
    """No two facts give one fluent instance different values."""
    seen: dict[tuple[str, tuple[Value, ...]], Fact] = {}
    for f in c.facts:
        first = seen.setdefault((f.fluent, f.args), f)
        if first is not f and first.value != f.value:
            what = show_instance(f.fluent, f.args, c.domain.fluents[f.fluent].params)
            yield _finding(
                "CON003", f"`{what}` is said to be both {show_value(first.value)} and {show_value(f.value)}",
                "keep the value of the latest receipt", f.span, None, ("the other fact", first.span),
            )  # fmt: skip


def _kept(c: Contract) -> Iterator[Finding]:
    """K holds no ``once`` key twice, nothing in K is in doubt, and nothing owed is in K."""
    identities: dict[tuple[str, tuple[Value | Wild, ...]], KeptEffect] = {}
    keys: dict[tuple[str, tuple[Value, ...]], KeptEffect] = {}
    for k in c.kept:
        effect = c.domain.effects[k.effect]
        identities[k.effect, k.args] = k
        key = (k.effect, tuple(k.args[i] for i in effect.key))
        first = keys.setdefault(key, k)
        if effect.once and first is not k:
            yield _finding(
                "CON004", f"`{k.effect}` is kept twice for one `once` key",
                "one of the two did not happen: check the receipts",
                k.span, None, ("the other one", first.span),
            )  # fmt: skip
    for d in c.doubts:
        if (d.effect, d.args) in identities:
            yield _finding(
                "CON003", f"`{d.effect}` is both kept and in doubt", "a success settles the doubt: drop it", d.span,
                None, ("kept here", identities[d.effect, d.args].span),
            )  # fmt: skip
    for o in c.obligations:
        for g in effect_goals(o):
            args = literal_args(g)
            if args is not None and (g.effect, args) in identities:
                yield _finding(
                    "CON002", f"`{o.name}` owes what is already realized",
                    "an obligation with a discharging receipt is not open",
                    o.span, o.name, ("kept here", identities[g.effect, args].span),
                )  # fmt: skip


def _cycles(c: Contract) -> Iterator[Finding]:
    """Obligations' references and ``before`` constraints are acyclic."""
    needs = {o.name: references(o) for o in c.obligations}
    earlier: dict[str, set[str]] = defaultdict(set)
    for o in c.obligations:
        for later in o.before:
            earlier[later].add(o.name)
    for graph, what in ((needs, "refer to each other"), (earlier, "must each come before the other")):
        left = {n: ps & needs.keys() for n, ps in graph.items()}
        while free := [n for n, ps in left.items() if not ps & left.keys()]:
            for n in free:
                del left[n]
        if left:
            names = ", ".join(f"`{n}`" for n in sorted(left))
            span = next(o.span for o in c.obligations if o.name in left)
            yield _finding("CON005", f"the obligations {names} {what}", "break the cycle", span, sorted(left)[0])


def _rivals(c: Contract, obligations: list[Obligation]) -> Iterator[Finding]:
    """Literal obligations that exclude each other: one ``once`` key owed twice, or kept with other arguments."""
    keys: dict[tuple[str, tuple[Value, ...]], tuple[str, Span | None]] = {}
    for k in c.kept:
        effect = c.domain.effects[k.effect]
        if effect.once:
            keys[k.effect, tuple(k.args[i] for i in effect.key)] = ("is already realized", k.span)
    for o in obligations:
        goals = effect_goals(o)
        args = literal_args(goals[0]) if len(goals) == len(o.goals) == 1 else None
        if args is None or not c.domain.effects[goals[0].effect].once:
            continue
        effect = c.domain.effects[goals[0].effect]
        key = (goals[0].effect, tuple(args[i] for i in effect.key))
        if key in keys or o.count > 1:
            why, span = keys.get(key, ("would be needed more than once", o.span))
            yield _finding(
                "CON007", f"`{o.name}` cannot be satisfied: its `once` key {why}",
                "an effect declared `once` happens once a key",
                o.span, o.name, ("the other one", span),
            )  # fmt: skip
        keys.setdefault(key, (f"is owed by `{o.name}` too", o.span))
