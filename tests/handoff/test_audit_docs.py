"""What the documentation says about auditing is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_docs import agrees, transcript

pytest.importorskip("scipy.stats")

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "handoff.md").read_text(encoding="utf-8").partition("\n## Audit")[2].partition("\n## ")[0]


def blocks(language: str) -> list[str]:
    found = re.findall(rf"(?<=^```{language}\n).*?(?=^```$)", SECTION, re.MULTILINE | re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize("block", blocks("console"))
def test_commands(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert agrees(block, transcript(block))


@pytest.mark.parametrize("block", blocks("python"))
def test_python(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "docs/handoff.md", "exec"), {})
