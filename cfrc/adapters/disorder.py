"""Turns a whole run into the same run with its order broken, and says which of these are no fault in truth.

A call *prepares* a later one if it set what the later one requires: a policy read, a preview. Each preparation is left
out, moved behind a call that needs it, swapped with it, replaced by the preparation of something else, or left without
an order. The changed run is built anew like any other (values that came from a dropped call find another source or
none), against the contract of the unchanged run. Whether a change is a fault is not asked of the checker: the changed
run is walked through on its recorded values, and if every ``requires`` still held, it is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from cfrc.adapters.arguments import Arguments
from cfrc.adapters.edits import edit
from cfrc.adapters.handoffs import Case
from cfrc.adapters.mutants import Mutant
from cfrc.adapters.orderly import whole
from cfrc.adapters.sources import Places
from cfrc.handoff.closing.expects import Rewriter
from cfrc.handoff.closing.history import History
from cfrc.handoff.closing.made import Made
from cfrc.model.domain import Param
from cfrc.model.evaluate import Undefined, evaluate
from cfrc.model.expr import Expr, FluentRead, NodeResult, Var, conjuncts, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.types import Enum, Id
from cfrc.model.values import Record, Value, record

Sequence = list[Made]
"""The calls of a changed run, in order; each keeps the index it was recorded with."""


def disorders(case: Case, most: int | None = None) -> Iterator[Mutant]:
    """All single disorders of the case's run, at most ``most`` of each rule."""
    if case.proposal is None or case.failures:
        return
    view = _Run(case, case.proposal)
    for rule in RULES:
        yield from islice(rule(view), most)


@dataclass(slots=True)
class _Run:
    case: Case
    proposal: Proposal
    needs: dict[int, list[int]] = field(init=False)
    """Preparation → the calls that require it, by index."""

    def __post_init__(self) -> None:
        self.needs = {}
        history = self.case.history
        for call in history.calls:
            for preparation in sorted({p.index for p in _preparations(history, call)}):
                self.needs.setdefault(preparation, []).append(call.index)

    @property
    def calls(self) -> Sequence:
        return list(self.case.history.calls)

    def kind(self, preparation: int) -> str:
        tool = self.calls[preparation].tool
        return "the preview" if tool is not None and tool.kind == "write" else "the policy read"

    def mutant(self, rule: str, what: str, calls: Sequence) -> Mutant:
        """The changed run as a proposal for the contract of the unchanged one."""
        numbered = tuple(replace(c, index=i) for i, c in enumerate(calls))
        run = replace(self.case.run, calls=numbered)
        changed = next(iter(whole(self.case.history.domain, run)))
        assert changed.proposal is not None
        proposal = _renamed(self.case, changed, calls)
        prepared = _no_fault(changed.history)
        if prepared is not None and changed.gaps:
            # what is required is there all the same, but the dropped call alone showed a value that is passed
            return Mutant(rule, f"{what}, which alone shows a value", proposal, frozenset({"grounding"}))
        return Mutant(rule, what, proposal, frozenset({"dependency"}), equivalent=prepared)


def _preparations(history: History, call: Made) -> Iterator[Made]:
    """The calls that set what this one requires and got."""
    for required in call.tool.requires if call.tool is not None else ():
        for c in conjuncts(required):
            for x in walk(c):
                if isinstance(x, FluentRead):
                    seen = history.before[call.index].get((x.fluent, _values(x, history, call)))
                    shown = None if seen is None else seen.call
                    tool = None if shown is None else shown.tool
                    if shown is not None and tool is not None and any(s.fluent == x.fluent for s in tool.sets):
                        yield shown


def _values(x: FluentRead, history: History, call: Made) -> tuple[Value, ...]:
    try:
        return tuple(evaluate(a, history.env(call)) for a in x.args)
    except Undefined:
        return ()


def _no_fault(history: History) -> str | None:
    """Why the changed run is as good: on the recorded values, every call had what it requires."""
    for call in history.calls:
        for required in call.tool.requires if call.tool is not None else ():
            if not all(history.requires(call, c) for c in conjuncts(required)):
                return None
    return "the same was read or previewed before, too"


@dataclass(slots=True)
class _Renamer(Rewriter):
    """Gives the nodes and names of a changed run the ones they have in the unchanged run."""

    nodes: Mapping[str, str] = field(default_factory=dict)

    def rewrite(self, e: Expr) -> Expr:
        if isinstance(e, NodeResult):
            return replace(e, node=self.nodes[e.node])
        return Rewriter.rewrite(self, e)

    def node(self, n: Call | Terminal, original: Terminal) -> Call | Terminal:
        if isinstance(n, Terminal):
            return original
        return replace(
            n,
            id=self.nodes[n.id],
            args={k: self.rewrite(e) for k, e in n.args.items()},
            after=tuple(self.nodes[a] for a in n.after),
            expect=None if n.expect is None else self.rewrite(n.expect),
        )


def _renamed(case: Case, changed: Case, calls: Sequence) -> Proposal:
    """The changed run's proposal in the words of the unchanged run's contract."""
    assert case.proposal is not None and changed.proposal is not None
    known = {(n.value, n.type): n.name for n in case.contract.names.values()}
    names: dict[tuple[str, str], Expr] = {
        ("name", n.name): Var(name=known.get((n.value, n.type), n.name), kind="name", type=n.type)
        for n in changed.contract.names.values()
    }
    nodes = {f"c{i}": c.id for i, c in enumerate(calls)}
    end = next(n for n in case.proposal.nodes if isinstance(n, Terminal))
    history = changed.history
    arguments = Arguments(replace(case.run, calls=history.calls), 0)
    renamer = _Renamer(history, arguments, history.calls[0], vars=names, nodes=nodes)
    return replace(case.proposal, nodes=tuple(renamer.node(n, end) for n in changed.proposal.nodes))


# -- the rules --------------------------------------------------------------------------------------------------------


def drop(view: _Run) -> Iterator[Mutant]:
    for p in view.needs:
        calls = [c for c in view.calls if c.index != p]
        yield view.mutant(f"drop {view.kind(p)}", f"c{p}", calls)


def move(view: _Run) -> Iterator[Mutant]:
    for p, needed in view.needs.items():
        for later in dict.fromkeys((needed[0], needed[-1])):
            calls = [c for c in view.calls if c.index != p]
            calls.insert(later, view.calls[p])
            yield view.mutant(f"move {view.kind(p)} behind a call that needs it", f"c{p} behind c{later}", calls)


def swap(view: _Run) -> Iterator[Mutant]:
    for p, needed in view.needs.items():
        calls = view.calls
        calls[p], calls[needed[0]] = calls[needed[0]], calls[p]
        yield view.mutant(f"swap {view.kind(p)} and the first call that needs it", f"c{p}, c{needed[0]}", calls)


def other(view: _Run) -> Iterator[Mutant]:
    """The preparation of something else: another topic, another item that was read before."""
    for p in view.needs:
        for changed in islice(_otherwise(view, view.calls[p]), 1):
            calls = view.calls
            calls[p] = changed
            yield view.mutant(f"{view.kind(p)} of something else", f"c{p}", calls)


def _otherwise(view: _Run, call: Made) -> Iterator[Made]:
    for p in call.tool.params if call.tool is not None else ():
        for value in _values_like(view, call, p):
            args = {**call.args, p.name: value}
            result = call.result
            if isinstance(result, Record) and p.name in result and result.get(p.name) == call.args[p.name]:
                result = record({n: value if n == p.name else v for n, v in result.items})
            yield replace(call, args=args, result=result)


def _values_like(view: _Run, call: Made, p: Param) -> Iterator[Value]:
    if p.name not in call.args:
        return
    match p.type:
        case Enum(members=members):
            yield from (m for m in members if m != call.args[p.name])
        case Id():
            places = Places(view.case.run, call.index).others(p.type, [call.args[p.name]])
            yield from (place.leaf.value for place in places)


def loosen(view: _Run) -> Iterator[Mutant]:
    """Without the order between a preparation and what needs it, where nothing else keeps it."""
    for p, needed in view.needs.items():
        left = view.proposal
        for n in left.nodes:
            if isinstance(n, Call) and int(n.id[1:]) in needed:
                left = edit(left, replace(n, after=tuple(a for a in n.after if a != f"c{p}")))
        if any(f"c{p}" not in _ancestors(left, f"c{n}") for n in needed):
            fine = _prepared_otherwise(view, p, left)
            kinds = frozenset({"dependency", "preservation"})
            yield Mutant(f"leave {view.kind(p)} unordered", f"c{p}", left, kinds, equivalent=fine)


def _prepared_otherwise(view: _Run, p: int, left: Proposal) -> str | None:
    """Why the order of a preparation does not matter: without it, an earlier one serves that is still in order.

    Only where preparing is unconditional: the proposal does not expect an earlier preview to have been accepted, and a
    preview after its confirmation would undo that the confirmation used it up.
    """
    tool = view.calls[p].tool
    if tool is None or any(s.when is not None for s in tool.sets):
        return None
    calls = [c for c in view.calls if c.index != p]
    numbered = tuple(replace(c, index=i) for i, c in enumerate(calls))
    history = History(view.case.history.domain, numbered)
    for call in numbered:
        before = _ancestors(left, calls[call.index].id)
        if not all(calls[q.index].id in before for q in _preparations(history, call)):
            return None
    return _no_fault(history)


def _ancestors(proposal: Proposal, node: str) -> set[str]:
    before: dict[str, set[str]] = {}
    for n in proposal.nodes:
        if isinstance(n, Call):
            parts = [*n.args.values(), *([n.expect] if n.expect is not None else [])]
            read = {x.node for e in parts for x in walk(e) if isinstance(x, NodeResult)}
            direct = (read | set(n.after)) - {n.id}
            before[n.id] = direct.union(*(before.get(d, set()) for d in direct))
    return before[node]


RULES: tuple[Callable[[_Run], Iterator[Mutant]], ...] = (drop, move, swap, other, loosen)

__all__ = ["RULES", "disorders"]
