"""Turns conditions into findings: normalization first, then one solver session for the residue.

A condition that folded to false holds; one that folded to true with nothing assumed is violated; what is left is asked
in groups that share assumptions, and one by one where a group is satisfiable. A violation is reported only with a
counterexample that was replayed; a model that replay does not confirm makes the condition undecided, never refuted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from cfrc.model.amended import amended
from cfrc.model.verdict import Finding
from cfrc.verify.condition import Condition, Conditions, Family
from cfrc.verify.decode import View, scenario
from cfrc.verify.paths import Paths
from cfrc.verify.replay import Confirmed, confirm, story
from cfrc.verify.shrink import Shrinker
from cfrc.verify.terms import Term

PRE_CALL = frozenset({"AUT002", "AUT003", "AUT004", "AUT005", "BND001", "BND002", "DEP003", "DEP004"})
"""Codes that are judged before the call returns."""

COLLECTIONS = frozenset({"Lis", "Bag", "Map"})

UNCONFIRMED = "the solver's counterexample could not be replayed on concrete values"

MOST = 400
"""How many pairs of collections are asked to differ."""

ATTEMPTS = 3
"""Models tried for one condition before it is left undecided."""


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
    _session: Session | None = None

    def __post_init__(self) -> None:
        self.shrinker = Shrinker(self.paths, self.today)

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

    # -- counterexamples ----------------------------------------------------------------------------------------

    def _violated(self, c: Condition, view: View) -> Finding:
        """The finding with its replayed counterexample; undecided when no model survives the replay."""
        found = self._search(c, c, view)
        if found is None and c.code == "PRS007":
            return self._overtaken(c, view)
        if found is None:
            if c.family is not None:
                c.family.undecided += 1
            return _undecided(c, UNCONFIRMED)
        return self._finding(c, found)

    def _search(self, c: Condition, shown: Condition, view: View) -> Confirmed | None:
        """A model of ``c`` that shows ``shown`` when it is replayed."""
        return self._try(c, shown, view) or self._retry(c, shown)

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
            found = self._search(c, late, view)
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

    def _try(self, c: Condition, shown: Condition, view: View) -> Confirmed | None:
        nodes = c.mask | c.returned | (1 << c.step if c.step is not None else 0)
        for position, came in c.earlier:
            if view.truth(came):
                nodes |= 1 << position | self.paths.order.anc[position]
        last = [r.observer for r in self.paths.rivals.at(c.step) if view.truth(r.came)]
        nodes |= self.paths.order.closed(last)
        for order in chain(self._observed_last(last, c.step), self._orders(c)):
            run = scenario(self.paths, view, nodes, shown.step, shown.code in PRE_CALL, order)
            found = confirm(self.paths, shown, run, self.today)
            if found is None and c.others:
                # of two unordered calls each saw the state before the other: the later one sees what the earlier did
                found = confirm(self.paths, shown, amended(self.paths.plan(self.today), run), self.today)
            if found is not None:
                return found
        return None

    def _observed_last(self, last: list[int], step: int | None) -> Iterator[Sequence[int]]:
        """The linearization in which these calls come as late as they can, if there are any; the step after them."""
        if last:
            anc = self.paths.order.anc
            late = {p for p in range(len(anc)) if any(p == u or anc[p] >> u & 1 for u in last)}
            yield self.paths.order.linearize(lambda p: 2 if p == step else int(p in late))

    def _orders(self, c: Condition) -> Iterator[Sequence[int] | None]:
        """Linearizations worth replaying. Each of two unordered calls saw the state before the other, and a volatile
        fluent may change until it is pinned: only some orders of what the solver chose may be legal runs."""
        positions = range(len(self.paths.runs))
        late: list[int | None] = [c.step if c.earlier else None]
        late += [self.paths.order.position.get(o) for o in c.others] if c.code == "PRS007" else []
        for last in late:
            yield None if last is None else [*(p for p in positions if p != last), last]
        if c.code == "COV003" and c.node is not None:
            early = self.paths.order.closed([self.paths.order.position[c.node]])
            yield self.paths.order.linearize(lambda p: 0 if early >> p & 1 else 1)
        yield from self.paths.alternatives()

    def _retry(self, c: Condition, shown: Condition) -> Confirmed | None:
        """Other models of the same question: first ones that are easier to carry out, then each unlike the last."""
        t = self.paths.terms
        base = [*self._assumptions(c), c.bad]
        # a call outside the question that cannot even be made would end the run before what is asked about
        ready = [x for run in self.paths.runs for x in run.ready]
        required = [x for run in self.paths.runs for x in run.required]
        going_on = [x for run in self.paths.runs for x in run.cont]
        different: list[Term] = []
        kinds = ([*ready, *required, *going_on], [*ready, *required], ready)
        helps = [[*kind, *e] for kind in kinds for e in self.easier()]
        for extra in (*helps, *([different] * ATTEMPTS)):
            answer = self.session.check([*base, *extra])
            if answer.answer != "sat":
                continue
            view = View(t, self.session, answer)
            found = self._try(c, shown, view)
            if found is not None:
                return found
            different.append(self.unlike(view))
        return None

    def easier(self) -> list[list[Term]]:
        """Extra assumptions under which a model is easier to carry out: short collections, and unknown collections that
        are none of the literal ones. The last asks for nothing."""
        t = self.paths.terms
        short = [t.le(a, t.const("Int", 2)) for a in t.apps() if a.data == "len"]
        opaque = {
            a.args[0]
            for a in t.apps()
            if a.args and a.args[0].op in ("sym", "app") and a.args[0].sort[:3] in COLLECTIONS
        }
        fresh = [t.not_(t.eq(o, c)) for o in sorted(opaque, key=lambda o: o.id) for c in t.colls(o.sort)][:MOST]
        calm = [t.not_(r.came) for r in self.paths.rivals.found.values()]
        return [e for e in ([*short, *fresh, *calm], [*fresh, *calm], [*short, *calm], calm) if e] + [[]]

    def unlike(self, view: View) -> Term:
        """That another model chooses some Boolean atom differently."""
        t = self.paths.terms
        return t.not_(t.and_(*(self._same(view, s) for s in self._choices())))

    def _choices(self) -> list[Term]:
        """The Boolean atoms that a model chooses freely: what the next model must choose differently."""
        return [a for a in self.paths.terms.apps() if a.sort == "Bool"] + [
            x for run in self.paths.runs for x in (run.called, run.ok)
        ]

    def _same(self, view: View, atom: Term) -> Term:
        return atom if view.truth(atom) else self.paths.terms.not_(atom)


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
