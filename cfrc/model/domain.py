"""Turns a declared tool interface into its meaning: types, fluents, effects, and what each tool reads and writes.

A domain is public: nothing private to a simulator, no reference answers (``docs/semantics.md`` §1).
Dictionaries are never mutated after construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model.expr import Expr, Generator
from cfrc.model.types import Type
from cfrc.source import Span


@dataclass(frozen=True, slots=True)
class Fluent:
    """A value that may change. ``volatile``: others than the executor may change it too."""

    name: str
    params: tuple[tuple[str, Type], ...]
    type: Type
    volatile: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Effect:
    """An event with an identity. ``key`` holds parameter positions; ``once``: a second occurrence of a key is a fault.

    The default key is all identifier-typed parameters, or all (non-``text``) parameters when there is none.
    """

    name: str
    params: tuple[tuple[str, Type], ...]
    key: tuple[int, ...]
    once: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SourcePattern:
    """One alternative of ``from user | get_invoice.amount | quoted read_file``.

    ``kind``: ``user`` (an accepted choice), ``tool`` (a result field; ``path`` empty means any field of the tool),
    ``receipt`` (a result field of any tool). ``quoted`` allows values quoted from prose.
    """

    kind: Literal["user", "tool", "receipt"]
    tool: str | None = None
    path: tuple[str, ...] = ()
    quoted: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Param:
    """A tool parameter. ``sources`` is ``None`` when any trusted source is allowed; ``free``: needs no source.

    ``default`` is the value used when the argument is left out (``None`` = the parameter is required).
    ``unquoted`` refuses values quoted from prose.
    """

    name: str
    type: Type
    sources: tuple[SourcePattern, ...] | None = None
    default: Expr | None = None
    free: bool = False
    unquoted: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EffectClause:
    """``causes | undoes | witnesses | refutes e(args) when cond for m in xs``; ``None`` in ``args`` is ``_`` (any).

    Wildcards are not allowed in ``causes`` and ``witnesses``.
    """

    effect: str
    args: tuple[Expr | None, ...]
    when: Expr | None = None
    generators: tuple[Generator, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FluentClause:
    """``sets`` or ``observes f(args) = value when cond for m in xs``. ``sets`` reads the pre-state, ``observes`` the
    post-state."""

    fluent: str
    args: tuple[Expr, ...]
    value: Expr
    when: Expr | None = None
    generators: tuple[Generator, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool and its clauses. All clause expressions range over ``Var(kind='param')``, the ``result`` and fluents.

    ``undeclared``: a write tool without any ``causes``, ``undoes`` or ``sets`` clause that does not say
    ``causes nothing``: independent of nothing, and needs a licence by name. ``echoes`` maps a result path to the
    parameter it repeats. ``may_cause`` are the clauses of ``failure may cause …``.
    """

    name: str
    kind: Literal["read", "write"]
    params: tuple[Param, ...]
    result: Type
    actor: str = "agent"
    requires: tuple[Expr, ...] = ()
    ensures: tuple[Expr, ...] = ()
    observes: tuple[FluentClause, ...] = ()
    sets: tuple[FluentClause, ...] = ()
    causes: tuple[EffectClause, ...] = ()
    undoes: tuple[EffectClause, ...] = ()
    witnesses: tuple[EffectClause, ...] = ()
    refutes: tuple[EffectClause, ...] = ()
    may_cause: tuple[EffectClause, ...] = ()
    approved: Expr | None = None
    idempotent: bool = False
    grounds_nothing: bool = False
    echoes: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    undeclared: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)

    @property
    def writes(self) -> bool:
        """Whether a call may change anything: a write tool, or a read tool that causes, undoes or sets."""
        return self.kind == "write" or bool(self.causes or self.undoes or self.sets)


@dataclass(frozen=True, slots=True)
class Rule:
    """``rule name: paid(i, _) owes sent(_, payer(i))``: closes requests when a contract is built.

    ``params`` are the variables bound by the left-hand pattern (``None`` = ``_``).
    """

    name: str
    effect: str
    params: tuple[str | None, ...]
    owes: str
    args: tuple[Expr | None, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    types: Mapping[str, Type]
    fluents: Mapping[str, Fluent]
    effects: Mapping[str, Effect]
    tools: Mapping[str, Tool]
    rules: tuple[Rule, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
