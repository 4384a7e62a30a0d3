"""The brute-force reference judges small hand-written cases right: what is no fault, and one case for each code."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

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
from cfrc.model.domain import (
    Domain,
    Effect,
    EffectClause,
    Fluent,
    FluentClause,
    Param,
    SourcePattern,
    Tool,
)
from cfrc.model.expr import Apply, Discharge, Expr, Field, FluentRead, If, Lit, NodeResult, Outcome, Var
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import BOOL, DECIMAL, INT, STRING, TEXT, Enum, Id, Optional, RecordOf, Type
from cfrc.model.values import Value
from tests.verify.brute import decide

INVOICE, TXN, EMAIL, SEND = Id("Invoice"), Id("Txn"), Id("Email"), Id("Send")
STATUS = Enum("Status", ("open", "paid"), ("open", "paid"))
STATE = Enum("State", ("queued", "delivered", "bounced"), ("queued", "delivered", "bounced"))
USER = Origin("user", turn=1)


def p(name: str, t: Type) -> Var:
    return Var(name=name, kind="param", type=t)


def n(name: str, t: Type) -> Var:
    return Var(name=name, kind="name", type=t)


def lit(value: Value, t: Type) -> Lit:
    return Lit(value=value, type=t)


def eq(a: Expr, b: Expr) -> Apply:
    return Apply(op="==", args=(a, b), type=BOOL)


def result(path: str, t: Type) -> Field:
    return Field(base=Var(name="result", kind="result", type=RecordOf(None, ())), name=path, type=t)


def out(node: str, path: str, t: Type) -> Field:
    return Field(base=NodeResult(node=node, type=RecordOf(None, ())), name=path, type=t)


def outcome(node: str, status: Any) -> Outcome:
    return Outcome(node=node, status=status, type=BOOL)


def fluent(name: str, t: Type, *args: Expr) -> FluentRead:
    return FluentRead(fluent=name, args=args, type=t)


def causes(effect: str, *args: Expr | None, when: Expr | None = None) -> EffectClause:
    return EffectClause(effect, args, when)


def call(node: str, tool: str, **args: Any) -> Call:
    return Call(node, tool, args)


def done(*claims: str, **more: Any) -> Terminal:
    return Terminal("end", "done", claims, **more)


INV = p("invoice", INVOICE)
INV_STATUS = fluent("status", STATUS, INV)
GET = Tool(
    "get",
    "read",
    (Param("invoice", INVOICE),),
    RecordOf(None, (("invoice", INVOICE), ("amount", DECIMAL), ("status", STATUS), ("payer", EMAIL))),
    ensures=(eq(result("invoice", INVOICE), INV),),
    observes=(
        FluentClause("status", (INV,), result("status", STATUS)),
        FluentClause("payer", (INV,), result("payer", EMAIL)),
    ),
    echoes={("invoice",): "invoice"},
)
PAY = Tool(
    "pay",
    "write",
    (Param("invoice", INVOICE), Param("amount", DECIMAL), Param("confirm", BOOL, default=lit(True, BOOL))),
    RecordOf(None, (("txn", TXN), ("ok", BOOL))),
    causes=(causes("paid", INV, p("amount", DECIMAL), when=p("confirm", BOOL)),),
)
SEND_TOOL = Tool(
    "send",
    "write",
    (
        Param("to", EMAIL, sources=(SourcePattern("user"), SourcePattern("tool", "get", ("payer",)))),
        Param("body", TEXT),
    ),
    RecordOf(None, (("id", SEND),)),
    causes=(causes("sent", p("to", EMAIL)),),
)
TRACK = Tool(
    "track",
    "read",
    (Param("send", SEND),),
    RecordOf(None, (("state", STATE),)),
    witnesses=(causes("delivered", p("send", SEND), when=eq(result("state", STATE), lit("delivered", STATE))),),
    refutes=(causes("delivered", p("send", SEND), when=eq(result("state", STATE), lit("bounced", STATE))),),
)
CLOSE = Tool(
    "close",
    "write",
    (Param("invoice", INVOICE),),
    RecordOf(None, ()),
    requires=(eq(INV_STATUS, lit("open", STATUS)),),
    sets=(FluentClause("status", (INV,), lit("paid", STATUS)),),
)
REOPEN = replace(CLOSE, name="reopen", requires=(), sets=(FluentClause("status", (INV,), lit("open", STATUS)),))
REVERSE = Tool(
    "reverse",
    "write",
    (Param("invoice", INVOICE), Param("amount", DECIMAL)),
    RecordOf(None, ()),
    undoes=(causes("paid", INV, p("amount", DECIMAL)),),
)
MAIL_STATUS = Tool(
    "was_paid",
    "read",
    (Param("invoice", INVOICE), Param("amount", DECIMAL)),
    RecordOf(None, (("paid", BOOL),)),
    witnesses=(causes("paid", INV, p("amount", DECIMAL), when=result("paid", BOOL)),),
    refutes=(causes("paid", INV, p("amount", DECIMAL), when=Apply(op="not", args=(result("paid", BOOL),), type=BOOL)),),
)
RAW = Tool("raw", "write", (), RecordOf(None, ()), undeclared=True)
CALC = Tool("calc", "read", (Param("text", TEXT),), RecordOf(None, (("n", DECIMAL),)), grounds_nothing=True)
CLOUD = Tool(
    "sunny_only",
    "write",
    (),
    RecordOf(None, ()),
    requires=(fluent("sunny", BOOL),),
    sets=(FluentClause("out", (), lit(True, BOOL)),),
)
LOOK = Tool("look", "read", (), RecordOf(None, (("sunny", BOOL),)), observes=(
    FluentClause("sunny", (), result("sunny", BOOL)),))  # fmt: skip
DEEP = Tool("deep", "read", (), RecordOf(None, (("hit", Optional(RecordOf(None, (("to", EMAIL),)))),)))
TOOLS = (GET, PAY, SEND_TOOL, TRACK, CLOSE, REOPEN, REVERSE, MAIL_STATUS, RAW, CALC, CLOUD, LOOK, DEEP)
DOMAIN = Domain(
    "billing",
    {t.name: t for t in (INVOICE, TXN, EMAIL, SEND, STATUS, STATE)},
    {
        "status": Fluent("status", (("invoice", INVOICE),), STATUS),
        "payer": Fluent("payer", (("invoice", INVOICE),), EMAIL),
        "sunny": Fluent("sunny", (), BOOL, volatile=True),
        "out": Fluent("out", (), BOOL),
    },
    {
        "paid": Effect("paid", (("invoice", INVOICE), ("amount", DECIMAL)), (0,), once=True),
        "sent": Effect("sent", (("to", EMAIL),), (0,)),
        "delivered": Effect("delivered", (("send", SEND),), (0,)),
    },
    {t.name: t for t in TOOLS},
)
NAMES = (
    Name("invoice", INVOICE, "I1", True, USER),
    Name("amount", DECIMAL, Fraction(5), False, USER),
    Name("payee", EMAIL, "E1", False, USER),
)
I1, FIVE, E1 = n("invoice", INVOICE), n("amount", DECIMAL), n("payee", EMAIL)
PAID = Obligation("payment", (EffectGoal("paid", (I1, FIVE)),))
SENT = Obligation("mail", (EffectGoal("sent", (E1,)),))
HELLO = lit("hello", TEXT)


def contract(*owes: Obligation, **more: Any) -> Contract:
    base = Contract(
        "z", DOMAIN, "sha256:0", names={x.name: x for x in NAMES}, obligations=owes, allow=tuple(DOMAIN.tools)
    )
    return replace(base, **more)


def graph(*nodes: Call | Terminal, **more: Any) -> Proposal:
    return Proposal("h", "z", nodes, **more)


PAY_CALL = call("a", "pay", invoice=I1, amount=FIVE)
SEND_CALL = call("s", "send", to=E1, body=HELLO)
ANYTHING = tuple(
    Licence("effect", e.name, (None,) * len(e.params)) for e in DOMAIN.effects.values()
) + tuple(Licence("fluent", f.name, (None,) * len(f.params)) for f in DOMAIN.fluents.values())  # fmt: skip
OK_MENTIONED = replace(SEND_CALL, after=("a",))
STATE_PAID = Obligation("closed", (StateGoal(eq(fluent("status", STATUS, I1), lit("paid", STATUS))),))
HOLDS_OPEN = Fact("status", ("I1",), "open", False, USER)
HOLDS_PAID = replace(HOLDS_OPEN, value="paid")

FINE: dict[str, tuple[Contract, Proposal]] = {
    "plain": (contract(PAID, SENT), graph(PAY_CALL, SEND_CALL, done("payment", "mail"))),
    "exclusive branches that both hold a once effect": (
        contract(PAID),
        graph(
            call("g", "get", invoice=I1),
            replace(PAY_CALL, when=eq(out("g", "status", STATUS), lit("open", STATUS))),
            replace(PAY_CALL, id="b", when=eq(out("g", "status", STATUS), lit("paid", STATUS))),
            done("payment"),
        ),
    ),
    "a retry under failed": (
        contract(PAID),
        graph(PAY_CALL, replace(PAY_CALL, id="b", when=outcome("a", "failed")), done("payment", after=("b",))),
    ),
    "a preview": (
        contract(PAID),
        graph(
            call("v", "pay", invoice=I1, amount=FIVE, confirm=lit(False, BOOL)),
            replace(PAY_CALL, after=("v",)),
            done("payment"),
        ),
    ),
    "forward references": (
        contract(PAID, SENT),
        graph(done("payment"), replace(SEND_CALL, after=("a",)), replace(PAY_CALL, after=("g",)), call("g", "get", invoice=I1)),
    ),
    "two equal causes of a repeatable effect, unordered": (
        contract(replace(SENT, count=2)),
        graph(SEND_CALL, replace(SEND_CALL, id="t"), done("mail")),
    ),
    "a kept fluent set to the value it has": (
        contract(PAID, facts=(replace(HOLDS_OPEN, kept=True),), scope=ANYTHING),
        graph(PAY_CALL, call("r", "reopen", invoice=I1), done("payment")),
    ),
    "a fluent that an earlier tenant set": (
        contract(STATE_PAID, kept=(KeptEffect("sent", ("E2",), USER),), facts=(HOLDS_OPEN,)),
        graph(call("c", "close", invoice=I1), done("closed")),
    ),
    "polling what was sent": (
        contract(SENT, Obligation("seen", (EffectGoal("delivered", (Field(base=Discharge(obligation="mail", type=RecordOf(None, ())), name="id", type=SEND),)),))),
        graph(
            SEND_CALL,
            Call("d", "track", {"send": out("s", "id", SEND)}, until=eq(out("d", "state", STATE), lit("delivered", STATE)), polls=3),
            done("mail", "seen", after=("d",)),
        ),
    ),
    "a literal that is a known value": (
        contract(SENT), graph(call("s", "send", to=lit("E1", EMAIL), body=HELLO), done("mail"))
    ),
    "an in-doubt payment that is refuted first": (
        contract(PAID, doubts=(Doubt("paid", ("I1", Fraction(5)), USER),)),
        graph(
            Call("w", "was_paid", {"invoice": I1, "amount": FIVE}),
            replace(PAY_CALL, when=Apply(op="not", args=(out("w", "paid", BOOL),), type=BOOL)),
            done("payment"),
        ),
    ),
    "an approved call": (
        contract(PAID, approvals=(Approval("pay", (("invoice", "I1"), ("amount", Fraction(5))), False, origin=USER),)),
        graph(PAY_CALL, done("payment")),
    ),
    "a projection that may be undefined": (
        contract(SENT, scope=ANYTHING),
        graph(SEND_CALL, call("x", "deep"), call("y", "send", to=If(cond=lit(True, BOOL), then=E1, orelse=E1, type=EMAIL), body=HELLO), done("mail")),
    ),
    "a volatile fact while it is pinned": (
        contract(Obligation("out", (StateGoal(fluent("out", BOOL)),))),
        graph(
            call("l", "look"), replace(call("c", "sunny_only"), when=out("l", "sunny", BOOL)),
            Terminal("end", "done", ("out",), when=out("l", "sunny", BOOL)),
        ),
    ),
    "an expectation is assumed afterwards": (
        contract(STATE_PAID),
        graph(
            replace(call("g", "get", invoice=I1), expect=eq(out("g", "status", STATUS), lit("open", STATUS))),
            replace(call("c", "close", invoice=I1), after=("g",)),
            done("closed"),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FINE)
def test_no_fault(name: str) -> None:
    report = decide(*FINE[name])
    assert report.admitted, report.findings
    assert report.done and report.exact


EXISTS = Obligation("some", (EffectGoal("sent", (Var(name="e", kind="exists", type=EMAIL),)),), exists=(("e", EMAIL),))
APPROVED_PAY = replace(PAY, approved=p("confirm", BOOL))
STRICT = replace(DOMAIN, tools={**DOMAIN.tools, "pay": APPROVED_PAY})
GRANTED = Approval("pay", (("invoice", "I1"), ("amount", Fraction(5)), ("confirm", True)), False, origin=USER)
OTHER = Name("other", EMAIL, "E2", False, Origin("receipt", receipt="c1", tool="get", path=("invoice",)))
QUOTED = Name("quoted", EMAIL, "E3", False, replace(USER, quoted=(1, 5)))
NO_PROSE = replace(SEND_TOOL, params=(Param("to", EMAIL, unquoted=True), Param("body", TEXT)))
FREE = contract(PAID, scope=ANYTHING)
D0 = (Doubt("paid", ("I1", Fraction(5)), USER),)
ONE_OF = Obligation("either", (*PAID.goals, *SENT.goals), choice="one")

FAULTS: dict[str, list[tuple[Contract, Proposal, set[str] | None]]] = {
    "TYP001": [(FREE, graph(PAY_CALL, call("x", "nothing"), done()), None)],
    "TYP002": [(FREE, graph(call("a", "pay", invoice=I1), done()), None)],
    "TYP003": [(FREE, graph(call("a", "pay", invoice=I1, amount=FIVE, more=FIVE), done()), None)],
    "TYP004": [(FREE, graph(call("a", "pay", invoice=lit("x", STRING), amount=FIVE), done()), None)],
    "TYP005": [(FREE, graph(replace(PAY_CALL, when=lit(1, INT)), done()), None)],
    "TYP006": [(FREE, graph(PAY_CALL, PAY_CALL, done()), None)],
    "TYP010": [(FREE, graph(PAY_CALL, done(), answers="sha256:1"), None)],
    "AUT001": [(replace(FREE, allow=("get",)), graph(PAY_CALL, done()), None)],
    "AUT002": [(replace(FREE, domain=STRICT), graph(PAY_CALL, done()), None)],
    "AUT003": [
        (replace(FREE, domain=STRICT, approvals=(replace(GRANTED, args=(*GRANTED.args[:1], ("amount", Fraction(6)))),)), graph(PAY_CALL, done()), None),
        (replace(FREE, domain=STRICT, as_of=date(2026, 1, 2), approvals=(replace(GRANTED, expires=date(2026, 1, 1)),)), graph(PAY_CALL, done()), None),
        (replace(FREE, domain=STRICT, policy="v2", approvals=(replace(GRANTED, policy="v1"),)), graph(PAY_CALL, done()), None),
    ],
    "AUT004": [(replace(FREE, domain=STRICT, approvals=(GRANTED,)), graph(PAY_CALL, replace(PAY_CALL, id="b", after=("a",)), done()), {"AUT004", "PRS002"})],
    "AUT005": [(replace(FREE, approvals=(Approval("pay", (("invoice", "I1"),), True, origin=USER),)), graph(PAY_CALL, done()), None)],
    "GRD001": [
        (FREE, graph(PAY_CALL, call("s", "send", to=lit("E9", EMAIL), body=HELLO), done()), None),
        (FREE, graph(call("c", "calc", text=HELLO), call("a", "pay", invoice=I1, amount=out("c", "n", DECIMAL)), done()), {"GRD001", "COV001"}),
    ],
    "GRD002": [(replace(FREE, names={**FREE.names, "other": OTHER}), graph(PAY_CALL, call("s", "send", to=n("other", EMAIL), body=HELLO), done()), None)],
    "GRD003": [(FREE, graph(PAY_CALL, call("s", "send", to=Apply(op="+", args=(lit("E", EMAIL), lit("1", EMAIL)), type=EMAIL), body=HELLO), done()), None)],
    "GRD004": [
        (
            replace(FREE, names={**FREE.names, "quoted": QUOTED}, domain=replace(DOMAIN, tools={**DOMAIN.tools, "send": NO_PROSE})),
            graph(PAY_CALL, call("s", "send", to=n("quoted", EMAIL), body=HELLO), done()), None,
        )
    ],
    "BND001": [(replace(FREE, names={**FREE.names, "j": Name("j", INVOICE, "I2", False, USER)}), graph(PAY_CALL, call("c", "reopen", invoice=n("j", INVOICE)), done()), None)],
    "BND002": [(replace(FREE, names={**FREE.names, "amount": replace(NAMES[1], value=Fraction(6), fixed=True, targets=(("pay", "amount"),))}), graph(call("a", "pay", invoice=I1, amount=lit(Fraction(5), DECIMAL)), done()), {"BND002", "GRD001", "COV001"})],
    "DEP001": [(FREE, graph(replace(PAY_CALL, after=("zz",)), done()), None)],
    "DEP002": [(FREE, graph(replace(PAY_CALL, after=("s",)), replace(SEND_CALL, after=("a",)), done()), None)],
    "DEP003": [
        (FREE, graph(PAY_CALL, replace(call("g", "get", invoice=I1), when=out("a", "ok", BOOL)), call("s", "send", to=out("g", "payer", EMAIL), body=HELLO), done()), None)
    ],
    "DEP004": [
        (contract(STATE_PAID), graph(call("c", "close", invoice=I1), done()), None),
        (contract(Obligation("out", (StateGoal(fluent("out", BOOL)),))), graph(call("c", "sunny_only"), done()), None),
    ],
    "PRS001": [(contract(PAID, kept=(KeptEffect("sent", ("E1",), USER),), scope=ANYTHING), graph(PAY_CALL, SEND_CALL, done()), None)],
    "PRS002": [
        (FREE, graph(PAY_CALL, replace(PAY_CALL, id="b", after=("a",)), done()), None),
        (contract(SENT, kept=(KeptEffect("paid", ("I1", Fraction(7)), USER),), scope=ANYTHING), graph(PAY_CALL, SEND_CALL, done()), None),
        (FREE, graph(Call("w", "was_paid", {"invoice": I1, "amount": FIVE}), replace(PAY_CALL, after=("w",)), done()), None),
    ],
    "PRS003": [(contract(SENT, kept=(KeptEffect("paid", ("I1", Fraction(5)), USER),), scope=ANYTHING), graph(SEND_CALL, call("r", "reverse", invoice=I1, amount=FIVE), done()), None)],
    "PRS004": [(FREE, graph(PAY_CALL, replace(call("r", "reverse", invoice=I1, amount=FIVE), after=("a",)), done()), {"PRS004", "COV001"})],
    "PRS005": [(contract(SENT, facts=(replace(HOLDS_PAID, kept=True),), scope=ANYTHING), graph(SEND_CALL, call("r", "reopen", invoice=I1), done()), None)],
    "PRS006": [
        (replace(FREE, doubts=D0), graph(PAY_CALL, done()), None),
        (replace(FREE, doubts=(replace(D0[0], args=("I1", Fraction(6))),)), graph(PAY_CALL, done()), None),
    ],
    "PRS007": [
        (contract(SENT, scope=ANYTHING), graph(SEND_CALL, call("c", "reopen", invoice=I1), call("g", "get", invoice=I1), done()), None),
        (contract(SENT, scope=(*ANYTHING, Licence("tool", "raw"))), graph(SEND_CALL, call("r", "raw"), done()), None),
    ],
    "SCP001": [(contract(PAID), graph(PAY_CALL, SEND_CALL, done()), None)],
    "SCP002": [(contract(PAID), graph(PAY_CALL, call("r", "reopen", invoice=I1), done()), None)],
    "SCP003": [(FREE, graph(PAY_CALL, replace(call("r", "raw"), after=("a",)), done()), None)],
    "SCP004": [
        (replace(contract(SENT), limits=(Limit("count", "sent", (None,), None, 1),)), graph(SEND_CALL, replace(SEND_CALL, id="t"), done()), None),
        (replace(FREE, limits=(Limit("sum", "paid", (None, "a"), Var(name="a", kind="bound", type=DECIMAL), Fraction(4)),)), graph(PAY_CALL, done()), None),
    ],
    "COV001": [
        (contract(PAID, SENT), graph(PAY_CALL, done()), None),
        (contract(replace(EXISTS, name="x"), EXISTS), graph(SEND_CALL, done()), None),
        (contract(PAID), graph(call("a", "pay", invoice=I1, amount=FIVE, confirm=lit(False, BOOL)), done()), None),
    ],
    "COV002": [(contract(PAID), graph(PAY_CALL), None), (contract(PAID), graph(PAY_CALL, done(when=lit(False, BOOL))), None)],
    "COV003": [(contract(replace(PAID, before=("mail",)), SENT), graph(SEND_CALL, replace(PAY_CALL, after=("s",)), done()), None)],
    "COV004": [(contract(STATE_PAID), graph(call("g", "get", invoice=I1), done()), None)],
    "COV005": [(contract(ONE_OF), graph(PAY_CALL, SEND_CALL, done()), None)],
    "COV006": [(contract(PAID, SENT), graph(PAY_CALL, replace(SEND_CALL, covers=("payment",)), done()), None)],
    "EVD001": [(FREE, graph(PAY_CALL, done(), Terminal("y", "yield")), None)],
    "EVD002": [(FREE, graph(replace(PAY_CALL, after=("end",)), done(after=())), None)],
    "EVD003": [(contract(PAID, SENT), graph(PAY_CALL, SEND_CALL, done(after=("a",))), None)],
    "EVD004": [(contract(PAID, SENT), graph(SEND_CALL, done("payment")), {"EVD004", "COV001"})],
    "EVD005": [(contract(PAID), graph(PAY_CALL, done("payment", "bogus")), None)],
}  # fmt: skip


@pytest.mark.parametrize("code", FAULTS)
def test_fault(code: str) -> None:
    for z, h, codes in FAULTS[code]:
        assert decide(z, h).codes == (codes or {code})
