"""Turns literals into typed values: a quoted text means what the place where it stands asks for.

``"INV-42"`` is an identifier where an identifier is wanted, a date where a date is; ``120`` is exact decimal where
a decimal is wanted. Without such a wish a literal has its plain type.
"""

from __future__ import annotations

from fractions import Fraction

from cfrc.lang import scalars
from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonnodes import JsonScalar
from cfrc.lang.jsonvalues import EXAMPLES, Mismatch, from_json
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.typing import strip
from cfrc.model.canon import canonical
from cfrc.model.expr import Lit
from cfrc.model.types import ANY, BOOL, DATE, DECIMAL, DURATION, INT, STRING, TEXT, TIME, Enum, Id, Optional, Prim, Type
from cfrc.model.values import Value


def failed(node: t.Node) -> Lit:
    """What stands for an expression that could not be resolved: every further check is silent about it."""
    return Lit(value=None, type=ANY, span=node.span)


_PARSERS = {"date": scalars.parse_date, "time": scalars.parse_time, "duration": scalars.parse_duration}


def literal(node: t.Literal, hint: Type | None, problems: Problems) -> Lit:
    """The literal's value and type; a text that does not spell what is wanted is reported (``EXP007``)."""
    wanted = strip(hint) if hint is not None else ANY
    value: Value
    match node:
        case t.StringLit(value=text):
            return _text(node, text, wanted, problems)
        case t.IntLit(text=text):
            if wanted == DECIMAL:
                return Lit(value=Fraction(int(text)), type=DECIMAL, span=node.span)
            return Lit(value=int(text), type=INT, span=node.span)
        case t.DecimalLit(text=text):
            return Lit(value=Fraction(text), type=DECIMAL, span=node.span)
        case t.BoolLit(value=flag):
            return Lit(value=flag, type=BOOL, span=node.span)
        case t.AbsentLit():
            return _absent(node, hint, problems)
        case t.DateLit(text=text):
            value, type_ = scalars.parse_date(text), DATE
        case t.TimeLit(text=text):
            value, type_ = scalars.parse_time(text), TIME
        case t.DurationLit(text=text):
            value, type_ = scalars.parse_duration(text), DURATION
    if value is None:
        problems.add("EXP007", f"{quoted(text)} is not a {type_}", node.span, EXAMPLES[type_.name])
        return Lit(value=None, type=ANY, span=node.span)
    return Lit(value=value, type=type_, span=node.span)


def negative(node: t.IntLit | t.DecimalLit, hint: Type | None, problems: Problems, span: t.Node) -> Lit:
    """A number with a minus sign in front, as one literal."""
    number = literal(node, hint, problems)
    assert isinstance(number.value, int | Fraction)
    return Lit(value=-number.value, type=number.type, span=span.span)


def _absent(node: t.AbsentLit, hint: Type | None, problems: Problems) -> Lit:
    if hint is None or isinstance(hint, Optional) or hint == ANY:
        return Lit(value=None, type=hint or Optional(ANY), span=node.span)
    problems.add(
        "EXP001", f"`absent` where a value of {quoted(str(hint))} is needed", node.span, "only `T?` can be absent"
    )
    return Lit(value=None, type=ANY, span=node.span)


def _text(node: t.StringLit, text: str, wanted: Type, problems: Problems) -> Lit:
    match wanted:
        case Id():
            return Lit(value=canonical(wanted, text), type=wanted, span=node.span)
        case Prim("text"):
            return Lit(value=text, type=TEXT, span=node.span)
        case Prim("date" | "time" | "duration" as name):
            value: Value = _PARSERS[name](text)
            if value is None:
                problems.add("EXP007", f"{quoted(text)} is not a {name}", node.span, EXAMPLES[name])
                return Lit(value=None, type=ANY, span=node.span)
            return Lit(value=value, type=wanted, span=node.span)
        case Enum(_, members, wire):
            meant = dict(zip(wire, members, strict=True)).get(text, text)
            help = f"write {quoted(meant)} without quotes" if meant in members else problems.suggest(text, members)
            problems.add("EXP001", f"a string where a value of {quoted(wanted.name)} is needed", node.span, help)
            return Lit(value=None, type=ANY, span=node.span)
    return Lit(value=text, type=STRING, span=node.span)


def json_scalar(node: JsonScalar, hint: Type | None, problems: Problems) -> Lit:
    """A scalar of a JSON form; without a wanted type, or where it cannot be of that type, it has its plain type."""
    value, wanted = node.json.value, strip(hint) if hint is not None else ANY
    if value is None and (hint is None or isinstance(hint, Optional) or hint == ANY):
        return Lit(value=None, type=hint or Optional(ANY), span=node.span)
    if isinstance(wanted, Id | Enum | Prim):
        complaints: list[tuple[str, str | None]] = []
        try:
            typed = from_json(node.json, wanted, lambda message, help, _: complaints.append((message, help)))
            return Lit(value=typed, type=wanted, span=node.span)
        except Mismatch:
            for message, help in complaints:
                problems.add("EXP001", message, node.span, help)
            return Lit(value=None, type=ANY, span=node.span)
    match value:
        case bool():
            return Lit(value=value, type=BOOL, span=node.span)
        case int():
            return Lit(value=value, type=INT, span=node.span)
        case Fraction():
            return Lit(value=value, type=DECIMAL, span=node.span)
        case str():
            return Lit(value=value, type=STRING, span=node.span)
    return Lit(value=None, type=Optional(ANY), span=node.span)
