"""Turns what was accepted, done and asked into the residual contract z = (B, K, U, E, O, S, A, P, h).

``docs/semantics.md`` §1. A contract is frozen: immutable, and named by the SHA-256 of its canonical JSON. All values in
facts and kept effects are concrete; only obligations and scope hold expressions (over contract names,
fluents, existentials and the receipts of other obligations).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from cfrc.model.domain import Domain
from cfrc.model.expr import Expr
from cfrc.model.footprint import Wild
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.source import Span


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a trusted value comes from: ``from user turn 3``, ``from receipt c7.file``, ``… of pay_invoice``,
    ``… quoted 271..293``.

    ``tool`` is known when the contract says ``of TOOL`` or a ledger with that receipt is attached.
    """

    kind: Literal["user", "receipt", "policy"]
    turn: int | None = None
    receipt: str | None = None
    tool: str | None = None
    path: tuple[str, ...] = ()
    status: str | None = None
    quoted: tuple[int, int] | None = None
    args: tuple[Value | None, ...] | None = None
    """The arguments of the call, when the contract says ``of TOOL(…)``: in the tool's declared order, ``None`` for
    ``_``."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A binding (``fixed``, part of B) or known value (``known``, part of E).

    ``targets`` of a binding are the ``(tool, param)`` pairs of ``fixed x for tool.param``; empty = governs by type.
    ``origin`` is ``None`` when the text gives none: then the field is unsupported and the contract is withheld.
    """

    name: str
    type: Type
    value: Value
    fixed: bool
    origin: Origin | None
    targets: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class KeptEffect:
    """A realized effect identity of K_e: canonical argument values in declared order."""

    effect: str
    args: tuple[Value, ...]
    origin: Origin | None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fluent's value: ``kept f(x) == v`` (K_f, must not change) or ``holds f(x) == v`` (E, true at the freeze)."""

    fluent: str
    args: tuple[Value, ...]
    value: Value
    kept: bool
    origin: Origin | None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Doubt:
    """An in-doubt effect instance of U; ``_`` (:data:`cfrc.model.footprint.WILD`) is an argument that nobody knows.
    ``call`` is the (tool, arguments) that may have produced it, when given."""

    effect: str
    args: tuple[Value | Wild, ...]
    origin: Origin | None
    call: tuple[str, tuple[tuple[str, Value], ...]] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EffectGoal:
    """``sent(receipt, payee)``; ``None`` is ``_``. Arguments may use existentials, fluents and other obligations'
    receipts."""

    effect: str
    args: tuple[Expr | None, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StateGoal:
    """``roaming == false``: holds at the end, with no possible clobberer before ``done``."""

    condition: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


Goal = EffectGoal | StateGoal


@dataclass(frozen=True, slots=True)
class Obligation:
    """One open obligation.

    ``choice``: ``all`` (a single goal), ``one`` (``one of {…}``, exactly one) or ``any`` (``any of {…}``, at least
    one). ``count`` > 1: ``owes 2 of …``. ``exists`` are the existentials with types, ``where`` constrains them (read in
    the final state). ``condition`` is the ``if`` clause, judged in the freeze state. ``before`` names obligations that
    must not be realized before this one. ``shared``: may use the same identity as another existential obligation.
    """

    name: str
    goals: tuple[Goal, ...]
    choice: Literal["all", "one", "any"] = "all"
    count: int = 1
    exists: tuple[tuple[str, Type], ...] = ()
    where: Expr | None = None
    condition: Expr | None = None
    before: tuple[str, ...] = ()
    shared: bool = False
    origin: Origin | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Licence:
    """One item of scope S: ``within sent(receipt, payee)``, ``within status(order)``, ``within tool toggle_roaming``.

    ``kind`` ``effect`` licenses causing and undoing matching instances, ``fluent`` writing them, ``tool`` calling an
    undeclared tool. ``None`` in ``args`` is ``_``; ``exists``/``where`` as in obligations.
    """

    kind: Literal["effect", "fluent", "tool"]
    name: str
    args: tuple[Expr | None, ...] = ()
    exists: tuple[tuple[str, Type], ...] = ()
    where: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limit:
    """``limit sum(a) of sent_money(_, a) <= 98.70`` or ``limit count of cancelled(_) <= 1``.

    ``params[i]`` is ``None`` for ``_``, a ``str`` for a variable bound to that argument, or an expression that the
    argument must equal. ``amount`` (for ``sum``) is an expression over the bound variables (``Var(kind='bound')``).
    """

    kind: Literal["sum", "count"]
    effect: str
    params: tuple[str | Expr | None, ...]
    amount: Expr | None
    bound: Value
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval or a denial of one call. In ``args`` a missing parameter is ``_`` for denials; for approvals the
    declared default is filled in, and every argument must be given."""

    tool: str
    args: tuple[tuple[str, Value], ...]
    denied: bool
    policy: str | None = None
    expires: date | datetime | None = None
    origin: Origin | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trust:
    """``trust read_file(bill) for send_money.recipient``: results of matching calls are an allowed source for the
    parameter.

    ``args[i]`` ``None`` is ``_``; positional in the tool's declared order.
    """

    tool: str
    args: tuple[Value | None, ...]
    for_tool: str
    for_param: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Contract:
    """The frozen residual contract. ``scope`` is ``None`` when no ``within`` is written: then it is tight, exactly the
    obligations' own instances. ``policy`` is the policy version in force, ``as_of`` the time against which approvals
    expire. ``digest`` is ``sha256:…`` of the canonical JSON form."""

    name: str
    domain: Domain
    digest: str
    request: str = ""
    names: Mapping[str, Name] = field(default_factory=dict)
    kept: tuple[KeptEffect, ...] = ()
    facts: tuple[Fact, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    allow: tuple[str, ...] = ()
    scope: tuple[Licence, ...] | None = None
    limits: tuple[Limit, ...] = ()
    approvals: tuple[Approval, ...] = ()
    trusts: tuple[Trust, ...] = ()
    policy: str | None = None
    as_of: date | datetime | None = None
    head: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
