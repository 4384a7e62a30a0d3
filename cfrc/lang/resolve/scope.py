"""Turns the place of an expression into what its names may mean: variables, fluents and other nodes' outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfrc.model.domain import Domain
from cfrc.model.expr import Expr
from cfrc.model.types import Type


class Scope:
    """The names in force. ``vars`` maps a name to the expression it stands for (its span is replaced at each use).

    ``fluents``: whether fluents may be read here (not in proposals: they see receipts only). ``nodes``: the proposal's
    nodes and result types where ``ok(n)``, ``failed(n)`` and ``skipped(n)`` are allowed, else ``None``.
    """

    __slots__ = ("domain", "fluents", "nodes", "parent", "vars")

    def __init__(
        self,
        domain: Domain,
        vars: Mapping[str, Expr],
        *,
        fluents: bool = True,
        nodes: Mapping[str, Type] | None = None,
        parent: Scope | None = None,
    ) -> None:
        self.domain, self.vars, self.fluents, self.nodes, self.parent = domain, vars, fluents, nodes, parent

    def inner(self, vars: Mapping[str, Expr]) -> Scope:
        """A scope with more variables, which hide those outside."""
        return Scope(self.domain, vars, fluents=self.fluents, nodes=self.nodes, parent=self)

    def lookup(self, name: str) -> Expr | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.vars:
                return scope.vars[name]
            scope = scope.parent
        return None

    def names(self) -> Iterator[str]:
        """Every name that may be written here, for suggestions."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.vars
            scope = scope.parent
        if self.fluents:
            yield from self.domain.fluents
