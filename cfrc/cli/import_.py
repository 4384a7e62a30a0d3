"""Turns a published tool interface into a domain file to fill in, or into a report on what no longer fits a domain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options, root_option

if TYPE_CHECKING:
    from cfrc.adapters.interfaces import Drift, Interface
    from cfrc.model.domain import Domain
    from cfrc.source import Source


@click.command("import")
@click.argument("kind", type=click.Choice(["mcp", "openai", "anthropic"]))
@click.argument("tools")
@click.option("--name", metavar="NAME", help="The domain's name; by default made from the file's.")
@click.option("--no-hints", is_flag=True, help="Do not believe what the server says about its tools' effects.")
@click.option("--against", metavar="DOMAIN.cfrc", help="Write nothing; say what no longer fits this domain.")
@click.option("--accept", is_flag=True, help="With --against: record the interface in the domain's comments.")
@root_option
@output_options
def command(
    kind: Literal["mcp", "openai", "anthropic"],
    tools: str,
    name: str | None,
    no_hints: bool,
    against: str | None,
    accept: bool,
    roots: tuple[str, ...],
    out: Output,
) -> Exit:
    """Scaffold a domain file from a tool interface, or tell how the interface has drifted from its domain.

    TOOLS is the JSON of MCP's `tools/list`, or of OpenAI's or Anthropic's tool schemas; - reads standard input. The
    scaffold loads as it is; what a schema cannot say is asked in comments with `decide:`. Tools that are not known to
    be read-only are undeclared writes, which a contract must license by name. Exit codes: 0 written (or, with
    --against, no difference), 1 the interface has drifted, 2 bad input.
    """
    from cfrc.adapters.interfaces import read_interface
    from cfrc.cli.inputs import STDIN, complain, once, source_of
    from cfrc.lang.diagnostics import SpecError

    if accept and against in (None, STDIN):
        raise click.UsageError("--accept needs the domain's file: --against DOMAIN.cfrc")
    once([tools, *([against] if against is not None else [])])
    try:
        interface = read_interface(source_of(tools), kind)
        if against is not None:
            domain, text = _domain(source_of(against), name, roots)
            code = _compare(interface, domain, text, out)
            if accept:
                _accept(interface, text, against)
            return code
    except SpecError as problem:
        complain(problem.diagnostics, out)
        return Exit.INPUT
    if out.format == "json":
        raise click.UsageError("a scaffold is a spec file; --format json goes with --against")
    return _write(interface, name or _name(tools, STDIN), not no_hints, out)


def _write(interface: Interface, name: str, hinted: bool, out: Output) -> Exit:
    from cfrc.adapters.interfaces import scaffold

    try:
        text = scaffold(interface, name, hinted)
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint="--name") from None
    out.write(text)
    return Exit.HOLDS


def _name(path: str, stdin: str) -> str:
    """A domain's name from that of the file, or of its folder where the file has the usual name."""
    from cfrc.adapters.interfaces.names import spelled

    if path == stdin:
        return "tools"
    file = Path(path)
    return spelled(file.parent.name if file.stem == "tools" and file.parent.name else file.stem)


def _domain(source: Source, name: str | None, roots: tuple[str, ...]) -> tuple[Domain, str]:
    """The domain that the file declares (the one called ``name``, if it has several), and the file's text."""
    from cfrc.lang.load import load

    # Only what this file declares: the domains that it imports have their own interfaces.
    found = {d.name: d for d in load(source, roots=roots).domains.values() if d.span and d.span.source is source}
    if name is not None and name in found:
        return found[name], source.text
    if len(found) != 1 or name is not None:
        raise click.UsageError(
            f"{source.name} declares {', '.join(found) or 'no domain'}; --name says which one is meant"
        )
    return next(iter(found.values())), source.text


def _compare(interface: Interface, domain: Domain, text: str, out: Output) -> Exit:
    from cfrc.adapters.interfaces import drifted

    found = drifted(domain, text, interface)
    out.write(_json(domain, found) if out.format == "json" else _lines(domain, found, out.quiet))
    return Exit.FAILS if found else Exit.HOLDS


def _accept(interface: Interface, text: str, path: str) -> None:
    """Records the digests; nothing else of the file is touched."""
    from cfrc.adapters.interfaces import accepted
    from cfrc.cli.output import write_result

    new = accepted(text, interface)
    if new != text:
        write_result(new, path)


def _lines(domain: Domain, found: list[Drift], quiet: bool) -> str:
    from cfrc.codes import full
    from cfrc.report.escape import safe

    lines = []
    for d in found if not quiet else []:
        place = f"{d.span}: " if d.span is not None else ""
        lines.append(
            safe(f"{place}{full(d.code)} `{d.tool}`: {d.message}" if d.tool else f"{full(d.code)} {d.message}")
        )
    said = f"has drifted ({len(found)} difference{'s' * (len(found) != 1)})" if found else "has not drifted"
    return "\n".join([*lines, f"the interface of {safe(domain.name)} {said}"]) + "\n"


def _json(domain: Domain, found: list[Drift]) -> str:
    import json

    from cfrc.codes import full

    drift = [{"code": full(d.code), "tool": d.tool, "message": d.message, "where": str(d.span or "")} for d in found]
    return json.dumps({"cfrc": 1, "domain": domain.name, "drift": drift}, indent=2) + "\n"
