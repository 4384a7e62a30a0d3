"""Turns values into names that a reader recognises, none of which means anything else in the contract."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cfrc.model.domain import Domain
from cfrc.model.show import show_value
from cfrc.model.types import Enum, Id, Optional, Type
from cfrc.model.values import Value

LONGEST = 32


def plain_name(value: Value, type_: Type, field: str | None = None) -> str:
    """``order_W2378156`` for an identifier, ``amount_98_7`` for a field's value."""
    while isinstance(type_, Optional):
        type_ = type_.item
    stem = type_.name.lower() if isinstance(type_, Id) else field or str(type_)
    stem = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_") or "value"
    text = value if isinstance(value, str) else show_value(value, type_)
    rest = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:LONGEST].strip("_")
    return f"{stem}_{rest or 'value'}"


class Names:
    """The names that are taken: those of the contract, of its obligations, and of what expressions read bare."""

    def __init__(self, domain: Domain, taken: Iterable[str]) -> None:
        fluents = (n for n, f in domain.fluents.items() if not f.params)
        members = (m for t in domain.types.values() if isinstance(t, Enum) for m in t.members)
        self.taken = {*taken, *fluents, *members}

    def free(self, wanted: str) -> str:
        """The wanted name, or the first of ``wanted_2``, ``wanted_3``, … that is free; it is taken from now on."""
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name
