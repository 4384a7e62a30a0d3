"""Turns the journal of a run into judgements of what it did: where written identifiers come from, whether it replays.

Identifiers are looked up in the contract and in the receipts that were there when the write was begun, without asking
how the plan says that it got them: a second opinion on admission, not the same one again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from cfrc.handoff.auditing.trials import Judgement, Trial
from cfrc.handoff.freezing.known import leaves
from cfrc.handoff.running.journal import JournalError
from cfrc.handoff.running.replay import Replayed, replay
from cfrc.handoff.wire import Malformed, incoming
from cfrc.model.canon import canonical
from cfrc.model.contract import Contract
from cfrc.model.domain import Tool
from cfrc.model.expr import Lit
from cfrc.model.ledger import Receipt
from cfrc.model.transcript import JSON
from cfrc.model.types import Id, Type
from cfrc.model.values import Value

Known = tuple[str, Value]
"""An identifier: its type's name, and its value in canonical form."""


def retold(trial: Trial) -> Replayed | Judgement | None:
    """The trial's journal, every decision made again; a judgement where that comes out otherwise; ``None`` without
    one. A journal that cannot be read raises :class:`~cfrc.handoff.running.journal.JournalError`."""
    if trial.journal is None:
        return None
    try:
        return replay(trial.journal)
    except JournalError as problem:
        if problem.code not in ("JRN006", "JRN007"):
            raise JournalError(problem.code, f"run {trial.name}: {problem.message}", problem.help) from None
        return Judgement(trial.name, "journal", False, problem.message)


def begun(told: Replayed) -> datetime:
    """When the run was begun: the time that approvals were judged at."""
    return datetime.fromisoformat(str(told.entries[0]["now"]))


def wrote(told: Replayed) -> bool:
    """Whether any write was asked of the live tools."""
    return any(e["is"] == "intent" and e["writes"] for e in told.entries)


def followed(trial: Trial, told: Replayed) -> Iterator[Judgement]:
    """Whether the run was of the contract and the proposal that the manifest names."""
    if trial.contract is not None:
        good = trial.contract.digest == told.contract.digest
        why = "" if good else f"the run was begun with another contract, `{told.contract.name}`"
        yield Judgement(trial.name, "contract", good, why)
    if trial.proposal is not None:
        good = trial.proposal == told.proposal
        why = "" if good else f"the run was begun with another proposal, `{told.proposal.name}`"
        yield Judgement(trial.name, "proposal", good, why)


def writes(trial: Trial, contract: Contract, told: Replayed) -> Iterator[Judgement]:
    """Whether each identifier that a live write was given stood in the contract or in an earlier receipt.

    ``contract`` judges, with its domain: it need not be the one that the run was begun with. Only identifiers are
    looked up: what a number was computed from, a receipt does not tell. Parameters that the domain declares ``free``
    need no source.
    """
    known = set(_of_contract(contract))
    receipts = {(r.id, r.attempt): r for r in told.ledger.entries if isinstance(r, Receipt)}
    for e in told.entries:
        if e["is"] == "intent" and e["writes"]:
            tool = contract.domain.tools.get(str(e["tool"]))
            why = "the contract's domain has no such tool" if tool is None else _unsupported(tool, e["args"], known)
            yield Judgement(trial.name, f"{e['call']} ({e['tool']})", not why, why)
        elif e["is"] == "receipt":
            receipt = receipts.get((e["call"], e["attempt"]))
            tool = contract.domain.tools.get(receipt.tool) if receipt is not None else None
            if receipt is not None and tool is not None:
                known |= set(_returned(tool, receipt))


def _of_contract(c: Contract) -> Iterator[Known]:
    """What the contract says, where it says from where."""
    for n in c.names.values():
        if n.origin is not None:
            yield from _identifiers(n.value, n.type)
    for f in c.facts:
        if f.origin is not None:
            yield from _identifiers(f.value, c.domain.fluents[f.fluent].type)


def _returned(tool: Tool, r: Receipt) -> Iterator[Known]:
    """What a receipt says that the caller did not say first: asking about a thing does not make it real.

    An argument that may be made up (``free``) is another matter: what the tool then says of it is its own word.
    """
    if r.status != "success" or tool.grounds_nothing:
        return
    args = dict(r.args)
    given = {x for p in tool.params if not p.free and p.name in args for x in _identifiers(args[p.name], p.type)}
    for x in leaves(r.result, tool.result):
        if isinstance(x.type, Id) and not any(x.path[: len(e)] == e for e in tool.echoes):
            found = (x.type.name, canonical(x.type, x.value))
            if found not in given:
                yield found


def _identifiers(value: Value, t: Type) -> Iterator[Known]:
    return ((x.type.name, canonical(x.type, x.value)) for x in leaves(value, t) if isinstance(x.type, Id))


def _unsupported(tool: Tool, args: Mapping[str, JSON], known: set[Known]) -> str:
    """Which parameters got an identifier from nowhere; nothing, if none did."""
    made_up: list[str] = []
    for p in tool.params:
        if p.name not in args or p.free:
            continue
        try:
            value = incoming(args[p.name], p.type)
        except Malformed:
            made_up.append(p.name)
            continue
        default = isinstance(p.default, Lit) and p.default.value == value
        if not default and any(x not in known for x in _identifiers(value, p.type)):
            made_up.append(p.name)
    return f"nothing supports {', '.join(f'`{p}`' for p in made_up)}" if made_up else ""
