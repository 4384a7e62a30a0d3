"""Turns a domain declaration into its meaning: types, fluents, effects, tools and rules, all names known."""

from __future__ import annotations

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.builtins import BUILTINS
from cfrc.lang.resolve.lookups import arguments, effect_named
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.tools import resolve_tool
from cfrc.lang.resolve.types_ import Types
from cfrc.model.domain import Domain, Effect, Fluent, Rule, Tool
from cfrc.model.expr import Expr, Var
from cfrc.model.types import TEXT, Type, is_identifier


def resolve_domain(decl: t.DomainDecl, problems: Problems) -> Domain:
    """The domain. Everything that is wrong is added to ``problems``; what is wrong is left out or typed ``ANY``."""
    types = Types(problems)
    types.declare(decl.items)
    fluents: dict[str, Fluent] = {}
    effects: dict[str, Effect] = {}
    for item in decl.items:
        if isinstance(item, t.FluentDecl | t.EffectDecl):
            name = item.name.text
            first = fluents.get(name) or effects.get(name)
            if first is not None:
                problems.duplicate("effect or fluent", name, item.name.span, first.span)
            elif name in BUILTINS:
                problems.add("NAM010", f"{quoted(name)} is a built-in name", item.name.span, "choose another name")
            elif isinstance(item, t.FluentDecl):
                type_ = types.resolve(item.type)
                fluents[name] = Fluent(name, params(item.params, types), type_, item.volatile, item.span)
            else:
                effects[name] = _effect(item, types, problems)
    tools: dict[str, Tool] = {}
    domain = Domain(decl.name.text, types.declared, fluents, effects, tools, (), decl.span)
    _tools(decl, domain, tools, types, problems)
    rules = _rules(decl, domain, problems)
    return Domain(decl.name.text, types.declared, fluents, effects, tools, rules, decl.span)


def params(nodes: tuple[t.TypedName, ...], types: Types) -> tuple[tuple[str, Type], ...]:
    """Parameters in declared order; a repeated name is reported and dropped."""
    found: dict[str, Type] = {}
    places: dict[str, t.Name] = {}
    for node in nodes:
        if node.name.text in found:
            types.problems.duplicate("parameter", node.name.text, node.name.span, places[node.name.text].span)
            continue
        places[node.name.text] = node.name
        found[node.name.text] = types.resolve(node.type)
    return tuple(found.items())


def default_key(parameters: tuple[tuple[str, Type], ...]) -> tuple[int, ...]:
    """All identifier-typed parameters, or all that are not ``text`` when there is none (``docs/semantics.md`` §1)."""
    identifiers = tuple(i for i, (_, p) in enumerate(parameters) if is_identifier(p))
    return identifiers or tuple(i for i, (_, p) in enumerate(parameters) if p != TEXT)


def _effect(item: t.EffectDecl, types: Types, problems: Problems) -> Effect:
    parameters = params(item.params, types)
    if item.key is None:
        return Effect(item.name.text, parameters, default_key(parameters), item.once, item.span)
    names = [n for n, _ in parameters]
    key: list[int] = []
    for name in item.key:
        if name.text not in names:
            problems.unknown("parameter", name.text, names, name.span, "NAM001")
        elif names.index(name.text) in key:
            problems.duplicate("key", name.text, name.span, item.key[key.index(names.index(name.text))].span)
        elif parameters[names.index(name.text)][1] == TEXT:
            help = "prose identifies nothing: two wordings of one thing would count as two"
            problems.add("EXP014", f"parameter {quoted(name.text)} of type `text` cannot be in a key", name.span, help)
        else:
            key.append(names.index(name.text))
    return Effect(item.name.text, parameters, tuple(sorted(key)), item.once, item.span)


def _tools(decl: t.DomainDecl, domain: Domain, tools: dict[str, Tool], types: Types, problems: Problems) -> None:
    """All tools. Parameters' sources may name tools declared later, so results are collected first."""
    nodes: dict[str, t.ToolDecl] = {}
    for item in decl.items:
        if isinstance(item, t.ToolDecl):
            if item.name.text in nodes:
                problems.duplicate("tool", item.name.text, item.name.span, nodes[item.name.text].name.span)
            else:
                nodes[item.name.text] = item
    quiet = Types(Problems(), types.declared)
    results = {n: quiet.resolve(i.result, echoes=True) if i.result is not None else None for n, i in nodes.items()}
    for name, item in nodes.items():
        tools[name] = resolve_tool(item, domain, results, types, problems)


def _rules(decl: t.DomainDecl, domain: Domain, problems: Problems) -> tuple[Rule, ...]:
    found: dict[str, Rule] = {}
    for item in decl.items:
        if isinstance(item, t.RuleDecl):
            if item.name.text in found:
                problems.duplicate("rule", item.name.text, item.name.span, found[item.name.text].span)
                continue
            rule = _rule(item, domain, problems)
            if rule is not None:
                found[rule.name] = rule
    return tuple(found.values())


def _rule(item: t.RuleDecl, domain: Domain, problems: Problems) -> Rule | None:
    when, owes = (effect_named(p.name, domain, problems) for p in (item.when, item.owes))
    if when is None or owes is None:
        return None
    variables: dict[str, Expr] = {}
    written = bind(problems, item.when.name, when.params, item.when.args or ())
    left: list[str | None] = []
    for name, type_ in when.params:
        node = written.get(name)
        if isinstance(node, t.Ref) and node.name not in variables:
            variables[node.name] = Var(name=node.name, kind="param", type=type_, span=node.span)
            left.append(node.name)
            continue
        left.append(None)
        if isinstance(node, t.Ref):
            problems.duplicate("variable", node.name, node.span, variables[node.name].span)
        elif node is not None and not isinstance(node, t.Wildcard):
            problems.add("EXP015", "the left side of a rule takes variables and `_` only", node.span)
    right = arguments(item.owes, owes.params, Scope(domain, variables), problems, wildcards=True)
    return Rule(item.name.text, when.name, tuple(left), owes.name, right, item.span)
