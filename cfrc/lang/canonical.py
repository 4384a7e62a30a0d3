"""Turns a JSON value into its one canonical text (RFC 8785) and that text into a content digest.

The JSON forms of this project carry exact decimals as strings, so a canonical text never depends on how a
floating-point number prints; floats are still supported, as the RFC asks.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

_SAFE = 2**53 - 1
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ESCAPES |= {chr(c): f"\\u{c:04x}" for c in range(32) if chr(c) not in _ESCAPES}
_TABLE = {ord(c): s for c, s in _ESCAPES.items()}


class Ready(str):
    """A part that is canonical text already, and is written as it is."""

    __slots__ = ()


def canonical_json(value: Any) -> str:
    """The RFC 8785 text of a JSON value (``tuple`` stands for ``list``, integers for numbers).

    Raises ``ValueError`` for what has no canonical text: a lone surrogate, NaN, an infinity, an integer beyond
    ±(2^53 - 1); and ``TypeError`` for a value that is not JSON.
    """
    out: list[str] = []
    _write(value, out)
    return "".join(out)


def digest(value: Any) -> str:
    """``sha256:`` and the hex SHA-256 of the canonical text in UTF-8. Errors as :func:`canonical_json`."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _write(value: Any, out: list[str]) -> None:
    match value:
        case None:
            out.append("null")
        case bool():
            out.append("true" if value else "false")
        case int():
            if abs(value) > _SAFE:
                raise ValueError(f"integer {value} has no exact JSON number; write it as a string")
            out.append(str(value))
        case float():
            out.append(_number(value))
        case Ready():
            out.append(value)
        case str():
            out.append(_string(value))
        case list() | tuple():
            out.append("[")
            for i, item in enumerate(value):
                if i:
                    out.append(",")
                _write(item, out)
            out.append("]")
        case dict():
            out.append("{")
            # Keys are ordered by UTF-16 code units, which differs from code points beyond the basic plane.
            for i, key in enumerate(sorted(value, key=_utf16)):
                if i:
                    out.append(",")
                out.append(_string(key))
                out.append(":")
                _write(value[key], out)
            out.append("}")
        case _:
            raise TypeError(f"not a JSON value: {type(value).__name__}")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _string(text: str) -> str:
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("a lone surrogate has no canonical JSON text")
    return '"' + text.translate(_TABLE) + '"'


def _number(value: float) -> str:
    """ECMAScript's ``Number::toString``, from Python's shortest round-tripping digits."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" and not exponent else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0") or "0"
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    tail = "." + digits[1:] if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if power >= 0 else '-'}{abs(power)}"
