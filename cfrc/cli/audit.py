"""Turns the journals and manifests of one's own runs into the audit table: what was grounded, recovered, refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options, root_option
from cfrc.cli.output import write_stream

if TYPE_CHECKING:
    from datetime import date

    from cfrc.handoff.auditing.trials import Trial
    from cfrc.report.audit import Prices

_COUNTERS = {"in": ("input_tokens", "prompt_tokens"), "out": ("output_tokens", "completion_tokens")}
"""What providers call the two counters that everybody has."""


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUNS...")
@click.option("--price", metavar="in=N,out=N", help="What a million tokens cost; other counters by their own name.")
@click.option("--today", metavar="DATE", help="When the approvals of plans that did not run are judged (now).")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Solver steps for each plan.")
@root_option
@output_options
def command(
    runs: tuple[str, ...],
    price: str | None,
    today: str | None,
    budget: int | None,
    roots: tuple[str, ...],
    out: Output,
) -> Exit:
    """Audit runs: bindings grounded, obligations recovered, ungrounded writes, refusals, holds, replay, and cost.

    Each of RUNS is a journal of `cfrc run` or `cfrc guard`, or a manifest with one object a line: {"run", "contract",
    "proposal"?, "journal"?, "reference"?, "transcript"?, "usage"?}, with paths relative to it; - is a manifest on
    standard input. `reference` is a contract with everything that was truly owed. Bounds are exact (Clopper-Pearson).
    Exits 0 when there is no lapse, 1 when there is one, 2 on bad input.
    """
    from cfrc.cli.inputs import complain
    from cfrc.handoff.auditing.audit import audit
    from cfrc.handoff.running.journal import JournalError
    from cfrc.lang.diagnostics import Diagnostic, SpecError
    from cfrc.report.audit import audit_json, render_audit
    from cfrc.report.json import dumps

    if find_spec("scipy") is None:
        raise click.UsageError("exact bounds need SciPy: pip install 'cfrc[stats]'")
    prices, moment = _prices(price), _moment(today)
    try:
        found = audit(_told(_trials(runs, roots)), today=moment, budget=budget)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    except JournalError as problem:
        complain([Diagnostic(problem.code, problem.message, None, problem.help)], out)
        return Exit.INPUT
    if out.format == "json":
        out.write(dumps(audit_json(found, prices)))
    else:
        out.write(render_audit(found, prices, color=out.colored, quiet=out.quiet))
    return Exit.FAILS if any(True for _ in found.lapses()) else Exit.HOLDS


def _trials(runs: tuple[str, ...], roots: tuple[str, ...]) -> list[Trial]:
    """The trials of all arguments, each with its own name. Raises :class:`SpecError`."""
    from cfrc.adapters.manifest import distinct, is_journal, read_manifest
    from cfrc.cli.inputs import STDIN, once, source_of
    from cfrc.handoff.auditing.trials import Trial

    once(runs)
    found: list[Trial] = []
    for path in runs:
        if path != STDIN and is_journal(path):
            found.append(Trial(path, journal=Path(path)))
        else:
            found += read_manifest(source_of(path), roots)
    return distinct(found)


def _told(trials: list[Trial]) -> Iterator[Trial]:
    """The trials, told one by one on standard error while they are judged, if that is a terminal."""
    for number, trial in enumerate(trials, 1):
        if sys.stderr.isatty():
            from cfrc.report.escape import clip

            write_stream(f"\r\x1b[Kcfrc audit: {number:,} of {len(trials):,}: {clip(trial.name, 60)}", sys.stderr)
        yield trial
    if sys.stderr.isatty():
        write_stream("\r\x1b[K", sys.stderr)


def _prices(text: str | None) -> Prices | None:
    from cfrc.lang.scalars import parse_decimal
    from cfrc.report.audit import Prices

    if text is None:
        return None
    found: dict[str, Fraction] = {}
    for part in text.split(","):
        name, equals, number = (x.strip() for x in part.partition("="))
        value = parse_decimal(number)
        if not name or not equals or value is None or value < 0:
            raise click.UsageError(f"--price {part.strip()!r} is not NAME=NUMBER, such as in=1.25")
        for counter in _COUNTERS.get(name, (name,)):
            if counter in found:
                raise click.UsageError(f"--price names {name!r} twice")
            found[counter] = value
    return Prices(found)


def _moment(text: str | None) -> date | None:
    from cfrc.lang.scalars import parse_date, parse_time

    if text is None:
        return None
    found = parse_time(text) or parse_date(text)
    if found is None:
        raise click.UsageError(f"--today {text!r} is neither a date nor an instant with its offset")
    return found
