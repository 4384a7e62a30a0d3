"""Text of expressions and values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.model.show import show_decimal, show_expr, show_instance, show_value
from cfrc.model.types import BOOL, Enum, ListOf, Optional, RecordOf
from cfrc.model.values import Value, bag, mapping, record
from tests.model.build import Status, at, b, dotted, e, each, f, if_, make, n, of, op, out, p, was

VALUES: list[tuple[Value, str]] = [
    (None, "absent"),
    (True, "true"),
    (3, "3"),
    (Fraction("120"), "120.0"),
    (Fraction("-0.05"), "-0.05"),
    (Fraction(1, 3), "div(1, 3)"),
    (Fraction(1, 8), "0.125"),
    (date(2026, 12, 1), "2026-12-01"),
    (datetime(2026, 12, 1, 10, tzinfo=UTC), "2026-12-01T10:00:00Z"),
    (timedelta(hours=1, minutes=30), "1h30m"),
    (timedelta(0), "0s"),
    (-timedelta(days=2), "-2d"),
    ((1, 2), "[1, 2]"),
    (bag([2, 1]), "bag([1, 2])"),
    (mapping({"k": 1}), 'map({"k": 1})'),
    (record({"b": 1, "a": "x"}), '{a: "x", b: 1}'),
    ('a"\\\n', r'"a\"\\\n"'),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[t for _, t in VALUES])
def test_values(value: Value, text: str) -> None:
    assert show_value(value) == text


def test_types_guide_the_text() -> None:
    assert show_value("open", Status) == "open"
    assert show_value("open", Optional(Status)) == "open"
    assert show_value(("open",), ListOf(Status)) == "[open]"
    shape = RecordOf(None, (("z", Enum("E", ("m",), ("m",))), ("a", BOOL)))
    assert show_value(record({"a": True, "z": "m"}), shape) == "{z: m, a: true}"
    assert show_instance("paid", ("INV", 5)) == 'paid("INV", 5)'
    assert show_instance("roaming", ()) == "roaming"


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\x7f", "\x9b", "\u202e", "\u200b", "\u2028", "\ud800", "\U000e0041"])
def test_invisible_characters_are_escaped(hidden: str) -> None:
    text = show_value(f"é{hidden}")
    assert text.startswith('"é\\u') and text.isprintable()


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_decimals_are_printed_without_loss(digits: int, places: int) -> None:
    value = Fraction(digits, 10**places)
    assert Fraction(show_decimal(value)) == value


EXPRESSIONS = [
    (op("and", op("==", p("a"), 1), op("or", p("b"), p("c"))), "a == 1 and (b or c)"),
    (op("or", op("and", p("a"), p("b")), p("c")), "a and b or c"),
    (op("not", op("==", p("a"), p("b"))), "not a == b"),
    (op("not", op("and", p("a"), p("b"))), "not (a and b)"),
    (op("implies", p("a"), op("implies", p("b"), p("c"))), "a implies b implies c"),
    (op("implies", op("implies", p("a"), p("b")), p("c")), "(a implies b) implies c"),
    (op("-", p("a"), op("-", p("b"), p("c"))), "a - (b - c)"),
    (op("-", op("-", p("a"), p("b")), p("c")), "a - b - c"),
    (op("*", op("+", p("a"), 1), 2), "(a + 1) * 2"),
    (op("neg", op("+", p("a"), 1)), "-(a + 1)"),
    (op("==", op("==", p("a"), p("b")), True), "(a == b) == true"),
    (op("div", p("a"), 2), "div(a, 2)"),
    (dotted(at(f("variants", n("product")), "n"), "options"), 'variants(product)["n"].options'),
    (if_(p("c"), 1, 2), "if(c, 1, 2)"),
    (dotted(if_(p("c"), p("x"), p("y")), "f"), "if(c, x, y).f"),
    (was("failed", "a"), "failed(a)"),
    (op("==", out("d", "state"), of("delivery", "id")), "d.state == delivery.id"),
    (f("roaming"), "roaming"),
    (make("bag", make("record", old=1, new=p("n"))), "bag([{old: 1, new: n}])"),
    (each("all", op(">", b("x"), 0), "x", p("xs"), cond=b("x")), "all(x > 0 for x in xs if x)"),
    (each("map", b("x"), "x", p("xs"), key=1), "map(1: x for x in xs)"),
    (op("in", p("a"), op("keys", p("m"))), "a in keys(m)"),
    (op("present", p("a")), "present(a)"),
    (e(None), "absent"),
]


@pytest.mark.parametrize(("expr", "text"), EXPRESSIONS, ids=[t for _, t in EXPRESSIONS])
def test_expressions(expr: object, text: str) -> None:
    assert show_expr(expr) == text  # type: ignore[arg-type]
