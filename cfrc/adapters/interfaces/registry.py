"""Turns the shapes met in schemas into named types of one domain: the same shape once, different ones apart."""

from __future__ import annotations

from collections.abc import Iterable

from cfrc.adapters.interfaces.names import member, pascal, unique
from cfrc.model.types import Enum, Id, ListOf, MapOf, Optional, RecordOf, Type

MOST_MEMBERS = 200
LARGEST = 2_000
MOST_STEMS = 1_000


class Registry:
    """The names given so far. ``stems`` are what identifiers of the interface identify (from the names of members)."""

    def __init__(self, stems: Iterable[str], reserved: Iterable[str]) -> None:
        self.stems = sorted({s for s in stems if s}, key=lambda s: (len(s), s))[:MOST_STEMS]
        self._base: dict[str, str | None] = {}
        self.taken = set(reserved)
        self._ids: dict[str, Id] = {}
        self._sizes: dict[str, int] = {}
        self._shapes: dict[tuple[object, ...], Enum | RecordOf] = {}

    def _known(self, words: str) -> str | None:
        """The shortest identified thing that the words end in: a ``new_item`` is an ``item``, if there are items."""
        if words not in self._base:
            self._base[words] = next((s for s in self.stems if words == s or words.endswith(f"_{s}")), None)
        return self._base[words]

    def owner(self, words: str) -> str | None:
        """What a bare ``id`` of this owner identifies: its last known word, or the owner if that is short."""
        return self._known(words) or (words if words and words.count("_") < 2 else None)

    def id(self, stem: str) -> Id:
        """The type of identifiers of this."""
        base = self._known(stem) or stem
        if base not in self._ids:
            name = unique(pascal(base, "id"), self.taken)
            self.taken.add(name)
            self._ids[base] = Id(name)
        return self._ids[base]

    def enum(self, hint: str, wires: tuple[str, ...]) -> Enum:
        key = ("enum", frozenset(wires))
        found = self._shapes.get(key)
        if not isinstance(found, Enum):
            members: list[str] = []
            for wire in wires:
                members.append(unique(member(wire), members))
            found = Enum(self._name(hint), tuple(members), wires)
            self._shapes[key] = found
        return found

    def record(self, hint: str, fields: tuple[tuple[str, Type], ...]) -> RecordOf | None:
        """The record; ``None`` when it would be too large with everything in it (types are compared by structure)."""
        size = 1 + sum(self.size(t) for _, t in fields)
        if size > LARGEST:
            return None
        key = ("record", hint, fields)
        found = self._shapes.get(key)
        if not isinstance(found, RecordOf):
            found = RecordOf(self._name(hint), fields)
            self._shapes[key] = found
            self._sizes[found.name or ""] = size
        return found

    def size(self, t: Type) -> int:
        """How many types are written when every record is written out."""
        match t:
            case Optional(i) | ListOf(i):
                return self.size(i)
            case MapOf(_, v):
                return 1 + self.size(v)
            case RecordOf(name, _) if name is not None:
                return self._sizes[name]
        return 1

    def _name(self, hint: str) -> str:
        name = unique(hint, self.taken)
        self.taken.add(name)
        return name


def reachable(types: Iterable[Type]) -> list[Id | Enum | RecordOf]:
    """The named types that the types use, each once; what a record uses stands before it."""
    found: dict[Id | Enum | RecordOf, None] = {}
    stack: list[tuple[Type, bool]] = [(t, False) for t in reversed(list(types))]
    while stack:
        t, done = stack.pop()
        match t:
            case Id() | Enum():
                found.setdefault(t)
            case Optional(i) | ListOf(i):
                stack.append((i, False))
            case MapOf(k, v):
                stack += [(v, False), (k, False)]
            case RecordOf(name, fields) if done:
                if name is not None:
                    found.setdefault(t)
            case RecordOf(_, fields) if t not in found:
                stack.append((t, True))
                stack += [(f, False) for _, f in reversed(fields)]
    return list(found)
