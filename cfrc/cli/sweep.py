"""Turns files of recorded task runs into a report on every cut of every run, and on single faults in what is
admitted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from cfrc.cli.exits import Exit

if TYPE_CHECKING:
    from cfrc.adapters.runs import TaskRun
    from cfrc.adapters.sweep import Report
    from cfrc.model.contract import Contract
    from cfrc.model.domain import Domain
    from cfrc.model.graph import Proposal
    from cfrc.model.verdict import Verdict


@click.command("sweep")
@click.argument("files", nargs=-1, required=True, metavar="RUNS.jsonl...")
@click.option("--domain", "domain_path", required=True, metavar="DOMAIN.cfrc", help="The tool interface of the runs.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only N runs, spread evenly over the file.")
@click.option("--run", "ids", multiple=True, metavar="ID", help="Only the run with this id (repeatable).")
@click.option("--whole", is_flag=True, help="Each run as one proposal, broken in its order, instead of every cut.")
@click.option("--gold/--not-gold", default=None, help="Only runs marked as having met what was owed, or not.")
@click.option("--mutants/--no-mutants", default=True, help="Whether to break what is admitted in single ways.")
@click.option("--most", type=click.IntRange(1), metavar="N", help="At most N mutants of each rule and case.")
@click.option("--out", metavar="FOLDER", help="Keep every case as a spec file with its check: `cfrc test FOLDER`.")
@click.option("--list", "listing", is_flag=True, help="Name every case that is not admitted, and what it lacks.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="How to write results.")
@click.option("--progress/--no-progress", default=None, help="Say which run is judged; by default on a terminal only.")
def command(
    files: tuple[str, ...],
    domain_path: str,
    sample: int | None,
    ids: tuple[str, ...],
    whole: bool,
    gold: bool | None,
    mutants: bool,
    most: int | None,
    out: str | None,
    listing: bool,
    format_: Literal["text", "json"],
    progress: bool | None,
) -> Exit:
    """Judge every cut of recorded task runs, and single faults in what is admitted.

    Each line of a file is one run (JSON lines): {"id", "request", "actions": [{"name", "arguments", "result", "write",
    "error"?}]}. Most of the time goes into single faults: --no-mutants leaves them out, --most bounds them.
    For every cut the calls before it make the contract, and the calls after it the proposal. With --whole, all calls
    are the proposal and the contract is what they changed; then a call that a later one requires is left out, moved,
    swapped or replaced. That is for runs whose order no argument carries (a preview before a confirmation): cuts of
    them are refused for what calls before the cut established. Exit code 0: every case has the verdict that the record
    supports, every fault is named, nothing is undecided; 3: something is undecided; 1: else.
    """
    from cfrc.adapters.runs import RunProblem, read_runs
    from cfrc.cli.inputs import source_of
    from cfrc.lang.diagnostics import SpecError

    try:
        domain = _domain(domain_path)
        runs = [run for path in files for run in read_runs(source_of(path), domain)]
    except (SpecError, RunProblem) as problem:
        raise click.UsageError(_said(problem)) from None
    runs = [r for r in runs if (not ids or r.id in ids) and gold in (None, r.gold)]
    if sample is not None and sample < len(runs):
        runs = [runs[i * len(runs) // sample] for i in range(sample)]
    if not runs:
        raise click.UsageError("there are no such runs in the files")
    lacking = sorted({c.name for r in runs for c in r.calls if c.tool is None and not c.failed})
    if lacking:
        raise click.UsageError(f"{domain_path} lacks tools that the runs called: {', '.join(lacking[:5])}")
    with _Progress(len(runs), sys.stderr.isatty() if progress is None else progress) as told:
        report = _sweep(domain, domain_path, runs, whole, mutants, most, out, told)
    click.echo(_shown(report, listing, format_))
    if report.surprises and not whole and format_ == "text":
        click.echo(
            "Cuts are meant for runs in which arguments carry the order. Where a call must come first although no\n"
            "value of it is passed on (a preview, a policy to read), no cut knows what was established: use --whole."
        )
    if report.clean:
        return Exit.HOLDS
    return Exit.UNDECIDED if report.undecided_only else Exit.FAILS


def _domain(path: str) -> Domain:
    from cfrc.cli.inputs import source_of
    from cfrc.lang.load import load

    domains = list(load(source_of(path)).domains.values())
    if len(domains) != 1:
        raise click.UsageError(f"{path} declares {len(domains)} domains; one is needed")
    return domains[0]


def _said(problem: Exception) -> str:
    from cfrc.lang.diagnostics import SpecError
    from cfrc.report.escape import message

    if isinstance(problem, SpecError):
        return message("; ".join(f"{d.span}: {d.message}" for d in problem.diagnostics[:3]))
    return message(str(problem))


class _Progress:
    """One line on standard error that says how far the sweep is: rewritten on a terminal, else a line for each run."""

    def __init__(self, total: int, wanted: bool) -> None:
        self.total, self.wanted, self.done = total, wanted, 0
        self.terminal = sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, run: str) -> None:
        from cfrc.report.escape import clip

        self.done += 1
        if self.wanted:
            line = f"[{self.done}/{self.total}] {clip(run, 60)}"
            click.echo(f"\r{line:<79}" if self.terminal else line, err=True, nl=not self.terminal)

    def __exit__(self, *_: object) -> None:
        if self.wanted and self.terminal and self.done:
            click.echo(f"\r{'':<79}\r", err=True, nl=False)


def _sweep(
    domain: Domain, domain_path: str, runs: list[TaskRun], whole: bool, mutate: bool, most: int | None, out: str | None,
    progress: Callable[[str], None],
) -> Report:  # fmt: skip
    from cfrc.adapters import orderly
    from cfrc.adapters.disorder import disorders
    from cfrc.adapters.handoffs import handoffs
    from cfrc.adapters.mutants import mutants
    from cfrc.adapters.sweep import sweep
    from cfrc.verify.admission import Admission

    prepared: list[Admission] = []

    def judge(contract: Contract, proposal: Proposal) -> Verdict:
        """Many proposals answer one contract: it is prepared once."""
        if not prepared or prepared[0].contract is not contract:
            prepared[:] = [Admission(contract)]
        return prepared[0].admit(proposal)

    try:
        return sweep(
            domain, Path(domain_path).resolve(), runs, judge,
            mutate=mutate, most=most, out=Path(out) if out else None, progress=progress,
            cases=orderly.whole if whole else handoffs, breaks=disorders if whole else mutants,
        )  # fmt: skip
    except OSError as problem:
        raise click.FileError(out or domain_path, hint=problem.strerror or str(problem)) from problem


def _shown(report: Report, listing: bool, format_: Literal["text", "json"]) -> str:
    from cfrc.adapters.sweep import as_json, lines
    from cfrc.report.escape import safe

    if format_ == "json":
        import json

        return json.dumps(as_json(report), indent=1)
    return "\n".join(safe(line) for line in lines(report, listing=listing))


def main() -> int:
    """``python -m cfrc.cli.sweep``. Exit code 2 when the input or the usage is wrong."""
    try:
        return int(command.main(standalone_mode=False))
    except click.ClickException as problem:
        problem.show()
        return Exit.INPUT
    except click.exceptions.Exit as done:  # --help
        return done.exit_code


if __name__ == "__main__":
    sys.exit(main())
