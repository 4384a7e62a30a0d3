"""Turns a proposal of literal calls into an admission by table look-ups, without a formula or a replay in sight.

Where no receipt, guard, failure or unknown value can make a difference, one linearization stands for all runs (order
collapse, ``docs/semantics.md`` §4) and one pass over the calls judges everything at once: each argument is a literal
or a name from an allowed source, each tool has a recipe, each fluent that is read is known, and whatever two calls
touch is ordered. Such graphs are the common case of a hot path. This module only ever says "admitted": whatever lies
outside the fragment, or goes wrong, is left to the general way, which explains it. Tests run both against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from cfrc.model import expr as ex
from cfrc.model.canon import needs_canonical
from cfrc.model.contract import Contract, EffectGoal
from cfrc.model.evaluate import Env, Undefined, holds
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.values import Value
from cfrc.verify.conditions import authority
from cfrc.verify.order import arrange
from cfrc.verify.owed import literal_args
from cfrc.verify.recipes import Cell, Recipe, Recipes, Row


@dataclass(frozen=True, slots=True)
class Shortcut:
    """An admission by look-ups: the nodes that it needed, those that it did not, and how many questions it was."""

    needed: tuple[str, ...]
    unneeded: tuple[str, ...]
    questions: int


class Ground:
    """The shortcut for one contract; what does not depend on the proposal is worked out once."""

    def __init__(self, contract: Contract, today: date | datetime) -> None:
        self.contract = contract
        self.today = today
        self.goals = _goals(contract)
        self.recipes = Recipes(contract)
        fluents = contract.domain.fluents
        self.facts: dict[Cell, Value] = {
            (f.fluent, *f.args): f.value for f in contract.facts if not fluents[f.fluent].volatile
        }
        self.kept_facts: dict[Cell, Value] = {(f.fluent, *f.args): f.value for f in contract.facts if f.kept}
        self.kept: set[Cell] = {self.mark((k.effect, *k.args)) for k in contract.kept}

    def mark(self, cell: Cell) -> Cell:
        """What must not be realized twice: the key of a ``once`` effect, the identity of others."""
        effect = self.contract.domain.effects[str(cell[0])]
        return (cell[0], *(cell[i + 1] for i in effect.key)) if effect.once else cell

    @cached_property
    def approvals(self) -> dict[tuple[str, Row], int]:
        """How many calls of a tool with these arguments are approved; an approval names all of them."""
        found: dict[tuple[str, Row], int] = {}
        for group in authority.usable(self.contract, self.today)[0]:
            tool = self.contract.domain.tools.get(group.approval.tool)
            given = dict(group.approval.args)
            if tool is not None and all(p.name in given for p in tool.params):
                key = tool.name, tuple([given[p.name] for p in tool.params])
                found[key] = found.get(key, 0) + group.copies
        return found

    def admit(self, proposal: Proposal) -> Shortcut | None:
        """The admission, or ``None``: outside the fragment, or not to be admitted without a closer look."""
        if self.goals is None or proposal.faults or not self._addressed(proposal):
            return None
        calls = [n for n in proposal.nodes if isinstance(n, Call)]
        done = [n for n in proposal.nodes if isinstance(n, Terminal)]
        ordered = _linear(calls)
        if ordered is None or len(done) != 1:
            return None
        run = _Pass(self, self.goals)
        if not all(run.step(n) for n in ordered) or not run.ends(done[0]):
            return None
        serving = {node for nodes in run.served.values() for node in nodes}
        needed = tuple([n.id for n in calls if n.id in serving])
        unneeded = tuple([n.id for n in calls if n.id not in serving])
        return Shortcut(needed, unneeded, len(calls) * 4 + len(self.goals))

    def _addressed(self, proposal: Proposal) -> bool:
        if proposal.answers is not None:
            return proposal.answers == self.contract.digest
        return not proposal.contract or proposal.contract == self.contract.name


class _Pass:
    """One pass over the calls in a linear order. ``served`` lists the nodes that discharge each goal; ``written`` holds
    the value of each written fluent instance and who wrote it, ``readers`` who has read one since."""

    def __init__(self, ground: Ground, goals: dict[Cell, list[str]]) -> None:
        self.ground = ground
        self.goals = goals
        self.position: dict[str, int] = {}
        self.reach: list[int] = []
        """Per position the bitset of the call and all that precedes it."""
        self.written: dict[Cell, tuple[Value, int]] = {}
        self.readers: dict[Cell, list[int]] = {}
        self.made: set[Cell] = set()
        self.used: Counter[tuple[str, Row]] = Counter()
        self.served: dict[Cell, list[str]] = {}
        self.covers: dict[str, tuple[str, ...]] = {}

    def step(self, n: Call) -> bool:
        """Whether the call does nothing wrong, whichever of the calls before it have been made."""
        if n.when is not None or n.until is not None or n.expect is not None or n.faults:
            return False
        recipe = self.ground.recipes.of(n.tool)
        row = None if recipe is None else _row(recipe, n)
        if recipe is None or row is None:
            return False
        before = 0
        for p in n.after:
            before |= self.reach[self.position[p]]
        own = self.position[n.id] = len(self.reach)
        self.reach.append(before | 1 << own)
        if n.covers:
            self.covers[n.id] = n.covers
        return (
            (not recipe.approved or self._approved(n.tool, row[: len(recipe.slots)]))
            and (not recipe.reads or self._read(recipe, row, own, before))
            and self._cause(recipe, row, n.id)
            and (not recipe.writes or self._write(recipe, row, own, before))
        )

    def _approved(self, tool: str, args: Row) -> bool:
        """Whether there is an approval left for the call."""
        self.used[tool, args] += 1
        return self.used[tool, args] <= self.ground.approvals.get((tool, args), 0)

    def _read(self, recipe: Recipe, row: Row, own: int, before: int) -> bool:
        """Whether what the call requires holds, by what is known or by a write that surely came before."""
        facts, written, readers = self.ground.facts, self.written, self.readers
        for r in recipe.reads:
            cell = r.cell(row)
            if cell in written:
                value, writer = written[cell]
                if not before >> writer & 1:
                    return False
            elif cell in facts:
                value = facts[cell]
            else:
                return False
            if value != row[r.value]:
                return False
            if cell in readers:
                readers[cell].append(own)
            else:
                readers[cell] = [own]
        return True

    def _cause(self, recipe: Recipe, row: Row, node: str) -> bool:
        """Whether what the call causes is licensed and new; ``once`` keys differ, whatever the order."""
        for c in recipe.causes:
            cell = c.cell(row)
            mark = c.mark(row)
            if not (c.licensed.all or c.licensed.allows(cell)) or mark in self.ground.kept:
                return False
            if c.once:
                if mark in self.made:
                    return False
                self.made.add(mark)
            if cell in self.goals:
                self.served.setdefault(cell, []).append(node)
        return True

    def _write(self, recipe: Recipe, row: Row, own: int, before: int) -> bool:
        """Whether what the call sets is licensed, not kept otherwise, and ordered after all that touched it."""
        for w in recipe.writes:
            cell, value = w.cell(row), row[w.value]
            if not (w.licensed.all or w.licensed.allows(cell)):
                return False
            if cell in self.ground.kept_facts and self.ground.kept_facts[cell] != value:
                return False
            if cell in self.written and not before >> self.written[cell][1] & 1:
                return False
            if any(r != own and not before >> r & 1 for r in self.readers.pop(cell, ())):
                return False
            self.written[cell] = value, own
        return True

    def ends(self, done: Terminal) -> bool:
        """Whether every run ends here, with everything owed discharged and as annotated."""
        if done.kind != "done" or done.when is not None or done.faults or done.id in self.position:
            return False
        if len(self.served) < len(self.goals):
            return False
        if done.after is not None and not self._waits(done.after):
            return False
        known = {name for names in self.goals.values() for name in names}
        return known.issuperset(done.claims) and (not self.covers or self._annotated())

    def _waits(self, after: Sequence[str]) -> bool:
        mask = 0
        for p in after:
            if p not in self.position:
                return False
            mask |= self.reach[self.position[p]]
        return mask == (1 << len(self.reach)) - 1

    def _annotated(self) -> bool:
        """Whether ``covers``, where it is used, says exactly what the calls do."""
        computed: dict[str, set[str]] = {}
        for cell, nodes in self.served.items():
            for node in nodes:
                computed.setdefault(node, set()).update(self.goals[cell])
        return all(set(self.covers.get(n, ())) == computed.get(n, set()) for n in self.position)


def _row(recipe: Recipe, n: Call) -> Row | None:
    """The call's values; ``None`` where an argument is missing, too many, computed, or not from an allowed source."""
    row: list[Value] = []
    args, left = n.args, len(n.args)
    for s in recipe.slots:
        e = args.get(s.name)
        if e is None:
            if not s.defaults:
                return None
            row.append(s.defaults[0])
            continue
        left -= 1
        if e.type is not s.type and e.type != s.type and e.type != s.plain:
            return None
        if isinstance(e, ex.Lit):
            if s.literals is not None and e.value not in s.literals:
                return None
            row.append(e.value)
        elif isinstance(e, ex.Var) and e.kind == "name" and e.name in s.names:
            row.append(s.names[e.name])
        else:
            return None
    if left or (recipe.tests and not _pass(recipe, row)):
        return None
    row += recipe.constants
    return tuple(row)


def _pass(recipe: Recipe, row: list[Value]) -> bool:
    """Whether the conditions over parameters alone hold."""
    env = Env({("param", s.name): v for s, v in zip(recipe.slots, row, strict=True)})
    try:
        return all(holds(e, env) for e in recipe.tests)
    except Undefined:
        return False


def _linear(calls: list[Call]) -> Sequence[Call] | None:
    """The calls so that each comes after those it waits for: as written, where that is so; ``None`` for a cycle or a
    name that is no call, and where two calls have one name."""
    seen: set[str] = set()
    for n in calls:
        if not seen.issuperset(n.after):
            order = arrange(Proposal("", "", tuple(calls)))
            sound = not order.cycle and not order.blocked and len(order.calls) == len(calls)
            return order.calls if sound else None
        seen.add(n.id)
    return calls if len(seen) == len(calls) else None


def _goals(contract: Contract) -> dict[Cell, list[str]] | None:
    """The literal goals of the obligations, as identities; ``None`` where the contract asks for more than that."""
    declared = [
        *(e.params for e in contract.domain.effects.values()),
        *(f.params for f in contract.domain.fluents.values()),
    ]
    spelled = any(needs_canonical(t) for params in declared for _, t in params)
    if contract.doubts or contract.limits or spelled:
        return None
    found: dict[Cell, list[str]] = {}
    for o in contract.obligations:
        plain = o.choice == "all" and o.count == 1 and not (o.exists or o.where or o.condition or o.before or o.shared)
        goal = o.goals[0]
        args = literal_args(goal) if len(o.goals) == 1 and isinstance(goal, EffectGoal) else None
        if not plain or args is None or not isinstance(goal, EffectGoal):
            return None
        found.setdefault((goal.effect, *args), []).append(o.name)
    return found
