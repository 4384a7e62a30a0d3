"""Turns a contract, a domain or a proposal into the digest of its content, which layout and comments never change.

A contract's digest is the SHA-256 of the canonical JSON (RFC 8785) of its JSON form, with two changes: the domain is
named by its own digest (so a changed domain changes the contract), and lists whose order means nothing are sorted. A
domain's digest is that of a structural dump of its declarations; those of one kind are a set. A proposal's is that of a
dump too, since it may hold what no form can (its faults); its steps have the order in which they are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from cfrc.lang import scalars
from cfrc.lang.canonical import Ready, canonical_json, digest
from cfrc.lang.jsonforms.write import contract_to_json
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.graph import Proposal

_UNORDERED = ("names", "kept", "facts", "doubts", "owes", "allow", "within", "limits", "approvals", "trusts")
_UNORDERED_CLAUSES = {
    "observes",
    "sets",
    "causes",
    "undoes",
    "witnesses",
    "refutes",
    "may_cause",
    "requires",
    "ensures",
    "rules",
}


def contract_digest(contract: Contract) -> str:
    """``sha256:…`` of the contract's content; ``Contract.digest`` itself plays no part."""
    form = contract_to_json(contract)
    form["domain"] = {"name": contract.domain.name, "digest": domain_digest(contract.domain)}
    for key in _UNORDERED:
        if form.get(key) is not None:
            form[key] = _sorted(form[key])
    for obligation in form.get("owes", ()):
        if "choice" in obligation:
            obligation["goals"] = _sorted(obligation["goals"])
        if "before" in obligation:
            obligation["before"] = _sorted(obligation["before"])
    form["owes"] = _sorted(form.get("owes", []))
    return digest(form)


def domain_digest(domain: Domain) -> str:
    """``sha256:…`` of everything that the domain declares."""
    return digest(_content(domain, {}))


def proposal_digest(proposal: Proposal) -> str:
    """``sha256:…`` of everything that the proposal says, in text or in JSON, with what is wrong in it."""
    return digest(_content(proposal, {}))


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=canonical_json)


def _content(x: Any, seen: dict[int, Ready]) -> Any:
    """A structural dump: class names, fields that take part in equality, exact values. Parts are text already; ``seen``
    are those of objects that stand in many places (types)."""
    match x:
        case None | bool() | str():
            return x
        case int() | Fraction():
            return {"number": str(x)}
        case datetime():
            return {"time": scalars.show_time(x)}
        case date():
            return {"date": x.isoformat()}
        case timedelta():
            return {"duration": scalars.show_duration(x)}
        case tuple() | list():
            return [_content(i, seen) for i in x]
        case Mapping():
            return _sorted([[_content(k, seen), _content(v, seen)] for k, v in x.items()])
    if is_dataclass(x):
        if id(x) in seen:
            return seen[id(x)]
        dump: dict[str, Any] = {"is": type(x).__name__}
        for f in fields(x):
            if f.compare:
                value = _content(getattr(x, f.name), seen)
                dump[f.name] = _sorted(value) if f.name in _UNORDERED_CLAUSES and isinstance(value, list) else value
        return seen.setdefault(id(x), Ready(canonical_json(dump)))
    raise TypeError(f"no content form for {type(x).__name__}")
