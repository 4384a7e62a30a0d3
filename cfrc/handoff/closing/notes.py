"""Turns what closing could not settle, or left out, into notes with a stable code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """``code`` without prefix. ``node`` is the call in question. What is ``minor`` needs nobody's attention."""

    code: str
    message: str
    node: str | None = None
    help: str | None = None
    minor: bool = False


__all__ = ["Note"]
