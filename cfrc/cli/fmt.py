"""Turns spec files into the same files in the canonical layout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cfrc.cli.exits import Exit, worst
from cfrc.cli.inputs import STDIN, complain, source_of, spec_files
from cfrc.cli.options import Output
from cfrc.cli.output import Color, write_result, write_stream
from cfrc.report.escape import safe

if TYPE_CHECKING:
    from cfrc.lang.diagnostics import Diagnostic


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if any file is not in the canonical layout.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change, and exit 1 if anything would.")
@click.option("--quiet", "-q", is_flag=True, help="Do not name the files.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Terminal colours.")
def command(files: tuple[str, ...], check: bool, diff: bool, quiet: bool, color: Color) -> Exit:
    """Lay out spec files in the one canonical way; comments and meaning are kept.

    FILES may be directories; - reads standard input and writes to standard output. A file with a syntax error is left
    as it is. Exit codes: 0 laid out (or all are, with --check), 1 --check or --diff found a difference, 2 bad input.
    """
    from cfrc.lang.diagnostics import SpecError

    out = Output(quiet=quiet, color=color)
    exits: list[Exit] = []
    diagnostics: list[Diagnostic] = []
    for path in spec_files(files):
        try:
            exits.append(_one(path, check, diff, out))
        except SpecError as problem:
            diagnostics += problem.diagnostics
            exits.append(Exit.INPUT)
    if diagnostics:
        complain(diagnostics, out)
    return worst(exits)


def _one(path: str, check: bool, diff: bool, out: Output) -> Exit:
    """Formats one file. Raises :class:`cfrc.lang.diagnostics.SpecError` when it cannot be read or parsed."""
    from cfrc.lang.diagnostics import Diagnostic, SpecError, has_errors
    from cfrc.lang.format import format_file
    from cfrc.lang.imports import is_json
    from cfrc.source import Span

    source = source_of(path)
    if is_json(source):
        message = "this is JSON, and only spec text has a layout"
        raise SpecError([Diagnostic("JSN017", message, Span(source, 0, 0), "leave it out")])
    text, diagnostics = format_file(source)
    if has_errors(diagnostics):
        raise SpecError(diagnostics)
    same = text == _as_read(path, source.text)
    if check or diff:
        if diff and not same:
            out.write(_difference(source.name, source.text, text))
        if check and not same and not out.quiet:
            write_stream(f"{safe(source.name)} would be laid out anew\n", sys.stderr)
        return Exit.HOLDS if same else Exit.FAILS
    if path == STDIN:
        out.write(text)
    elif not same:
        write_result(text, path)
        if not out.quiet:
            write_stream(f"{safe(source.name)} laid out\n", sys.stderr)
    return Exit.HOLDS


def _as_read(path: str, text: str) -> str:
    """The file's text with its byte order mark, if it has one: the canonical layout has none."""
    if path == STDIN:
        return text
    with open(path, "rb") as file:
        return ("\ufeff" if file.read(3) == b"\xef\xbb\xbf" else "") + text


def _difference(name: str, old: str, new: str) -> str:
    """A unified diff for eyes: what a terminal would obey is spelled out."""
    from difflib import unified_diff

    name = safe(name)
    lines = list(unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (laid out)", lineterm=""))
    if not lines:
        return f"{name}: only its line ends or byte order mark would change\n"
    return "".join(safe(line.replace("\t", "    ")) + "\n" for line in lines)
