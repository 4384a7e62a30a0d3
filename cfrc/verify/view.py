"""Turns "a graph under a contract" into the little that graph-level judgements need of it, with or without formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cfrc.model.contract import Contract
from cfrc.model.domain import Tool
from cfrc.model.graph import Call, Proposal
from cfrc.verify.order import Order


class CallView(Protocol):
    @property
    def call(self) -> Call: ...
    @property
    def tool(self) -> Tool | None: ...


class GraphView(Protocol):
    """What :class:`cfrc.verify.paths.Paths` and :class:`cfrc.verify.ground.GroundGraph` have in common."""

    @property
    def contract(self) -> Contract: ...
    @property
    def proposal(self) -> Proposal: ...
    @property
    def order(self) -> Order: ...
    @property
    def runs(self) -> Sequence[CallView]: ...
