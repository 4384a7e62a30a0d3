"""Turns contracts, proposals and ledgers of the model into text in the house layout that resolves to them again.

The counterpart of the JSON forms: a JSON form that was loaded can be shown, reviewed and kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime

from cfrc.lang import scalars
from cfrc.lang.format import format_source
from cfrc.lang.unparse import Names, quote, unparse, unparse_value
from cfrc.model.contract import (
    Approval,
    Contract,
    Doubt,
    EffectGoal,
    Fact,
    Goal,
    KeptEffect,
    Licence,
    Limit,
    Name,
    Obligation,
    Origin,
    Trust,
)
from cfrc.model.domain import Domain
from cfrc.model.expr import Expr
from cfrc.model.footprint import Wild
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.types import RecordOf, Type
from cfrc.model.values import Value
from cfrc.source import Source

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GENERATED = re.compile(r"owes\d+_*")


def contract_to_text(contract: Contract) -> str:
    """The contract as a declaration. An empty scope that was given has no text form: it raises ``ValueError``."""
    if contract.scope == ():
        raise ValueError("an empty scope cannot be written in text; use the JSON form")
    names: dict[tuple[Type, Value], str] = {}
    for name in sorted(contract.names):
        names.setdefault((contract.names[name].type, contract.names[name].value), name)
    d = contract.domain
    lines = [f"contract {contract.name} for {d.name}"]
    lines += [f"policy {quote(contract.policy)}"] if contract.policy is not None else []
    lines += [f"request {quote(contract.request)}"] if contract.request else []
    lines += [f"as of {_moment(contract.as_of)}"] if contract.as_of is not None else []
    lines += [f"head {quote(contract.head)}"] if contract.head is not None else []
    lines += [_name(n, d) for n in contract.names.values()]
    lines += [_kept(k, d) for k in contract.kept]
    lines += [_fact(f, d) for f in contract.facts]
    lines += [_doubt(x, d) for x in contract.doubts]
    lines += [_owes(o, names, d, i) for i, o in enumerate(contract.obligations, 1)]
    lines += [f"allow {', '.join(contract.allow)}"] if contract.allow else []
    lines += [_licence(x, names) for x in contract.scope or ()]
    lines += [_limit(x, names) for x in contract.limits]
    lines += [_approval(a, d) for a in contract.approvals]
    lines += [_trust(x, d) for x in contract.trusts]
    return _laid_out(lines)


def proposal_to_text(proposal: Proposal) -> str:
    """The proposal as a declaration. Faulty parts that resolution left out are not in it."""
    answers = f" answers {quote(proposal.answers)}" if proposal.answers is not None else ""
    lines = [f"proposal {proposal.name} for {proposal.contract}{answers}"]
    lines += [_call(n) if isinstance(n, Call) else _terminal(n) for n in proposal.nodes]
    return _laid_out(lines)


def ledger_to_text(ledger: Ledger) -> str:
    """The ledger as a declaration."""
    lines = [f"ledger {ledger.name} for {ledger.domain.name}"]
    for entry in ledger.entries:
        if isinstance(entry, Receipt):
            lines.append(_receipt(entry, ledger.domain))
        elif isinstance(entry, Choice):
            turn = f" from user turn {entry.turn}" if entry.turn is not None else ""
            lines.append(f"accepted {entry.name}: {entry.type} = {unparse_value(entry.value, entry.type)}{turn}")
        else:
            lines.append(_approval(entry, ledger.domain))
    return _laid_out(lines)


def _laid_out(lines: Iterable[str]) -> str:
    return format_source(Source("<generated>", "\n".join(lines) + "\n"))


def _moment(when: date) -> str:
    return scalars.show_time(when) if isinstance(when, datetime) else when.isoformat()


def _id(text: str) -> str:
    """A receipt's id: a name, or a string where it is none."""
    return text if _NAME.fullmatch(text) else quote(text)


def _origin(o: Origin | None, domain: Domain) -> str:
    if o is None:
        return ""
    if o.kind == "user":
        return " from user" + (f" turn {o.turn}" if o.turn is not None else "")
    if o.kind == "policy":
        return " from policy"
    path = "".join(f".{p}" for p in o.path)
    tool = f" of {_of(o.tool, o.args, domain)}" if o.tool is not None else ""
    quoted = f" quoted {o.quoted[0]}..{o.quoted[1]}" if o.quoted is not None else ""
    status = f" {o.status}" if o.status is not None else ""
    return f" from receipt {_id(o.receipt or '')}{path}{tool}{quoted}{status}"


def _of(tool: str, args: tuple[Value | None, ...] | None, domain: Domain) -> str:
    return tool if args is None else _some_args(tool, args, domain)


def _pattern(name: str, args: Iterable[str | Expr | None], names: Names) -> str:
    shown = ["_" if a is None else a if isinstance(a, str) else unparse(a, names) for a in args]
    return f"{name}({', '.join(shown)})" if shown else name


def _instance(name: str, params: Iterable[tuple[str, Type]], args: Iterable[Value]) -> str:
    shown = [unparse_value(v, t) for (_, t), v in zip(params, args, strict=True)]
    return f"{name}({', '.join(shown)})"


def _tool_call(tool: str, args: Iterable[tuple[str, Value]], domain: Domain) -> str:
    types = {p.name: p.type for p in domain.tools[tool].params}
    return f"{tool}({', '.join(f'{n}: {unparse_value(v, types[n])}' for n, v in args)})"


def _some_args(tool: str, args: tuple[Value | None, ...], domain: Domain) -> str:
    """A call of which only some arguments are said."""
    params = domain.tools[tool].params
    return _tool_call(tool, [(p.name, v) for p, v in zip(params, args, strict=True) if v is not None], domain)


def _name(n: Name, domain: Domain) -> str:
    word = "fixed" if n.fixed else "known"
    targets = f" for {', '.join(f'{tool}.{param}' for tool, param in n.targets)}" if n.targets else ""
    return f"{word} {n.name}: {n.type} = {unparse_value(n.value, n.type)}{targets}{_origin(n.origin, domain)}"


def _kept(k: KeptEffect, domain: Domain) -> str:
    return f"kept {_instance(k.effect, domain.effects[k.effect].params, k.args)}{_origin(k.origin, domain)}"


def _fact(f: Fact, domain: Domain) -> str:
    fluent = domain.fluents[f.fluent]
    subject = _instance(f.fluent, fluent.params, f.args) if f.args else f.fluent
    word = "kept" if f.kept else "holds"
    return f"{word} {subject} == {unparse_value(f.value, fluent.type)}{_origin(f.origin, domain)}"


def _doubt(x: Doubt, domain: Domain) -> str:
    by = f" by {_tool_call(*x.call, domain)}" if x.call is not None else ""
    params = domain.effects[x.effect].params
    shown = ["_" if isinstance(v, Wild) else unparse_value(v, t) for (_, t), v in zip(params, x.args, strict=True)]
    return f"doubt {x.effect}({', '.join(shown)}){by}{_origin(x.origin, domain)}"


def _goal(g: Goal, names: Names) -> str:
    return _pattern(g.effect, g.args, names) if isinstance(g, EffectGoal) else unparse(g.condition, names)


def _exists(exists: tuple[tuple[str, Type], ...]) -> str:
    return f" exists {', '.join(f'{n}: {t}' for n, t in exists)}" if exists else ""


def _owes(o: Obligation, names: Names, domain: Domain, position: int) -> str:
    generated = bool(_GENERATED.fullmatch(o.name)) and o.name.rstrip("_") == f"owes{position}"
    label = "" if generated else f"{o.name}: "
    goals = ", ".join(_goal(g, names) for g in o.goals)
    what = goals if o.choice == "all" else f"{o.choice} of {{ {goals} }}"
    count = f"{o.count} of " if o.count != 1 else ""
    where = f" where {unparse(o.where, names)}" if o.where is not None else ""
    condition = f" if {unparse(o.condition, names)}" if o.condition is not None else ""
    before = f" before {', '.join(o.before)}" if o.before else ""
    shared = " shared" if o.shared else ""
    return f"owes {label}{count}{what}{_exists(o.exists)}{where}{condition}{before}{shared}{_origin(o.origin, domain)}"


def _licence(x: Licence, names: Names) -> str:
    if x.kind == "tool":
        return f"within tool {x.name}"
    where = f" where {unparse(x.where, names)}" if x.where is not None else ""
    return f"within {_pattern(x.name, x.args, names)}{_exists(x.exists)}{where}"


def _limit(x: Limit, names: Names) -> str:
    pattern = _pattern(x.effect, x.params, names)
    if x.amount is None:
        return f"limit count of {pattern} <= {unparse_value(x.bound)}"
    return f"limit sum({unparse(x.amount, names)}) of {pattern} <= {unparse_value(x.bound, x.amount.type)}"


def _approval(a: Approval, domain: Domain) -> str:
    policy = f" policy {quote(a.policy)}" if a.policy is not None else ""
    expires = f" expires {_moment(a.expires)}" if a.expires is not None else ""
    word = "denied" if a.denied else "approved"
    return f"{word} {_tool_call(a.tool, a.args, domain)}{policy}{expires}{_origin(a.origin, domain)}"


def _trust(x: Trust, domain: Domain) -> str:
    return f"trust {_some_args(x.tool, x.args, domain)} for {x.for_tool}.{x.for_param}"


def _call(n: Call) -> str:
    args = ", ".join(f"{k}: {unparse(v)}" for k, v in n.args.items())
    until = f" until {unparse(n.until)} within {n.polls} polls" if n.until is not None else ""
    expect = f" expect {unparse(n.expect)}" if n.expect is not None else ""
    covers = f" covers {', '.join(n.covers)}" if n.covers else ""
    return f"{n.id} = {n.tool}({args}){_flow(n.when, n.after)}{until}{expect}{covers}"


def _flow(when: Expr | None, after: tuple[str, ...] | None) -> str:
    guard = f" when {unparse(when)}" if when is not None else ""
    return guard + (f" after {', '.join(after)}" if after else "")


def _terminal(n: Terminal) -> str:
    claims = f" claims {', '.join(n.claims)}" if n.claims else ""
    reason = f" {quote(n.reason)}" if n.reason else ""
    return f"{n.id} = {n.kind}{reason}{claims}{_flow(n.when, n.after)}"


def _receipt(r: Receipt, domain: Domain) -> str:
    tool = domain.tools[r.tool]
    has_result = r.result is not None and tool.result != RecordOf(None, ())
    result = f" -> {unparse_value(r.result, tool.result)}" if has_result else ""
    attempt = f" attempt {r.attempt}" if r.attempt != 1 else ""
    actor = f" by {r.actor}" if r.actor != tool.actor else ""
    at = f" at {scalars.show_time(r.time)}" if r.time is not None else ""
    return f"receipt {_id(r.id)}: {_tool_call(r.tool, r.args, domain)}{result} {r.status}{attempt}{actor}{at}"
