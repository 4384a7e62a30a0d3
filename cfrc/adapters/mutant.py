"""Turns a case into a view of it that rules of mutation share, and holds what a mutant is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from cfrc.adapters.handoffs import Case
from cfrc.handoff.closing.history import truth
from cfrc.model.contract import Name
from cfrc.model.domain import Tool
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Expr, Lit, NodeResult, Outcome, Var, conjuncts, walk
from cfrc.model.graph import Call, Proposal
from cfrc.model.types import Id, Type
from cfrc.model.values import Value

NOWHERE = "nowhere-to-be-found"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``rule`` names the kind of change, ``what`` the place. ``code`` (without prefix) must be found, where given."""

    rule: str
    what: str
    proposal: Proposal
    kinds: frozenset[str]
    code: str | None = None
    equivalent: str | None = None
    answers: str | None = None


@dataclass(slots=True)
class View:
    """The case with the questions that several rules ask."""

    case: Case
    proposal: Proposal

    @property
    def calls(self) -> list[Call]:
        return [n for n in self.proposal.nodes if isinstance(n, Call)]

    def tool(self, call: Call) -> Tool:
        return self.case.contract.domain.tools[call.tool]

    @property
    def writes(self) -> list[Call]:
        """The calls that discharge something, in the recorded run."""
        owed = {o.call.id for o in self.case.owed}
        return [c for c in self.calls if c.id in owed]

    def names(self, type_: Type, besides: Value) -> list[Name]:
        return [n for n in self.case.contract.names.values() if n.type == type_ and n.value != besides]

    def value(self, e: Expr) -> Value:
        if isinstance(e, Var):
            return self.case.contract.names[e.name].value
        return e.value if isinstance(e, Lit) else None

    def bound(self, call: Call, param: str, type_: Type) -> list[Name]:
        """The bindings that govern an identifier argument (``docs/semantics.md`` §3)."""
        fixed = [n for n in self.case.contract.names.values() if n.fixed]
        mine = [n for n in fixed if (call.tool, param) in n.targets]
        return mine + [n for n in fixed if not n.targets and n.type == type_ and isinstance(type_, Id)]

    def serves(self, call: Call) -> bool:
        """Whether the call does more than read, or anything relies on what it reads."""
        parts = [
            e for c in self.calls if c.id != call.id for e in (*c.args.values(), c.when, c.expect) if e is not None
        ]
        read = any(isinstance(x, NodeResult | Outcome) and x.node == call.id for e in parts for x in walk(e))
        return read or call.expect is not None or self.tool(call).writes

    def feeds(self, call: Call) -> bool:
        """Whether an argument or a guard of another call reads the call's result: without the call it dangles."""
        parts = [e for c in self.calls for e in (*c.args.values(), c.when) if e is not None]
        return any(isinstance(x, NodeResult | Outcome) and x.node == call.id for e in parts for x in walk(e))

    def possible(self, call: Call) -> bool:
        """Whether what is known at the cut does not already forbid the call: no ``requires`` of it is false."""
        known = {(f.fluent, f.args): f.value for f in self.case.contract.facts}
        env = Env({("param", p): v for p, v in self._values(call)}, read=lambda f, args: known[f, args])
        return not any(truth(c, env) is False for r in self.tool(call).requires for c in conjuncts(r))

    def _values(self, call: Call) -> Iterator[tuple[str, Value]]:
        """The arguments that are known at the cut."""
        names = {("name", n.name): n.value for n in self.case.contract.names.values()}
        for param, e in call.args.items():
            with suppress(Undefined):
                yield param, evaluate(e, Env(dict(names)))

    def mutant(
        self,
        rule: str,
        what: str,
        proposal: Proposal,
        *kinds: str,
        code: str | None = None,
        equivalent: str | None = None,
    ) -> Mutant:
        return Mutant(rule, what, proposal, frozenset(kinds), code, equivalent)
