"""Turns the plain values of a JSON form into nodes that resolve beside the language's own expressions.

JSON spells some values differently from the language (enums by wire names, bags as arrays, maps as objects), so its
values have node classes of their own. Everything else of a form becomes ordinary syntax.
"""

from __future__ import annotations

from dataclasses import dataclass

from cfrc.lang import tree as t
from cfrc.lang.jsonread import Json


@dataclass(frozen=True, slots=True)
class JsonScalar(t.Node):
    """A string, number, truth value or null; its meaning follows the type that is wanted."""

    json: Json


@dataclass(frozen=True, slots=True)
class JsonArray(t.Node):
    """An array: a list, a bag where a bag is wanted, or pairs of a map where a map is wanted."""

    items: tuple[t.ExprNode, ...]


@dataclass(frozen=True, slots=True)
class JsonObject(t.Node):
    """An object: a record, or a map where a map is wanted."""

    fields: tuple[t.FieldInit, ...]


@dataclass(frozen=True, slots=True)
class OutRef(t.Ref):
    """The node of ``{"out": "node.field"}``."""


@dataclass(frozen=True, slots=True)
class DomainImport(t.Import):
    """The domain that a form names without a path: looked up as ``NAME.cfrc`` and ``domains/NAME.cfrc``."""
