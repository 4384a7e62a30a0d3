"""Turns spec files into verdicts about their contracts: supported, satisfiable, free of conflict, not vacuous."""

from __future__ import annotations

import click

from cfrc.cli.exits import Exit, of_status, worst
from cfrc.cli.options import Output, finding_options, output_options, root_option


@click.command()
@click.argument("specs", nargs=-1, required=True)
@root_option
@finding_options
@output_options
def command(specs: tuple[str, ...], roots: tuple[str, ...], budget: int | None, out: Output) -> Exit:
    """Check the contracts of spec files (or of all spec files in directories), before any proposal is looked at."""
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
        raise click.UsageError("these files declare no contract")
    return worst([judged(verdicts, diagnostics, out), *(of_status(v.status) for v, _, _ in verdicts)])
