"""Turns a contract and a ledger into what the one lost of the other.

Both are readings of the same receipts (``design.md`` §1): every realized effect is kept, every accepted choice is
bound, nothing with a discharging receipt is still owed, every unsettled receipt is in doubt, and a claim needs a
receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cfrc.model.contract import Approval, Contract, EffectGoal, Obligation
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.receipts import Pattern, World
from cfrc.model.values import Value
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.verify.condition import spans
from cfrc.verify.supported import literal_args

Identity = tuple[str, tuple[Value, ...]]


@dataclass(slots=True)
class Realized:
    """What the ledger says happened: identity to the receipt that realized it, and what is in doubt."""

    effects: dict[Identity, Receipt]
    witnessed: dict[Identity, Receipt]
    doubts: dict[Pattern, Receipt]
    results: dict[str, Receipt]


def audit_contract(contract: Contract, ledger: Ledger) -> Verdict:
    """Whether the contract keeps every realized effect, doubt, binding and approval of the ledger, and owes only what
    is open. ``admitted`` when it does, ``refused`` with findings when not."""
    happened = realized(ledger)
    findings = [
        *_effects(contract, happened),
        *_open(contract, happened),
        *_choices(contract, ledger),
        *_approvals(contract, ledger),
        *_origins(contract, ledger),
    ]
    return _verdict(contract, findings)


def audit_claims(contract: Contract, ledger: Ledger, claims: Sequence[str]) -> Verdict:
    """Whether each claimed obligation is discharged by a receipt of the ledger. A model's own word is never
    evidence."""
    happened = realized(ledger)
    by_name = {o.name: o for o in contract.obligations}
    findings = []
    for name in claims:
        o = by_name.get(name)
        if o is None or not discharged(o, happened):
            findings.append(
                Finding(
                    code="CFRC-LED005",
                    kind="evidence",
                    message=f"`{name}` is claimed, but no receipt of `{ledger.name}` discharges it",
                    help="only a terminal success of a tool that causes or witnesses it is evidence",
                    where=o.span if o is not None else contract.span,
                    obligation=name,
                    clauses=spans(("the ledger", ledger.span)),
                )
            )
    return _verdict(contract, findings)


def _verdict(contract: Contract, findings: list[Finding]) -> Verdict:
    refused = any(f.severity == "error" for f in findings)
    return Verdict(Status.REFUSED if refused else Status.ADMITTED, contract.name, None, tuple(findings))


def realized(ledger: Ledger) -> Realized:
    """Replays the ledger. One effect logged twice is one effect; a definite failure is none; a success settles a
    doubt."""
    found = Realized({}, {}, {}, {})
    world = World(ledger.domain)
    for r in ledger.entries:
        tool = ledger.domain.tools.get(r.tool) if isinstance(r, Receipt) else None
        if tool is None or not isinstance(r, Receipt):
            continue
        effects = world.take(tool, dict(r.args), r.result, r.status)
        for gone in effects.undone:
            for x in [x for x in found.effects if x[0] == gone[0] and _covers(gone[1], x[1])]:
                del found.effects[x]
        for into, identities in ((found.effects, effects.caused), (found.witnessed, effects.witnessed)):
            for i in identities:
                into[i] = r
                _settle(found, i)
        for settled in effects.refuted:
            _settle(found, settled)
        for d in effects.doubted:
            if d not in found.effects:
                found.doubts[d] = r
        found.results[r.id] = r
    return found


def _settle(found: Realized, pattern: Pattern) -> None:
    for x in [x for x in found.doubts if x[0] == pattern[0] and _covers(pattern[1], x[1])]:
        del found.doubts[x]


def _covers(pattern: tuple[Value | None, ...], args: tuple[Value | None, ...]) -> bool:
    return all(p is None or p == a for p, a in zip(pattern, args, strict=True))


def _effects(contract: Contract, happened: Realized) -> Iterator[Finding]:
    kept = {(k.effect, k.args) for k in contract.kept}
    doubted = {(d.effect, d.args) for d in contract.doubts}
    for identity, receipt in happened.effects.items():
        if identity not in kept:
            yield _finding(
                "LED001", "preservation",
                f"`{identity[0]}` happened (receipt `{receipt.id}`), but the contract does not keep it",
                "keep every realized effect, whether or not the request asked for it", contract, receipt,
            )  # fmt: skip
    for pattern, receipt in happened.doubts.items():
        if not any(d == pattern[0] and _covers(pattern[1], a) for d, a in doubted | kept):
            yield _finding(
                "LED004", "preservation",
                f"`{pattern[0]}` may have happened (receipt `{receipt.id}` is `{receipt.status}`), "
                "but the contract does not say so",
                "record it as `doubt`: it is neither an effect nor a licence to retry", contract, receipt,
            )  # fmt: skip
    for k in contract.kept:
        known = {**happened.effects, **happened.witnessed}
        if (k.effect, k.args) not in known:
            yield Finding(
                "CFRC-LED006", "evidence", f"`{k.effect}` is kept, but no receipt realizes it",
                "keep only what a terminal success caused or witnessed", where=k.span,
            )  # fmt: skip


def _open(contract: Contract, happened: Realized) -> Iterator[Finding]:
    for o in contract.obligations:
        if discharged(o, happened):
            yield Finding(
                "CFRC-LED002", "coverage", f"`{o.name}` is owed, but a receipt has already discharged it",
                "an obligation with a discharging receipt is not open", where=o.span, obligation=o.name,
            )  # fmt: skip


def discharged(o: Obligation, happened: Realized) -> bool:
    """Whether receipts of the ledger discharge an obligation without existentials or references."""
    seen = {**happened.effects, **happened.witnessed}
    hits = []
    for g in o.goals:
        args = literal_args(g) if isinstance(g, EffectGoal) else None
        if args is not None and isinstance(g, EffectGoal):
            hits.append((g.effect, args) in seen)
        elif isinstance(g, EffectGoal) and not o.exists and all(a is None or hasattr(a, "value") for a in g.args):
            pattern = tuple(getattr(a, "value", None) for a in g.args)
            hits.append(any(e == g.effect and _covers(pattern, a) for e, a in seen))
        else:
            hits.append(False)
    return o.count == 1 and any(hits)


def _choices(contract: Contract, ledger: Ledger) -> Iterator[Finding]:
    """The latest accepted word on every name is bound."""
    latest = {c.name: c for c in ledger.entries if isinstance(c, Choice)}
    bound = {n.name: n for n in contract.names.values() if n.fixed}
    for name, choice in latest.items():
        mine = bound.get(name)
        if mine is None and any(n.type == choice.type and n.value == choice.value for n in bound.values()):
            continue
        if mine is None or mine.value != choice.value:
            yield _finding(
                "LED003", "binding", f"`{name}` was accepted, but the contract "
                + ("does not bind it" if mine is None else "binds another value"),
                "bind the latest accepted value with `fixed`", contract, choice,
            )  # fmt: skip


def _approvals(contract: Contract, ledger: Ledger) -> Iterator[Finding]:
    have = {(a.tool, a.args, a.denied) for a in contract.approvals}
    for a in ledger.entries:
        if isinstance(a, Approval) and (a.tool, a.args, a.denied) not in have:
            word = "denial" if a.denied else "approval"
            yield _finding(
                "LED007", "authority", f"the {word} of `{a.tool}` is not in the contract",
                "approvals and denials are part of what was accepted", contract, a,
            )  # fmt: skip


def _origins(contract: Contract, ledger: Ledger) -> Iterator[Finding]:
    """A known value says what its receipt says."""
    receipts = {r.id: r for r in ledger.entries if isinstance(r, Receipt)}
    for n in contract.names.values():
        if n.origin is None or n.origin.kind != "receipt" or n.origin.receipt is None:
            continue
        r = receipts.get(n.origin.receipt)
        if r is None or r.status != "success":
            problem = "is not in the ledger" if r is None else f"is `{r.status}`, not a success"
            yield Finding(
                "CFRC-LED008", "evidence", f"`{n.name}` comes from receipt `{n.origin.receipt}`, which {problem}",
                "point it at the receipt that holds the value", where=n.span,
            )  # fmt: skip
        elif n.origin.path and n.origin.quoted is None and not _holds(r.result, n.origin.path, n.value):
            yield Finding(
                "CFRC-LED008", "evidence",
                f"receipt `{r.id}` says otherwise at `{'.'.join(n.origin.path)}` than `{n.name}`",
                "copy the value as the receipt has it", where=n.span,
            )  # fmt: skip


def _holds(result: Value, path: tuple[str, ...], value: Value) -> bool:
    """Whether the value is at the path; through lists and maps, at any element."""
    from cfrc.model.values import Bag, Map, Record

    if not path:
        return result == value
    match result:
        case Record() if path[0] in result:
            return _holds(result.get(path[0]), path[1:], value)
        case Map():
            return any(_holds(v, path, value) for _, v in result.items) or (
                path[0] in result and _holds(result.get(path[0]), path[1:], value)
            )
        case tuple() | Bag():
            return any(_holds(v, path, value) for v in result)
    return False


def _finding(
    code: str, kind: str, message: str, help: str, contract: Contract, entry: Receipt | Choice | Approval
) -> Finding:
    return Finding(
        code=f"CFRC-{code}",
        kind=kind,
        message=message,
        help=help,
        where=contract.span,
        clauses=spans(("in the ledger", entry.span)),
    )
