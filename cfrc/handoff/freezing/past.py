"""Turns a contract and the ledger since its freeze into what has happened by now, and which receipt says so.

The contract is the summary of everything before: its facts are the world, its kept effects are realized, its doubts are
open. The ledger is replayed on top of that, by the same clauses as anywhere else (``cfrc.model.receipts``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cfrc.model.canon import canonical
from cfrc.model.contract import Contract, Doubt, EffectGoal, KeptEffect, Obligation, Origin
from cfrc.model.domain import Domain
from cfrc.model.evaluate import Env, Undefined, evaluate, holds
from cfrc.model.expr import Discharge, Expr, FluentRead, Lit, Var, walk
from cfrc.model.instances import Instance, Signatures
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.receipts import World
from cfrc.model.types import BOOL
from cfrc.model.values import Value
from cfrc.verify.happened import Happened, distinct, happened


@dataclass(frozen=True, slots=True)
class Carried(Receipt):
    """What stands for a receipt of before: ``entry`` is the item of the contract that summarizes it."""

    entry: KeptEffect | Doubt | None = None


@dataclass(slots=True)
class Past:
    """``happened`` is the state of the record by now; ``told`` names for each fluent instance the receipt that first
    said its present value (instances that the contract said already are not in it). ``conditions`` says which ``if``
    clauses were settled, and how."""

    before: Contract
    ledger: Ledger
    happened: Happened
    told: dict[Instance, Receipt] = field(default_factory=dict)
    conditions: dict[str, bool] = field(default_factory=dict)

    @property
    def world(self) -> World:
        return self.happened.world

    def read(self, fluent: str, args: tuple[Value, ...]) -> Value:
        """What the record says. ``LookupError`` where it says nothing."""
        return self.world.read(fluent, args)


def past_of(before: Contract, ledger: Ledger) -> Past:
    """Replays the ledger on top of the contract."""
    past = Past(before, ledger, begin(before, ledger))
    receipts = [r for _, r in distinct(ledger)]
    known = dict(past.world.values)
    step = -1

    def each(world: World) -> None:
        nonlocal known, step
        latest = receipts[step] if step >= 0 else None
        if latest is not None:
            for instance, value in world.values.items():
                if instance not in known or known[instance] != value:
                    past.told[instance] = latest
            known = dict(world.values)
        for o in before.obligations:
            if o.condition is not None and o.name not in past.conditions:
                settled = _settled(o, o.condition, world, latest, ledger.domain)
                if settled is not None:
                    past.conditions[o.name] = settled
        step += 1

    happened(ledger, each, past.happened)
    return past


def begin(before: Contract, ledger: Ledger) -> Happened:
    """What the contract says has happened before the ledger began."""
    found = Happened(ledger, World(before.domain))
    sig = Signatures(before.domain)
    # What a kept value must be is no news where the contract also says what it is by now.
    for fact in sorted(before.facts, key=lambda f: not f.kept):
        declared = before.domain.fluents[fact.fluent]
        found.world.values[fact.fluent, sig.fluent(fact.fluent, fact.args)] = canonical(declared.type, fact.value)
    for k in before.kept:
        identity = (k.effect, _canonical(sig, k.effect, k.args))
        into = found.effects if _caused(before.domain, k) else found.witnessed
        into[identity] = _carried(k, k.origin, "success")
        found.counts[identity] = found.counts.get(identity, 0) + 1
    for d in before.doubts:
        found.doubts[d.effect, sig.pattern("effect", d.effect, d.args)] = _carried(d, d.origin, "unknown")
    return found


def _canonical(sig: Signatures, effect: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    return sig.effect(effect, args)  # type: ignore[return-value]  # ground arguments stay ground


def _carried(entry: KeptEffect | Doubt, origin: Origin | None, status: str) -> Carried:
    id, tool = (origin.receipt or "", origin.tool or "") if origin is not None else ("", "")
    return Carried(id, tool, (), None, "success" if status == "success" else "unknown", entry=entry)


def _caused(domain: Domain, k: KeptEffect) -> bool:
    """Whether a kept effect was caused, as far as anybody knows, and not only witnessed."""
    tool = domain.tools.get(k.origin.tool) if k.origin is not None and k.origin.tool is not None else None
    return tool is None or any(c.effect == k.effect for c in tool.causes)


def _settled(o: Obligation, condition: Expr, world: World, latest: Receipt | None, domain: Domain) -> bool | None:
    """Whether the obligation is active, judged in the freeze state: by the first word about what its ``if`` reads, if
    nothing wrote it before. Where a call wrote it first nobody will ever know, and it is owed."""
    env = Env(read=world.read)
    if latest is not None and latest.status != "failure" and _wrote(condition, world, latest, domain, env):
        return True
    try:
        return holds(condition, env)
    except Undefined:
        return None


def _wrote(condition: Expr, world: World, latest: Receipt, domain: Domain, env: Env) -> bool:
    """Whether the call set, or may have set, something that the condition reads."""
    tool = domain.tools.get(latest.tool)
    written = {c.fluent for c in tool.sets} if tool is not None else set()
    for read in walk(condition):
        if not isinstance(read, FluentRead) or read.fluent not in written:
            continue
        try:
            args = tuple(evaluate(a, env) for a in read.args)
        except Undefined as u:
            if isinstance(u.expr, Var):
                return True  # which instances are read depends on a comprehension
            continue
        if (read.fluent, world.signatures.fluent(read.fluent, args)) in world.values:
            return True
        if world.is_lost(read.fluent, args):
            return True
    return False


def active(before: Contract, past: Past) -> tuple[Obligation, ...]:
    """The obligations that are owed, without the ``if`` clauses that are settled. One that is not owed stays, as such,
    where others speak of its receipt."""
    spoken = set(_spoken(before))
    found = []
    for o in before.obligations:
        held = past.conditions.get(o.name)
        if held is None or held:
            found.append(o if held is None else replace(o, condition=None))
        elif o.name in spoken:
            found.append(replace(o, condition=Lit(value=False, type=BOOL)))
    return tuple(found)


def _spoken(contract: Contract) -> Iterator[str]:
    """The obligations whose receipts others, or licences, mention."""
    exprs: list[Expr | None] = []
    for o in contract.obligations:
        exprs.append(o.where)
        for g in o.goals:
            exprs += g.args if isinstance(g, EffectGoal) else (g.condition,)
    for x in contract.scope or ():
        exprs += (*x.args, x.where)
    yield from (x.obligation for e in exprs if e is not None for x in walk(e) if isinstance(x, Discharge))
