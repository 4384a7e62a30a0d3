"""Turns one measurement into a row: what was measured, its time, its aim, and what peers needed for the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Row:
    """``ms`` is ``None`` when the measurement was cut off, that of a peer when it is not installed."""

    group: str
    name: str
    ms: float | None
    aim: float | None = None
    peers: Mapping[str, float | None] = field(default_factory=dict)
    note: str = ""
    megabytes: float | None = None

    @property
    def of_aim(self) -> float | None:
        """How many times the aim; below 1 the aim is met."""
        return None if self.ms is None or self.aim is None else self.ms / self.aim

    def ratio(self, peer: str) -> float | None:
        """How many times the peer's time; below 1 the peer is slower."""
        theirs = self.peers.get(peer)
        return None if self.ms is None or not theirs else self.ms / theirs

    def json(self) -> dict[str, object]:
        return {
            "group": self.group,
            "name": self.name,
            "ms": self.ms,
            "aim_ms": self.aim,
            "of_aim": self.of_aim,
            "peers": {p: {"ms": ms, "ratio": self.ratio(p)} for p, ms in self.peers.items()},
            "megabytes": self.megabytes,
            "note": self.note,
        }
