"""Turns random choices into small domains: a few tools over items, people, amounts and references.

The vocabulary is fixed, so that contracts and proposals can be generated that nearly fit; what each tool requires,
causes, sets, observes and asks approval for is random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from cfrc.model.domain import Domain, Effect, EffectClause, Fluent, FluentClause, Param, SourcePattern, Tool
from cfrc.model.expr import Expr
from cfrc.model.types import BOOL, DECIMAL, Enum, Id, Optional, RecordOf, Type
from cfrc.testing.build import FALSE, TEXT, TRUE, effect, eq, lit, negate, op, param, read, result, value_of

Draw = Callable[[st.SearchStrategy[Any]], Any]

ITEM, PERSON, REF = Id("Item"), Id("Person"), Id("Ref")
STATUS = Enum("Status", ("open", "closed"), ("open", "closed"))
SEEN = Enum("Seen", ("waiting", "arrived", "lost"), ("waiting", "arrived", "lost"))
RECEIPT = RecordOf(None, (("ref", REF), ("ok", BOOL)))
EMPTY = RecordOf(None, ())
OPEN, CLOSED = lit("open", STATUS), lit("closed", STATUS)
IT, P, A, R = param("item", ITEM), param("person", PERSON), param("amount", DECIMAL), param("ref", REF)
CONFIRM = param("confirm", BOOL)
FLAG = read("flag", BOOL)
BALANCE = read("balance", DECIMAL)


def chance(draw: Draw, percent: int) -> bool:
    """True in so many of a hundred cases; shrinks to false."""
    return bool(draw(st.integers(0, 99)) >= 100 - percent)


def pick(draw: Draw, *options: Any) -> Any:
    """One of the options; shrinks to the first."""
    return draw(st.sampled_from(options))


def status_of(item: Expr) -> Expr:
    return read("status", STATUS, item)


def _effects(draw: Draw) -> dict[str, Effect]:
    item, person, amount = ("item", ITEM), ("person", PERSON), ("amount", DECIMAL)
    moved_key: tuple[int, ...] = (0,) if chance(draw, 40) else (0, 1)
    return {
        "moved": Effect("moved", (item, person), moved_key, once=chance(draw, 50)),
        "charged": Effect("charged", (item, amount), (0,), once=chance(draw, 60)),
        "noted": Effect("noted", (person,), (0,), once=chance(draw, 30)),
        "arrived": Effect("arrived", (("ref", REF),), (0,)),
    }


def _fluents(draw: Draw) -> dict[str, Fluent]:
    item = (("item", ITEM),)
    return {
        "status": Fluent("status", item, STATUS, volatile=chance(draw, 20)),
        "flag": Fluent("flag", (), BOOL, volatile=chance(draw, 25)),
        "owner": Fluent("owner", item, PERSON),
        "balance": Fluent("balance", (), DECIMAL),
    }


def _condition(draw: Draw, has: set[str]) -> Expr | None:
    """When the tool's effect happens."""
    options: list[Expr | None] = [None] * 6 + [CONFIRM, result(RECEIPT, "ok"), negate(FLAG)]
    if "item" in has:
        options.append(eq(status_of(IT), OPEN))
    return pick(draw, *options)  # type: ignore[no-any-return]


def _requires(draw: Draw, has: set[str]) -> tuple[Expr, ...]:
    options: list[Expr | None] = [None, None, None, None, FLAG]
    if "item" in has:
        options += [eq(status_of(IT), OPEN), eq(status_of(IT), OPEN), negate(eq(status_of(IT), CLOSED))]
    if "amount" in has:
        options += [op(">", A, lit(0, DECIMAL)), op("<=", A, BALANCE)]
    chosen = {pick(draw, *options) for _ in range(pick(draw, 1, 1, 2))}
    return tuple(sorted((c for c in chosen if c is not None), key=repr))


def _sets(draw: Draw, has: set[str], when: Expr | None) -> tuple[FluentClause, ...]:
    options: list[FluentClause | None] = [None] * 4 + [
        value_of("flag", (), pick(draw, TRUE, FALSE, negate(FLAG)), when)
    ]
    if "item" in has:
        options.append(value_of("status", (IT,), CLOSED, when))
    if {"item", "person"} <= has:
        options.append(value_of("owner", (IT,), P, when))
    if "amount" in has:
        options.append(value_of("balance", (), op("-", BALANCE, A), when))
    chosen = pick(draw, *options)
    return () if chosen is None else (chosen,)


def _sources(draw: Draw, t: Type) -> tuple[SourcePattern, ...] | None:
    if not chance(draw, 20):
        return None
    name = {"Item": "item", "Person": "person", "decimal": "amount"}[str(t)]
    found = [SourcePattern("user"), SourcePattern("tool", "find", (name,)), SourcePattern("tool", "get")]
    return tuple(p for p in found if not chance(draw, 10)) or (SourcePattern("user"),)


def _actor_of(draw: Draw, name: str, makes: str, params: dict[str, Type]) -> Tool:
    """A write tool that causes the effect with its own parameters, under random conditions."""
    has = set(params)
    when = _condition(draw, has)
    declared = [Param(n, t, sources=_sources(draw, t), unquoted=chance(draw, 10)) for n, t in params.items()]
    if when == CONFIRM:
        declared.append(Param("confirm", BOOL, default=FALSE))
    if makes == "noted":
        declared.append(Param("body", TEXT))
    clause = effect(makes, *(param(n, t) for n, t in params.items()), when=when)
    approved = (CONFIRM if when == CONFIRM else TRUE) if chance(draw, 12) else None
    return Tool(
        name, "write", tuple(declared), RECEIPT, requires=_requires(draw, has), causes=(clause,),
        sets=_sets(draw, has, when if when is None or chance(draw, 60) else None), approved=approved,
        idempotent=chance(draw, 25),
        may_cause=(effect(makes, *clause.args),) if chance(draw, 4) else (),
    )  # fmt: skip


def _readers(draw: Draw) -> list[Tool]:
    got = RecordOf(None, (("item", ITEM), ("status", STATUS), ("owner", PERSON), ("amount", DECIMAL)))
    hit = RecordOf(None, (("person", PERSON),))
    found = RecordOf(None, (("item", ITEM), ("person", PERSON), ("amount", DECIMAL), ("hit", Optional(hit))))
    positive: tuple[Expr, ...] = (op(">", result(got, "amount"), lit(0, DECIMAL)),) if chance(draw, 30) else ()
    same = (eq(result(got, "item"), IT),) if chance(draw, 80) else ()
    return [
        Tool(
            "get", "read", (Param("item", ITEM),), got, ensures=(*same, *positive),
            observes=(
                value_of("status", (IT,), result(got, "status")),
                *((value_of("owner", (IT,), result(got, "owner")),) if chance(draw, 70) else ()),
            ),
            echoes={("item",): "item"} if same else {},
        ),
        Tool("find", "read", (), found, grounds_nothing=chance(draw, 10)),
        Tool("look", "read", (), RecordOf(None, (("flag", BOOL),)),
             observes=(value_of("flag", (), result(RecordOf(None, (("flag", BOOL),)), "flag")),)),
    ]  # fmt: skip


def _witnesses() -> list[Tool]:
    seen = RecordOf(None, (("seen", SEEN),))
    there = RecordOf(None, (("there", BOOL),))
    is_there = result(there, "there")
    charged = (IT, A)

    def tracked(member: str) -> EffectClause:
        return effect("arrived", R, when=eq(result(seen, "seen"), lit(member, SEEN)))

    return [
        Tool("track", "read", (Param("ref", REF),), seen, witnesses=(tracked("arrived"),), refutes=(tracked("lost"),)),
        Tool(
            "check_charge", "read", (Param("item", ITEM), Param("amount", DECIMAL)), there,
            witnesses=(effect("charged", *charged, when=is_there),),
            refutes=(effect("charged", *charged, when=negate(is_there)),),
        ),
    ]  # fmt: skip


def _writers(draw: Draw) -> list[Tool]:
    to = param("to", STATUS)
    tools = [
        Tool("set_status", "write", (Param("item", ITEM), Param("to", STATUS)), EMPTY,
             sets=(value_of("status", (IT,), to),)),
        Tool("set_flag", "write", (Param("on", BOOL),), EMPTY, sets=(value_of("flag", (), param("on", BOOL)),)),
        Tool("cancel", "write", (Param("item", ITEM), Param("amount", DECIMAL)), EMPTY,
             undoes=(effect("charged", IT, A),)),
    ]  # fmt: skip
    if chance(draw, 40):
        tools.append(Tool("raw", "write", (), EMPTY, undeclared=True))
    return tools


@st.composite
def domains(draw: Draw) -> Domain:
    """Small domains: at most ten tools, four effects and four fluents."""
    tools = [
        _actor_of(draw, "move", "moved", {"item": ITEM, "person": PERSON}),
        _actor_of(draw, "charge", "charged", {"item": ITEM, "amount": DECIMAL}),
        _actor_of(draw, "note", "noted", {"person": PERSON}),
        *_readers(draw),
        *_witnesses(),
        *_writers(draw),
    ]
    types: dict[str, Type] = {"Item": ITEM, "Person": PERSON, "Ref": REF, "Status": STATUS, "Seen": SEEN}
    return Domain("random", types, _fluents(draw), _effects(draw), {t.name: t for t in tools})
