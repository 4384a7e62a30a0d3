"""Turns what happened and a contract into the obligations that receipts of the ledger have discharged.

The assignment is that of coverage (``docs/semantics.md`` §3) over the receipts of the ledger: references to other
obligations' receipts, existentials with different identities unless ``shared``, counts, choices. A state obligation is
judged by the last write or observation; what nobody knows is not discharged. The search is bounded
(:data:`cfrc.model.coverage.BUDGET`): what is not found within it counts as not discharged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cfrc.model.contract import Contract, EffectGoal, Obligation, StateGoal
from cfrc.model.coverage import BUDGET, Coverage, Option, Owed
from cfrc.model.evaluate import Env, Reader, Undefined, holds
from cfrc.model.expr import Build, Expr, Var
from cfrc.model.graph import Proposal
from cfrc.model.instances import Signatures
from cfrc.model.ledger import Choice, Receipt
from cfrc.model.matching import Quantified, collect, complete
from cfrc.model.plan import prepare
from cfrc.model.receipts import Identity, World
from cfrc.model.rulebook import Rulebook, make_rulebook
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.verify.happened import Happened, distinct, happened
from cfrc.verify.spelled import spelled_out


@dataclass(slots=True)
class _OverLedger(Coverage):
    """Conditions on values may use the contract's facts; whether a state is reached, only what receipts say."""

    seen: Reader | None = None

    def goal_holds(self, o: Obligation, goal: StateGoal, env: Env) -> bool:
        quantified = Quantified(o.exists, o.where, self.quantified.pool)
        for binding in complete({}, (), quantified, env) if o.exists or o.where is not None else ({},):
            try:
                if holds(goal.condition, env.child({("exists", n): v for n, v in binding.items()}, self.seen)):
                    return True
            except Undefined:
                continue
        return False


@dataclass(slots=True)
class Discharges:
    """The search for assignments. ``fresh``: an identity that the contract keeps discharges nothing, as in a run
    (``docs/semantics.md`` §3)."""

    contract: Contract
    past: Happened
    fresh: bool = False
    book: Rulebook = field(init=False)
    env: Env = field(init=False)
    coverage: Coverage = field(init=False)
    steps: list[Receipt] = field(init=False)

    def __post_init__(self) -> None:
        self.contract = spelled_out(self.contract)
        self.book = make_rulebook(prepare(self.contract, Proposal("", self.contract.name, ())))
        self.env = self.book.plan.env().child(read=_reader(self.contract, self.book.plan.sig, self.past.world))
        self.steps = [r for _, r in distinct(self.past.ledger)]
        kept = _kept(self.contract, self.book.plan.sig) if self.fresh else frozenset()
        evidence = {
            effect: {i: found for i, found in items.items() if i not in kept}
            for effect, items in self.past.evidence.items()
        }
        self.coverage = _OverLedger(
            evidence, self.book.ground, self.env, Quantified((), None, self._pool()), self.past.since,
            self.past.counts, self._history(), seen=self.past.world.read,
        )  # fmt: skip

    def active(self, name: str) -> bool:
        """Whether the obligation is owed at the end of the ledger; where nobody knows, it is."""
        condition = self.book.obligations[name].condition
        try:
            return holds(condition, self.env)
        except Undefined:
            return True

    def receipt(self, step: int) -> Receipt:
        """The receipt of a step of the ledger."""
        return self.steps[step]

    def assign(self, names: Iterable[str], ordered: bool = False) -> tuple[dict[str, Option], list[str]]:
        """An assignment of the named obligations and all they refer to; and the names that it leaves out."""
        wanted = self._closed(set(names))
        return self.coverage.assign([e for e in self.book.owed if e.obligation.name in wanted], ordered)

    def misplaced(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """The pairs (a, b) with ``a before b`` where b was realized and a was not yet."""
        wanted = set(names)
        before = [(o.name, b) for o in self.contract.obligations for b in o.before if b in wanted]
        before = [(a, b) for a, b in before if a in wanted or self.active(a)]
        if not before:
            return []
        together = {n for pair in before for n in pair} | wanted
        chosen, missing = self.assign(together, ordered=True)
        if missing:
            loose, left_out = self.assign(together)
            if len(left_out) < len(missing):
                chosen = loose
        return [
            (a, b) for a, b in before
            if b in chosen and (a not in chosen or not self.coverage.in_order(a, b, chosen))
        ]  # fmt: skip

    def _closed(self, names: set[str]) -> set[str]:
        owed: dict[str, Owed] = {e.obligation.name: e for e in self.book.owed}
        queue = [n for n in names if n in owed]
        found: set[str] = set()
        while queue:
            name = queue.pop()
            if name in owed and name not in found:
                found.add(name)
                queue.extend(owed[name].refs)
        return found

    def _history(self) -> dict[str, list[bool]]:
        """Whether each state obligation that orders others held at first and after each receipt."""
        history: dict[str, list[bool]] = {n: [] for n in self.book.tracked}
        if not history:
            return history

        def note(world: World) -> None:
            read = _reader(self.contract, self.book.plan.sig, world)
            env = self.env.child(read=read)
            asked = _OverLedger({}, {}, env, Quantified((), None, {}), {}, {}, seen=world.read)
            for name, o in self.book.tracked.items():
                goals = [g for g in o.goals if isinstance(g, StateGoal)]
                history[name].append(any(asked.goal_holds(o, g, env) for g in goals))

        happened(self.past.ledger, note)
        return history

    def _pool(self) -> dict[Type, list[Value]]:
        """The values that contract and ledger mention, by type, for existentials that no pattern binds; as many as the
        budget allows to combine."""
        pool: dict[Type, list[Value]] = {}
        widest = max((len(_unbound(o)) for o in self.contract.obligations), default=0)
        if not widest:
            return pool
        for value, t in _mentioned(self.contract, self.past):
            collect(pool, value, t)
        most = max(2, int(BUDGET ** (1 / widest)))
        return {t: values[:most] for t, values in pool.items()}


def _unbound(o: Obligation) -> set[str]:
    """The existentials that some goal's pattern does not bind by standing in it."""
    names = {n for n, _ in o.exists}
    return {n for g in o.goals for n in names - _standing(g.args if isinstance(g, EffectGoal) else ())}


def _standing(patterns: Iterable[Expr | None]) -> set[str]:
    found: set[str] = set()
    for p in patterns:
        if isinstance(p, Var) and p.kind == "exists":
            found.add(p.name)
        elif isinstance(p, Build):
            found |= _standing((*p.items, *p.keys))
    return found


def _mentioned(contract: Contract, past: Happened) -> Iterable[tuple[Value, Type]]:
    domain = past.ledger.domain
    for n in contract.names.values():
        yield n.value, n.type
    for entry in past.ledger.entries:
        if isinstance(entry, Choice):
            yield entry.value, entry.type
    for effect, args in (*past.effects, *past.witnessed):
        yield from zip(args, (t for _, t in domain.effects[effect].params), strict=True)
    for (fluent, args), value in past.world.values.items():
        yield from zip(args, (t for _, t in domain.fluents[fluent].params), strict=True)
        yield value, domain.fluents[fluent].type
    for _, receipt in distinct(past.ledger):
        tool = domain.tools[receipt.tool]
        yield from ((v, p.type) for n, v in receipt.args if (p := tool.param(n)) is not None)
        if receipt.status == "success":
            yield receipt.result, tool.result


def _kept(contract: Contract, sig: Signatures) -> frozenset[Identity]:
    return frozenset((k.effect, canonical_effect(sig, k.effect, k.args)) for k in contract.kept)


def canonical_effect(sig: Signatures, effect: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The canonical arguments of an identity."""
    return sig.effect(effect, args)  # type: ignore[return-value]  # ground arguments stay ground


def _reader(contract: Contract, sig: Signatures, world: World) -> Reader:
    """The world of the ledger; where it is silent, what the contract says and nothing may have changed since."""
    facts = {
        (f.fluent, sig.fluent(f.fluent, f.args)): f.value
        for f in contract.facts
        if not contract.domain.fluents[f.fluent].volatile
    }

    def read(fluent: str, args: tuple[Value, ...]) -> Value:
        try:
            return world.read(fluent, args)
        except LookupError:
            if world.is_lost(fluent, args):
                raise
            return facts[fluent, sig.fluent(fluent, args)]

    return read
