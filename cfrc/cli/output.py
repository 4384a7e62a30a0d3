"""Turns a finished text into output: on standard output or in a file, whole or not at all, without a traceback."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal, TextIO

import click

from cfrc.report.escape import plain_glyphs

Color = Literal["auto", "always", "never"]


def wants_color(color: Color, stream: TextIO, to_file: bool = False) -> bool:
    """``auto``: on a terminal that can, unless ``NO_COLOR`` is set to anything (https://no-color.org)."""
    if color != "auto":
        return color == "always"
    return not to_file and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def terminal_width() -> int:
    """The columns to fill: ``COLUMNS`` or the terminal's, 100 when there is none, never less than 40."""
    return max(40, min(200, shutil.get_terminal_size((100, 24)).columns))


def write_result(text: str, path: str | None) -> None:
    """Writes a result to standard output (``None`` or ``-``) or to a file.

    Raises :class:`click.FileError` when the file cannot be written; a reader that went away is not an error.
    """
    if path is None or path == "-":
        write_stream(text, sys.stdout)
    else:
        try:
            write_file(Path(path), text)
        except OSError as problem:
            raise click.FileError(path, hint=problem.strerror or str(problem)) from problem


def write_stream(text: str, stream: TextIO) -> None:
    """Writes to a terminal or pipe; characters that its encoding lacks are replaced, by ASCII drawings where known."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = plain_glyphs(text).encode(encoding, "backslashreplace").decode(encoding)
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The reader went away (``| head``). The verdict still decides the exit code; nothing more can be said.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_file(path: Path, text: str) -> None:
    """Replaces a file at once, so that a reader sees the old text or the new one. Its permissions are kept.

    What is not a regular file (a device, a pipe) is written to instead of replaced. Raises ``OSError``.
    """
    path = Path(os.path.realpath(path))
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
