"""Turns ``check`` declarations into results: was the verdict the one that the file expects?"""

from __future__ import annotations

from dataclasses import dataclass

from cfrc.model.check import Check, Spec
from cfrc.model.graph import without
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.verify.admission import DEFAULT_BUDGET, admit
from cfrc.verify.audit import audit_claims, audit_contract
from cfrc.verify.supported import support


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``passed`` says that the verdict is the expected one; ``message`` says what was found instead, if not."""

    check: Check
    passed: bool
    verdict: Verdict
    message: str


def run_check(spec: Spec, check: Check, *, budget: int = DEFAULT_BUDGET) -> CheckResult:
    """Runs one ``check`` line of a resolved specification."""
    verdict = _verdict(spec, check, budget)
    problem = _compare(check, verdict)
    return CheckResult(check, problem is None, verdict, problem or f"{_word(check, verdict)}, as expected")


def _verdict(spec: Spec, check: Check, budget: int) -> Verdict:
    if check.target == "proposal":
        proposal = spec.proposals[check.subject]
        if check.without:
            proposal = without(proposal, check.without)
        return admit(spec.contracts[proposal.contract], proposal, budget=budget)
    contract = spec.contracts[check.subject]
    if check.target == "claim":
        assert check.against is not None
        return audit_claims(contract, spec.ledgers[check.against], check.claims)
    if check.against is not None:
        return audit_contract(contract, spec.ledgers[check.against])
    return support(contract, budget=budget)


EXPECTED = {
    "admits": Status.ADMITTED,
    "accepts": Status.ADMITTED,
    "supported": Status.ADMITTED,
    "rejects": Status.REFUSED,
    "undecided": Status.UNDECIDED,
    "withheld": Status.WITHHELD,
    "complete": Status.COMPLETE,
    "fresh": Status.FRESH,
}


def _word(check: Check, verdict: Verdict) -> str:
    """What was found, in a word that suits the question: of a contract alone, ``supported`` and not ``admitted``."""
    return check.verdict if check.verdict in ("supported", "accepts") else verdict.status.word


def _told(f: Finding) -> str:
    """A finding as a check would name it."""
    about = f.obligation or f.node
    return f"{f.kind}({about})" if about else f.kind


def _compare(check: Check, verdict: Verdict) -> str | None:
    """What differs from the expectation."""
    if verdict.status is not EXPECTED[check.verdict]:
        found = ", ".join(sorted({f"{f.kind} ({f.code})" for f in verdict.errors}))
        alone = verdict.proposal is None and verdict.status is Status.ADMITTED
        word = "supported" if alone else verdict.status.word
        return f"expected `{check.verdict}`, found `{word}`" + (f": {found}" if found else "")
    if check.verdict != "rejects":
        return None
    errors = [f for f in verdict.findings if f.severity == "error"]
    for e in check.expected:
        about = [f for f in errors if f.kind == e.kind]
        if not any(e.subject in (None, f.node, f.obligation) for f in about):
            subject = f"({e.subject})" if e.subject is not None else ""
            found = ", ".join(dict.fromkeys(_told(f) for f in errors))
            return f"expected a finding of kind `{e.kind}{subject}`, found {found}"
    if check.only:
        extra = sorted({f.kind for f in errors} - {e.kind for e in check.expected})
        if extra:
            return "found more kinds than expected: " + ", ".join(f"`{k}`" for k in extra)
    return None
