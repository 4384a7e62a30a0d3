"""Turns expression trees into typed expressions: names, fields, operators, literals by the type that is wanted.

A *hint* is the type that the place would like: literals and enum members follow it, everything else ignores it.
:meth:`Resolver.check` then insists. What failed has type ``ANY``, on which every further check is silent.
"""

from __future__ import annotations

from dataclasses import replace

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonnodes import JsonArray, JsonObject, JsonScalar, OutRef
from cfrc.lang.jsonread import Json
from cfrc.lang.resolve import builtins, literals
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import comparable, element, is_any, is_number, join, ordered, strip, sum_type
from cfrc.model.expr import Apply, Build, Discharge, Expr, Field, FluentRead, Index, Lit, NodeResult, Op, Var
from cfrc.model.types import (
    ANY, BOOL, DECIMAL, DURATION, INT, AnyType, BagOf, Enum, Id, ListOf, MapOf, Optional, RecordOf, Type, fits,
)  # fmt: skip

_WEAK = (t.StringLit, t.IntLit, t.DecimalLit, t.AbsentLit, t.ListLit, t.RecordLit, t.MapLit)

Written = t.ExprNode | JsonScalar | JsonArray | JsonObject
"""What can be resolved: the language's expressions, and the plain values of the JSON forms."""


def failed(node: t.Node) -> Lit:
    """What stands for an expression that could not be resolved."""
    return Lit(value=None, type=ANY, span=node.span)


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
        match node:
            case t.Ref():
                return self._name(node, scope, hint)
            case t.Member():
                return self._member(node, scope)
            case t.Call():
                return builtins.call(self, node, scope, hint)
            case t.Binary():
                return self._binary(node, scope, hint)
            case t.Unary():
                return self._unary(node, scope, hint)
            case t.Subscript():
                return self._subscript(node, scope)
            case t.ListLit():
                return self._list(node, scope, hint)
            case t.RecordLit():
                return self._record(node, scope, hint)
            case t.MapLit():
                return self._map(node, [(e.key, e.value) for e in node.entries], scope, hint)
            case t.ComprehensionNode():
                return builtins.comprehension(self, node, scope, hint)
            case JsonScalar():
                return literals.json_scalar(node, hint, self.problems)
            case JsonArray():
                return self._json_array(node, scope, hint)
            case JsonObject():
                return self._json_object(node, scope, hint)
            case t.Wildcard():
                self.problems.add("EXP006", "`_` is not a value", node.span, "`_` stands for any argument of a pattern")
                return failed(node)
        return literals.literal(node, hint, self.problems)

    # --- names ------------------------------------------------------------------------------------------------------

    def _name(self, node: t.Ref, scope: Scope, hint: Type | None) -> Expr:
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

    def _member(self, node: t.Member, scope: Scope) -> Expr:
        if isinstance(node.base, t.Ref) and scope.lookup(node.base.name) is None:
            if node.base.name not in scope.domain.fluents or not scope.fluents:
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

    def _subscript(self, node: t.Subscript, scope: Scope) -> Expr:
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

    # --- built values -----------------------------------------------------------------------------------------------

    def _list(self, node: t.ListLit, scope: Scope, hint: Type | None) -> Expr:
        return self.collection("bag" if isinstance(strip(hint or ANY), BagOf) else "list", node, scope, hint)

    def collection(
        self, kind: str, node: t.ListLit, scope: Scope, hint: Type | None, whole: t.Node | None = None
    ) -> Expr:
        """A list, or a bag: ``bag([…])`` and a list literal where a bag is wanted."""
        wish = element(hint) if hint is not None and not isinstance(strip(hint), MapOf) else None
        items = tuple(self.resolve(i, scope, wish) for i in node.items)
        item: Type = wish if wish is not None and all(fits(i.type, wish) for i in items) else ANY
        if is_any(item) and items:
            item = items[0].type
            for i in items[1:]:
                joined = join(item, i.type)
                if joined is None:
                    what = f"{quoted(str(item), 80)} and {quoted(str(i.type), 80)} in one collection"
                    self.problems.add("EXP001", what, i.span, "all elements have one type")
                    return failed(node)
                item = joined
        span = (whole or node).span
        if kind == "bag":
            return Build(kind="bag", items=items, type=BagOf(item), span=span)
        return Build(kind="list", items=items, type=ListOf(item), span=span)

    def _record(self, node: t.RecordLit, scope: Scope, hint: Type | None) -> Expr:
        wanted = strip(hint) if hint is not None else ANY
        types = dict(wanted.fields) if isinstance(wanted, RecordOf) else {}
        values: dict[str, Expr] = {}
        for init in node.fields:
            name = init.name.text
            if name in values:
                self.problems.duplicate("field", name, init.name.span, values[name].span)
                continue
            if types and name not in types:
                help = self.problems.suggest(name, types)
                self.problems.add(
                    "NAM006", f"no field {quoted(name)} in {quoted(str(wanted), 80)}", init.name.span, help
                )
            values[name] = self.resolve(init.value, scope, types.get(name))
        for name, type_ in types.items():
            if name not in values and isinstance(type_, Optional):
                values[name] = Lit(value=None, type=type_, span=node.span)
        own = RecordOf(None, tuple((n, v.type) for n, v in values.items()))
        names = tuple(values)
        if isinstance(wanted, RecordOf) and fits(own, wanted):
            names, own = tuple(n for n, _ in wanted.fields), wanted
        items = tuple(values[n] for n in names)
        return Build(kind="record", items=items, names=names, type=own, span=node.span)

    def _map(self, node: t.Node, entries: list[tuple[Written, t.ExprNode]], scope: Scope, hint: Type | None) -> Expr:
        wanted = strip(hint) if hint is not None else ANY
        wish = wanted if isinstance(wanted, MapOf) else None
        pairs = [
            (self.resolve(k, scope, wish and wish.key), self.resolve(v, scope, wish and wish.value)) for k, v in entries
        ]
        key: Type | None = wish.key if wish else ANY
        value: Type | None = wish.value if wish else ANY
        for i, (k, v) in enumerate(pairs):
            key = k.type if i == 0 and not wish else join(key or ANY, k.type)
            value = v.type if i == 0 and not wish else join(value or ANY, v.type)
        if key is None or value is None:
            self.problems.add("EXP001", "keys or values of different types in one map", node.span)
            return failed(node)
        literals_seen = [k.value for k, _ in pairs if isinstance(k, Lit) and not is_any(k.type)]
        if len(set(literals_seen)) < len(literals_seen):
            self.problems.add("EXP012", "the same key twice in one map", node.span)
        return Build(
            kind="map", items=tuple(v for _, v in pairs), keys=tuple(k for k, _ in pairs),
            type=MapOf(key, value), span=node.span,
        )  # fmt: skip

    def _json_array(self, node: JsonArray, scope: Scope, hint: Type | None) -> Expr:
        """An array of a JSON form: pairs where a map is wanted, else a list or a bag."""
        wanted = strip(hint) if hint is not None else ANY
        if not isinstance(wanted, MapOf):
            return self._list(t.ListLit(node.items, span=node.span), scope, hint)
        entries: list[tuple[Written, t.ExprNode]] = []
        for pair in node.items:
            items = pair.items if isinstance(pair, JsonArray) else ()
            if len(items) != 2:
                self.problems.add("EXP001", "expected a pair [key, value] of the map", pair.span)
                return failed(node)
            entries.append((items[0], items[1]))
        return self._map(node, entries, scope, wanted)

    def _json_object(self, node: JsonObject, scope: Scope, hint: Type | None) -> Expr:
        """An object of a JSON form: a map where a map is wanted (keys by their wire spelling), else a record."""
        wanted = strip(hint) if hint is not None else ANY
        if not isinstance(wanted, MapOf):
            return self._record(t.RecordLit(node.fields, span=node.span), scope, hint)
        keys: list[Written] = [JsonScalar(Json(f.name.text, f.name.span), span=f.name.span) for f in node.fields]
        return self._map(node, list(zip(keys, [f.value for f in node.fields], strict=True)), scope, wanted)

    # --- operators --------------------------------------------------------------------------------------------------

    def _unary(self, node: t.Unary, scope: Scope, hint: Type | None) -> Expr:
        if node.op == "not":
            operand = self.check(node.operand, BOOL, scope, "operand of `not`")
            return Apply(op="not", args=(operand,), type=BOOL, span=node.span)
        if isinstance(node.operand, t.IntLit | t.DecimalLit):
            return literals.negative(node.operand, hint, self.problems, node)
        operand = self.resolve(node.operand, scope, hint)
        if not (is_any(operand.type) or is_number(operand.type) or operand.type == DURATION):
            self.problems.add("EXP002", f"`-` does not apply to {quoted(str(operand.type), 80)}", node.span)
            return failed(node)
        return Apply(op="neg", args=(operand,), type=operand.type, span=node.span)

    def _binary(self, node: t.Binary, scope: Scope, hint: Type | None) -> Expr:
        op = node.op
        if op in ("and", "or"):
            return self._chain(node, scope)
        if op == "implies":
            sides = (self.check(node.left, BOOL, scope, "operand of `implies`"),
                     self.check(node.right, BOOL, scope, "operand of `implies`"))  # fmt: skip
            return Apply(op="implies", args=sides, type=BOOL, span=node.span)
        if op in ("==", "!=", "<", "<=", ">", ">="):
            return self._comparison(node, scope)
        if op in ("in", "not in"):
            return self._membership(node, scope)
        return self._arithmetic(node, scope, hint)

    def _chain(self, node: t.Binary, scope: Scope) -> Expr:
        """``a and b and c`` as one application, without recursion into its left-leaning tree."""
        parts: list[t.ExprNode] = []
        rest: t.ExprNode = node
        while isinstance(rest, t.Binary) and rest.op == node.op:
            parts.append(rest.right)
            rest = rest.left
        parts.append(rest)
        args = tuple(self.check(p, BOOL, scope, f"operand of `{node.op}`") for p in reversed(parts))
        return Apply(op="and" if node.op == "and" else "or", args=args, type=BOOL, span=node.span)

    def pair(self, left: t.ExprNode, right: t.ExprNode, scope: Scope, hint: Type | None = None) -> tuple[Expr, Expr]:
        """Two operands that should have one type: a literal or an enum member follows the type of the other side."""
        if self._is_weak(left, scope) and not self._is_weak(right, scope):
            second = self.resolve(right, scope, hint)
            return self.resolve(left, scope, hint if is_any(second.type) else second.type), second
        first = self.resolve(left, scope, hint)
        return first, self.resolve(right, scope, hint if is_any(first.type) else first.type)

    def _is_weak(self, node: t.ExprNode, scope: Scope) -> bool:
        match node:
            case t.Ref(name=name):
                return scope.lookup(name) is None and name not in scope.domain.fluents
            case t.Unary(op="-", operand=operand):
                return self._is_weak(operand, scope)
            case t.Call(func=func, args=args) if func.text in ("if", "bag", "list", "min", "max"):
                start = 1 if func.text == "if" else 0
                return all(self._is_weak(a.value, scope) for a in args[start:])
        return isinstance(node, _WEAK)

    def _comparison(self, node: t.Binary, scope: Scope) -> Expr:
        left, right = self.pair(node.left, node.right, scope)
        op: Op = node.op  # type: ignore[assignment]  # one of the six comparison operators, by the caller
        if op in ("==", "!="):
            ok = comparable(left.type, right.type)
            help = "they can never be equal" if not ok else None
        else:
            ok = ordered(left.type, right.type)
            help = "`<` compares numbers, dates, times and durations" if not ok else None
        if not ok:
            what = f"{quoted(op)} does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
            self.problems.add("EXP002", what, node.op_span, help)
        return Apply(op=op, args=(left, right), type=BOOL, span=node.span)

    def _membership(self, node: t.Binary, scope: Scope) -> Expr:
        if self._is_weak(node.right, scope):
            left = self.resolve(node.left, scope)
            right = self.resolve(node.right, scope, None if is_any(left.type) else ListOf(strip(left.type)))
            item = element(right.type)
        else:
            right = self.resolve(node.right, scope)
            item = element(right.type)
            left = self.resolve(node.left, scope, item)
        if item is None or not comparable(left.type, item):
            what = f"`in` does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
            self.problems.add("EXP002", what, node.op_span, "the right side is a list, a bag or a map of such elements")
        inside = Apply(op="in", args=(left, right), type=BOOL, span=node.span)
        return inside if node.op == "in" else Apply(op="not", args=(inside,), type=BOOL, span=node.span)

    def _arithmetic(self, node: t.Binary, scope: Scope, hint: Type | None) -> Expr:
        """``+ - *``; a left-leaning chain is folded without recursion."""
        spine: list[t.Binary] = []
        rest: t.ExprNode = node
        while isinstance(rest, t.Binary) and rest.op in ("+", "-", "*"):
            spine.append(rest)
            rest = rest.left
        wish = hint if hint is not None and strip(hint) in (DECIMAL, INT) else None
        total = self.resolve(rest, scope, wish)
        for step in reversed(spine):
            total = self._step(step, total, scope, wish)
        return total

    def _step(self, node: t.Binary, left: Expr, scope: Scope, wish: Type | None) -> Expr:
        numeric = is_number(left.type)
        right = self.resolve(node.right, scope, (left.type if numeric else None) or wish)
        op: Op = node.op  # type: ignore[assignment]  # one of + - *, by the caller
        found = product_type(left.type, right.type) if op == "*" else sum_type(op, left.type, right.type)
        if found is None:
            help = None
            if isinstance(left.type, Optional) or isinstance(right.type, Optional):
                help = "a value that may be absent cannot be computed with"
            elif isinstance(left.type, Id) or isinstance(right.type, Id):
                help = "identifiers are copied, never computed"
            what = f"`{op}` does not apply to {quoted(str(left.type), 80)} and {quoted(str(right.type), 80)}"
            self.problems.add("EXP002", what, node.op_span, help)
            return failed(node)
        return Apply(op=op, args=(left, right), type=found, span=node.span)


def product_type(a: Type, b: Type) -> Type | None:
    """The type of ``a * b``; ``None`` when it has none."""
    if is_any(a) or is_any(b):
        return ANY
    if is_number(a) and is_number(b):
        return INT if a == b == INT else DECIMAL
    if (a == DURATION and is_number(b)) or (b == DURATION and is_number(a)):
        return DURATION
    return None


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
