"""Turns the ``check`` declarations of spec files into a test run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cfrc.cli.exits import Exit, worst
from cfrc.cli.options import Output, finding_options, output_options, root_option

if TYPE_CHECKING:
    from cfrc.lang.diagnostics import Diagnostic
    from cfrc.model.check import Check, Spec
    from cfrc.report.checks import Ran
    from cfrc.report.naming import Naming


@click.command()
@click.argument("specs", nargs=-1, required=True)
@click.option("--allow-empty", is_flag=True, help="Files without any check are fine (exit 0 instead of 1).")
@root_option
@finding_options
@output_options
def command(specs: tuple[str, ...], allow_empty: bool, roots: tuple[str, ...], budget: int | None, out: Output) -> Exit:
    """Run the checks that spec files declare (or all spec files in directories), and say what was found instead."""
    from cfrc.cli.inputs import complain, source_of, spec_files
    from cfrc.cli.judge import shown
    from cfrc.lang.diagnostics import SpecError
    from cfrc.lang.load import load
    from cfrc.report.checks import checks_json, render_checks

    ran: list[Ran] = []
    diagnostics: list[Diagnostic] = []
    for path in spec_files(specs):
        try:
            spec = load(source_of(path), roots=roots)
        except SpecError as problem:
            diagnostics += problem.diagnostics
            continue
        ran += [_run(path, spec, check, budget) for check in spec.checks]
    if out.format == "json":
        from cfrc.report.json import dumps

        out.write(dumps(checks_json(ran, diagnostics)))
    elif ran or not diagnostics:
        text = render_checks(ran, shown=lambda v: shown(v, out), quiet=out.quiet, color=out.colored, width=out.width)
        out.write(text)
    if diagnostics:
        complain(diagnostics, out)
    return worst([Exit.INPUT if diagnostics else Exit.HOLDS, _exit(ran, allow_empty or bool(diagnostics))])


def _exit(ran: list[Ran], allow_empty: bool) -> Exit:
    """A run without any check is vacuous, which is not success."""
    if not ran:
        return Exit.HOLDS if allow_empty else Exit.FAILS
    exits = {"passed": Exit.HOLDS, "failed": Exit.FAILS, "undecided": Exit.UNDECIDED}
    return worst(exits[r.outcome] for r in ran)


def _run(path: str, spec: Spec, check: Check, budget: int | None) -> Ran:
    from cfrc.report.checks import Ran
    from cfrc.verify import run_check
    from cfrc.verify.admission import DEFAULT_BUDGET

    result = run_check(spec, check, budget=budget or DEFAULT_BUDGET)
    return Ran(path, check, result.passed, result.verdict, result.message, _naming(spec, check))


def _naming(spec: Spec, check: Check) -> Naming:
    """What the check is about, without the nodes that it leaves out."""
    from cfrc.model.graph import without
    from cfrc.report.naming import Naming

    if check.target != "proposal":
        return Naming(spec.contracts.get(check.subject))
    proposal = spec.proposals[check.subject]
    return Naming(spec.contracts.get(proposal.contract), without(proposal, check.without))
