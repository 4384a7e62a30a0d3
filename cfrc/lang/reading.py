"""Turns a file, standard input or bytes into a :class:`Source`, or says why it is no text.

Inputs are hostile: size and encoding are checked before anything looks at the content. A byte order mark is dropped,
line ends stay as they are.
"""

from __future__ import annotations

import os
from pathlib import Path

from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
from cfrc.source import Source, Span

MAX_BYTES = 10 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_FOREIGN = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "compressed data", b"PK": "an archive"}


def read_source(path: str | Path) -> Source:
    """The text of a file, named as given. Raises :class:`SpecError` (``INP…``) if it cannot be used."""
    name = str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "not a file name"
        help = "give a file, not a folder" if os.path.isdir(path) else None
        raise SpecError([Diagnostic("INP001", f"cannot read {quoted(name, 200)}: {reason}", None, help)]) from None
    return decode(name, data)


def decode(name: str, data: bytes) -> Source:
    """The source that some bytes are. Raises :class:`SpecError` (``INP…``) if they are too many or no UTF-8 text."""
    if len(data) > MAX_BYTES:
        help = "split it and import the parts"
        message = f"{quoted(name, 200)} is larger than {MAX_BYTES // (1024 * 1024)} MB"
        raise SpecError([Diagnostic("INP002", message, None, help)])
    data = data.removeprefix(_BOM)
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        good = Source(name, data[: error.start].decode("utf-8"))
        what = next((w for magic, w in _FOREIGN.items() if data.startswith(magic)), None)
        help = "save the file as UTF-8" + (f"; it looks like {what}" if what else "")
        span = Span(good, len(good.text), len(good.text))
        message = f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise SpecError([Diagnostic("INP003", message, span, help)]) from None
