"""Turns the calls that a successor made under a contract into nodes: sources, expectations, order, coverage.

What the replica returned decides which condition held and which obligation was discharged; the graph says it of live
receipts. A condition that no receipt can show is reported, and so is a value without a source: it stays as it was
given, and admission judges it. A value that several receipts show is reported as well, and all of them are expected to
agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cfrc.handoff.closing.bridge import Bridge, conjunction
from cfrc.handoff.closing.evidence import By, Evidenced, discharged
from cfrc.handoff.closing.expects import Inexpressible, Rewriter
from cfrc.handoff.closing.history import History, Seen
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.notes import Note
from cfrc.handoff.closing.passed import Passed
from cfrc.handoff.closing.pinned import Pinned, fixed
from cfrc.handoff.closing.settled import doubted, refuters
from cfrc.handoff.closing.tracing import Tracer, own, reads_result
from cfrc.handoff.closing.unify import expanded, same
from cfrc.model.contract import Contract, EffectGoal, Obligation, StateGoal
from cfrc.model.domain import EffectClause
from cfrc.model.expr import (
    Apply,
    Build,
    Discharge,
    Expr,
    FluentRead,
    Lit,
    NodeResult,
    Var,
    conjuncts,
    rebuild,
    walk,
)  # fmt: skip
from cfrc.model.footprint import Wild
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.instances import Signatures
from cfrc.model.matching import free
from cfrc.model.show import show_expr, show_instance
from cfrc.model.types import BOOL
from cfrc.model.values import Value


@dataclass(slots=True)
class Footprint(Pinned):
    """``ordered`` are the effects and fluents of obligations of which one must come before the other: what realizes
    them keeps its order."""

    ordered: frozenset[str] = frozenset()

    def conflicts(self, a: Made, b: Made) -> bool:
        return Pinned.conflicts(self, a, b) or (self._realizes(a) and self._realizes(b))

    def _realizes(self, call: Made) -> bool:
        tool = call.tool
        if tool is None or not self.ordered:
            return False
        effects = (*tool.causes, *tool.undoes, *tool.witnesses, *tool.refutes)
        return any(e.effect in self.ordered for e in effects) or any(s.fluent in self.ordered for s in tool.sets)


class Closer(Tracer):
    """Says conditions of receipts, also those that read no fluent but an argument taken from a receipt."""

    def _relevant(self, e: Expr) -> bool:
        return True


class Closing(Bridge):
    """One closing. ``notes`` is what must be said about it."""

    def __init__(self, contract: Contract, calls: Sequence[Made], draft: Mapping[str, Call]) -> None:
        self.contract, self.draft = contract, draft
        self.names: dict[tuple[str, str], Value] = {("name", n.name): n.value for n in contract.names.values()}
        passed = Passed(contract, calls, draft)
        self.bound, self.notes, self.tied = passed.bound, passed.notes, passed.tied
        sig = Signatures(contract.domain)
        start = {(f.fluent, sig.fluent(f.fluent, f.args)): Seen(f.value, None) for f in contract.facts}
        history = History(contract.domain, self.bound.calls, start)
        footprints = Footprint(history, self.bound, pinned=self._pinned, ordered=_ordered(contract))
        super().__init__(history, self.bound, footprints)
        self.evidence: Evidenced = discharged(contract, self.bound.calls)
        while self.end in self.place:
            self.end += "_"

    def proposal(self, name: str) -> Proposal:
        """The closed graph: the calls that were given, no more and no fewer."""
        for call, agreed in self.tied:
            self._add(call, agreed, "same")
        for call in self.rest:
            self._requires(call)
            self._doubts(call)
        for name_, option in self.evidence.chosen.items():
            self._owed(self._obligation(name_), option.nodes)
        for o in self.contract.obligations:
            if o.name in self.evidence.idle and o.condition is not None:
                self._idle(o, o.condition)
        self._apart(self.contract.kept, self.contract.facts)
        claims = tuple(o.name for o in self.contract.obligations if o.name in self.evidence.chosen)
        nodes = {n.id: n for n in self._nodes(claims)}
        given = [self._finished(nodes[c.id], c) if c.id in nodes else self.draft[c.id] for c in self.bound.calls]
        ends = [n for n in nodes.values() if isinstance(n, Terminal)]
        return Proposal(name, self.contract.name, (*given, *ends), answers=self.contract.digest or None)

    def _obligation(self, name: str) -> Obligation:
        return next(o for o in self.contract.obligations if o.name == name)

    def _finished(self, node: Call | Terminal, call: Made) -> Call:
        """The node with what the successor wrote itself, and what it covers."""
        given = self.draft[call.id]
        assert isinstance(node, Call)
        expect = conjunction(list(dict.fromkeys((*conjuncts(given.expect), *conjuncts(node.expect)))))
        after = tuple(dict.fromkeys((*given.after, *node.after)))
        covers = tuple(n for n, by in self.evidence.chosen.items() if self._serves(call, self._obligation(n), by))
        return replace(
            node, when=node.when if given.when is None else given.when, after=after, until=given.until,
            polls=given.polls, expect=expect, covers=covers, faults=given.faults,
        )  # fmt: skip

    def _serves(self, call: Made, o: Obligation, by: By) -> bool:
        """Whether the obligation is discharged by the call: by its receipt, or by a state that it had a part in."""
        goal = o.goals[by.goal]
        if isinstance(goal, EffectGoal):
            return call.id in by.nodes
        read = {x.fluent for x in walk(goal.condition) if isinstance(x, FluentRead)}
        return call.usable and any(clause.fluent in read for clause, _ in self.history.deeds[call.index].sets)

    # -- expectations -------------------------------------------------------------------------------------------------

    def _tracer(self, call: Made) -> Closer:
        return Closer(self.history, self.bound, call, own(self.bound, call), self.names)

    def _requires(self, call: Made) -> None:
        for required in call.tool.requires if call.tool is not None else ():
            for c in conjuncts(required):
                held = self.history.requires(call, c)
                if held is False:
                    self._unseen(call, c, "was false on the replica")
                elif held is None or not self._say(self._tracer(call), c, "requires"):
                    self._unseen(call, c, "is not shown by any receipt or fact")

    def _doubts(self, call: Made) -> None:
        """What is in doubt did not happen, or is something else than what the call causes."""
        for doubt, clause, place in doubted(self.contract, self.history, call):
            wanted = clause.args[place] if place is not None else None
            if wanted is not None and place is not None:
                source = expanded(self._tracer(call).rewrite(wanted))
                value = doubt.args[place]
                if reads_result(source) and not isinstance(value, Wild):
                    other = Lit(value=value, type=source.type)
                    self._add(call, Apply(op="!=", args=(source, other), type=BOOL), "apart")
                continue
            refuter, conditions = next(refuters(self.history, doubt, self.rest[: self.rest.index(call)]), (None, ()))
            if refuter is None:
                shown = show_instance(doubt.effect, doubt.args, self.domain.effects[doubt.effect].params)
                self.notes.append(Note("CLO003", f"`{call.id}` may repeat `{shown}`, which nothing refutes", call.id))
                continue
            self.relied.setdefault(call.index, set()).add(refuter.id)
            for c in conditions:
                for said in self._tracer(refuter).condition(c):
                    self._add(call, said, "refuted")

    def _unseen(self, call: Made, c: Expr, why: str) -> None:
        self.notes.append(Note("CLO003", f"`{call.id}` requires `{show_expr(c)}`, which {why}", call.id))

    def _unshown(self, o: Obligation, c: Expr, call: Made | None = None) -> None:
        node = call.id if call is not None else None
        self.notes.append(Note("CLO003", f"`{o.name}` needs `{show_expr(c)}`, which no receipt shows", node))

    def _owed(self, o: Obligation, nodes: tuple[str, ...]) -> None:
        """What the discharge of an obligation relies on."""
        goal = o.goals[self.evidence.chosen[o.name].goal]
        if isinstance(goal, StateGoal):
            self._state(o, goal)
            return
        for node in nodes:
            self._effect(o, goal, self.place[node])

    def _idle(self, o: Obligation, condition: Expr) -> None:
        """What is not owed, because its ``if`` was seen to be false, relies on that."""
        asked = Apply(op="not", args=(condition,), type=BOOL)
        if not self._say(Rewriter(self.history, self.bound, self._end_call(), {}, self.names), asked, "idle"):
            self._unshown(o, asked)

    def _end_call(self) -> Made:
        return Made(len(self.bound.calls), self.end, None, {}, None, False, False, label=self.end)

    def _state(self, o: Obligation, goal: StateGoal) -> None:
        for c in conjuncts(self._referred(goal.condition)):
            if not o.exists and not self._say(self._at_end(), c, "where"):
                self._unshown(o, c)

    def _at_end(self) -> Closer:
        """Says what holds after the last call."""
        return Closer(self.history, self.bound, self._end_call(), {}, self.names)

    def _effect(self, o: Obligation, goal: EffectGoal, call: Made) -> None:
        assert call.tool is not None
        tracer = self._tracer(call)
        for clause in (*call.tool.causes, *call.tool.witnesses):
            if clause.effect != goal.effect or not self._applied(clause, call):
                continue
            for c in conjuncts(clause.when):
                if not self._say(tracer, c, "where"):
                    self.notes.append(
                        Note("CLO003", f"`{o.name}` needs `{show_expr(c)}`, which no receipt shows", call.id)
                    )
            values = self.evidence.binding(o, call)
            passed = dict(self._matched(goal, clause, tracer, values))
            self._where(o, call, passed, values)
            return

    def _applied(self, clause: EffectClause, call: Made) -> bool:
        deed = self.history.deeds[call.index]
        return any(c is clause for c, _ in deed.causes) or clause in call.tool.witnesses  # type: ignore[union-attr]

    def _matched(
        self, goal: EffectGoal, clause: EffectClause, tracer: Closer, values: Mapping[str, Value]
    ) -> Iterator[tuple[str, Expr]]:
        """Expects that what a receipt says is what the goal says; yields the source of each existential."""
        for wanted, given in zip(goal.args, clause.args, strict=True):
            if wanted is None or given is None:
                continue
            try:
                source = expanded(tracer.rewrite(given))
                said = self._at_end().rewrite(self._referred(wanted))
            except Inexpressible:
                self.notes.append(
                    Note("CLO003", f"no receipt shows `{show_expr(wanted)}`, which is owed", tracer.call.id)
                )
                continue
            yield from self._unified(said, source, tracer.call, values)

    def _unified(
        self, wanted: Expr, source: Expr, call: Made, values: Mapping[str, Value]
    ) -> Iterator[tuple[str, Expr]]:
        match wanted, source:
            case Var(kind="exists", name=name), _:
                yield name, source
            case Build(kind=kind, items=theirs), Build(items=ours) if len(theirs) == len(ours):
                for w, s in self._paired(theirs, ours, values) if kind == "bag" else zip(theirs, ours, strict=True):
                    yield from self._unified(w, s, call, values)
            case _ if not free(wanted) and wanted != source and (reads_result(source) or reads_result(wanted)):
                self._add(call, Apply(op="==", args=(source, wanted), type=BOOL), "where")

    def _referred(self, e: Expr) -> Expr:
        """The receipts of other obligations as the results of the calls that discharge them."""
        if isinstance(e, Discharge):
            by = self.evidence.chosen.get(e.obligation)
            return NodeResult(node=by.nodes[0], type=e.type) if by is not None and by.nodes else e
        return rebuild(e, self._referred)

    def _paired(
        self, theirs: tuple[Expr, ...], ours: tuple[Expr, ...], values: Mapping[str, Value]
    ) -> Iterator[tuple[Expr, Expr]]:
        """The elements of two bags that were the same."""
        env = self.evidence.env.child({("exists", n): v for n, v in values.items()})
        env.results = {c.id: c.result for c in self.bound.calls if c.usable}
        left = list(ours)
        for w in theirs:
            mine = next((s for s in left if same(w, s, env)), None)
            if mine is not None:
                left.remove(mine)
                yield w, mine

    def _where(self, o: Obligation, call: Made, passed: Mapping[str, Expr], values: Mapping[str, Value]) -> None:
        if o.where is None:
            return
        known = {**self.names, **{("exists", n): v for n, v in values.items()}}
        vars_: dict[tuple[str, str], Expr] = {("exists", n): e for n, e in passed.items()}
        for c in conjuncts(self._referred(o.where)):
            tracer = Closer(self.history, self.bound, call, vars_, known)
            if free(c) - set(passed) or not self._say(tracer, c, "where"):
                self._unshown(o, c, call)

    def _pinned(self, e: Expr) -> bool:
        """Whether the remainder expects the value to be what it was."""
        return any(
            isinstance(x.condition, Apply) and x.condition.op == "==" and x.condition.args[0] == e
            and fixed(x.condition.args[1])
            for x in self.expectations
        )  # fmt: skip


def _ordered(contract: Contract) -> frozenset[str]:
    """The effects and fluents of the obligations that an order binds."""
    bound = {n for o in contract.obligations if o.before for n in (o.name, *o.before)}
    found: set[str] = set()
    for o in contract.obligations:
        for goal in o.goals if o.name in bound else ():
            if isinstance(goal, EffectGoal):
                found.add(goal.effect)
            else:
                found |= {x.fluent for x in walk(goal.condition) if isinstance(x, FluentRead)}
    return frozenset(found)


__all__ = ["Closing"]
