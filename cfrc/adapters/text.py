"""Turns contracts and proposals of the model into spec text that reads like written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfrc.model.contract import Contract, EffectGoal, Fact, Goal, KeptEffect, Licence, Name, Obligation, Origin
from cfrc.model.domain import Domain
from cfrc.model.expr import Expr
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.show import show_expr, show_instance, show_string, show_value
from cfrc.model.types import Type


def contract_text(c: Contract) -> str:
    """The contract as a declaration. Doubts, approvals and trusts are not written: recorded runs have none."""
    lines = [f"contract {c.name} for {c.domain.name}"]
    if c.request:
        lines.append(f"    request {show_string(c.request)}")
    lines.extend(f"    {_name(n)}" for n in c.names.values())
    lines.extend(f"    {_kept(k, c.domain)}" for k in c.kept)
    lines.extend(f"    {_fact(f, c.domain)}" for f in c.facts)
    for o in c.obligations:
        lines.extend(_obligation(o))
    if c.allow:
        lines.append(f"    allow {', '.join(c.allow)}")
    for licence in c.scope or ():
        lines.extend(_licence(licence))
    for limit in c.limits:
        shown = ", ".join("_" for _ in limit.params)
        lines.append(f"    limit count of {limit.effect}({shown}) <= {limit.bound}")
    return "\n".join(lines) + "\n"


def proposal_text(p: Proposal, answers: str | None = None) -> str:
    """The proposal as a declaration, naming the contract's digest if it is given."""
    head = f"proposal {p.name} for {p.contract}"
    lines = [head if answers is None else f"{head} answers {show_string(answers)}"]
    for n in p.nodes:
        lines.extend(_call(n) if isinstance(n, Call) else _terminal(n))
    return "\n".join(lines) + "\n"


def _origin(o: Origin | None) -> str:
    if o is None:
        return ""
    if o.kind == "user":
        return " from user" + (f" turn {o.turn}" if o.turn is not None else "")
    if o.kind == "policy":
        return " from policy"
    path = "".join(f".{p}" for p in o.path)
    return f" from receipt {o.receipt}{path}" + (f" of {o.tool}" if o.tool else "")


def _name(n: Name) -> str:
    targets = ", ".join(f"{tool}.{param}" for tool, param in n.targets)
    kind = "fixed" if n.fixed else "known"
    value = show_value(n.value, n.type)
    return f"{kind} {n.name}: {n.type} = {value}" + (f" for {targets}" if targets else "") + _origin(n.origin)


def _kept(k: KeptEffect, domain: Domain) -> str:
    return f"kept {show_instance(k.effect, k.args, domain.effects[k.effect].params)}" + _origin(k.origin)


def _fact(f: Fact, domain: Domain) -> str:
    fluent = domain.fluents[f.fluent]
    shown = f"{show_instance(f.fluent, f.args, fluent.params)} == {show_value(f.value, fluent.type)}"
    return f"{'kept' if f.kept else 'holds'} {shown}" + _origin(f.origin)


def _pattern(name: str, args: Iterable[Expr | None]) -> str:
    return f"{name}({', '.join('_' if a is None else show_expr(a) for a in args)})"


def _goal(g: Goal) -> str:
    return _pattern(g.effect, g.args) if isinstance(g, EffectGoal) else show_expr(g.condition)


def _quantified(exists: tuple[tuple[str, Type], ...], where: Expr | None) -> Iterator[str]:
    if exists:
        yield f"        exists {', '.join(f'{n}: {t}' for n, t in exists)}"
    if where is not None:
        yield f"        where {show_expr(where)}"


def _obligation(o: Obligation) -> Iterator[str]:
    yield f"    owes {o.name}: {_goal(o.goals[0])}"
    yield from _quantified(o.exists, o.where)


def _licence(licence: Licence) -> Iterator[str]:
    yield f"    within {_pattern(licence.name, licence.args)}"
    yield from _quantified(licence.exists, licence.where)


def _call(n: Call) -> Iterator[str]:
    args = ", ".join(f"{k}: {show_expr(e)}" for k, e in n.args.items())
    yield f"    {n.id} = {n.tool}({args})"
    yield from _flow(n.when, n.after)
    if n.until is not None:
        yield f"        until {show_expr(n.until)} within {n.polls} polls"
    if n.expect is not None:
        yield f"        expect {show_expr(n.expect)}"


def _terminal(n: Terminal) -> Iterator[str]:
    head = "done" if n.kind == "done" else "yield" + (f" {show_string(n.reason)}" if n.reason else "")
    yield f"    {n.id} = {head}" + (f" claims {', '.join(n.claims)}" if n.claims else "")
    yield from _flow(n.when, n.after or ())


def _flow(when: Expr | None, after: tuple[str, ...]) -> Iterator[str]:
    if when is not None:
        yield f"        when {show_expr(when)}"
    if after:
        yield f"        after {', '.join(after)}"
