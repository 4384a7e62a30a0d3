"""Turns an admitted plan and an MCP server into an MCP server that lets through only the calls of the plan."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from cfrc import __version__
from cfrc.cli.exits import Exit, of_status
from cfrc.cli.options import Output, root_option
from cfrc.cli.output import Color, wants_color, write_stream
from cfrc.model.graph import Call

if TYPE_CHECKING:
    from cfrc.handoff.guarded import GuardedRun
    from cfrc.handoff.proxy import Settings, Upstream
    from cfrc.model.contract import Contract
    from cfrc.model.graph import Proposal
    from cfrc.model.verdict import Verdict

Plan = tuple["Contract", "Proposal", "Verdict"]


@click.command(context_settings={"allow_interspersed_args": True})
@click.argument("contract")
@click.argument("proposal")
@click.argument("server", nargs=-1, type=click.UNPROCESSED, metavar="[-- SERVER COMMAND…]")
@click.option("--journal", required=True, metavar="FILE", help="Where the run is written down; an old one is taken up.")
@click.option("--url", metavar="URL", help="The server speaks HTTP there, instead of being started.")
@click.option("--contract", "contract_name", metavar="NAME", help="Which contract, where a file declares several.")
@click.option("--proposal", "name", metavar="NAME", help="Which proposal, where a file declares several.")
@click.option("--all-tools", is_flag=True, help="List all tools of the server, not only those that the plan calls.")
@click.option("--interface", metavar="DIGEST", help="Refuse to start when the server's tools have another digest.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=60.0, metavar="SECONDS", help="The most for one call."
)
@click.option("--verbose", "-v", is_flag=True, help="One line a decision on standard error, terminal or not.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Terminal colours.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Solver steps for the admission.")
@root_option
def command(
    contract: str,
    proposal: str,
    server: tuple[str, ...],
    journal: str,
    url: str | None,
    contract_name: str | None,
    name: str | None,
    all_tools: bool,
    interface: str | None,
    timeout: float,
    verbose: bool,
    color: Color,
    budget: int | None,
    roots: tuple[str, ...],
) -> Exit:
    """Stand between an MCP client and an MCP server, and let through only the calls of an admitted plan.

    Speaks MCP on standard input and output. A plan that is not admitted is never opened: the verdict is on standard
    error, and the exit code is that of `cfrc check`. Exits 0 when everything owed was done, 1 when it was not.
    """
    if (url is None) == (not server):
        raise click.UsageError("give the server's command after --, or its --url")
    try:
        import mcp  # noqa: F401  # only to see whether it is there
    except ImportError:
        raise click.UsageError("the guard needs the MCP SDK: pip install 'cfrc[mcp]'") from None
    from cfrc.cli.inputs import complain, once, source_of
    from cfrc.lang.diagnostics import SpecError
    from cfrc.lang.load import load_contract, load_proposal
    from cfrc.verify.admission import DEFAULT_BUDGET, admit

    once([contract, proposal])
    out = Output(color=color)
    try:
        agreed = load_contract(source_of(contract), contract_name, roots=roots)
        planned = load_proposal(source_of(proposal), agreed, name)
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    verdict = admit(agreed, planned, budget=budget or DEFAULT_BUDGET, advice=True)
    plan = agreed, planned, verdict
    if verdict.status.word != "admitted":
        return _not_opened(plan, out)
    tell = partial(_tell, verbose or sys.stderr.isatty())
    return _guard(plan, journal, url or server, interface, all_tools, timeout, tell)


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
    _tell(True, "not opened: only an admitted plan is guarded")
    # `complete` and `fresh` leave nothing to guard either, and a client that waits for tools must not think otherwise.
    return max(of_status(verdict.status), Exit.FAILS)


def _tell(wanted: bool, line: str) -> None:
    if wanted:
        from cfrc.report.escape import message

        write_stream(f"cfrc guard: {message(line)}\n", sys.stderr)


def _guard(
    plan: Plan,
    journal: str,
    server: str | tuple[str, ...],
    interface: str | None,
    all_tools: bool,
    timeout: float,
    tell: partial[None],
) -> Exit:
    import anyio
    from mcp import StdioServerParameters

    from cfrc.adapters.interfaces.names import spelled
    from cfrc.handoff.mcp_tools import Unreachable
    from cfrc.handoff.proxy import Settings

    where: object = server
    if not isinstance(server, str):
        # The guarded server gets what the client configured for it: the guard's own environment and folder.
        where = StdioServerParameters(command=server[0], args=list(server[1:]), env=dict(os.environ))
    settings = Settings(all_tools, timeout, tell=tell, spelled=spelled)
    try:
        return anyio.run(_session, plan, journal, where, interface, settings)
    except Unreachable as problem:
        _tell(True, str(problem))
        return Exit.INPUT


async def _session(plan: Plan, journal: str, where: object, interface: str | None, settings: Settings) -> Exit:
    from cfrc.handoff.proxy import connected

    async with connected(where, settings) as upstream:
        return await _serve(plan, journal, upstream, interface, settings)


async def _serve(plan: Plan, journal: str, upstream: Upstream, interface: str | None, settings: Settings) -> Exit:
    """One client's time. Catches here what the connection's own task groups would wrap."""
    from cfrc.cli.inputs import complain
    from cfrc.handoff.guarded import GuardedRun
    from cfrc.handoff.journal import JournalError
    from cfrc.handoff.mcp_tools import Unreachable
    from cfrc.handoff.proxy import Proxy, serve
    from cfrc.handoff.run import interface_digest
    from cfrc.lang.diagnostics import SpecError

    contract, proposal, verdict = plan
    try:
        await upstream.list_tools()
        offered, missing = interface_digest(upstream.interface, proposal, contract)
        unfit = _unfit(missing, interface, offered) or _drift(plan, upstream)
        if unfit is not None:
            _tell(True, unfit)
            return Exit.FAILS
        run = GuardedRun(contract, proposal, journal, interface=offered, verdict=verdict)
    except Unreachable as problem:
        _tell(True, str(problem))
        return Exit.INPUT
    except SpecError as problem:
        complain(problem.diagnostics, Output())
        return Exit.INPUT
    except JournalError as problem:
        _tell(True, f"[CFRC-{problem.code}] {problem.message}" + (f" ({problem.help})" if problem.help else ""))
        return Exit.FAILS if problem.code in {"JRN005", "JRN007"} else Exit.INPUT
    try:
        settings.tell(f"open: {proposal.name} for {contract.name}, journal {journal}, interface {offered}")
        await serve(Proxy(run, upstream, settings), __version__)
    finally:
        run.close("the client went away")
    return _end(run)


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


def _end(run: GuardedRun) -> Exit:
    ending = run.ending
    if run.broken is not None:
        _tell(True, f"[CFRC-{run.broken.code}] {run.broken.message}")
        return Exit.FAILS
    if ending is None:
        _tell(True, "stopped before the end: start the guard again with this journal to go on")
        return Exit.FAILS
    _tell(True, f"{ending.kind}: {run.monitor.why()}")
    return Exit.HOLDS if ending.kind == "done" else Exit.FAILS
