"""Turns a contract declaration into the residual contract z: concrete facts, typed obligations, scope and limits."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypeVar

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.calls import resolve_approval, resolve_call, resolve_trust
from cfrc.lang.resolve.constants import NotConstant, constant
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.goals import discharges, name_obligations, resolve_obligation
from cfrc.lang.resolve.licences import resolve_limit, resolve_within
from cfrc.lang.resolve.lookups import effect_named, fluent_named, tool_named
from cfrc.lang.resolve.origins import origin
from cfrc.lang.resolve.patterns import bind
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.types_ import Types
from cfrc.model.contract import (
    Approval,
    Contract,
    Doubt,
    Fact,
    KeptEffect,
    Licence,
    Limit,
    Name,
    Obligation,
    Origin,
    Trust,
)
from cfrc.model.domain import Domain, Effect, Fluent
from cfrc.model.expr import Expr, Lit
from cfrc.model.footprint import WILD, Wild
from cfrc.model.types import Enum, Type
from cfrc.model.values import Value
from cfrc.source import Span

T = TypeVar("T")


def resolve_contract(decl: t.ContractDecl, domain: Domain, problems: Problems) -> Contract:
    """The contract, without its digest. What is wrong is added to ``problems`` and left out."""
    return _Contract(decl, domain, problems).resolve()


class _Contract:
    """One contract while it is being resolved."""

    def __init__(self, decl: t.ContractDecl, domain: Domain, problems: Problems) -> None:
        self.decl, self.domain, self.problems = decl, domain, problems
        self.names: dict[str, Name] = {}
        self.places: dict[str, t.Name] = {}
        self.kept: list[KeptEffect] = []
        self.facts: list[Fact] = []
        self.doubts: list[Doubt] = []
        self.allow: list[str] = []
        self.scope: list[Licence] | None = None
        self.limits: list[Limit] = []
        self.approvals: list[Approval] = []
        self.trusts: list[Trust] = []
        self.single: dict[str, tuple[str | date | datetime, Span]] = {}

    def resolve(self) -> Contract:
        for item in self.decl.items:
            if isinstance(item, t.NameItem):
                self._name(item)
        self.values: dict[str, Expr] = {
            n: Lit(value=name.value, type=name.type, span=name.span) for n, name in self.names.items()
        }
        self.constants = Scope(self.domain, self.values)
        # What is owed and what is licensed may mention the receipts of obligations, wherever those stand in the text.
        owed = tuple(i for i in self.decl.items if isinstance(i, t.OwesItem))
        owed_names = name_obligations(owed, self.places, self.problems)
        allowed = {n.text for i in self.decl.items if isinstance(i, t.AllowItem) for n in i.tools}
        self.goals = self.constants.inner(discharges(owed, owed_names, self.domain, allowed))
        for item in self.decl.items:
            self._item(item)
        obligations = self._obligations(owed, owed_names)
        as_of = self.single.get("as of")
        return Contract(
            name=self.decl.name.text,
            domain=self.domain,
            digest="",
            request=str(self.single["request"][0]) if "request" in self.single else "",
            names=self.names,
            kept=tuple(self.kept),
            facts=tuple(self.facts),
            doubts=tuple(self.doubts),
            obligations=obligations,
            allow=tuple(self.allow),
            scope=None if self.scope is None else tuple(self.scope),
            limits=tuple(self.limits),
            approvals=tuple(self.approvals),
            trusts=tuple(self.trusts),
            policy=str(self.single["policy"][0]) if "policy" in self.single else None,
            as_of=as_of[0] if as_of is not None and isinstance(as_of[0], date) else None,
            head=str(self.single["head"][0]) if "head" in self.single else None,
            span=self.decl.span,
        )

    def _name(self, item: t.NameItem) -> None:
        name = item.name.text
        if name in self.places:
            self.problems.duplicate("name", name, item.name.span, self.places[name].span)
            return
        self.places[name] = item.name
        type_ = Types(self.problems, dict(self.domain.types)).resolve(item.type)
        self._ambiguous(item.name, type_)
        known: dict[str, Expr] = {n: Lit(value=k.value, type=k.type, span=k.span) for n, k in self.names.items()}
        scope = Scope(self.domain, known)
        try:
            value = constant(Resolver(self.problems), item.value, type_, scope, f"value of `{name}`")
        except NotConstant:
            value = None
        targets = tuple(x for t_ in item.targets if (x := self._target(t_)) is not None)
        source = origin(item.origin, scope, self.problems)
        self.names[name] = Name(name, type_, value, item.kind == "fixed", source, targets, item.span)

    def _ambiguous(self, name: t.Name, type_: Type) -> None:
        fluent = self.domain.fluents.get(name.text)
        if fluent is not None and not fluent.params:
            what = "a fluent of the domain"
        elif isinstance(type_, Enum) and name.text in type_.members:
            what = f"a member of {quoted(type_.name)}"
        else:
            return
        help = "give it another name, so that no expression is read two ways"
        self.problems.add("NAM011", f"{quoted(name.text)} is {what}", name.span, help)

    def _target(self, target: t.Target) -> tuple[str, str] | None:
        tool = tool_named(target.tool, self.domain, self.problems)
        if tool is None:
            return None
        if tool.param(target.param.text) is None:
            names = [p.name for p in tool.params]
            self.problems.unknown("parameter", target.param.text, names, target.param.span, "NAM006")
            return None
        return tool.name, target.param.text

    def _item(self, item: t.ContractItem) -> None:
        match item:
            case t.RequestItem() | t.PolicyItem() | t.HeadItem() | t.AsOfItem():
                self._header(item)
            case t.FactItem():
                self._fact(item)
            case t.DoubtItem():
                self._doubt(item)
            case t.AllowItem():
                self._allow(item)
            case t.WithinItem():
                self.scope = [*(self.scope or ()), *resolve_within(item, self.goals, self.problems)]
            case t.LimitItem():
                _keep(resolve_limit(item, self.constants, self.problems), self.limits)
            case t.ApprovalItem():
                _keep(resolve_approval(item, self.constants, self.problems), self.approvals)
            case t.TrustItem():
                _keep(resolve_trust(item, self.constants, self.problems), self.trusts)

    def _header(self, item: t.RequestItem | t.PolicyItem | t.HeadItem | t.AsOfItem) -> None:
        match item:
            case t.RequestItem():
                self._once("request", item.text.value, item)
            case t.PolicyItem():
                self._once("policy", item.version.value, item)
            case t.HeadItem():
                self._once("head", item.head.value, item)
            case t.AsOfItem():
                when = Resolver(self.problems).resolve(item.when, self.constants)
                if isinstance(when, Lit) and isinstance(when.value, date):
                    self._once("as of", when.value, item)

    def _once(self, what: str, value: str | date | datetime, item: t.Node) -> None:
        if what in self.single:
            notes = (("first written here", self.single[what][1]),)
            self.problems.add("EXP016", f"`{what}` is written twice", item.span, "remove one of them", notes)
            return
        self.single[what] = value, item.span

    def _allow(self, item: t.AllowItem) -> None:
        for name in item.tools:
            tool = tool_named(name, self.domain, self.problems)
            if tool is not None and tool.name not in self.allow:
                self.allow.append(tool.name)

    def _values(self, pattern: t.Pattern, of: Effect | Fluent) -> tuple[Value, ...] | None:
        """The constant arguments of an effect or fluent instance; ``None`` after reporting what is wrong."""
        found = self._pattern(pattern, of, wildcards=False)
        return None if found is None else tuple(v for v in found if not isinstance(v, Wild))

    def _pattern(self, pattern: t.Pattern, of: Effect | Fluent, wildcards: bool) -> tuple[Value | Wild, ...] | None:
        """Constant arguments, with ``_`` where that is allowed; ``None`` after reporting what is wrong."""
        found: list[Value | Wild] = []
        before = len(self.problems.found)
        bound = bind(self.problems, pattern.name, of.params, pattern.args or ())
        for name, type_ in of.params:
            if wildcards and isinstance(bound.get(name), t.Wildcard):
                found.append(WILD)
            elif name in bound:
                try:
                    found.append(
                        constant(Resolver(self.problems), bound[name], type_, self.constants, f"argument `{name}`")
                    )
                except NotConstant:
                    continue
        return tuple(found) if len(self.problems.found) == before else None

    def _origin(self, item: t.FactItem | t.DoubtItem) -> Origin | None:
        return origin(item.origin, self.constants, self.problems)

    def _fact(self, item: t.FactItem) -> None:
        name = item.subject.name
        if item.value is None and item.kind == "kept" and name.text not in self.domain.fluents:
            effect = effect_named(name, self.domain, self.problems)
            args = self._values(item.subject, effect) if effect is not None else None
            if effect is not None and args is not None:
                self.kept.append(KeptEffect(effect.name, args, self._origin(item), item.span))
            return
        fluent = fluent_named(name, self.domain, self.problems)
        if fluent is None:
            return
        if item.value is None:
            what = f"{quoted(name.text)} is a fluent: say which value it has"
            self.problems.add("EXP018", what, item.subject.span, f"write `{item.kind} {name.text}(…) == value`")
            return
        args = self._values(item.subject, fluent)
        try:
            value = constant(
                Resolver(self.problems), item.value, fluent.type, self.constants, f"value of `{fluent.name}`"
            )
        except NotConstant:
            return
        if args is not None:
            self.facts.append(Fact(fluent.name, args, value, item.kind == "kept", self._origin(item), item.span))

    def _doubt(self, item: t.DoubtItem) -> None:
        effect = effect_named(item.effect.name, self.domain, self.problems)
        args = self._pattern(item.effect, effect, wildcards=True) if effect is not None else None
        call = None
        if item.call is not None:
            call = resolve_call(item.call, self.constants, self.problems)
        if effect is not None and args is not None:
            self.doubts.append(Doubt(effect.name, args, self._origin(item), call, item.span))

    def _obligations(self, items: tuple[t.OwesItem, ...], names: list[str]) -> tuple[Obligation, ...]:
        found: dict[str, Obligation] = {}
        for item, name in zip(items, names, strict=True):
            found.setdefault(name, resolve_obligation(item, name, self.goals, names, self.problems))
        return tuple(found.values())


def _keep(found: T | None, into: list[T]) -> None:
    """Add what could be resolved."""
    if found is not None:
        into.append(found)
