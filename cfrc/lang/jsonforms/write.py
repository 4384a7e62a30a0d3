"""Turns contracts, proposals and ledgers of the model into their plain JSON forms.

Values are plain JSON of their type, expressions and patterns are strings of the language. Reading a form back gives an
equal model. Parts that are empty are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from cfrc.lang import scalars
from cfrc.lang.jsonvalues import to_json
from cfrc.lang.unparse import Names, unparse
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
)  # fmt: skip
from cfrc.model.domain import Domain
from cfrc.model.expr import Build, Expr, Field, Lit, NodeResult, Var
from cfrc.model.footprint import Wild
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.types import ANY, RecordOf, Type
from cfrc.model.values import Value

VERSION = 1
SOURCES = ("ref", "out", "expr", "lit")


def _trim(form: Mapping[str, Any]) -> dict[str, Any]:
    """Without the parts that say nothing."""
    return {k: v for k, v in form.items() if v is not None and v != [] and v != {} and v is not False and v != ""}


# --- contracts --------------------------------------------------------------------------------------------------------


def contract_to_json(contract: Contract, domain_file: str | None = None) -> dict[str, Any]:
    """The JSON form. ``domain_file`` is the path by which a reader finds the domain's spec file."""
    names: dict[tuple[Type, Value], str] = {}
    for name in sorted(contract.names):
        names.setdefault((contract.names[name].type, contract.names[name].value), name)
    domain = contract.domain
    form = _trim({
        "request": contract.request,
        "policy": contract.policy,
        "as_of": _moment(contract.as_of),
        "head": contract.head,
        "names": [_name(n, domain) for n in contract.names.values()],
        "kept": [_kept(k, domain) for k in contract.kept],
        "facts": [_fact(f, domain) for f in contract.facts],
        "doubts": [_doubt(d, domain) for d in contract.doubts],
        "owes": [_obligation(o, names, domain) for o in contract.obligations],
        "allow": list(contract.allow),
        "limits": [_limit(x, names) for x in contract.limits],
        "approvals": [_approval(a, domain) for a in contract.approvals],
        "trusts": [_trust(x, domain) for x in contract.trusts],
    })  # fmt: skip
    if contract.scope is not None:
        form["within"] = [_licence(x, names) for x in contract.scope]
    head: dict[str, Any] = {"cfrc": VERSION, "contract": contract.name}
    head["domain"] = {"name": domain.name, "import": domain_file} if domain_file is not None else domain.name
    return head | form


def _moment(when: date | datetime | None) -> str | None:
    if when is None:
        return None
    return scalars.show_time(when) if isinstance(when, datetime) else when.isoformat()


def origin_to_json(origin: Origin | None, domain: Domain) -> dict[str, Any] | None:
    """The JSON form of ``from …``."""
    if origin is None:
        return None
    quoted = list(origin.quoted) if origin.quoted is not None else None
    args = None if origin.tool is None or origin.args is None else _some(origin.tool, origin.args, domain)["args"]
    return {"kind": origin.kind} | _trim({
        "receipt": origin.receipt, "path": list(origin.path), "tool": origin.tool, "status": origin.status,
    }) | {k: v for k, v in (("turn", origin.turn), ("quoted", quoted), ("args", args)) if v is not None}  # fmt: skip


def _name(name: Name, domain: Domain) -> dict[str, Any]:
    form = {"name": name.name, "type": str(name.type), "value": to_json(name.value, name.type)}
    targets = [f"{tool}.{param}" for tool, param in name.targets]
    return form | _trim({"fixed": name.fixed, "for": targets, "from": origin_to_json(name.origin, domain)})


def _instance(params: Iterable[tuple[str, Type]], args: Iterable[Value]) -> dict[str, Any]:
    return {n: to_json(v, type_) for (n, type_), v in zip(params, args, strict=True)}


def _call(tool: str, args: Iterable[tuple[str, Value]], domain: Domain) -> dict[str, Any]:
    types = {p.name: p.type for p in domain.tools[tool].params}
    return {"tool": tool, "args": {n: to_json(v, types[n]) for n, v in args}}


def _some(tool: str, args: tuple[Value | None, ...], domain: Domain) -> dict[str, Any]:
    """A call of which only some arguments are said."""
    params = domain.tools[tool].params
    return _call(tool, [(p.name, v) for p, v in zip(params, args, strict=True) if v is not None], domain)


def _kept(kept: KeptEffect, domain: Domain) -> dict[str, Any]:
    args = _instance(domain.effects[kept.effect].params, kept.args)
    return {"effect": kept.effect, "args": args} | _trim({"from": origin_to_json(kept.origin, domain)})


def _fact(fact: Fact, domain: Domain) -> dict[str, Any]:
    fluent = domain.fluents[fact.fluent]
    form = {
        "fluent": fact.fluent,
        "args": _instance(fluent.params, fact.args),
        "value": to_json(fact.value, fluent.type),
    }
    return form | _trim({"kept": fact.kept, "from": origin_to_json(fact.origin, domain)})


def _doubt(doubt: Doubt, domain: Domain) -> dict[str, Any]:
    params = domain.effects[doubt.effect].params
    said = {n: to_json(v, t) for (n, t), v in zip(params, doubt.args, strict=True) if not isinstance(v, Wild)}
    form: dict[str, Any] = {"effect": doubt.effect, "args": said}
    unknown = [n for (n, _), v in zip(params, doubt.args, strict=True) if isinstance(v, Wild)]
    call = _call(*doubt.call, domain) if doubt.call is not None else None
    return form | _trim({"any": unknown, "by": call, "from": origin_to_json(doubt.origin, domain)})


def pattern_text(name: str, args: Iterable[str | Expr | None], names: Names) -> str:
    """``sent(receipt, _)`` as text; a pattern without arguments is its bare name."""
    shown = ["_" if a is None else a if isinstance(a, str) else unparse(a, names) for a in args]
    return f"{name}({', '.join(shown)})" if shown else name


def _goal(goal: Goal, names: Names) -> str:
    if isinstance(goal, EffectGoal):
        return pattern_text(goal.effect, goal.args, names)
    return unparse(goal.condition, names)


def _obligation(o: Obligation, names: Names, domain: Domain) -> dict[str, Any]:
    return {"name": o.name, "goals": [_goal(g, names) for g in o.goals]} | _trim({
        "choice": o.choice if o.choice != "all" else None,
        "count": o.count if o.count != 1 else None,
        "exists": {n: str(type_) for n, type_ in o.exists},
        "where": unparse(o.where, names) if o.where is not None else None,
        "if": unparse(o.condition, names) if o.condition is not None else None,
        "before": list(o.before),
        "shared": o.shared,
        "from": origin_to_json(o.origin, domain),
    })  # fmt: skip


def _licence(x: Licence, names: Names) -> dict[str, Any]:
    if x.kind == "tool":
        return {"tool": x.name}
    return {"pattern": pattern_text(x.name, x.args, names)} | _trim({
        "exists": {n: str(type_) for n, type_ in x.exists},
        "where": unparse(x.where, names) if x.where is not None else None,
    })  # fmt: skip


def _limit(x: Limit, names: Names) -> dict[str, Any]:
    form: dict[str, Any] = {"of": pattern_text(x.effect, x.params, names)}
    if x.amount is not None:
        form["sum"] = unparse(x.amount, names)
        form["at_most"] = to_json(x.bound, x.amount.type)
    else:
        form["at_most"] = x.bound
    return form


def _approval(a: Approval, domain: Domain) -> dict[str, Any]:
    return _call(a.tool, a.args, domain) | _trim({
        "denied": a.denied, "expires": _moment(a.expires), "from": origin_to_json(a.origin, domain),
    }) | ({"policy": a.policy} if a.policy is not None else {})  # fmt: skip


def _trust(x: Trust, domain: Domain) -> dict[str, Any]:
    return _some(x.tool, x.args, domain) | {"for": f"{x.for_tool}.{x.for_param}"}


# --- proposals --------------------------------------------------------------------------------------------------------


def proposal_to_json(proposal: Proposal) -> dict[str, Any]:
    """The JSON form. Faulty parts that resolution left out are not in it, so a faulty proposal loses them."""
    form: dict[str, Any] = {"cfrc": VERSION, "name": proposal.name, "contract": proposal.contract}
    if proposal.answers is not None:
        form["answers"] = proposal.answers
    form["nodes"] = [_call_node(n) if isinstance(n, Call) else _terminal(n) for n in proposal.nodes]
    return form


def _call_node(n: Call) -> dict[str, Any]:
    until = {"until": unparse(n.until), "polls": n.polls} if n.until is not None else {}
    return {"id": n.id, "call": n.tool, "args": {k: source_to_json(v) for k, v in n.args.items()}} | _trim({
        "when": unparse(n.when) if n.when is not None else None,
        "after": list(n.after),
        **until,
        "expect": unparse(n.expect) if n.expect is not None else None,
        "covers": list(n.covers),
    })  # fmt: skip


def _terminal(n: Terminal) -> dict[str, Any]:
    body: dict[str, Any] = {"claims": list(n.claims)} if n.kind == "done" else _trim({"reason": n.reason})
    form: dict[str, Any] = {"id": n.id, n.kind: body}
    if n.when is not None:
        form["when"] = unparse(n.when)
    if n.after is not None:
        form["after"] = list(n.after)
    return form


def source_to_json(e: Expr) -> Any:
    """An argument's source: a plain literal, ``{"ref": …}``, ``{"out": …}``, parts of these, else ``{"expr": …}``."""
    match e:
        case Lit(value=value, type=type_) if type_ != ANY:
            return _literal(value, type_)
        case Var(name=name, kind="name"):
            return {"ref": name}
        case NodeResult() | Field():
            path = _path(e)
            if path is not None:
                return {"out": path}
        case Build(kind="list" | "bag", items=items):
            return [source_to_json(i) for i in items]
        case Build(kind="record", items=items, names=names) if len(names) != 1 or names[0] not in SOURCES:
            return {n: source_to_json(i) for n, i in zip(names, items, strict=True)}
    return {"expr": unparse(e)}


def _literal(value: Value, type_: Type) -> Any:
    plain = to_json(value, type_)
    ambiguous = isinstance(plain, dict) and len(plain) == 1 and next(iter(plain)) in SOURCES
    return {"lit": plain} if ambiguous or _nested(plain) else plain


def _nested(plain: Any) -> bool:
    """Whether a part of a plain value would be taken for a source."""
    if isinstance(plain, dict):
        inner = plain.values()
    elif isinstance(plain, list):
        inner = plain  # type: ignore[assignment]  # any iterable of parts
    else:
        return False
    return any((isinstance(i, dict) and len(i) == 1 and next(iter(i)) in SOURCES) or _nested(i) for i in inner)


def _path(e: Expr) -> str | None:
    """``s.a.b`` of a path of fields of a node's result."""
    names: list[str] = []
    while isinstance(e, Field):
        names.append(e.name)
        e = e.base
    return ".".join([e.node, *reversed(names)]) if isinstance(e, NodeResult) else None


# --- ledgers ----------------------------------------------------------------------------------------------------------


def ledger_to_json(ledger: Ledger, domain_file: str | None = None) -> dict[str, Any]:
    """The JSON form. ``domain_file`` as in :func:`contract_to_json`."""
    domain = ledger.domain
    where = {"name": domain.name, "import": domain_file} if domain_file is not None else domain.name
    entries = [_entry(e, domain) for e in ledger.entries]
    return {"cfrc": VERSION, "ledger": ledger.name, "domain": where, "entries": entries}


def _entry(entry: Receipt | Choice | Approval, domain: Domain) -> dict[str, Any]:
    if isinstance(entry, Approval):
        return {"approval": _approval(entry, domain)}
    if isinstance(entry, Choice):
        value = to_json(entry.value, entry.type)
        form: dict[str, Any] = {"name": entry.name, "type": str(entry.type), "value": value}
        return {"accepted": form | ({"turn": entry.turn} if entry.turn is not None else {})}
    tool = domain.tools[entry.tool]
    form = {"id": entry.id} | _call(entry.tool, entry.args, domain) | {"status": entry.status}
    if entry.result is not None and tool.result != RecordOf(None, ()):
        form["result"] = to_json(entry.result, tool.result)
    if entry.attempt != 1:
        form["attempt"] = entry.attempt
    if entry.actor != tool.actor:
        form["actor"] = entry.actor
    if entry.time is not None:
        form["at"] = scalars.show_time(entry.time)
    return {"receipt": form}
