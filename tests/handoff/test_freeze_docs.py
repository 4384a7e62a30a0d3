"""What the documentation says about freezing is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_docs import agrees, transcript

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "handoff.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Freeze") : PAGE.index("## Close")]


@pytest.mark.parametrize("block", re.findall(r"(?<=^```console\n).*?(?=^```$)", SECTION, re.MULTILINE | re.DOTALL))
def test_commands(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert agrees(block, transcript(block))


@pytest.mark.parametrize("block", re.findall(r"(?<=^```python\n).*?(?=^```$)", SECTION, re.MULTILINE | re.DOTALL))
def test_python(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "docs/handoff.md", "exec"), {})
