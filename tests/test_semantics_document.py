"""What the code cites of ``docs/semantics.md`` is there, and the document names every kind of finding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from cfrc.codes import explanations
from cfrc.model.graph import Kind
from cfrc.model.verdict import Status

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "semantics.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
_CITED = re.compile(r"`?docs/semantics\.md`*((?:,? (?:and )?§\d+(?: \(\w+\))?)*)")
_HEADING = re.compile(r"^## (\d+)\. ", re.MULTILINE)
_ELSEWHERE = re.compile(r"(?<!docs/)(?:semantics|design)\.md")
PLACES = ("cfrc", "tests", "grammars", "benchmarks", "proofs", "docs")


def files() -> list[Path]:
    found = [
        p for place in PLACES for p in sorted((ROOT / place).rglob("*")) if p.suffix in (".py", ".lark", ".md", ".smt2")
    ]
    return [p for p in [*found, ROOT / "README.md", ROOT / "ARCHITECTURE.md"] if p != Path(__file__)]


def test_every_cited_section_exists() -> None:
    sections = set(_HEADING.findall(TEXT))
    cited = {
        (path.name, section)
        for path in files()
        for tail in _CITED.findall(path.read_text(encoding="utf-8"))
        for section in re.findall(r"§(\d+)", tail)
    }
    assert len(cited) > 40 and {section for _, section in cited} <= sections, cited


def test_no_document_is_cited_that_is_not_in_the_tree() -> None:
    stray = {
        str(p.relative_to(ROOT)) for p in files() if p != DOCUMENT and _ELSEWHERE.search(p.read_text(encoding="utf-8"))
    }
    assert not stray


def test_it_names_every_kind_status_and_only_codes_that_exist() -> None:
    assert all(f"`{kind}`" in TEXT for kind in get_args(Kind))
    assert all(status.word in TEXT for status in Status)
    assert {f"CFRC-{c}" for c in re.findall(r"\b[A-Z]{3}\d{3}\b", TEXT)} <= set(explanations())


def test_its_links_resolve_and_the_readme_leads_to_it() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (DOCUMENT.parent / target).exists(), target
    assert "docs/semantics.md" in (ROOT / "README.md").read_text(encoding="utf-8")
