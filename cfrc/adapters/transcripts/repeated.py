"""Turns a log of whole requests, each with the conversation so far, into that conversation once.

Calls with ids would be told from their repetitions anyway; messages have no ids, and a turn must not count twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.adapters.transcripts import shape
from cfrc.lang.jsonread import Json

_IDS = ("id", "call_id", "tool_call_id", "tool_use_id")
Key = tuple[str, str, tuple[str, ...]]


class Conversation:
    """What was said so far. A request that continues it says only its rest; one that does not (after a compaction, or
    of another conversation) says all of it again: nothing is lost by reading too much."""

    def __init__(self) -> None:
        self._said: list[Key] = []

    def rest(self, messages: Sequence[Json]) -> Sequence[Json]:
        """The messages of a request that were not said yet."""
        keys = [_key(m) for m in messages]
        known = min(len(keys), len(self._said))
        if keys[:known] != self._said[:known]:
            known = 0
            self._said = []
        self._said += keys[known:]
        return messages[known:]

    def says(self, message: Json) -> None:
        """A response, which the next request repeats."""
        self._said.append(_key(message))


def _key(message: Json) -> Key:
    """Who says it, its text, and the ids in it: what is the same in a response and in its repetition."""
    members = message.value if isinstance(message.value, dict) else {}
    ids = [i for n in _IDS[1:] if (i := shape.string(members, n)) is not None]
    text = []
    for name in ("content", "tool_calls"):
        found = members.get(name)
        if found is not None and isinstance(found.value, str):
            text.append(found.value)
        for part in found.value if found is not None and isinstance(found.value, list) else []:
            inner = part.value if isinstance(part.value, dict) else {}
            own = [i for n in _IDS if (i := shape.string(inner, n)) is not None]
            ids += own
            text.append(shape.part_text(part) or ("" if own else str(shape.plain(part))))
    legacy = members.get("function_call")
    if legacy is not None and legacy.value is not None:  # a call without an id is told by all of it
        text.append(str(shape.plain(legacy)))
    return shape.string(members, "role") or "", "\n".join(t for t in text if t).strip(), tuple(ids)
