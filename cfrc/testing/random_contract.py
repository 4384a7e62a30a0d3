"""Turns random choices and a small domain into contracts: names, obligations, history, scope, limits and approvals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from cfrc.model.contract import (
    Approval,
    Contract,
    Doubt,
    EffectGoal,
    Fact,
    Goal,
    KeptEffect,
    Licence,
    Limit,
    Name,
    Obligation,
    Origin,
    StateGoal,
)
from cfrc.model.domain import Domain
from cfrc.model.expr import Expr, FluentRead, Lit, Var, walk
from cfrc.model.types import BOOL, DECIMAL, Type
from cfrc.model.values import Value
from cfrc.testing.build import TRUE, eq, exists, known, op, read, receipt
from cfrc.testing.random_domain import (
    CLOSED,
    ITEM,
    OPEN,
    PERSON,
    RECEIPT,
    Draw,
    chance,
    pick,
    status_of,
)

USER = Origin("user", turn=1)
AMOUNTS = (Fraction(5), Fraction(7))
DIGEST = "sha256:" + "0" * 64


@dataclass
class _Pool:
    """The names that a contract's obligations may use."""

    names: dict[str, Name] = field(default_factory=dict)

    def add(self, name: Name) -> None:
        self.names[name.name] = name

    def some(self, draw: Draw, t: Type, prefix: str) -> Expr:
        """One of the names of the type whose name starts so."""
        return known(pick(draw, *(n for n, v in self.names.items() if v.type == t and n.startswith(prefix))), t)

    def value(self, e: Expr | None) -> Value:
        """The value of a ground argument."""
        assert isinstance(e, Lit | Var)
        return e.value if isinstance(e, Lit) else self.names[e.name].value


def _origin(draw: Draw, path: str) -> Origin:
    from_get = Origin("receipt", receipt="c1", tool="get", path=("owner",) if path == "person" else (path,))
    from_find = Origin("receipt", receipt="c2", tool="find", path=(path,))
    return pick(draw, USER, USER, USER, USER, USER, from_get, from_find, replace(USER, quoted=(3, 9)))  # type: ignore[no-any-return]


def _names(draw: Draw) -> _Pool:
    pool = _Pool()
    fixed_items, fixed_people = chance(draw, 60), chance(draw, 25)
    pool.add(Name("i1", ITEM, "I1", fixed_items, USER))
    if chance(draw, 40):
        pool.add(Name("i2", ITEM, "I2", fixed_items and not chance(draw, 15), _origin(draw, "item")))
    pool.add(Name("p1", PERSON, "P1", fixed_people, _origin(draw, "person")))
    if chance(draw, 35):
        pool.add(Name("p2", PERSON, "P2", fixed_people and not chance(draw, 15), _origin(draw, "person")))
    targets = (("charge", "amount"),) if chance(draw, 12) else ()
    pool.add(Name("a1", DECIMAL, AMOUNTS[0], bool(targets), _origin(draw, "amount"), targets=targets))
    if chance(draw, 25):
        pool.add(Name("a2", DECIMAL, AMOUNTS[1], False, _origin(draw, "amount")))
    return pool


def _effect_goal(draw: Draw, pool: _Pool) -> tuple[EffectGoal, dict[str, Any]]:
    """A goal, and the parts of an obligation that it needs."""
    item, person, amount = (pool.some(draw, ITEM, "i"), pool.some(draw, PERSON, "p"), pool.some(draw, DECIMAL, "a"))
    e, x = exists("e", PERSON), exists("x", DECIMAL)
    plain: list[tuple[EffectGoal, dict[str, Any]]] = [
        (EffectGoal("charged", (item, amount)), {}),
        (EffectGoal("moved", (item, person)), {}),
        (EffectGoal("noted", (person,)), {}),
    ]
    rare: list[tuple[EffectGoal, dict[str, Any]]] = [
        (EffectGoal("moved", (item, None)), {}),
        (EffectGoal("moved", (item, e)), {"exists": (("e", PERSON),)}),
        (EffectGoal("noted", (e,)), {"exists": (("e", PERSON),), "shared": chance(draw, 30)}),
        (EffectGoal("charged", (item, x)), {"exists": (("x", DECIMAL),), "where": op(">=", x, amount)}),
        (EffectGoal("moved", (item, e)), {"exists": (("e", PERSON),), "where": op("!=", e, person)}),
        (EffectGoal("noted", (read("owner", PERSON, item),)), {}),
        (EffectGoal("noted", (person,)), {"count": 2}),
    ]
    return pick(draw, *(rare if chance(draw, 35) else plain))  # type: ignore[no-any-return]


def _state_goal(draw: Draw, pool: _Pool) -> StateGoal:
    item, person = pool.some(draw, ITEM, "i"), pool.some(draw, PERSON, "p")
    return StateGoal(
        pick(
            draw,
            eq(status_of(item), CLOSED),
            eq(status_of(item), OPEN),
            eq(read("flag", BOOL), TRUE),
            eq(read("owner", PERSON, item), person),
        )
    )


def _obligation(draw: Draw, pool: _Pool, name: str, earlier: list[Obligation]) -> Obligation:
    makers = [o for o in earlier if o.choice == "all" and o.count == 1 and isinstance(o.goals[0], EffectGoal)]
    makers = [o for o in makers if isinstance(o.goals[0], EffectGoal) and o.goals[0].effect != "arrived"]
    kind = pick(draw, *["effect"] * 6, "state", "state", "choice", "arrived", "arrived")
    more: dict[str, Any] = {}
    goals: tuple[Goal, ...]
    if kind == "arrived" and makers:
        goals = (EffectGoal("arrived", (receipt(pick(draw, *makers).name, RECEIPT, "ref"),)),)
    elif kind == "state":
        goals = (_state_goal(draw, pool),)
    elif kind == "choice":
        first = EffectGoal("noted", (pool.some(draw, PERSON, "p"),))
        second = EffectGoal("charged", (pool.some(draw, ITEM, "i"), pool.some(draw, DECIMAL, "a")))
        goals, more = (first, second), {"choice": pick(draw, "one", "any")}
    else:
        goal, more = _effect_goal(draw, pool)
        goals = (goal,)
    if chance(draw, 8):
        more["condition"] = pick(draw, eq(read("flag", BOOL), TRUE), eq(status_of(known("i1", ITEM)), OPEN))
    return Obligation(name, goals, origin=USER, **more)


def _others_may_realize(domain: Domain, o: Obligation) -> bool:
    """Whether a goal is about a volatile fluent: then no step of a proposal need be the one that realizes it."""
    conditions = [g.condition for g in o.goals if isinstance(g, StateGoal)]
    return any(isinstance(x, FluentRead) and domain.fluents[x.fluent].volatile for c in conditions for x in walk(c))


def _obligations(draw: Draw, domain: Domain, pool: _Pool) -> tuple[Obligation, ...]:
    found: list[Obligation] = []
    for i in range(pick(draw, 1, 1, 2, 2, 3)):
        o = _obligation(draw, pool, f"o{i + 1}", found)
        if all(o.goals != other.goals for other in found):
            found.append(o)
    if len(found) > 1 and not any(_others_may_realize(domain, o) for o in found) and chance(draw, 15):
        later = tuple(o.name for o in found[1:])[:1]
        found[0] = replace(found[0], before=later)
    return tuple(found)


def _history(draw: Draw, pool: _Pool) -> dict[str, Any]:
    """Kept effects, facts and in-doubt effects that do not contradict the obligations."""
    kept = []
    if chance(draw, 45):
        pool.add(Name("k", ITEM, "I9", False, USER))
        pool.add(Name("q", PERSON, "P9", False, USER))
        options: tuple[tuple[str, tuple[Value, ...]], ...] = (
            ("charged", ("I9", AMOUNTS[0])), ("moved", ("I9", "P9")), ("noted", ("P9",)),
        )  # fmt: skip
        effect, args = pick(draw, *options)
        kept.append(KeptEffect(effect, args, Origin("receipt", receipt="c3")))
    facts = []
    if chance(draw, 60):
        facts.append(Fact("status", ("I1",), pick(draw, "open", "open", "closed"), chance(draw, 20), USER))
    if chance(draw, 40):
        facts.append(Fact("flag", (), pick(draw, True, True, False), chance(draw, 20), USER))
    if chance(draw, 25):
        facts.append(Fact("owner", ("I1",), "P1", chance(draw, 30), USER))
    if chance(draw, 40):
        facts.append(Fact("balance", (), Fraction(10), chance(draw, 5), USER))
    return {"kept": tuple(kept), "facts": tuple(facts)}


def _doubts(draw: Draw, domain: Domain, pool: _Pool) -> tuple[Doubt, ...]:
    if not chance(draw, 15):
        return ()
    amount = pool.value(pool.some(draw, DECIMAL, "a"))
    args: tuple[tuple[str, Value], ...] = (("item", "I1"), ("amount", amount))
    if domain.tools["charge"].param("confirm") is not None:
        args = (*args, ("confirm", True))
    origin = Origin("receipt", receipt="c4", status="unknown")
    return (Doubt("charged", ("I1", amount), origin, pick(draw, None, ("charge", args))),)


def _scope(draw: Draw, domain: Domain, obligations: tuple[Obligation, ...]) -> tuple[Licence, ...] | None:
    """Tight, everything, or the obligations' own instances with what else their tools write."""
    if chance(draw, 25):
        return None
    items: list[Licence] = []
    wide = chance(draw, 60)
    goals = [(o, g) for o in obligations for g in o.goals if isinstance(g, EffectGoal)]
    if wide:
        items += [Licence("effect", e.name, (None,) * len(e.params)) for e in domain.effects.values()]
    else:
        items += [Licence("effect", g.effect, g.args, exists=o.exists, where=o.where) for o, g in goals]
    fluents = [f for f in domain.fluents.values() if not chance(draw, 12)]
    items += [Licence("fluent", f.name, (None,) * len(f.params)) for f in fluents]
    if "raw" in domain.tools and chance(draw, 50):
        items.append(Licence("tool", "raw"))
    return tuple(items)


def _limits(draw: Draw, doubtful: bool) -> tuple[Limit, ...]:
    """Limits that history alone does not exceed, nearly always: what is in doubt may come on top."""
    if not chance(draw, 7 if doubtful else 20):
        return ()
    amount = Var(name="a", kind="bound", type=DECIMAL)
    return (
        pick(
            draw,
            Limit("count", "noted", (None,), None, 1),
            Limit("count", "moved", (known("i1", ITEM), None), None, 1),
            Limit("sum", "charged", (None, "a"), amount, Fraction(5)),
            Limit("sum", "charged", (None, "a"), amount, Fraction(12)),
        ),
    )


def _approvals(draw: Draw, domain: Domain, pool: _Pool, obligations: tuple[Obligation, ...]) -> list[Approval]:
    """Approvals of the calls that ground obligations ask for, now and then expired, used up, denied or for others."""
    makers = {
        "moved": ("move", ("item", "person")),
        "charged": ("charge", ("item", "amount")),
        "noted": ("note", ("person",)),
    }
    found: list[Approval] = []
    for o in obligations:
        for g in o.goals:
            if not isinstance(g, EffectGoal) or g.effect not in makers:
                continue
            tool, params = makers[g.effect]
            if domain.tools[tool].approved is None or not all(isinstance(a, Var) and a.kind == "name" for a in g.args):
                continue
            args = [(p, pool.value(a)) for p, a in zip(params, g.args, strict=True)]
            args += [("confirm", True)] if domain.tools[tool].param("confirm") is not None else []
            args += [("body", "hello")] if tool == "note" else []
            found += [Approval(tool, tuple(args), False, policy="v1", origin=USER)] * o.count
    if found and chance(draw, 15):
        found = [Approval(a.tool, a.args, False, policy="v0", origin=USER) for a in found]
    if chance(draw, 5):
        found.append(Approval(pick(draw, "charge", "note"), (), True, origin=USER))
    return found


@st.composite
def contracts(draw: Draw, domain: Domain) -> Contract:
    """Contracts of a domain made by :func:`cfrc.testing.strategies.domains`; nearly all are supported."""
    pool = _names(draw)
    obligations = _obligations(draw, domain, pool)
    history = _history(draw, pool)
    if not history["kept"] and not any(n.fixed for n in pool.names.values()):
        pool.add(Name("i1", ITEM, "I1", True, USER))
    allow = tuple(t for t in domain.tools if not chance(draw, 1))
    doubts = _doubts(draw, domain, pool)
    return Contract(
        "z", domain, DIGEST, request="A random request.", names=pool.names, obligations=obligations, allow=allow,
        doubts=doubts, scope=_scope(draw, domain, obligations), limits=_limits(draw, bool(doubts)),
        approvals=tuple(_approvals(draw, domain, pool, obligations)), policy="v1", **history,
    )  # fmt: skip
