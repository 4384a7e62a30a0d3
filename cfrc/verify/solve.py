"""Turns conditions into answers: the only place that asks Z3.

One solver session serves one admission. Every assumption is asserted once behind a literal and switched on for the
queries that may use it. The budget is deterministic (``rlimit``); what it cuts off is ``unknown``, and after an unknown
the session starts afresh.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import z3

from cfrc.verify.encode import Encoder
from cfrc.verify.terms import Term, Terms

Answer = Literal["sat", "unsat", "unknown"]

DEFAULT_BUDGET = 20_000_000
"""Z3 resource units a query: a few seconds at worst, and the same on every machine."""


@dataclass(frozen=True, slots=True)
class Result:
    """``core`` are the assumption terms that an ``unsat`` needed; ``model`` a Z3 model when ``sat``."""

    answer: Answer
    model: Any = None
    core: tuple[Term, ...] = ()


class Session:
    def __init__(self, terms: Terms, budget: int = DEFAULT_BUDGET) -> None:
        self.terms = terms
        self.budget = budget
        self.queries = 0
        self._start()

    def _start(self) -> None:
        # a context of its own: what this session answers must not depend on what the process asked before
        context = z3.Context()
        self._solver = z3.Solver(ctx=context)
        self._context = context
        self._solver.set("rlimit", self.budget)
        self._solver.set("random_seed", 0)
        self.encoder = Encoder(self.terms, context, self._solver.add)
        self._switches: dict[int, Any] = {}
        self._by_switch: dict[str, Term] = {}

    def _switch(self, term: Term) -> Any:
        if term.id not in self._switches:
            literal = z3.Bool(f"assume{term.id}", self._context)
            self._solver.add(self.encoder.implies(literal, self.encoder.encode(term)))
            self._switches[term.id] = literal
            self._by_switch[f"assume{term.id}"] = term
        return self._switches[term.id]

    def check(self, assumptions: Iterable[Term]) -> Result:
        """Whether the assumptions are satisfiable together."""
        wanted = [a for a in assumptions if a is not self.terms.true]
        if any(a is self.terms.false for a in wanted):
            return Result("unsat", core=(self.terms.false,))
        self.queries += 1
        if self.budget <= 0:
            return Result("unknown")  # Z3 reads an rlimit of 0 as no limit
        answer = self._solver.check(*[self._switch(a) for a in dict.fromkeys(wanted)])
        if answer == z3.sat:
            return Result("sat", model=self._solver.model())
        if answer == z3.unsat:
            return Result("unsat", core=tuple(self._by_switch[str(c)] for c in self._solver.unsat_core()))
        self._start()
        return Result("unknown")
