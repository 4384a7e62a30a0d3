"""Turns the approvals and denials of a contract and a ledger into those that were lost, made up or used up.

An approval is good for one call: the next call with exactly its arguments that needs one uses it, if it succeeds. A
definite failure uses nothing; a call without an answer may have used it, so that it may be carried over or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.model.contract import Approval, Contract
from cfrc.model.domain import Domain
from cfrc.model.ledger import Receipt
from cfrc.model.plan import full_args
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.verify.condition import spans
from cfrc.verify.happened import Happened

Call = tuple[str, frozenset[tuple[str, Value]]]


@dataclass(slots=True)
class _Given:
    """The approvals of one call: those of the ledger, and how many calls used one for sure, or perhaps."""

    approvals: list[Approval] = field(default_factory=list)
    used: int = 0
    perhaps: int = 0
    by: Receipt | None = None

    def use(self, receipt: Receipt, sure: bool) -> None:
        if self.used + self.perhaps < len(self.approvals):
            self.used, self.perhaps = self.used + sure, self.perhaps + (not sure)
            self.by = receipt if sure else self.by


def audit_approvals(contract: Contract, past: Happened) -> Iterator[Finding]:
    """Every denial and unused approval of the ledger is in the contract, and no approval that the ledger lacks."""
    given = _given(past)
    mine: dict[Call, list[Approval]] = defaultdict(list)
    for a in contract.approvals:
        if not a.denied:
            mine[_call(contract.domain, a.tool, a.args)].append(a)
    for call in dict.fromkeys((*given, *mine)):
        yield from _compare(contract, past, given.get(call, _Given()), mine.get(call, []))
    denied = [_pattern(contract.domain, a) for a in contract.approvals if a.denied]
    for entry in past.ledger.entries:
        if isinstance(entry, Approval) and entry.denied:
            tool, args = _pattern(past.ledger.domain, entry)
            # A wider denial denies this call too.
            if not any(t == tool and wider <= args for t, wider in denied):
                yield _lost(contract, entry, "denial")


def _given(past: Happened) -> dict[Call, _Given]:
    given: dict[Call, _Given] = defaultdict(_Given)
    for position, entry in enumerate(past.ledger.entries):
        if isinstance(entry, Approval) and not entry.denied:
            given[_call(past.ledger.domain, entry.tool, entry.args)].approvals.append(entry)
        elif isinstance(entry, Receipt) and past.asked.get(position, False) is not False:
            call = _call(past.ledger.domain, entry.tool, entry.args)
            if call in given:
                given[call].use(entry, past.asked[position] is True)
    return given


def _compare(contract: Contract, past: Happened, given: _Given, mine: list[Approval]) -> Iterator[Finding]:
    """The approvals of one call, copy by copy."""
    have, want = Counter(map(_terms, given.approvals)), Counter[tuple[object, object]]()
    real = []
    for a in mine:
        want[_terms(a)] += 1
        if want[_terms(a)] <= have[_terms(a)]:
            real.append(a)
            continue
        yield Finding(
            code="CFRC-LED007",
            kind="authority",
            message=f"the approval of `{a.tool}` is not in the ledger",
            help="only what was approved, as it was approved, carries over; a copy needs an approval of its own",
            where=a.span,
            clauses=spans(("the ledger", past.ledger.span)),
        )
    for a in real[len(given.approvals) - given.used :]:
        yield Finding(
            code="CFRC-LED007",
            kind="authority",
            message=f"the approval of `{a.tool}` is used up"
            + (f" (receipt `{given.by.id}`)" if given.by is not None else ""),
            help="an approval is good for one call: leave it out",
            where=a.span,
            clauses=spans(("used here", given.by.span if given.by is not None else None)),
        )
    missing = len(given.approvals) - given.used - given.perhaps - len(real)
    left_out = list((have - want).elements())
    for a in reversed(given.approvals):
        if missing > 0 and _terms(a) in left_out:
            left_out.remove(_terms(a))
            missing -= 1
            yield _lost(contract, a, "approval")


def _terms(a: Approval) -> tuple[object, object]:
    """What an approval says beside the call."""
    return a.policy, a.expires


def _call(domain: Domain, tool: str, args: tuple[tuple[str, Value], ...]) -> Call:
    declared = domain.tools.get(tool)
    return tool, frozenset(args if declared is None else full_args(declared, args).items())


def _pattern(domain: Domain, a: Approval) -> Call:
    """A denial: the parameters that it does not mention may be anything."""
    mentioned = {n for n, _ in a.args}
    tool, args = _call(domain, a.tool, a.args)
    return tool, frozenset((n, v) for n, v in args if n in mentioned)


def _lost(contract: Contract, a: Approval, word: str) -> Finding:
    return Finding(
        code="CFRC-LED007",
        kind="authority",
        message=f"the {word} of `{a.tool}` is not in the contract",
        help="denials, and approvals that no call has used, are part of what was accepted",
        where=contract.span,
        clauses=spans(("in the ledger", a.span)),
    )
