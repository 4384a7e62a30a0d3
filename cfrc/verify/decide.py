"""Turns conditions into findings: normalization first, then one solver session for the residue.

A condition that folded to false holds; one that folded to true with nothing assumed is violated; what is left is asked
in groups that share assumptions, and one by one where a group is satisfiable. A violation is reported only with a
counterexample that was replayed; a model that replay does not confirm makes the condition undecided, never refuted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from cfrc.model.verdict import Finding
from cfrc.verify.condition import Condition, Conditions, Family
from cfrc.verify.decode import View
from cfrc.verify.paths import Paths
from cfrc.verify.replay import Confirmed, story
from cfrc.verify.search import Search
from cfrc.verify.shrink import Shrinker
from cfrc.verify.terms import Term

UNCONFIRMED = "the solver's counterexample could not be replayed on concrete values"

if TYPE_CHECKING:
    from cfrc.verify.solve import Result, Session


@dataclass(slots=True)
class Decider:
    """Decides the conditions of one admission and keeps count of how."""

    paths: Paths
    budget: int
    today: date | None = None
    obligations: int = 0
    normalized: int = 0
    solved: int = 0
    core: set[int] = field(default_factory=set)
    """Ids of the assumption terms that proofs needed."""
    shrinker: Shrinker = field(init=False)
    search: Search = field(init=False)
    _session: Session | None = None

    def __post_init__(self) -> None:
        self.shrinker = Shrinker(self.paths, self.today)
        self.search = Search(self.paths, self.today, lambda: self.session)

    @property
    def session(self) -> Session:
        if self._session is None:
            from cfrc.verify.solve import Session  # the solver is loaded when the first question reaches it

            self._session = Session(self.paths.terms, self.budget)
        return self._session

    def decide(self, conditions: Conditions) -> list[Finding]:
        families: list[Family] = []
        findings = self._decide(conditions, families)
        while families:
            later = [f.later for f in families if f.later is not None and not f.closed]
            for f in families:
                f.later = None
            families = []
            findings += self._decide(chain.from_iterable(later), families)
        return findings

    def _decide(self, conditions: Conditions, families: list[Family]) -> list[Finding]:
        """``families`` collects those of which only the first condition is among these."""
        t = self.paths.terms
        findings: list[Finding] = []
        residue: dict[tuple[int, int, int, bool], list[Condition]] = defaultdict(list)
        for c in conditions:
            self.obligations += 1
            if c is not None and c.bad is t.true:
                _sharpen(c)
            if c is not None and c.family is not None and c.family.later is not None:
                families.append(c.family)
            if c is None or (c.family is not None and c.family.closed):
                self.normalized += 1
            elif c.undecidable is not None:
                findings.append(_undecided(c, c.undecidable))
            elif c.bad is t.false:
                self.normalized += 1
            elif c.bad is t.true and not self._assumptions(c):
                self.normalized += 1
                findings.append(self._violated(c, View(t)))
            else:
                relevant = self.paths.restrictive
                step = c.step if c.step is not None and relevant >> c.step & 1 else -1
                residue[c.mask & relevant, c.returned & relevant, step, c.code == "PRS007"].append(c)
        self.paths.quantifiers.instantiate()
        for group in residue.values():
            findings.extend(self._group(group))
        return findings

    def _assumptions(self, c: Condition) -> list[Term]:
        found = self.paths.assume(c.mask & ~c.returned) + self.paths.quantifiers.axioms
        if c.step is not None:
            found += self.paths.runs[c.step].ready
        rest = c.returned
        while rest:
            low = rest & -rest
            run = self.paths.runs[low.bit_length() - 1]
            found += run.ready
            if c.code != "PRS007":  # which says itself what each of two unordered calls may return
                found += run.base
            if run.pos != c.step and c.code != "PRS007":
                # (of two unordered calls either may have made the other's `requires` true; and what a call itself does
                # is judged also where its own `requires` is false)
                found += run.required
            rest ^= low
        return found

    def _group(self, group: list[Condition]) -> list[Finding]:
        """One question for the whole group first: usually nothing in it can go wrong."""
        t = self.paths.terms
        assumptions = self._assumptions(group[0])
        if len(group) > 1:
            together = self.session.check([*assumptions, t.or_(*(c.bad for c in group))])
            if together.answer == "unsat":
                self._proved(together, len(group))
                return []
        findings = []
        for c in group:
            if c.family is not None and c.family.closed:
                self.normalized += 1
                continue
            self.solved += 1
            result = self.session.check([*assumptions, c.bad])
            if result.answer != "unsat" and c.exact is not None:
                _sharpen(c)
                self.paths.quantifiers.instantiate()
                assumptions = self._assumptions(c)
                result = self.session.check([*assumptions, c.bad])
            if result.answer == "unsat":
                self.core.update(x.id for x in result.core)
            elif result.answer == "unknown":
                findings.append(_undecided(c, f"the solver's budget of {self.budget} ran out"))
            else:
                findings.append(self._violated(c, View(t, self.session, result)))
        return findings

    def _proved(self, result: Result, count: int) -> None:
        self.solved += count
        self.core.update(x.id for x in result.core)

    def _violated(self, c: Condition, view: View) -> Finding:
        """The finding with its replayed counterexample; undecided when no model survives the replay."""
        found = self.search.find(c, c, view, partial(self._assumptions, c))
        if found is None and c.code == "PRS007":
            return self._overtaken(c, view)
        if found is None:
            if c.family is not None:
                c.family.undecided += 1
            return _undecided(c, UNCONFIRMED)
        return self._finding(c, found)

    def _overtaken(self, c: Condition, view: View) -> Finding:
        """Each of two unordered calls may be made before the other, but perhaps not after it: then they do not
        interfere, since the second one's ``requires`` is false."""
        for node, other in ((c.node, c.others[0]), (c.others[0], c.node)):
            assert node is not None and other is not None
            run = self.paths.runs[self.paths.order.position[node]]
            late = replace(
                c, kind="dependency", code="DEP004", node=node, others=(other,), step=run.pos, family=None,
                message=f"`{node}` may be called when what it requires is false: nothing orders it after or before "
                f"`{other}`", help=f"order the two (`after`), or make only one of them: {c.message}",
                where=run.call.span,
            )  # fmt: skip
            found = self.search.find(c, late, view, partial(self._assumptions, c))
            if found is not None:
                return self._finding(late, found)
        if c.family is not None:
            c.family.undecided += 1
        return _undecided(c, UNCONFIRMED)

    def _finding(self, c: Condition, found: Confirmed) -> Finding:
        found, idle = self.shrinker.shrink(c, found)
        message = c.message
        if c.family is not None:
            c.family.refuted = True
            message += f" ({c.family.others} like this)"
        return Finding(
            code=f"CFRC-{c.code}",
            kind=c.kind,
            message=message,
            help=c.help,
            where=c.where,
            node=c.node,
            obligation=c.obligation,
            clauses=c.clauses,
            counterexample=story(self.paths, c, found, idle),
        )


def _sharpen(c: Condition) -> None:
    """Replaces a formula that considers too few ways out by the exact one."""
    if c.exact is not None:
        c.bad, c.exact = c.exact(), None


def _undecided(c: Condition, why: str) -> Finding:
    return Finding(
        code="CFRC-UND001",
        kind=c.kind,
        message=f"undecided (`{c.code}`): {c.message}",
        help=why,
        where=c.where,
        node=c.node,
        obligation=c.obligation,
        severity="undecided",
        clauses=c.clauses,
    )
