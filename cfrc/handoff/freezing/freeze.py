"""Turns a contract (or a bare domain) and the ledger since into the next frozen contract, or into why there is none.

Freezing is advancing. A task contract says what was asked; the ledger says what happened since; the next contract says
what is bound, kept, in doubt, known, owed, licensed and approved by now. Frozen again after a partial run it gives the
next one of a chain, and nothing that was known is lost on the way. No proposal is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Literal

from cfrc.handoff.freezing.approvals import unused
from cfrc.handoff.freezing.bindings import bind_choices, corrected, in_the_way
from cfrc.handoff.freezing.constructor import Constructor, Question, Said, constructed
from cfrc.handoff.freezing.facts import broken, facts, to_verify
from cfrc.handoff.freezing.heads import since
from cfrc.handoff.freezing.kept import doubts, kept_effects, more_than_once, undeclared, undone
from cfrc.handoff.freezing.known import known_values
from cfrc.handoff.freezing.naming import Names
from cfrc.handoff.freezing.owes import owed_by_text
from cfrc.handoff.freezing.past import Past, active, past_of
from cfrc.handoff.freezing.prose import quoted_values
from cfrc.handoff.freezing.reasons import reason
from cfrc.handoff.freezing.refer import refer
from cfrc.handoff.freezing.residual import Residual, residual
from cfrc.handoff.freezing.rules import closure
from cfrc.handoff.freezing.scope import is_tight, tight_scope
from cfrc.lang import tree as t
from cfrc.lang.diagnostics import SpecError, has_errors
from cfrc.lang.jsonforms.digests import contract_digest
from cfrc.lang.parse import parse_file
from cfrc.lang.resolve.contracts import resolve_contract
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.textforms import contract_to_text
from cfrc.model.contract import Contract, Name, Obligation
from cfrc.model.domain import Domain
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.verdict import Finding, Status
from cfrc.source import Source
from cfrc.verify.supported import support

Kind = Literal["contract", "fresh", "complete", "withheld"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """The result of a freeze.

    ``contract``: there is work left, and a proposal may answer it. ``complete``: nothing is owed any more. ``fresh``:
    nothing was bound or done yet, so there is nothing to continue. ``withheld``: ``reasons`` say why no proposal may be
    looked at; the contract is there to be mended, not to be used. ``text`` is the contract as a declaration.
    """

    kind: Kind
    contract: Contract
    text: str
    reasons: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = field(default=())


def freeze(
    before: Contract | Domain,
    ledger: Ledger,
    *,
    owes: Sequence[str] = (),
    request: str | None = None,
    name: str | None = None,
    allow: Sequence[str] | None = None,
    policy: str | None = None,
    as_of: date | datetime | None = None,
    said: Sequence[Said] = (),
    constructor: Constructor | None = None,
) -> Frozen:
    """The next contract, of all that was accepted, done and asked (``docs/semantics.md`` §1 and §3, supported).

    ``before`` is a task contract, the contract of the last freeze, or a domain where nothing was written down yet.
    ``ledger`` is what was recorded since, or all of it from the start: what the contract's ``head`` covers is skipped.
    ``owes`` are more obligations as text; ``constructor`` proposes others from what the user ``said``. ``policy`` is
    the version in force, ``as_of`` the time against which approvals expire (otherwise the latest receipt's).

    Raises ``ValueError`` when contract and ledger are of different domains, and :class:`SpecError` for a text in
    ``owes`` that does not resolve.
    """
    start = _start(before, request, name, allow, policy)
    if start.domain != ledger.domain:
        raise ValueError(f"contract {start.name} and ledger {ledger.name} are of different domains")
    new, head = since(ledger, start.head)
    return _Freeze(start, past_of(start, new), isinstance(before, Domain)).run(owes, said, constructor, head, as_of)


def _start(
    before: Contract | Domain, request: str | None, name: str | None, allow: Sequence[str] | None, policy: str | None
) -> Contract:
    """The contract that is advanced; of a bare domain, one that allows what an agent may call and owes nothing."""
    if isinstance(before, Domain):
        tools = tuple(t.name for t in before.tools.values() if t.actor == "agent")
        before = Contract("task", before, "", allow=tools)
    return replace(
        refer(before),
        name=before.name if name is None else name,
        request=before.request if request is None else request,
        allow=before.allow if allow is None else tuple(allow),
        policy=before.policy if policy is None else policy,
    )


class _Freeze:
    """One freeze: the contract grows part by part."""

    def __init__(self, start: Contract, past: Past, bare: bool) -> None:
        self.start, self.past, self.bare = start, past, bare
        self.names = Names(start.domain, {*start.names, *(o.name for o in start.obligations)})
        self.findings: list[Finding] = [
            *undone(past), *broken(past), *corrected(past), *more_than_once(past), *undeclared(past),
        ]  # fmt: skip

    def run(
        self,
        owes: Sequence[str],
        said: Sequence[Said],
        constructor: Constructor | None,
        head: str | None,
        as_of: date | datetime | None,
    ) -> Frozen:
        start, past = self.start, self.past
        contract = replace(
            start,
            digest="",
            head=head,
            as_of=as_of or _latest(past) or start.as_of,
            kept=kept_effects(past),
            doubts=doubts(past),
            approvals=unused(past, start.policy),
            obligations=(*active(start, past), *to_verify(past)),
        )
        contract = self._known(bind_choices(contract, past, self.names))
        contract = self._owed(contract, owes, said, constructor)
        contract = self._left(contract)
        contract = replace(contract, names={**contract.names, **self._quoted(contract)})
        return self._judged(contract, bool(owes) or constructor is not None)

    def _known(self, contract: Contract) -> Contract:
        known = known_values(self.past, contract.names, contract.allow, self.names)
        return replace(contract, names={**contract.names, **known})

    def _owed(
        self, contract: Contract, owes: Sequence[str], said: Sequence[Said], constructor: Constructor | None
    ) -> Contract:
        """Everything that was asked: of before, in words now, by a constructor, and by the domain's rules."""
        contract = self._with(contract, owed_by_text(contract, owes))
        if constructor is not None:
            found, reasons = constructed(constructor, Question(contract, tuple(said)))
            self.findings += reasons
            contract = self._with(contract, found)
        if not contract.domain.rules:
            return contract
        return self._with(contract, closure(self.past, contract, self._residual(contract).done, self.names))

    def _with(self, contract: Contract, more: tuple[Obligation, ...]) -> Contract:
        if not more:
            return contract
        return refer(replace(contract, obligations=(*contract.obligations, *more)))

    def _left(self, contract: Contract) -> Contract:
        """Without what the receipts discharge."""
        tight = is_tight(self.start)
        left = self._residual(contract)
        self.findings += left.findings
        contract = replace(contract, obligations=left.open, scope=left.scope, facts=facts(self.past, left.keep))
        return replace(contract, scope=tight_scope(contract)) if tight else contract

    def _residual(self, contract: Contract) -> Residual:
        """Only what was realized since may discharge: what the contract kept before was there already."""
        return residual(replace(contract, kept=self.start.kept), self.past)

    def _quoted(self, contract: Contract) -> dict[str, Name]:
        return quoted_values(self.past, contract.names, contract.obligations, self.names)

    def _judged(self, contract: Contract, asked: bool) -> Frozen:
        text = contract_to_text(contract)
        contract = reload(text, contract.domain)
        verdict = support(contract)
        self.findings += in_the_way(contract)
        touched = bool(self.past.ledger.entries) or bool(self.start.names or self.start.kept)
        if self.bare and not asked and not contract.obligations and touched:
            self.findings.append(
                reason(
                    "FRZ001", "nothing says what is owed",
                    "give a task contract, `owes` or a constructor: what happened does not tell what was asked",
                )
            )  # fmt: skip
        reasons = [*(f for f in self.findings if f.severity == "error"), *verdict.errors]
        notes = tuple(f for f in (*self.findings, *verdict.findings) if f.severity != "error")
        return Frozen(self._kind(verdict.status, reasons, touched), contract, text, tuple(reasons), notes)

    def _kind(self, status: Status, reasons: list[Finding], touched: bool) -> Kind:
        if reasons or status is Status.WITHHELD:
            return "withheld"
        if status is Status.FRESH or (self.bare and not touched):
            return "fresh"
        return "complete" if status is Status.COMPLETE else "contract"


def _latest(past: Past) -> datetime | None:
    times = [e.time for e in past.ledger.entries if isinstance(e, Receipt) and e.time is not None]
    return max(times, default=None)


def reload(text: str, domain: Domain) -> Contract:
    """The contract that a declaration says, with its digest. Raises :class:`SpecError`."""
    file, diagnostics = parse_file(Source("<frozen>", text))
    problems = Problems()
    found = [d for d in file.declarations if isinstance(d, t.ContractDecl)]
    if has_errors(diagnostics) or len(found) != 1:
        raise SpecError(diagnostics)
    contract = resolve_contract(found[0], domain, problems)
    if has_errors(problems.found):
        raise SpecError(problems.found)
    return replace(contract, digest=contract_digest(contract))
