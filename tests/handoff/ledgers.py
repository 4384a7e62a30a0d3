"""Turns random choices and a small domain into tasks without a past, and into ledgers of what may have been recorded."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st

from cfrc.handoff.freezing.freeze import reload
from cfrc.lang.diagnostics import SpecError
from cfrc.lang.textforms import contract_to_text
from cfrc.model.contract import Approval, Contract, Origin
from cfrc.model.domain import Domain, Tool
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.types import DECIMAL, Enum, Id, Optional, Prim, RecordOf, Type
from cfrc.model.values import Value, record
from cfrc.testing.random_domain import ITEM, PERSON, Draw, chance, pick
from cfrc.testing.strategies import contracts, domains

USER = Origin("user", turn=1)
POOL: dict[str, tuple[Value, ...]] = {
    "Item": ("I1", "I1", "I1", "I2", "I9"),
    "Person": ("P1", "P1", "P1", "P2", "P9"),
    "Ref": ("r1", "r2", "r3"),
    "decimal": (Fraction(5), Fraction(5), Fraction(5), Fraction(7), Fraction(1)),
    "text": ("pay I1 to P1, 5.00", "nothing"),
}


def value(draw: Draw, t: Type) -> Value:
    """A value of a type that the random domains have."""
    match t:
        case Optional(item):
            return None if chance(draw, 30) else value(draw, item)
        case Enum(_, members):
            return pick(draw, *members)  # type: ignore[no-any-return]
        case RecordOf(_, fields):
            return record({n: value(draw, f) for n, f in fields})
        case Prim("bool"):
            return chance(draw, 60)
        case Id(name) | Prim(name):
            return pick(draw, *POOL[name])  # type: ignore[no-any-return]
    raise TypeError(t)


def arguments(draw: Draw, tool: Tool) -> tuple[tuple[str, Value], ...]:
    given = [p for p in tool.params if p.default is None or chance(draw, 80)]
    return tuple((p.name, value(draw, p.type)) for p in given)


def receipt(draw: Draw, domain: Domain, number: int) -> Receipt:
    tool = domain.tools[pick(draw, *sorted(domain.tools))]
    status = pick(draw, *["success"] * 7, "failure", "unknown", "pending", "partial")
    result = value(draw, tool.result) if status == "success" or (status == "partial" and chance(draw, 50)) else None
    return Receipt(f"c{number}", tool.name, arguments(draw, tool), result, status)


def entry(draw: Draw, domain: Domain, number: int) -> Receipt | Choice | Approval:
    kind = pick(draw, *["receipt"] * 8, "choice", "approval")
    if kind == "choice":
        t = pick(draw, ITEM, PERSON, DECIMAL)
        name = pick(draw, "i1", "p1", "a1", "chosen", "o1", f"{t}_other")
        return Choice(name, t, value(draw, t), number)
    if kind == "approval":
        tool = domain.tools[pick(draw, "charge", "move", "note")]
        args = tuple((p.name, value(draw, p.type)) for p in tool.params)
        return Approval(tool.name, args, chance(draw, 20), pick(draw, None, "v1"), origin=USER)
    return receipt(draw, domain, number)


@st.composite
def ledgers(draw: Draw, domain: Domain, most: int = 7) -> Ledger:
    """Ledgers of at most so many entries, every one of which the domain can record."""
    size = draw(st.integers(0, most))
    return Ledger("L", domain, tuple(entry(draw, domain, i + 1) for i in range(size)))


@st.composite
def tasks(draw: Draw, domain: Domain) -> Contract:
    """Task contracts as they are written before anything happens: no kept effects, doubts, facts or approvals."""
    contract = draw(contracts(domain))
    names = {n: replace(v, origin=USER) for n, v in contract.names.items()}
    task = replace(contract, names=names, kept=(), facts=(), doubts=(), approvals=(), digest="")
    assume(_sayable(task))
    return task


def _sayable(task: Contract) -> bool:
    """Whether the text of the task resolves: contracts made in memory may refer to fields that not every receipt has."""
    try:
        reload(contract_to_text(task), task.domain)
    except SpecError:
        return False
    return True


@st.composite
def histories(draw: Draw, most: int = 7) -> tuple[Contract, Ledger]:
    """A task, and what was recorded while it was worked on."""
    domain = draw(domains())
    return draw(tasks(domain)), draw(ledgers(domain, most))


def cut(ledger: Ledger, at: int) -> tuple[Ledger, Ledger]:
    """The ledger before and from a place on."""
    return replace(ledger, entries=ledger.entries[:at]), replace(ledger, entries=ledger.entries[at:])
