"""Turns every argument into its leaves and judges where each comes from.

``docs/semantics.md`` §3, *grounding*: each leaf's provenance must be one that the parameter allows; identifiers are
copied, never computed; a bare literal is grounded only if it equals a binding or evidence value. "No source" (GRD001)
and "the source is not allowed" (GRD002) are different findings. Decided on the graph alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.contract import Contract, Origin
from cfrc.model.domain import Param, SourcePattern, Tool
from cfrc.model.graph import Call
from cfrc.model.provenance import allows, from_tool, refuses_quote, same_args
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.source import Span
from cfrc.verify.condition import spans
from cfrc.verify.paths import Paths
from cfrc.verify.shapes import equal as same
from cfrc.verify.shapes import literal


@dataclass(frozen=True, slots=True)
class Leaf:
    """One source of a value: a literal, a contract name, a node's result, or a computation over identifiers."""

    kind: str
    expr: ex.Expr
    node: str = ""
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Evidence:
    """The trusted values of the contract, by value: bindings, known values, fluent facts. What is owed is no source: an
    obligation may ask for a value that its parameter does not accept."""

    by_value: dict[Value, list[tuple[ty.Type, Origin | None]]] = field(default_factory=dict)
    waiting: dict[str, Call] = field(default_factory=dict)
    """Calls that a cycle keeps from being made: they have no run, but their sources can be judged all the same."""

    def add(self, value: Value, t: ty.Type, origin: Origin | None) -> None:
        self.by_value.setdefault(value, []).append((t, origin))

    def find(self, value: Value, t: ty.Type) -> list[Origin | None]:
        plain = t.item if isinstance(t, ty.Optional) else t
        return [o for u, o in self.by_value.get(value, ()) if u == plain or ty.fits(u, t)]


def findings(paths: Paths) -> Iterator[Finding]:
    evidence = _evidence(paths.contract)
    for run in paths.runs:
        yield from _call(paths, evidence, run.call, run.tool)
    if paths.order.cycle:
        calls = {n.id: n for n in paths.proposal.nodes if isinstance(n, Call)}
        evidence.waiting = {i: c for i, c in calls.items() if i not in paths.order.position}
        for call in evidence.waiting.values():
            yield from _call(paths, evidence, call, paths.contract.domain.tools.get(call.tool))


def _call(paths: Paths, evidence: Evidence, call: Call, tool: Tool | None) -> Iterator[Finding]:
    for p in tool.params if tool is not None else ():
        given = call.args.get(p.name)
        if given is not None and not p.free:
            yield from _argument(paths, evidence, call, p, given)


def supported_values(c: Contract, p: Param) -> tuple[dict[str, Value], frozenset[Value] | None]:
    """What a call may surely give for a parameter: names of the contract that are of its very type, with their values,
    and literal values (``None``: any)."""
    plain = p.type.item if isinstance(p.type, ty.Optional) else p.type

    def good(origin: Origin | None) -> bool:
        return origin is not None and allows(p, origin) and not refuses_quote(p, origin)

    names = {n.name: n.value for n in c.names.values() if n.type == plain and (p.free or good(n.origin))}
    if p.free or plain in (ty.TEXT, ty.BOOL) or isinstance(plain, ty.Enum):
        return names, None
    literals = {v for v, found in _evidence(c).by_value.items() for t, o in found if t == plain and good(o)}
    if isinstance(p.default, ex.Lit):
        literals.add(p.default.value)
    return names, frozenset(literals)


def _evidence(c: Contract) -> Evidence:
    found = Evidence()
    for n in c.names.values():
        found.add(n.value, n.type, n.origin)
    for f in c.facts:
        if f.origin is not None:
            found.add(f.value, c.domain.fluents[f.fluent].type, f.origin)
    return found


def leaves(e: ex.Expr, bound: dict[str, list[Leaf]] | None = None) -> list[Leaf]:
    """The leaves of an expression in value position (conditions choose, they are not sources)."""
    bound = bound or {}
    match e:
        case ex.Lit():
            return [Leaf("literal", e)]
        case ex.Var(name=n):
            return bound.get(n) or [Leaf("name", e, n)]
        case ex.NodeResult(node=n):
            return [Leaf("node", e, n)]
        case ex.Field(base=b, name=n):
            return [Leaf(x.kind, e, x.node, (*x.path, n)) for x in leaves(b, bound)]
        case ex.Index(base=b):
            return [Leaf(x.kind, e, x.node, x.path) for x in leaves(b, bound)]
        case ex.If(then=a, orelse=b):
            return leaves(a, bound) + leaves(b, bound)
        case ex.Build(items=items, keys=keys):
            return [x for i in (*keys, *items) for x in leaves(i, bound)]
        case ex.Comprehension():
            inner = dict(bound)
            for g in e.generators:
                inner[g.var] = leaves(g.source, inner)
            parts = leaves(e.body, inner) + (leaves(e.key, inner) if e.key is not None else [])
            return parts if e.kind in ("list", "bag", "map", "only") else [Leaf("computed", e), *parts]
        case ex.Apply(op=("keys" | "values"), args=args):
            return leaves(args[0], bound)
        case ex.Apply(args=args):
            return [Leaf("computed", e), *(x for a in args for x in leaves(a, bound))]
    return [Leaf("computed", e)]


def _argument(
    paths: Paths, evidence: Evidence, call: Call, p: Param, given: ex.Expr, via: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """``via`` are the calls whose echoes led here: on a cycle of them the search ends."""
    for x in leaves(given):
        if x.kind == "computed":
            if ty.holds_identifier(x.expr.type):
                yield _finding(
                    "GRD003", call, p, x.expr.span,
                    f"`{p.name}` is an identifier (`{p.type}`) and must be copied from a source, not computed",
                    "pass a field of a result or a value of the contract as it is",
                )  # fmt: skip
        elif x.kind == "literal":
            yield from _literal(evidence, call, p, x.expr)
        elif x.kind == "name":
            name = paths.contract.names.get(x.node)
            if name is not None:
                yield from _origin(call, p, x, name.origin, f"`{x.node}`", name.span, paths)
        elif x.node not in via:
            yield from _node(paths, evidence, call, p, x, via | {x.node})


def _literal(evidence: Evidence, call: Call, p: Param, e: ex.Expr) -> Iterator[Finding]:
    assert isinstance(e, ex.Lit)
    t = e.type.item if isinstance(e.type, ty.Optional) else e.type
    exempt = t in (ty.TEXT, ty.BOOL) or isinstance(t, ty.Enum) or e.value is None or p.type == ty.TEXT
    if exempt or (isinstance(p.default, ex.Lit) and p.default.value == e.value):
        return
    origins = evidence.find(e.value, e.type)
    if not origins:
        yield _finding(
            "GRD001", call, p, e.span,
            f"nothing in the contract supports this value of `{p.name}` (`{t}`)",
            "bind it (`fixed … from user`), declare it as known (`known … from receipt …`), "
            "or read it in an earlier step",
        )  # fmt: skip
    elif not any(o is not None and allows(p, o) and not refuses_quote(p, o) for o in origins):
        quoted = any(o is not None and allows(p, o) for o in origins)
        yield _refusal(call, p, e.span, "this value", quoted, ())


def _origin(
    call: Call, p: Param, x: Leaf, origin: Origin | None, what: str, span: Span | None, paths: Paths
) -> Iterator[Finding]:
    if origin is None:
        yield _finding("GRD001", call, p, x.expr.span, f"{what} has no declared source", "add `from …` to it", span)
        return
    full = replace(origin, path=(*origin.path, *x.path))
    if _trusted_receipt(paths, call, p, full):
        return
    if not allows(p, full):
        yield _refusal(call, p, x.expr.span, what, False, spans((what, span)))
    elif refuses_quote(p, full):
        yield _refusal(call, p, x.expr.span, what, True, spans((what, span)))


def _node(paths: Paths, evidence: Evidence, call: Call, p: Param, x: Leaf, via: frozenset[str]) -> Iterator[Finding]:
    run = paths.run_of(x.node)
    source_call = run.call if run is not None else evidence.waiting.get(x.node)
    tool = paths.contract.domain.tools.get(source_call.tool) if source_call is not None else None
    if source_call is None or tool is None or _trusted_call(paths, call, p, source_call):
        return
    echoed = next((param for path, param in tool.echoes.items() if x.path[: len(path)] == path), None)
    if echoed is not None:
        # the field repeats an argument: whatever supports that argument supports this one, nothing more
        source = source_call.args.get(echoed)
        if source is not None:
            yield from _argument(paths, evidence, call, p, source, via)
        return
    if tool.grounds_nothing:
        yield _finding(
            "GRD001", call, p, x.expr.span,
            f"`{tool.name}` grounds nothing: its result is no source for `{p.name}`",
            "take the value from a read of the state or from the contract",
            tool.span,
        )  # fmt: skip
    elif p.sources is not None and not any(from_tool(s, tool.name, x.path) for s in p.sources):
        path = ".".join((tool.name, *x.path))
        yield _refusal(call, p, x.expr.span, f"`{path}`", False, ())


def _trusted_receipt(paths: Paths, call: Call, p: Param, origin: Origin) -> bool:
    if origin.kind != "receipt" or origin.tool is None:
        return False
    return any(
        t.tool == origin.tool and (t.for_tool, t.for_param) == (call.tool, p.name) and same_args(t.args, origin.args)
        for t in paths.contract.trusts
    )


def _trusted_call(paths: Paths, call: Call, p: Param, source: Call) -> bool:
    """Whether ``trust tool(args) for call.param`` names this very call: its arguments provably equal. Of a call that a
    cycle blocks nothing can be proved; the cycle is the finding."""
    run = paths.run_of(source.id)
    for t in paths.contract.trusts:
        if t.tool != source.tool or (t.for_tool, t.for_param) != (call.tool, p.name):
            continue
        if run is None or run.tool is None:
            return True
        params: Tool = run.tool
        equal = (
            v is None or same(paths.terms, run.args[q.name], literal(paths.terms, v, q.type)) is paths.terms.true
            for v, q in zip(t.args, params.params, strict=False)
        )
        if all(equal):
            return True
    return False


def _refusal(
    call: Call, p: Param, span: Span | None, what: str, quoted: bool, clauses: tuple[tuple[str, Span], ...]
) -> Finding:
    if quoted:
        message = f"{what} is quoted from prose, which `{call.tool}.{p.name}` does not accept"
        return _finding("GRD004", call, p, span, message, "read the value from a structured field", None, clauses)
    allowed = " | ".join(_show(s) for s in p.sources or ()) or "nothing"
    message = f"{what} is not an allowed source for `{call.tool}.{p.name}`"
    return _finding("GRD002", call, p, span, message, f"allowed: `{allowed}`", None, clauses)


def _show(s: SourcePattern) -> str:
    name = s.kind if s.kind != "tool" else ".".join((s.tool or "", *s.path))
    return f"quoted {name}" if s.quoted else name


def _finding(
    code: str,
    call: Call,
    p: Param,
    span: Span | None,
    message: str,
    help: str,
    clause: Span | None = None,
    clauses: tuple[tuple[str, Span], ...] = (),
) -> Finding:
    return Finding(
        code=f"CFRC-{code}",
        kind="grounding",
        message=message,
        help=help,
        where=span or call.span,
        node=call.id,
        clauses=(*clauses, *spans(("declared here", clause), (f"the parameter `{p.name}`", p.span))),
    )
