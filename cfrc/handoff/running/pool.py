"""Turns calls that block into answers in one queue, each with a deadline, on threads that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Stop:
    """Why somebody wants the run to stop."""

    reason: str


class Pool(Generic[K, A]):
    """``width`` calls at once. A call that misses its deadline is given up: its thread is left to itself (daemons do
    not keep a process alive), and what it answers later is dropped."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._deadlines: dict[K, float] = {}
        self._threads = 0
        self._tasks: SimpleQueue[tuple[K, Callable[[], A]] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[K, A] | Stop] = SimpleQueue()

    @property
    def free(self) -> int:
        return self.width - len(self._deadlines)

    def submit(self, key: K, make: Callable[[], A], timeout: float) -> None:
        """Starts a call. ``make`` must not raise."""
        self._deadlines[key] = monotonic() + timeout
        if self._threads < len(self._deadlines):
            self._threads += 1
            Thread(target=self._work, name=f"cfrc-call-{self._threads}", daemon=True).start()
        self._tasks.put((key, make))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            key, make = task
            self._answers.put((key, make()))

    def stop(self, reason: str) -> None:
        """Wakes the waiter with a request to stop. Safe in a signal handler and in any thread."""
        self._answers.put(Stop(reason))

    def wait(self, most: float | None = None) -> tuple[K, A | None] | Stop | None:
        """The next answer, with ``None`` for a call that missed its deadline; or a request to stop; or ``None`` after
        ``most`` seconds."""
        until = None if most is None else monotonic() + most
        while True:
            first = min(self._deadlines, key=self._deadlines.__getitem__, default=None)
            ends = [t for t in (until, self._deadlines[first] if first is not None else None) if t is not None]
            try:
                found = self._answers.get(timeout=max(0.0, min(ends) - monotonic()) if ends else None)
            except Empty:
                if first is not None and self._deadlines[first] <= monotonic():
                    del self._deadlines[first]
                    self._threads -= 1  # that thread is busy with a call that nobody waits for
                    return first, None
                if until is not None and until <= monotonic():
                    return None
                continue
            if isinstance(found, Stop):
                return found
            if found[0] in self._deadlines:
                del self._deadlines[found[0]]
                return found
            self._threads += 1  # a thread that was given up is back

    def close(self) -> None:
        """Ends the threads that are idle."""
        for _ in range(max(0, self._threads)):
            self._tasks.put(None)
