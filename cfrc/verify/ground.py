"""Turns a ground proposal into an admission by one concrete run, without a formula in sight.

Where no receipt, guard, failure or unknown value can make a difference, one run of one linearization stands for all
runs (order collapse, ``semantics.md`` §4): arguments are literal, clauses do not read results, every fluent that is
read is a known fact. Such graphs are the common case of a hot path. This module only ever says "admitted": whatever
lies outside the fragment, or goes wrong in the run, is left to the general way, which explains it. Tests run both
against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.canon import default_value, needs_canonical
from cfrc.model.contract import Contract, EffectGoal
from cfrc.model.coverage import Evidence
from cfrc.model.domain import Tool
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.instances import Instance
from cfrc.model.judge import Replayer
from cfrc.model.scenario import Event, Scenario
from cfrc.model.values import Value
from cfrc.verify.conditions import grounding, static, typing
from cfrc.verify.order import Order, arrange
from cfrc.verify.owed import literal_args

Found = Mapping[str, Mapping[Instance, list[Evidence]]]
"""What a run is evidence of, by effect and identity."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """An admission found by one run: the nodes that it needed, those that it did not, and how many questions it was."""

    needed: tuple[str, ...]
    unneeded: tuple[str, ...]
    questions: int


@dataclass(frozen=True, slots=True)
class Plain:
    """A call and its tool: all that the graph-level judgements need of a ground graph."""

    call: Call
    tool: Tool | None


class GroundGraph:
    """What :mod:`static` and :mod:`grounding` read of a graph whose arguments name no other node."""

    def __init__(self, contract: Contract, proposal: Proposal) -> None:
        self.contract = contract
        self.proposal = proposal
        self.order: Order = arrange(proposal)
        self.runs = [Plain(c, contract.domain.tools.get(c.tool)) for c in self.order.calls]


class Ground:
    """The shortcut for one contract; what does not depend on the proposal is worked out once."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.facts = {
            (f.fluent, f.args): f.value for f in contract.facts if not contract.domain.fluents[f.fluent].volatile
        }
        self.goals = _goals(contract)
        self.tools = {n: t for n in contract.allow if (t := contract.domain.tools.get(n)) is not None and _plain(t)}

    def admit(self, proposal: Proposal, today: date | datetime) -> Shortcut | None:
        """The admission, or ``None``: outside the fragment, or not to be admitted without a closer look."""
        if self.goals is None or not self._inside(proposal):
            return None
        graph = GroundGraph(self.contract, proposal)
        if len(graph.order.calls) + 1 != len(proposal.nodes) or self._reported(graph):
            return None
        events = [Event(c.id, "ok", default_value(self.tools[c.tool].result)) for c in graph.order.calls]
        trace, evidence = Replayer(self.contract, proposal, today).examine(Scenario(self.facts, tuple(events)))
        if not trace.legal or trace.violations or not trace.ended or len(trace.terminals) != 1:
            return None
        serving = {
            e.node for o in self.goals.values() for e in evidence.get(o[0], {}).get(o[1], ())
        }  # whose receipt discharges something
        if not self._annotated(proposal, evidence):
            return None
        ids = [c.id for c in graph.order.calls]
        questions = len(ids) * 4 + len(self.goals)
        return Shortcut(tuple(i for i in ids if i in serving), tuple(i for i in ids if i not in serving), questions)

    def _reported(self, graph: GroundGraph) -> bool:
        findings: Iterator[object] = iter(
            (
                *typing.findings(self.contract.domain, graph.proposal),
                *static.findings(graph),
                *grounding.findings(graph),
            )
        )
        return next(findings, None) is not None

    def _inside(self, proposal: Proposal) -> bool:
        done = 0
        for n in proposal.nodes:
            if isinstance(n, Terminal):
                done += 1
                if n.kind != "done" or n.when is not None or n.faults:
                    return False
            elif not self._call(n):
                return False
        return done == 1 and not proposal.faults

    def _call(self, n: Call) -> bool:
        tool = self.tools.get(n.tool)
        if tool is None or n.faults or n.when is not None or n.until is not None or n.expect is not None:
            return False
        values: dict[str, Value] = {}
        for p in tool.params:
            e = n.args.get(p.name, p.default)
            if isinstance(e, ex.Lit):
                values[p.name] = e.value
            elif isinstance(e, ex.Var) and e.name in self.contract.names:
                values[p.name] = self.contract.names[e.name].value
            else:
                return False
        return all(self._known(e, values) for e in tool.requires)

    def _known(self, e: ex.Expr, values: Mapping[str, Value]) -> bool:
        """Whether every fluent that the condition reads is a known fact of a literal instance."""
        for x in ex.walk(e):
            if isinstance(x, ex.FluentRead):
                key = []
                for a in x.args:
                    if isinstance(a, ex.Lit):
                        key.append(a.value)
                    elif isinstance(a, ex.Var) and a.name in values:
                        key.append(values[a.name])
                    else:
                        return False
                if (x.fluent, tuple(key)) not in self.facts:
                    return False
        return True

    def _annotated(self, proposal: Proposal, evidence: Found) -> bool:
        """Whether ``covers``, where it is used, says exactly what the run shows."""
        calls = [n for n in proposal.nodes if isinstance(n, Call)]
        if not any(n.covers for n in calls):
            return True
        assert self.goals is not None
        computed: dict[str, set[str]] = {}
        for name, (effect, identity) in self.goals.items():
            for e in evidence.get(effect, {}).get(identity, ()):
                computed.setdefault(e.node, set()).add(name)
        return all(set(n.covers) == computed.get(n.id, set()) for n in calls)


Goal = tuple[str, tuple[str, tuple[Value, ...]]]


def _goals(contract: Contract) -> dict[str, Goal] | None:
    """The literal goals of the obligations, as identities; ``None`` where the contract asks for more than that."""
    declared = [
        *(e.params for e in contract.domain.effects.values()),
        *(f.params for f in contract.domain.fluents.values()),
    ]
    spelled = any(needs_canonical(t) for params in declared for _, t in params)
    if contract.doubts or any(x.kind == "sum" for x in contract.limits) or spelled:
        return None
    found: dict[str, Goal] = {}
    for o in contract.obligations:
        plain = o.choice == "all" and o.count == 1 and not (o.exists or o.where or o.condition or o.before or o.shared)
        args = literal_args(o.goals[0]) if len(o.goals) == 1 and isinstance(o.goals[0], EffectGoal) else None
        if not plain or args is None or not isinstance(o.goals[0], EffectGoal):
            return None
        found[o.name] = (o.goals[0].effect, (o.goals[0].effect, args))
    return found


def _plain(tool: Tool) -> bool:
    """Whether what a call of the tool does depends on its arguments alone, and any receipt of its type will do."""
    if (
        tool.undeclared
        or tool.undoes
        or tool.witnesses
        or tool.refutes
        or tool.may_cause
        or tool.ensures
        or tool.observes
    ):
        return False
    if tool.approved is not None and not isinstance(tool.approved, ex.Lit):
        return False
    if any(c.generators for c in tool.causes) or any(s.generators for s in tool.sets):
        return False
    parts = [e for c in tool.causes for e in (*c.args, c.when)]
    parts += [e for s in tool.sets for e in (*s.args, s.when, s.value)]
    if any(isinstance(x, ex.FluentRead) or _result(x) for e in parts if e is not None for x in ex.walk(e)):
        return False
    return not any(_result(x) for e in tool.requires for x in ex.walk(e)) and _finite(tool.result)


def _result(x: ex.Expr) -> bool:
    return isinstance(x, ex.Var) and x.kind == "result"


def _finite(t: ty.Type) -> bool:
    """Whether the type has a default value that needs no canonical spelling."""
    return not isinstance(t, ty.AnyType)
