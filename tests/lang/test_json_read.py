"""The bounded JSON reader: exact, placed, and hostile to everything that two readers could read differently."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.lang.jsonread import MAX_DEPTH, Json, JsonProblem, read_json, wrap
from cfrc.source import Source


def read(text: str) -> Json:
    return read_json(Source("<test>", text))


def plain(j: Json) -> Any:
    if isinstance(j.value, list):
        return [plain(v) for v in j.value]
    if isinstance(j.value, dict):
        return {k: plain(v) for k, v in j.value.items()}
    return j.value


def problem(text: str) -> JsonProblem:
    with pytest.raises(JsonProblem) as caught:
        read(text)
    return caught.value


def test_values_know_their_places() -> None:
    j = read('{"a": [1, "x"],\n "b": {"c": null}}')
    assert isinstance(j.value, dict)
    inner = j.value["b"].value
    assert isinstance(inner, dict)
    place = inner["c"].span
    assert place is not None and place.text == "null" and (place.line, place.column) == (2, 13)
    assert j.keys["b"].text == '"b"'


def test_decimals_are_exact() -> None:
    assert plain(read("[0.1, 1e2, -5, 120.00]")) == [Fraction(1, 10), Fraction(100), -5, Fraction(120)]


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("", "JSN001", "end of the text"),
        ("[1,]", "JSN001", "trailing comma"),
        ('{"a":1,}', "JSN001", "trailing comma"),
        ("[1 2]", "JSN001", "expected `,`"),
        ("NaN", "JSN001", "NaN"),
        ("-Infinity", "JSN001", "-Infinity"),
        ("[01]", "JSN001", "01"),
        ("1.", "JSN001", "1."),
        ("+1", "JSN001", "+1"),
        ("0x10", "JSN001", "0x10"),
        ("١", "JSN001", "JSON number"),
        ("{'a': 1}", "JSN001", "double quotes"),
        ('"abc', "JSN001", "not closed"),
        ('"a\nb"', "JSN001", "not closed"),
        ('"a\x1bb"', "JSN001", "U+001B"),
        ('"\\x41"', "JSN001", "escape"),
        ('"\\u12"', "JSN001", "escape"),
        ('"\\', "JSN001", "escape"),
        ("[1] x", "JSN001", "after the end"),
        ("[", "JSN001", "end of the text"),
        ('{"a"', "JSN001", "end of the text"),
        ('{"a":1, "a":2}', "JSN003", "duplicate"),
        ('{"a":1, "\\u0061":2}', "JSN003", "duplicate"),
        ("1" * 101, "JSN005", "too large"),
        ("1e999999999999999999", "JSN005", "too large"),
        ("1e-101", "JSN005", "too large"),
        ('"\\ud800"', "JSN006", "surrogate"),
        ('"\ud800"', "JSN006", "surrogate"),
        ('"\\udc00\\ud800"', "JSN006", "surrogate"),
        ("[" * (MAX_DEPTH + 1), "JSN004", "nesting"),
        ("[" * 100_000, "JSN004", "nesting"),
        ('{"a":' * 100_000, "JSN004", "nesting"),
    ],
)
def test_what_is_refused(text: str, code: str, word: str) -> None:
    found = problem(text)
    assert found.code == code
    assert word in found.message
    assert 0 <= found.span.start <= found.span.end <= len(text)


def test_surrogate_pairs_are_one_character() -> None:
    assert read('"\\ud83d\\ude00"').value == "😀"


def test_depth_within_the_bound() -> None:
    assert plain(read("[" * MAX_DEPTH + "]" * MAX_DEPTH)) is not None


plain_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**50), 10**50) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(plain_json, st.booleans())
def test_reads_what_json_writes(value: Any, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii, indent=1)
    try:
        assert plain(read(text)) == value
    except JsonProblem as found:
        assert (found.code == "JSN006" and any(0xD800 <= ord(c) < 0xE000 for c in repr(value) + text)) or "\\ud" in text
    else:
        assert plain(wrap(value)) == value


@given(st.text(alphabet='[]{}",:\\u0123456789abdefntrls.-+ \n\tE\ud800é', max_size=40))
def test_never_anything_but_a_problem(text: str) -> None:
    try:
        got = plain(read(text))
    except JsonProblem as found:
        assert found.message and 0 <= found.span.start <= found.span.end <= len(text)
    else:
        # What is accepted, the standard reader reads the same way.
        assert json.loads(text, parse_float=Fraction, parse_int=int) == got
