"""Turns a contract's obligations, each of which could be discharged, into those that no run can discharge together.

Three questions, each asked once: can the states that are owed hold at one end, do the limits leave room for what all of
it takes at least, and can a ``where`` hold at all whose existential no argument binds. Only obligations that every run
has to discharge count: without ``if``, and without alternatives. What nobody knows is not a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from cfrc.model import expr as ex
from cfrc.model.canon import canonical
from cfrc.model.contract import Contract, EffectGoal, Limit, Obligation, StateGoal
from cfrc.model.evaluate import Env
from cfrc.model.graph import Proposal
from cfrc.model.limits import amount
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.source import Span
from cfrc.verify.condition import spans
from cfrc.verify.feasible import Feasibility, unknown_receipts
from cfrc.verify.frame import Frame
from cfrc.verify.owed import effect_goals, literal_args
from cfrc.verify.paths import Paths
from cfrc.verify.shapes import unknown
from cfrc.verify.terms import Term, Terms

Certain = tuple[Obligation, EffectGoal | StateGoal]


def unreconciled(contract: Contract, obligations: list[Obligation], f: Feasibility) -> Iterator[Finding]:
    """The obligations among these that cannot be satisfied, though nothing stands against each one's own call."""
    certain: list[Certain] = [(o, o.goals[0]) for o in obligations if o.condition is None and len(o.goals) == 1]
    for o in obligations:
        yield from _where(contract, o, f)
    yield from _states(contract, certain, f)
    for limit in contract.limits:
        yield from _room(contract, limit, certain, f)


def _end(contract: Contract) -> Paths:
    """Any state in which a run may end: only what is kept is as it was."""
    kept = tuple(x for x in contract.facts if x.kept)
    return Paths(Frame(Terms(), replace(contract, facts=kept)), Proposal("", contract.name, ()))


def _where(contract: Contract, o: Obligation, f: Feasibility) -> Iterator[Finding]:
    """A ``where`` over an existential that no argument of the goal binds is not asked with any call."""
    mentioned = {x.name for g in effect_goals(o) for a in g.args if a is not None
                 for x in ex.walk(a) if isinstance(x, ex.Var)}  # fmt: skip
    if o.where is None or all(n in mentioned for n, _ in o.exists):
        return
    paths = _end(contract)
    t, ev = paths.terms, paths.evaluator(0, 0)
    ev.discharges = unknown_receipts(paths, o)
    for n, ty in o.exists:
        ev.vars[n] = unknown(t, ty, lambda s, sort, n=n: t.sym(sort, f"!{n}{s}"))  # type: ignore[misc]
    if not f.possible(paths, [ev.total(o.where)]):
        yield _finding(o, f"`{o.name}` cannot be satisfied: its `where` never holds", "mend the condition")


def _states(contract: Contract, certain: Sequence[Certain], f: Feasibility) -> Iterator[Finding]:
    """States that are owed and exclude each other at the end."""
    owed = [(o, g) for o, g in certain if isinstance(g, StateGoal) and not o.exists]
    if len(owed) < 2:
        return
    paths = _end(contract)
    ev = paths.evaluator(0, 0)
    parts: list[tuple[Obligation, Term]] = [(o, ev.total(g.condition)) for o, g in owed]
    if f.possible(paths, [p for _, p in parts]):
        return
    for one in list(parts):  # what is left are those that cannot do without each other
        rest = [x for x in parts if x is not one]
        if not f.possible(paths, [p for _, p in rest]):
            parts = rest
    (last, _), others = parts[-1], parts[:-1]
    names = " and ".join(f"`{o.name}`" for o, _ in others)
    yield _finding(
        last,
        f"`{last.name}` cannot be satisfied together with {names or 'what is kept'}: no state is as they ask for",
        "drop one of them",
        *((f"`{o.name}`", o.span) for o, _ in others),
    )


def _room(contract: Contract, limit: Limit, certain: Sequence[Certain], f: Feasibility) -> Iterator[Finding]:
    """What all obligations together have to cause of a limited effect, at least, beside what is used already."""
    effect = limit.effect
    if not isinstance(limit.bound, int | Fraction) or _shown(f, effect):
        return
    used = _used(contract, limit, f)
    mine = [(o, g) for o, g in certain if isinstance(g, EffectGoal) and g.effect == effect]
    needed = _literal(contract, limit, mine)
    if used is None or needed is None:
        return
    total, by = needed
    if limit.kind == "count" and all(p is None or isinstance(p, str) for p in limit.params):
        others = [o for o, _ in mine if o.exists and not o.shared]
        if sum(o.count for o in others) > total:
            total, by = sum(o.count for o in others), others
    if by and used + total > limit.bound:
        first, *rest = by
        beside = f" beside the {_number(used)} that are used" if used else ""
        names = ", ".join(f"`{o.name}`" for o in by)
        yield _finding(
            first,
            f"{names} cannot be satisfied{' together' if rest else ''}: {'they take' if rest else 'it takes'} "
            f"{_number(total)} of `{effect}`{beside}, and the limit is {_number(limit.bound)}",
            "raise the limit, or drop an obligation",
            ("the limit", limit.span),
            *((f"`{o.name}`", o.span) for o in rest),
        )


def _shown(f: Feasibility, effect: str) -> bool:
    """Whether a receipt may discharge it without causing anything."""
    return any(w.effect == effect for t in f.tools for w in t.witnesses)


def _used(contract: Contract, limit: Limit, f: Feasibility) -> int | Fraction | None:
    """What is kept, and in doubt for good; ``None`` where nobody knows."""
    total: int | Fraction = 0
    for k in contract.kept:
        found = amount(limit, (k.effect, k.args), Env())
        if found is None:
            return None
        total += found
    for d in contract.doubts:
        if d.effect == limit.effect:
            settled = d.effect in f.refutable or any(t.idempotent for t in f.tools)
            found = None if limit.kind == "sum" else 0 if settled else amount(limit, (d.effect, d.args), Env())
            if found is None:
                return None
            total += 0 if any(p is not None for p in limit.params) else found
    return total


def _literal(
    contract: Contract, limit: Limit, mine: Sequence[Certain]
) -> tuple[int | Fraction, list[Obligation]] | None:
    """The least that the literal obligations cause: one receipt serves all that owe one identity. ``None`` where
    something else may be caused that gives room again."""
    params = contract.domain.effects[limit.effect].params
    counts: dict[tuple[Value, ...], tuple[int, Obligation]] = {}
    for o, g in mine:
        args = literal_args(g) if isinstance(g, EffectGoal) and not o.exists else None
        if args is not None:
            key = tuple(canonical(t, v) for v, (_, t) in zip(args, params, strict=True))
            if o.count > counts.get(key, (0, o))[0]:
                counts[key] = (o.count, o)
    total: int | Fraction = 0
    for key, (count, _) in counts.items():
        found = amount(limit, (limit.effect, key), Env())
        if found is None:
            return None
        total += count * found
    negative = limit.kind == "sum" and not _never_less(contract, limit)
    return None if negative else (total, [o for key, (_, o) in counts.items()
                                          if amount(limit, (limit.effect, key), Env())])  # fmt: skip


def _never_less(contract: Contract, limit: Limit) -> bool:
    """Whether nothing that may be caused has a negative amount: the scope is tight, and every goal literal."""
    if contract.scope is not None:
        return False
    for o in contract.obligations:
        for g in effect_goals(o):
            if g.effect == limit.effect:
                args = literal_args(g)
                found = amount(limit, (g.effect, args), Env()) if args is not None else None
                if found is None or found < 0:
                    return False
    return True


def _number(n: int | Fraction) -> str:
    whole = Fraction(n)
    return str(whole.numerator) if whole.denominator == 1 else f"{float(whole):g}"


def _finding(o: Obligation, message: str, help: str, *clauses: tuple[str, Span | None]) -> Finding:
    return Finding(
        code="CFRC-CON007",
        kind="support",
        message=message,
        help=help,
        where=o.span,
        obligation=o.name,
        clauses=spans(*clauses),
    )
