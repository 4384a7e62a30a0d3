"""Turns a contract and a proposal into the tables that every part of brute force looks things up in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cfrc.model.contract import Contract
from cfrc.model.expr import NodeResult, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import is_identifier
from cfrc.model.values import Value
from tests.verify.brute.evaluate import Scene, canonical
from tests.verify.brute.state import Instance, State
from tests.verify.brute.static import closure, handles, preds
from tests.verify.brute.universe import Universe


class Setting:
    """What does not change during runs."""

    def __init__(self, contract: Contract, proposal: Proposal) -> None:
        self.contract = contract
        self.domain = contract.domain
        self.universe = Universe(contract, proposal)
        self.calls = {n.id: n for n in proposal.nodes if isinstance(n, Call)}
        self.terminals = {n.id: n for n in proposal.nodes if isinstance(n, Terminal)}
        self.tools = {c.id: c.tool for c in self.calls.values()}
        self.names = {n.name: canonical(n.value, n.type) for n in contract.names.values()}
        self.obligations = {o.name: o for o in contract.obligations}
        self.preds = {n.id: preds(n) for n in proposal.nodes}
        self.before = closure(proposal)
        self.handled = {i for i in self.calls if any(handles(n, i) for n in proposal.nodes)}
        self.kept = {self.identity(k.effect, k.args) for k in contract.kept}
        self.kept_keys = {self.key(i) for i in self.kept if self.domain.effects[i[0]].once}
        self.kept_facts: dict[Instance, Value] = {}
        self.first: dict[Instance, Value] = {}
        self._facts()
        self.governed = self._governed()
        self.unordered = {
            i: {j for j in self.calls if j != i and i not in self.before[j] and j not in self.before[i]}
            for i in self.calls
        }

    def _facts(self) -> None:
        for f in self.contract.facts:
            decl = self.domain.fluents[f.fluent]
            args = tuple(canonical(a, t) for a, (_, t) in zip(f.args, decl.params, strict=True))
            value = canonical(f.value, decl.type)
            if f.kept:
                self.kept_facts[f.fluent, args] = value
            if f.kept or not decl.volatile:
                self.first[f.fluent, args] = value

    def _governed(self) -> set[str]:
        """Calls that write, witness what is owed, or whose results flow into such a call's arguments or guard."""
        owed = {getattr(g, "effect", None) for o in self.contract.obligations for g in o.goals}
        found = set()
        for i, c in self.calls.items():
            tool = self.domain.tools.get(c.tool)
            if tool is not None and (tool.writes or any(w.effect in owed for w in tool.witnesses)):
                found.add(i)
        size = -1
        while size != len(found):
            size = len(found)
            for i in list(found):
                guard = self.calls[i].when
                args = [*self.calls[i].args.values(), *([guard] if guard is not None else [])]
                found |= {x.node for a in args for x in walk(a) if isinstance(x, NodeResult)} & set(self.calls)
        return found

    def identity(self, effect: str, args: tuple[Value, ...]) -> Instance:
        params = self.domain.effects[effect].params
        return effect, tuple(canonical(v, t) for v, (_, t) in zip(args, params, strict=True))

    def key(self, inst: Instance) -> Instance:
        return inst[0], tuple(inst[1][i] for i in self.domain.effects[inst[0]].key)

    def scene(self, state: State, **more: Any) -> Scene:
        return Scene(self.domain, self.names, self.tools, state, **more)

    def bound(self, tool: str, param: str) -> set[Value] | None:
        """The values that bindings allow for the parameter: targeted ones first, then those of its identifier type."""
        declared = self.domain.tools[tool].param(param)
        assert declared is not None
        fixed = [n for n in self.contract.names.values() if n.fixed]
        aimed = {self.names[n.name] for n in fixed if (tool, param) in n.targets}
        if aimed:
            return aimed
        typed = {self.names[n.name] for n in fixed if not n.targets and n.type == declared.type}
        return typed if typed and is_identifier(declared.type) else None

    def aimed(self, tool: str) -> Mapping[str, set[Value]]:
        """The parameters of the tool that a binding names as its target."""
        found: dict[str, set[Value]] = {}
        for n in self.contract.names.values():
            for t, p in n.targets if n.fixed else ():
                if t == tool:
                    found.setdefault(p, set()).add(self.names[n.name])
        return found
