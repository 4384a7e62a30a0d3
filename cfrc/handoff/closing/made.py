"""Turns what one call was given and gave back into one value: the bridge from calls to a graph reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cfrc.model.domain import Tool
from cfrc.model.expr import Expr
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Made:
    """One call that was made: on a record, or on a replica. ``failed`` is a definite failure; ``problem`` says why its
    values could not be typed. ``label`` is the node's name, by default made of the ``index``."""

    index: int
    name: str
    tool: Tool | None
    args: Mapping[str, Value]
    result: Value
    failed: bool
    write: bool
    problem: str | None = None
    label: str | None = None

    @property
    def id(self) -> str:
        return self.label or f"c{self.index}"

    @property
    def usable(self) -> bool:
        """Whether the call is evidence: it succeeded and everything about it has a type."""
        return not self.failed and self.problem is None and self.tool is not None


class WithSources(Protocol):
    """Calls of which those from ``cut`` on are the remainder, each with a source for every argument (by index)."""

    @property
    def calls(self) -> tuple[Made, ...]: ...

    @property
    def cut(self) -> int: ...

    @property
    def args(self) -> Mapping[int, Mapping[str, Expr]]: ...
