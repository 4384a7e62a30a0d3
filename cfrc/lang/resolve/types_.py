"""Turns type declarations and written types into the model's types, with cycles and unknown names reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.typing import hashable_key, is_any
from cfrc.model.types import (
    ANY,
    BOOL,
    DATE,
    DECIMAL,
    DURATION,
    INT,
    STRING,
    TEXT,
    TIME,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    RecordOf,
    Type,
)  # fmt: skip

PRIMITIVES: Mapping[str, Type] = {str(p): p for p in (TEXT, STRING, INT, DECIMAL, BOOL, DATE, TIME, DURATION)}
CANONICAL = ("trim", "lower", "nfkc")


@dataclass(slots=True)
class Types:
    """The types of one domain while they are being resolved. ``declared`` is complete after :meth:`declare`."""

    problems: Problems
    declared: dict[str, Type] = field(default_factory=dict)
    _records: dict[str, t.RecordDecl] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def declare(self, items: tuple[t.DomainItem, ...]) -> None:
        """Take in all ``id``, ``enum`` and ``record`` declarations; records may refer to each other in any order."""
        places: dict[str, t.Name] = {}
        order: list[str] = []
        for item in items:
            for name in self._names(item):
                if name.text in PRIMITIVES or name.text in ("list", "bag", "map"):
                    self.problems.add(
                        "NAM010", f"{quoted(name.text)} is a built-in type", name.span, "choose another name"
                    )
                elif name.text in places:
                    self.problems.duplicate("type", name.text, name.span, places[name.text].span)
                else:
                    places[name.text] = name
                    order.append(name.text)
                    self._declare_one(item, name)
        for name_ in order:
            self._record(name_)
        self.declared = {n: self.declared[n] for n in order}

    @staticmethod
    def _names(item: t.DomainItem) -> tuple[t.Name, ...]:
        match item:
            case t.IdDecl():
                return item.names
            case t.EnumDecl() | t.RecordDecl():
                return (item.name,)
        return ()

    def _declare_one(self, item: t.DomainItem, name: t.Name) -> None:
        match item:
            case t.IdDecl():
                for step in item.canonical:
                    if step.text not in CANONICAL:
                        self.problems.unknown("canonical form", step.text, CANONICAL, step.span, "NAM003",
                                              "one of `trim`, `lower`, `nfkc`")  # fmt: skip
                steps = tuple(s.text for s in item.canonical if s.text in CANONICAL)
                self.declared[name.text] = Id(name.text, steps)
            case t.EnumDecl():
                self.declared[name.text] = self._enum(item)
            case t.RecordDecl():
                self._records[name.text] = item

    def _enum(self, item: t.EnumDecl) -> Enum:
        members: dict[str, t.EnumMember] = {}
        wires: dict[str, t.EnumMember] = {}
        for member in item.members:
            wire = member.wire.value if member.wire is not None else member.name.text
            if member.name.text in members:
                self.problems.duplicate("member", member.name.text, member.span, members[member.name.text].span)
            elif wire in wires:
                self.problems.duplicate("wire name", wire, member.span, wires[wire].span)
            else:
                members[member.name.text] = wires[wire] = member
        return Enum(item.name.text, tuple(members), tuple(wires))

    def _record(self, name: str) -> Type:
        """The record type of that name, resolved on first need; a record inside itself is refused."""
        if name in self.declared:
            return self.declared[name]
        if name in self._open:
            chain = " in ".join(f"`{n}`" for n in [*self._open[self._open.index(name) :], name])
            self.problems.add("EXP011", f"record {quoted(name)} contains itself", self._records[name].name.span, chain)
            return ANY
        self._open.append(name)
        fields = self.fields(self._records[name].type)
        self._open.pop()
        self.declared[name] = RecordOf(name, fields)
        return self.declared[name]

    def fields(self, node: t.RecordType, *, echoes: bool = False) -> tuple[tuple[str, Type], ...]:
        found: dict[str, Type] = {}
        places: dict[str, t.Name] = {}
        for f in node.fields:
            if f.echoes is not None and not echoes:
                self.problems.add("EXP013", "`echoes` is for fields of a tool's result", f.echoes.span)
            if f.name.text in found:
                self.problems.duplicate("field", f.name.text, f.name.span, places[f.name.text].span)
                continue
            places[f.name.text] = f.name
            found[f.name.text] = self.resolve(f.type, echoes=echoes)
        return tuple(found.items())

    def resolve(self, node: t.TypeNode, *, echoes: bool = False) -> Type:
        """The type that is written; ``ANY`` where it is unknown. ``echoes`` says that fields may echo parameters."""
        match node:
            case t.NamedType(name=name):
                if name in PRIMITIVES:
                    return PRIMITIVES[name]
                if name in self.declared:
                    return self.declared[name]
                if name in self._records:
                    return self._record(name)
                known = [*PRIMITIVES, *self.declared, *self._records]
                self.problems.unknown("type", name, known, node.span, "NAM003")
                return ANY
            case t.OptionalType(item=inner):
                item = self.resolve(inner, echoes=echoes)
                return item if isinstance(item, Optional) or is_any(item) else Optional(item)
            case t.RecordType():
                return RecordOf(None, self.fields(node, echoes=echoes))
        return self._applied(node, echoes)

    def _applied(self, node: t.AppliedType, echoes: bool) -> Type:
        args = [self.resolve(a, echoes=echoes) for a in node.args]
        head = node.head.text
        wanted = {"list": 1, "bag": 1, "map": 2}.get(head)
        if wanted is None:
            self.problems.unknown("type", head, ("list", "bag", "map"), node.head.span, "NAM003")
            return ANY
        if len(args) != wanted:
            example = {"list": "list[T]", "bag": "bag[T]", "map": "map[K, V]"}[head]
            self.problems.add(
                "EXP003", f"{quoted(head)} needs {wanted} type(s), found {len(args)}", node.span, f"write {example}"
            )
            return ANY
        if head == "map":
            if not hashable_key(args[0]):
                self.problems.add("EXP002", f"a {quoted(str(args[0]), 80)} cannot be a map's key", node.args[0].span)
            return MapOf(args[0], args[1])
        return ListOf(args[0]) if head == "list" else BagOf(args[0])
