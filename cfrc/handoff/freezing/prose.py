"""Turns values that are owed or bound, and stand in a text that a tool returned, into known values with their place.

A value read out of prose is weaker than a field: its origin says ``quoted 271..293``, and a parameter may refuse it.
Only whole tokens count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

from cfrc.handoff.freezing.known import Leaf, leaves, origin_of, successes
from cfrc.handoff.freezing.naming import Names, plain_name
from cfrc.handoff.freezing.past import Past
from cfrc.lang import scalars
from cfrc.model.canon import canonical
from cfrc.model.contract import EffectGoal, Name, Obligation
from cfrc.model.expr import Expr, Lit, Var, walk
from cfrc.model.types import DATE, DECIMAL, INT, STRING, TEXT, Id, Type
from cfrc.model.values import Value

SHORTEST = 2
"""Of shorter words too many stand in any text by chance."""
_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")

Wanted = tuple[Type, Value]


def find_token(text: str, value: str, start: int = 0) -> tuple[int, int] | None:
    """Where the value stands in the text as a whole token: what touches it is no letter, digit or joint of a word."""
    if len(value) < SHORTEST:
        return None
    at = text.find(value, start)
    while at >= 0:
        end = at + len(value)
        if _free(text, at - 1, value[0], -1) and _free(text, end, value[-1], 1):
            return at, end
        at = text.find(value, at + 1)
    return None


def _free(text: str, at: int, inside: str, step: int) -> bool:
    """Whether the character beside a token does not go on with it. A joint (``-``, ``.``, ``@`` …) does, when a letter
    or digit follows it."""
    if not 0 <= at < len(text) or not (inside.isalnum() or inside == "_"):
        return True
    c = text[at]
    if c.isalnum() or c == "_":
        return False
    beyond = at + step
    return not (c in "-.@/+:#" and 0 <= beyond < len(text) and text[beyond].isalnum())


def find_value(text: str, t: Type, value: Value) -> tuple[int, int] | None:
    """The first place where a text says a value of a type."""
    match value:
        case str():
            found = find_token(text, value)
            if found is None and isinstance(t, Id) and t.canonical:
                return _canonical_token(text, t, value)
            return found
        case bool():
            return None
        case int() | Fraction():
            return _number(text, value)
        case datetime():
            return find_token(text, scalars.show_time(value))
        case date():
            return find_token(text, value.isoformat())
    return None


def _canonical_token(text: str, t: Id, value: str) -> tuple[int, int] | None:
    """A spelling of the value that its type counts as the same."""
    for m in re.finditer(r"\S+", text):
        start, end = m.span()
        while end > start and text[end - 1] in ".,;:!?)\"'":
            end -= 1
        while start < end and text[start] in "(\"'":
            start += 1
        if end - start >= SHORTEST and canonical(t, text[start:end]) == value:
            return start, end
    return None


def _number(text: str, value: int | Fraction) -> tuple[int, int] | None:
    for m in _NUMBER.finditer(text):
        plain = scalars.parse_decimal(m.group().replace(",", ""))
        if plain is not None and plain == value:
            return m.span()
    return None


def quoted_values(
    past: Past, names: Mapping[str, Name], obligations: Iterable[Obligation], free: Names
) -> dict[str, Name]:
    """Known values for what is owed or bound and stands in the text of a receipt, unless a receipt's field says it."""
    told = {(n.type, n.value) for n in names.values() if n.origin is not None and n.origin.kind == "receipt"}
    trusted = {t.tool for t in past.before.trusts}
    texts = [(r, tool, leaf) for r, tool in successes(past) for leaf in _texts(leaves(r.result, tool.result))]
    found: dict[str, Name] = {}
    for t, value in dict.fromkeys(_wanted(names, obligations)):
        if (t, value) in told:
            continue
        for receipt, tool, leaf in texts:
            place = find_value(str(leaf.value), t, value) if not tool.grounds_nothing else None
            if place is not None:
                origin = origin_of(receipt, tool, leaf.path, trusted)
                name = free.free(plain_name(value, t, "quoted"))
                found[name] = Name(name, t, value, False, replace(origin, quoted=place))
                break
    return found


def _texts(found: Iterator[Leaf]) -> Iterator[Leaf]:
    return (x for x in found if x.type in (TEXT, STRING))


def _wanted(names: Mapping[str, Name], obligations: Iterable[Obligation]) -> Iterator[Wanted]:
    for n in names.values():
        if n.fixed:
            yield n.type, n.value
    for o in obligations:
        for e in _exprs(o):
            for x in walk(e):
                if isinstance(x, Lit) and (isinstance(x.type, Id) or x.type in (STRING, DECIMAL, INT, DATE)):
                    yield x.type, x.value
                elif isinstance(x, Var) and x.kind == "name" and x.name in names:
                    yield names[x.name].type, names[x.name].value


def _exprs(o: Obligation) -> Iterator[Expr]:
    for g in o.goals:
        if isinstance(g, EffectGoal):
            yield from (a for a in g.args if a is not None)
        else:
            yield g.condition
    if o.where is not None:
        yield o.where
