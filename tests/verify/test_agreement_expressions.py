"""The encoder agrees with the concrete evaluator on random typed expressions: value and definedness.

On literals everything folds to exactly the concrete value. On unknowns pinned by equalities the solver has a model in
which the expression has its concrete value; where nothing uninterpreted is left in the encoding, it has no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Apply, Build, Comprehension, Expr, Generator, Lit, Var
from cfrc.model.show import show_expr
from cfrc.model.types import ANY, BOOL, DATE, DECIMAL, DURATION, INT, BagOf, ListOf, MapOf, Type
from cfrc.model.values import Value
from cfrc.verify.shapes import Shape, convert, equal, literal, unknown
from cfrc.verify.solve import Session
from cfrc.verify.symbolic import Evaluator
from cfrc.verify.terms import Term, Terms
from tests.verify.random_expressions import ITEM, ROW, VARIABLES, environments, questions

BUDGET = 2_000_000


def var(name: str) -> Var:
    return Var(name=name, kind="name", type=VARIABLES[name])


def each(kind: Literal["all", "any", "list", "map"], body: Expr, source: str, t: Type, key: Expr | None = None) -> Expr:
    """``kind(body for x in source)``."""
    of = VARIABLES[source]
    item = of.key if isinstance(of, MapOf) else of.item if isinstance(of, ListOf | BagOf) else ANY
    return Comprehension(kind=kind, body=body, generators=(Generator("x", item, var(source)),), key=key, type=t)


X = Var(name="x", kind="bound", type=INT)
HALF = Apply(op="div", args=(Lit(value=1, type=INT), X), type=DECIMAL)
BELOW = Apply(op="<", args=(HALF, Lit(value=0, type=INT)), type=BOOL)

PINNED: Mapping[str, Expr] = {
    "a date moves by whole days": Apply(op="+", args=(var("day"), var("span")), type=DATE),
    "dates differ by a duration": Apply(
        op="-", args=(var("day"), Lit(value=date(2026, 1, 1), type=DATE)), type=DURATION
    ),
    "a duration times a fraction": Apply(op="*", args=(var("span"), var("d")), type=DURATION),
    "the least of a list": Apply(op="min", args=(var("ns"),), type=INT),
    "of equal keys the last wins": Build(
        kind="map", items=(var("n"), var("k")), keys=(var("i"), var("j")), type=MapOf(ITEM, INT)
    ),
    "equal keys count once": Apply(op="count", args=(each("map", X, "ns", MapOf(ITEM, INT), var("i")),), type=INT),
    "`any` stops at the first true one": each("any", BELOW, "ns", BOOL),
    "a bag lists its elements in order": each("list", X, "counts", ListOf(INT)),
    "numbers of two kinds in lists": Apply(op="==", args=(var("ns"), var("ds")), type=BOOL),
    "absent is no element": Apply(op="in", args=(var("oi"), var("items")), type=BOOL),
    "an optional field that is left out is absent": Apply(
        op="==",
        args=(
            Build(kind="record", items=(var("i"), var("d"), var("n")), names=("item", "amount", "n"), type=ROW),
            var("row"),
        ),
        type=BOOL,
    ),
}
"""Expressions that the encoder once got wrong."""


def concrete(e: Expr, values: dict[str, Value]) -> tuple[bool, Value]:
    """Whether the expression is defined, and its value."""
    try:
        return True, evaluate(e, Env({("name", n): v for n, v in values.items()}))
    except Undefined:
        return False, None


def shapes(terms: Terms, values: dict[str, Value], open_: frozenset[str]) -> tuple[dict[str, Shape], list[Term]]:
    """The variables as shapes, and what pins those that are unknown to the solver."""
    found: dict[str, Shape] = {}
    pins: list[Term] = []
    for name, t in VARIABLES.items():
        exact = literal(terms, values[name], t)
        if name in open_:
            found[name] = unknown(terms, t, lambda s, sort, n=name: terms.sym(sort, n + s))  # type: ignore[misc]
            pins.append(equal(terms, found[name], exact))
        else:
            found[name] = exact
    return found, pins


def encode(terms: Terms, e: Expr, vars_: dict[str, Shape], value: Value) -> tuple[Term, Term]:
    """When the expression is defined, and when it has the value."""
    evaluator = Evaluator(terms, {}, vars_)
    shape, ok = convert(terms, evaluator.eval(e), e.type)
    evaluator.define(ok)
    return evaluator.defined(), equal(terms, shape, literal(terms, value, e.type))


def uninterpreted(term: Term) -> set[str]:
    """The names of the functions about which the encoding says less than everything."""
    found, stack, seen = set(), [term], set()
    while stack:
        x = stack.pop()
        if x.id not in seen:
            seen.add(x.id)
            stack += x.args
            if x.op == "app":
                found.add(str(x.data))
    return found


def on_literals(e: Expr, values: dict[str, Value]) -> str | None:
    terms = Terms()
    vars_, _ = shapes(terms, values, frozenset())
    is_defined, value = concrete(e, values)
    if not is_defined:
        evaluator = Evaluator(terms, {}, vars_)
        _, ok = convert(terms, evaluator.eval(e), e.type)
        evaluator.define(ok)
        return None if evaluator.defined() is terms.false else f"{show_expr(e)} is undefined, not {evaluator.defined()}"
    defined, same = encode(terms, e, vars_, value)
    if defined is not terms.true:
        return f"{show_expr(e)} is defined ({value!r}), not {defined}"
    return None if same is terms.true else f"{show_expr(e)} is {value!r}: {same}"


def on_unknowns(e: Expr, values: dict[str, Value], open_: frozenset[str], fold: bool) -> str | None:
    terms = Terms(fold=fold)
    vars_, pins = shapes(terms, values, open_)
    is_defined, value = concrete(e, values)
    if is_defined:
        defined, same = encode(terms, e, vars_, value)
        right = terms.and_(defined, same)
    else:
        evaluator = Evaluator(terms, {}, vars_)
        _, ok = convert(terms, evaluator.eval(e), e.type)
        evaluator.define(ok)
        right = terms.not_(evaluator.defined())
    session = Session(terms, BUDGET)
    word = f"{show_expr(e)} is {repr(value) if is_defined else 'undefined'}"
    if session.check([*pins, right]).answer == "unsat":
        return f"{word}: impossible, says the solver"
    if not uninterpreted(right) and session.check([*pins, terms.not_(right)]).answer == "sat":
        return f"{word}: the solver sees another value"
    return None


@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(questions())
def test_literals_fold_to_the_concrete_value(question: tuple[Expr, dict[str, Value]]) -> None:
    assert on_literals(*question) is None


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(questions(depth=2), st.frozensets(st.sampled_from(sorted(VARIABLES))), st.booleans())
def test_unknowns_have_a_model_with_the_concrete_value(
    question: tuple[Expr, dict[str, Value]], open_: frozenset[str], fold: bool
) -> None:
    assert on_unknowns(*question, open_, fold) is None


@pytest.mark.parametrize("label", PINNED)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(values=environments(), fold=st.booleans())
def test_pinned(label: str, values: dict[str, Value], fold: bool) -> None:
    assert on_literals(PINNED[label], values) is None
    assert on_unknowns(PINNED[label], values, frozenset(VARIABLES), fold) is None
