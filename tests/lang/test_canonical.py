"""RFC 8785: the RFC's own examples, and that a canonical text reads back to the same value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.lang.canonical import canonical_json, digest


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, False]}, '{"a":[null,true,false],"b":1}'),
        ("\u20ac$\u000f\nA'B\"\\\\\"/", '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (0.000000000000000000000000001, "1e-27"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (9007199254740991, "9007199254740991"),
        # RFC 8785 section 3.2.3: order by UTF-16 code units.
        ({"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7},
         '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'),
    ],
)  # fmt: skip
def test_rfc_examples(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {"\udc00": 1}])
def test_what_has_no_canonical_text_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)


def test_other_objects_are_no_json() -> None:
    with pytest.raises(TypeError):
        canonical_json({1, 2})


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=12,
)  # fmt: skip


@given(plain)
def test_it_reads_back(value: object) -> None:
    # A large float prints as digits only, which Python reads as an integer; JSON knows no difference.
    assert as_floats(json.loads(canonical_json(value))) == as_floats(value)


def as_floats(value: object) -> object:
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case list():
            return [as_floats(v) for v in value]
        case dict():
            return {k: as_floats(v) for k, v in value.items()}
    return value


@given(st.dictionaries(st.text("abc"), st.integers(0, 5)))
def test_member_order_does_not_matter(value: dict[str, int]) -> None:
    assert digest(value) == digest(dict(reversed(list(value.items()))))
