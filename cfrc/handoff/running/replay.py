"""Turns a journal, and nothing else, into the run that wrote it: every decision is made again and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cfrc.handoff.running.journal import Entry, JournalError, read_journal
from cfrc.handoff.running.retell import Retelling, opening
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Replayed:
    """A journal that tells the truth about its own decisions. ``outcome`` is the record that closed it, if the run is
    over; ``open_calls`` are the calls without a receipt, which are in doubt."""

    contract: Contract
    proposal: Proposal
    ledger: Ledger
    head: str
    entries: tuple[Entry, ...]
    outcome: Mapping[str, Any] | None = None
    open_calls: tuple[str, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict)


def replay(journal: str | Path, *, head: str | None = None) -> Replayed:
    """Replays a journal. ``head`` is the last hash that it must have: without it, records that were cut off the end
    are not missed.

    Raises :class:`JournalError`: JRN001, JRN002 (it cannot be read), JRN006 (it was changed or damaged), JRN007 (a
    decision comes out otherwise), JRN008 (another version).
    """
    entries, last = read_journal(journal)
    if head is not None and head != last:
        raise JournalError("JRN006", f"the journal ends with {last}, not with {head}")
    start = opening(entries)
    told = Retelling(start)
    told.feed(entries)
    session = told.session
    return Replayed(
        contract=start.contract,
        proposal=start.proposal,
        ledger=session.ledger,
        head=last,
        entries=tuple(entries),
        outcome=told.closed,
        open_calls=tuple(call for call, _ in session.flights),
        steps=dict(session.live.status),
    )
