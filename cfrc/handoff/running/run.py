"""Turns a contract, an admitted proposal and live tools into an outcome with evidence: checked execution.

Nothing runs that is not admitted. What runs is journaled, so that a killed process loses nothing: the same call, or
:func:`resume`, goes on where the journal ends. Only live receipts that discharge everything make it ``done``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from cfrc.handoff.freezing.freeze import Frozen, freeze
from cfrc.handoff.running.execute import Executor, Settings
from cfrc.handoff.running.journal import Entry, Hook, Journal, JournalError
from cfrc.handoff.running.lease import lease_beside
from cfrc.handoff.running.live import Ending
from cfrc.handoff.running.retell import Opening, Retelling, opening
from cfrc.handoff.running.session import Session
from cfrc.handoff.running.wishes import Trouble
from cfrc.handoff.tools import Answer, Tools, as_tools
from cfrc.lang.canonical import digest
from cfrc.lang.jsonforms.digests import contract_digest
from cfrc.model.contract import Contract
from cfrc.model.graph import Call, Proposal
from cfrc.model.ledger import Ledger
from cfrc.model.verdict import Finding, Status, Verdict

Kind = Literal["done", "yield", "held", "refused", "idle"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an execution ended.

    ``done``: every obligation is discharged by live receipts. ``yield``: handed back, as the plan says or because a
    step failed. ``held``: ⊥, something that admission relied on did not hold, is in doubt, or the run was stopped
    (``resumable``: the journal can be taken up again). ``refused``: not admitted, so nothing was called. ``idle``:
    there is nothing to do. ``ledger`` holds the receipts since the freeze, ``journal`` is the last hash of the journal,
    ``residual`` what is left after ``yield`` and ``held``, frozen for the next tenant.
    """

    kind: Kind
    reason: str
    contract: Contract
    ledger: Ledger
    findings: tuple[Finding, ...] = ()
    verdict: Verdict | None = None
    proposal: Proposal | None = None
    terminal: str | None = None
    resumable: bool = False
    journal: str | None = None
    residual: Frozen | None = None
    steps: Mapping[str, str] = field(default_factory=dict)


class Stopper:
    """A way to stop a run from a signal handler or another thread. Calls in the air are waited for; a second request
    puts them in doubt instead."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._wake: Callable[[str], None] | None = None

    def stop(self, reason: str) -> None:
        self.reason = reason
        if self._wake is not None:
            self._wake(reason)

    def attach(self, wake: Callable[[str], None]) -> None:
        """Whom to wake; at once, if the request came before."""
        self._wake = wake
        if self.reason is not None:
            wake(self.reason)


def run(
    contract: Contract,
    proposal: Proposal,
    tools: object,
    journal: str | Path,
    *,
    settings: Settings | None = None,
    retries: int = 2,
    interface: str | None = None,
    today: date | datetime | None = None,
    budget: int | None = None,
    stopper: Stopper | None = None,
    hook: Hook | None = None,
) -> Outcome:
    """Admits the proposal and executes it on live tools; goes on where the journal ends if it holds this very run.

    ``tools`` is a :class:`~cfrc.handoff.tools.Tools`, a mapping of names to callables, or an object with methods.
    ``retries`` bounds how often a harmless call is repeated when nobody answers. ``interface`` is the digest that the
    tools' interface must have (:func:`interface_digest`). Without a lease in ``settings`` there is one beside the
    journal. Raises :class:`~cfrc.handoff.running.journal.JournalError` when the journal cannot be used, before any
    call. Where the journal says that this run is ``done``, that outcome is told again, and nothing is called.
    """
    settings = settings or Settings()
    contract = replace(contract, digest=contract_digest(contract))
    finished = _finished(contract, proposal, journal, budget)
    if finished is not None:
        return finished
    verdict = _admit(contract, proposal, budget, today)
    if verdict.status is not Status.ADMITTED:
        return _refused(contract, proposal, verdict)
    surface = as_tools(tools)
    offered, missing = interface_of(surface, proposal, contract)
    if missing or (interface is not None and interface != offered):
        return replace(_unfit(contract, verdict, missing), proposal=proposal)
    with Journal(journal, hook=hook) as book:
        if book.entries:
            start = opening(book.entries)
            if start.contract != contract or start.proposal != proposal:
                what = f"{book.path}: the journal is of another contract or proposal"
                raise JournalError("JRN004", what, "name a new file, or give what the journal was begun with")
        else:
            start = Opening(uuid4().hex[:12], contract, proposal, settings.clock(), retries, offered)
            book.append([start.entry(settings.clock())])
        return replace(_go_on(start, book, surface, settings, stopper, offered), verdict=verdict, proposal=proposal)


def resume(
    tools: object,
    journal: str | Path,
    *,
    settings: Settings | None = None,
    budget: int | None = None,
    stopper: Stopper | None = None,
    hook: Hook | None = None,
) -> Outcome:
    """Goes on with the run of a journal, which holds its contract and its proposal. The journal is not believed that
    they were admitted: they are judged again, at the time when the run was begun. Errors as :func:`run`."""
    settings = settings or Settings()
    surface = as_tools(tools)
    with Journal(journal, hook=hook) as book:
        start = opening(book.entries)
        verdict = _admit(start.contract, start.proposal, budget, start.now)
        if verdict.status is not Status.ADMITTED:
            return _refused(start.contract, start.proposal, verdict)
        offered, missing = interface_of(surface, start.proposal, start.contract)
        if missing:
            return _unfit(start.contract, verdict, missing)
        told = _go_on(start, book, surface, settings, stopper, offered)
        return replace(told, verdict=verdict, proposal=start.proposal)


def _refused(contract: Contract, proposal: Proposal, verdict: Verdict) -> Outcome:
    """What is not admitted never runs."""
    idle = verdict.status in (Status.COMPLETE, Status.FRESH)
    ledger = Ledger(f"{contract.name}_run", contract.domain, ())
    return Outcome("idle" if idle else "refused", verdict.status.word, contract, ledger, (), verdict, proposal)


def _finished(contract: Contract, proposal: Proposal, journal: str | Path, budget: int | None) -> Outcome | None:
    """The outcome of this very run, if its journal says that it is done; judged at the time when it was begun, so that
    what has expired since does not change what happened. A journal that cannot be used is told of later."""
    if not Path(journal).is_file():
        return None
    with suppress(JournalError), Journal(journal) as book:
        start = opening(book.entries)
        if book.entries[-1].get("is") != "outcome" or start.contract != contract or start.proposal != proposal:
            return None
        told = Retelling(start)
        told.feed(book.entries)
        if told.closed is not None and told.closed["kind"] == "done":
            verdict = _admit(contract, proposal, budget, start.now)
            return replace(_retold(told, book), verdict=verdict, proposal=proposal)
    return None


def _retold(told: Retelling, book: Journal) -> Outcome:
    """The outcome that a journal ends with, as it was when it was written."""
    session = told.session
    assert session.ending is not None
    return _outcome(session, session.contract, session.ending, session.trouble, book, resumable=False)


def _admit(contract: Contract, proposal: Proposal, budget: int | None, today: date | datetime | None) -> Verdict:
    from cfrc.verify.admission import DEFAULT_BUDGET, admit

    return admit(contract, proposal, budget=budget or DEFAULT_BUDGET, today=today)


def _go_on(
    start: Opening, book: Journal, tools: Tools, settings: Settings, stopper: Stopper | None, offered: str
) -> Outcome:
    """Executes what is left of a run."""
    told = Retelling(start)
    told.feed(book.entries or [{}])
    if told.closed is not None and told.closed["kind"] == "done":
        return _retold(told, book)
    if told.closed is not None:
        what = f"{book.path}: the run is over ({told.closed['kind']})"
        raise JournalError("JRN005", what, "what is left is another contract: freeze it, and run that")
    if start.interface is not None and start.interface != offered:
        return _unfit(start.contract, None, [])
    lease = settings.lease or lease_beside(book.path, start.contract.digest)
    refusal = lease.acquire(start.run)
    if refusal is not None:
        return _before(start.contract, None, "RUN007", f"the lease cannot be had: {refusal}")
    try:
        executor = Executor(told.session, tools, book, settings)
        if stopper is not None:
            stopper.attach(executor.pool.stop)
        if len(book.entries) > 1:
            _take_up(told.session, executor)
        executor.execute()
        return _close(told.session, book, executor, start.contract)
    finally:
        lease.release()


def _take_up(session: Session, executor: Executor) -> None:
    """What was in the air when the last process ended is in doubt: say so, before anything else."""
    at = executor.settings.clock()
    executor.append([{"is": "resumed", "at": at.isoformat()}])
    for call, attempt in list(session.flights):
        lost = Answer("unknown", error="the process ended before an answer was written")
        executor.append(session.answer(call, attempt, lost, at, lost=True))


def _close(session: Session, book: Journal, executor: Executor, contract: Contract) -> Outcome:
    """The outcome, written as the last record where the run has ended."""
    at = executor.settings.clock()
    ending, broken = session.ending, executor.broken
    if broken is not None:
        trouble = Trouble(broken.code, broken.message)
        return _outcome(session, contract, Ending("held", broken.message), trouble, book, resumable=True)
    if ending is None:
        trouble = Trouble("RUN008", f"stopped: {executor.stopped}")
        executor.append([{"is": "stopped", "reason": executor.stopped, "at": at.isoformat()}])
        return _outcome(session, contract, Ending("held", trouble.message), trouble, book, resumable=True)
    executor.append([session.outcome(at)])
    return _outcome(session, contract, ending, session.trouble, book, resumable=executor.broken is not None)


def _outcome(
    session: Session, contract: Contract, ending: Ending, trouble: Trouble | None, book: Journal, resumable: bool
) -> Outcome:
    findings: Sequence[Finding] = ()
    reason = ending.reason
    if ending.kind != "done":
        said: Entry = session.outcome(datetime.min) if session.ending is not None else {}
        code = trouble.code if trouble is not None else str(said["code"])
        reason = trouble.message if trouble is not None else ending.reason
        severity: Literal["error", "note"] = "note" if ending.kind == "yield" else "error"
        more = "; ".join(said.get("failing", ()))
        node = trouble.node if trouble is not None and trouble.node is not None else ending.node
        message = reason + (f" ({more})" if more else "")
        findings = [Finding(f"CFRC-{code}", "execution", message, None, None, node, severity=severity)]
    return Outcome(
        kind=ending.kind,
        reason=reason,
        contract=contract,
        ledger=session.ledger,
        findings=tuple(findings),
        terminal=ending.terminal,
        resumable=resumable,
        journal=book.head,
        residual=freeze(contract, session.ledger) if ending.kind != "done" else None,
        steps=dict(session.live.status),
    )


# -- the tools' interface ---------------------------------------------------------------------------------------------


def interface_of(tools: Tools, proposal: Proposal, contract: Contract) -> tuple[str, list[str]]:
    """The digest of what the tools say about those that the proposal or the contract names; and the called ones that
    they do not have."""
    return interface_digest(tools.interface(), proposal, contract)


def interface_digest(offered: Mapping[str, Any], proposal: Proposal, contract: Contract) -> tuple[str, list[str]]:
    """The same of an interface that is at hand."""
    called = {n.tool for n in proposal.nodes if isinstance(n, Call)}
    known: dict[str, Any] = {n: offered[n] for n in sorted(called | set(contract.allow)) if n in offered}
    return digest(known), sorted(called - offered.keys())


def _unfit(contract: Contract, verdict: Verdict | None, missing: list[str]) -> Outcome:
    """The live tools are not those that the domain describes: nothing is called."""
    if missing:
        reason = f"the live surface has no tool {', '.join(f'`{m}`' for m in missing)}"
        return _before(contract, verdict, "RUN002", reason)
    return _before(contract, verdict, "RUN010", "the tools' interface is not the one that was asked for")


def _before(contract: Contract, verdict: Verdict | None, code: str, reason: str) -> Outcome:
    """Held before any call of this process; the journal, if there is one, can be taken up again."""
    ledger = Ledger(f"{contract.name}_run", contract.domain, ())
    found = Finding(f"CFRC-{code}", "execution", reason)
    return Outcome("held", reason, contract, ledger, (found,), verdict, resumable=True)
