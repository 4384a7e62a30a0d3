"""Turns successful receipts into known values: the leaves that a later call may copy, with where each comes from.

Known are identifiers that some allowed tool takes, and other values that a parameter names as its source. A field that
only echoes an argument is no source. Of several places that say one value, those are kept that some parameter needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cfrc.handoff.freezing.naming import Names, plain_name
from cfrc.handoff.freezing.past import Past
from cfrc.model.contract import Name, Origin
from cfrc.model.domain import Domain, Param, SourcePattern, Tool
from cfrc.model.ledger import Receipt
from cfrc.model.plan import full_args
from cfrc.model.types import TEXT, BagOf, Enum, Id, ListOf, MapOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value
from cfrc.verify.happened import distinct

Path = tuple[str, ...]
Target = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value inside a result; paths go through lists and maps without naming the element."""

    path: Path
    type: Type
    value: Value


def leaves(value: Value, t: Type, path: Path = ()) -> Iterator[Leaf]:
    """Every part of a typed value that is not itself a collection or a record."""
    match t, value:
        case _, None:
            return
        case Optional(item), _:
            yield from leaves(value, item, path)
        case ListOf(item) | BagOf(item), tuple() | Bag():
            for v in value:
                yield from leaves(v, item, path)
        case MapOf(_, item), Map(pairs):
            for _, v in pairs:
                yield from leaves(v, item, path)
        case RecordOf(_, fields), Record():
            for n, f in fields:
                if n in value:
                    yield from leaves(value.get(n), f, (*path, n))
        case _:
            yield Leaf(path, t, value)


class Feeds:
    """Which parameters of the allowed tools a value of a receipt may be given to."""

    def __init__(self, domain: Domain, allow: tuple[str, ...]) -> None:
        tools = [domain.tools[t] for t in allow if t in domain.tools]
        self.params: dict[Type, list[tuple[Target, Param]]] = {}
        for tool in tools:
            for p in tool.params:
                for t in _parts(p.type):
                    self.params.setdefault(t, []).append(((tool.name, p.name), p))

    def of(self, tool: str, leaf: Leaf) -> frozenset[Target]:
        """The parameters that take this leaf. One that names no sources takes identifiers, and what is called like
        it."""
        return frozenset(target for target, p in self.params.get(leaf.type, ()) if _takes(p, tool, leaf))


def _parts(t: Type) -> Iterator[Type]:
    """The types of the leaves that a parameter is made of."""
    match t:
        case Optional(item) | ListOf(item) | BagOf(item):
            yield from _parts(item)
        case MapOf(key, item):
            yield from _parts(key)
            yield from _parts(item)
        case RecordOf(_, fields):
            for _, f in fields:
                yield from _parts(f)
        case Enum():
            return
        case Prim(name) if name in ("text", "bool"):
            return
        case _:
            yield t


def _takes(p: Param, tool: str, leaf: Leaf) -> bool:
    if p.sources is None:
        return isinstance(leaf.type, Id) or leaf.path[-1:] == (p.name,)
    return any(_from(s, tool, leaf.path) for s in p.sources)


def _from(s: SourcePattern, tool: str, path: Path) -> bool:
    named = s.kind == "receipt" or (s.kind == "tool" and s.tool == tool)
    return named and path[: len(s.path)] == s.path


def known_values(past: Past, names: Mapping[str, Name], allow: tuple[str, ...], free: Names) -> dict[str, Name]:
    """The known values that the receipts add to the names there are."""
    feeds = Feeds(past.before.domain, allow)
    trusted = {t.tool for t in past.before.trusts}
    fed: dict[tuple[Type, Value], set[Target]] = {}
    for n in names.values():
        if n.origin is not None and n.origin.kind == "receipt" and n.origin.quoted is None:
            leaf = Leaf(n.origin.path, n.type, n.value)
            fed.setdefault((n.type, n.value), set()).update(feeds.of(n.origin.tool or "", leaf), {("", "")})
    found: dict[str, Name] = {}
    for receipt, tool in successes(past):
        if tool.grounds_nothing:
            continue
        for leaf in leaves(receipt.result, tool.result):
            if leaf.type == TEXT or _echoes(tool, leaf.path):
                continue
            targets = feeds.of(tool.name, leaf)
            have = fed.setdefault((leaf.type, leaf.value), set())
            if targets <= have:
                continue
            have |= targets
            name = free.free(plain_name(leaf.value, leaf.type, leaf.path[-1] if leaf.path else tool.name))
            found[name] = Name(name, leaf.type, leaf.value, False, origin_of(receipt, tool, leaf.path, trusted))
    return found


def successes(past: Past) -> Iterator[tuple[Receipt, Tool]]:
    """The receipts that are evidence, with their tools."""
    for _, receipt in distinct(past.ledger):
        if receipt.status == "success":
            yield receipt, past.before.domain.tools[receipt.tool]


def origin_of(receipt: Receipt, tool: Tool, path: Path, trusted: set[str]) -> Origin:
    """``from receipt c7.file of pay_invoice``; with the call's arguments where the contract trusts some calls of the
    tool and not others."""
    args = None
    if tool.name in trusted:
        given = full_args(tool, receipt.args)
        args = tuple(given.get(p.name) for p in tool.params)
    return Origin("receipt", receipt=receipt.id, tool=tool.name, path=path, args=args)


def _echoes(tool: Tool, path: Path) -> bool:
    return any(path[: len(e)] == e for e in tool.echoes)
