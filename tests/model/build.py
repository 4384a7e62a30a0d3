"""A compact factory for hand-built domains, contracts and proposals, without the language."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cfrc.model.contract import (
    Approval,
    Contract,
    Doubt,
    EffectGoal,
    Fact,
    KeptEffect,
    Licence,
    Limit,
    Name,
    Obligation,
    Origin,
    StateGoal,
)
from cfrc.model.domain import Domain, Effect, EffectClause, Fluent, FluentClause, Param, Tool
from cfrc.model.expr import (
    Apply,
    Build,
    Comprehension,
    Discharge,
    Expr,
    Field,
    FluentRead,
    Generator,
    If,
    Index,
    Lit,
    NodeResult,
    Outcome,
    Var,
)
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.judge import replay
from cfrc.model.scenario import Event, Scenario, Trace
from cfrc.model.types import ANY, BOOL, DECIMAL, INT, TEXT, Enum, Id, Prim, RecordOf, Type
from cfrc.model.values import Value, record

USER = Origin("user", turn=1)
Invoice, File, Email, SendId, Txn = (Id(n) for n in ("Invoice", "File", "Email", "SendId", "Txn"))
Status = Enum("InvoiceStatus", ("open", "paid", "void"), ("open", "paid", "voided"))
Delivery = Enum("Delivery", ("queued", "delivered", "bounced"), ("queued", "delivered", "bounced"))


def typed(value: Value) -> Type:
    """The type of a literal in tests; strings are left untyped."""
    if isinstance(value, bool):
        return BOOL
    return INT if isinstance(value, int) else DECIMAL if isinstance(value, Fraction) else ANY


def e(x: Any) -> Expr:
    """An expression: itself, or a literal."""
    return x if isinstance(x, Expr) else Lit(value=x, type=typed(x))


def p(name: str) -> Expr:
    return Var(name=name, kind="param", type=ANY)


def n(name: str) -> Expr:
    return Var(name=name, kind="name", type=ANY)


def x(name: str, type_: Type = ANY) -> Expr:
    return Var(name=name, kind="exists", type=type_)


def b(name: str) -> Expr:
    return Var(name=name, kind="bound", type=ANY)


def result(*path: str) -> Expr:
    return dotted(Var(name="result", kind="result", type=ANY), *path)


def out(node: str, *path: str) -> Expr:
    return dotted(NodeResult(node=node, type=ANY), *path)


def of(obligation: str, *path: str) -> Expr:
    return dotted(Discharge(obligation=obligation, type=ANY), *path)


def dotted(base: Expr, *path: str) -> Expr:
    for name in path:
        base = Field(base=base, name=name, type=ANY)
    return base


def f(fluent: str, *args: Any) -> Expr:
    return FluentRead(fluent=fluent, args=tuple(e(a) for a in args), type=ANY)


def op(name: Any, *args: Any) -> Expr:
    return Apply(op=name, args=tuple(e(a) for a in args), type=BOOL)


def eq(a: Any, c: Any) -> Expr:
    return op("==", a, c)


def was(status: Any, node: str) -> Expr:
    return Outcome(node=node, status=status, type=BOOL)


def at(base: Any, key: Any) -> Expr:
    return Index(base=e(base), key=e(key), type=ANY)


def if_(c: Any, a: Any, o: Any) -> Expr:
    return If(cond=e(c), then=e(a), orelse=e(o), type=ANY)


def make(kind: Any, *items: Any, **fields: Any) -> Expr:
    parts = tuple(e(i) for i in (*items, *fields.values()))
    return Build(kind=kind, items=parts, names=tuple(fields), type=ANY)


def each(kind: Any, body: Any, var: str, source: Any, cond: Any = None, key: Any = None, type_: Type = ANY) -> Expr:
    return Comprehension(
        kind=kind,
        body=e(body),
        generators=(Generator(var, ANY, e(source)),),
        cond=None if cond is None else e(cond),
        key=None if key is None else e(key),
        type=type_,
    )


def gen(var: str, source: Any) -> Generator:
    return Generator(var, ANY, e(source))


def eff(effect: str, *args: Any, when: Expr | None = None, over: tuple[Generator, ...] = ()) -> EffectClause:
    return EffectClause(effect, tuple(None if a is None else e(a) for a in args), when, over)


def put(fluent: str, *args: Any, when: Expr | None = None, over: tuple[Generator, ...] = ()) -> FluentClause:
    """``fluent(args[:-1]) = args[-1]``."""
    *where, value = args
    return FluentClause(fluent, tuple(e(a) for a in where), e(value), when, over)


def rec(**fields: Type) -> RecordOf:
    return RecordOf(None, tuple(fields.items()))


def tool(name: str, kind: Any, params: dict[str, Any], result_type: Type = BOOL, **clauses: Any) -> Tool:
    """``params`` maps names to a type or a (type, default) pair; single clauses need no tuple."""
    made = tuple(Param(k, v[0], default=e(v[1])) if isinstance(v, tuple) else Param(k, v) for k, v in params.items())
    tuples = ("requires", "ensures", "observes", "sets", "causes", "undoes", "witnesses", "refutes", "may_cause")
    for key in tuples:
        if key in clauses and not isinstance(clauses[key], tuple):
            clauses[key] = (clauses[key],)
    return Tool(name, kind, made, result_type, **clauses)


def domain(tools: list[Tool], fluents: list[Fluent] = (), effects: list[Effect] = ()) -> Domain:  # type: ignore[assignment]
    return Domain("d", {}, {x.name: x for x in fluents}, {x.name: x for x in effects}, {x.name: x for x in tools})


def fluent(name: str, params: dict[str, Type], type_: Type, volatile: bool = False) -> Fluent:
    return Fluent(name, tuple(params.items()), type_, volatile)


def effect(name: str, params: dict[str, Type], key: tuple[int, ...] | None = None, once: bool = False) -> Effect:
    return Effect(name, tuple(params.items()), tuple(range(len(params))) if key is None else key, once)


def fixed(name: str, type_: Type, value: Value, *targets: tuple[str, str]) -> Name:
    return Name(name, type_, value, True, USER, targets)


def known(name: str, type_: Type, value: Value) -> Name:
    return Name(name, type_, value, False, USER)


def kept(name: str, *args: Value) -> KeptEffect:
    return KeptEffect(name, args, USER)


def fact(name: str, *args: Value, kept: bool = False) -> Fact:
    *where, value = args
    return Fact(name, tuple(where), value, kept, USER)


def doubt(name: str, *args: Value, call: Any = None) -> Doubt:
    return Doubt(name, args, USER, call)


def goal(name: str, *args: Any) -> EffectGoal:
    return EffectGoal(name, tuple(None if a is None else e(a) for a in args))


def owes(name: str, *goals: Any, **more: Any) -> Obligation:
    made = tuple(g if isinstance(g, EffectGoal) else StateGoal(g) for g in goals)
    return Obligation(name, made, **more)


def within(kind: Any, name: str, *args: Any, **more: Any) -> Licence:
    return Licence(kind, name, tuple(None if a is None else e(a) for a in args), **more)


def approved(name: str, denied: bool = False, **more: Any) -> Approval:
    meta = {k: more.pop(k) for k in ("policy", "expires") if k in more}
    return Approval(name, tuple(more.items()), denied, **meta)


def count_limit(name: str, bound: int, *params: Any) -> Limit:
    return Limit("count", name, params, None, bound)


def sum_limit(name: str, bound: Value, *params: Any, amount: Expr) -> Limit:
    return Limit("sum", name, params, amount, bound)


def contract(d: Domain, *parts: Any, scope: tuple[Licence, ...] | None = None, **more: Any) -> Contract:
    """A contract from its parts in any order; without ``scope`` it is tight."""

    def pick(kind: type) -> tuple[Any, ...]:
        return tuple(x for x in parts if isinstance(x, kind))

    return Contract(
        "z", d, "sha256:0", names={x.name: x for x in pick(Name)}, kept=pick(KeptEffect), facts=pick(Fact),
        doubts=pick(Doubt), obligations=pick(Obligation), limits=pick(Limit), approvals=pick(Approval), scope=scope,
        allow=tuple(d.tools), **more,
    )  # fmt: skip


def call(id_: str, tool_: str, args: dict[str, Any] | None = None, **more: Any) -> Call:
    more["after"] = tuple(more.get("after", ()))
    return Call(id_, tool_, {k: e(v) for k, v in (args or {}).items()}, **more)


def done(*claims: str, **more: Any) -> Terminal:
    return Terminal(more.pop("id", "done"), "done", claims, **more)


def yield_(**more: Any) -> Terminal:
    return Terminal(more.pop("id", "yield"), "yield", **more)


def graph(*nodes: Call | Terminal) -> Proposal:
    return Proposal("h", "z", nodes)


def ok(node: str, value: Value = True, *changes: Any) -> Event:
    return Event(node, "ok", value, changes)


def poll(node: str, value: Value, *changes: Any) -> Event:
    return Event(node, "poll", value, changes)


def fail(node: str) -> Event:
    return Event(node, "fail")


def run(z: Contract, h: Proposal, *events: Event, world: Any = None, changes: Any = (), today: Any = None) -> Trace:
    return replay(z, h, Scenario(world or {}, events, tuple(changes)), today)


def codes(trace: Trace) -> list[str]:
    """The codes of a legal trace."""
    assert trace.legal, trace.problem
    return [v.code for v in trace.violations]


def r(**fields: Value) -> Value:
    return record(fields)


def money(text: str) -> Fraction:
    return Fraction(text)


def billing(**pay: Any) -> Domain:
    """The domain of the running example; ``pay`` overrides clauses of ``pay_invoice``."""
    paid = {
        "requires": (op(">", p("amount"), 0), eq(f("status", p("invoice")), "open")),
        "causes": eff("paid", p("invoice"), p("amount"), when=p("confirm")),
        "sets": put("status", p("invoice"), "paid", when=p("confirm")),
    } | pay
    read_result = rec(invoice=Invoice, amount=DECIMAL, status=Status, payer=Email)
    return domain(
        [
            tool(
                "get_invoice", "read", {"invoice": Invoice}, read_result,
                ensures=eq(result("invoice"), p("invoice")),
                observes=(
                    put("status", p("invoice"), result("status")),
                    put("payer", p("invoice"), result("payer")),
                ),
            ),
            tool(
                "pay_invoice", "write",
                {"invoice": Invoice, "amount": DECIMAL, "confirm": (BOOL, False)},
                rec(txn=Txn, file=File), **paid,
            ),
            tool(
                "send_email", "write", {"to": Email, "attachment": File, "body": TEXT}, rec(id=SendId),
                causes=eff("sent", p("attachment"), p("to")),
            ),
            tool(
                "delivery_status", "read", {"send": SendId}, rec(state=Delivery),
                witnesses=eff("delivered", p("send"), when=eq(result("state"), "delivered")),
                refutes=eff("delivered", p("send"), when=eq(result("state"), "bounced")),
            ),
        ],
        [fluent("status", {"invoice": Invoice}, Status), fluent("payer", {"invoice": Invoice}, Email)],
        [
            effect("paid", {"invoice": Invoice, "amount": DECIMAL}, (0,), once=True),
            effect("sent", {"file": File, "to": Email}),
            effect("delivered", {"send": SendId}),
        ],
    )  # fmt: skip


def receipt_contract(*more: Any, **options: Any) -> Contract:
    """Paid, the receipt is still to be sent and its delivery to be confirmed."""
    return contract(
        billing(),
        fixed("invoice", Invoice, "INV-42"),
        kept("paid", "INV-42", money("120.00")),
        known("receipt", File, "txn7.pdf"),
        known("payee", Email, "ap@acme.test"),
        fact("status", "INV-42", "paid"),
        owes("delivery", goal("sent", n("receipt"), n("payee"))),
        owes("confirmation", goal("delivered", of("delivery", "id"))),
        *more,
        **{"scope": (within("effect", "sent", n("receipt"), n("payee")),), **options},
    )


SEND = call("s", "send_email", {"to": n("payee"), "attachment": n("receipt"), "body": "Your receipt"})
POLL = call("d", "delivery_status", {"send": out("s", "id")}, until=eq(out("d", "state"), "delivered"), polls=5)
GOOD = graph(SEND, POLL, done("delivery", "confirmation", after=("d",)))
PRIMS = {name: Prim(name) for name in ("text", "string", "date", "time", "duration")}  # type: ignore[arg-type]
