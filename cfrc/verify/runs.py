"""Turns a call's clauses into plain data: effect instances, reads, and the symbolic run that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.domain import EffectClause, Tool
from cfrc.model.graph import Call
from cfrc.verify.frame import Key
from cfrc.verify.shapes import Shape, unknown
from cfrc.verify.state import Write
from cfrc.verify.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class Instance:
    """One effect instance that a call may cause, undo, witness or refute; ``None`` in ``args`` is ``_``. Happens iff
    ``cond``."""

    effect: str
    args: tuple[Key | None, ...]
    shapes: tuple[Shape | None, ...]
    cond: Term
    pos: int
    clause: EffectClause
    many: Term | None = None
    """For an instance that stands for every element of an opaque collection: how many elements there are, at most."""
    poll: bool = False
    """Caused by a poll whose ``until`` is false: the call is made again after it."""


@dataclass(frozen=True, slots=True)
class Read:
    """A fluent instance in a call's read footprint; ``cond`` says when it is read, if not whenever the call returns."""

    fluent: str
    key: Key
    cond: Term | None = None


@dataclass(slots=True)
class Run:
    """The symbolic run of one call node; see the module docstring."""

    call: Call
    tool: Tool | None
    pos: int
    args: dict[str, Shape] = field(default_factory=dict)
    result: Shape | None = None
    dead: Term = None  # type: ignore[assignment]  # set by the builder before the run is published
    skip: Term = None  # type: ignore[assignment]
    called: Term = None  # type: ignore[assignment]
    happened: Term = None  # type: ignore[assignment]
    ok: Term = None  # type: ignore[assignment]
    fail: Term = None  # type: ignore[assignment]
    guard_musts: list[tuple[str, Term]] = field(default_factory=list)
    arg_musts: list[tuple[str, Term]] = field(default_factory=list)
    requires: list[tuple[ex.Expr, Term]] = field(default_factory=list)
    needs_approval: Term = None  # type: ignore[assignment]
    ready: list[Term] = field(default_factory=list)
    """What holds when the call is made at all: its arguments are defined."""
    required: list[Term] = field(default_factory=list)
    """``requires``: where it is false the run goes no further (a finding of its own)."""
    base: list[Term] = field(default_factory=list)
    """Res: what every receipt of the call satisfies in the state after what is ordered before it."""
    steady: list[Term] = field(default_factory=list)
    """The part of ``base`` that calls which are not ordered with this one cannot change without touching what it always
    reads."""
    cont: list[Term] = field(default_factory=list)
    causes: list[Instance] = field(default_factory=list)
    until: Term | None = None
    """Whether ``until`` holds of the result."""
    polled: Term | None = None
    """Whether the call was made before with its ``until`` false; ``None`` where that cannot change anything."""
    poll_result: Shape | None = None
    residues: list[Instance] = field(default_factory=list)
    """What a definite failure may nevertheless have caused (``failure may cause``): in doubt from then on."""
    undoes: list[Instance] = field(default_factory=list)
    witnesses: list[Instance] = field(default_factory=list)
    refutes: list[Instance] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)


def failures(guard: ex.Expr | None) -> set[str]:
    """The nodes whose failure a guard mentions."""
    if guard is None:
        return set()
    return {x.node for x in ex.walk(guard) if isinstance(x, ex.Outcome) and x.status == "failed"}


def missing(terms: Terms, name: str, t: ty.Type) -> Shape:
    """An unconstrained value for what a faulty node left out."""
    return unknown(terms, t, lambda s, sort: terms.sym(sort, f"{name}{s}"))


def covers(terms: Terms, pattern: Sequence[Key | None], instances: Sequence[Key | None]) -> Term:
    """Whether every instance of the second pattern is one of the first."""
    if any(x is not None and y is None for x, y in zip(pattern, instances, strict=True)):
        return terms.false
    return match(terms, pattern, instances)


def match(terms: Terms, a: Sequence[Key | None], b: Sequence[Key | None]) -> Term:
    """Whether two argument tuples, possibly with wildcards, name the same instance."""
    parts = []
    for x, y in zip(a, b, strict=True):
        if x is not None and y is not None and x is not y:
            e = terms.eq_all(x, y)
            if e is terms.false:
                return e
            parts.append(e)
    return terms.and_(*parts)
