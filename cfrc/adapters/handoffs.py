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
from cfrc.adapters.goals import Goals, Owed
from cfrc.adapters.runs import TaskRun
from cfrc.handoff.closing.bridge import Bridge, Expectation
from cfrc.handoff.closing.expects import Rewriter
from cfrc.handoff.closing.history import History, plain
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.order import Footprints
from cfrc.model.contract import Contract, Fact, KeptEffect, Limit, Origin
from cfrc.model.domain import Domain
from cfrc.model.expr import conjuncts
from cfrc.model.graph import Proposal
from cfrc.model.show import show_expr, show_value
from cfrc.model.values import Value


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
    def failures(self) -> tuple[Made, ...]:
        return tuple(c for c in self.run.calls[self.cut :] if c.failed)


def handoffs(domain: Domain, run: TaskRun) -> Iterator[Case]:
    """The cases of one run, one for each cut from before the first call to after the last."""
    history = History(domain, run.calls)
    for cut in range(len(run.calls) + 1):
        yield Handoff(history, run, cut).case()


class Handoff(Bridge):
    """Builds the case of one cut, step by step; a subclass may build other obligations, expectations or order."""

    def __init__(self, history: History, run: TaskRun, cut: int) -> None:
        self.run, self.cut = run, cut
        self.arguments: Arguments = Arguments(run, cut)
        super().__init__(history, self.arguments, Footprints(history, self.arguments))
        self.goals = Goals(history, self.arguments)
        self.unseen: list[Gap] = []
        self.name = f"task_{''.join(c if c.isalnum() else '_' for c in run.id)}_cut_{cut}"

    def case(self) -> Case:
        kept = tuple(self._kept())
        facts = tuple(self._facts())
        self._expect(kept, facts)
        proposal = Proposal(
            f"{self.name}_rest", self.name, self._nodes(tuple(o.obligation.name for o in self.goals.owed))
        )
        added = frozenset(self.added)
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
            assert call is not None  # nothing was known before the first call
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

    def _either_way(self, first: str, second: str) -> bool:
        a, b = self.run.calls[int(first[1:])], self.run.calls[int(second[1:])]
        relies = first in self.relied.get(b.index, ()) or second in self.relied.get(a.index, ())
        return not relies and not self.footprints.met(a, b)


def _receipt(call: Made) -> Origin:
    return Origin("receipt", receipt=call.id, tool=call.name)


def _shown(use: Use) -> str:
    if use.place is None or use.place.call is None:
        return "the request"
    return ".".join((use.place.call.name, *use.place.leaf.names))


__all__ = ["Case", "Expectation", "Gap", "Handoff", "handoffs"]
