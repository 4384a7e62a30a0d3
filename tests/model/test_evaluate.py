"""Evaluation: exactness, short circuits, undefined projections, collections."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from cfrc.model.canon import canonical, default_value, has_type
from cfrc.model.evaluate import Env, Undefined, equal, evaluate
from cfrc.model.expr import Expr
from cfrc.model.types import (
    ANY,
    BOOL,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    STRING,
    TIME,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    RecordOf,
    Type,
)  # fmt: skip
from cfrc.model.values import Bag, Map, Record, Value, bag, mapping, record
from tests.model.build import at, b, dotted, e, each, f, if_, make, op, out, p, was


def value(x: Expr, **params: Value) -> Value:
    return evaluate(x, Env({("param", k): v for k, v in params.items()}))


def undefined(x: Expr, **params: Value) -> Expr:
    with pytest.raises(Undefined) as caught:
        value(x, **params)
    return caught.value.expr


def test_numbers_are_exact_and_int_equals_decimal() -> None:
    assert value(op("+", Fraction("0.1"), Fraction("0.2"))) == Fraction("0.3")
    assert value(op("==", 2, Fraction(2))) is True
    assert value(op("div", 1, 3)) == Fraction(1, 3)
    assert value(op("round", Fraction("2.5"))) == 2
    assert value(op("round", Fraction("2.345"), 2)) == Fraction("2.34")
    assert value(op("-", 7, op("neg", 3))) == 10
    assert value(op("min", 3, 1, 2)) == 1 and value(op("max", (3, 5))) == 5 and value(op("abs", -4)) == 4


def test_no_boolean_is_a_number() -> None:
    assert not equal(True, 1)
    assert value(op("==", True, 1)) is False
    assert not has_type(True, INT) and not has_type(1, BOOL)


def test_undefined_carries_the_smallest_offender() -> None:
    projection = dotted(p("r"), "x")
    assert undefined(op("+", 1, projection), r=record({})) == projection
    assert undefined(dotted(p("r"), "x"), r=None) == projection
    assert undefined(op("div", 1, 0)).op == "div"  # type: ignore[union-attr]
    assert undefined(at(p("xs"), 1), xs=(0,)) == at(p("xs"), 1)
    assert undefined(at(p("m"), "k"), m=mapping({})) == at(p("m"), "k")
    assert undefined(out("n", "id")) == out("n")
    assert undefined(op("<", None, 1)).op == "<"  # type: ignore[union-attr]
    assert undefined(op("round", 1, 10**9)).op == "round"  # type: ignore[union-attr]


def test_connectives_stop_early_from_left_to_right() -> None:
    boom = dotted(p("r"), "x")
    env = {"r": None}
    assert value(op("and", False, boom), **env) is False
    assert value(op("or", True, boom), **env) is True
    assert value(op("implies", False, boom), **env) is True
    assert value(if_(True, 1, boom), **env) == 1
    assert value(if_(False, boom, 2), **env) == 2
    for name, first in (("and", True), ("or", False), ("implies", True)):
        assert undefined(op(name, first, boom), **env) == boom
    assert undefined(op("and", boom, False), **env) == boom


def test_an_absent_condition_is_undefined() -> None:
    assert undefined(op("and", p("c"), True), c=None) == p("c")
    assert undefined(op("not", p("c")), c=None) == p("c")
    assert undefined(if_(p("c"), 1, 2), c=None) == p("c")


def test_optionals_are_transparent_to_equality() -> None:
    assert value(op("==", p("a"), "x"), a="x") is True
    assert value(op("==", p("a"), "x"), a=None) is False
    assert value(op("present", p("a")), a=None) is False
    assert value(op("present", p("a")), a=0) is True


def test_indexes_may_be_negative() -> None:
    assert value(at(p("xs"), -1), xs=(1, 2)) == 2
    assert undefined(at(p("xs"), -3), xs=(1, 2)) == at(p("xs"), -3)


def test_collections() -> None:
    m = mapping({"a": 1, "b": 1})
    assert value(op("keys", p("m")), m=m) == bag(["a", "b"])
    assert value(op("values", p("m")), m=m) == bag([1, 1])
    assert value(op("count", p("m")), m=m) == 2
    assert value(op("in", "a", p("m")), m=m) is True
    assert value(op("in", 1, p("y")), y=bag([1, 1])) is True
    assert value(op("in", 3, p("y")), y=(1, 2)) is False
    assert undefined(op("in", 3, p("y")), y=None).op == "in"  # type: ignore[union-attr]
    assert value(make("bag", 2, 1, 2)) == bag([1, 2, 2])
    assert value(make("record", b=1, a="x")) == record({"a": "x", "b": 1})


def test_comprehensions() -> None:
    xs = (1, 2, 3)
    over = {"xs": xs}
    assert value(each("all", op(">", b("i"), 0), "i", p("xs")), **over) is True
    assert value(each("any", op(">", b("i"), 2), "i", p("xs")), **over) is True
    assert value(each("sum", b("i"), "i", p("xs")), **over) == 6
    assert value(each("sum", b("i"), "i", p("xs")), xs=()) == 0
    assert value(each("sum", b("i"), "i", p("xs"), type_=DURATION), xs=()) == timedelta(0)
    assert value(each("count", op(">", b("i"), 1), "i", p("xs")), **over) == 2
    assert value(each("count", b("i"), "i", p("xs"), cond=op(">", b("i"), 1)), **over) == 2
    assert value(each("only", b("i"), "i", p("xs"), cond=op(">", b("i"), 2)), **over) == 3
    assert value(each("list", op("*", b("i"), 2), "i", p("xs")), **over) == (2, 4, 6)
    assert value(each("bag", 1, "i", p("xs")), **over) == bag([1, 1, 1])
    assert value(each("map", op("*", b("i"), 2), "i", p("xs"), key=b("i")), **over) == mapping({1: 2, 2: 4, 3: 6})
    only = each("only", b("i"), "i", p("xs"))
    assert undefined(only, **over) == only
    assert undefined(each("all", True, "i", p("xs")), xs=None) == p("xs")


def test_comprehensions_shadow_and_do_not_leak() -> None:
    inner = each("sum", b("i"), "i", p("ys"))
    env = Env({("param", "xs"): (1, 2), ("param", "ys"): (10,), ("bound", "i"): 7})
    assert evaluate(op("+", each("sum", op("+", b("i"), inner), "i", p("xs")), b("i")), env) == 1 + 2 + 20 + 7


def test_dates_and_durations() -> None:
    day = date(2026, 12, 1)
    assert value(op("+", p("d"), p("n")), d=day, n=timedelta(days=1)) == date(2026, 12, 2)
    assert value(op("-", p("a"), p("b")), a=day, b=date(2026, 11, 30)) == timedelta(days=1)
    assert value(op("*", p("n"), Fraction(1, 2)), n=timedelta(hours=1)) == timedelta(minutes=30)
    assert undefined(op("+", p("d"), p("n")), d=date.max, n=timedelta(days=9)).op == "+"  # type: ignore[union-attr]


def test_fluents_outcomes_and_missing_readers() -> None:
    env = Env(outcomes={"a": "failed"}, read=lambda name, args: {("f", (1,)): "v"}[name, args])
    assert evaluate(f("f", 1), env) == "v"
    assert evaluate(was("failed", "a"), env) is True
    assert evaluate(was("ok", "b"), env) is False
    assert undefined(f("g")) == f("g")


KINDS: list[Type] = [
    INT, DECIMAL, BOOL, STRING, DATE, TIME, DURATION, Id("I"), Enum("E", ("a", "b"), ("a", "b")), Optional(INT),
    ListOf(INT), BagOf(INT), MapOf(STRING, INT), RecordOf(None, (("a", INT), ("b", Optional(STRING)))), ANY,
]  # fmt: skip


@pytest.mark.parametrize("t", KINDS, ids=str)
def test_default_values_have_their_type_and_are_canonical(t: Type) -> None:
    default = default_value(t)
    assert has_type(default, t)
    assert canonical(t, default) == default
    hash(default)


def test_has_type_tells_look_alikes_apart() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert has_type(now, TIME) and not has_type(now, DATE) and not has_type(now.date(), TIME)
    assert has_type(1, DECIMAL) and not has_type(Fraction(1), INT)
    assert not has_type("c", Enum("E", ("a",), ("a",)))
    assert not has_type(None, INT) and has_type(None, Optional(INT))
    assert not has_type(Bag((1,)), ListOf(INT)) and not has_type((1,), BagOf(INT))
    assert not has_type(Record((("a", 1), ("z", 1))), RecordOf(None, (("a", INT), ("b", INT))))
    assert not has_type(Map(((1, 1),)), MapOf(STRING, INT))


def test_canonical_forms() -> None:
    name = Id("N", ("trim", "nfkc", "lower"))
    assert canonical(name, "  ＡB ") == "ab"
    assert canonical(BagOf(name), bag(["B", "a"])) == bag(["a", "b"])
    assert canonical(MapOf(name, DECIMAL), mapping({"K": 1})) == mapping({"k": Fraction(1)})
    assert isinstance(canonical(DECIMAL, 1), Fraction)
    shape = RecordOf(None, (("a", name), ("b", Optional(INT))))
    assert canonical(shape, record({"a": "X"})) == record({"a": "x", "b": None})
    assert canonical(name, 3) == 3


def test_deep_conditions_do_not_share_environments() -> None:
    env = Env({("param", "a"): 1})
    env.child({("bound", "i"): 2}).vars["param", "a"] = 9
    assert evaluate(e(1), env) == 1 and env.vars == {("param", "a"): 1}
