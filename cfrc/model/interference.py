"""Turns the footprints of executed calls into pairs that interfere: unordered by pred⁺, and not independent (PRS007).

Every resource keeps two bitsets of nodes, readers and writers. A new call meets only those of its resources' users that
are not among its ancestors, so that ordered calls cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.model.footprint import Footprint, Key, conflict
from cfrc.model.plan import NodePlan


@dataclass(slots=True)
class Interference:
    """The calls executed so far in one run, by what they touched."""

    readers: dict[Key, int] = field(default_factory=dict)
    writers: dict[Key, int] = field(default_factory=dict)
    prints: dict[int, list[Footprint]] = field(default_factory=dict)
    executed: int = 0
    opaque: int = 0

    def add(self, entry: NodePlan, footprint: Footprint) -> Iterator[tuple[int, Key]]:
        """Adds a call; yields (position, resource) for every earlier call that it interferes with."""
        own = 1 << entry.position
        rest = self.executed & ~entry.before & ~own
        if rest:
            yield from self._meet(footprint, rest)
        readers, writers = self.readers, self.writers
        for key in footprint.reads:
            readers[key] = readers.get(key, 0) | own
        for key in footprint.writes:
            writers[key] = writers.get(key, 0) | own
        self.prints.setdefault(entry.position, []).append(footprint)
        self.executed |= own
        if footprint.opaque:
            self.opaque |= own

    def _meet(self, footprint: Footprint, rest: int) -> Iterator[tuple[int, Key]]:
        if footprint.opaque:
            met = rest
        else:
            met = self.opaque
            for key in footprint.reads:
                met |= self.writers.get(key, 0)
            for key in footprint.writes:
                met |= self.writers.get(key, 0) | self.readers.get(key, 0)
            met &= rest
        while met:
            low = met & -met
            met ^= low
            position = low.bit_length() - 1
            for other in self.prints[position]:
                found = conflict(footprint, other)
                if found is not None:
                    yield position, found
                    break
