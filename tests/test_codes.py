"""Every code that the source uses has exactly one explanation, and the other way round; their examples are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cfrc.codes import Explanation, explain, explanations, full

PACKAGE = Path(__file__).parent.parent / "cfrc"
AREAS = "INP|SYN|NAM|EXP|IMP|JSN|TYP|AUT|GRD|BND|DEP|PRS|SCP|COV|EVD|UND|CON|LED|NOTE|TRN|IFC|RUN|JRN|CLO|FRZ|AUD"
_USED = re.compile(rf"""["'](?:CFRC-)?((?:{AREAS})\d{{3}})["']""")
_ANY = re.compile(r"CFRC-[A-Z]+\d{3}")


def used() -> dict[str, str]:
    """Each full code that the source mentions as a string, with a file that does."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for code in _USED.findall(text):
            found.setdefault(full(code), str(path.relative_to(PACKAGE)))
    return found


def test_every_code_that_is_used_is_explained() -> None:
    missing = {code: file for code, file in used().items() if code not in explanations()}
    assert not missing


def test_every_explanation_is_of_a_code_that_is_used() -> None:
    assert not set(explanations()) - set(used())


def test_every_code_mentioned_in_an_explanation_exists() -> None:
    for e in explanations().values():
        assert set(_ANY.findall(e.text)) <= set(explanations()), e.code


@pytest.mark.parametrize("e", explanations().values(), ids=lambda e: e.code)
def test_explanations_are_written_for_people(e: Explanation) -> None:
    assert len(e.title) < 60 and not e.title.endswith(".")
    assert len(e.text) > 40
    assert not e.text.splitlines()[-1].startswith("#")


def test_codes_are_found_in_any_spelling() -> None:
    assert explain("cov001") is explain("CFRC-COV001")
    with pytest.raises(KeyError):
        explain("COV999")
