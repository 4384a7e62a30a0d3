"""Turns expression trees into typed expressions: names, fields, operators, literals by the type that is wanted.

A *hint* is the type that the place would like: literals and enum members follow it, everything else ignores it.
:meth:`Resolver.check` then insists. What failed has type ``ANY``, on which every further check is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonnodes import JsonArray, JsonObject, JsonScalar, OutRef
from cfrc.lang.resolve import built, builtins, literals, operators
from cfrc.lang.resolve.literals import failed
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import strip
from cfrc.model.expr import Discharge, Expr, Field, FluentRead, Index, Lit, NodeResult, Var
from cfrc.model.types import (
    ANY,
    BOOL,
    INT,
    AnyType,
    BagOf,
    Enum,
    Id,
    ListOf,
    MapOf,
    Optional,
    RecordOf,
    Type,
    fits,
)  # fmt: skip

Written = t.ExprNode | JsonScalar | JsonArray | JsonObject
"""What can be resolved: the language's expressions, and the plain values of the JSON forms."""


class Resolver:
    """Resolves expressions; everything that is wrong goes to ``problems``."""

    __slots__ = ("problems",)

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    def check(self, node: Written, wanted: Type, scope: Scope, what: str = "value") -> Expr:
        """The expression, which must have the wanted type (``EXP001``)."""
        found = self.resolve(node, scope, wanted)
        if fits(found.type, wanted):
            return found
        help = None
        if isinstance(found.type, Optional) and fits(found.type.item, wanted):
            help = "the value may be absent here, and nothing says what then"
        elif isinstance(strip(wanted), Id):
            help = "identifiers are opaque: only a value of the same identifier type fits"
        self.problems.add(
            "EXP001", f"expected {quoted(str(wanted))} for the {what}, found {quoted(str(found.type))}", node.span, help
        )
        return failed(node)

    def condition(self, node: Written | None, scope: Scope) -> Expr | None:
        """A condition, or ``None`` for none."""
        return None if node is None else self.check(node, BOOL, scope, "condition")

    def resolve(self, node: Written, scope: Scope, hint: Type | None = None) -> Expr:
        """The expression with its own type. ``hint`` guides literals, enum members and built records only."""
        resolve = _RESOLVE.get(node.__class__)
        if resolve is not None:
            return resolve(self, node, scope, hint)
        return literals.literal(cast("t.Literal", node), hint, self.problems)

    def name(self, node: t.Ref, scope: Scope, hint: Type | None) -> Expr:
        found = scope.lookup(node.name)
        wanted = strip(hint) if hint is not None else ANY
        member = isinstance(wanted, Enum) and node.name in wanted.members
        if found is not None and not (member and not fits(strip(found.type), wanted)):
            return at(found, node)
        if member:
            return Lit(value=node.name, type=wanted, span=node.span)
        fluent = scope.domain.fluents.get(node.name)
        if fluent is not None and scope.fluents:
            if fluent.params:
                self.problems.add(
                    "EXP003", f"fluent {quoted(node.name)} needs {len(fluent.params)} argument(s)", node.span,
                    f"write {node.name}({', '.join(n for n, _ in fluent.params)})",
                )  # fmt: skip
                return failed(node)
            return FluentRead(fluent=node.name, args=(), type=fluent.type, span=node.span)
        self._unknown(node, scope, wanted)
        return failed(node)

    def _unknown(self, node: t.Ref, scope: Scope, wanted: Type) -> None:
        if isinstance(node, OutRef):
            self._dangling(node, scope)
            return
        if isinstance(wanted, Enum) and not any(n == node.name for n in scope.domain.fluents):
            names = [*wanted.members, *scope.names()]
            members = "members are " + ", ".join(quoted(m) for m in wanted.members[:8])
            help = self.problems.suggest(node.name, names, members)
            self.problems.add(
                "NAM001", f"unknown name {quoted(node.name)} for a {quoted(wanted.name)}", node.span, help
            )
            return
        owners = [e.name for e in scope.domain.types.values() if isinstance(e, Enum) and node.name in e.members]
        help = self.problems.suggest(node.name, scope.names())
        if owners:
            help = f"{quoted(node.name)} is a member of {quoted(owners[0])}, which is not what is wanted here"
        elif node.name in scope.domain.effects:
            help = f"{quoted(node.name)} is an effect; an expression reads fluents and values"
        elif node.name in scope.domain.fluents:
            help = "a proposal sees receipts only: read the fluent through a call"
        self.problems.add("NAM001", f"unknown name {quoted(node.name)}", node.span, help)

    def _dangling(self, node: t.Ref, scope: Scope) -> None:
        help = self.problems.suggest(node.name, scope.names())
        self.problems.add("NAM013", f"nothing is called {quoted(node.name)}", node.span, help)

    @staticmethod
    def _is_known(name: str, scope: Scope) -> bool:
        return scope.lookup(name) is not None or (scope.fluents and name in scope.domain.fluents)

    def member(self, node: t.Member, scope: Scope, _: Type | None = None) -> Expr:
        if isinstance(node.base, t.Ref) and not self._is_known(node.base.name, scope):
            self._dangling(node.base, scope)
            return failed(node)
        base = self.resolve(node.base, scope)
        name, owner = node.name.text, strip(base.type)
        match owner:
            case AnyType():
                # Of an unknown result nothing is known, but which node it comes from still matters.
                if isinstance(base, NodeResult | Discharge | Field):
                    return Field(base=base, name=name, type=ANY, span=node.span)
                return failed(node)
            case RecordOf():
                found = owner.field(name)
                if found is not None:
                    return Field(base=base, name=name, type=found, span=node.span)
                fields = [n for n, _ in owner.fields]
                help = self.problems.suggest(name, fields, "fields are " + ", ".join(quoted(f) for f in fields[:12]))
                self.problems.add(
                    "NAM006", f"no field {quoted(name)} in {quoted(str(owner), 80)}", node.name.span, help
                )
            case _:
                help = None
                if isinstance(owner, ListOf):
                    help = "take an element `xs[0]`, or use a comprehension"
                elif isinstance(owner, MapOf):
                    help = f'take an entry: m["{name}"]'
                self.problems.add("NAM006", f"a {quoted(str(owner), 80)} has no fields", node.name.span, help)
        return failed(node)

    def subscript(self, node: t.Subscript, scope: Scope, _: Type | None = None) -> Expr:
        base = self.resolve(node.base, scope)
        match strip(base.type):
            case ListOf(item):
                key = self.check(node.key, INT, scope, "index")
            case MapOf(key_type, item):
                key = self.check(node.key, key_type, scope, "key")
            case AnyType():
                self.resolve(node.key, scope)
                return failed(node)
            case other:
                help = "a bag has no order: use `only(x for x in …)`" if isinstance(other, BagOf) else None
                self.problems.add("EXP002", f"a {quoted(str(other), 80)} cannot be indexed", node.span, help)
                return failed(node)
        return Index(base=base, key=key, type=item, span=node.span)


def at(template: Expr, node: t.Node) -> Expr:
    """What a name stands for, at the place where it is written."""
    match template:
        case Var():
            return Var(name=template.name, kind=template.kind, type=template.type, span=node.span)
        case NodeResult():
            return NodeResult(node=template.node, type=template.type, span=node.span)
        case Lit():
            return Lit(value=template.value, type=template.type, span=node.span)
    return replace(template, span=node.span)


def _wildcard(r: Resolver, node: t.Wildcard, scope: Scope, hint: Type | None) -> Expr:
    r.problems.add("EXP006", "`_` is not a value", node.span, "`_` stands for any argument of a pattern")
    return literals.failed(node)


_RESOLVE: Mapping[type, Callable[[Resolver, Any, Scope, Type | None], Expr]] = {
    t.Ref: Resolver.name,
    OutRef: Resolver.name,
    t.Member: Resolver.member,
    t.Subscript: Resolver.subscript,
    t.Call: builtins.call,
    t.ComprehensionNode: builtins.comprehension,
    t.Binary: operators.binary,
    t.Unary: operators.unary,
    t.ListLit: built.list_literal,
    t.RecordLit: built.record_literal,
    t.MapLit: built.map_of,
    t.Wildcard: _wildcard,
    JsonScalar: lambda r, node, _, hint: literals.json_scalar(node, hint, r.problems),
    JsonArray: built.json_array,
    JsonObject: built.json_object,
}
