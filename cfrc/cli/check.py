"""Turns a contract and proposals into verdicts: the judgement z ⊢ H, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cfrc.cli.exits import Exit, of_status, worst
from cfrc.cli.options import Output, finding_options, output_options, root_option

if TYPE_CHECKING:
    from cfrc.lang.diagnostics import SpecError
    from cfrc.model.contract import Contract
    from cfrc.model.graph import Proposal
    from cfrc.source import Source

Case = tuple["Contract", "Proposal"]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="CONTRACT [PROPOSAL]")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option("--proposal", "names", multiple=True, metavar="NAME", help="Only this proposal (repeatable).")
@root_option
@finding_options
@output_options
def command(
    files: tuple[str, ...],
    contract_name: str | None,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    budget: int | None,
    out: Output,
) -> Exit:
    """Judge proposals against their contract, before anything runs.

    Give a file with a contract and one with proposals (text or JSON each; - is standard input), or one file with both.
    Without names, every proposal that the last file declares for the contract is judged.
    """
    from cfrc.cli.judge import judged
    from cfrc.lang.diagnostics import SpecError
    from cfrc.verify import admit
    from cfrc.verify.admission import DEFAULT_BUDGET

    if len(files) > 2:
        raise click.UsageError("give a contract and one file with proposals, or one file with both")
    try:
        cases = _cases(files, contract_name, names, roots)
    except SpecError as problem:
        return judged([], problem.diagnostics, out)
    budget = budget or DEFAULT_BUDGET
    verdicts = [
        (admit(contract, proposal, budget=budget, advice=True), contract, proposal) for contract, proposal in cases
    ]
    return worst([judged(verdicts, (), out), *(of_status(v.status) for v, _, _ in verdicts)])


def _cases(files: Sequence[str], contract: str | None, names: Sequence[str], roots: Sequence[str]) -> list[Case]:
    """Raises :class:`cfrc.lang.diagnostics.SpecError` and :class:`click.UsageError`; never returns nothing."""
    from cfrc.cli.inputs import once, source_of
    from cfrc.lang.diagnostics import SpecError
    from cfrc.lang.load import load_contract

    once(files)
    first = source_of(files[0])
    if len(files) == 1:
        return _in_one_file(first, contract, names, roots)
    second = source_of(files[1])
    try:
        agreed = load_contract(first, contract, roots=roots)
        return [(agreed, p) for p in proposals_in(second, agreed, names)]
    except SpecError as problem:
        raise _swapped(first, second) or problem from None


def _swapped(first: Source, second: Source) -> SpecError | None:
    """The better complaint where the two files were given the wrong way round; only asked when something is wrong."""
    from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
    from cfrc.source import Span

    kinds = [_declared(s) for s in (first, second)]
    if kinds != [{"proposal"}, {"contract"}]:
        return None
    a, b = (quoted(s.name, 120) for s in (first, second))
    help = "give the contract first: `cfrc check CONTRACT PROPOSAL`"
    message = f"the two files are given the wrong way round: {a} holds a proposal, {b} the contract"
    return SpecError([Diagnostic("NAM012", message, Span(first, 0, 0), help)])


def _declared(source: Source) -> set[str]:
    """Which of contract and proposal a file itself declares; nothing when it cannot be read."""
    from cfrc.lang.imports import is_json
    from cfrc.lang.parse import parse_file
    from cfrc.lang.tree import ContractDecl, ProposalDecl

    if is_json(source):
        from cfrc.lang.jsonforms.read import read_form

        declarations = read_form(source)[0]
    else:
        declarations = parse_file(source)[0].declarations
    words = {ContractDecl: "contract", ProposalDecl: "proposal"}
    return {word for d in declarations for kind, word in words.items() if isinstance(d, kind)}


def _in_one_file(source: Source, contract: str | None, names: Sequence[str], roots: Sequence[str]) -> list[Case]:
    from cfrc.lang.load import load

    spec = load(source, roots=roots)
    if contract is not None and contract not in spec.contracts:
        raise click.UsageError(f"{source.name} declares no contract {contract!r}")
    for name in names:
        if name not in spec.proposals:
            raise click.UsageError(f"{source.name} declares no proposal {name!r}")
    own = [p for p in spec.proposals.values() if p.span is not None and p.span.source is source]
    wanted = [spec.proposals[n] for n in names] if names else own or list(spec.proposals.values())
    wanted = [p for p in wanted if contract is None or p.contract == contract]
    if not wanted:
        raise click.UsageError(f"{source.name} declares no proposal to judge; `cfrc verify` checks contracts")
    return [(spec.contracts[p.contract], p) for p in wanted]


def proposals_in(source: Source, contract: Contract, names: Sequence[str]) -> list[Proposal]:
    """The proposals of a file for a contract; with names, only those. Raises as ``load_proposal``."""
    from cfrc.lang.imports import is_json
    from cfrc.lang.load import load_proposal
    from cfrc.lang.parse import parse_file
    from cfrc.lang.tree import ProposalDecl

    if not names and not is_json(source):
        declared = [d for d in parse_file(source)[0].declarations if isinstance(d, ProposalDecl)]
        names = [d.name.text for d in declared if d.contract.text == contract.name]
    return [load_proposal(source, contract, name) for name in dict.fromkeys(names)] or [load_proposal(source, contract)]
