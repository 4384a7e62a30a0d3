"""Turns what the environment recorded into an append-only ledger of receipts, accepted choices and approvals (X)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cfrc.model.contract import Approval
from cfrc.model.domain import Domain
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.source import Span

Status = Literal["success", "failure", "pending", "partial", "unknown"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the environment returned for one call. Only terminal ``success`` is evidence.

    (``id``, ``attempt``) names the attempt; the identity of an effect is (effect, canonical arguments).
    """

    id: str
    tool: str
    args: tuple[tuple[str, Value], ...]
    result: Value
    status: Status
    attempt: int = 1
    actor: str = "agent"
    time: datetime | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that the user accepted: ``accepted invoice: Invoice = "INV-42" from user turn 3``."""

    name: str
    type: Type
    value: Value
    turn: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ledger:
    name: str
    domain: Domain
    entries: tuple[Receipt | Choice | Approval, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
