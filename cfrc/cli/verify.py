"""Turns spec files into verdicts about their contracts: supported, satisfiable, free of conflict, not vacuous."""

from __future__ import annotations

import click

from cfrc.cli.exits import Exit, of_status, worst
from cfrc.cli.options import Output, finding_options, output_options, root_option


@click.command()
@click.argument("specs", nargs=-1, required=True)
@click.option("--allow-empty", is_flag=True, help="Files that can be read but declare no contract are fine (exit 0).")
@root_option
@finding_options
@output_options
def command(specs: tuple[str, ...], allow_empty: bool, roots: tuple[str, ...], budget: int | None, out: Output) -> Exit:
    """Check the contracts of spec files (or of all spec files in directories), before any proposal is looked at.

    The digest of each contract is told as well. Files without any contract are exit code 2, unless --allow-empty.
    """
    from cfrc.cli.inputs import source_of, spec_files
    from cfrc.cli.judge import Judged, judged
    from cfrc.lang.diagnostics import Diagnostic, SpecError
    from cfrc.lang.load import load
    from cfrc.verify import support
    from cfrc.verify.admission import DEFAULT_BUDGET

    verdicts: list[Judged] = []
    diagnostics: list[Diagnostic] = []
    for path in spec_files(specs):
        try:
            source = source_of(path)
            contracts = load(source, roots=roots).contracts.values()
        except SpecError as problem:
            diagnostics += problem.diagnostics
            continue
        own = [c for c in contracts if c.span is not None and c.span.source is source]
        verdicts += [(support(contract, budget=budget or DEFAULT_BUDGET), contract, None) for contract in own]
    if not verdicts and not diagnostics:
        if not allow_empty:
            raise click.UsageError("these files can be read, but declare no contract (--allow-empty: that is fine)")
        return _empty(out)
    return worst([judged(verdicts, diagnostics, out), *(of_status(v.status) for v, _, _ in verdicts)])


def _empty(out: Output) -> Exit:
    """What is said where there is nothing to judge."""
    from cfrc.report.json import dumps, verdicts_json

    text = "vacuous: there is no contract to check\n"
    out.write(dumps(verdicts_json([]) | {"verdict": "vacuous"}) if out.format == "json" else text)
    return Exit.HOLDS
