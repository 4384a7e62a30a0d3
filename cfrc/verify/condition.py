"""Turns "this formula must hold here" into data: a verification condition that normalization or the solver decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from cfrc.model.contract import Obligation
from cfrc.model.expr import Expr
from cfrc.model.graph import Kind
from cfrc.source import Span
from cfrc.verify.terms import Term


@dataclass(slots=True)
class Condition:
    """Violated iff ``bad`` is satisfiable together with what may be assumed.

    ``mask`` is the bitset of calls that are settled with the run going on; ``returned`` the bitset of further calls
    whose receipt is assumed (but not their ``expect``: effects come first). ``step`` is the position of the call at
    which a run goes wrong (``None`` = at END). ``undecidable`` says why the condition could not be formed exactly; then
    it is reported as undecided, never dropped. ``earlier`` are calls that nothing orders against ``step`` and that come
    before it in the counterexample where their term is true.
    """

    kind: Kind
    code: str
    bad: Term
    message: str
    mask: int = 0
    returned: int = 0
    step: int | None = None
    node: str | None = None
    obligation: str | None = None
    help: str | None = None
    where: Span | None = None
    clauses: tuple[tuple[str, Span], ...] = ()
    failing: Expr | None = None
    others: tuple[str, ...] = ()
    together: tuple[Obligation, ...] = ()
    """The obligations that one assignment has to serve, where the condition is about that."""
    undecidable: str | None = None
    exact: Callable[[], Term] | None = None
    """Where ``bad`` is weaker than the truth (fewer ways out are considered, so that it may hold more often): the exact
    formula, asked for only when ``bad`` is satisfiable."""
    earlier: tuple[tuple[int, Term], ...] = ()
    family: Family | None = None


@dataclass(slots=True)
class Family:
    """Many like conditions: once one is refuted (or some are undecided) it is ``closed``, and the others are not asked.
    ``later`` are those that are not even formed before the first has been answered; ``others`` says how many."""

    others: str
    later: Iterator[Condition] | None = None
    refuted: bool = False
    undecided: int = 0

    @property
    def closed(self) -> bool:
        return self.refuted or self.undecided >= FEW


FEW = 6
"""Up to so many like conditions are asked, and reported, one by one."""

MANY = 1000
"""Like conditions are counted up to here."""

T = TypeVar("T")


def few(meetings: Callable[[], Iterator[tuple[T, T]]], form: Callable[[T, T], Condition | None]) -> Conditions:
    """The conditions about pairs: all of them if they are few; otherwise the first, for a family of all."""
    count = sum(1 for _ in islice(meetings(), MANY))
    if count <= FEW:
        yield from (c for pair in meetings() if (c := form(*pair)) is not None)
        return
    family = Family(f"{MANY:,} pairs or more" if count == MANY else f"up to {count - 1} other pairs")

    def members() -> Iterator[Condition]:
        for pair in meetings():
            if family.closed:
                return
            c = form(*pair)
            if c is not None:
                c.family = family
                yield c

    family.later = members()
    first = next(family.later, None)
    if first is not None:
        yield first


def positions(mask: int) -> Iterator[int]:
    """The positions in a bitset."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Conditions = Iterator[Condition | None]
"""``None`` stands for a condition that folded to false while it was formed: it holds, and needs no words."""


def spans(*items: tuple[str, Span | None]) -> tuple[tuple[str, Span], ...]:
    """The labelled spans that exist."""
    return tuple((label, span) for label, span in items if span is not None)
