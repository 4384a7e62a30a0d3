"""Typed values in JSON: every value of every type reads back exactly, and nothing else is taken for it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.lang import scalars
from cfrc.lang.jsonread import read_json, wrap
from cfrc.lang.jsonvalues import Mismatch, from_json, to_json
from cfrc.lang.unparse import unparse_value
from cfrc.model.canon import canonical
from cfrc.model.types import (
    BOOL,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    STRING,
    TEXT,
    TIME,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    RecordOf,
    Type,
)
from cfrc.model.values import Value, bag, mapping, record
from cfrc.source import Source

STATUS = Enum("Status", ("open", "void"), ("open", "voided"))
MAIL = Id("Mail", ("trim", "lower"))
LEAVES: dict[Type, st.SearchStrategy[Value]] = {
    BOOL: st.booleans(),
    INT: st.integers(-(2**70), 2**70),
    DECIMAL: st.fractions(max_denominator=10**6),
    STRING: st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    DATE: st.dates(),
    TIME: st.datetimes(min_value=datetime(1900, 1, 1), timezones=st.just(UTC)),
    DURATION: st.timedeltas(timedelta(days=-10000), timedelta(days=10000)),
    STATUS: st.sampled_from(STATUS.members),
    MAIL: st.text("abc@", max_size=4),
}


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[Type, Value]:
    """A type and a canonical value of it."""
    kinds = ["leaf"] if depth == 0 else ["leaf", "optional", "list", "bag", "map", "record"]
    match draw(st.sampled_from(kinds)):
        case "optional":
            t, v = draw(typed(depth - 1))
            return (t, v) if isinstance(t, Optional) else (Optional(t), draw(st.sampled_from([v, None])))
        case "list":
            t, v = draw(typed(depth - 1))
            return ListOf(t), (v,) * draw(st.integers(0, 2))
        case "bag":
            t, v = draw(typed(depth - 1))
            return BagOf(t), bag([v] * draw(st.integers(0, 2)))
        case "map":
            k = draw(st.sampled_from([INT, STRING, BOOL, STATUS, DATE, MAIL]))
            t, v = draw(typed(depth - 1))
            keys = draw(st.lists(LEAVES[k], max_size=2))
            return MapOf(k, t), canonical(MapOf(k, t), mapping([(key, v) for key in keys]))
        case "record":
            (t, v), (u, w) = draw(typed(depth - 1)), draw(typed(depth - 1))
            return RecordOf(None, (("ref", t), ("b", u))), record({"ref": v, "b": w})
    t = draw(st.sampled_from(list(LEAVES)))
    return t, canonical(t, draw(LEAVES[t]))


@given(typed())
def test_every_value_reads_back(case: tuple[Type, Value]) -> None:
    t, value = case
    plain = to_json(value, t)
    text = json.dumps(plain)
    problems: list[Any] = []
    assert from_json(read_json(Source("<t>", text)), t, lambda *p: problems.append(p)) == value
    assert from_json(wrap(plain), t, lambda *p: problems.append(p)) == value
    assert not problems


@pytest.mark.parametrize(
    ("t", "plain", "value"),
    [
        (INT, 1.0, 1),
        (DECIMAL, 0.1, Fraction(1, 10)),
        (DECIMAL, "98.70", Fraction("98.7")),
        (DECIMAL, 5, Fraction(5)),
        (STATUS, "voided", "void"),
        (STATUS, "void", "void"),
        (MAIL, " A@b ", "a@b"),
        (TIME, "2026-12-01T10:00:00+01:00", datetime(2026, 12, 1, 9, tzinfo=UTC)),
        (TIME, "2026-12-01 10:00Z", datetime(2026, 12, 1, 10, tzinfo=UTC)),
        (DURATION, "PT1H30M", timedelta(minutes=90)),
        (DURATION, "P1DT0.5S", timedelta(days=1, microseconds=500000)),
        (DURATION, "2w", timedelta(days=14)),
        (DURATION, "-90s", timedelta(seconds=-90)),
        (RecordOf(None, (("a", Optional(INT)),)), {}, record({"a": None})),
        (MapOf(INT, INT), {"1": 2}, mapping({1: 2})),
        (MapOf(BOOL, INT), [[True, 2]], mapping({True: 2})),
    ],
)
def test_accepted(t: Type, plain: Any, value: Value) -> None:
    assert from_json(wrap(plain), t, lambda *p: pytest.fail(str(p))) == value


@pytest.mark.parametrize(
    ("t", "plain", "word"),
    [
        (INT, "1", "whole number"),
        (INT, 1.5, "a number"),
        (INT, True, "truth value"),
        (DECIMAL, "1e5", "decimal"),
        (DECIMAL, "1/0", "decimal"),
        (DECIMAL, "٣", "decimal"),
        (BOOL, 0, "truth value"),
        (BOOL, "true", "string"),
        (STRING, 5, "a number"),
        (STRING, None, "null"),
        (MAIL, 5, "`Mail`"),
        (STATUS, "voidd", "`voidd`"),
        (STATUS, "\x1b[31m", "\\u{1b}"),
        (DATE, "2026-02-30", "date"),
        (DATE, "2026-12-01T10:00:00Z", "date"),
        (TIME, "2026-12-01", "time"),
        (TIME, "2026-12-01T10:00:00", "time"),
        (TIME, "2026-12-01T25:00:00Z", "time"),
        (TIME, "0001-01-01T00:00:00+23:59", "time"),
        (DURATION, "P1M", "duration"),
        (DURATION, "", "duration"),
        (DURATION, "PT", "duration"),
        (DURATION, "9999999999w", "duration"),
        (DURATION, "999999999w", "duration"),
        (ListOf(INT), {}, "array"),
        (ListOf(INT), ["x"], "whole number"),
        (RecordOf(None, (("a", INT),)), [], "object"),
        (RecordOf(None, (("a", INT),)), {}, "`a` is missing"),
        (RecordOf("R", (("a", INT),)), {"a": 1, "b": 2}, "no field `b`"),
        (MapOf(INT, INT), {"x": 1}, "whole number"),
        (MapOf(INT, INT), [[1, 2], [1, 3]], "same"),
        (MapOf(MAIL, INT), {"a": 1, "A": 2}, "same"),
        (MapOf(INT, INT), [[1]], "pair"),
        (MapOf(INT, INT), 5, "object"),
    ],
)
def test_refused(t: Type, plain: Any, word: str) -> None:
    problems: list[tuple[str, str | None, Any]] = []
    with pytest.raises(Mismatch):
        from_json(wrap(plain), t, lambda *p: problems.append(p))
    assert any(word in f"{message} {help}" for message, help, _ in problems)
    assert all(c.isprintable() for message, _, _ in problems for c in message)


def test_what_wrap_refuses() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            wrap(value)
    with pytest.raises(TypeError):
        wrap({1, 2})
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nesting"):
        wrap(deep)


@given(st.timedeltas(timedelta(days=-10000), timedelta(days=10000)))
def test_durations(value: timedelta) -> None:
    assert scalars.parse_duration(scalars.show_duration(value)) == value


@given(st.fractions(), st.integers(0, 30))
def test_decimals(value: Fraction, places: int) -> None:
    assert scalars.parse_decimal(scalars.show_decimal(value)) == value
    exact = Fraction(round(value * 10**places), 10**places)
    assert "/" not in scalars.show_decimal(exact)


@given(st.text(max_size=12))
def test_scalars_never_raise(text: str) -> None:
    for parse in (
        scalars.parse_date,
        scalars.parse_time,
        scalars.parse_duration,
        scalars.parse_decimal,
        scalars.parse_int,
    ):
        parse(text)


def test_values_as_text() -> None:
    assert unparse_value(Fraction(5), DECIMAL) == "5.0"
    assert unparse_value(Fraction(1, 3), DECIMAL) == "div(1.0, 3.0)"
    assert unparse_value(date(2026, 12, 1), DATE) == "2026-12-01"
    assert unparse_value(timedelta(days=1, seconds=5400.5), DURATION) == "1d1h30m0.5s"
    assert unparse_value(timedelta(0), DURATION) == "0s"
