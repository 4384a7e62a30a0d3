"""Turns a recorded run and a cut into a handoff: the residual contract, and the run's own remainder as a proposal.

The contract holds what the calls before the cut showed and did, and owes what the successful writes after it did. The
proposal is the recorded remainder, no call added or left out: arguments bound to their sources, the recorded order
where calls depend on each other, and the ``expect``s that the domain's possible results make necessary. A call that
failed when it was recorded stays in the proposal; what came after it runs only if it fails again, otherwise control is
handed back, because the record does not tell what to do then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cfrc.adapters.arguments import Arguments, Use
from cfrc.adapters.expects import Inexpressible, Rewriter, implied, latest
from cfrc.adapters.goals import Goals, Owed, conjunction
from cfrc.adapters.history import History, plain
from cfrc.adapters.order import Footprints
from cfrc.adapters.runs import Recorded, TaskRun
from cfrc.model.contract import Contract, Fact, KeptEffect, Limit, Origin
from cfrc.model.domain import Domain
from cfrc.model.expr import Apply, Expr, NodeResult, Outcome, conjuncts, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.show import show_expr, show_value
from cfrc.model.types import BOOL
from cfrc.model.values import Value


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expected conjunct: the node that carries it, and why it is there (``requires``, ``where`` or ``apart``)."""

    node: str
    condition: Expr
    why: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that the record does not support, and the codes of which one must name it.

    ``why``: ``no source``, ``wrong source``, ``wrong type`` (of a value), ``unseen`` (a ``requires`` that no receipt
    tells, or that was false), ``failed write`` (recorded to fail, so nothing owes it), ``untyped`` (not in the domain).
    """

    why: str
    node: str
    what: str
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """One cut of one run. ``proposal`` is ``None`` when no write is left; the contract is then complete."""

    name: str
    run: TaskRun
    cut: int
    contract: Contract
    proposal: Proposal | None
    owed: tuple[Owed, ...]
    uses: tuple[Use, ...]
    expectations: tuple[Expectation, ...]
    added_after: frozenset[tuple[str, str]]
    """Order that no argument carries: (earlier, later) node."""
    history: History
    gaps: tuple[Gap, ...]
    """What the record does not support. Without gaps the proposal must be admitted."""
    either_way: frozenset[tuple[str, str]] = frozenset()
    """Those pairs of ``added_after`` that only had to be put in some order: they touched different things."""

    @property
    def results(self) -> dict[str, Value]:
        """The recorded results of the remaining calls, by node."""
        return {c.id: c.result for c in self.run.calls[self.cut :] if c.usable}

    @property
    def failures(self) -> tuple[Recorded, ...]:
        return tuple(c for c in self.run.calls[self.cut :] if c.failed)


def handoffs(domain: Domain, run: TaskRun) -> Iterator[Case]:
    """The cases of one run, one for each cut from before the first call to after the last."""
    history = History(domain, run)
    for cut in range(len(run.calls) + 1):
        yield Handoff(history, run, cut).case()


class Handoff:
    """Builds the case of one cut, step by step; a subclass may build other obligations, expectations or order."""

    def __init__(self, history: History, run: TaskRun, cut: int) -> None:
        self.history, self.run, self.cut, self.domain = history, run, cut, history.domain
        self.rest = [c for c in run.calls[cut:] if c.tool is not None]
        self.arguments = Arguments(run, cut)
        self.goals = Goals(history, self.arguments)
        self.footprints = Footprints(history, self.arguments)
        self.expectations: list[Expectation] = []
        self.unseen: list[Gap] = []
        self.relied: dict[int, set[str]] = {}
        self.name = f"task_{''.join(c if c.isalnum() else '_' for c in run.id)}_cut_{cut}"

    def case(self) -> Case:
        kept = tuple(self._kept())
        facts = tuple(self._facts())
        self._expect(kept, facts)
        proposal, added = self._proposal()
        either_way = frozenset(p for p in added if self._either_way(*p))
        contract = Contract(
            name=self.name,
            domain=self.domain,
            digest="",
            request=self.run.request,
            names=self.arguments.names(),
            kept=kept,
            facts=facts,
            obligations=tuple(o.obligation for o in self.goals.owed),
            allow=tuple(self._allow()),
            scope=tuple(self.goals.licences),
            limits=tuple(self._limits(kept)),
        )
        return Case(
            self.name, self.run, self.cut, contract, proposal if self.goals.owed else None, tuple(self.goals.owed),
            tuple(self.arguments.uses), tuple(self.expectations), added, self.history,
            tuple(self._gaps()), either_way,
        )  # fmt: skip

    # -- the contract -------------------------------------------------------------------------------------------

    def _kept(self) -> Iterator[KeptEffect]:
        undone: set[tuple[str, tuple[Value, ...]]] = set()
        for call in reversed(self.run.calls[: self.cut]):
            if call.usable:
                for clause, args in self.history.deeds[call.index].causes:
                    if (clause.effect, args) not in undone:
                        yield KeptEffect(clause.effect, args, _receipt(call))

    def _facts(self) -> Iterator[Fact]:
        """What was last seen of every fluent that only the desk changes. Values that a write of plain fluents set are
        kept, unless the remainder sets them again."""
        again = {
            (s.fluent, a) for c in self.rest if c.usable for s, a in self.history.deeds[c.index].sets
        }  # fmt: skip
        open_ended = {f for f, a in again if a is None}
        for (fluent, args), seen in self.history.before[self.cut].items():
            if self.domain.fluents[fluent].volatile:
                continue
            call = seen.call
            own = any(s.fluent == fluent and a == args for s, a in self.history.deeds[call.index].sets)
            kept = own and call.tool is not None and plain(call.tool)
            kept = kept and (fluent, args) not in again and fluent not in open_ended
            yield Fact(fluent, args, seen.value, kept, _receipt(call))

    def _allow(self) -> Iterator[str]:
        """Every read that changes nothing, and what else the remainder calls."""
        called = {c.name for c in self.rest}
        for tool in self.domain.tools.values():
            if tool.actor == "agent" and (not tool.writes or tool.name in called):
                yield tool.name

    def _limits(self, kept: tuple[KeptEffect, ...]) -> Iterator[Limit]:
        owed = [g.effect for o in self.goals.owed for g in o.obligation.goals if hasattr(g, "effect")]
        for effect in sorted(set(owed)):
            count = owed.count(effect) + sum(k.effect == effect for k in kept)
            yield Limit("count", effect, tuple(None for _ in self.domain.effects[effect].params), None, count)

    # -- what the remainder relies on -----------------------------------------------------------------------------

    def _expect(self, kept: tuple[KeptEffect, ...], facts: tuple[Fact, ...]) -> None:
        names = {("name", n.name): n.value for n in self.arguments.names().values()}
        for call in self.rest:
            params = {("param", n): e for n, e in self.arguments.args[call.index].items()}
            for required in call.tool.requires if call.tool is not None else ():
                for c in conjuncts(required):
                    said = self.history.requires(call, c) and self._say(
                        Rewriter(self.history, self.arguments, call, params), c, "requires"
                    )
                    if not said:
                        self.unseen.append(Gap("unseen", call.id, show_expr(c), frozenset({"DEP004"})))
        for owed in self.goals.owed:
            exists = owed.exists
            for tie in exists.ties:
                passed = {("exists", n): e for n, e in exists.passed.items()}
                values = {**names, **{("exists", n): v for n, v in exists.values.items()}}
                self._say(Rewriter(self.history, self.arguments, owed.call, passed, values), tie, "where")
        self._apart(kept, facts)

    def _say(self, rewriter: Rewriter, condition: Expr, why: str) -> bool:
        """Expects the condition of receipts. False when nobody has seen what it asks for: a checker must say so."""
        try:
            found = rewriter.condition(condition)
        except Inexpressible:
            return False
        for c in found:
            self._add(rewriter.call, c, why)
        return True

    def _gaps(self) -> Iterator[Gap]:
        codes = {"no source": {"GRD001"}, "wrong source": {"GRD002"}, "wrong type": {"TYP004"}}
        for use in self.arguments.uses:
            if use.support != "supported":
                where = "" if use.place is None else f", only at {_shown(use)}"
                what = f"{use.param.name} {show_value(use.leaf.value, use.leaf.type)}{where}"
                yield Gap(use.support, use.call.id, what, frozenset(codes[use.support]))
        yield from self.unseen
        for call in self.run.calls[self.cut :]:
            if call.failed and call.tool is not None and call.tool.writes:
                yield Gap("failed write", call.id, call.name, frozenset({"SCP001", "SCP002", "DEP004"}))
            if call.problem is not None:
                yield Gap("untyped", call.id, call.problem, frozenset({"TYP001", "TYP002", "TYP003", "TYP004"}))

    def _add(self, call: Recorded, condition: Expr, why: str) -> None:
        """Expects the condition as soon as its last receipt is there; ``call`` relies on it and waits for that."""
        node = f"c{latest(condition)}"
        self.relied.setdefault(call.index, set()).add(node)
        if not any(e.node == node and e.condition == condition for e in self.expectations):
            self.expectations.append(Expectation(node, condition, why))

    def _apart(self, kept: tuple[KeptEffect, ...], facts: tuple[Fact, ...]) -> None:
        writers = [c for c in self.rest if c.tool is not None and (c.tool.sets or c.tool.causes)]
        fixed = [(f"{k.effect}()", self._key(k)) for k in kept if self.domain.effects[k.effect].once]
        fixed += [(f.fluent, f.args) for f in facts if f.kept]
        for n, call in enumerate(writers):
            differences = [d for other in writers[:n] for d in self.footprints.differences(other, call)]
            differences += self.footprints.from_kept(call, fixed)
            for d in differences:
                if any(isinstance(x, NodeResult) for x in walk(d)) and latest(d) < call.index:
                    self._add(call, d, "apart")
                    if isinstance(d, Apply):
                        self.footprints.different.add(frozenset(d.args))

    def _key(self, kept: KeptEffect) -> tuple[Value, ...]:
        return tuple(kept.args[i] for i in self.domain.effects[kept.effect].key)

    def _either_way(self, first: str, second: str) -> bool:
        a, b = self.run.calls[int(first[1:])], self.run.calls[int(second[1:])]
        relies = first in self.relied.get(b.index, ()) or second in self.relied.get(a.index, ())
        return not relies and not self.footprints.met(a, b)

    # -- the proposal -------------------------------------------------------------------------------------------

    def _proposal(self) -> tuple[Proposal, frozenset[tuple[str, str]]]:
        nodes: list[Call | Terminal] = []
        before: dict[str, set[str]] = {}
        added: set[tuple[str, str]] = set()
        missed: Recorded | None = None
        for call in self.rest:
            when = _outcome(missed, "failed") if missed is not None else None
            mine = [e.condition for e in self.expectations if e.node == call.id]
            mine = [c for c in mine if not implied(c, mine)]
            args = self.arguments.args[call.index]
            known = _nodes([*args.values(), *mine, *([when] if when is not None else [])]) - {call.id}
            seen = set(known).union(*(before.get(k, set()) for k in known))
            after = []
            for other in reversed(self.rest):
                relies = other.id in self.relied.get(call.index, ()) or self.footprints.conflicts(other, call)
                if other.index < call.index and other.id not in seen and relies:
                    after.append(other.id)
                    added.add((other.id, call.id))
                    seen |= {other.id} | before[other.id]
            before[call.id] = seen
            nodes.append(
                Call(call.id, call.name, args, when=when, after=tuple(reversed(after)), expect=conjunction(mine))
            )
            missed = call if call.failed else missed
        claims = tuple(o.obligation.name for o in self.goals.owed)
        nodes.append(Terminal("end", "done", claims, when=_outcome(missed, "failed") if missed is not None else None))
        for call in self.rest:
            if call.failed:
                reason = f"{call.name} succeeded; when this run was recorded it failed"
                nodes.append(Terminal(f"back{call.index}", "yield", reason=reason, when=_outcome(call, "ok")))
        self.expectations = [
            e for e in self.expectations
            if any(isinstance(n, Call) and n.id == e.node and e.condition in conjuncts(n.expect) for n in nodes)
        ]  # fmt: skip
        return Proposal(f"{self.name}_rest", self.name, tuple(nodes)), frozenset(added)


def _receipt(call: Recorded) -> Origin:
    return Origin("receipt", receipt=call.id, tool=call.name)


def _shown(use: Use) -> str:
    if use.place is None or use.place.call is None:
        return "the request"
    return ".".join((use.place.call.name, *use.place.leaf.names))


def _outcome(call: Recorded, status: str) -> Expr:
    return Outcome(node=call.id, status="failed" if status == "failed" else "ok", type=BOOL)


def _nodes(exprs: list[Expr]) -> set[str]:
    return {x.node for e in exprs for x in walk(e) if isinstance(x, NodeResult | Outcome)}


__all__ = ["Case", "Expectation", "Gap", "Handoff", "handoffs"]
