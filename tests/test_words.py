"""Every word that a verdict or an outcome begins with is explained."""

from __future__ import annotations

from typing import get_args

import pytest

from cfrc.codes import explanations, words
from cfrc.handoff.running.run import Kind
from cfrc.model.verdict import Status
from tests.cli.run import run

SAID = sorted({s.word for s in Status} | set(get_args(Kind)) | {"supported", "invalid", "vacuous", "unfinished"})


@pytest.mark.parametrize("word", SAID)
def test_every_word_is_explained(word: str) -> None:
    done = run("explain", word.upper())
    assert done.code == 0 and done.out.startswith(f"{word} {words()[word].title}\n") and words()[word].text in done.out


def test_there_are_no_others_and_none_is_a_code() -> None:
    assert sorted(words()) == SAID and not set(words()) & set(explanations())
    wrong = run("explain", "freshh")
    assert wrong.code == 2 and "did you mean fresh?" in wrong.err


def test_a_status_is_its_word_as_text() -> None:
    assert [str(s) for s in Status] == [f"{s}" for s in Status] == [s.word for s in Status]
    assert f"{Status.ADMITTED:>10}" == "  admitted" and Status.REFUSED > Status.ADMITTED and int(Status.REFUSED) == 4
