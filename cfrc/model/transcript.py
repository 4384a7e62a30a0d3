"""Turns what providers call a conversation into one neutral sequence of messages, attempts, choices and approvals.

A transcript is untyped: values are plain JSON in Python's own types, with numbers exact (``int`` or ``Decimal``, never
``float``, never NaN). No domain has looked at it yet; typing against one makes a ledger of it. What a model says is
only text here: call markup inside a text is never an attempt, and a report of completion is never a receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from cfrc.model.ledger import Status
from cfrc.source import Span

# Mappings have string keys. A recursive alias: the containers hold JSON again.
JSON = None | bool | int | Decimal | str | list["JSON"] | dict[str, "JSON"]

Role = Literal["system", "user", "assistant"]

_NO_FAILURE = re.compile(r"\s*(?:MCP error (?!-32601\b)-?\d+\b|(?:MCP error -?\d+:\s*)?Output validation error)")


def may_have_run(error: str) -> bool:
    """Whether what is marked as a tool's failure is a protocol error that a library wrote there: nothing came back in
    time, or what came back was not as announced. Then the tool may have done everything."""
    return _NO_FAILURE.match(error) is not None


@dataclass(frozen=True, slots=True)
class Message:
    """Text that somebody said. ``turn`` counts the *user's* turns: the user's own messages are 1, 2, 3, and everything
    said or done before the next one has the number of the last (0 before the first)."""

    turn: int
    role: Role
    text: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one call, named by (``id``, ``attempt``), with its outcome.

    ``status`` is ``open`` when no result was recorded: it may have happened. ``arguments`` is ``None`` when they could
    not be read, with the reason in ``broken``. Attempts of one ``group`` were issued together, in no order. Where the
    transcript gives a call no id, ``id`` is the call's place in the document (``messages[3].function_call``).

    ``result`` is what the environment returned: a ``str`` where it returned text, even if that spells JSON (the tool's
    declared type decides what it is, and quoted places count in it). ``error``: its own words on a failure.
    """

    id: str
    attempt: int
    tool: str
    arguments: Mapping[str, JSON] | None
    turn: int = 0
    group: int = 0
    status: Status | Literal["open"] = "open"
    result: JSON = None
    error: str | None = None
    actor: str = "agent"
    time: datetime | None = None
    broken: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A value that the user accepted, as a structured event of the runtime (never read out of prose)."""

    name: str
    type_name: str | None
    value: JSON
    turn: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Approved:
    """An approval (or a denial, ``denied``) of a tool's call. ``arguments`` is ``None`` where it names none."""

    tool: str
    arguments: Mapping[str, JSON] | None
    policy: str | None = None
    expires: datetime | None = None
    turn: int = 0
    denied: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


Event = Message | Attempt | Accepted | Approved


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader of the transcript should know: not an error, but not plain sailing either."""

    code: str
    message: str
    span: Span | None = None
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation in order. ``request`` is the user's first message; ``usage`` adds up the provider's counters;
    ``stop`` is the last stop reason in the provider's own word (``max_tokens`` and ``pause_turn`` are not the end)."""

    request: str
    events: tuple[Event, ...]
    usage: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    notes: tuple[Note, ...] = ()
    stop: str | None = None

    @property
    def attempts(self) -> Iterator[Attempt]:
        return (e for e in self.events if isinstance(e, Attempt))

    @property
    def messages(self) -> Iterator[Message]:
        return (e for e in self.events if isinstance(e, Message))
