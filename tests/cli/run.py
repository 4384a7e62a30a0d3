"""Turns a command line into its exit code, output and complaints, in this process; a few tests start a real one."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from cfrc.cli.main import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    """Standard output or input as the interpreter sets it up: text over bytes."""

    def __init__(self, data: bytes = b"", tty: bool = False, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(data), encoding=encoding, newline="")
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty

    def written(self) -> str:
        self.flush()
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode(self.encoding)


def run(
    *arguments: str | Path,
    stdin: bytes = b"",
    tty: bool = False,
    encoding: str = "utf-8",
    env: dict[str, str] | None = None,
) -> Ran:
    """One command line in this process. ``tty``: standard output says that it is a terminal."""
    out, err = _Stream(tty=tty, encoding=encoding), _Stream(encoding=encoding)
    settings = {"COLUMNS": "100", **(env or {})}
    with (
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.object(sys, "stdin", _Stream(stdin)),
        mock.patch.dict("os.environ", settings),
    ):
        code = main([str(a) for a in arguments])
    return Ran(code, out.written(), err.written())


def run_process(arguments: Sequence[str | Path], cwd: Path, stdin: bytes = b"") -> Ran:
    """One command line in a process of its own."""
    command = [sys.executable, "-m", "cfrc", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, timeout=60)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
