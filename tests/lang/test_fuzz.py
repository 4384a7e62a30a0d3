"""Hostile texts: whatever the bytes, the answer is a tree and diagnostics, soon, and never an exception."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfrc.lang.format import format_file
from cfrc.lang.lexer import MAX_TOKENS, lex
from cfrc.lang.parse import parse_expression, parse_file
from cfrc.lang.tree import walk
from cfrc.source import Source
from tests.lang.texts import DESIGN, EVERYTHING, SURFACES

WORDS = sorted(
    {w for text in (DESIGN, EVERYTHING, SURFACES) for w in text.replace("(", " ( ").replace(",", " , ").split()}
)
PIECES = [
    *WORDS,
    *'()[]{},:=<>+*-.|?#"\\',
    "\n",
    "    ",
    "_",
    "\x00",
    "é",
    "“",
    "5s",
    "1e5",
    "not",
    "any",
    "any of",
    "..",
    "->",
]


def survives(text: str) -> None:
    source = Source("x", text)
    file, found = parse_file(source)
    for d in found:
        assert d.span is not None and 0 <= d.span.start <= d.span.end <= len(text)
        assert d.message and not d.message.endswith(".") and str(d)
        assert d.code.startswith("SYN")
    for node in walk(file):
        assert 0 <= node.span.start <= node.span.end <= len(text)
    formatted, again = format_file(source)
    assert again == found
    if found:
        assert formatted == text
    else:
        assert parse_file(Source("x", formatted))[0] == file
        assert format_file(Source("x", formatted))[0] == formatted


@settings(max_examples=300)
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    survives(text)
    parse_expression(Source("x", text))


@settings(max_examples=200)
@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    survives(data.decode("latin-1"))
    survives(data.decode("utf-8", "surrogateescape"))


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_any_words_of_the_language(text: str) -> None:
    survives(text)
    survives("contract c for d\n    owes x: " + text)
    survives("domain d\n    read f(x: T)\n        requires " + text)
    survives("proposal p for c\n    x = " + text)


@settings(max_examples=200)
@given(st.data())
def test_a_valid_file_with_pieces_cut_out_put_in_and_swapped(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([DESIGN, EVERYTHING, SURFACES]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        text = text[:start] + data.draw(st.sampled_from([*PIECES, ""])) + text[end:]
    survives(text)


@settings(max_examples=100)
@given(st.data())
def test_parsing_a_part_stays_inside_it(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(DESIGN)))
    end = data.draw(st.integers(start, len(DESIGN)))
    value, found = parse_expression(Source("x", DESIGN), start, end)
    assert (value is None) == bool(found)
    for d in found:
        assert d.span is not None and start <= d.span.start <= d.span.end <= end


BIG = 200_000


@pytest.mark.parametrize(
    "text",
    [
        "(" * BIG,
        "f(" * BIG,
        '"' * BIG,
        '"\\' * BIG,
        "-" * BIG,
        "a." * BIG,
        "not " * BIG,
        "domain " * BIG,
        "check " * BIG,
        "\n" * BIG,
        "#" * BIG,
        "# x\n" * BIG,
        "1" * BIG,
        "é" * BIG,
        "domain d\n" + "    sets x\n" * (BIG // 10),
        "domain d\n    effect e(" + "x: {a: " * 150 + "\n    sets x\n" * (BIG // 10),
        "contract c for d\n    owes x: " + "(" * 150 + "\n    approved\n" * (BIG // 10),
        "proposal p for c\n" + "    x == 1\n" * (BIG // 10),
        "proposal p for c\n    x = f(" + "(" * 150 + "\n    y = \n" * (BIG // 10),
    ],
    ids=lambda t: repr(t[:12]),
)
def test_large_hostile_texts_are_answered_soon(text: str) -> None:
    start = time.process_time()
    parse_file(Source("x", text))
    parse_expression(Source("x", text))
    assert time.process_time() - start < 10


def test_the_number_of_tokens_is_bounded() -> None:
    found = lex(Source("x", "a " * (MAX_TOKENS + 10))).diagnostics
    assert [d.code for d in found] == ["SYN012"]
