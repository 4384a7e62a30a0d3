"""Diagnostics: order, limit, guesses, and user input that cannot break a message."""

from __future__ import annotations

import pytest

from cfrc.lang.diagnostics import Diagnostic, SpecError, closest, did_you_mean, has_errors, in_order, limited, quoted
from cfrc.source import Source, Span

SOURCE = Source("x.cfrc", "abc\ndef\n")


def at(start: int, code: str = "SYN001", **more: object) -> Diagnostic:
    return Diagnostic(code, "message", Span(SOURCE, start, start + 1), **more)  # type: ignore[arg-type]


def test_they_come_in_the_order_of_their_places_each_once() -> None:
    nowhere = Diagnostic("INP001", "no file")
    other = Diagnostic("SYN001", "message", Span(Source("y", ""), 0, 0))
    assert in_order([at(5), other, at(1), nowhere, at(5)]) == (nowhere, at(1), at(5), other)


def test_errors_come_before_warnings_when_not_all_fit() -> None:
    many = [at(i % 7, f"SYN{i:03}", severity="warning" if i < 60 else "error") for i in range(80)]
    shown, left = limited(many, 30)
    assert len(shown) == 30 and left == 50
    assert sum(d.severity == "error" for d in shown) == 20
    assert limited(many, 100) == (in_order(many), 0)


def test_an_error_carries_its_diagnostics_and_reads_well() -> None:
    error = SpecError([at(4, help="do this")])
    assert error.diagnostics[0].code == "SYN001"
    assert str(error) == "x.cfrc:2:1: error[CFRC-SYN001]: message (help: do this)"
    assert has_errors(error.diagnostics) and not has_errors([at(0, severity="note")])


@pytest.mark.parametrize(
    ("word", "among", "found"),
    [
        ("domian", ["domain", "contract"], "domain"),
        ("Invoice", ["invoice", "invoices"], "invoice"),
        ("zzz", ["domain"], None),
        ("", ["a"], None),
        ("x" * 10_000, ["x"], None),
    ],
)
def test_the_closest_candidate(word: str, among: list[str], found: str | None) -> None:
    assert closest(word, among) == found


def test_did_you_mean_or_else() -> None:
    assert did_you_mean("domian", ["domain"]) == "did you mean `domain`?"
    assert did_you_mean("q", ["domain"], "declare it") == "declare it"


def test_user_input_in_messages_is_harmless() -> None:
    assert quoted("a`b\x1b[31m\n") == "`a\\u{60}b\\u{1b}[31m\\u{a}`"
    assert quoted("x" * 100) == f"`{'x' * 40}…`"
    assert quoted("\u202eevil") == "`\\u{202e}evil`"


def test_a_word_is_never_its_own_suggestion() -> None:
    assert did_you_mean("import", ["import"]) is None
    assert did_you_mean("import", ["import", "imports"]) == "did you mean `imports`?"
    assert did_you_mean("Import", ["import"]) == "did you mean `import`?"
