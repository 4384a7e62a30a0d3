"""Turns a journal, and nothing else, into the run that wrote it, with every decision checked."""

from __future__ import annotations

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options

UNREADABLE = {"JRN001", "JRN002", "JRN008"}
"""What is wrong with the input; anything else is a verdict about the journal."""


@click.command()
@click.argument("journal", metavar="JOURNAL")
@click.option("--head", metavar="HASH", help="The last hash that the journal must have: nothing is cut off its end.")
@output_options
def command(journal: str, head: str | None, out: Output) -> Exit:
    """Replay the journal of a run: every decision is made again, from the journal alone, and compared.

    Exits 0 when each comes out the same and no record was touched, 1 when not, 2 when the file cannot be read.
    """
    from cfrc.cli.inputs import complain
    from cfrc.handoff.running.journal import JournalError
    from cfrc.handoff.running.replay import replay
    from cfrc.lang.diagnostics import Diagnostic
    from cfrc.report.json import dumps
    from cfrc.report.outcome import render_replayed, replayed_json

    try:
        told = replay(journal, head=head)
    except JournalError as problem:
        complain([Diagnostic(problem.code, problem.message, None, problem.help)], out)
        return Exit.INPUT if problem.code in UNREADABLE else Exit.FAILS
    if out.format == "json":
        out.write(dumps(replayed_json(told)))
    else:
        out.write(render_replayed(told, color=out.colored, quiet=out.quiet))
    return Exit.HOLDS
