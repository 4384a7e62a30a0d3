"""Turns the written arguments of a call into values by parameter, where all of them are known."""

from __future__ import annotations

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.constants import NotConstant, constant
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.model.domain import Tool
from cfrc.model.expr import Lit
from cfrc.model.values import Value


def call_values(
    pattern: t.Pattern, tool: Tool, scope: Scope, problems: Problems, *, wildcards: bool, partial: bool
) -> dict[str, Value] | None:
    """The constant arguments by parameter; ``None`` after reporting what is wrong.

    With ``wildcards``, ``_`` is allowed and leaves the parameter out. Unless ``partial``, left-out parameters take
    their defaults, and one without default is missing (``EXP004``).
    """
    params = [(p.name, p.type) for p in tool.params]
    before = len(problems.found)
    bound = bind(problems, pattern.name, params, pattern.args or (), partial=True)
    found: dict[str, Value] = {}
    for p in tool.params:
        node = bound.get(p.name)
        if node is None and not partial:
            if p.default is None:
                problems.add("EXP004", f"{quoted(tool.name)} lacks its argument `{p.name}`", pattern.span)
            elif isinstance(p.default, Lit):
                found[p.name] = p.default.value
        elif node is not None and not (wildcards and isinstance(node, t.Wildcard)):
            try:
                found[p.name] = constant(Resolver(problems), node, p.type, scope, f"argument `{p.name}`")
            except NotConstant:
                continue
    return found if len(problems.found) == before else None


def said_values(pattern: t.Pattern, tool: Tool, scope: Scope, problems: Problems) -> tuple[Value | None, ...] | None:
    """What is said of a call's arguments, in declared order: ``None`` for ``_`` and what is not given.

    ``None`` after reporting what is wrong. Nothing can be said to be absent (``EXP005``): it would read as ``_``.
    """
    values = call_values(pattern, tool, scope, problems, wildcards=True, partial=True)
    if values is None:
        return None
    for name, value in values.items():
        if value is None:
            what = f"the argument `{name}` cannot be told to be absent here"
            problems.add("EXP005", what, pattern.span, "leave it out, or name a value")
            return None
    return tuple(values.get(p.name) for p in tool.params)
