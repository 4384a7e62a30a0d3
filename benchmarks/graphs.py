"""Turns a size and a shape into a ground contract and the proposal that completes it.

Every item is owed once, and making one needs one or two others to be ready: ``requires`` has to be established by
earlier nodes, ``once`` keys have to differ, and every effect has to lie in a scope that
licenses each by name. Nothing is symbolic, so
that the same plan can be given to a classical plan validator and to a dictionary replay.
"""

from __future__ import annotations

from dataclasses import dataclass

from cfrc.lang.load import load
from cfrc.model.contract import Contract, EffectGoal, Fact, KeptEffect, Licence, Name, Obligation, Origin
from cfrc.model.domain import Domain
from cfrc.model.expr import Expr, Lit, Var
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.source import Source

DOMAIN = """
domain relay
    id Item
    fluent ready(item: Item): bool
    effect made(item: Item) once
    write make(item: Item, needs: Item, also: Item)
        requires ready(needs)
        requires ready(also)
        causes made(item)
        sets ready(item) = true
"""

SHAPES = ("chain", "wide", "diamond")


@dataclass(frozen=True, slots=True)
class Ground:
    """A ground plan. Step ``i`` of ``steps`` makes item ``i + 1`` out of two items; item 0 is ready from the start.

    ``steps`` is in an executable order, for peers that know only sequences.
    """

    contract: Contract
    proposal: Proposal
    steps: tuple[tuple[int, int, int], ...]


def steps(shape: str, size: int) -> tuple[tuple[int, int, int], ...]:
    """``(item, needs, also)`` of every call. ``diamond``: layers of one, two, one, two … nodes, each on the last.

    Raises ``ValueError`` for a shape that is not in :data:`SHAPES`.
    """
    found: list[tuple[int, int, int]] = []
    for i in range(1, size + 1):
        if shape == "chain":
            found.append((i, i - 1, i - 1))
        elif shape == "wide":
            found.append((i, 0, 0))
        elif shape == "diamond":
            split = i - 1 - (i + 1) % 3 if i % 3 != 1 else 0
            found.append((i, split, split) if i % 3 != 1 else (i, max(i - 2, 0), i - 1))
        else:
            raise ValueError(f"no shape {shape!r}: one of {', '.join(SHAPES)}")
    return tuple(found)


def ground(shape: str, size: int, named: bool = False) -> Ground:
    """A contract that owes ``size`` items, and a proposal of ``size`` calls and ``done`` that makes them.

    ``named``: obligations, licences and arguments say `x1` (a known value of the contract) instead of `"item-1"`.
    """
    plan = steps(shape, size)
    domain = load(Source("<relay>", DOMAIN)).domains["relay"]
    item = domain.types["Item"]
    items: list[Expr]
    if named:
        items = [Var(name=f"x{i}", kind="name", type=item) for i in range(size + 1)]
    else:
        items = [Lit(value=f"item-{i}", type=item) for i in range(size + 1)]
    return Ground(_contract(domain, items), _proposal(items, plan), plan)


def _contract(domain: Domain, items: list[Expr]) -> Contract:
    user, receipt = Origin("user", turn=1), Origin("receipt", receipt="c0", tool="make")
    type_ = domain.types["Item"]
    names = {f"x{i}": Name(f"x{i}", type_, f"item-{i}", fixed=False, origin=user) for i in range(len(items))}
    return Contract(
        name="items",
        domain=domain,
        digest="sha256:" + "0" * 64,
        names=names,
        kept=(KeptEffect("made", ("item-0",), receipt),),
        facts=(Fact("ready", ("item-0",), True, kept=False, origin=receipt),),
        obligations=tuple(Obligation(f"o{i}", (EffectGoal("made", (item,)),)) for i, item in enumerate(items) if i),
        allow=("make",),
        scope=(
            *(Licence("effect", "made", (item,)) for item in items[1:]),
            Licence("fluent", "ready", (None,)),
        ),
    )


def _proposal(items: list[Expr], plan: tuple[tuple[int, int, int], ...]) -> Proposal:
    calls = tuple(
        Call(
            id=f"n{i}",
            tool="make",
            args={"item": items[i], "needs": items[needs], "also": items[also]},
            after=tuple(f"n{p}" for p in sorted({needs, also}) if p > 0),
        )
        for i, needs, also in plan
    )
    return Proposal("made", "items", (*calls, Terminal("done", "done")))
