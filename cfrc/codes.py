"""Turns the Markdown files in ``explanations/`` into one explanation for each stable code.

A file is a sequence of sections ``## CFRC-COV001 short title`` followed by free Markdown; what stands before the first
section introduces the area. Codes may be given with or without their prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from cfrc.data import data_dir

PREFIX = "CFRC-"

KINDS: Mapping[str, str] = MappingProxyType({
    "TYP": "typing", "AUT": "authority", "GRD": "grounding", "BND": "binding", "DEP": "dependency",
    "PRS": "preservation", "SCP": "scope", "COV": "coverage", "EVD": "evidence", "UND": "undecided", "NOTE": "note",
    "CON": "support", "LED": "ledger", "INP": "files", "JSN": "json", "SYN": "syntax", "NAM": "names",
    "EXP": "expressions", "IMP": "imports",
})  # fmt: skip
"""The letters of a code, and the word for what it is about: a finding's kind where it has one. The codes of other
letters go by the name of their file."""

_GROUP = re.compile(r"\n# [^\n]+\s*\Z")
_HEADING = re.compile(r"^## (CFRC-[A-Z]+\d{3})\s+(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"^## ([a-z]+)\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one code means. ``text`` is Markdown without the heading; ``area`` is the file's stem (``admission``)."""

    code: str
    title: str
    text: str
    area: str

    @property
    def letters(self) -> str:
        return self.code.removeprefix(PREFIX).rstrip("0123456789")

    @property
    def kind(self) -> str:
        return KINDS.get(self.letters, self.area)


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
        for head, end in _sections(_HEADING, text):
            code, title = head.groups()
            if code in found:
                raise ValueError(f"{code} is explained in {found[code].area}.md and again in {path.name}")
            body = _GROUP.sub("", text[head.end() : end])  # the title of the next group stands before its section
            found[code] = Explanation(code, title.strip(), body.strip(), path.stem)
    return MappingProxyType(found)


@cache
def words() -> Mapping[str, Explanation]:
    """What verdicts and outcomes mean, by their word (``fresh``, ``withheld``, ``held``)."""
    text = (data_dir("explanations") / "words.md").read_text(encoding="utf-8")
    return MappingProxyType({
        h[1]: Explanation(h[1], h[2].strip(), text[h.end() : end].strip(), "words")
        for h, end in _sections(_WORD, text)
    })  # fmt: skip


def _sections(heading: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The headings of a text, each with the place where its section ends."""
    heads = list(heading.finditer(text))
    return zip(heads, [*(h.start() for h in heads[1:]), len(text)], strict=False)


def about(word: str) -> tuple[Explanation, ...]:
    """The explanations under a kind (``coverage``), the letters of a code (``COV``) or an area (``admission``)."""
    plain = word.strip().lower()
    letters = plain.upper().removeprefix(PREFIX)
    every = explanations().values()
    found = tuple(e for e in every if plain == e.kind or letters == e.letters)
    return found or tuple(e for e in every if e.area == plain)


def near(word: str) -> list[str]:
    """What an unknown word may have been meant for, likeliest first: full codes and kinds."""
    from difflib import SequenceMatcher, get_close_matches

    bare = full(word).removeprefix(PREFIX)[:40]
    within = about(bare.rstrip("0123456789"))
    if within:
        return sorted((e.code for e in within), key=lambda c: -SequenceMatcher(None, bare, c[len(PREFIX) :]).ratio())[
            :3
        ]
    kinds = get_close_matches(bare.lower(), sorted({*KINDS.values(), *words()}), n=3, cutoff=0.6)
    return kinds + [full(c) for c in get_close_matches(bare, [c[len(PREFIX) :] for c in explanations()], n=3)]


def explain(code: str) -> Explanation:
    """The explanation of one code, given with or without prefix. Raises ``KeyError`` when there is none."""
    return explanations()[full(code)]
