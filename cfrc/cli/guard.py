"""Turns an admitted plan and an MCP server into an MCP server that lets through only the calls of the plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cfrc import __version__
from cfrc.cli.exits import Exit, of_status
from cfrc.cli.options import Output, root_option
from cfrc.cli.output import wants_color, write_stream
from cfrc.model.graph import Call

if TYPE_CHECKING:
    from cfrc.handoff.guarding.guarded import GuardedRun
    from cfrc.handoff.guarding.proxy import Settings, Upstream
    from cfrc.model.contract import Contract
    from cfrc.model.graph import Proposal
    from cfrc.model.verdict import Verdict

Plan = tuple["Contract", "Proposal", "Verdict"]
Options = dict[str, Any]
Seconds = click.FloatRange(min=0.0)


class _BeforeServer(click.Command):
    """A command whose own arguments end at ``--``: what follows is another command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["cfrc.server"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- SERVER COMMAND…]"]


@click.command(cls=_BeforeServer)
@click.argument("files", nargs=-1, required=True, metavar="CONTRACT [PROPOSAL]")
@click.option("--journal", required=True, metavar="FILE", help="Where the run is written down; an old one is taken up.")
@click.option("--url", metavar="URL", help="The server speaks HTTP there, instead of being started.")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option("--proposal", "name", metavar="NAME", help="Which proposal, where a file declares several.")
@click.option("--ledger", metavar="FILE", help="The shared ledger: it must still end at the contract's head.")
@click.option("--all-tools", is_flag=True, help="List all tools of the server, not only those that the plan calls.")
@click.option("--interface", metavar="DIGEST", help="Refuse to start when the server's tools have another digest.")
@click.option("--residual", metavar="FILE", help="Write the contract of what is left there, if the run ends undone.")
@click.option("--timeout", type=Seconds, default=60.0, metavar="SECONDS", help="The most for one call.")
@click.option("--interval", type=Seconds, default=1.0, metavar="SECONDS", help="The least between two polls of a step.")
@click.option("--grace", type=Seconds, default=10.0, metavar="SECONDS", help="How long a lost write may be on its way.")
@click.option("--verbose", "-v", is_flag=True, help="One line a decision on standard error, terminal or not.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Terminal colours.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Solver steps for the admission.")
@root_option
@click.pass_context
def command(context: click.Context, /, files: tuple[str, ...], **options: Any) -> Exit:
    """Stand between an MCP client and an MCP server, and let through only the calls of an admitted plan.

    Speaks MCP on standard input and output. A plan that is not admitted is never opened: the verdict is on standard
    error, and the exit code is 3 where it is undecided, else 1. Exits 0 when everything owed was done, 1 when it was
    not.
    """
    from cfrc.cli.inputs import STDIN, complain
    from cfrc.lang.diagnostics import SpecError

    server = context.meta["cfrc.server"]
    if (options["url"] is None) == (not server):
        raise click.UsageError("give the server's command after --, or its --url")
    if len(files) > 2 or STDIN in files:
        raise click.UsageError("give a contract and one proposal, in files: standard input is the client's")
    try:
        import mcp  # noqa: F401  # only to see whether it is there
    except ImportError:
        raise click.UsageError("the guard needs the MCP SDK: pip install 'cfrc[mcp]'") from None
    out = Output(color=options["color"])
    try:
        plan = _plan(files, options)
        if plan[2].status.word != "admitted":
            return _not_opened(plan, out)
        return _guard(plan, server, options)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT


def _plan(files: tuple[str, ...], options: Options) -> Plan:
    """Raises :class:`cfrc.lang.diagnostics.SpecError`."""
    from cfrc.lang.load import load_contract, load_proposal
    from cfrc.verify.admission import DEFAULT_BUDGET, admit

    contract = load_contract(files[0], options["contract_name"], roots=options["roots"])
    proposal = load_proposal(files[-1], contract, options["name"])
    return contract, proposal, admit(contract, proposal, budget=options["budget"] or DEFAULT_BUDGET, advice=True)


def _not_opened(plan: Plan, out: Output) -> Exit:
    """Says why, where the client's messages are not expected."""
    from cfrc.report.naming import Naming
    from cfrc.report.terminal import render_verdict

    contract, proposal, verdict = plan
    colored = wants_color(out.color, sys.stderr)
    shown = render_verdict(
        verdict, Naming(contract, proposal), shown=list(verdict.findings), quiet=False, color=colored, width=out.width
    )
    write_stream(shown, sys.stderr)
    _say("not opened: only an admitted plan is guarded")
    # `complete` and `fresh` leave nothing to guard either, and a client that waits for tools must not think otherwise.
    return max(of_status(verdict.status), Exit.FAILS)


def _say(line: str) -> None:
    from cfrc.report.escape import message

    write_stream(f"cfrc guard: {message(line)}\n", sys.stderr)


def _quiet(line: str) -> None:
    """Says nothing."""


def _guard(plan: Plan, server: tuple[str, ...], options: Options) -> Exit:
    import anyio
    from mcp import StdioServerParameters

    from cfrc.adapters.interfaces.names import spelled
    from cfrc.cli.run import head_of
    from cfrc.handoff.guarding.proxy import Settings
    from cfrc.handoff.mcp_tools import Unreachable

    where: object = options["url"]
    if where is None:
        # The guarded server gets what the client configured for it: the guard's own environment and folder.
        where = StdioServerParameters(command=server[0], args=list(server[1:]), env=dict(os.environ))
    settings = Settings(
        everything=options["all_tools"],
        timeout=options["timeout"],
        interval=options["interval"],
        grace=options["grace"],
        tell=_say if options["verbose"] or sys.stderr.isatty() else _quiet,
        spelled=spelled,
    )
    ledger = options["ledger"]
    head = _live(head_of(ledger, options["roots"], plan[0])) if ledger is not None else None
    try:
        return anyio.run(_session, plan, where, settings, options, head)
    except Unreachable as problem:
        _say(str(problem))
        return Exit.INPUT


def _live(head: Callable[[], str | None]) -> Callable[[], str | None]:
    """The same while a client waits: a ledger that can be read no more ends where no contract was frozen."""

    def found() -> str | None:
        from cfrc.lang.diagnostics import SpecError

        try:
            return head()
        except (SpecError, click.ClickException):
            return "unreadable"

    return found


async def _session(
    plan: Plan, where: object, settings: Settings, options: Options, head: Callable[[], str | None] | None
) -> Exit:
    from cfrc.handoff.guarding.proxy import Proxy, connected, serve

    async with connected(where, settings) as upstream:
        # Everything that may go wrong is caught inside: the connection's own task group would wrap it.
        run = await _opened(plan, upstream, options, head)
        if isinstance(run, Exit):
            return run
        try:
            await serve(Proxy(run, upstream, settings), __version__)
        finally:
            run.close("the client went away")
        return _end(run, options["residual"])


async def _opened(
    plan: Plan, upstream: Upstream, options: Options, head: Callable[[], str | None] | None
) -> GuardedRun | Exit:
    """The run, or the exit code of a guard that does not start; why is on standard error."""
    from cfrc.cli.inputs import complain
    from cfrc.handoff.guarding.guarded import GuardedRun
    from cfrc.handoff.mcp_tools import Unreachable
    from cfrc.handoff.running.journal import JournalError
    from cfrc.handoff.running.run import interface_digest
    from cfrc.lang.diagnostics import SpecError

    contract, proposal, verdict = plan
    try:
        await upstream.list_tools()
        offered, missing = interface_digest(upstream.interface, proposal, contract)
        unfit = _unfit(missing, options["interface"], offered) or _drift(plan, upstream)
        if unfit is not None:
            _say(unfit)
            return Exit.FAILS
        upstream.settings.tell(f"open: {proposal.name} for {contract.name}, interface {offered}")
        return GuardedRun(contract, proposal, options["journal"], interface=offered, verdict=verdict, head=head)
    except Unreachable as problem:
        _say(str(problem))
    except SpecError as problem:
        complain(problem.diagnostics, Output())
    except JournalError as problem:
        _say(f"[CFRC-{problem.code}] {problem.message}" + (f" ({problem.help})" if problem.help else ""))
        return Exit.FAILS if problem.code in {"JRN005", "JRN007"} else Exit.INPUT
    return Exit.INPUT


def _unfit(missing: list[str], wanted: str | None, offered: str) -> str | None:
    """Why the live server is not the one that the domain describes."""
    if missing:
        return f"[CFRC-RUN002] the server has no tool {', '.join(missing)}"
    if wanted is not None and wanted != offered:
        return f"[CFRC-RUN010] the server's tools have the digest {offered}, not {wanted}"
    return None


def _drift(plan: Plan, upstream: Upstream) -> str | None:
    """What no longer agrees between the domain and the tools that the contract is about."""
    from cfrc.cli.interface import live_drift

    contract, proposal, _ = plan
    names = {n.tool for n in proposal.nodes if isinstance(n, Call)} | set(contract.allow)
    found = live_drift(contract.domain, upstream.listed(), names & upstream.tools.keys())
    if not found:
        return None
    return "[CFRC-RUN010] the server's tools are not those of the domain: " + "; ".join(found)


def _end(run: GuardedRun, residual: str | None) -> Exit:
    ending = run.ending
    if run.broken is not None:
        _say(f"[CFRC-{run.broken.code}] {run.broken.message}")
        return Exit.FAILS
    if ending is None:
        _say("stopped before the end: start the guard again with this journal to go on")
        return Exit.FAILS
    _say(f"{ending.kind}: {run.monitor.why()}")
    if ending.kind != "done" and residual is not None:
        _leave(run, residual)
    return Exit.HOLDS if ending.kind == "done" else Exit.FAILS


def _leave(run: GuardedRun, path: str) -> None:
    """Writes the contract of what is left. That it cannot be written changes nothing: the journal has everything."""
    from cfrc.cli.freeze import import_of
    from cfrc.cli.output import write_file

    frozen = run.residual()
    try:
        write_file(Path(path), import_of(frozen.contract.domain, path)[0] + frozen.text)
    except OSError as problem:
        _say(f"{path}: {problem.strerror}")
        return
    _say(f"what is left ({frozen.kind}): {path}")
    for reason in frozen.reasons:
        _say(f"[{reason.code}] {reason.message}")
