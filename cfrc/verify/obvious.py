"""Turns a conjunction over unknowns that do not bear on each other into "satisfiable", without asking the solver."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from cfrc.verify.terms import INT, REAL, Term, Terms

Bound = tuple[int | Fraction, bool]
"""A literal, and whether it is itself excluded."""


def obviously_satisfiable(t: Terms, formula: Term) -> bool:
    """Whether the formula is a conjunction of comparisons of unknowns with literals, each unknown compared once or only
    bounded from below and above, and of unknowns that are to be equal and nothing else: then values for them can be
    picked one by one."""
    about: dict[Term, list[Term]] = defaultdict(list)
    for part in formula.args if formula.op == "and" else (formula,):
        atom = part.args[0] if part.op == "not" else part
        sides = atom.args if atom.op in ("eq", "le", "lt") else (atom, t.true)
        unknowns = [s for s in sides if not s.is_const]
        if part.op == "eq" and len(unknowns) == 2 and all(s.op == "sym" for s in unknowns):
            for s in unknowns:
                about[s].append(part)
            continue
        if len(unknowns) != 1 or unknowns[0].op not in ("sym", "app") or unknowns[0].data == "len":
            return False
        # a finite sort may have no value left, and two applications may turn out to be the same unknown
        free = unknowns[0].op == "sym" or all(a.ground for a in unknowns[0].args)
        if not free or (unknowns[0].sort.startswith("Enum:") and atom.op != part.op):
            return False
        about[unknowns[0]].append(part)
    return all(len(parts) == 1 or _between(unknown, parts) for unknown, parts in about.items())


def _between(unknown: Term, parts: list[Term]) -> bool:
    """Whether parts that only bound a number leave some value in between."""
    low: list[Bound] = []
    high: list[Bound] = []
    for part in parts:
        atom = part.args[0] if part.op == "not" else part
        if atom.op not in ("le", "lt") or unknown.sort not in (INT, REAL):
            return False
        a, b = atom.args
        if not (a.is_const or b.is_const):
            return False
        strict = (atom.op == "lt") == (atom is part)
        (high if (a is unknown) == (atom is part) else low).append((b.data if a is unknown else a.data, strict))
    return all(_room(unknown.sort, one, other) for one in low for other in high)


def _room(sort: str, low: Bound, high: Bound) -> bool:
    """Whether a number lies between two bounds, each of which may be strict."""
    if sort == INT:
        return low[0] + low[1] <= high[0] - high[1]
    return low[0] < high[0] or (low[0] == high[0] and not (low[1] or high[1]))
