"""Turns the values of a counterexample into text, in the words of the contract's domain where its types are known."""

from __future__ import annotations

from dataclasses import dataclass

from cfrc.model.contract import Contract
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.show import show_value
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.report.escape import clip

Node = Call | Terminal


@dataclass(frozen=True, slots=True)
class Naming:
    """What a verdict was about, as far as it is at hand. Everything can still be shown without it, only less nicely."""

    contract: Contract | None = None
    proposal: Proposal | None = None

    def node(self, name: str | None) -> Node | None:
        nodes = self.proposal.nodes if self.proposal else ()
        return next((n for n in nodes if n.id == name), None)

    def argument(self, tool: str, param: str, value: Value) -> str:
        known = self.contract.domain.tools.get(tool) if self.contract else None
        declared = known.param(param) if known else None
        return _show(value, declared.type if declared else None)

    def result(self, tool: str, value: Value) -> str:
        known = self.contract.domain.tools.get(tool) if self.contract else None
        return _show(value, known.result if known else None)

    def fluent(self, instance: str, value: Value) -> str:
        """The value of a fluent instance that is given as text: ``status("INV-42")``."""
        known = self.contract.domain.fluents.get(instance.partition("(")[0]) if self.contract else None
        return _show(value, known.type if known else None)


def _show(value: Value, t: Type | None) -> str:
    return clip(show_value(value, t))
