"""Turns the first word of a declaration into what its room knows about it: tables, builder and layout.

Rooms register here, one line a keyword; their modules are imported when the keyword is first met. Nothing else in
``cfrc.lang`` knows which declaration kinds exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from cfrc.lang.build import SharedBuilder
from cfrc.lang.nodes import Declaration
from cfrc.source import Source


@dataclass(frozen=True, slots=True)
class Line:
    """For the formatter: the part at this offset begins a line at ``level``, its first word padded to ``width``."""

    offset: int
    level: int
    width: int = 0


Layout = Callable[[Declaration], Iterator[Line]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """One grammar: where its tables are and how they are built (``python -m cfrc.lang.tables``)."""

    path: Path
    build: Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One declaration kind.

    ``start`` is its start symbol, ``items`` the nonterminals of its items and clauses (for recovery), ``builder`` makes
    its nodes. ``layout`` yields, for the formatter, each part below the first that begins a line.
    """

    keyword: str
    start: str
    items: tuple[str, ...]
    grammar: Grammar
    builder: Callable[[Source], SharedBuilder]
    layout: Layout


ROOMS: Mapping[str, str] = {
    "import": "cfrc.lang.core",
    "domain": "cfrc.lang.core",
    "contract": "cfrc.lang.core",
    "proposal": "cfrc.lang.core",
    "ledger": "cfrc.lang.core",
    "check": "cfrc.lang.core",
}
"""Keyword of a declaration → the module whose ``KINDS`` maps it to a :class:`Kind`."""


def kind_of(keyword: str) -> Kind:
    """The kind that a keyword of :data:`ROOMS` begins."""
    kind: Kind = import_module(ROOMS[keyword]).KINDS[keyword]
    return kind
