"""Turns a session's wishes into live calls: reads side by side, one write at a time, every step on the disk first.

The order is always: decide, write the intention, call, write the receipt with what follows from it and with the next
intentions (one synchronization a step). Nothing is ever
repeated here; whether a call may be made again is the session's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import get_args

from cfrc.handoff.running.journal import Entry, Journal, JournalError, json_text
from cfrc.handoff.running.lease import Lease
from cfrc.handoff.running.pool import Pool, Stop
from cfrc.handoff.running.session import Session
from cfrc.handoff.running.wishes import Trouble, Wish
from cfrc.handoff.tools import Answer, Tools, plain
from cfrc.model.ledger import Status
from cfrc.model.transcript import JSON

LARGEST = 10_000_000
"""Characters of JSON that one answer may have."""


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Progress:
    """One thing that a watcher may want to know: a call begins (``after`` is ``None``) or has its answer."""

    wish: Wish
    after: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How calls are made. ``timeout`` bounds each attempt, ``drain`` the wait for calls in the air when the run is to
    stop, in seconds; ``interval`` is the wait before the n-th poll of a node. A write that nobody answered may still be
    on its way: ``grace`` seconds after it was begun a read is asked whether it took place, not sooner. ``head`` tells
    where the shared ledger ends now (asked before the first write); ``lease`` is held for the whole run. ``clock`` is
    for tests."""

    parallel: int = 4
    timeout: float = 60.0
    interval: Callable[[int], float] = lambda poll: 1.0
    drain: float = 30.0
    grace: float = 10.0
    head: Callable[[], str | None] | None = None
    lease: Lease | None = None
    progress: Callable[[Progress], None] | None = None
    clock: Callable[[], datetime] = utc_now


class Executor:
    """One process's part of a run. ``stopped`` says why it ended before the run did, ``broken`` that the journal cannot
    be written any more."""

    def __init__(self, session: Session, tools: Tools, journal: Journal, settings: Settings) -> None:
        self.session, self.tools, self.journal, self.settings = session, tools, journal, settings
        self.pool: Pool[tuple[str, int], tuple[Answer, float]] = Pool(max(1, settings.parallel))
        self.stopped: str | None = None
        self.broken: JournalError | None = None
        self._wishes: dict[tuple[str, int], Wish] = {}
        self._due: dict[str, float] = {}
        self._guarded = self._writing = False
        self._waited: set[str] = set()
        self._unwritten: list[Entry] = []

    def execute(self) -> None:
        """Runs until the session has ended or somebody stops it; no call is in the air afterwards."""
        try:
            while self.session.ending is None and self.stopped is None and not (self.broken and not self._wishes):
                self._start()
                if self._wishes or self._due:
                    self._wait(self._patience())
                elif not self._over():
                    self.hold(Trouble("RUN001", "nothing can be called, and the run has not ended"))
            self._drain()
            self.append([])
        finally:
            self.pool.close()

    def _over(self) -> bool:
        return self.session.ending is not None or self.broken is not None

    # -- making calls -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Begins every call that may be made now. The intentions are on the disk before the first is made."""
        if self.broken is not None:
            return
        begun: list[tuple[Wish, Mapping[str, JSON]]] = []
        entries: list[Entry] = []
        self._writing = any(w.writes for w in self._wishes.values())
        for wish in self.session.pending(lambda: not self._writing):
            if len(self._wishes) + len(begun) >= self.pool.width:
                break
            if self._early(wish):
                continue
            if wish.writes:
                if self._writing:
                    continue
                if not self._guarded and not self._guard():
                    break
            records = self.session.begin(wish, self.settings.clock())
            entries += records
            if records[-1]["is"] != "intent":
                break
            begun.append((wish, records[-1]["args"]))
            self._writing = self._writing or wish.writes
        if not self.append(entries):
            for wish, _ in begun:
                self.session.withdraw(wish.call, wish.attempt)
            return
        for wish, args in begun:
            self._submit(wish, args)

    def _early(self, wish: Wish) -> bool:
        """Whether the call has to wait: a poll for its time, and a look at what a write did for the write to land."""
        since = self.session.doubtful_since
        if wish.settles is not None and since is not None and wish.call not in self._waited:
            self._waited.add(wish.call)
            left = self.settings.grace - (self.settings.clock() - since).total_seconds()
            self._due[wish.node] = monotonic() + max(0.0, min(left, self.settings.grace))
        return self._due.get(wish.node, 0.0) > monotonic()

    def _guard(self) -> bool:
        """Just before the first write: where does the shared ledger end? Whether a write may follow."""
        if self.settings.head is not None:
            self.append([self.session.guard(self.settings.head(), self.settings.clock())])
        self._guarded = self.session.live.ending is None and self.broken is None
        return self._guarded

    def _submit(self, wish: Wish, args: Mapping[str, JSON]) -> None:
        tools, name = self.tools, wish.tool.name

        def make() -> tuple[Answer, float]:
            start = monotonic()
            return _answer(tools, name, args, wish.call), monotonic() - start

        key = (wish.call, wish.attempt)
        self._wishes[key] = wish
        self._due.pop(wish.node, None)
        self._tell(Progress(wish))
        self.pool.submit(key, make, self.settings.timeout)

    # -- taking answers ---------------------------------------------------------------------------------------------

    def _patience(self) -> float | None:
        """How long to wait for an answer before some poll is due."""
        if not self._due or len(self._wishes) >= self.pool.width:
            return None
        return max(0.0, min(self._due.values()) - monotonic())

    def _wait(self, most: float | None) -> None:
        found = self.pool.wait(most)
        if isinstance(found, Stop):
            self.stopped = found.reason
        elif found is not None:
            key, answered = found
            late = Answer("unknown", error=f"no answer within {self.settings.timeout:g} s", late=True)
            answer, seconds = answered if answered is not None else (late, self.settings.timeout)
            self._take(key, answer, seconds)
        elif not self._wishes:
            now = monotonic()
            self._due = {n: t for n, t in self._due.items() if t > now}

    def _take(self, key: tuple[str, int], answer: Answer, seconds: float) -> None:
        """A receipt. It is written together with the next intentions: before any other call is made or waited for."""
        wish = self._wishes.pop(key)
        entries = self.session.answer(*key, answer, self.settings.clock())
        self._unwritten += entries
        after = entries[-1]["after"]
        if after == "poll":
            self._due[wish.node] = monotonic() + self.settings.interval(wish.poll + 1)
        self._tell(Progress(wish, after, seconds))

    def _drain(self) -> None:
        """Waits for the calls in the air; what does not answer in time is in doubt."""
        until = monotonic() + self.settings.drain
        while self._wishes:
            left = until - monotonic()
            found = self.pool.wait(left) if left > 0 else None
            if isinstance(found, Stop):
                until = monotonic()  # asked twice: do not wait
            elif found is not None and found[1] is not None:
                self._take(found[0], *found[1])
            else:
                why = Answer("unknown", error="the run was stopped before it answered", late=True)
                for key in [found[0]] if found is not None else list(self._wishes):
                    self._take(key, why, 0.0)
            self.append([])

    # -- records ----------------------------------------------------------------------------------------------------

    def append(self, entries: Sequence[Entry]) -> bool:
        """Writes records after all that are waiting; where that fails the run is held. Whether they are on the disk."""
        if self.broken is not None:
            return False
        waiting = [*self._unwritten, *entries]
        self._unwritten = []
        if not waiting:
            return True
        try:
            self.journal.append(waiting)
        except JournalError as problem:
            self.broken = problem
            self.session.hold(Trouble(problem.code, problem.message))
            return False
        return True

    def hold(self, trouble: Trouble) -> None:
        self.session.hold(trouble)
        self.append([{"is": "hold", "code": trouble.code, "message": trouble.message}])

    def _tell(self, what: Progress) -> None:
        if self.settings.progress is not None:
            self.settings.progress(what)


def _answer(tools: Tools, tool: str, args: Mapping[str, JSON], call: str) -> Answer:
    """One attempt, on a thread of its own. Whatever goes wrong in the adapter leaves the call in doubt."""
    try:
        answer: object = tools.call(tool, args, call)
    except BaseException as problem:  # also what would end this thread: the run must hear of it
        return Answer("unknown", error=f"{type(problem).__name__}: {problem}")
    if not isinstance(answer, Answer) or answer.status not in get_args(Status):
        return Answer("unknown", error=f"the adapter gave no answer, but {answer!r:.80}")
    try:
        result = plain(answer.result)
        if len(json_text(result)) > LARGEST:
            return Answer(answer.status, error=answer.error, broken="the answer is too large")
    except (TypeError, ValueError, RecursionError) as problem:
        return Answer(answer.status, error=answer.error, broken=f"not JSON: {problem}")
    return replace(answer, result=result)
