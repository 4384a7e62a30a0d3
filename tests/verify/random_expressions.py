"""Turns random choices into typed expressions over a fixed set of variables, and into values for those variables.

Expressions are built as resolution builds them: every node has the type that the language gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from hypothesis import strategies as st

from cfrc.model.expr import Apply, Build, Comprehension, Expr, Field, Generator, If, Index, Lit, Var
from cfrc.model.types import (
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
    Prim,
    RecordOf,
    Type,
)
from cfrc.model.values import Value, bag, mapping, record
from cfrc.testing.random_domain import Draw, pick

ITEM = Id("Item")
MODE = Enum("Mode", ("slow", "fast", "off"), ("slow", "fast", "off"))
ROW = RecordOf("Row", (("item", ITEM), ("amount", DECIMAL), ("hit", Optional(ITEM)), ("n", INT)))
BOX = RecordOf(None, (("row", ROW), ("tags", ListOf(STRING)), ("best", Optional(ROW)), ("on", BOOL)))

VARIABLES: Mapping[str, Type] = {
    "i": ITEM, "j": ITEM, "s": STRING, "n": INT, "k": INT, "d": DECIMAL, "c": DECIMAL, "b": BOOL, "m": MODE,
    "day": DATE, "at": TIME, "span": DURATION, "oi": Optional(ITEM), "od": Optional(DECIMAL), "ob": Optional(BOOL),
    "ns": ListOf(INT), "ds": ListOf(DECIMAL), "items": ListOf(ITEM), "maybes": ListOf(Optional(ITEM)),
    "rows": ListOf(ROW), "heap": BagOf(ITEM), "counts": BagOf(INT), "price": MapOf(ITEM, DECIMAL),
    "stock": MapOf(ITEM, INT), "row": ROW, "box": BOX, "orow": Optional(ROW), "olist": Optional(ListOf(INT)),
    "names": MapOf(STRING, ROW), "spans": ListOf(DURATION), "days": ListOf(DATE),
}  # fmt: skip

SCALARS: tuple[Type, ...] = (ITEM, STRING, INT, DECIMAL, BOOL, MODE, DATE, TIME, DURATION)
COLLECTIONS: tuple[Type, ...] = (
    ListOf(INT), ListOf(DECIMAL), ListOf(ITEM), ListOf(ROW), BagOf(ITEM), BagOf(INT), MapOf(ITEM, DECIMAL),
    MapOf(ITEM, INT), MapOf(STRING, ROW), ListOf(Optional(ITEM)), ListOf(DATE), ListOf(DURATION),
)  # fmt: skip
COMPARED: tuple[Type, ...] = (*SCALARS, *COLLECTIONS, ROW, BOX, Optional(ITEM), Optional(DECIMAL), Optional(ROW))
ORDERED: tuple[Type, ...] = (INT, DECIMAL, DATE, TIME, DURATION)


def value(draw: Draw, t: Type) -> Value:
    """A small value of the type: few different ones, so that equalities are often true."""
    few = range(pick(draw, 0, 1, 2, 2, 3))
    match t:
        case Optional(item):
            return None if pick(draw, True, False, False) else value(draw, item)
        case ListOf(item):
            return tuple(value(draw, item) for _ in few)
        case BagOf(item):
            return bag(value(draw, item) for _ in few)
        case MapOf(key, item):
            return mapping([(value(draw, key), value(draw, item)) for _ in few])
        case RecordOf(_, fields):
            return record({n: value(draw, f) for n, f in fields})
        case Enum(_, members):
            return pick(draw, *members)  # type: ignore[no-any-return]
        case Id():
            return pick(draw, "I1", "I2")  # type: ignore[no-any-return]
        case Prim("int"):
            return pick(draw, 0, 1, 2, -1)  # type: ignore[no-any-return]
        case Prim("decimal"):
            return pick(draw, Fraction(0), Fraction(1), Fraction(5, 2), Fraction(-1), Fraction(2))  # type: ignore[no-any-return]
        case Prim("bool"):
            return pick(draw, True, False)  # type: ignore[no-any-return]
        case Prim("date"):
            return pick(draw, date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 4))  # type: ignore[no-any-return]
        case Prim("time"):
            return pick(draw, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, 6, tzinfo=UTC))  # type: ignore[no-any-return]
        case Prim("duration"):
            return pick(draw, timedelta(), timedelta(days=1), timedelta(hours=30), -timedelta(hours=5))  # type: ignore[no-any-return]
    return pick(draw, "a", "b")  # type: ignore[no-any-return]


def environment(draw: Draw) -> dict[str, Value]:
    return {name: value(draw, t) for name, t in VARIABLES.items()}


class Maker:
    """Makes expressions. ``scope`` are the variables of enclosing comprehensions."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.scope: dict[str, Type] = {}
        self.fresh = 0

    def pick(self, *options: object) -> object:
        return pick(self.draw, *options)

    def make(self, t: Type, depth: int) -> Expr:
        options = ["leaf", "leaf"] if depth <= 0 else ["leaf", *self._forms(t)]
        form = pick(self.draw, *options)
        return getattr(self, f"_{form}")(t, depth - 1)  # type: ignore[no-any-return]

    def _forms(self, t: Type) -> list[str]:
        """The ways to build a value of the type, other than a leaf."""
        found = ["if", "part", "only"]
        match t:
            case Prim("bool"):
                found += ["connective", "compare", "compare", "order", "in", "in", "all", "all", "present"]
            case Prim("int"):
                found += ["arithmetic", "arithmetic", "count", "count", "counted", "sum", "extreme", "abs"]
            case Prim("decimal"):
                found += ["arithmetic", "arithmetic", "div", "round", "sum", "extreme", "abs", "widened"]
            case Prim("duration"):
                found += ["arithmetic", "between", "times", "extreme", "sum", "abs"]
            case Prim("date" | "time"):
                found += ["later", "later", "extreme"]
            case ListOf(_):
                found += ["built", "each"]
            case BagOf(_):
                found += ["built", "each", "keys"]
            case MapOf(_, _):
                found += ["mapped", "mapping"]
            case RecordOf(_, _):
                found += ["record"]
            case Optional(_):
                found += ["lifted"]
        return found

    # -- leaves -----------------------------------------------------------------------------------------------------

    def _leaf(self, t: Type, depth: int) -> Expr:
        bound = [Var(name=n, kind="bound", type=x) for n, x in self.scope.items() if x == t]
        known = [Var(name=n, kind="name", type=x) for n, x in VARIABLES.items() if x == t]
        form = pick(self.draw, *(["bound"] * 3 if bound else []), *(["known"] * 3 if known else []), "literal")
        if form == "literal":
            return Lit(value=value(self.draw, t), type=t)
        return pick(self.draw, *(bound if form == "bound" else known))  # type: ignore[no-any-return]

    # -- every type -------------------------------------------------------------------------------------------------

    def _if(self, t: Type, depth: int) -> Expr:
        return If(cond=self.make(BOOL, depth), then=self.make(t, depth), orelse=self.make(t, depth), type=t)

    def _part(self, t: Type, depth: int) -> Expr:
        """A field of a record, an element of a list or an entry of a map."""
        options: list[tuple[str, Type, str]] = []
        for owner in (ROW, BOX):
            options += [("field", w, n) for n, x in owner.fields if x == t for w in (owner, Optional(owner))]
        options += [("nth", c, "") for c in COLLECTIONS if isinstance(c, ListOf) and c.item == t]
        options += [("entry", c, "") for c in COLLECTIONS if isinstance(c, MapOf) and c.value == t]
        if t == INT:
            options.append(("nth", Optional(ListOf(INT)), ""))
        if not options:
            return self._leaf(t, depth)
        form, owner_type, name = pick(self.draw, *options)
        base = self.make(owner_type, depth)
        if form == "field":
            return Field(base=base, name=name, type=t)
        key = self.make(owner_type.key if isinstance(owner_type, MapOf) else INT, depth - 1)
        return Index(base=base, key=key, type=t)

    def _only(self, t: Type, depth: int) -> Expr:
        return self._comprehension("only", t, t, depth)

    # -- conditions -------------------------------------------------------------------------------------------------

    def _connective(self, t: Type, depth: int) -> Expr:
        op = pick(self.draw, "and", "or", "implies", "not")
        count = {"not": 1, "implies": 2}.get(op) or pick(self.draw, 2, 3)
        return Apply(op=op, args=tuple(self.make(BOOL, depth) for _ in range(count)), type=BOOL)

    def _compare(self, t: Type, depth: int) -> Expr:
        left = pick(self.draw, *COMPARED)
        right = left
        if left in (INT, DECIMAL):
            right = pick(self.draw, INT, DECIMAL, Optional(DECIMAL))
        elif left in (ListOf(INT), ListOf(DECIMAL)):
            right = pick(self.draw, ListOf(INT), ListOf(DECIMAL))
        elif left == MapOf(ITEM, INT):
            right = pick(self.draw, MapOf(ITEM, INT), MapOf(ITEM, DECIMAL))
        elif left == ListOf(ITEM):
            right = pick(self.draw, ListOf(ITEM), ListOf(Optional(ITEM)))
        elif not isinstance(left, Optional) and Optional(left) in COMPARED:
            right = pick(self.draw, left, Optional(left))
        sides = (self.make(left, depth), self.make(right, depth))
        if pick(self.draw, True, False):
            sides = (sides[1], sides[0])
        return Apply(op=pick(self.draw, "==", "==", "!="), args=sides, type=BOOL)

    def _order(self, t: Type, depth: int) -> Expr:
        left = pick(self.draw, *ORDERED)
        right = pick(self.draw, INT, DECIMAL, Optional(DECIMAL)) if left in (INT, DECIMAL) else left
        args = (self.make(left, depth), self.make(right, depth))
        return Apply(op=pick(self.draw, "<", "<=", ">", ">="), args=args, type=BOOL)

    def _in(self, t: Type, depth: int) -> Expr:
        coll = pick(self.draw, *COLLECTIONS)
        item = coll.key if isinstance(coll, MapOf) else coll.item
        if not isinstance(item, Optional) and pick(self.draw, True, False, False):
            item = Optional(item)
        return Apply(op="in", args=(self.make(item, depth), self.make(coll, depth)), type=BOOL)

    def _all(self, t: Type, depth: int) -> Expr:
        return self._comprehension(pick(self.draw, "all", "any"), BOOL, BOOL, depth)

    def _present(self, t: Type, depth: int) -> Expr:
        return Apply(op="present", args=(self.make(pick(self.draw, Optional(ITEM), Optional(ROW)), depth),), type=BOOL)

    # -- numbers and times ------------------------------------------------------------------------------------------

    def _arithmetic(self, t: Type, depth: int) -> Expr:
        op = pick(self.draw, "+", "-", "neg") if t == DURATION else pick(self.draw, "+", "-", "*", "neg")
        args = [self.make(t, depth)]
        if op != "neg":
            args.append(self.make(pick(self.draw, t, INT) if t == DECIMAL else t, depth))
        return Apply(op=op, args=tuple(args), type=t)

    def _abs(self, t: Type, depth: int) -> Expr:
        return Apply(op="abs", args=(self.make(t, depth),), type=t)

    def _div(self, t: Type, depth: int) -> Expr:
        args = tuple(self.make(pick(self.draw, DECIMAL, INT), depth) for _ in range(2))
        return Apply(op="div", args=args, type=DECIMAL)

    def _round(self, t: Type, depth: int) -> Expr:
        return Apply(op="round", args=(self.make(DECIMAL, depth), self.make(INT, depth - 1)), type=DECIMAL)

    def _widened(self, t: Type, depth: int) -> Expr:
        return If(cond=self.make(BOOL, depth), then=self.make(INT, depth), orelse=self.make(DECIMAL, depth), type=t)

    def _extreme(self, t: Type, depth: int) -> Expr:
        op = pick(self.draw, "min", "max")
        if ListOf(t) in COLLECTIONS and pick(self.draw, True, False):
            return Apply(op=op, args=(self.make(ListOf(t), depth),), type=t)
        types = [t, pick(self.draw, INT, DECIMAL) if t == DECIMAL else t]
        return Apply(op=op, args=tuple(self.make(x, depth) for x in types), type=t)

    def _between(self, t: Type, depth: int) -> Expr:
        kind = pick(self.draw, DATE, TIME)
        return Apply(op="-", args=(self.make(kind, depth), self.make(kind, depth)), type=DURATION)

    def _times(self, t: Type, depth: int) -> Expr:
        args = (self.make(DURATION, depth), self.make(pick(self.draw, INT, DECIMAL), depth))
        return Apply(op="*", args=args if pick(self.draw, True, False) else (args[1], args[0]), type=DURATION)

    def _later(self, t: Type, depth: int) -> Expr:
        args = (self.make(t, depth), self.make(DURATION, depth))
        if pick(self.draw, True, False, False):
            return Apply(op="+", args=(args[1], args[0]), type=t)
        return Apply(op=pick(self.draw, "+", "-"), args=args, type=t)

    def _count(self, t: Type, depth: int) -> Expr:
        return Apply(op="count", args=(self.make(pick(self.draw, *COLLECTIONS), depth),), type=INT)

    def _counted(self, t: Type, depth: int) -> Expr:
        return self._comprehension("count", pick(self.draw, BOOL, BOOL, ITEM, Optional(BOOL)), INT, depth)

    def _sum(self, t: Type, depth: int) -> Expr:
        return self._comprehension("sum", t, t, depth)

    # -- collections ------------------------------------------------------------------------------------------------

    def _comprehension(self, kind: str, body: Type, t: Type, depth: int, key: Type | None = None) -> Expr:
        outer, found = dict(self.scope), []
        for _ in range(pick(self.draw, 1, 1, 1, 2)):
            coll = pick(self.draw, *COLLECTIONS)
            item = coll.key if isinstance(coll, MapOf) else coll.item
            source = self.make(coll, depth - 1)
            self.fresh += 1
            found.append(Generator(f"x{self.fresh}", item, source))
            self.scope[f"x{self.fresh}"] = item
        cond = self.make(BOOL, depth) if pick(self.draw, True, False) else None
        made = Comprehension(
            kind=kind, body=self.make(body, depth), generators=tuple(found), cond=cond,  # type: ignore[arg-type]
            key=None if key is None else self.make(key, depth), type=t,
        )  # fmt: skip
        self.scope = outer
        return made

    def _built(self, t: Type, depth: int) -> Expr:
        assert isinstance(t, ListOf | BagOf)
        items = tuple(self.make(t.item, depth) for _ in range(pick(self.draw, 0, 1, 2)))
        return Build(kind="list" if isinstance(t, ListOf) else "bag", items=items, type=t)

    def _each(self, t: Type, depth: int) -> Expr:
        assert isinstance(t, ListOf | BagOf)
        return self._comprehension("list" if isinstance(t, ListOf) else "bag", t.item, t, depth)

    def _keys(self, t: Type, depth: int) -> Expr:
        op = "keys" if t == BagOf(ITEM) else "values"
        source = self.make(
            pick(self.draw, MapOf(ITEM, INT), MapOf(ITEM, DECIMAL)) if op == "keys" else MapOf(ITEM, INT), depth
        )
        return Apply(op=op, args=(source,), type=t)  # type: ignore[arg-type]

    def _mapped(self, t: Type, depth: int) -> Expr:
        assert isinstance(t, MapOf)
        size = range(pick(self.draw, 0, 1, 2))
        keys = tuple(self.make(t.key, depth) for _ in size)
        return Build(kind="map", items=tuple(self.make(t.value, depth) for _ in size), keys=keys, type=t)

    def _mapping(self, t: Type, depth: int) -> Expr:
        assert isinstance(t, MapOf)
        return self._comprehension("map", t.value, t, depth, t.key)

    def _record(self, t: Type, depth: int) -> Expr:
        assert isinstance(t, RecordOf)
        # an optional field may be left out, and a field may hold the plain value where it is optional
        kept = [(n, f) for n, f in t.fields if not (isinstance(f, Optional) and pick(self.draw, True, False, False))]
        types = [f.item if isinstance(f, Optional) and pick(self.draw, True, False) else f for _, f in kept]
        return Build(
            kind="record", items=tuple(self.make(f, depth) for f in types), names=tuple(n for n, _ in kept), type=t
        )

    def _lifted(self, t: Type, depth: int) -> Expr:
        """A value or absent; the branches have types that only join."""
        assert isinstance(t, Optional)
        then = self.make(t.item, depth)
        return If(cond=self.make(BOOL, depth), then=then, orelse=Lit(value=None, type=t), type=t)


@st.composite
def environments(draw: Draw) -> dict[str, Value]:
    """Values for all variables."""
    return environment(draw)


@st.composite
def questions(draw: Draw, depth: int = 3) -> tuple[Expr, dict[str, Value]]:
    """An expression of any type, and values for the variables that it may use."""
    made = Maker(draw).make(pick(draw, BOOL, BOOL, BOOL, *COMPARED), depth)
    return made, environment(draw)
