"""Turns an expression and a state into a value: a tiny evaluator for the fragment that random cases use.

It is written apart from the kernel's evaluator on purpose. ``and``, ``or``, ``implies`` and conditionals read left to
right and stop early, so ``ok(a) and a.x == 1`` is defined where ``a`` was skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cfrc.model.domain import Domain
from cfrc.model.expr import (
    Apply,
    Build,
    Discharge,
    Expr,
    Field,
    FluentRead,
    If,
    Index,
    Lit,
    NodeResult,
    Outcome,
    Var,
)
from cfrc.model.types import BagOf, Id, ListOf, Optional, Prim, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value, bag, record
from tests.verify.brute.state import OK, Choose, Instance, NotOk, Path, Raw, Slot, State, Undefined
from tests.verify.brute.universe import leaf_types


def canonical(value: Value, t: Type) -> Value:
    """The one representation of a value: declared forms of identifiers, exact decimals, sorted bags."""
    match t:
        case Id(_, forms) if isinstance(value, str):
            for form in forms:
                value = value.strip() if form == "trim" else value.lower() if form == "lower" else value
            return value
        case Prim("decimal") if isinstance(value, int) and not isinstance(value, bool):
            return Fraction(value)
        case Optional(item) if value is not None:
            return canonical(value, item)
        case ListOf(item) if isinstance(value, tuple):
            return tuple(canonical(v, item) for v in value)
        case BagOf(item) if isinstance(value, Bag):
            return bag(canonical(v, item) for v in value)
        case RecordOf(_, fields) if isinstance(value, Record):
            return record({n: canonical(value.get(n), ft) for n, ft in fields})
    return value


@dataclass(slots=True)
class Scene:
    """What an expression can see: the state, the contract's names, and the variables of its place."""

    domain: Domain
    names: Mapping[str, Value]
    tools: Mapping[str, str]
    state: State
    params: Mapping[str, Raw] = field(default_factory=dict)
    me: str | None = None
    exists: Mapping[str, Value] = field(default_factory=dict)
    bound: Mapping[str, Value] = field(default_factory=dict)
    receipts: Mapping[str, str] = field(default_factory=dict)

    def fluent(self, inst: Instance) -> Raw:
        """The instance's value, possibly a slot."""
        if inst in self.state.w:
            return self.state.w[inst]
        decl = self.domain.fluents[inst[0]]
        if not decl.volatile:
            return Slot(("f", inst), decl.type)
        if inst in self.state.now:
            return self.state.now[inst]
        return Slot(("v", inst), decl.type)

    def result(self, node: str, path: Path) -> Raw:
        """A node's result field, possibly a slot. The caller has made sure that there is a result."""
        fields = leaf_types(self.domain.tools[self.tools[node]].result)
        if path in fields:
            stored = self.state.res.get((node, path), _MISSING)
            return Slot(("r", node, self.state.polls[node], path), fields[path]) if stored is _MISSING else stored
        for cut in range(len(path)):
            if path[:cut] in fields:
                return _project(force(self.result(node, path[:cut])), path[cut:])
        under = [p for p in fields if p[: len(path)] == path]
        return _assemble({p[len(path) :]: force(self.result(node, p)) for p in under})


_MISSING: Any = object()


def _assemble(parts: dict[Path, Value]) -> Value:
    heads = dict.fromkeys(p[0] for p in parts)
    deeper = {h: {p[1:]: v for p, v in parts.items() if p[0] == h and len(p) > 1} for h in heads}
    return record({h: _assemble(deeper[h]) if deeper[h] else parts[(h,)] for h in heads})


def _project(value: Value, path: Path) -> Value:
    for name in path:
        if not isinstance(value, Record):
            raise Undefined
        value = value.get(name)
    return value


def force(raw: Raw) -> Value:
    """The value; a slot must be chosen first."""
    if isinstance(raw, Slot):
        raise Choose(raw)
    return raw


def ev(e: Expr, scene: Scene) -> Value:
    """The expression's value.

    Raises:
        Choose: it reads a slot. Undefined: a projection has no value. NotOk: it reads the result of a node without one.
    """
    return force(raw(e, scene))


def raw(e: Expr, scene: Scene) -> Raw:
    """The expression's value, or the slot that it merely copies."""
    match e:
        case Lit(value=v, type=t):
            return canonical(v, t)
        case Var(name=n, kind=k):
            return _variable(n, k, scene)
        case NodeResult(node=n):
            return _node(n, (), scene)
        case Field():
            return _field(e, scene)
        case FluentRead(fluent=f, args=args):
            params = scene.domain.fluents[f].params
            return scene.fluent((f, tuple(canonical(ev(a, scene), t) for a, (_, t) in zip(args, params, strict=True))))
        case Outcome(node=n, status=s):
            return scene.state.x[n] == {"ok": "ok", "failed": "fail", "skipped": "skip"}[s]
        case If(cond=c, then=t, orelse=o):
            return raw(t if ev(c, scene) else o, scene)
        case Index(base=b, key=k):
            return _index(ev(b, scene), ev(k, scene))
        case Apply(op=op, args=args):
            return _apply(op, args, scene)
        case Build(kind="record", items=items, names=names):
            return record({n: ev(i, scene) for n, i in zip(names, items, strict=True)})
        case Build(kind="list", items=items):
            return tuple(ev(i, scene) for i in items)
        case Build(kind="bag", items=items):
            return bag(ev(i, scene) for i in items)
    raise NotImplementedError(f"brute force does not evaluate {e!r}")


def _variable(name: str, kind: str, scene: Scene) -> Raw:
    match kind:
        case "param":
            return scene.params[name]
        case "result":
            assert scene.me is not None
            return scene.result(scene.me, ())
        case "name":
            return scene.names[name]
        case "exists":
            return scene.exists[name]
    return scene.bound[name]


def _node(node: str, path: Path, scene: Scene) -> Raw:
    if node != scene.me and scene.state.x[node] != OK:
        raise NotOk(node)
    return scene.result(node, path)


def _field(e: Field, scene: Scene) -> Raw:
    path: Path = ()
    base: Expr = e
    while isinstance(base, Field):
        path = (base.name, *path)
        base = base.base
    match base:
        case NodeResult(node=n):
            return _node(n, path, scene)
        case Var(kind="result"):
            assert scene.me is not None
            return scene.result(scene.me, path)
        case Discharge(obligation=o):
            if o not in scene.receipts:
                raise Undefined
            return scene.result(scene.receipts[o], path)
    return _project(ev(base, scene), path)


def _index(base: Value, key: Value) -> Value:
    if isinstance(base, Map):
        if key not in base:
            raise Undefined
        found: Value = base.get(key)
        return found
    if not isinstance(base, tuple) or not isinstance(key, int) or not -len(base) <= key < len(base):
        raise Undefined
    return base[key]


_BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def _apply(op: str, args: tuple[Expr, ...], scene: Scene) -> Value:
    match op:
        case "and":
            return all(ev(a, scene) for a in args)
        case "or":
            return any(ev(a, scene) for a in args)
        case "implies":
            return not ev(args[0], scene) or bool(ev(args[1], scene))
        case "not":
            return not ev(args[0], scene)
        case "present":
            return ev(args[0], scene) is not None
        case "neg":
            return _BINARY["-"](0, ev(args[0], scene))
    if op in _BINARY and len(args) == 2:
        return _BINARY[op](ev(args[0], scene), ev(args[1], scene))
    raise NotImplementedError(f"brute force does not apply {op}")
