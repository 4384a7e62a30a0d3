"""Turns findings into one ordered verdict that can be printed, serialized and never mistaken for a bool.

``docs/semantics.md`` §3: verdicts are combined by the worst; undecided is never success.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal, NoReturn

from cfrc.model.values import Value
from cfrc.source import Span


class Status(IntEnum):
    """Ordered verdicts of admission; a larger one is worse. ``fresh`` and ``complete`` mean that there is nothing to
    do. As text a status is its word."""

    ADMITTED = 0
    COMPLETE = 1
    FRESH = 2
    UNDECIDED = 3
    REFUSED = 4
    WITHHELD = 5

    @property
    def word(self) -> str:
        return self.name.lower()

    def __str__(self) -> str:
        return self.word

    def __format__(self, spec: str) -> str:
        return format(self.word, spec)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a bool: compare it with Status.ADMITTED")


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of a state difference: ``what`` (``status("o1")``, ``paid("INV-42", 120)``), before and after, as
    text."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a counterexample's run: the node, its outcome, its concrete arguments and its receipt's result.

    ``relevant`` is false when no other answer that was tried (values that the case mentions, large numbers, each member
    of an enum) makes the run go right.
    ``outcome``: ``ok``, ``failed``, ``skipped``, ``poll``.
    """

    node: str
    tool: str
    outcome: Literal["ok", "failed", "skipped", "poll"]
    args: tuple[tuple[str, Value], ...] = ()
    result: Value = None
    relevant: bool = True


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A concrete, replayed run that goes wrong at ``step`` (``docs/semantics.md`` §3).

    ``world`` lists the initial fluent values that matter as (text, value). ``branch`` says which guards were true.
    ``failing`` is the text of the conjunct that is false. ``replayed`` is always true for a shown counterexample.
    """

    order: tuple[Step, ...]
    step: str | None
    world: tuple[tuple[str, Value], ...] = ()
    branch: tuple[tuple[str, bool], ...] = ()
    difference: tuple[Difference, ...] = ()
    failing: str | None = None
    failing_span: Span | None = field(default=None, compare=False, repr=False)
    replayed: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``severity`` ``error`` refuses, ``undecided`` makes the verdict undecided, ``note`` does neither.

    ``where`` is the offending step or clause; ``clauses`` are the other spans in play (domain and contract clauses).
    ``advice`` is the single change that would remove the finding, when one was found (never applied).
    """

    code: str
    kind: str
    message: str
    help: str | None = None
    where: Span | None = field(default=None, compare=False, repr=False)
    node: str | None = None
    obligation: str | None = None
    severity: Literal["error", "undecided", "note"] = "error"
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False)
    advice: str | None = None
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """How the verdict was found: number of verification conditions, how many of them were decided without the solver,
    and how many it was asked (what could not be formed as a question counts in neither)."""

    obligations: int = 0
    normalized: int = 0
    solved: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement z ⊢ H. ``needed`` names the clauses and nodes an admission needed, ``unneeded`` those it did
    not."""

    status: Status
    contract: str
    proposal: str | None
    findings: tuple[Finding, ...] = ()
    needed: tuple[str, ...] = ()
    unneeded: tuple[str, ...] = ()
    stats: Stats = Stats()
    extra: tuple[tuple[str, Any], ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a bool: compare its status with Status.ADMITTED")

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == "error")
