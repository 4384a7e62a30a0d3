"""Turns a tool declaration into its meaning: parameters with licensed sources, and what a call reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.builtins import generators
from cfrc.lang.resolve.constants import NotConstant, constant
from cfrc.lang.resolve.echoes import echoes, with_echoes
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.lookups import arguments, definite, effect_named, fluent_named
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.types_ import Types
from cfrc.lang.resolve.typing import is_any, strip
from cfrc.model.domain import Domain, EffectClause, FluentClause, Param, SourcePattern, Tool
from cfrc.model.expr import TRUE, Expr, Generator, Lit, Var
from cfrc.model.types import ANY, BagOf, ListOf, MapOf, RecordOf, Type

Results = Mapping[str, Type | None]
NO_RESULT = RecordOf(None, ())


@dataclass(slots=True)
class _Clauses:
    """What a tool's clauses say, while they are being read."""

    requires: list[Expr] = field(default_factory=list)
    ensures: list[Expr] = field(default_factory=list)
    fluents: dict[str, list[FluentClause]] = field(default_factory=lambda: {"observes": [], "sets": []})
    effects: dict[str, list[EffectClause]] = field(default_factory=lambda: {
        "causes": [], "undoes": [], "witnesses": [], "refutes": [], "failure may cause": []})  # fmt: skip
    approved: list[Expr] = field(default_factory=list)
    idempotent: bool = False
    causes_nothing: t.FlagClause | None = None


def resolve_tool(node: t.ToolDecl, domain: Domain, results: Results, types: Types, problems: Problems) -> Tool:
    """The tool. ``results`` are the result types of all tools of the domain, by name."""
    result = types.resolve(node.result, echoes=True) if node.result is not None else NO_RESULT
    parameters = _params(node, domain, results, types, problems)
    variables: dict[str, Expr] = {p.name: Var(name=p.name, kind="param", type=p.type, span=p.span) for p in parameters}
    before = Scope(domain, variables)
    whole = Var(name="result", kind="result", type=result, span=node.span)
    after = before.inner({"result": whole})
    echoed = echoes(node.result, whole, {p.name: p for p in parameters}, problems)
    found = _Clauses()
    for clause in node.clauses:
        _clause(clause, found, before, after, problems)
    writes = bool(found.effects["causes"] or found.effects["undoes"] or found.fluents["sets"])
    if found.causes_nothing is not None and found.effects["causes"]:
        problems.add(
            "EXP016", "`causes nothing` beside a `causes` clause", found.causes_nothing.span, "remove one of them"
        )
    return Tool(
        name=node.name.text,
        kind=node.kind,
        params=parameters,
        result=result,
        actor=node.actor.text if node.actor is not None else "agent",
        requires=tuple(found.requires),
        ensures=tuple(with_echoes(found.ensures, echoed.said)),
        observes=tuple(found.fluents["observes"]),
        sets=tuple(found.fluents["sets"]),
        causes=tuple(found.effects["causes"]),
        undoes=tuple(found.effects["undoes"]),
        witnesses=tuple(found.effects["witnesses"]),
        refutes=tuple(found.effects["refutes"]),
        may_cause=tuple(found.effects["failure may cause"]),
        approved=found.approved[0] if found.approved else None,
        idempotent=found.idempotent,
        grounds_nothing=node.grounds_nothing,
        echoes=echoed.paths,
        undeclared=node.kind == "write" and not writes and found.causes_nothing is None,
        span=node.span,
    )


def _params(node: t.ToolDecl, domain: Domain, results: Results, types: Types, problems: Problems) -> tuple[Param, ...]:
    found: dict[str, Param] = {}
    for p in node.params:
        name = p.name.text
        if name in found:
            problems.duplicate("parameter", name, p.name.span, found[name].span)
            continue
        if name == "result":
            problems.add("NAM010", "`result` is a built-in name", p.name.span, "choose another name")
        type_ = types.resolve(p.type)
        sources = None if p.sources is None else tuple(_source(s, results, problems) for s in p.sources)
        found[name] = Param(name, type_, sources, _default(p, type_, domain, problems), p.free, p.unquoted, p.span)
    return tuple(found.values())


def _default(node: t.ParamDecl, type_: Type, domain: Domain, problems: Problems) -> Expr | None:
    if node.default is None:
        return None
    try:
        value = constant(Resolver(problems), node.default, type_, Scope(domain, {}), "default")
    except NotConstant:
        return Lit(value=None, type=ANY, span=node.default.span)
    return Lit(value=value, type=type_, span=node.default.span)


def _source(node: t.SourceNode, results: Results, problems: Problems) -> SourcePattern:
    path = tuple(n.text for n in node.path)
    tool = node.tool.text if node.tool is not None else None
    if node.tool is not None:
        if node.tool.text not in results:
            problems.unknown("tool", node.tool.text, ("user", "receipt", *results), node.tool.span, "NAM004")
        elif not is_any(results[node.tool.text]):
            _path(node.path, results[node.tool.text] or NO_RESULT, problems)
    return SourcePattern(node.kind, tool, path, node.quoted, node.span)


def _path(path: tuple[t.Name, ...], type_: Type, problems: Problems) -> None:
    """Check that a path of fields exists in a result; it looks into the elements of collections."""
    for name in path:
        type_ = strip(type_)
        while isinstance(type_, ListOf | BagOf | MapOf):
            type_ = strip(type_.value if isinstance(type_, MapOf) else type_.item)
        if is_any(type_):
            return
        found = type_.field(name.text) if isinstance(type_, RecordOf) else None
        if found is None:
            fields = [n for n, _ in type_.fields] if isinstance(type_, RecordOf) else []
            help = problems.suggest(name.text, fields, "fields are " + ", ".join(quoted(f) for f in fields[:12]))
            problems.add("NAM006", f"no field {quoted(name.text)} in {quoted(str(type_), 80)}", name.span, help)
            return
        type_ = found


def _clause(node: t.ToolClause, found: _Clauses, before: Scope, after: Scope, problems: Problems) -> None:
    r = Resolver(problems)
    match node:
        case t.ConditionClause(kind="requires"):
            found.requires.append(r.condition(node.condition, before) or TRUE)
        case t.ConditionClause(kind="ensures"):
            found.ensures.append(r.condition(node.condition, after) or TRUE)
        case t.ConditionClause():
            if found.approved:
                problems.add("EXP016", "`approved` is written twice", node.span, "join the conditions with `or`")
            found.approved.append(r.condition(node.condition, before) or replace(TRUE, span=node.span))
        case t.FluentClauseNode():
            clause = _fluent_clause(node, r, after)
            if clause is not None:
                found.fluents[node.kind].append(clause)
        case t.EffectClauseNode():
            effect_clause = _effect_clause(node, r, before if node.kind == "failure may cause" else after)
            if effect_clause is not None:
                found.effects[node.kind].append(effect_clause)
        case t.FlagClause(kind="idempotent"):
            found.idempotent = True
        case t.FlagClause():
            found.causes_nothing = node


def _ranges(
    node: t.FluentClauseNode | t.EffectClauseNode, r: Resolver, scope: Scope
) -> tuple[tuple[Generator, ...], Expr | None, Scope]:
    bound, inner = generators(r, node.generators, scope)
    return bound, r.condition(node.when, inner), inner


def _fluent_clause(node: t.FluentClauseNode, r: Resolver, scope: Scope) -> FluentClause | None:
    bound, when, inner = _ranges(node, r, scope)
    fluent = fluent_named(node.target.name, scope.domain, r.problems)
    if fluent is None:
        return None
    args = definite(node.target, fluent.params, inner, r.problems)
    value = r.check(node.value, fluent.type, inner, f"value of `{fluent.name}`")
    return FluentClause(fluent.name, args, value, when, bound, node.span)


def _effect_clause(node: t.EffectClauseNode, r: Resolver, scope: Scope) -> EffectClause | None:
    bound, when, inner = _ranges(node, r, scope)
    effect = effect_named(node.effect.name, scope.domain, r.problems)
    if effect is None:
        return None
    loose = node.kind in ("undoes", "refutes")
    args = arguments(node.effect, effect.params, inner, r.problems, wildcards=loose)
    return EffectClause(effect.name, args, when, bound, node.span)
