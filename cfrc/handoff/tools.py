"""Turns a call with plain JSON arguments into one answer of a live tool: what it says, never what that means.

Whether an answer is evidence is for the session to say. An adapter only tells three things apart, because nothing else
can: the tool answered, the tool refused (and so did nothing), or nobody knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Protocol, runtime_checkable

from cfrc.model.ledger import Status
from cfrc.model.transcript import JSON


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one attempt. ``broken`` says why a result could not even be read as JSON. ``late``: nobody
    waited any longer, and the call may still be under way."""

    status: Status
    result: JSON = None
    error: str | None = None
    broken: str | None = None
    late: bool = False


class ToolError(Exception):
    """A tool's definite refusal: the call had no effect. Any other exception leaves the call in doubt."""


@runtime_checkable
class Tools(Protocol):
    """A live surface. ``call`` is called from several threads at once, for reads that do not depend on each other."""

    def call(self, tool: str, arguments: Mapping[str, JSON], call: str) -> Answer:
        """Makes one attempt. ``call`` names the call: all attempts at it have the same name, so that a surface that can
        recognize repetitions may use it as its key. Must not repeat anything on its own."""

    def interface(self) -> Mapping[str, JSON]:
        """What the surface says about each of its tools, for noticing that it changed; by tool name."""


class PythonTools:
    """Python callables as tools: a mapping by tool name, or an object whose attributes are named like the tools.

    Arguments are passed by name, as :mod:`json` would give them: a decimal is an ``int`` or ``float`` where that is
    exact, and a ``Decimal`` where it is not. Dataclasses, pydantic models, enums, dates and decimals in results are
    taken for the JSON they mean.
    """

    def __init__(self, tools: object) -> None:
        self._tools = tools

    def find(self, tool: str) -> Callable[..., object] | None:
        """The callable of a tool, if there is one."""
        known = self._tools
        found = known.get(tool) if isinstance(known, Mapping) else getattr(known, tool, None)
        return found if callable(found) else None

    def call(self, tool: str, arguments: Mapping[str, JSON], call: str) -> Answer:
        found = self.find(tool)
        if found is None:
            return Answer("failure", error=f"there is no tool {tool}")
        given = {name: loose(value) for name, value in arguments.items()}
        try:
            result = found(**given)
        except ToolError as refusal:
            return Answer("failure", error=str(refusal))
        except Exception as problem:  # whatever it is, the call may have had its effect
            # after a time-out of the tool's own client the server may be at it still
            late = isinstance(problem, TimeoutError)
            return Answer("unknown", error=f"{type(problem).__name__}: {problem}", late=late)
        try:
            return Answer("success", plain(result))
        except (TypeError, ValueError, RecursionError) as problem:
            return Answer("success", broken=str(problem) or type(problem).__name__)

    def interface(self) -> Mapping[str, JSON]:
        known = self._tools
        names = list(known) if isinstance(known, Mapping) else [n for n in dir(known) if not n.startswith("_")]
        return {n: _signature(found) for n in sorted(names) if (found := self.find(n)) is not None}


def as_tools(given: object) -> Tools:
    """The surface that an object is: itself if it can ``call``, else Python callables."""
    return given if isinstance(given, Tools) else PythonTools(given)


def loose(value: JSON) -> object:
    """The value with decimals as :mod:`json` would give them."""
    match value:
        case Decimal():
            if value == value.to_integral_value():
                return int(value)
            near = float(value)
            return near if Decimal(repr(near)) == value else value
        case dict():
            return {k: loose(v) for k, v in value.items()}
        case list():
            return [loose(v) for v in value]
    return value


def plain(value: object) -> JSON:
    """What a Python value means as JSON, numbers exact. Raises ``TypeError`` and ``ValueError`` for what has none."""
    match value:
        case None | bool() | int() | str() if not isinstance(value, Enum):
            return value
        case float() | Decimal():
            number = Decimal(repr(value)) if isinstance(value, float) else value
            if not number.is_finite():
                raise ValueError(f"{value} is not a JSON number")
            return number
        case Enum():
            return plain(value.value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            if not all(isinstance(k, str) for k in value):
                raise TypeError("an object's member names are strings")
            return {str(k): plain(v) for k, v in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump(mode="json"))
    raise TypeError(f"a {type(value).__name__} is not JSON")


def _signature(found: Callable[..., object]) -> str:
    try:
        return str(inspect.signature(found))
    except (TypeError, ValueError):
        return ""
