"""Turns the examples in the explanations into spec texts: each continues the first example of its area."""

from __future__ import annotations

import re

from cfrc.codes import explanations
from cfrc.data import data_dir

_FENCE = re.compile(r"^```cfrc\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def opening(area: str) -> str:
    """The examples before the first explanation of an area: what the others continue. Empty when there are none."""
    text = (data_dir("explanations") / f"{area}.md").read_text(encoding="utf-8")
    return "\n".join(_FENCE.findall(text.partition("\n## CFRC-")[0]))


def examples() -> list[tuple[str, str]]:
    """Each example as (code, whole spec text)."""
    return [(e.code, f"{opening(e.area)}\n{text}") for e in explanations().values() for text in _FENCE.findall(e.text)]
