"""Turns a contract into proposals that nearly discharge it: built from the obligations, then perhaps broken.

Each obligation gets a call that can realize it; what the call's tool requires is read and expected first; arguments
are names, literals that equal names, or copies from earlier results. Orders, guards, retries and terminals are random.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from cfrc.model.contract import Contract, EffectGoal, Obligation, StateGoal
from cfrc.model.domain import Tool
from cfrc.model.expr import Discharge, Expr, Field, FluentRead, If, Lit, Outcome, Var, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import BOOL, DECIMAL, Type
from cfrc.model.values import Value
from cfrc.testing.build import TEXT, TRUE, both, eq, failed, known, lit, negate, out
from cfrc.testing.mutate import mutations
from cfrc.testing.random_domain import (
    CONFIRM,
    ITEM,
    OPEN,
    PERSON,
    RECEIPT,
    SEEN,
    Draw,
    chance,
    pick,
)

MAKERS = {"moved": "move", "charged": "charge", "noted": "note"}


@dataclass
class _Plan:
    """A proposal in the making."""

    draw: Draw
    contract: Contract
    calls: list[Call] = field(default_factory=list)
    serves: dict[str, str] = field(default_factory=dict)
    chained: bool = True

    def add(self, tool: str, args: dict[str, Expr], **more: object) -> str:
        """Appends a call, mostly ordered after the one before it."""
        name = f"n{len(self.calls) + 1}"
        after: tuple[str, ...] = ()
        if self.calls and (self.chained or chance(self.draw, 30)):
            after = (self.calls[-1].id,)
        self.calls.append(Call(name, tool, args, after=after, **more))  # type: ignore[arg-type]  # fields of Call
        return name

    def result(self, node: str, *names: str) -> Expr:
        call = next(c for c in self.calls if c.id == node)
        return out(node, self.contract.domain.tools[call.tool].result, *names)

    def find(self, *fields: str) -> str:
        """A call that yields values, an old one if there is one."""
        for c in self.calls:
            if c.tool in fields:
                return c.id
        return self.add("find", {})

    def value(self, e: Expr) -> Value:
        assert isinstance(e, Lit | Var)
        return e.value if isinstance(e, Lit) else self.contract.names[e.name].value


def _argument(plan: _Plan, e: Expr | None, param: str) -> Expr:
    """A source for the value that a goal's argument asks for."""
    draw = plan.draw
    match e:
        case Var(kind="name"):
            if chance(draw, 12):
                return lit(plan.value(e), e.type)
            if param == "item" and chance(draw, 15):
                got = next((c.id for c in plan.calls if c.tool == "get" and c.args["item"] == e), None)
                return plan.result(got or plan.add("get", {"item": e}), "item")
            others = [n for n in plan.contract.names.values() if n.type == e.type and n.name != e.name]
            if others and chance(draw, 6):
                seen = plan.result(plan.add("look", {}), "flag")
                return If(cond=seen, then=e, orelse=known(pick(draw, *others).name, e.type), type=e.type)
            return e
        case FluentRead(fluent="owner", args=(item,)):
            return plan.result(plan.add("get", {"item": item}), "owner")
    types: dict[str, Type] = {"person": PERSON, "amount": DECIMAL, "item": ITEM}
    t = types[param]
    names = [n.name for n in plan.contract.names.values() if n.type == t]
    if chance(draw, 60):
        return known(pick(draw, *reversed(names)), t)
    if param == "amount" and chance(draw, 50):
        return plan.result(plan.add("get", {"item": known("i1", ITEM)}), "amount")
    found = plan.find("find")
    if param == "person" and chance(draw, 20):
        return Field(base=plan.result(found, "hit"), name="person", type=PERSON)
    return plan.result(found, param)


def _needs_flag(e: Expr) -> bool | None:
    """Which value of the flag the condition asks for, if it reads the flag."""
    if isinstance(e, FluentRead) and e.fluent == "flag":
        return True
    inner = [x for x in walk(e) if isinstance(x, FluentRead) and x.fluent == "flag"]
    return False if inner else None


def _prepare(plan: _Plan, tool: Tool, args: dict[str, Expr]) -> Expr | None:
    """Makes what the tool requires (or its effect depends on) true or expected; a guard, when it is left to that."""
    draw, guard = plan.draw, None
    conditions = [*tool.requires, *(c.when for c in tool.causes if c.when is not None)]
    if any(_reads(e, "status") for e in conditions) and not _known(plan, "status", "open") and not chance(draw, 10):
        item = args["item"]
        if chance(draw, 20):
            plan.add("set_status", {"item": item, "to": OPEN})
        else:
            got = plan.add("get", {"item": item})
            is_open = eq(plan.result(got, "status"), OPEN)
            if chance(draw, 25):
                guard = is_open
            else:
                plan.calls[-1] = replace(plan.calls[-1], expect=is_open)
    wanted = next((w for w in map(_needs_flag, conditions) if w is not None), None)
    if wanted is not None and not _known(plan, "flag", wanted) and not chance(draw, 10):
        if chance(draw, 30):
            plan.add("set_flag", {"on": lit(wanted, BOOL)})
        else:
            for _ in range(pick(draw, 1, 1, 1, 2)):
                seen = plan.add("look", {})
                right = eq(plan.result(seen, "flag"), lit(wanted, BOOL))
                polls = pick(draw, 0, 0, 2, 3)
                more = {"until": right, "polls": polls} if polls else {"expect": right}
                plan.calls[-1] = replace(plan.calls[-1], **more)
    return guard


def _reads(e: Expr, fluent: str) -> bool:
    return any(isinstance(x, FluentRead) and x.fluent == fluent for x in walk(e))


def _known(plan: _Plan, fluent: str, value: Value) -> bool:
    volatile = plan.contract.domain.fluents[fluent].volatile
    return any(f.fluent == fluent and f.value == value and (f.kept or not volatile) for f in plan.contract.facts)


def _realize(plan: _Plan, o: Obligation, goal: EffectGoal) -> str:
    """Calls a tool that causes the goal's effect."""
    draw = plan.draw
    tool = plan.contract.domain.tools[MAKERS[goal.effect]]
    args: dict[str, Expr] = {}
    for p, e in zip([p for p in tool.params if p.name not in ("confirm", "body")], goal.args, strict=True):
        args[p.name] = _argument(plan, e, p.name)
    if tool.param("body") is not None:
        args["body"] = lit("hello", TEXT)
    guard = _prepare(plan, tool, args)
    if tool.param("confirm") is not None:
        if chance(draw, 20):
            plan.add(tool.name, dict(args))
        args["confirm"] = TRUE
    doubtful = any(d.effect == goal.effect for d in plan.contract.doubts)
    if doubtful and not chance(draw, 20):
        check = plan.add("check_charge", {"item": args["item"], "amount": args["amount"]})
        guard = both(guard, negate(plan.result(check, "there")))
    node = plan.add(tool.name, args, when=guard)
    if any(c.when is not None and c.when != CONFIRM and not _reads(c.when, "status") and not _reads(c.when, "flag")
           for c in tool.causes) and not chance(draw, 10):  # fmt: skip
        if chance(draw, 15):  # every poll is a call of its own
            plan.calls[-1] = replace(plan.calls[-1], until=plan.result(node, "ok"), polls=pick(draw, 1, 2))
        else:
            plan.calls[-1] = replace(plan.calls[-1], expect=plan.result(node, "ok"))
    if chance(draw, 15):
        plan.calls[-1] = replace(plan.calls[-1], covers=(o.name,))
    if chance(draw, 8) and guard is None:
        plan.calls.append(
            replace(
                plan.calls[-1],
                id=f"n{len(plan.calls) + 1}",
                when=failed(node),
                after=(),
                expect=None,
                until=None,
                polls=1,
            )
        )
    plan.serves.setdefault(o.name, node)
    return node


def _track(plan: _Plan, o: Obligation, goal: EffectGoal) -> None:
    """Asks whether what another obligation's receipt names has arrived."""
    arg = goal.args[0]
    owner = next(x.obligation for x in walk(arg) if isinstance(x, Discharge)) if arg is not None else ""
    if owner not in plan.serves:
        return
    ref = out(plan.serves[owner], RECEIPT, "ref")
    node = f"n{len(plan.calls) + 1}"
    state = out(node, plan.contract.domain.tools["track"].result, "seen")
    arrived = eq(state, lit("arrived", SEEN))
    if chance(plan.draw, 70):
        plan.add("track", {"ref": ref}, until=arrived, polls=pick(plan.draw, 1, 2))
    else:
        plan.add("track", {"ref": ref}, expect=None if chance(plan.draw, 15) else arrived)


def _establish(plan: _Plan, goal: StateGoal) -> None:
    """Calls a tool that makes the state goal true, or reads that it is."""
    reads = next(x for x in walk(goal.condition) if isinstance(x, FluentRead))
    wanted = goal.condition.args[1] if hasattr(goal.condition, "args") else TRUE
    draw = plan.draw
    if reads.fluent == "flag":
        if chance(draw, 70):
            plan.add("set_flag", {"on": TRUE})
        else:
            seen = plan.add("look", {})
            plan.calls[-1] = replace(plan.calls[-1], expect=plan.result(seen, "flag"))
    elif reads.fluent == "status":
        if chance(draw, 75):
            plan.add("set_status", {"item": reads.args[0], "to": wanted})
        else:
            got = plan.add("get", {"item": reads.args[0]})
            plan.calls[-1] = replace(plan.calls[-1], expect=eq(plan.result(got, "status"), wanted))
    else:
        got = plan.add("get", {"item": reads.args[0]})
        plan.calls[-1] = replace(plan.calls[-1], expect=eq(plan.result(got, "owner"), wanted))


def _finish(plan: _Plan) -> list[Terminal]:
    """A ``done`` that waits for everything, or by name; now and then split into ``done`` and ``yield``."""
    draw = plan.draw
    names = tuple(o.name for o in plan.contract.obligations)
    inactive = {o.name for o in plan.contract.obligations if o.condition is not None}
    claims = tuple(n for n in names if n not in inactive and not chance(draw, 25))
    handled = {c.when.node for c in plan.calls if isinstance(c.when, Outcome)}
    after = tuple(c.id for c in plan.calls if c.id not in handled) if chance(draw, 35) else None
    looks = [c for c in plan.calls if c.tool == "look" and c.id not in handled]
    if looks and chance(draw, 25):
        seen = plan.result(looks[0].id, "flag")
        return [
            Terminal("end", "done", claims, when=seen, after=after),
            Terminal("stop", "yield", reason="flag is down", when=negate(seen), after=after),
        ]
    return [Terminal("end", "done", claims, after=after)]


def _build(draw: Draw, contract: Contract) -> Proposal:
    plan = _Plan(draw, contract, chained=not chance(draw, 35))
    if chance(draw, 15):
        plan.add(*pick(draw, ("get", {"item": known("i1", ITEM)}), ("look", {}), ("find", {})))
    todo = list(contract.obligations)
    if len(todo) > 1 and not any(o.before for o in todo) and chance(draw, 10):
        todo.pop()
    for o in todo:
        goals = o.goals if o.choice == "all" else (pick(draw, *o.goals),)
        for goal in goals * o.count:
            if isinstance(goal, StateGoal):
                _establish(plan, goal)
            elif goal.effect == "arrived":
                _track(plan, o, goal)
            else:
                _realize(plan, o, goal)
    return Proposal("h", contract.name, (*plan.calls, *_finish(plan)), answers=pick(draw, None, contract.digest))


@st.composite
def proposals(draw: Draw, contract: Contract) -> Proposal:
    """Proposals for a contract made by :func:`contracts`: right, nearly right, or with one or two faults planted."""
    made = _build(draw, contract)
    for _ in range(pick(draw, 0, 0, 0, 0, 0, 1, 1, 2)):
        broken = mutations(contract, made)
        kinds = sorted({m.kind for m in broken}, key=lambda k: (k == "typing", k))
        # Broken texts are refused before any run, so most faults are of the other kinds.
        kinds = [k for k in kinds for _ in range(1 if k in ("typing", "authority", "grounding") else 4)]
        if kinds:
            kind = draw(st.sampled_from(kinds))
            made = draw(st.sampled_from([m for m in broken if m.kind == kind])).proposal
    return made
