"""Turns "this formula must hold here" into data: a verification condition that normalization or the solver decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
    undecidable: str | None = None
    exact: Callable[[], Term] | None = None
    """Where ``bad`` is weaker than the truth (fewer ways out are considered, so that it may hold more often): the exact
    formula, asked for only when ``bad`` is satisfiable."""
    earlier: tuple[tuple[int, Term], ...] = ()


Conditions = Iterator[Condition | None]
"""``None`` stands for a condition that folded to false while it was formed: it holds, and needs no words."""


def spans(*items: tuple[str, Span | None]) -> tuple[tuple[str, Span], ...]:
    """The labelled spans that exist."""
    return tuple((label, span) for label, span in items if span is not None)
