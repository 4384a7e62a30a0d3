"""Turns typed expressions and values back into the text that resolves to them again.

Used by the JSON forms, in which expressions are strings. Layout of source files is the formatter's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from cfrc.lang import scalars
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
)  # fmt: skip
from cfrc.model.types import ANY, BagOf, Enum, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value

Names = Mapping[tuple[Type, Value], str]
"""Literals that have a name of their own (a contract's bindings): written by that name, which keeps their type."""

_LEVELS = {"implies": 1, "or": 2, "and": 3, "not": 4, "+": 6, "-": 6, "*": 7, "neg": 8}
_LEVELS |= {op: 5 for op in ("==", "!=", "<", "<=", ">", ">=", "in")}
_PRIMARY = 10


def unparse(e: Expr, names: Names | None = None) -> str:
    """The text of an expression. Resolved where the expression stood, it gives an equal expression."""
    return _Unparser(names or {}).text(e, 0)


def unparse_value(value: Value, type_: Type = ANY) -> str:
    """The literal that spells a value of a type."""
    return _value(value, type_)


def quote(text: str) -> str:
    """A string literal of the language; what does not print is escaped."""
    out = ['"']
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif c.isprintable():
            out.append(c)
        else:
            units = c.encode("utf-16-be", "surrogatepass")
            out.extend(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return "".join([*out, '"'])


class _Unparser:
    """Writes one expression; parentheses where the grammar's levels ask for them."""

    def __init__(self, names: Names) -> None:
        self.names = names

    # Deep expressions are legal (the parser bounds them), so each level costs as few frames as can be.

    def text(self, e: Expr, level: int) -> str:
        """The text of an expression, in parentheses when it stands at a lower level than asked for."""
        own = _PRIMARY
        match e:
            case Lit():
                own, text = self.literal(e)
            case Var(name=text) | NodeResult(node=text) | Discharge(obligation=text):
                pass
            case Outcome(node=node, status=status):
                text = f"{status}({node})"
            case FluentRead(fluent=fluent, args=args):
                text = f"{fluent}({self.joined(args)})" if args else fluent
            case Field(base=base, name=name):
                text = f"{self.text(base, _PRIMARY)}.{name}"
            case Index(base=base, key=key):
                text = f"{self.text(base, _PRIMARY)}[{self.text(key, 0)}]"
            case If(cond=cond, then=then, orelse=orelse):
                text = f"if({self.joined((cond, then, orelse))})"
            case Apply():
                own, text = self.apply(e)
            case Comprehension():
                text = self.comprehension(e)
            case Build(kind="list", items=items):
                text = f"[{self.joined(items)}]"
            case Build(kind="bag", items=items):
                text = f"bag([{self.joined(items)}])"
            case Build():
                text = self.build(e)
            case _:
                raise TypeError(f"{type(e).__name__} is no expression")
        return text if own >= level else f"({text})"

    def joined(self, items: tuple[Expr, ...]) -> str:
        shown: list[str] = []
        for item in items:
            shown.append(self.text(item, 0))
        return ", ".join(shown)

    def literal(self, e: Lit) -> tuple[int, str]:
        # Truth values and numbers keep their type without a name; everything else may need the place's wish.
        if not isinstance(e.value, bool | int | Fraction):
            name = self.names.get((e.type, e.value))
            if name is not None:
                return _PRIMARY, name
        text = _value(e.value, e.type)
        return (8 if text.startswith("-") else _PRIMARY), text

    def apply(self, e: Apply) -> tuple[int, str]:
        op, args = e.op, e.args
        level = _LEVELS.get(op)
        if level is None:
            return _PRIMARY, f"{op}({self.joined(args)})"
        if op == "not" or op == "neg":
            inner = self.text(args[0], level)
            return level, f"not {inner}" if op == "not" else f"-{inner}"
        if op in ("and", "or"):
            return level, f" {op} ".join(self.text(a, level + 1) for a in args)
        left, right = (level + 1, level) if op == "implies" else (level, level + 1)
        if level == 5:
            left = right = 6
        return level, f"{self.text(args[0], left)} {op} {self.text(args[1], right)}"

    def comprehension(self, e: Comprehension) -> str:
        bound = {g.var for g in e.generators}
        if bound & set(self.names.values()):  # inside, these names mean something else
            inner = _Unparser({k: n for k, n in self.names.items() if n not in bound})
            return inner.comprehension(e)
        body = self.text(e.body, 0)
        head = f"{self.text(e.key, 0)}: {body}" if e.key is not None else body
        loops = "".join(f" for {g.var} in {self.text(g.source, 0)}" for g in e.generators)
        cond = f" if {self.text(e.cond, 0)}" if e.cond is not None else ""
        return f"{e.kind}({head}{loops}{cond})"

    def build(self, e: Build) -> str:
        """A record or a map."""
        names = e.names if e.kind == "record" else tuple(self.text(k, 0) for k in e.keys)
        shown: list[str] = []
        for name, item in zip(names, e.items, strict=True):
            shown.append(f"{name}: {self.text(item, 0)}")
        inner = "{" + ", ".join(shown) + "}"
        return inner if e.kind == "record" else f"map({inner})"


def _value(value: Value, type_: Type) -> str:
    match type_, value:
        case _, None:
            return "absent"
        case Optional(item), _:
            return _value(value, item)
        case Enum(), str():
            return value
        case Prim("decimal"), (int() | Fraction()):
            return _decimal(Fraction(value))
        case (ListOf(item), tuple(items)):
            return f"[{', '.join(_value(v, item) for v in items)}]"
        case (BagOf(item), Bag(items)):
            return f"bag([{', '.join(_value(v, item) for v in items)}])"
        case MapOf(key, item), Map(entries):
            shown = (f"{_value(k, key)}: {_value(v, item)}" for k, v in entries)
            return "map({" + ", ".join(shown) + "})"
        case RecordOf(_, fields), Record():
            return "{" + ", ".join(f"{n}: {_value(value.get(n), f)}" for n, f in fields if n in value) + "}"
    return _plain(value)


def _plain(value: Value) -> str:
    """A value whose type is not known to be anything special."""
    for kind, show in _PLAIN:
        if isinstance(value, kind):
            return show(value)
    raise TypeError(f"not a value: {value!r}")


def _decimal(value: Fraction) -> str:
    text = scalars.show_decimal(value)
    if "/" in text:
        return f"div({value.numerator}.0, {value.denominator}.0)"
    return text if "." in text else text + ".0"


def _duration(value: timedelta) -> str:
    if value < timedelta(0):
        return "-" + _duration(-value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    parts = [f"{n}{u}" for n, u in ((value.days, "d"), (hours, "h"), (minutes, "m")) if n]
    if seconds or fraction or not parts:
        parts.append(f"{seconds}{fraction}s")
    return "".join(parts)


def _collection(items: Any) -> str:
    return f"[{', '.join(_plain(i) for i in items)}]"


_PLAIN: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, lambda v: "true" if v else "false"),
    (int, str),
    (Fraction, _decimal),
    (str, quote),
    (datetime, scalars.show_time),
    (date, lambda v: str(v.isoformat())),
    (timedelta, _duration),
    (tuple, _collection),
    (Bag, lambda v: f"bag({_collection(v)})"),
    (Map, lambda v: "map({" + ", ".join(f"{_plain(k)}: {_plain(x)}" for k, x in v.items) + "})"),
    (Record, lambda v: "{" + ", ".join(f"{n}: {_plain(x)}" for n, x in v.items) + "}"),
    (type(None), lambda _: "absent"),
)
