"""Turns bytes and paths into source texts, or says why a file cannot be one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
from cfrc.source import Source, Span

MAX_BYTES = 10 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = ((b"\xff\xfe\x00\x00", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def read_source(path: str | Path, name: str | None = None, place: Span | None = None) -> Source:
    """The text of a file. ``name`` is what diagnostics call it, ``place`` where it was asked for (an import).

    Raises :class:`SpecError` with a code ``INP001`` (missing), ``INP002`` (a directory), ``INP003`` (not readable) or
    one of :func:`decode`. At most :data:`MAX_BYTES` and one byte are read, so that a device or a pipe cannot run on.
    """
    name = str(path) if name is None else name
    place = place or _start(name)
    try:
        with open(path, "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode) or place.source.name == name:
                data = file.read(MAX_BYTES + 1)
            else:
                raise _error("INP003", f"{quoted(name, 200)} is not a regular file", place)
    except FileNotFoundError:
        raise _error("INP001", f"there is no file {quoted(name, 200)}", place, "check the path") from None
    except IsADirectoryError:
        raise _error("INP002", f"{quoted(name, 200)} is a directory", place, "name a file in it") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "the name is not valid"
        raise _error("INP003", f"{quoted(name, 200)} cannot be read: {why.lower()}", place) from None
    return decode(name, data)


def decode(name: str, data: bytes) -> Source:
    """The text that bytes (of a file or of standard input) spell in UTF-8, without a byte order mark.

    Raises :class:`SpecError` with ``INP004`` (not UTF-8), ``INP005`` (a NUL byte) or ``INP006`` (too large).
    """
    if len(data) > MAX_BYTES:
        limit = f"at most {MAX_BYTES // (1024 * 1024)} MB are read"
        raise _error(
            "INP006", f"{quoted(name, 200)} is too large", _start(name), f"{limit}; split it and import the parts"
        )
    for mark, encoding in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise _error("INP004", f"{quoted(name, 200)} is {encoding}, not UTF-8", _start(name), "save it as UTF-8")
    data = data.removeprefix(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        source = Source(name, data.decode("utf-8", errors="replace"))
        at = len(data[: error.start].decode("utf-8"))
        byte = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise _error("INP004", byte, Span(source, at, at + 1), "save the file as UTF-8") from None
    source = Source(name, text)
    nul = text.find("\0")
    if nul >= 0:
        raise _error("INP005", "a NUL byte in the text", Span(source, nul, nul + 1), "is it a binary file?")
    return source


def _start(name: str) -> Span:
    return Span(Source(name, ""), 0, 0)


def _error(code: str, message: str, place: Span, help: str | None = None) -> SpecError:
    return SpecError([Diagnostic(code, message, place, help)])
