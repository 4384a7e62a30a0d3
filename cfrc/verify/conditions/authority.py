"""Turns approvals and denials into conditions on the calls that need them.

``docs/semantics.md`` §3, *authority*: in every reachable state an enabled call that needs approval has an unused
approval of that tool with provably equal arguments and the policy version in force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from cfrc.model.contract import Approval, Contract
from cfrc.verify.condition import Condition, spans
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Run
from cfrc.verify.shapes import equal, literal
from cfrc.verify.terms import Term

COMBINATIONS = 2000
"""How many subsets of calls are tried against one approval before the question is left undecided."""


@dataclass(frozen=True, slots=True)
class Group:
    """Identical approvals: ``copies`` of them, each good for one call."""

    approval: Approval
    copies: int


def conditions(paths: Paths, today: date | datetime) -> Iterator[Condition]:
    groups, useless = usable(paths.contract, today)
    for run in paths.runs:
        yield from _denied(paths, run)
        if run.needs_approval is not paths.terms.false:
            yield from _approved(paths, run, groups, useless)
    for group in groups:
        yield from _used_up(paths, group)


def instant(when: date | datetime) -> datetime:
    """A date counts as its first moment, UTC."""
    if isinstance(when, datetime):
        return when if when.tzinfo else when.replace(tzinfo=UTC)
    return datetime.combine(when, time.min, tzinfo=UTC)


def usable(contract: Contract, today: date | datetime) -> tuple[list[Group], list[Approval]]:
    """The approvals that are in force, and those that have expired or are for another policy version."""
    now = instant(contract.as_of if contract.as_of is not None else today)
    counts: dict[tuple[object, ...], tuple[Approval, int]] = {}
    useless = []
    for a in contract.approvals:
        if a.denied:
            continue
        expired = a.expires is not None and instant(a.expires) <= now
        if expired or (contract.policy is not None and a.policy != contract.policy):
            useless.append(a)
            continue
        key = (a.tool, a.args)
        counts[key] = (a, counts[key][1] + 1 if key in counts else 1)
    return [Group(a, n) for a, n in counts.values()], useless


def _matches(paths: Paths, run: Run, a: Approval) -> Term:
    """Whether the call's arguments, defaults filled in, are those of the approval or denial."""
    t = paths.terms
    if run.tool is None or a.tool != run.call.tool:
        return t.false
    given = dict(a.args)
    parts = []
    for p in run.tool.params:
        if p.name in given:
            parts.append(equal(t, run.args[p.name], literal(t, given[p.name], p.type)))
        elif not a.denied:
            return t.false
    return t.and_(*parts)


def _approved(paths: Paths, run: Run, groups: list[Group], useless: list[Approval]) -> Iterator[Condition]:
    t = paths.terms
    mine = [g.approval for g in groups if g.approval.tool == run.call.tool]
    others = [*mine, *(a for a in useless if a.tool == run.call.tool)]
    bad = t.and_(run.needs_approval, t.not_(t.or_(*(_matches(paths, run, a) for a in mine))))
    code = "AUT003" if others else "AUT002"
    why = (
        "the approval is for other arguments, has expired, or is for another policy version"
        if others
        else "there is none"
    )
    yield Condition(
        kind="authority",
        code=code,
        bad=bad,
        message=f"`{run.call.id}` needs an approval of `{run.call.tool}` with these arguments: {why}",
        help="ask for an approval of exactly these arguments under the policy in force, then freeze again",
        mask=paths.order.anc[run.pos],
        step=run.pos,
        node=run.call.id,
        where=run.call.span,
        clauses=spans(
            *(("an approval", a.span) for a in others), ("needs approval", run.tool.span if run.tool else None)
        ),
    )


def _used_up(paths: Paths, group: Group) -> Iterator[Condition]:
    """More uses than copies of an approval: any ``copies + 1`` uses by calls that may all be made."""
    t = paths.terms
    users = [
        (r, m) for r in paths.runs if (m := t.and_(r.needs_approval, _matches(paths, r, group.approval))) is not t.false
    ]
    most = [r.call.polls if r.polled is not None else 1 for r, _ in users]
    for tried, counts in enumerate(_shared(most, group.copies + 1)):
        chosen = [(r, m, n) for (r, m), n in zip(users, counts, strict=True) if n]
        latest = max((r for r, _, _ in chosen), key=lambda r: r.pos)
        on = _polled_on(paths, [r for r, _, _ in chosen])
        for last in [latest, *(r for r, _, n in chosen if r is not latest and on >> r.pos & 1 and n == r.call.polls)]:
            others = [r for r, _, _ in chosen if r is not last]
            first = others[0] if others else last
            going_on = on & ~(1 << last.pos)
            yield Condition(
                kind="authority",
                code="AUT004",
                bad=t.and_(*(t.and_(m, _uses(paths, r, n, r is last)) for r, m, n in chosen)),
                message=f"`{last.call.id}` uses the approval that "
                + (f"`{first.call.id}` has already used" if others else "its earlier poll has already used"),
                help="each approval is good for one call, and every poll is one",
                mask=paths.order.closed(r.pos for r, _, _ in chosen) & ~(1 << last.pos) & ~going_on,
                returned=going_on,
                step=last.pos,
                node=last.call.id,
                where=last.call.span,
                clauses=spans(("the approval", group.approval.span), ("used first here", first.call.span)),
                others=tuple(r.call.id for r in others),
                undecidable="too many calls share one approval" if tried >= COMBINATIONS else None,
            )
        if tried >= COMBINATIONS:
            return


def _polled_on(paths: Paths, chosen: list[Run]) -> int:
    """Those of the calls, as a bitset, that may still be polled at the last use: none of the others waits for them."""
    waited = 0
    for r in chosen:
        waited |= paths.order.anc[r.pos]
    return sum(1 << r.pos for r in chosen if r.polled is not None and not waited >> r.pos & 1)


def _shared(most: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """All ways to share ``total`` uses among calls of which each has at most so many; fewest by one call first."""
    if not most:
        if total == 0:
            yield ()
        return
    rest = sum(most[1:])
    for own in range(max(0, total - rest), min(most[0], total) + 1):
        for others in _shared(most[1:], total - own):
            yield (own, *others)


def _uses(paths: Paths, run: Run, number: int, last: bool) -> Term:
    """Whether a call is made so often: at its polls, and once more. A definite failure uses no approval up, but the
    use that is one too many is judged before anybody knows whether the call fails."""
    t = paths.terms
    if run.polled is None:
        return t.true if last else run.happened
    if last:
        return run.polled if number > 1 else t.true
    if number == 1:
        return t.or_(run.polled, run.happened)
    return t.and_(run.polled, run.happened, *run.cont) if number == run.call.polls else run.polled


def _denied(paths: Paths, run: Run) -> Iterator[Condition]:
    t = paths.terms
    for a in paths.contract.approvals:
        if a.denied and a.tool == run.call.tool:
            yield Condition(
                kind="authority",
                code="AUT005",
                bad=t.and_(run.called, _matches(paths, run, a)),
                message=f"`{run.call.id}` makes a call that was denied",
                help="a denial stands until a new approval is frozen into a contract",
                mask=paths.order.anc[run.pos],
                step=run.pos,
                node=run.call.id,
                where=run.call.span,
                clauses=spans(("denied here", a.span)),
            )
