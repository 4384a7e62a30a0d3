"""Turns the Markdown files in ``explanations/`` into one explanation for each stable code.

A file is a sequence of sections ``## CFRC-COV001 short title`` followed by free Markdown; what stands before the first
section introduces the area. Codes may be given with or without their prefix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from cfrc.data import data_dir

PREFIX = "CFRC-"
_GROUP = re.compile(r"\n# [^\n]+\s*\Z")
_HEADING = re.compile(r"^## (CFRC-[A-Z]+\d{3})\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one code means. ``text`` is Markdown without the heading; ``area`` is the file's stem (``admission``)."""

    code: str
    title: str
    text: str
    area: str


def full(code: str) -> str:
    """A code with its prefix: ``COV001`` and ``cfrc-cov001`` both become ``CFRC-COV001``."""
    bare = code.strip().upper()
    return bare if bare.startswith(PREFIX) else PREFIX + bare


@cache
def explanations() -> Mapping[str, Explanation]:
    """All explanations by full code, in the order of the files' names and their sections.

    Raises ``ValueError`` when a code is explained twice.
    """
    found: dict[str, Explanation] = {}
    for path in sorted(data_dir("explanations").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        heads = list(_HEADING.finditer(text))
        for head, end in zip(heads, [h.start() for h in heads[1:]] + [len(text)], strict=True):
            code, title = head.groups()
            if code in found:
                raise ValueError(f"{code} is explained in {found[code].area}.md and again in {path.name}")
            body = _GROUP.sub("", text[head.end() : end])  # the title of the next group stands before its section
            found[code] = Explanation(code, title.strip(), body.strip(), path.stem)
    return MappingProxyType(found)


def explain(code: str) -> Explanation:
    """The explanation of one code, given with or without prefix. Raises ``KeyError`` when there is none."""
    return explanations()[full(code)]
