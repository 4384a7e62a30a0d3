"""Escaping: whatever goes in, one printable line comes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.report.escape import clip, columns, lookalikes, message, plain_glyphs, safe

everything = st.text(st.characters(exclude_categories=()))  # lone surrogates too


@given(everything)
def test_safe_text_is_one_printable_line(text: str) -> None:
    assert safe(text).isprintable()
    assert safe(safe(text)) == safe(text)


@given(everything, st.integers(1, 50))
def test_clipped_text_is_safe_and_short(text: str, limit: int) -> None:
    shown = clip(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit * 10 + 40
    if len(text) > limit:
        assert shown.endswith(f"… ({len(text):,} characters)")


@given(everything)
def test_messages_are_safe(text: str) -> None:
    assert message(text).isprintable()


def test_a_long_quoted_value_is_cut_inside_its_backticks() -> None:
    shown = message(f"`{'x' * 1_000}` differs from `y`")
    assert shown.endswith("… (1,000 characters)` differs from `y`")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\u{1b}[31m"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202e\u2066\u200b\ufeff", "\\u{202e}\\u{2066}\\u{200b}\\u{feff}"),
        ("\ud800", "\\u{d800}"),
        ("a\u00a0b\u2028c", "a\\u{a0}b\\u{2028}c"),
        ("\U000e0041", "\\u{e0041}"),
        ("plain [bold]ünïcode[/] 注文", "plain [bold]ünïcode[/] 注文"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_columns_count_what_a_terminal_shows() -> None:
    assert columns("abc") == 3
    assert columns("注文") == 4
    assert columns("e\u0301") == 1


def test_drawings_have_an_ascii_form() -> None:
    assert plain_glyphs("  ┌─ a │ ▶ ✓ ○ ← … ×").isascii()


@pytest.mark.parametrize("word", ["INV-42", "Łódź", "Сообщение", "注文42", "μ1"[1:], "naïve"])
def test_words_of_one_script_imitate_nothing(word: str) -> None:
    assert lookalikes(word) == []


def test_mixed_scripts_are_named() -> None:
    assert lookalikes("pаypal") == ["`а` is U+0430 CYRILLIC SMALL LETTER A"]
