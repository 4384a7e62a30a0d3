"""Turns check declarations into executable expectations whose subjects are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, get_args

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.problems import Problems
from cfrc.model.check import Check, Expected
from cfrc.model.contract import Contract
from cfrc.model.graph import Kind, Proposal
from cfrc.model.ledger import Ledger

T = TypeVar("T")

KINDS: tuple[Kind, ...] = get_args(Kind)
VERDICTS = {
    "proposal": ("admits", "rejects", "undecided", "withheld", "complete", "fresh"),
    "contract": ("supported", "withheld", "complete", "fresh", "undecided"),
    "contract against": ("accepts", "rejects"),
    "claim": ("accepts", "rejects"),
}


def resolve_check(
    decl: t.CheckDecl,
    contracts: Mapping[str, Contract],
    proposals: Mapping[str, Proposal],
    ledgers: Mapping[str, Ledger],
    problems: Problems,
) -> Check | None:
    """The check, or ``None`` after reporting an unknown subject, node, obligation, ledger or verdict."""
    before = len(problems.found)
    proposal = _named("proposal", decl.subject, proposals, problems) if decl.target == "proposal" else None
    if proposal is not None:
        contract = contracts.get(proposal.contract)
    elif decl.target != "proposal":
        contract = _named("contract", decl.subject, contracts, problems)
    else:
        contract = None
    if decl.against is not None:
        ledger = _named("ledger", decl.against, ledgers, problems)
        if ledger is not None and contract is not None and ledger.domain != contract.domain:
            message = f"{quoted(decl.subject.text)} is of domain {quoted(contract.domain.name)}, "
            message += f"{quoted(ledger.name)} of {quoted(ledger.domain.name)}"
            problems.add("NAM014", message, decl.against.span, "a contract is checked against a ledger of its domain")
    nodes = {n.id for n in proposal.nodes} if proposal is not None else set()
    obligations = {o.name for o in contract.obligations} if contract is not None else set()
    for name in decl.without:
        if proposal is not None and name.text not in nodes:
            problems.unknown("node", name.text, sorted(nodes), name.span, "NAM008")
    for name in decl.claims:
        if contract is not None and name.text not in obligations:
            problems.unknown("obligation", name.text, sorted(obligations), name.span, "NAM007")
    subjects = nodes | obligations if proposal is not None or contract is not None else None
    expected = tuple(e for n in decl.expected if (e := _expected(n, subjects, problems)) is not None)
    form = "contract against" if decl.target == "contract" and decl.against is not None else decl.target
    if decl.verdict.text not in VERDICTS[form]:
        shown = ", ".join(f"`{v}`" for v in VERDICTS[form])
        problems.unknown("verdict", decl.verdict.text, VERDICTS[form], decl.verdict.span, "NAM009", f"one of {shown}")
    if len(problems.found) > before:
        return None
    return Check(
        target=decl.target,
        subject=decl.subject.text,
        verdict=decl.verdict.text,  # type: ignore[arg-type]  # one of VERDICTS, checked above
        without=tuple(n.text for n in decl.without),
        against=decl.against.text if decl.against is not None else None,
        claims=tuple(n.text for n in decl.claims),
        expected=expected,
        only=decl.only,
        span=decl.span,
    )


def _named(what: str, name: t.Name, known: Mapping[str, T], problems: Problems) -> T | None:
    if name.text not in known:
        problems.unknown(what, name.text, known, name.span, "NAM008")
        return None
    return known[name.text]


def _expected(node: t.ExpectedNode, subjects: set[str] | None, problems: Problems) -> Expected | None:
    kind = next((k for k in KINDS if k == node.kind.text), None)
    if kind is None:
        shown = ", ".join(f"`{k}`" for k in KINDS)
        problems.unknown("finding kind", node.kind.text, KINDS, node.kind.span, "NAM009", f"one of {shown}")
        return None
    if node.subject is None:
        return Expected(kind)
    if subjects is not None and node.subject.text not in subjects:
        problems.unknown("obligation or node", node.subject.text, sorted(subjects), node.subject.span, "NAM007")
        return None
    return Expected(kind, node.subject.text)
