"""Turns an admitted plan and a journal into a run whose calls somebody else makes: intentions are on the disk first.

The records are those of ``cfrc.handoff.running.run``: a guarded run that was killed is taken up again by another guard
(or by :func:`cfrc.handoff.running.run.resume`), and ``replay`` reproduces it. What was in the air when a process ended
is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from cfrc.handoff.guarding.monitor import Allowed, Monitor, Refusal, ensure_admitted
from cfrc.handoff.running.execute import LARGEST, utc_now
from cfrc.handoff.running.journal import Entry, Hook, Journal, JournalError, json_text
from cfrc.handoff.running.lease import Lease, lease_beside
from cfrc.handoff.running.live import Ending
from cfrc.handoff.running.retell import Opening, Retelling, opening
from cfrc.handoff.running.wishes import Trouble, Wish
from cfrc.handoff.tools import Answer
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.verdict import Verdict

if TYPE_CHECKING:
    from cfrc.handoff.freezing.freeze import Frozen


class GuardedRun:
    """One process's part of a guarded run. ``monitor`` decides, the journal remembers.

    ``interface`` is the digest of the live tools' interface: a journal that was begun with another one is held, and so
    is a contract whose lease another run has. ``head`` tells where the shared ledger ends: it is asked when the run is
    opened, and again just before the first write. Raises :class:`~cfrc.handoff.guarding.monitor.NotAdmitted` before
    anything is opened, and :class:`~cfrc.handoff.running.journal.JournalError` when the journal cannot be used or is of
    another run.
    """

    def __init__(
        self,
        contract: Contract,
        proposal: Proposal,
        journal: str | Path,
        *,
        interface: str | None = None,
        verdict: Verdict | None = None,
        retries: int = 2,
        lease: Lease | None = None,
        head: Callable[[], str | None] | None = None,
        clock: Callable[[], datetime] = utc_now,
        hook: Hook | None = None,
    ) -> None:
        ensure_admitted(contract, proposal, verdict)
        self.clock = clock
        self.broken: JournalError | None = None
        self.closed = False
        self._head, self._compared = head, False
        self.journal = Journal(journal, hook=hook)
        self.lease: Lease | None = None
        try:
            start = self._start(contract, proposal, interface, retries)
            self.monitor = self._told(start)
            self.session = self.monitor.session
            self.lease = lease or lease_beside(self.journal.path, contract.digest)
            self._take_up(start, interface)
        except BaseException:
            self.close()
            raise

    # -- opening ----------------------------------------------------------------------------------------------------

    def _start(self, contract: Contract, proposal: Proposal, interface: str | None, retries: int) -> Opening:
        if self.journal.entries:
            start = opening(self.journal.entries)
            if start.contract != contract or start.proposal != proposal:
                what = f"{self.journal.path}: the journal is of another contract or proposal"
                raise JournalError("JRN004", what, "name a new file, or give what the journal was begun with")
            return start
        start = Opening(uuid4().hex[:12], contract, proposal, self.clock(), retries, interface)
        self.journal.append([start.entry(self.clock())])
        return start

    def _told(self, start: Opening) -> Monitor:
        told = Retelling(start)
        told.feed(self.journal.entries or [{}])
        if told.closed is not None:
            what = f"{self.journal.path}: the run is over ({told.closed['kind']})"
            raise JournalError("JRN005", what, "what is left is another contract: freeze it, and guard that")
        return Monitor(told.session)

    def _take_up(self, start: Opening, interface: str | None) -> None:
        """What the last process left in the air is in doubt; then the lease, and the ledger's head."""
        at, session = self.clock(), self.session
        if len(self.journal.entries) > 1:
            self.append([{"is": "resumed", "at": at.isoformat()}])
            for call, attempt in list(session.flights):
                lost = Answer("unknown", error="the process ended before an answer was written")
                self.append(session.answer(call, attempt, lost, at, lost=True))
        if start.interface is not None and interface is not None and start.interface != interface:
            self.hold(Trouble("RUN010", "the tools' interface is not the one that the run was begun with"))
        assert self.lease is not None
        taken = self.lease.acquire(start.run)
        if taken is not None:
            self.hold(Trouble("RUN007", f"no lease: {taken}"))
        self._compare(at)

    # -- calls ------------------------------------------------------------------------------------------------------

    @property
    def ending(self) -> Ending | None:
        return self.monitor.ending

    def offer(self, tool: str, arguments: Mapping[str, object]) -> Allowed | Refusal:
        """Whether the call may be made now. When it may, its intention is on the disk."""
        found = self.monitor.offer(tool, arguments, self.clock(), self._before)
        if isinstance(found, Allowed):
            return self._intended(found)
        self.append(found.entries)
        return found

    def _before(self, wish: Wish) -> None:
        """Just before the first write: since the guard was opened, somebody else may have written."""
        if wish.writes and not self._compared:
            self._compared = True
            if self._head is not None:
                self._compare(self.clock())

    def _compare(self, at: datetime) -> None:
        self.append([self.session.guard(self._head() if self._head is not None else None, at)])

    def questions(self) -> list[Wish]:
        """See :meth:`Monitor.questions`; none once the journal cannot be written any more."""
        return self.monitor.questions() if self.broken is None else []

    def ask(self, question: Wish) -> Allowed | Refusal:
        """Begins one of the questions; its intention is on the disk."""
        return self._intended(self.monitor.ask(question, self.clock()))

    def _intended(self, allowed: Allowed) -> Allowed | Refusal:
        self.append(allowed.entries)
        if self.broken is None:
            return allowed
        self.session.withdraw(allowed.wish.call, allowed.wish.attempt)
        return Refusal(
            f"CFRC-{self.broken.code}", f"the call was not made: {self.broken.message}", self.monitor.advice()
        )

    def record(self, allowed: Allowed, answer: Answer) -> str:
        """Takes the answer of an allowed call: the node's x after it, as in :meth:`Monitor.record`, or ``lost`` when it
        could not be written down. Where the run ends with it, the journal is closed with the outcome."""
        after, entries = self.monitor.record(allowed, _readable(answer), self.clock())
        self.append(entries)
        if self.broken is not None:
            return "lost"
        if self.ending is not None:
            self.append([self.session.outcome(self.clock())])
            self.closed = self.broken is None
        return after

    def residual(self) -> Frozen:
        """The contract of what is left, from the receipts so far: for the next tenant, once this run is over."""
        from cfrc.handoff.freezing.freeze import freeze

        contract = self.session.contract
        stem, _, number = contract.name.rpartition("_")
        name = f"{stem}_{int(number) + 1}" if stem and number.isdecimal() else f"{contract.name}_2"
        return freeze(contract, self.session.ledger, name=name, as_of=self.clock())

    # -- records ----------------------------------------------------------------------------------------------------

    def append(self, entries: Sequence[Entry]) -> None:
        """Writes records; where that fails, the run is held and nothing more is written."""
        if not entries or self.broken is not None:
            return
        try:
            self.journal.append(entries)
        except JournalError as problem:
            self.broken = problem
            self.session.hold(Trouble(problem.code, problem.message))

    def hold(self, trouble: Trouble) -> None:
        """Ends the run in ⊥ for a reason from outside."""
        self.session.hold(trouble)
        self.append([{"is": "hold", "code": trouble.code, "message": trouble.message}])

    def close(self, reason: str = "the guard was ended") -> None:
        """Ends this process's part: with the outcome where the run has ended, and resumable where it has not."""
        if hasattr(self, "monitor") and self.broken is None and not self.closed:
            at = self.clock()
            if self.ending is not None:
                self.append([self.session.outcome(at)])
                self.closed = self.broken is None
            else:
                self.append([{"is": "stopped", "reason": reason, "at": at.isoformat()}])
        if self.lease is not None:
            self.lease.release()
        self.journal.close()


def _readable(answer: Answer) -> Answer:
    """The answer, without a result that no journal could hold."""
    try:
        if len(json_text(answer.result)) <= LARGEST:
            return answer
        broken = "the answer is too large"
    except (TypeError, ValueError, RecursionError) as problem:
        broken = f"not JSON: {problem}"
    return Answer(answer.status, error=answer.error, broken=broken)
