"""Turns a contract and a ledger into what the one lost of the other, or made up.

Both are readings of the same receipts (``docs/semantics.md`` §1): every realized effect is kept, every accepted choice
is bound, nothing with a discharging receipt is still owed, every unsettled receipt is in doubt, approvals are carried
over until they are used, and a claim needs a receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cfrc.model.contract import Contract, Obligation
from cfrc.model.ledger import Ledger
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.verify.audit_approvals import audit_approvals
from cfrc.verify.audit_effects import audit_effects, audit_repeats
from cfrc.verify.audit_values import audit_values
from cfrc.verify.condition import spans
from cfrc.verify.discharged import Discharges
from cfrc.verify.happened import happened


def audit_contract(contract: Contract, ledger: Ledger, *, before: Contract | None = None) -> Verdict:
    """Whether the contract keeps every realized effect, doubt, binding and approval of the ledger, says nothing that
    the ledger does not, and owes only what is open. ``admitted`` when it does, ``refused`` with findings when not.

    ``before`` is the contract that the ledger was written under: what the user had said to it carries over, and needs
    no choice in the ledger. Raises ``ValueError`` when contract and ledger are of different domains."""
    _same_domain(contract, ledger)
    past = happened(ledger)
    findings = [
        *audit_effects(contract, past),
        *_stale(Discharges(contract, past)),
        *audit_values(contract, past, before),
        *audit_repeats(past),
        *audit_approvals(contract, past),
    ]
    return _verdict(contract, findings)


def audit_claims(contract: Contract, ledger: Ledger, claims: Sequence[str]) -> Verdict:
    """Whether each claimed obligation is discharged by receipts of the ledger, all at once, and in the order that the
    contract asks for. A model's own word is never evidence. Raises ``ValueError`` when the two are of different
    domains."""
    _same_domain(contract, ledger)
    discharges = Discharges(contract, happened(ledger), fresh=True)
    chosen, _ = discharges.assign(claims)
    findings = [_unsupported(contract, ledger, name) for name in dict.fromkeys(claims) if name not in chosen]
    findings += [_too_early(contract, a, b) for a, b in discharges.misplaced([n for n in claims if n in chosen])]
    return _verdict(contract, findings)


def _same_domain(contract: Contract, ledger: Ledger) -> None:
    if contract.domain != ledger.domain:
        raise ValueError(f"contract {contract.name} and ledger {ledger.name} are of different domains")


def _verdict(contract: Contract, findings: list[Finding]) -> Verdict:
    refused = any(f.severity == "error" for f in findings)
    return Verdict(Status.REFUSED if refused else Status.ADMITTED, contract.name, None, tuple(findings))


def _stale(discharges: Discharges) -> Iterator[Finding]:
    """Obligations that are owed although receipts discharge them."""
    owed = [o for o in discharges.contract.obligations if discharges.active(o.name)]
    chosen, _ = discharges.assign(o.name for o in owed)
    for o in owed:
        if o.name in chosen:
            by = [discharges.receipt(i.step) for i in chosen[o.name].items]
            how = "by " + ", ".join(dict.fromkeys(f"receipt `{r.id}`" for r in by)) if by else "already"
            yield Finding(
                code="CFRC-LED002",
                kind="coverage",
                message=f"`{o.name}` is owed, but it is discharged {how}",
                help=_open_help(o),
                where=o.span,
                obligation=o.name,
                clauses=spans(*(("in the ledger", r.span) for r in by)),
            )


def _open_help(o: Obligation) -> str:
    if o.exists:
        return "drop it; where another one is owed, say with `where` which one it must not be"
    return "an obligation with a discharging receipt is not open: drop it"


def _unsupported(contract: Contract, ledger: Ledger, name: str) -> Finding:
    o = next((o for o in contract.obligations if o.name == name), None)
    return Finding(
        code="CFRC-LED005",
        kind="evidence",
        message=f"`{name}` is claimed, but no receipt of `{ledger.name}` discharges it",
        help="only a terminal success of a tool that causes or witnesses it is evidence",
        where=o.span if o is not None else contract.span,
        obligation=name,
        clauses=spans(("the ledger", ledger.span)),
    )


def _too_early(contract: Contract, first: str, second: str) -> Finding:
    by_name = {o.name: o for o in contract.obligations}
    return Finding(
        code="CFRC-LED011",
        kind="coverage",
        message=f"`{second}` is claimed, but `{first}` was not realized before it",
        help="an order that was not kept cannot be mended by a claim: hand back",
        where=by_name[second].span,
        obligation=first,
        clauses=spans(("must come first", by_name[first].span)),
    )
