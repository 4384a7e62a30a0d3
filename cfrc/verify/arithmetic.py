"""Turns arithmetic on numbers, dates, times and durations into terms; what is not linear is an uninterpreted function.

A date is a number of days, an instant and a duration are numbers of microseconds, so arithmetic goes by type: a date
moves by whole days, and the difference of two dates is a duration.
"""

from __future__ import annotations

from datetime import MAXYEAR, UTC, date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.verify.quantified import Quantified, Quantifiers, generic_row, row_type
from cfrc.verify.shapes import Items, Scalar, Shape, as_term, default, sort_of
from cfrc.verify.terms import INT, REAL, Term, Terms

if TYPE_CHECKING:
    from cfrc.verify.symbolic import Evaluator

MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1) // MICROSECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RANGES: dict[ty.Type, tuple[int, int]] = {
    ty.DATE: (1, date.max.toordinal()),
    ty.TIME: (
        (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND,
        (datetime(MAXYEAR, 12, 31, 23, 59, 59, 999999, UTC) - EPOCH) // MICROSECOND,
    ),
    ty.DURATION: (timedelta.min // MICROSECOND, timedelta.max // MICROSECOND),
}
"""The least and the largest value of a type, as numbers: a result outside is undefined."""
ORDERED = frozenset({ty.INT, ty.DECIMAL, ty.DATE, ty.TIME, ty.DURATION})
MOST_DIGITS = 1000
"""As in the concrete evaluator: rounding to more places is undefined."""


def arithmetic(ev: Evaluator, e: ex.Apply, args: list[Shape]) -> Shape:
    """The value of an arithmetic operator or function; its operands are there."""
    if e.op in ("min", "max") and len(args) == 1:
        return _extreme_of(ev, e, args[0])
    types = [a.type for a in args]
    xs = [as_term(ev.terms, a) for a in args]
    if e.type in RANGES:
        for x, of in zip(xs, types, strict=True):
            _receipts_in_range(ev, x, of)
        return Scalar(_in_range(ev, _moment(ev, e, types, xs), e.type), e.type)
    if len({x.sort for x in xs}) > 1 and e.op != "round":
        xs = [ev.terms.to_real(x) for x in xs]
    found = _number(ev, e, xs)
    return ev.as_type(Scalar(found, ty.DECIMAL if found.sort == REAL else types[0]), e.type)


def _receipts_in_range(ev: Evaluator, x: Term, t: ty.Type) -> None:
    """Whatever a receipt or the world says of a date is one: a fact about unknowns, not an expectation."""
    if t in RANGES and x.op in ("sym", "app") and ev.quantifiers is not None:
        low, high = (ev.terms.const(INT, bound) for bound in RANGES[t])
        ev.quantifiers.fact(ev.terms.and_(ev.terms.le(low, x), ev.terms.le(x, high)))


def _in_range(ev: Evaluator, x: Term, t: ty.Type) -> Term:
    """A result out of range is undefined: there is no day after 9999-12-31."""
    low, high = (ev.terms.const(INT, bound) for bound in RANGES[t])
    ev.define(ev.terms.and_(ev.terms.le(low, x), ev.terms.le(x, high)))
    return x


def _moment(ev: Evaluator, e: ex.Apply, types: list[ty.Type], xs: list[Term]) -> Term:
    """An operator whose result is a date, an instant or a duration."""
    t = ev.terms
    if e.op == "*":
        return _scale(t, *(xs if types[0] == ty.DURATION else reversed(xs)))
    if e.op == "-" and types == [ty.DATE, ty.DATE]:
        return _times(t, t.sub(xs[0], xs[1]), DAY)
    if e.op in ("+", "-") and e.type == ty.DATE:
        day, span = xs if types[0] == ty.DATE else reversed(xs)
        days = t.const(INT, span.data // DAY) if span.is_const else t.app(INT, "days", (span,))
        return t.add(day, days) if e.op == "+" else t.sub(day, days)
    return _number(ev, e, xs)


def _times(t: Terms, x: Term, factor: int) -> Term:
    found = t.mul(t.const(INT, factor), x)
    assert found is not None  # one factor is a literal
    return found


def _scale(t: Terms, span: Term, factor: Term) -> Term:
    """A duration times a number; a fraction of a microsecond is rounded half to even."""
    if factor.is_const and Fraction(factor.data).denominator == 1:
        return _times(t, span, int(factor.data))
    if factor.is_const and span.is_const:
        return t.const(INT, round(span.data * factor.data))
    return (t.mul(span, factor) if factor.sort == INT else None) or t.app(INT, "mul", (span, factor))


def _number(ev: Evaluator, e: ex.Apply, xs: list[Term]) -> Term:
    t = ev.terms
    zero = t.const(xs[0].sort, 0)
    match e.op:
        case "+":
            return t.add(*xs)
        case "-":
            return t.sub(xs[0], xs[1])
        case "neg":
            return t.sub(zero, xs[0])
        case "*":
            return t.mul(xs[0], xs[1]) or t.app(xs[0].sort, "mul", xs)
        case "abs":
            return t.ite(t.le(zero, xs[0]), xs[0], t.sub(zero, xs[0]))
        case "min" | "max":
            return _extreme(t, e.op == "min", xs)
        case "div":
            return _divide(ev, t.to_real(xs[0]), t.to_real(xs[1]))
        case "round":
            return _round(ev, t.to_real(xs[0]), xs[1] if len(xs) > 1 else t.const(INT, 0))
    raise AssertionError(e.op)


def _extreme(t: Terms, least: bool, xs: list[Term]) -> Term:
    best = xs[0]
    for x in xs[1:]:
        best = t.ite(t.le(best, x) if least else t.le(x, best), best, x)
    return best


def _extreme_of(ev: Evaluator, e: ex.Apply, coll: Shape) -> Shape:
    """``min(xs)``: undefined for an empty collection; of an opaque one, some row that no other row is less than."""
    t = ev.terms
    if not isinstance(coll, Items):
        c = as_term(t, coll)
        some = t.le(t.const(INT, 1), t.app(INT, "len", (c,)))
        ev.define(some)
        best = t.app(sort_of(e.type), e.op, (c,))
        if ev.quantifiers is not None and e.type in ORDERED and row_type(coll.type) == e.type:
            _is_extreme(ev.quantifiers, e.op == "min", best, c, coll.type, some)
        return Scalar(best, e.type)
    found = [as_term(t, ev.plain(x)) for x in (coll.items if coll.keys is None else coll.keys)]
    if not found:
        ev.define(t.false)
        return default(t, e.type)
    return Scalar(_extreme(t, e.op == "min", found), e.type)


def _is_extreme(q: Quantifiers, least: bool, best: Term, c: Term, of: ty.Type, some: Term) -> None:
    """What is known of the least (or greatest) row of an opaque collection that has ``some`` row."""
    t = q.terms
    row, inside = generic_row(t, c, of, f"row of {best.id}")

    def bounds(row: Shape) -> Term:
        x = as_term(t, row)
        return t.le(best, x) if least else t.le(x, best)

    if q.fact(t.implies(some, t.and_(inside, t.eq(as_term(t, row), best)))):
        q.add(Quantified("each", some, c, of, bounds))


def _round(ev: Evaluator, x: Term, digits: Term) -> Term:
    t = ev.terms
    if digits.is_const and abs(digits.data) > MOST_DIGITS:
        ev.define(t.false)
        return x
    if x.is_const and digits.is_const:
        return t.const(REAL, round(Fraction(x.data), digits.data))
    return t.app(REAL, "round", (x, digits))


def _divide(ev: Evaluator, a: Term, b: Term) -> Term:
    t = ev.terms
    ev.define(t.not_(t.eq(b, t.const(REAL, 0))))
    if b.is_const and b.data != 0:
        return t.mul(t.const(REAL, 1 / b.data), a) or a
    return t.app(REAL, "div", (a, b))
