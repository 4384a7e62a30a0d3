"""Turns a tool and what it would be called with into what bars every such call: a denial, or a value without a source.

Both are told before any proposal is seen, so only what is certain counts: a denial that covers every call in question,
and an identifier that no name, no fact and no result of an allowed tool can supply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.canon import canonical
from cfrc.model.contract import Approval, Contract
from cfrc.model.domain import Param, Tool
from cfrc.model.values import Bag, Map, Record, Value


def denial(contract: Contract, tool: Tool, args: Mapping[str, ex.Expr]) -> Approval | None:
    """The denial that covers every call of the tool with these arguments; what ``args`` leaves out is open."""
    for a in contract.approvals:
        if a.denied and a.tool == tool.name and all(_given(tool, args, n, v) for n, v in a.args):
            return a
    return None


def _given(tool: Tool, args: Mapping[str, ex.Expr], name: str, value: Value) -> bool:
    p, given = tool.param(name), args.get(name)
    return p is not None and isinstance(given, ex.Lit) and canonical(p.type, given.value) == canonical(p.type, value)


def sourceless(contract: Contract, tool: Tool, args: Mapping[str, ex.Expr]) -> Param | None:
    """A parameter whose given identifier has no source that it accepts; ``None`` where one may exist."""
    for p in tool.params:
        given = args.get(p.name)
        if isinstance(given, ex.Lit) and not _may_be_had(contract, tool, p, given.value):
            return p
    return None


def _may_be_had(c: Contract, tool: Tool, p: Param, value: Value) -> bool:
    plain = p.type.item if isinstance(p.type, ty.Optional) else p.type
    if p.free or not isinstance(plain, ty.Id) or value is None:
        return True  # what is no identifier may be computed, or needs no source
    wanted = canonical(plain, value)
    if p.default is not None and (not isinstance(p.default, ex.Lit) or canonical(plain, p.default.value) == wanted):
        return True
    if any((t.for_tool, t.for_param) == (tool.name, p.name) for t in c.trusts):
        return True
    known = [(n.value, n.origin) for n in c.names.values()] + [(f.value, f.origin) for f in c.facts]
    for v, origin in known:
        if any(canonical(plain, x) == wanted for x in _inside(v)) and (origin is None or _allowed(p, origin.kind)):
            return True
    return any(_supplies(t, p, plain) for n in c.allow if (t := c.domain.tools.get(n)) is not None)


def _allowed(p: Param, kind: str) -> bool:
    """Whether the parameter accepts values of such an origin, wherever exactly they come from."""
    return p.sources is None or any((s.kind == "user") == (kind == "user") for s in p.sources)


def _supplies(t: Tool, p: Param, plain: ty.Type) -> bool:
    """Whether some field of the tool's result may be passed for the parameter."""
    if t.grounds_nothing or not _contains(t.result, plain):
        return False
    return p.sources is None or any(s.kind == "receipt" or s.tool == t.name for s in p.sources)


def _contains(t: ty.Type, wanted: ty.Type) -> bool:
    if ty.fits(t, wanted):
        return True
    match t:
        case ty.Optional(i) | ty.ListOf(i) | ty.BagOf(i):
            return _contains(i, wanted)
        case ty.MapOf(k, v):
            return _contains(k, wanted) or _contains(v, wanted)
        case ty.RecordOf(_, fields):
            return any(_contains(f, wanted) for _, f in fields)
    return False


def _inside(v: Value) -> Iterator[Value]:
    match v:
        case Record():
            for _, x in v.items:
                yield from _inside(x)
        case Map(items):
            for k, x in items:
                yield from _inside(k)
                yield from _inside(x)
        case tuple() | Bag():
            for x in v:
                yield from _inside(x)
        case str():
            yield v
