"""Turns the scope S of a contract, or the obligations when there is none, into a question: is this instance licensed?

``docs/semantics.md`` §3 (scope). Without a written scope S is tight: an effect goal licenses causing what matches it, a
state goal licenses writing the fluent instances that it reads; undoing and undeclared tools need a written licence.
Licences are read in the state before the step. A licence that speaks of the receipt of another obligation holds for any
receipt so far that may discharge it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from cfrc.model.contract import Contract, EffectGoal, Licence, Obligation
from cfrc.model.evaluate import Env, Undefined, elements, evaluate
from cfrc.model.expr import Comprehension, Discharge, Expr, FluentRead, Var, children, walk
from cfrc.model.footprint import WILD, Wild
from cfrc.model.instances import Instance, Pattern, Signatures
from cfrc.model.matching import Quantified, solutions
from cfrc.model.types import Type
from cfrc.model.values import Value

Receipts = Callable[[str], list[Value]]
"""The results of the receipts so far that may discharge an obligation."""


@dataclass(frozen=True, slots=True)
class Term:
    """A licence whose instances depend on the state, on receipts or on existentials. ``goal`` is the condition of a
    state goal: then the instances are those that it reads."""

    args: tuple[Expr | None, ...]
    exists: tuple[tuple[str, Type], ...]
    where: Expr | None
    refs: tuple[str, ...]
    goal: Expr | None = None


class Scope:
    """The licences of a contract, those that are ground in a table."""

    def __init__(self, contract: Contract, sig: Signatures, env: Env) -> None:
        self.sig = sig
        self.written = contract.scope is not None
        self.tools: set[str] = set()
        self._ground: set[tuple[str, str, tuple[Value | Wild, ...]]] = set()
        self._wild: dict[tuple[str, str], list[tuple[Value | Wild, ...]]] = {}
        self._terms: dict[tuple[str, str], list[Term]] = {}
        for licence in contract.scope if contract.scope is not None else _tight(contract.obligations):
            self._add(licence, env)
        if not self.written:
            for o in contract.obligations:
                self._state_goals(o)

    def _add(self, licence: Licence, env: Env) -> None:
        if licence.kind == "tool":
            self.tools.add(licence.name)
            return
        place = (licence.kind, licence.name)
        declared = self.sig.domain.effects if licence.kind == "effect" else self.sig.domain.fluents
        if licence.name not in declared:
            return
        if not licence.args:
            # Without arguments the licence is for every instance.
            licence = replace(licence, args=(None,) * len(declared[licence.name].params))
        parts = [e for e in (*licence.args, licence.where) if e is not None]
        refs = tuple(sorted({x.obligation for e in parts for x in walk(e) if isinstance(x, Discharge)}))
        pattern = _ground(licence, env) if not licence.exists and licence.where is None and not refs else None
        if pattern is None:
            self._terms.setdefault(place, []).append(Term(licence.args, licence.exists, licence.where, refs))
            return
        pattern = self.sig.pattern(licence.kind, licence.name, pattern)
        if any(isinstance(a, Wild) for a in pattern):
            self._wild.setdefault(place, []).append(pattern)
        else:
            self._ground.add((*place, pattern))

    def _state_goals(self, o: Obligation) -> None:
        for goal in o.goals:
            if isinstance(goal, EffectGoal):
                continue
            refs = tuple(sorted({x.obligation for x in walk(goal.condition) if isinstance(x, Discharge)}))
            for fluent in {x.fluent for x in walk(goal.condition) if isinstance(x, FluentRead)}:
                term = Term((), o.exists, o.where, refs, goal.condition)
                self._terms.setdefault(("fluent", fluent), []).append(term)

    def allows(
        self, kind: str, instance: Pattern, env: Env, receipts: Receipts, pool: Callable[[], Quantified]
    ) -> bool:
        """Whether causing (or, with a written scope, undoing) the effect, or writing the fluent, is licensed."""
        name, args = instance
        if (kind, name, args) in self._ground:
            return True
        if any(_covers(p, args) for p in self._wild.get((kind, name), ())):
            return True
        terms = self._terms.get((kind, name), ())
        values = tuple([a for a in args if not isinstance(a, Wild)])
        if not terms or len(values) < len(args):
            return False
        return any(self.matches(t, (name, values), env, receipts, pool()) for t in terms)

    def matches(self, term: Term, instance: Instance, env: Env, receipts: Receipts, pool: Quantified) -> bool:
        """Whether the instance is one of a term's."""
        quantified = Quantified(term.exists, term.where, pool.pool)
        for results in product(*(receipts(r) for r in term.refs)):
            inner = env.child()
            inner.discharges = dict(zip(term.refs, results, strict=True))
            if term.goal is None:
                if any(True for _ in solutions(term.args, instance[1], quantified, inner)):
                    return True
            elif any(True for _ in reading(term.goal, instance, quantified, inner)):
                return True
        return False


def _tight(obligations: tuple[Obligation, ...]) -> Iterator[Licence]:
    for o in obligations:
        for goal in o.goals:
            if isinstance(goal, EffectGoal):
                yield Licence("effect", goal.effect, goal.args, o.exists, o.where)


def _ground(licence: Licence, env: Env) -> tuple[Value | Wild, ...] | None:
    """The licence's arguments as values; ``None`` when they depend on the state."""
    if any(isinstance(x, FluentRead) for a in licence.args if a is not None for x in walk(a)):
        return None
    try:
        return tuple(WILD if a is None else evaluate(a, env) for a in licence.args)
    except Undefined:
        return None


def _covers(pattern: tuple[Value | Wild, ...], args: tuple[Value | Wild, ...]) -> bool:
    """Whether every instance of ``args`` matches the pattern."""
    for p, a in zip(pattern, args, strict=True):
        if not isinstance(p, Wild) and (isinstance(a, Wild) or p != a):
            return False
    return True


def reading(e: Expr, instance: Instance, quantified: Quantified, env: Env) -> Iterator[object]:
    """Yields for every fluent read in ``e``, under any branch and any binding, that may be of the instance."""
    if isinstance(e, FluentRead) and e.fluent == instance[0]:
        yield from solutions(e.args, instance[1], quantified, env)
    if isinstance(e, Comprehension):
        yield from _in_comprehension(e, 0, instance, quantified, env)
        return
    for child in children(e):
        yield from reading(child, instance, quantified, env)


def _in_comprehension(
    e: Comprehension, depth: int, instance: Instance, quantified: Quantified, env: Env
) -> Iterator[object]:
    if depth == len(e.generators):
        for part in (e.body, e.cond, e.key):
            if part is not None:
                yield from reading(part, instance, quantified, env)
        return
    generator = e.generators[depth]
    yield from reading(generator.source, instance, quantified, env)
    try:
        items = elements(evaluate(generator.source, env), generator.source)
    except Undefined:
        return
    for item in items:
        inner = env.child({("bound", generator.var): item})
        yield from _in_comprehension(e, depth + 1, instance, quantified, inner)


def fluents_read(e: Expr, env: Env) -> Iterator[Instance]:
    """The fluent instances that a condition without existentials reads outside comprehensions, if defined."""
    for x in walk(e):
        if isinstance(x, FluentRead) and not any(isinstance(v, Var) and v.kind in ("exists", "bound") for v in walk(x)):
            try:
                yield x.fluent, tuple(evaluate(a, env) for a in x.args)
            except Undefined:
                continue
