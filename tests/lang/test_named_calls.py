"""``of tool(…)`` and ``trust tool(…)``: what is said of a call is said by position, and nothing is read as more."""

from __future__ import annotations

import pytest

from cfrc.lang.diagnostics import SpecError
from cfrc.lang.load import load
from cfrc.model.contract import Contract, Origin
from cfrc.source import Source

DOMAIN = """
domain d
    id A canonical lower
    read r(a: A, s: string? = absent) -> { b: A }
    read clock() -> { b: A }
    write w(a: A)
        causes nothing
"""


def contract(items: str) -> Contract:
    text = f'{DOMAIN}contract c for d\n    fixed x: A = "One" from user\n    {items}\n'
    return load(Source("<test>", text)).contracts["c"]


@pytest.mark.parametrize(
    ("written", "args"),
    [
        ("of r", None),
        ("of r()", (None, None)),
        ("of r(x)", ("one", None)),
        ('of r(_, "s")', (None, "s")),
        ('of r(s: "s", a: "TWO")', ("two", "s")),
        ("of r(a: _)", (None, None)),
        ("of clock()", ()),
    ],
)
def test_what_an_origin_says_of_its_call(written: str, args: tuple[str | None, ...] | None) -> None:
    name = contract(f'known y: A = "y" from receipt c0.b {written} quoted 1..2').names["y"]
    tool = written.removeprefix("of ").partition("(")[0]
    assert name.origin == Origin("receipt", receipt="c0", tool=tool, path=("b",), quoted=(1, 2), args=args)


def test_origins_of_other_items_name_their_call_too() -> None:
    c = contract('denied w(_) from receipt c2 of r(_, "q") success')
    assert c.approvals[0].origin == Origin("receipt", receipt="c2", tool="r", args=(None, "q"), status="success")


@pytest.mark.parametrize("item", [
    'known y: A = "y" from receipt c0 of r(x, absent)',
    "trust r(x, absent) for w.a",
    "trust r(s: absent) for w.a",
])  # fmt: skip
def test_absent_is_not_read_as_any(item: str) -> None:
    with pytest.raises(SpecError) as caught:
        contract(item)
    assert [d.code for d in caught.value.diagnostics] == ["EXP005"]
