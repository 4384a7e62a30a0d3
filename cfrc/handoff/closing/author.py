"""Turns what a successor wants to call, or calls on a replica, into typed calls with their results.

Arguments are plain JSON values, or sources as in a proposal's JSON form (``{"ref": name}``, ``{"out": "c1.id"}``,
``{"expr": …}``, ``{"lit": …}``, at any depth). What is wrong with a call is kept as its fault: admission will say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import uuid4

from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.replica import Replica
from cfrc.handoff.tools import Answer
from cfrc.handoff.wire import Malformed, incoming, outgoing
from cfrc.lang.jsonvalues import Mismatch
from cfrc.lang.load import load_proposal
from cfrc.lang.scalars import show_decimal
from cfrc.model.canon import canonical
from cfrc.model.contract import Contract
from cfrc.model.domain import Tool
from cfrc.model.evaluate import Env, Undefined, evaluate, holds
from cfrc.model.graph import Call, Proposal
from cfrc.model.transcript import JSON
from cfrc.model.values import Value
from cfrc.source import Source


@dataclass(frozen=True, slots=True)
class Planned:
    """One call of a successor. ``answer`` is there when it was made already; ``extra`` holds what a node of a
    proposal's JSON form may say besides: ``expect``, ``until`` with ``polls``, ``after``."""

    tool: str
    arguments: Mapping[str, Any]
    id: str
    answer: Answer | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class Desk:
    """Where a successor works: every call goes to the replica and is noted. ``snapshot`` and ``restore`` also go back
    in the notes, so that what was tried and undone leaves nothing behind."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.planned: list[Planned] = []

    def call(self, tool: str, arguments: Mapping[str, JSON], id: str | None = None) -> Answer:
        answer = self.replica.call(tool, arguments)
        self.planned.append(Planned(tool, arguments, id or _free(self.planned), answer))
        return answer

    def snapshot(self) -> object:
        return self.replica.snapshot(), len(self.planned)

    def restore(self, mark: object) -> None:
        assert isinstance(mark, tuple)
        self.replica.restore(mark[0])
        del self.planned[mark[1] :]


Author = Callable[[Desk], object]


def _free(planned: Sequence[Planned]) -> str:
    taken = {p.id for p in planned}
    return next(name for n in range(1, len(planned) + 2) if (name := f"c{n}") not in taken)


def drafted(contract: Contract, planned: Sequence[Planned], name: str) -> Proposal:
    """The calls as nodes, exactly as they were given. Raises :class:`cfrc.lang.diagnostics.SpecError` where an argument
    is no JSON form of a source."""
    nodes = [{"id": p.id, "call": p.tool, "args": dict(p.arguments), **p.extra} for p in planned]
    form = {"cfrc": 1, "name": name, "contract": contract.name, "nodes": nodes}
    return load_proposal(Source("<calls>", _text(form)), contract)


def _text(form: object) -> str:
    """The form as JSON text, with every number as exact as it is."""
    mark = uuid4().hex

    def number(value: object) -> str:
        if isinstance(value, Decimal | Fraction):
            return f"{mark}{show_decimal(Fraction(value))}{mark}"
        raise TypeError(f"not JSON: {type(value).__name__}")

    return re.sub(rf'"{mark}(-?[0-9.]+){mark}"', r"\1", json.dumps(form, default=number))


def perform(contract: Contract, planned: Sequence[Planned], draft: Proposal, replica: Replica) -> list[Made]:
    """The calls with their results. Those without an answer are made on the replica, one after the other."""
    env = Env({("name", n.name): canonical(n.type, n.value) for n in contract.names.values()})
    results: dict[str, Value] = {}
    env.results = results
    made = []
    nodes = {n.id: n for n in draft.nodes if isinstance(n, Call)}
    for index, p in enumerate(planned):
        call = _made(contract, index, p, nodes[p.id], env, replica)
        if call.usable:
            results[call.id] = call.result
        made.append(call)
    return made


def _made(contract: Contract, index: int, p: Planned, node: Call, env: Env, replica: Replica) -> Made:
    tool = contract.domain.tools.get(p.tool)
    bare = Made(index, p.tool, tool, {}, None, False, tool is not None and tool.writes, None, p.id)
    if tool is None:
        return replace(bare, problem=f"the domain has no tool `{p.tool}`")
    if node.faults:
        return replace(bare, problem=node.faults[0].message)
    try:
        args = {
            n: canonical(q.type, evaluate(e, env)) for n, e in node.args.items() if (q := tool.param(n)) is not None
        }
    except Undefined:
        return replace(bare, problem="an argument is taken from a result that is not there")
    made = replace(bare, args=args)
    answer = p.answer
    if answer is None:
        try:
            sent = outgoing(args, tool)
        except Mismatch as problem:
            return replace(made, problem=str(problem))
        answer = _poll(replica, tool, sent, node, env)
    return _answered(made, tool, answer)


def _answered(made: Made, tool: Tool, answer: Answer) -> Made:
    if answer.status == "failure":
        return replace(made, failed=True)
    if answer.status != "success" or answer.broken is not None:
        return replace(
            made, problem=f"nobody knows what became of it ({answer.error or answer.broken or answer.status})"
        )
    try:
        return replace(made, result=canonical(tool.result, incoming(answer.result, tool.result)))
    except Malformed as problem:
        return replace(made, problem=f"the result is no {tool.result}: {problem}")


def _poll(replica: Replica, tool: Tool, sent: Mapping[str, JSON], node: Call, env: Env) -> Answer:
    """One call; with ``until``, as often as it takes, at most as often as the node says."""
    for _ in range(node.polls):
        answer = replica.call(tool.name, sent)
        if node.until is None or answer.status != "success":
            return answer
        try:
            result = incoming(answer.result, tool.result)
            inner = Env(env.vars, {**env.results, node.id: result})
            if holds(node.until, inner):
                return answer
        except (Malformed, Undefined):
            return answer
    return answer


__all__ = ["Author", "Desk", "Planned", "drafted", "perform"]
