"""Turns an admitted plan and live tools into an outcome: done by live evidence, handed back, or held."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cfrc.cli.exits import Exit, of_status
from cfrc.cli.options import Output, output_options, root_option
from cfrc.cli.output import write_stream

if TYPE_CHECKING:
    from cfrc.handoff.running.execute import Progress, Settings
    from cfrc.handoff.running.run import Outcome, Stopper
    from cfrc.model.contract import Contract

Seconds = click.FloatRange(min=0.0)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="CONTRACT [PROPOSAL]")
@click.option(
    "--tools", metavar="MODULE:OBJECT", help="Python tools: a mapping of callables, or an object with methods."
)
@click.option("--mcp", metavar="COMMAND", help="The tools of an MCP server that this command line starts.")
@click.option("--mcp-url", metavar="URL", help="The tools of an MCP server that speaks HTTP there.")
@click.option("--journal", required=True, metavar="FILE", help="Where the run is written down; an old one is taken up.")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option("--proposal", "name", metavar="NAME", help="Which proposal, where a file declares several.")
@click.option("--ledger", metavar="FILE", help="The shared ledger: it must still end at the contract's head.")
@click.option("--interface", metavar="DIGEST", help="Refuse to start when the tools' interface has another digest.")
@click.option("--parallel", type=click.IntRange(min=1), default=4, metavar="N", help="The most calls at once.")
@click.option("--timeout", type=Seconds, default=60.0, metavar="SECONDS", help="The most for one call.")
@click.option("--interval", type=Seconds, default=1.0, metavar="SECONDS", help="The wait between two polls of a step.")
@click.option("--drain", type=Seconds, default=30.0, metavar="SECONDS", help="The most for calls in the air at a stop.")
@click.option("--grace", type=Seconds, default=10.0, metavar="SECONDS", help="How long a lost write may be on its way.")
@click.option("--retries", type=click.IntRange(min=0), default=2, metavar="N", help="Repetitions of harmless calls.")
@click.option("--residual", metavar="FILE", help="Write the contract of what is left there, unless all is done.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Solver steps for the admission.")
@click.option("--verbose", "-v", is_flag=True, help="One line a call on standard error, terminal or not.")
@root_option
@output_options
def command(files: tuple[str, ...], out: Output, **options: Any) -> Exit:
    """Execute an admitted plan on live tools, with a journal that survives a crash at any point.

    A plan that is not admitted never runs. Run the same command again to take up what was killed or stopped: completed
    calls are not repeated, and one that nobody knows the outcome of is settled first. What is done is told again.
    Exits 0 when everything owed is done by live evidence, 1 when it is handed back or held, or the plan is refused, 2
    when the journal is of another run or was closed otherwise, 3 when it is undecided whether the plan is admitted.
    """
    from cfrc.cli.inputs import complain
    from cfrc.handoff.running.journal import JournalError
    from cfrc.handoff.running.run import Stopper
    from cfrc.lang.diagnostics import Diagnostic, SpecError

    chosen = [n for n in ("tools", "mcp", "mcp_url") if options[n] is not None]
    if len(chosen) != 1 or len(files) > 2:
        raise click.UsageError("give a contract, one proposal, and one of --tools, --mcp and --mcp-url")
    stopper = Stopper()
    try:
        with _tools(options) as tools, _signals(stopper):
            outcome = _execute(files, tools, options, stopper)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    except JournalError as problem:
        complain([Diagnostic(problem.code, problem.message, None, problem.help)], out)
        return Exit.INPUT
    if options["residual"] is not None:
        _write_residual(outcome, options["residual"])
    return _show(outcome, out)


def _execute(files: tuple[str, ...], tools: object, options: dict[str, Any], stopper: Stopper) -> Outcome:
    from cfrc.cli.inputs import once, source_of
    from cfrc.handoff.running.run import run
    from cfrc.lang.load import load_contract, load_proposal

    once(files)
    sources = [source_of(f) for f in files]
    contract = load_contract(sources[0], options["contract_name"], roots=options["roots"])
    proposal = load_proposal(sources[-1], contract, options["name"])
    return run(
        contract, proposal, tools, options["journal"], settings=_settings(options, contract),
        retries=options["retries"], interface=options["interface"], budget=options["budget"], stopper=stopper,
    )  # fmt: skip


def _settings(options: dict[str, Any], contract: Contract) -> Settings:
    from cfrc.handoff.running.execute import Settings

    interval = options["interval"]
    return Settings(
        parallel=options["parallel"],
        timeout=options["timeout"],
        interval=lambda poll: float(interval),
        drain=options["drain"],
        grace=options["grace"],
        head=head_of(options["ledger"], options["roots"], contract) if options["ledger"] is not None else None,
        progress=_tell if options["verbose"] or sys.stderr.isatty() else None,
    )


def head_of(path: str, roots: tuple[str, ...], contract: Contract) -> Callable[[], str | None]:
    """Where the ledger in a file ends, whenever it is asked: one in either form, or the whole record that the contract
    was frozen from. A file without its one ledger is a usage error."""

    def found() -> str | None:
        from cfrc.adapters.transcripts import read_transcript
        from cfrc.cli.freeze import is_ledger
        from cfrc.cli.inputs import source_of
        from cfrc.handoff.freezing.heads import heads
        from cfrc.handoff.freezing.typing import ledger_of
        from cfrc.lang.load import load

        source = source_of(path)
        if not is_ledger(source):
            types = {n.name: n.type for n in contract.names.values()}
            return heads(ledger_of(contract.domain, read_transcript(source), types=types)[0])[-1]
        ledgers = list(load(source, roots=roots).ledgers.values())
        if len(ledgers) != 1:
            raise click.UsageError(f"{path!r} does not hold one ledger")
        return heads(ledgers[0])[-1]

    found()
    return found


# -- tools and signals ------------------------------------------------------------------------------------------------


@contextmanager
def _tools(options: dict[str, Any]) -> Iterator[object]:
    """The live tools that the options name. Raises :class:`click.ClickException` where they cannot be had."""
    if options["tools"] is not None:
        yield _python(options["tools"])
        return
    from cfrc.handoff.mcp_tools import McpTools, Unreachable

    try:
        server = McpTools(options["mcp_url"]) if options["mcp_url"] is not None else McpTools.command(options["mcp"])
        connected = server.__enter__()
    except ImportError:
        raise click.UsageError("MCP servers need the SDK: pip install 'cfrc[mcp]'") from None
    except (Unreachable, ValueError) as problem:
        where = options["mcp_url"] or options["mcp"]
        raise click.ClickException(f"the MCP server {where!r} cannot be used: {problem}") from None
    try:
        yield connected
    finally:
        server.__exit__(None, None, None)


def _python(name: str) -> object:
    from importlib import import_module

    module, _, attribute = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found: object = import_module(module)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as problem:
        raise click.UsageError(f"--tools {name}: {problem}") from None
    return found


@contextmanager
def _signals(stopper: Stopper) -> Iterator[None]:
    """An interrupt or a termination stops the run in order; a second one does not wait for calls in the air."""

    def stop(number: int, _frame: object) -> None:
        stopper.stop(signal.Signals(number).name)

    try:
        old = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever runs this decides what signals do
        yield
        return
    try:
        yield
    finally:
        for s, handler in old.items():
            signal.signal(s, handler)


# -- what is shown ----------------------------------------------------------------------------------------------------


def _tell(what: Progress) -> None:
    from cfrc.report.escape import message

    wish = what.wish
    about = f" to find out about {wish.settles}" if wish.settles is not None else ""
    after = "…" if what.after is None else f" {what.after} ({what.seconds:.2f} s)"
    write_stream(f"cfrc run: {message(f'{wish.node}: {wish.tool.name}{about}')}{after}\n", sys.stderr)


def _write_residual(outcome: Outcome, path: str) -> None:
    """The next tenant's contract, with the import of its domain."""
    from cfrc.cli.freeze import import_of
    from cfrc.cli.output import write_result

    if outcome.residual is not None:
        head, _ = import_of(outcome.residual.contract.domain, path)
        write_result(head + outcome.residual.text, path)


def _show(outcome: Outcome, out: Output) -> Exit:
    from cfrc.report.json import dumps
    from cfrc.report.outcome import outcome_json, render_outcome

    if out.format == "json":
        out.write(dumps(outcome_json(outcome)))
    elif outcome.verdict is not None and outcome.kind in ("refused", "idle"):
        from cfrc.cli.judge import judged

        judged([(outcome.verdict, outcome.contract, outcome.proposal)], [], out)
    else:
        out.write(render_outcome(outcome, color=out.colored, quiet=out.quiet))
    if outcome.kind in ("refused", "idle") and outcome.verdict is not None:
        return of_status(outcome.verdict.status)
    return Exit.HOLDS if outcome.kind == "done" else Exit.FAILS
