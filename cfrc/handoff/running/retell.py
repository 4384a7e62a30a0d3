"""Turns the records of a journal back into the session that wrote them, checking every decision on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cfrc.handoff.running.dump import dump, undump
from cfrc.handoff.running.journal import Entry, JournalError, json_text
from cfrc.handoff.running.session import Session
from cfrc.handoff.running.wishes import Trouble, answer_of
from cfrc.lang.jsonforms.digests import contract_digest
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.state import Illegal

VERSION = 1

HOSTILE = (LookupError, TypeError, ValueError, AttributeError, AssertionError, RecursionError, Illegal)
"""What data that was never written by a run may do to code that trusts its shape."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a run was begun with."""

    run: str
    contract: Contract
    proposal: Proposal
    now: datetime
    retries: int
    interface: str | None

    def entry(self, at: datetime) -> Entry:
        return {
            "is": "open", "version": VERSION, "run": self.run, "contract": dump(self.contract),
            "proposal": dump(self.proposal), "now": self.now.isoformat(), "retries": self.retries,
            "interface": self.interface, "at": at.isoformat(),
        }  # fmt: skip

    def session(self) -> Session:
        return Session(self.contract, self.proposal, self.now, self.run, self.retries)


def opening(entries: Sequence[Entry]) -> Opening:
    """The first record. Raises :class:`JournalError` (JRN006, JRN008)."""
    first = entries[0] if entries else {}
    if first.get("is") != "open":
        raise JournalError("JRN006", "the journal does not begin with the opening of a run")
    if first.get("version") != VERSION:
        raise JournalError("JRN008", f"the journal has version {first.get('version')}, not {VERSION}")
    try:
        contract, proposal = undump(first["contract"]), undump(first["proposal"])
        now = datetime.fromisoformat(first["now"])
        if not isinstance(contract, Contract) or not isinstance(proposal, Proposal):
            raise ValueError("it holds no contract and proposal")
        if contract.digest and contract.digest != contract_digest(contract):
            raise ValueError("the contract is not the one that its digest names")
        return Opening(str(first["run"]), contract, proposal, now, int(first["retries"]), first["interface"])
    except HOSTILE as problem:
        raise JournalError("JRN006", f"the opening of the run cannot be read: {problem}") from None


class Retelling:
    """Feeds records to a fresh session. ``steps`` says in words what was decided at each."""

    def __init__(self, start: Opening) -> None:
        try:
            self.session = start.session()
        except HOSTILE as problem:
            raise JournalError("JRN006", f"the opening of the run means nothing: {problem}") from None
        self.closed: Entry | None = None

    def feed(self, entries: Sequence[Entry]) -> None:
        """Everything after the opening. Raises :class:`JournalError` (JRN007) where a decision comes out otherwise."""
        i = 1
        while i < len(entries):
            try:
                produced = self._produce(entries[i])
            except HOSTILE as problem:
                raise _otherwise(i, f"it cannot have been written here ({type(problem).__name__}: {problem})") from None
            for wanted in produced:
                if i >= len(entries) or json_text(entries[i]) != json_text(wanted):
                    there = json_text(entries[i]) if i < len(entries) else "the end"
                    raise _otherwise(i, f"decided {json_text(wanted)[:200]}, the journal has {there[:200]}")
                i += 1

    def _produce(self, entry: Entry) -> Sequence[Entry]:
        """The records that follow from what an entry tells from outside."""
        session, at = self.session, _time(entry)
        if self.closed is not None:
            raise ValueError("the run was over")
        match entry["is"]:
            case "intent" | "decision":
                wish = next((w for w in session.pending() if w.call == entry["call"]), None)
                if wish is None:
                    raise ValueError(f"{entry['call']} may not be called here")
                return session.begin(wish, at)
            case "receipt":
                return session.answer(entry["call"], entry["attempt"], answer_of(entry), at, entry["lost"])
            case "guard":
                return [session.guard(entry["head"], at)]
            case "hold":
                session.hold(Trouble(entry["code"], entry["message"]))
                return [entry]
            case "resumed" | "stopped":
                return [entry]
            case "outcome":
                self.closed = entry
                return [session.outcome(at)]
        raise ValueError(f"an unknown record {entry['is']!r}")


def _time(entry: Entry) -> datetime:
    said: Any = entry.get("at")
    return datetime.fromisoformat(said) if isinstance(said, str) else datetime.min


def _otherwise(number: int, what: str) -> JournalError:
    return JournalError("JRN007", f"record {number} is not what follows from those before it: {what}")
