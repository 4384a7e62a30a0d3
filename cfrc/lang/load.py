"""Turns files into specs: reads, parses, follows imports, resolves every declaration, and sets the digests.

The public entrance of this room. Everything raises :class:`SpecError` with all diagnostics when the input is unusable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cfrc.collector import collector_paused
from cfrc.lang import tree as t
from cfrc.lang.diagnostics import Diagnostic, SpecError, did_you_mean, has_errors, quoted
from cfrc.lang.files import read_source
from cfrc.lang.imports import Loaded, is_json, read_all
from cfrc.lang.parse import parse_file
from cfrc.lang.resolve.checks import resolve_check
from cfrc.lang.resolve.contracts import resolve_contract
from cfrc.lang.resolve.domains import resolve_domain
from cfrc.lang.resolve.ledgers import resolve_ledger
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.proposals import resolve_proposal
from cfrc.model.check import Check, Spec
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.graph import Proposal
from cfrc.model.ledger import Ledger
from cfrc.source import Source, Span

D = TypeVar("D", t.DomainDecl, t.ContractDecl, t.ProposalDecl, t.LedgerDecl)


def load(path: str | Path | Source, *, roots: Sequence[str | Path] = ()) -> Spec:
    """Everything that a file and its imports declare.

    ``path`` is a spec file or a JSON form; ``roots`` are more folders that imports may name files of.
    Raises :class:`SpecError` if anything is wrong, with every diagnostic that could be found.
    """
    with collector_paused():
        return resolve(read_all(path, roots))


def load_contract(path: str | Path | Source, name: str | None = None, *, roots: Sequence[str | Path] = ()) -> Contract:
    """The one contract that a file (text or JSON) declares, or the one called ``name`` among it and its imports.

    Raises :class:`SpecError` as :func:`load`, and when the choice is not clear (``NAM012``).
    """
    with collector_paused():
        loaded = read_all(path, roots)
        spec = resolve(loaded)
    own = [d.name.text for d in loaded.own if isinstance(d, t.ContractDecl)]
    return spec.contracts[_choose("contract", name, own, list(spec.contracts), loaded.sources[0])]


def load_proposal(path: str | Path | Source, contract: Contract, name: str | None = None) -> Proposal:
    """The proposal in a file (text or JSON), resolved against ``contract``; imports of the file are not followed.

    Of several proposals, ``name`` chooses; without it, the only one for this contract. What is wrong with the proposal
    itself is a fault in it. Raises :class:`SpecError` for an unreadable file, bad syntax or shape, and when the choice
    is not clear (``NAM012``).
    """
    with collector_paused():
        source = path if isinstance(path, Source) else read_source(path)
        proposals = _proposals(source)
        own = list(proposals)
        if name is None and len(own) > 1:
            own = [n for n, d in proposals.items() if d.contract.text == contract.name]
        return resolve_proposal(proposals[_choose("proposal", name, own, list(proposals), source)], contract)


def _proposals(source: Source) -> dict[str, t.ProposalDecl]:
    """The proposals that one source declares, by name. Raises :class:`SpecError` for bad syntax or shape."""
    if is_json(source):
        from cfrc.lang.jsonforms.read import read_form

        declarations, diagnostics = read_form(source, wanted="proposal")
    else:
        file, diagnostics = parse_file(source)
        declarations = file.declarations
    problems = Problems()
    found = _unique(declarations, t.ProposalDecl, "proposal", problems)
    diagnostics = [*diagnostics, *problems.found]
    if has_errors(diagnostics):
        raise SpecError(diagnostics)
    return {d.name.text: d for d in found}


def resolve(loaded: Loaded) -> Spec:
    """The meaning of all declarations that were read. Raises :class:`SpecError`."""
    problems = Problems()
    domains: dict[str, Domain] = {}
    for domain_decl in _unique(loaded.all, t.DomainDecl, "domain", problems):
        domains[domain_decl.name.text] = resolve_domain(domain_decl, problems)
    contracts: dict[str, Contract] = {}
    for contract_decl in _unique(loaded.all, t.ContractDecl, "contract", problems):
        domain = _known("domain", contract_decl.domain, domains, problems)
        if domain is not None:
            contracts[contract_decl.name.text] = resolve_contract(contract_decl, domain, problems)
    ledgers: dict[str, Ledger] = {}
    for ledger_decl in _unique(loaded.all, t.LedgerDecl, "ledger", problems):
        domain = _known("domain", ledger_decl.domain, domains, problems)
        if domain is not None:
            ledgers[ledger_decl.name.text] = resolve_ledger(ledger_decl, domain, problems)
    proposals: dict[str, Proposal] = {}
    for proposal_decl in _unique(loaded.all, t.ProposalDecl, "proposal", problems):
        contract = _known("contract", proposal_decl.contract, contracts, problems)
        if contract is not None:
            proposals[proposal_decl.name.text] = resolve_proposal(proposal_decl, contract)
    checks: list[Check] = []
    for decl in loaded.own:
        if isinstance(decl, t.CheckDecl):
            check = resolve_check(decl, contracts, proposals, ledgers, problems)
            if check is not None:
                checks.append(check)
    diagnostics = [*loaded.diagnostics, *problems.found]
    if has_errors(diagnostics):
        raise SpecError(diagnostics)
    contracts = {n: _with_digest(c) for n, c in contracts.items()}
    return Spec(domains, contracts, proposals, ledgers, tuple(checks))


def _with_digest(contract: Contract) -> Contract:
    from cfrc.lang.jsonforms.digests import contract_digest

    return replace(contract, digest=contract_digest(contract))


def _unique(declarations: Sequence[t.Declaration], kind: type[D], what: str, problems: Problems) -> list[D]:
    """The declarations of one kind; a repeated name is reported and dropped."""
    found: dict[str, D] = {}
    for decl in declarations:
        if isinstance(decl, kind):
            first = found.setdefault(decl.name.text, decl)
            if first is not decl:
                problems.duplicate(what, decl.name.text, decl.name.span, first.name.span)
    return list(found.values())


V = TypeVar("V")


def _known(what: str, name: t.Name, known: dict[str, V], problems: Problems) -> V | None:
    if name.text in known:
        return known[name.text]
    if name.text:
        problems.unknown(what, name.text, known, name.span, "NAM008", _where(what, name))
    else:  # a proposal in JSON need not name its contract
        problems.add("NAM012", f"the proposal names no {what}", name.span, _where(what, name))
    return None


def _where(what: str, name: t.Name) -> str:
    """Where a declaration that is not there should be: a form in JSON has no imports, and finds its domain by name."""
    if not is_json(name.span.source):
        return f"declare the {what}, or import the file that does"
    if what == "contract":
        return "give the file with the contract first: `cfrc check CONTRACT PROPOSAL`"
    return (
        f"put `{name.text}.cfrc` beside this file, name its folder with `--root`, or name the file: "
        f'"domain": {{"name": "{name.text}", "import": "folder/{name.text}.cfrc"}}'
    )


def _choose(what: str, name: str | None, own: list[str], known: list[str], source: Source) -> str:
    """The declaration that is meant. Raises :class:`SpecError` when it is unknown or not clear."""
    place = Span(source, 0, 0)
    if name is not None:
        if name in known:
            return name
        message, help = f"there is no {what} {quoted(name)}", did_you_mean(name, known)
        raise SpecError([Diagnostic("NAM008", message, place, help)])
    if len(own) == 1:
        return own[0]
    if not own:
        raise SpecError([Diagnostic("NAM012", f"the file declares no {what}", place)])
    shown = ", ".join(quoted(n) for n in own[:10])
    raise SpecError([Diagnostic("NAM012", f"the file declares several {what}s", place, f"name one of {shown}")])
