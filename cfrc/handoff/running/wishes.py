"""Turns what a session wants into calls with names: a wish, a flight in the air, a doubt that is being settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cfrc.handoff.running.settle import Read, Settlement
from cfrc.handoff.tools import Answer
from cfrc.model.domain import Tool
from cfrc.model.machine import Step
from cfrc.model.transcript import JSON
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Wish:
    """A call that may be made now. ``call`` is its name, which all attempts share. ``settles`` names the call that it
    finds out about; then it is no step of the plan. ``poll`` counts the polls of the node before this one."""

    call: str
    attempt: int
    node: str
    tool: Tool
    args: dict[str, Value] = field(compare=False)
    settles: str | None = None
    poll: int = 0

    @property
    def writes(self) -> bool:
        return self.tool.writes

    @property
    def again(self) -> bool:
        """Whether repeating the call without knowing its outcome does no harm."""
        return self.tool.idempotent or not self.tool.writes

    def again_as(self, attempt: int) -> Wish:
        """The same call, another attempt."""
        return replace(self, attempt=attempt)


@dataclass(slots=True)
class Flight:
    """A call in the air. ``step`` is that of the plan, if it is one."""

    wish: Wish
    step: Step | None
    at: datetime
    read: Read | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a run is held, where the machine itself has no word for it. ``code`` is without prefix."""

    code: str
    message: str
    node: str | None = None


@dataclass(slots=True)
class Doubted:
    """A call that may have taken place and is being settled: by the read ``asked``, for the ``attempt``-th time."""

    flight: Flight
    settlement: Settlement
    late: bool = False
    asked: int = 0
    attempt: int = 1
    silent: int = 0


def answer_of(entry: Mapping[str, Any]) -> Answer:
    """The answer that a receipt's record holds."""
    result: JSON = entry["result"]
    return Answer(entry["status"], result, entry["error"], entry["broken"], entry["late"])
