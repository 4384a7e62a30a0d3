"""Turns the names and argument lists of patterns (``paid(invoice, _)``) into what the domain declares under them."""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.literals import failed
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.model.domain import Domain, Effect, Fluent, Tool
from cfrc.model.expr import Expr
from cfrc.model.types import Type


def effect_named(name: t.Name, domain: Domain, problems: Problems) -> Effect | None:
    """The effect of that name, or ``None`` after reporting."""
    found = domain.effects.get(name.text)
    if found is None:
        help = f"{quoted(name.text)} is a fluent" if name.text in domain.fluents else None
        help = f"{quoted(name.text)} is a tool; name its effect" if name.text in domain.tools else help
        problems.unknown("effect", name.text, domain.effects, name.span, "NAM005", help=help)
    return found


def fluent_named(name: t.Name, domain: Domain, problems: Problems) -> Fluent | None:
    """The fluent of that name, or ``None`` after reporting."""
    found = domain.fluents.get(name.text)
    if found is None:
        help = f"{quoted(name.text)} is an effect" if name.text in domain.effects else None
        problems.unknown("fluent", name.text, domain.fluents, name.span, "NAM005", help=help)
    return found


def tool_named(name: t.Name, domain: Domain, problems: Problems) -> Tool | None:
    """The tool of that name, or ``None`` after reporting."""
    found = domain.tools.get(name.text)
    if found is None:
        problems.unknown("tool", name.text, domain.tools, name.span, "NAM004")
    return found


def arguments(
    pattern: t.Pattern, params: Sequence[tuple[str, Type]], scope: Scope, problems: Problems, *, wildcards: bool
) -> tuple[Expr | None, ...]:
    """The typed arguments of an effect or fluent pattern; ``None`` for ``_`` (an error unless ``wildcards``)."""
    r = Resolver(problems)
    bound = bind(problems, pattern.name, params, pattern.args or ())
    found: list[Expr | None] = []
    for name, type_ in params:
        node = bound.get(name)
        if node is None:
            found.append(failed(pattern))
        elif isinstance(node, t.Wildcard) and wildcards:
            found.append(None)
        else:
            found.append(r.check(node, type_, scope, f"argument `{name}`"))
    return tuple(found)


def definite(
    pattern: t.Pattern, params: Sequence[tuple[str, Type]], scope: Scope, problems: Problems
) -> tuple[Expr, ...]:
    """The typed arguments of a pattern in which ``_`` has no place."""
    return tuple(
        a if a is not None else failed(pattern) for a in arguments(pattern, params, scope, problems, wildcards=False)
    )
