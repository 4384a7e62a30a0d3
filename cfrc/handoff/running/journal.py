"""Turns the records of one run into a file that survives a crash at any instant, and back.

SQLite in WAL mode with full synchronization: a record that was appended is on the disk. Each record's hash covers the
hash before it, so that a changed, removed or inserted one is noticed; the last hash names the whole journal. The file
is locked as long as it is open: two processes cannot run one journal, and a dead process holds nothing.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

Entry = Mapping[str, Any]

Hook = Callable[[str, int], None]
"""Told ``before`` and ``after`` each transaction, with the number of the last record that is on the disk by then."""

APPLICATION = 0x43465243
_SEED = "cfrc journal 1"
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class JournalError(Exception):
    """The journal cannot be used. ``code`` is without prefix (``JRN001``)."""

    def __init__(self, code: str, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help


class Journal:
    """One open journal. ``entries`` holds what was on the disk when it was opened, ``head`` is the last hash."""

    def __init__(self, path: str | Path, *, hook: Hook | None = None) -> None:
        """Opens or creates it, for this process alone. Raises :class:`JournalError` (JRN001, JRN002, JRN006)."""
        self.path = Path(path)
        self._hook = hook
        try:
            self.connection = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise
        except sqlite3.Error as problem:
            raise _cannot_open(self.path, problem) from None
        try:
            self.entries, self.head = checked(self.connection)
        except BaseException:
            self.connection.close()
            raise
        self.count = len(self.entries)

    def _prepare(self) -> None:
        run = self.connection.execute
        run("pragma locking_mode = exclusive")
        fresh = run("pragma schema_version").fetchone()[0] == 0
        if not fresh and run("pragma application_id").fetchone()[0] != APPLICATION:
            raise _not_one(self.path)
        run("pragma journal_mode = wal")
        run("pragma synchronous = full")
        run("begin exclusive")
        if fresh:
            run(f"pragma application_id = {APPLICATION}")
            run("create table entries (seq integer primary key, body text not null, hash text not null) strict")
        run("commit")

    def append(self, entries: Sequence[Entry]) -> None:
        """Writes records in one transaction; they are on the disk when this returns.

        Raises :class:`JournalError` (JRN003) when they cannot be written; then none of them is."""
        if self._hook is not None:
            self._hook("before", self.count)
        rows, head = [], self.head
        for number, entry in enumerate(entries, self.count):
            body = json_text(entry)
            head = _next(head, body)
            rows.append((number, body, head))
        try:
            self.connection.execute("begin immediate")
            self.connection.executemany("insert into entries values (?, ?, ?)", rows)
            self.connection.execute("commit")
        except sqlite3.Error as problem:
            self._rollback()
            help = "make room, then resume: a call without a receipt is settled first, never repeated blindly"
            raise JournalError("JRN003", f"{self.path}: cannot be written: {problem}", help) from None
        self.head, self.count = head, self.count + len(rows)
        if self._hook is not None:
            self._hook("after", self.count)

    def _rollback(self) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
        except sqlite3.Error:
            return  # the file is beyond use; what was committed before still is on the disk

    def close(self) -> None:
        """Lets go of the file. Never raises: everything that was appended is on the disk already."""
        try:
            self.connection.close()
        except sqlite3.Error:
            return

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: str | Path) -> tuple[list[Entry], str]:
    """All records of a journal that nobody runs, and the last hash. Raises :class:`JournalError`."""
    where = Path(path)
    if not where.is_file():
        raise JournalError("JRN001", f"{where}: no such file")
    try:
        if not _is_database(where):
            raise _not_one(where)
        # Without a log beside it nobody has it open, and nothing need be written beside it to read it.
        how = "mode=ro" if Path(f"{where}-wal").exists() else "mode=ro&immutable=1"
        connection = sqlite3.connect(f"{where.absolute().as_uri()}?{how}", uri=True, timeout=0, isolation_level=None)
        try:
            if connection.execute("pragma application_id").fetchone()[0] != APPLICATION:
                raise _not_one(where)
            return checked(connection)
        finally:
            connection.close()
    except OSError as problem:
        raise JournalError("JRN001", f"{where}: {problem.strerror}") from None
    except sqlite3.Error as problem:
        raise _cannot_open(where, problem) from None


def _is_database(path: Path) -> bool:
    """Whether the file begins as one does. Raises ``OSError``."""
    with open(path, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def checked(connection: sqlite3.Connection) -> tuple[list[Entry], str]:
    """The records and the last hash. Raises :class:`JournalError` (JRN006) at the first record that was touched."""
    entries: list[Entry] = []
    head = _SEED
    rows = connection.execute("select seq, body, hash from entries order by seq")
    for number, (seq, body, recorded) in enumerate(rows):
        if seq != number or not isinstance(body, str) or recorded != _next(head, body):
            what = f"record {number} is not the one that was written"
            raise JournalError("JRN006", what, "the file was changed or damaged: do not resume from it")
        head = recorded
        try:
            entry = json.loads(body, parse_float=Decimal)
        except (ValueError, RecursionError) as problem:
            raise JournalError("JRN006", f"record {number} is not JSON: {problem}") from None
        if not isinstance(entry, dict) or not isinstance(entry.get("is"), str):
            raise JournalError("JRN006", f"record {number} is no record")
        entries.append(entry)
    return entries, head


def _next(head: str, body: str) -> str:
    return hashlib.sha256(f"{head}\n{body}".encode()).hexdigest()


def _cannot_open(path: Path, problem: sqlite3.Error) -> JournalError:
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    if code in _LOCKED:
        return JournalError("JRN002", f"{path}: another process runs this journal", "wait for it, or end it first")
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return JournalError("JRN006", f"{path}: {problem}", "the file was changed or damaged: do not resume from it")
    if isinstance(problem, sqlite3.OperationalError) and "no such table" in str(problem):
        return _not_one(path)
    return JournalError("JRN001", f"{path}: cannot be opened for writing: {problem}")


def _not_one(path: Path) -> JournalError:
    return JournalError("JRN001", f"{path}: is not a journal of cfrc", "name a new file, or the journal to resume")


def json_text(value: Any) -> str:
    """One line of JSON, decimals as the numbers they are. Raises ``TypeError`` for what is not JSON; no floats."""
    try:
        return _FAST(value)
    except TypeError:
        return _slow(value)


_FAST = json.JSONEncoder(separators=(",", ":"), check_circular=False, allow_nan=False).encode
"""Good for everything but decimals."""


def _slow(value: Any) -> str:
    match value:
        case None | bool() | str() | int():
            return json.dumps(value)
        case Decimal():
            return str(value) if "." in str(value) or "E" in str(value) else f"{value}.0"
        case Mapping():
            return "{" + ",".join(f"{json.dumps(k)}:{_slow(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join([_slow(v) for v in value]) + "]"
    raise TypeError(f"not JSON: {type(value).__name__}")
