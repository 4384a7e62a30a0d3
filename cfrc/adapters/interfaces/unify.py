"""Turns several types into the one type that has all their values, where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.adapters.interfaces.registry import MOST_MEMBERS, Registry
from cfrc.model.types import DECIMAL, INT, STRING, Enum, Id, ListOf, MapOf, Optional, RecordOf, Type


def unify(types: Sequence[Type | None], registry: Registry, hint: str) -> Type | None:
    """The common type; ``None`` when one of them is unknown or there is none.

    A whole number is a decimal; strings, enums and identifiers together are a string; enums are put together; records
    are too, and a field that not all of them have is optional.
    """
    known = [t for t in types if t is not None]
    if not known or len(known) < len(types):
        return None
    inner = [t.item if isinstance(t, Optional) else t for t in known]
    found = _common(list(dict.fromkeys(inner)), registry, hint)
    optional = found is not None and any(isinstance(t, Optional) for t in known)
    return Optional(found) if optional and found is not None else found


def _common(types: list[Type], registry: Registry, hint: str) -> Type | None:
    if len(types) == 1:
        return types[0]
    if all(t in (INT, DECIMAL) for t in types):
        return DECIMAL
    enums = [t for t in types if isinstance(t, Enum)]
    if len(enums) == len(types):
        wires = tuple(dict.fromkeys(w for e in enums for w in e.wire))
        return registry.enum(hint, wires) if len(wires) <= MOST_MEMBERS else STRING
    if all(t == STRING or isinstance(t, Enum | Id) for t in types):
        return STRING
    lists = [t.item for t in types if isinstance(t, ListOf)]
    if len(lists) == len(types):
        item = unify(lists, registry, hint)
        return None if item is None else ListOf(item)
    maps = [t.value for t in types if isinstance(t, MapOf)]
    if len(maps) == len(types):
        value = unify(maps, registry, hint)
        return None if value is None else MapOf(STRING, value)
    records = [t for t in types if isinstance(t, RecordOf)]
    return _records(records, registry, hint) if len(records) == len(types) else None


def _records(records: list[RecordOf], registry: Registry, hint: str) -> Type | None:
    fields: dict[str, Type] = {}
    for name in dict.fromkeys(n for r in records for n, _ in r.fields):
        found = [r.field(name) for r in records]
        common = unify([t for t in found if t is not None], registry, f"{hint}{name.title().replace('_', '')}"[:60])
        if common is None:
            return None
        some = None in found and not isinstance(common, Optional)
        fields[name] = Optional(common) if some else common
    return registry.record(hint, tuple(fields.items()))
