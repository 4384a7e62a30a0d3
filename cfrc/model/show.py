"""Turns expressions and values back into text in the language's own syntax.

Decimals are printed as decimals, strings with JSON's escapes; control, format and other invisible characters are always
escaped, so that hostile data can neither move the cursor of a terminal nor reverse the reading order of a report.
"""

from __future__ import annotations

import json
import unicodedata
from datetime import date, datetime, timedelta
from fractions import Fraction

from cfrc.model.expr import (
    Apply,
    Build,
    Comprehension,
    Discharge,
    Expr,
    Field,
    FluentRead,
    If,
    Index,
    Lit,
    NodeResult,
    Outcome,
    Var,
)
from cfrc.model.footprint import Wild
from cfrc.model.types import BagOf, Enum, ListOf, MapOf, Optional, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value

_LEVELS: dict[str, int] = {
    "implies": 1, "or": 2, "and": 3, "not": 4,
    "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, "in": 5,
    "+": 6, "-": 6, "*": 7, "neg": 8,
}  # fmt: skip
_ATOM = 9
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def show_string(text: str) -> str:
    """A quoted string with JSON's escapes and no invisible characters."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return "".join(_escape(c) if unicodedata.category(c) in _HIDDEN else c for c in quoted)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def show_decimal(value: Fraction) -> str:
    """A decimal without loss; a value that no decimal can write is shown as the division that makes it."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    if rest != 1:
        return f"div({value.numerator}, {value.denominator})"
    places = max(places, 1)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def show_duration(value: timedelta) -> str:
    """``1h30m`` and the like; fractions of a second are written as decimals."""
    if value < timedelta(0):
        return "-" + show_duration(-value)
    seconds, micro = value.seconds, value.microseconds
    parts = [(value.days, "d"), (seconds // 3600, "h"), (seconds // 60 % 60, "m")]
    text = "".join(f"{n}{unit}" for n, unit in parts if n)
    last = f"{seconds % 60}" + (f".{micro:06d}".rstrip("0") if micro else "")
    return text + f"{last}s" if last != "0" or not text else text


def show_value(value: Value, type_: Type | None = None) -> str:
    """A value as text. With its type, enum members are written bare; without it they look like strings."""
    while isinstance(type_, Optional):
        type_ = type_.item
    match value:
        case None:
            return "absent"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Fraction():
            return show_decimal(value)
        case str():
            return value if isinstance(type_, Enum) and value in type_.members else show_string(value)
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case timedelta():
            return show_duration(value)
        case tuple():
            return _list(value, type_)
        case Bag(items):
            return f"bag({_list(items, type_)})"
        case Map(pairs):
            key, item = (type_.key, type_.value) if isinstance(type_, MapOf) else (None, None)
            inner = ", ".join(f"{show_value(k, key)}: {show_value(v, item)}" for k, v in pairs)
            return f"map({{{inner}}})"
        case Record(fields):
            types = dict(type_.fields) if isinstance(type_, RecordOf) else {}
            have = dict(fields)
            names = [n for n in types if n in have] + [n for n in have if n not in types]
            return "{" + ", ".join(f"{n}: {show_value(have[n], types.get(n))}" for n in names) + "}"


def _list(items: tuple[Value, ...], type_: Type | None) -> str:
    item = type_.item if isinstance(type_, ListOf | BagOf) else None
    return "[" + ", ".join(show_value(v, item) for v in items) + "]"


def show_instance(name: str, args: tuple[Value | Wild, ...], params: tuple[tuple[str, Type], ...] = ()) -> str:
    """An effect or fluent instance: ``paid("INV-42", 120.0)``; a fluent without parameters is its bare name."""
    if not args:
        return name
    types = [t for _, t in params] if len(params) == len(args) else [None] * len(args)
    shown = ("_" if isinstance(a, Wild) else show_value(a, t) for a, t in zip(args, types, strict=True))
    return f"{name}({', '.join(shown)})"


def show_expr(expr: Expr) -> str:
    """An expression as text, with no more parentheses than it needs."""
    return _show(expr, 0)


def _show(e: Expr, level: int) -> str:
    """``level`` is how tightly the surroundings bind: a looser operator gets parentheses."""
    match e:
        case Lit(value=v, type=t):
            text = show_value(v, t)
            return f"({text})" if text.startswith("-") and level >= _ATOM else text
        case Var(name=n) | NodeResult(node=n) | Discharge(obligation=n):
            return n
        case Outcome(node=n, status=s):
            return f"{s}({n})"
        case FluentRead(fluent=f, args=args):
            return f"{f}({_join(args)})" if args else f
        case Field(base=b, name=n):
            return f"{_show(b, _ATOM)}.{n}"
        case Index(base=b, key=k):
            return f"{_show(b, _ATOM)}[{_show(k, 0)}]"
        case If(cond=c, then=a, orelse=b):
            return f"if({_join((c, a, b))})"
        case Comprehension():
            return _comprehension(e)
        case Build():
            return _build(e)
        case Apply(op=op, args=args):
            own = _LEVELS.get(op)
            if own is None:
                return f"{op}({_join(args)})"
            text = _operator(op, args, own)
            return f"({text})" if own < level else text


def _operator(op: str, args: tuple[Expr, ...], own: int) -> str:
    if op == "not":
        return f"not {_show(args[0], own)}"
    if op == "neg":
        return f"-{_show(args[0], own + 1)}"
    if op in ("and", "or"):
        return f" {op} ".join(_show(a, own + 1) for a in args)
    # Comparisons do not chain and ``implies`` binds to the right; the other operators bind to the left.
    left = own + 1 if own <= _LEVELS["in"] else own
    right = own if op == "implies" else own + 1
    return f"{_show(args[0], left)} {op} {_show(args[1], right)}"


def _join(args: tuple[Expr, ...]) -> str:
    return ", ".join(_show(a, 0) for a in args)


def _comprehension(e: Comprehension) -> str:
    head = _show(e.body, 0) if e.key is None else f"{_show(e.key, 0)}: {_show(e.body, 0)}"
    loops = " ".join(f"for {g.var} in {_show(g.source, 0)}" for g in e.generators)
    cond = "" if e.cond is None else f" if {_show(e.cond, 0)}"
    return f"{e.kind}({head} {loops}{cond})"


def _build(e: Build) -> str:
    match e.kind:
        case "record":
            return "{" + ", ".join(f"{n}: {_show(x, 0)}" for n, x in zip(e.names, e.items, strict=True)) + "}"
        case "map":
            pairs = zip(e.keys, e.items, strict=True)
            return "map({" + ", ".join(f"{_show(k, 0)}: {_show(v, 0)}" for k, v in pairs) + "})"
    inner = f"[{_join(e.items)}]"
    return f"bag({inner})" if e.kind == "bag" else inner
