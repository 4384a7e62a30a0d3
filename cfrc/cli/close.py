"""Turns a contract and the calls of a successor into a closed proposal, and notes on what could not be settled."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options, root_option

if TYPE_CHECKING:
    from cfrc.handoff.closing.close import Closed
    from cfrc.handoff.closing.replica import Replica
    from cfrc.model.contract import Contract


@click.command()
@click.argument("contract_file", metavar="CONTRACT")
@click.argument("calls_file", metavar="CALLS.jsonl")
@click.option(
    "--replica", "place", default="simulated", metavar="simulated|MODULE:OBJECT",
    help="Where calls without a result are made: made up from the domain, or a replica (or a function that makes one).",
)  # fmt: skip
@click.option("--seed", type=int, default=0, metavar="N", help="Which made-up results.")
@click.option("--keep", is_flag=True, help="Keep reads that nothing needs.")
@click.option("--name", default="closed", metavar="NAME", help="The proposal's name.")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option("--out", "file", metavar="FILE", help="Write the proposal there: JSON if it ends in .json, else text.")
@root_option
@output_options
def command(
    contract_file: str,
    calls_file: str,
    place: str,
    seed: int,
    keep: bool,
    name: str,
    contract_name: str | None,
    file: str | None,
    roots: tuple[str, ...],
    out: Output,
) -> Exit:
    """Close a successor's calls into a proposal: sources, order, expectations, coverage.

    Each line of CALLS.jsonl is one call: {"call", "args", "id"?, "result"?, "error"?}. Arguments are values, or sources
    ({"ref": name}, {"out": "c1.field"}). Calls without a result are made on the replica. Nothing is added, replaced or
    repaired; reads that nothing needs are left out. Exit code 1: something is reported that admission may refuse.
    """
    from cfrc.cli.inputs import complain, once, source_of
    from cfrc.handoff.closing.close import close
    from cfrc.handoff.closing.lines import read_calls
    from cfrc.lang.diagnostics import SpecError
    from cfrc.lang.load import load_contract

    once((contract_file, calls_file))
    if file is not None and out.path not in {None, "-"}:
        raise click.UsageError("give one of --out (the proposal alone) and --output (everything that is shown)")
    try:
        contract = load_contract(source_of(contract_file), contract_name, roots=roots)
        planned = read_calls(source_of(calls_file))
        closed = close(contract, planned, _replica(place, contract, seed), prune=not keep, name=name)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    if file is not None:
        _save(closed, Path(file))
    out.write(_shown(closed, out, with_proposal=file is None))
    return Exit.FAILS if closed.problems else Exit.HOLDS


def _replica(place: str, contract: Contract, seed: int) -> Replica:
    from importlib import import_module

    from cfrc.handoff.closing.replica import Replica
    from cfrc.handoff.closing.simulated import SimulatedReplica

    if place == "simulated":
        return SimulatedReplica(contract, seed)
    module, _, attribute = place.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except Exception as problem:  # a module of the user's may raise anything when it is imported
        raise click.UsageError(f"--replica {place}: {type(problem).__name__}: {problem}") from None
    if not isinstance(found, Replica) and callable(found):
        try:
            found = found()
        except Exception as problem:  # the user's function, too
            raise click.UsageError(f"--replica {place}: {type(problem).__name__}: {problem}") from None
    if not isinstance(found, Replica):
        raise click.UsageError(f"--replica {place}: it is no replica (`snapshot`, `restore`, `call`)")
    return found


def _save(closed: Closed, path: Path) -> None:
    from cfrc.cli.output import write_file
    from cfrc.lang.jsonforms.write import proposal_to_json
    from cfrc.lang.textforms import proposal_to_text

    as_json = path.suffix == ".json"
    form = json.dumps(proposal_to_json(closed.proposal), indent=1, ensure_ascii=False) + "\n" if as_json else None
    write_file(path, form if form is not None else proposal_to_text(closed.proposal))


def _shown(closed: Closed, out: Output, with_proposal: bool) -> str:
    from cfrc.codes import full
    from cfrc.lang.jsonforms.write import proposal_to_json
    from cfrc.lang.textforms import proposal_to_text
    from cfrc.report.escape import clip, safe

    if out.format == "json":
        notes = [
            {"code": full(n.code), "message": n.message, "node": n.node, "help": n.help, "minor": n.minor}
            for n in closed.notes
        ]
        form = {"cfrc": 1, "closed": not closed.problems, "proposal": proposal_to_json(closed.proposal), "notes": notes}
        return json.dumps(form, indent=1, ensure_ascii=False) + "\n"
    lines = [safe(line) for line in proposal_to_text(closed.proposal).splitlines()] if with_proposal else []
    for n in closed.notes if not out.quiet else closed.problems:
        word = "note" if n.minor else "warning"
        lines.append(f"# {word}[{full(n.code)}]: {clip(n.message, 400)}")
        if n.help is not None:
            lines.append(f"#   help: {clip(n.help, 400)}")
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


__all__ = ["command"]
