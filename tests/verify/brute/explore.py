"""Turns a contract and a proposal into all that can go wrong, by visiting every reachable state (semantics §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from cfrc.model.contract import Contract, Obligation, StateGoal
from cfrc.model.expr import FluentRead, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.scenario import Scenario
from tests.verify.brute.doing import exceeded, full_args
from tests.verify.brute.evaluate import ev
from tests.verify.brute.goals import assign, dischargers, holding, true
from tests.verify.brute.setting import Setting
from tests.verify.brute.state import (
    DEAD,
    FAIL,
    OK,
    READY,
    SETTLED,
    SKIP,
    WAITING,
    NotOk,
    State,
    Undefined,
)
from tests.verify.brute.static import STRUCTURE, Finding, handles, static
from tests.verify.brute.steps import arguments, branch, perform
from tests.verify.brute.story import scenario

LIMIT = 60_000


class TooLarge(Exception):
    """The case has more states than brute force is meant for."""


@dataclass(frozen=True, slots=True)
class Report:
    """``findings`` are (kind, code), and ``runs`` show them; ``done`` says whether some run ends in ``done``.

    ``returned`` are the calls that return in some run.

    ``exact`` is false when the graph is too broken to run: then only the findings of its text are known.
    """

    findings: frozenset[Finding]
    done: bool
    exact: bool
    states: int
    runs: Mapping[Finding, Scenario] = field(default_factory=dict)
    returned: frozenset[str] = frozenset()

    @property
    def admitted(self) -> bool:
        return not self.findings

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(k for k, _ in self.findings)

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(c for _, c in self.findings)


def decide(contract: Contract, proposal: Proposal, limit: int = LIMIT) -> Report:
    """The judgement z ⊢ H, by enumeration.

    Raises:
        TooLarge: more than ``limit`` states are reachable.
    """
    found = static(contract, proposal)
    if any(code.startswith(STRUCTURE) and code != "TYP010" for _, code in found):
        return Report(frozenset(found), False, False, 0)
    run = Run(contract, proposal, found)
    run.explore(limit)
    if not run.found and not run.done:
        run.found.add(("coverage", "COV002"))
    runs = {f: scenario(run.z, s) for f, s in run.runs.items()}
    return Report(frozenset(run.found), run.done, True, len(run.visited), runs, frozenset(run.returned))


class Run:
    """The search over reachable states, and what it has found."""

    def __init__(self, contract: Contract, proposal: Proposal, found: set[Finding]) -> None:
        self.z = Setting(contract, proposal)
        self.found = found
        self.done = False
        self.visited: set[object] = set()
        self.runs: dict[Finding, State] = {}
        self.returned: set[str] = set()
        self.covered: dict[str, set[str]] = {}

    def note(self, findings: set[Finding], state: State) -> None:
        """Takes what is wrong, and the state whose log and momentary values show it."""
        self.found |= findings
        for f in findings:
            self.runs.setdefault(f, state)

    def explore(self, limit: int) -> None:
        stack = [s for s in self._initial()]
        while stack:
            state = stack.pop()
            key = state.key()
            if key in self.visited:
                continue
            self.visited.add(key)
            if len(self.visited) > limit:
                raise TooLarge
            enabled = [n for n, x in state.x.items() if x == READY]
            if not enabled:
                self._end(state)
            for name in enabled:
                after = branch([state], lambda s, n=name: perform(self.z, n, s, self.note), self.z)  # type: ignore[misc]
                for new in after:
                    self._record_coverage(name, new)
                    stack.extend(branch([new], self._settle, self.z))
        self._annotations()

    def _initial(self) -> Iterator[State]:
        z = self.z
        calls = [None if d.call is None else (d.call[0], full_args(z, *d.call)) for d in z.contract.doubts]
        doubts = [(z.identity(d.effect, d.args), "?", c) for d, c in zip(z.contract.doubts, calls, strict=True)]
        known = tuple(sorted(doubts, key=repr))
        first = State(
            dict.fromkeys(z.calls, WAITING), dict.fromkeys(z.calls, 0), dict(z.first), {}, {}, (), known,
            frozenset(), frozenset(), {}, frozenset(),
        )  # fmt: skip

        def freeze(state: State) -> list[State]:
            """The active obligations are those whose condition holds in the freeze state."""
            new = state.copy()
            new.active = frozenset(
                o.name for o in z.contract.obligations if o.condition is None or true(o.condition, z.scene(state))
            )
            if any(o.before for o in z.contract.obligations):
                new.steps = ((frozenset(), holding(z, state)),)
            if exceeded(z, new, z.scene(new)):
                self.note({("scope", "SCP004")}, new)
            new.initial.update(new.now)
            new.now = {}
            # a kept volatile value is that of the freeze only: no observation or own write pins it (§2, ENV)
            for kept in [i for i in new.w if z.domain.fluents[i[0]].volatile]:
                new.initial[kept] = new.w.pop(kept)
            return [new]

        for frozen in branch([first], freeze, z):
            yield from branch([frozen], self._settle, z)

    def _settle(self, state: State) -> list[State]:
        """Settles what needs no call, and marks what is enabled; nothing when a guard has no value."""
        new = state.copy()
        changed = True
        while changed:
            changed = False
            for name, call in self.z.calls.items():
                if new.x[name] == WAITING and all(new.x[p] in SETTLED for p in self.z.preds[name]):
                    try:
                        new.x[name] = self._status(call, new)
                    except Undefined:
                        return []
                    except NotOk:
                        self.note({("dependency", "DEP003")}, new)
                        return []
                    changed = True
        for name in list(new.feet):
            if all(new.x[o] in SETTLED for o in self.z.unordered[name]):
                del new.feet[name]
        return [new]

    def _status(self, node: Call | Terminal, state: State) -> str:
        before = [(p, state.x[p]) for p in self.z.preds[node.id] if p in state.x]
        if any(x == DEAD or (x == FAIL and not handles(node, p)) for p, x in before):
            return DEAD
        if node.when is not None and not ev(node.when, self.z.scene(state)):
            return SKIP
        if isinstance(node, Call):
            arguments(self.z, node, state)
        return READY

    def _end(self, state: State) -> None:
        """END(T): judges coverage and evidence. All slots that the judgement reads are branched over."""

        def judge(s: State) -> list[State]:
            self.note(self._judge(s), s)
            return []

        list(branch([state], judge, self.z))

    def _judge(self, state: State) -> set[Finding]:
        z = self.z
        found: set[Finding] = set()
        try:
            fired = [t for t in z.terminals.values() if self._status(t, state) == READY]
        except Undefined:
            return found
        except NotOk:
            return {("dependency", "DEP003")}
        if len(fired) > 1:
            found.add(("evidence", "EVD001"))
        for t in fired:
            ran = {n for n, x in state.x.items() if x in (OK, FAIL)}
            if t.after is not None and not ran <= z.before[t.id]:
                found.add(("evidence", "EVD003"))
            claimed = [z.obligations[c] for c in t.claims if c in z.obligations]
            if not self._discharged(state, claimed):
                found.add(("evidence", "EVD004"))
        if len(fired) == 1 and fired[0].kind == "done":
            found |= self._coverage(state)
            self.done = True
        return found

    def _discharged(self, state: State, claimed: list[Obligation]) -> bool:
        z = self.z
        goals = [o for o in z.contract.obligations if o in claimed and o.name in state.active]
        scene = z.scene(state)
        for o in claimed:
            if all(isinstance(g, StateGoal) and not true(g.condition, scene) for g in o.goals):
                return False
            if o.choice == "one" and self._met(o, state) > 1:
                return False
        # what is claimed though it is not owed has its evidence all the same, each by itself
        return assign(z, goals, state) and all(assign(z, [o], state) for o in claimed if o not in goals)

    def _coverage(self, state: State) -> set[Finding]:
        z = self.z
        found: set[Finding] = set()
        active = [o for o in z.contract.obligations if o.name in state.active]
        scene = z.scene(state)
        for o in active:
            if all(isinstance(g, StateGoal) and not true(g.condition, scene) for g in o.goals):
                found.add(("coverage", "COV004"))
            if o.choice == "one" and self._met(o, state) > 1:
                found.add(("coverage", "COV005"))
        if not assign(z, active, state):
            found.add(("coverage", "COV001"))
        elif not assign(z, active, state, ordered=True):
            found.add(("coverage", "COV003"))
        return found

    def _met(self, o: Obligation, state: State) -> int:
        """How many alternatives of the obligation are met."""
        parts = [replace(o, goals=(g,)) for g in o.goals if not isinstance(g, StateGoal)]
        states = [g for g in o.goals if isinstance(g, StateGoal) and true(g.condition, self.z.scene(state))]
        return len(states) + sum(any(True for _ in dischargers(self.z, p, state)) for p in parts)

    def _record_coverage(self, name: str, state: State) -> None:
        """Notes that a call returned, and which of its annotated obligations it bears out."""
        if not any(e.node == name and e.outcome == "ok" for e in state.log):
            return
        self.returned.add(name)
        if self.z.calls[name].covers:
            owed = [self.z.obligations[c] for c in self.z.calls[name].covers if c in self.z.obligations]
            met = self.covered.setdefault(name, set())
            for found in branch([state], lambda s: self._met_by(name, owed, s), self.z):
                met |= found.active

    def _met_by(self, name: str, owed: list[Obligation], state: State) -> list[State]:
        new = state.copy()
        new.active = frozenset(
            o.name for o in owed if self._sets(name, o) or any(h.node == name for h in dischargers(self.z, o, state))
        )
        return [new]

    def _sets(self, name: str, o: Obligation) -> bool:
        """Whether the call sets a fluent that a state is owed of."""
        owed = {x.fluent for g in o.goals if isinstance(g, StateGoal) for x in walk(g.condition)
                if isinstance(x, FluentRead)}  # fmt: skip
        return any(s.fluent in owed for s in self.z.domain.tools[self.z.tools[name]].sets)

    def _annotations(self) -> None:
        """COV006: a call that can return says that it covers an obligation, and in no run it does."""
        if any(not set(self.z.calls[n].covers) <= met for n, met in self.covered.items()):
            self.found.add(("coverage", "COV006"))
