"""Turns the right to execute one contract into a small file that one journal holds, and no other ever gets.

The lock on it ends with the process; what is written in it stays. So a run that was killed may be resumed by its own
journal, and a second run of the same contract is refused, however much later it comes.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Protocol

MOST = 1_000


class Lease(Protocol):
    """The right to write. It is asked for before the first write, and held until the run ends."""

    def acquire(self, run: str) -> str | None:
        """Takes it for the run of that name; returns why it cannot, in words, or ``None``."""

    def release(self) -> None:
        """Lets go of it. The same run may take it again."""


class FileLease:
    """A lease in a file of a folder that all runs of the contract can reach (one machine, a local file system)."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    def acquire(self, run: str) -> str | None:
        if self._handle is not None:
            return None
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            return f"{self.path}: {problem.strerror}"
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            holder = os.read(handle, MOST).decode("utf-8", "replace")
            if not holder:
                os.write(handle, run.encode())
                os.fsync(handle)
            elif holder != run:
                os.close(handle)
                return f"{self.path}: the contract belongs to run {holder!r}"
        except BlockingIOError:
            os.close(handle)
            return f"{self.path}: another process holds it"
        except OSError as problem:
            os.close(handle)
            return f"{self.path}: {problem.strerror}"
        self._handle = handle
        return None

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def lease_beside(journal: Path, digest: str) -> FileLease:
    """The lease of a contract among the runs whose journals lie in one folder."""
    return FileLease(journal.absolute().parent / f".cfrc-lease-{digest.removeprefix('sha256:')[:32]}")
