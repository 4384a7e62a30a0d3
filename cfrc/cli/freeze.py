"""Turns a task and the record of what happened into the contract of what is left, as text or JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options, root_option

if TYPE_CHECKING:
    from datetime import date

    from cfrc.handoff.freezing.constructor import Endpoint, Said
    from cfrc.handoff.freezing.freeze import Frozen
    from cfrc.lang.diagnostics import Diagnostic
    from cfrc.model.contract import Contract
    from cfrc.model.domain import Domain
    from cfrc.model.ledger import Ledger
    from cfrc.model.transcript import Transcript
    from cfrc.source import Source

FORMATS = ("openai-chat", "openai-responses", "anthropic", "receipts")


@click.command()
@click.argument("spec", metavar="TASK.cfrc|DOMAIN.cfrc")
@click.argument("records", nargs=-1, metavar="RECORD...")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option(
    "--request", metavar="TEXT", help="What was asked, in words (otherwise the task's, or the first message)."
)
@click.option(
    "--owes", multiple=True, metavar="TEXT", help='What is owed besides: "delivery: sent(f, to)" (repeatable).'
)
@click.option("--name", metavar="NAME", help="What the new contract is called.")
@click.option("--allow", metavar="TOOLS", help="The tools that may be called, separated by commas.")
@click.option("--policy", metavar="VERSION", help="The policy version in force.")
@click.option("--as-of", metavar="DATE", help="The time against which approvals expire (otherwise the last receipt's).")
@click.option("--input-format", type=click.Choice(FORMATS), help="The format of the records, where it cannot be told.")
@click.option("--words/--no-words", default=True, help="Whether identifiers that the user mentions are bound.")
@click.option("--constructor", metavar="URL", help="Ask the model behind this OpenAI-compatible endpoint what is owed.")
@click.option("--model", metavar="NAME", help="The model that is asked.")
@click.option("--key-variable", default="OPENAI_API_KEY", metavar="NAME", help="The environment variable with its key.")
@click.option("--show-withheld", is_flag=True, help="Write the contract even if it is withheld, to be mended.")
@root_option
@output_options
def command(spec: str, records: tuple[str, ...], roots: tuple[str, ...], out: Output, **options: Any) -> Exit:
    """Freeze what is left of a task into a contract, from the record of what happened.

    The first file declares the task contract, the contract of the last freeze, or only a domain. Each RECORD is a
    transcript (OpenAI chat or Responses, Anthropic, plain receipts) or a ledger (text or JSON), in order; - is standard
    input. Writes the contract; says on standard error if it is `complete`, `fresh` or `withheld`. Exits 1 if withheld.
    """
    from cfrc.cli.inputs import complain, once
    from cfrc.lang.diagnostics import SpecError
    from cfrc.model.contract import Contract

    once((spec, *records))
    try:
        before, source = _before(spec, options["contract_name"], roots)
        domain = before.domain if isinstance(before, Contract) else before
        ledger, said, request, notes = _record(domain, before, records, options, roots)
        if options["request"] is None and not (isinstance(before, Contract) and before.request):
            options["request"] = request or None
        frozen = _frozen(before, ledger, said, options, source)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    return _show(frozen, notes, options["show_withheld"], out)


def _before(path: str, name: str | None, roots: Sequence[str]) -> tuple[Contract | Domain, Source]:
    """The contract that the file declares, or else its one domain. Raises :class:`SpecError`."""
    from cfrc.cli.inputs import source_of
    from cfrc.lang.load import load, load_contract

    source = source_of(path)
    spec = load(source, roots=roots)
    own = [c for c in spec.contracts.values() if c.span is not None and c.span.source is source]
    if own or name is not None:
        return load_contract(source, name, roots=roots), source
    if len(spec.domains) != 1:
        raise click.UsageError(f"{source.name} declares no contract and {len(spec.domains)} domains; one is needed")
    return next(iter(spec.domains.values())), source


def _record(
    domain: Domain,
    before: Contract | Domain,
    paths: Sequence[str],
    options: dict[str, Any],
    roots: Sequence[str],
) -> tuple[Ledger, tuple[Said, ...], str, list[Diagnostic]]:
    """One ledger of all records, what the user said, the first message, and notes."""
    from cfrc.handoff.freezing.typing import ledger_of, said_in
    from cfrc.model.contract import Contract
    from cfrc.model.ledger import Ledger

    entries: list[Any] = []
    notes: list[Diagnostic] = []
    transcripts: list[Transcript] = []
    types = {n.name: n.type for n in before.names.values()} if isinstance(before, Contract) else {}
    for path in paths:
        found = _read(path, domain, options["input_format"], roots)
        if isinstance(found, Ledger):
            entries += found.entries
        else:
            transcripts.append(found)
            notes += _notes(found)
    if transcripts:
        ledger, more = ledger_of(domain, transcripts, types=types, words=options["words"])
        entries += ledger.entries
        notes += more
    request = transcripts[0].request if transcripts else ""
    return Ledger("record", domain, tuple(entries)), said_in(transcripts), request, notes


def _read(path: str, domain: Domain, format_: Any, roots: Sequence[str]) -> Ledger | Transcript:
    """A ledger, where the text is one in either form; else a transcript. Raises :class:`SpecError`."""
    from cfrc.adapters.transcripts import read_transcript
    from cfrc.cli.inputs import source_of
    from cfrc.lang.load import load

    source = source_of(path)
    if not is_ledger(source):
        return read_transcript(source, format_)
    own = [x for x in load(source, roots=roots).ledgers.values() if x.span and x.span.source is source]
    if len(own) != 1 or own[0].domain != domain:
        raise click.UsageError(f"{source.name} has to declare one ledger of the domain {domain.name}")
    return own[0]


def is_ledger(source: Source) -> bool:
    from cfrc.lang.imports import is_json

    if not is_json(source):
        return True
    from cfrc.lang.jsonforms.read import form_of
    from cfrc.lang.jsonread import JsonProblem, read_json

    try:
        top = read_json(source).value
    except JsonProblem:
        return False  # one value a line, or no JSON at all: the reader of transcripts says which
    return isinstance(top, dict) and form_of(top) == "ledger"


def _notes(transcript: Transcript) -> list[Diagnostic]:
    from cfrc.lang.diagnostics import Diagnostic

    return [Diagnostic(n.code, n.message, n.span, n.help, severity="warning") for n in transcript.notes]


def _frozen(
    before: Contract | Domain, ledger: Ledger, said: tuple[Said, ...], options: dict[str, Any], source: Source
) -> Frozen:
    from cfrc.handoff.freezing.freeze import freeze
    from cfrc.model.contract import Contract

    name = options["name"]
    allow = options["allow"].split(",") if options["allow"] is not None else None
    unknown = [t for t in allow or () if t.strip() not in ledger.domain.tools]
    if unknown:
        raise click.UsageError(f"the domain has no tool {unknown[0].strip()!r}")
    place = ledger.domain.span.source if ledger.domain.span is not None else None
    if name is None and isinstance(before, Contract) and place is source:
        name = f"{before.name}_rest"  # the domain's file is imported, and has a contract of that name already
    return freeze(
        before, ledger, owes=options["owes"], request=options["request"], name=name,
        allow=None if allow is None else [t.strip() for t in allow], policy=options["policy"],
        as_of=_moment(options["as_of"]), said=said, constructor=_constructor(options),
    )  # fmt: skip


def _moment(text: str | None) -> date | None:
    from cfrc.lang.scalars import parse_date, parse_time

    if text is None:
        return None
    found = parse_time(text) or parse_date(text)
    if found is None:
        raise click.UsageError(f"--as-of {text!r} is neither a date nor an instant with its offset")
    return found


def _constructor(options: dict[str, Any]) -> Endpoint | None:
    from cfrc.handoff.freezing.constructor import Endpoint

    if options["constructor"] is None:
        return None
    if options["model"] is None:
        raise click.UsageError("--constructor needs --model")
    return Endpoint(options["constructor"], options["model"], os.environ.get(options["key_variable"]))


# -- what is shown ----------------------------------------------------------------------------------------------------


def _show(frozen: Frozen, notes: Sequence[Diagnostic], withheld: bool, out: Output) -> Exit:
    from cfrc.cli.inputs import complain
    from cfrc.report.escape import message

    head, domain_file = import_of(frozen.contract.domain, out.path)
    if out.format == "json":
        from cfrc.lang.jsonforms import contract_to_json
        from cfrc.report.json import VERSION, diagnostic_json, dumps, finding_json

        form = contract_to_json(frozen.contract, domain_file)
        out.write(dumps({
            "cfrc": VERSION, "kind": frozen.kind, "digest": frozen.contract.digest, "contract": form,
            "reasons": [finding_json(f) for f in frozen.reasons], "notes": [finding_json(f) for f in frozen.notes],
            "record": [diagnostic_json(d) for d in notes],
        }))  # fmt: skip
    elif frozen.kind != "withheld" or withheld:
        out.write(head + frozen.text)
    if not out.quiet and out.format != "json":
        if notes:
            complain(notes, out)
        _explain(frozen, out)
        file = _file(frozen.contract.domain)
        root = _place(file, out.path)[1] if file is not None else None
        if root is not None:
            help = f"read the contract with `--root {message(root)}`"
            out.complain(f"the domain is imported from another folder: {help}\n")
    return Exit.FAILS if frozen.kind == "withheld" else Exit.HOLDS


def _explain(frozen: Frozen, out: Output) -> None:
    """The word and the findings, on standard error: standard output is the contract's alone."""
    from cfrc.model.verdict import Status, Verdict
    from cfrc.report.naming import Naming
    from cfrc.report.terminal import render_verdict

    status = {
        "contract": Status.ADMITTED, "fresh": Status.FRESH, "complete": Status.COMPLETE, "withheld": Status.WITHHELD,
    }[frozen.kind]  # fmt: skip
    findings = (*frozen.reasons, *frozen.notes)
    verdict = Verdict(status, frozen.contract.name, None, findings)
    if findings or frozen.kind != "contract":
        text = render_verdict(verdict, Naming(frozen.contract), color=out.complaints_colored, width=out.width)
        out.complain(text)


def import_of(domain: Domain, output: str | None) -> tuple[str, str | None]:
    """The import line of the domain, and its path; the declaration itself where it is in no file."""
    file = _file(domain)
    if file is None:
        return (domain.span.text + "\n\n" if domain.span is not None else ""), None
    path, _ = _place(file, output)
    return f'import "{path}"\n\n', path


def _file(domain: Domain) -> Path | None:
    file = Path(domain.span.source.name) if domain.span is not None else None
    return file.resolve() if file is not None and file.is_file() else None


def _place(file: Path, output: str | None) -> tuple[str, str | None]:
    """The path by which a contract imports the file, and the folder that a reader has to name besides, if any."""
    from cfrc.lang.imports import library

    folder = Path(output).resolve().parent if output not in (None, "-") else Path.cwd()
    for base in (library(), folder):
        if base is not None and file.is_relative_to(base):
            return file.relative_to(base).as_posix(), None
    return file.name, str(file.parent)  # an import never leaves its folder
