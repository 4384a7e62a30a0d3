"""``echoes p`` says that the field equals the parameter, wherever it stands, once, and without showing in any text."""

from __future__ import annotations

import pytest

from cfrc.lang.format import format_source
from cfrc.lang.load import load
from cfrc.lang.unparse import unparse
from cfrc.model.domain import Tool
from cfrc.source import Source


def tool(declaration: str) -> Tool:
    text = f"domain d\n    id A\n    enum E {{ a, b }}\n    record R {{ x: A }}\n    {declaration}\n"
    (found,) = load(Source("<test>", text)).domains["d"].tools.values()
    return found


@pytest.mark.parametrize(
    ("declaration", "paths", "ensures"),
    [
        ("read t(x: A) -> { y: A echoes x }", [("y",)], ["result.y == x"]),
        ("read t(x: A) -> { r: { y: A echoes x }, z: A }", [("r", "y")], ["result.r.y == x"]),
        ("read t(x: A, w: int) -> { y: A echoes x, v: decimal echoes w }", [("y",), ("v",)],
         ["result.y == x", "result.v == w"]),
        ("read t(x: R) -> { y: R echoes x }", [("y",)], ["result.y == x"]),
        ("read t(a: E) -> { a: E echoes a }", [("a",)], ["result.a == a"]),
        ("read t(x: A) -> { y: A? echoes x }", [("y",)], ["result.y == absent or result.y == x"]),
        ("read t(x: A?) -> { y: A echoes x }", [("y",)], ["x == absent or result.y == x"]),
        ("read t(x: A?) -> { y: A? echoes x }", [("y",)], ["result.y == x"]),
        ("read t(x: A) -> { r: { y: A echoes x }? }", [("r", "y")], ["result.r == absent or result.r.y == x"]),
        ("read t(x: A) -> list[{ y: A echoes x }]", [("y",)], ["all(element0.y == x for element0 in result)"]),
        ("read t(element0: A) -> { m: map[int, { y: A echoes element0 }] }", [("m", "y")],
         ["all(element1.y == element0 for element1 in values(result.m))"]),
    ],
)  # fmt: skip
def test_what_an_echo_says(declaration: str, paths: list[tuple[str, ...]], ensures: list[str]) -> None:
    found = tool(declaration)
    assert list(found.echoes) == paths
    assert [unparse(e) for e in found.ensures] == ensures


@pytest.mark.parametrize("written", ["result.y == x", "x == result.y", "x == x and result.y == x"])
def test_what_is_written_is_not_added_again(written: str) -> None:
    found = tool(f"read t(x: A) -> {{ y: A echoes x }} ensures {written}")
    assert [unparse(e) for e in found.ensures] == [written]


def test_what_is_added_says_the_same_as_what_is_written() -> None:
    echoed = tool("read t(x: A) -> { y: A echoes x }")
    written = tool("read t(x: A) -> { y: A echoes x } ensures result.y == x")
    assert echoed == written


def test_what_is_added_comes_last_and_does_not_show() -> None:
    text = "domain d\n    read t(x: int) -> { y: int echoes x, z: int }\n        ensures result.z > x\n"
    (found,) = load(Source("<test>", text)).domains["d"].tools.values()
    assert [unparse(e) for e in found.ensures] == ["result.z > x", "result.y == x"]
    assert format_source(Source("<test>", text)) == text
