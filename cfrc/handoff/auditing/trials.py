"""Turns one recorded handoff into single judgements that an audit counts: which bindings are grounded, what is owed.

The judgements do not repeat admission: bindings are looked up in what the user said and the tools returned,
obligations in a reference contract. What was written is judged in :mod:`cfrc.handoff.auditing.deeds`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cfrc.handoff.freezing.known import leaves
from cfrc.handoff.freezing.prose import find_value
from cfrc.handoff.freezing.refer import changed
from cfrc.handoff.freezing.typing import ledger_of, said_in
from cfrc.model.contract import Contract, EffectGoal, Name, Obligation, Origin
from cfrc.model.expr import Discharge, Expr, Lit, Var, rebuild
from cfrc.model.graph import Proposal
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.transcript import Transcript
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Trial:
    """One handoff that took place or was tried.

    ``contract`` is ``None`` where only the journal tells it. ``transcripts`` follow each other. ``usage`` maps stages
    (``prefix``, ``construct``, ``residual``) to the provider's counters of that stage.
    """

    name: str
    contract: Contract | None = None
    proposal: Proposal | None = None
    journal: Path | None = None
    reference: Contract | None = None
    transcripts: tuple[Transcript, ...] = ()
    usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One trial of one row: ``good`` is what one hopes for, ``why`` is said where it is not."""

    trial: str
    subject: str
    good: bool
    why: str = ""


# -- bindings ---------------------------------------------------------------------------------------------------------


def bindings(trial: Trial, contract: Contract) -> Iterator[Judgement]:
    """Whether each bound value was said, accepted or returned where the contract says that it comes from.

    Nothing is judged without a transcript, and nothing that comes from the policy, which no transcript holds.
    """
    if not trial.transcripts:
        return
    types = {n.name: n.type for n in contract.names.values()}
    ledger, _ = ledger_of(contract.domain, trial.transcripts, types=types)
    for n in contract.names.values():
        if not n.fixed or (n.origin is not None and n.origin.kind == "policy"):
            continue
        why = _lacking(trial.transcripts, ledger, n)
        yield Judgement(trial.name, n.name, not why, why)


def _lacking(transcripts: Sequence[Transcript], ledger: Ledger, n: Name) -> str:
    """What is missing for the binding to be grounded; nothing, if it is."""
    origin = n.origin
    if origin is None:
        return "the contract names no source"
    if origin.kind == "receipt":
        return "" if _returned(ledger, n, origin) else "no successful receipt shows this value there"
    return "" if _accepted(ledger, n, origin) or _said(transcripts, n, origin) else _unsaid(origin)


def _unsaid(origin: Origin) -> str:
    where = "" if origin.turn is None else f" in turn {origin.turn}"
    return f"nobody said or accepted this value{where}"


def _accepted(ledger: Ledger, n: Name, origin: Origin) -> bool:
    choices = (e for e in ledger.entries if isinstance(e, Choice) and e.value == n.value and e.type == n.type)
    return any(origin.turn in (None, e.turn) for e in choices)


def _said(transcripts: Sequence[Transcript], n: Name, origin: Origin) -> bool:
    mine = (s for s in said_in(transcripts) if origin.turn in (None, s.turn))
    return any(find_value(s.text, n.type, n.value) is not None for s in mine)


def _returned(ledger: Ledger, n: Name, origin: Origin) -> bool:
    for r in ledger.entries:
        if not isinstance(r, Receipt) or r.status != "success" or r.id != origin.receipt:
            continue
        shown = leaves(r.result, ledger.domain.tools[r.tool].result)
        there = [x.value for x in shown if x.path == origin.path]
        if origin.quoted is None and n.value in there:
            return True
        if origin.quoted is not None and any(_quotes(text, origin.quoted, n) for text in there):
            return True
    return False


def _quotes(text: Value, place: tuple[int, int], n: Name) -> bool:
    start, end = place
    return isinstance(text, str) and find_value(text[start:end], n.type, n.value) is not None


@dataclass(frozen=True, slots=True)
class _Kept:
    """An effect that a contract keeps as done."""

    effect: str
    args: tuple[Value, ...]


_There = Hashable | _Kept
"""What a contract has for an obligation: the meaning of one that it owes, once, or something done."""

# -- obligations ------------------------------------------------------------------------------------------------------


def obligations(trial: Trial, contract: Contract) -> Iterator[Judgement]:
    """Whether each obligation of the reference is owed, or kept as done, by the contract that was frozen.

    What an obligation is called does not matter, and nothing is counted for two of them. An obligation with
    existentials is not taken for done because some effect was kept: which one was meant, nobody can tell.
    """
    if trial.reference is None:
        return
    there: list[_There] = [m for o, meaning in _meanings(contract) for m in [meaning] * o.count]
    there += dict.fromkeys(_Kept(k.effect, k.args) for k in contract.kept)
    taken: dict[int, int] = {}
    units: list[list[int]] = []
    for o, meaning in _meanings(trial.reference):
        fit = [i for i, x in enumerate(there) if (_does(o, x) if isinstance(x, _Kept) else x == meaning)]
        before, mine = dict(taken), range(len(units), len(units) + o.count)
        units += [fit] * o.count
        good = all(_take(unit, units, taken, set()) for unit in mine)
        if not good:
            taken = before
        yield Judgement(trial.name, o.name, good, "" if good else "the contract neither owes it nor keeps it as done")


def _take(unit: int, units: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    """Gives a unit of an obligation something of its own, others something else where they must (Kuhn's algorithm)."""
    for i in units[unit]:
        if i not in tried:
            tried.add(i)
            if i not in taken or _take(taken[i], units, taken, tried):
                taken[i] = unit
                return True
    return False


def _meanings(c: Contract) -> list[tuple[Obligation, Hashable]]:
    """The obligations, with what each means: everything but the names that somebody chose, and how often it is owed."""
    plain = {o.name: o for o in _plain(c).obligations}
    return [(o, _meaning(o, plain, frozenset((o.name,)))) for o in plain.values()]


def _plain(c: Contract) -> Contract:
    """The contract with the values of its names in place of the names, and existentials by their order."""

    def put(e: Expr) -> Expr:
        if isinstance(e, Var) and e.kind == "name" and e.name in c.names:
            return Lit(value=c.names[e.name].value, type=e.type)
        return rebuild(e, put)

    return changed(c, put)


def _meaning(o: Obligation, others: Mapping[str, Obligation], within: frozenset[str]) -> Hashable:
    """``within`` are the obligations whose meaning is being told: one that refers to itself ends there."""
    order = {name: str(i) for i, (name, _) in enumerate(o.exists)}

    def put(e: Expr) -> Expr:
        if isinstance(e, Var) and e.kind == "exists" and e.name in order:
            return Var(name=order[e.name], kind="exists", type=e.type)
        if isinstance(e, Discharge) and e.obligation in others and e.obligation not in within:
            other = _meaning(others[e.obligation], others, within | {e.obligation})
            return Discharge(obligation=repr(other), type=e.type)
        return rebuild(e, put)

    def told(e: Expr | None) -> str:
        return "" if e is None else repr(put(e))

    goals = sorted(
        (g.effect, tuple(map(told, g.args))) if isinstance(g, EffectGoal) else ("", (told(g.condition),))
        for g in o.goals
    )
    return tuple(goals), o.choice, tuple(t for _, t in o.exists), told(o.where), told(o.condition)


def _does(o: Obligation, kept: _Kept) -> bool:
    goals = (g for g in o.goals if isinstance(g, EffectGoal) and g.effect == kept.effect)
    return any(
        all(a is None or (isinstance(a, Lit) and a.value == v) for a, v in zip(g.args, kept.args, strict=True))
        for g in goals
    )
