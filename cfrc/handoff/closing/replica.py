"""Turns an environment that may be copied, or only a domain's declarations, into a place where calls can be tried.

A replica answers calls and nothing else: whatever a successor does on it, no real tool is called. ``snapshot`` and
``restore`` let it try one way, go back, and try another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Protocol, runtime_checkable

from cfrc.handoff.tools import Answer, PythonTools, ToolError
from cfrc.model.transcript import JSON


@runtime_checkable
class Replica(Protocol):
    """An isolated environment. ``call`` never raises for what the tool says: that is an :class:`Answer`."""

    def snapshot(self) -> object:
        """The present state, to be given to ``restore`` any number of times."""
        ...

    def restore(self, mark: object) -> None:
        """Goes back to a snapshot of this replica."""
        ...

    def call(self, tool: str, arguments: Mapping[str, JSON]) -> Answer:
        """What the tool says to these arguments, in plain JSON."""
        ...


class CopyReplica:
    """A deep copy of a Python environment, and a function for each tool: ``function(environment, **arguments)``.

    The environment that was given is never touched. A function fails definitely by raising :class:`ToolError` (or one
    of ``failures``); any other exception means that nobody knows what it did.
    """

    def __init__(
        self,
        environment: Any,
        tools: Mapping[str, Callable[..., Any]],
        failures: Sequence[type[Exception]] = (),
    ) -> None:
        self.environment = deepcopy(environment)
        self.tools = tools
        self.failures: tuple[type[Exception], ...] = (ToolError, *failures)

    def snapshot(self) -> object:
        return deepcopy(self.environment)

    def restore(self, mark: object) -> None:
        self.environment = deepcopy(mark)

    def call(self, tool: str, arguments: Mapping[str, JSON]) -> Answer:
        function = self.tools.get(tool)
        return PythonTools({} if function is None else {tool: self._bound(function)}).call(tool, arguments, tool)

    def _bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            try:
                return function(self.environment, **arguments)
            except self.failures as problem:
                raise ToolError(str(problem)) from None

        return call


__all__ = ["CopyReplica", "Replica"]
