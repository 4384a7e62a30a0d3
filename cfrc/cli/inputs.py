"""Turns the file arguments of a command into sources, and what is wrong with them into complaints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from cfrc.cli.options import Output
from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.files import MAX_BYTES, decode, read_source
from cfrc.source import Source

STDIN = "-"
SUFFIX = ".cfrc"


def source_of(path: str) -> Source:
    """The text of a file, or of standard input for ``-``. Raises :class:`cfrc.lang.diagnostics.SpecError`."""
    if path == STDIN:
        return decode("<stdin>", sys.stdin.buffer.read(MAX_BYTES + 1))
    return read_source(path)


def spec_files(paths: Sequence[str]) -> list[str]:
    """The paths, with every directory replaced by the spec files in it (sorted; hidden folders are left out).

    Raises :class:`click.UsageError` when ``-`` is given twice or a directory has no spec file.
    """
    once(paths)
    found: dict[str, None] = {}
    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            found[path] = None
            continue
        inside = sorted(str(p) for p in Path(path).rglob(f"*{SUFFIX}") if _visible(p.relative_to(path)))
        if not inside:
            raise click.UsageError(f"there is no {SUFFIX} file in {path!r}")
        found.update(dict.fromkeys(inside))
    return list(found)


def once(paths: Sequence[str]) -> None:
    """Raises :class:`click.UsageError` when standard input is named more than once."""
    if paths.count(STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _visible(path: Path) -> bool:
    return not any(part.startswith(".") for part in path.parts)


def complain(diagnostics: Iterable[Diagnostic], out: Output) -> None:
    """Writes diagnostics of bad input to standard error."""
    from cfrc.report.diagnostics import render_diagnostics

    out.complain(render_diagnostics(diagnostics, color=out.complaints_colored, width=out.width))
