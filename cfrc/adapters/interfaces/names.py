"""Turns names that anybody may have chosen into names of the language, and keeps them apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", re.ASCII)
_ID = re.compile(r"(?:(.*?)_?)(?:ids?|Ids?|IDs?)", re.ASCII)
LONGEST = 60


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text != "_" and len(text) <= 200


def spelled(text: str) -> str:
    """The text as a name: everything else becomes ``_``. Different texts may become one name."""
    if is_name(text):
        return text
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text, flags=re.ASCII).strip("_")[:LONGEST] or "unnamed"
    return name if not name[0].isdigit() else f"n_{name}"


def pascal(*texts: str) -> str:
    """``order_id`` and ``orderId`` become ``OrderId``. Always a name, never longer than :data:`LONGEST`."""
    words = [w for text in texts for w in _WORD.findall(text)]
    name = "".join(w[0].upper() + w[1:] for w in words)[:LONGEST]
    return name if name and not name[0].isdigit() else f"T{name}"


def member(wire: str) -> str:
    """A member of an enum for a wire spelling. Words that are values of their own are not members."""
    name = spelled(wire) if wire else "empty"
    if not is_name(wire):
        name = name.lower()
    return f"v_{name}" if name in ("true", "false", "absent") else name


def unique(name: str, taken: Collection[str]) -> str:
    """The name, or with the first number from 2 that makes it new."""
    found, n = name, 2
    while found in taken:
        found, n = f"{name}{n}", n + 1
    return found


def declared_names(published: Iterable[str]) -> dict[str, str]:
    """A name of the language for each tool, in order; names that are names stay, and no two are the same."""
    published = list(published)
    names = {n: n for n in published if is_name(n)}
    for name in published:
        if name not in names:
            names[name] = unique(spelled(name), set(names.values()))
    return names


def stem(name: str) -> str | None:
    """What a name that ends in ``_id`` or ``Ids`` identifies (snake case), or ``None``. Bare ``id`` is ``""``."""
    if not re.search(r"(?:^|_)ids?$|[a-z0-9](?:Ids?|IDs?)$", name):
        return None
    match = _ID.fullmatch(name)
    assert match is not None
    return "_".join(words(match[1] or ""))


def words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]
