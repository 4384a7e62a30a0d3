"""Turns verdicts into exit codes, and several exit codes into the one that the process ends with."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from cfrc.model.verdict import Status


class Exit(IntEnum):
    """What the process says to its caller. A smaller number is not better: see :func:`worst`."""

    HOLDS = 0
    FAILS = 1
    INPUT = 2
    UNDECIDED = 3
    INTERNAL = 4


_WORST_FIRST = (Exit.INTERNAL, Exit.INPUT, Exit.FAILS, Exit.UNDECIDED, Exit.HOLDS)

_OF_STATUS = {
    Status.ADMITTED: Exit.HOLDS,
    Status.COMPLETE: Exit.HOLDS,
    Status.FRESH: Exit.HOLDS,
    Status.UNDECIDED: Exit.UNDECIDED,
    Status.REFUSED: Exit.FAILS,
    Status.WITHHELD: Exit.FAILS,
}


def of_status(status: Status) -> Exit:
    """``complete`` and ``fresh`` are success: there is nothing to do, and the word is printed."""
    return _OF_STATUS[status]


def worst(exits: Iterable[Exit]) -> Exit:
    """Internal error, then bad input, then a refusal, then undecided. Nothing at all is :attr:`Exit.HOLDS`."""
    return min(exits, key=_WORST_FIRST.index, default=Exit.HOLDS)
