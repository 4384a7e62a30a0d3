"""Turns a contract, proposal or ledger in text into its JSON form, and a JSON form into text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, root_option

if TYPE_CHECKING:
    from cfrc.model.check import Spec
    from cfrc.model.contract import Contract
    from cfrc.model.domain import Domain
    from cfrc.model.graph import Fault, Proposal
    from cfrc.model.ledger import Ledger
    from cfrc.source import Source

    Declared = Contract | Proposal | Ledger


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[CONTRACT] FILE")
@click.option("--to", "form", type=click.Choice(["json", "text"]), help="The form to write; else the other one.")
@click.option("--name", metavar="NAME", help="Which contract, proposal or ledger, where a file declares several.")
@click.option("--output", "-o", metavar="FILE", help="Write it there, at once, instead of standard output.")
@root_option
def command(
    files: tuple[str, ...],
    form: Literal["json", "text"] | None,
    name: str | None,
    output: str | None,
    roots: tuple[str, ...],
) -> Exit:
    """Write a contract, proposal or ledger in its other form: text as JSON, JSON as text. The meaning stays the same.

    A proposal in a file of its own is given after its contract, as to `cfrc check`. What comes out reads back as the
    same declaration, with the same digest; comments and layout are lost. What is wrong with a proposal would be lost as
    well, so that only one without faults is written.
    """
    from cfrc.cli.inputs import complain, once, source_of
    from cfrc.lang.diagnostics import SpecError
    from cfrc.lang.imports import is_json

    if len(files) > 2:
        raise click.UsageError("give one file, or a contract and the file with its proposal")
    once(files)
    try:
        source = source_of(files[-1])
        found = _chosen(_proposals(files[0], source, roots) if len(files) == 2 else _own(source, roots), name, source)
        text = (form or ("text" if is_json(source) else "json")) == "text"
        Output(path=output).write(_text(found, output) if text else _json(found, output))
    except SpecError as problem:
        complain(problem.diagnostics, Output())
        return Exit.INPUT
    return Exit.HOLDS


def _own(source: Source, roots: tuple[str, ...]) -> dict[str, Declared]:
    """What a file itself declares, by name (with its kind where two have one name).

    Raises :class:`cfrc.lang.diagnostics.SpecError`.
    """
    from cfrc.lang.load import load

    spec: Spec = load(source, roots=roots)
    every: dict[str, Mapping[str, Any]] = {
        "contract": spec.contracts, "proposal": spec.proposals, "ledger": spec.ledgers,
    }  # fmt: skip
    own = [(k, n, d) for k, known in every.items() for n, d in known.items() if d.span and d.span.source is source]
    times = Counter(n for _, n, _ in own)
    return {n if times[n] == 1 else f"{k} {n}": d for k, n, d in own}


def _proposals(contract: str, source: Source, roots: tuple[str, ...]) -> dict[str, Declared]:
    """The proposals of a file, for the contract of another one. Raises the same."""
    from cfrc.cli.check import proposals_in
    from cfrc.cli.inputs import source_of
    from cfrc.lang.load import load_contract

    return {p.name: p for p in proposals_in(source, load_contract(source_of(contract), roots=roots), ())}


def _chosen(known: Mapping[str, Declared], name: str | None, source: Source) -> Declared:
    if name is not None and name not in known:
        raise click.UsageError(f"{source.name} declares no contract, proposal or ledger {name!r}")
    if name is None and len(known) != 1:
        several = f"several: name one with --name ({', '.join(known)})" if known else "no contract, proposal or ledger"
        raise click.UsageError(f"{source.name} declares {several}")
    found = known[name] if name is not None else next(iter(known.values()))
    if _faults(found):
        raise click.UsageError("something is wrong with this proposal (`cfrc check` says what), and would be lost")
    return found


def _faults(found: Declared) -> list[Fault]:
    """What resolution noted in a proposal, which its written forms leave out."""
    from cfrc.model.graph import Proposal

    return [*found.faults, *(f for n in found.nodes for f in n.faults)] if isinstance(found, Proposal) else []


def _json(found: Declared, output: str | None) -> str:
    from cfrc.cli.freeze import import_of
    from cfrc.lang.jsonforms import contract_to_json, ledger_to_json, proposal_to_json
    from cfrc.model.contract import Contract
    from cfrc.model.graph import Proposal
    from cfrc.report.json import dumps

    if isinstance(found, Proposal):
        return dumps(proposal_to_json(found))
    _, file = import_of(found.domain, output)
    if file in (f"{found.domain.name}.cfrc", f"domains/{found.domain.name}.cfrc"):
        file = None  # it is found by its name
    return dumps(contract_to_json(found, file) if isinstance(found, Contract) else ledger_to_json(found, file))


def _text(found: Declared, output: str | None) -> str:
    from cfrc.cli.freeze import import_of
    from cfrc.lang.textforms import contract_to_text, ledger_to_text, proposal_to_text
    from cfrc.model.contract import Contract
    from cfrc.model.graph import Proposal

    if isinstance(found, Proposal):
        return proposal_to_text(found)
    head, _ = import_of(found.domain, output)
    domain = found.domain.span
    if domain is not None and _says_more(domain.source):
        head = domain.text + "\n\n"  # whoever imported that file would import what is written here too
    if not isinstance(found, Contract):
        return head + ledger_to_text(found)
    try:
        text = contract_to_text(found)
        same = _digest_of(text, found.domain) == found.digest
    except ValueError:  # an empty `within` has no text
        same = False
    if not same:
        raise click.UsageError("only JSON can say all of this contract (an empty `within`, or where a user was quoted)")
    return head + text


def _digest_of(text: str, domain: Domain) -> str:
    """The digest of the contract that a text declares."""
    from cfrc.lang.jsonforms import contract_digest
    from cfrc.lang.parse import parse_file
    from cfrc.lang.resolve.contracts import resolve_contract
    from cfrc.lang.resolve.problems import Problems
    from cfrc.lang.tree import ContractDecl
    from cfrc.source import Source

    (declared,) = (d for d in parse_file(Source("<converted>", text))[0].declarations if isinstance(d, ContractDecl))
    return contract_digest(resolve_contract(declared, domain, Problems()))


def _says_more(source: Source) -> bool:
    """Whether a file declares more than domains."""
    from cfrc.lang.parse import parse_file
    from cfrc.lang.tree import DomainDecl, Import

    return not all(isinstance(d, DomainDecl | Import) for d in parse_file(source)[0].declarations)
