"""Turns one executed call into its footprint, and two footprints into whether the calls are independent (§4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfrc.model.domain import FluentClause
from cfrc.model.expr import Apply, Expr, FluentRead, walk
from cfrc.model.values import Value
from tests.verify.brute.evaluate import Scene, canonical, ev
from tests.verify.brute.state import Instance, Undefined

Pattern = tuple[str, tuple[Value | None, ...]]
ANY = "_"


class Footprint(NamedTuple):
    """``sets`` are (instance, ``set`` | ``same`` | ``inc``, value); ``same`` is a set to the value already held.

    ``refutes`` are patterns (``ANY`` where anything matches); ``needs`` are the obligations that must come before what
    the call realizes, ``realizes`` those that it realizes or undoes.
    """

    reads: frozenset[Instance]
    sets: frozenset[tuple[Instance, str, Value]]
    causes: frozenset[Instance]
    undoes: frozenset[Instance]
    witnesses: frozenset[Instance]
    refutes: frozenset[Instance]
    needs: frozenset[str]
    realizes: frozenset[str]
    undeclared: bool


def read_instances(e: Expr | None, scene: Scene) -> Iterator[Instance]:
    """Every fluent instance that occurs in the expression, read or not."""
    for x in () if e is None else walk(e):
        if isinstance(x, FluentRead):
            try:
                types = [t for _, t in scene.domain.fluents[x.fluent].params]
                yield x.fluent, tuple(canonical(ev(a, scene), t) for a, t in zip(x.args, types, strict=True))
            except Undefined:
                continue


def increment(clause: FluentClause) -> Expr | None:
    """The amount of ``sets f(x) = f(x) ± amount``, if the clause has this shape and the amount does not read ``f``."""
    v = clause.value
    if not isinstance(v, Apply) or v.op not in ("+", "-") or len(v.args) != 2:
        return None
    pairs = [(v.args[0], v.args[1])] + ([(v.args[1], v.args[0])] if v.op == "+" else [])
    for own, amount in pairs:
        if isinstance(own, FluentRead) and own.fluent == clause.fluent and own.args == clause.args:
            others = [x for x in walk(amount) if isinstance(x, FluentRead) and x.fluent == clause.fluent]
            return None if others else amount
    return None


def covers(pattern: Instance, inst: Instance) -> bool:
    return pattern[0] == inst[0] and all(p in (ANY, v) for p, v in zip(pattern[1], inst[1], strict=True))


def independent(a: Footprint, b: Footprint, once: dict[str, tuple[int, ...]]) -> bool:
    """Whether the order of the two calls cannot matter."""
    if a.undeclared or b.undeclared:
        return False
    for one, other in ((a, b), (b, a)):
        if any(i in one.reads for i, how, _ in other.sets if how != "same"):
            return False
        written = other.causes | other.undoes | other.witnesses
        if any(covers(p, i) for p in one.refutes for i in written) or one.needs & other.realizes:
            return False
        if one.undoes & (written - other.undoes) or one.witnesses & (written - other.witnesses):
            return False
    for i, how, value in a.sets:
        for j, how2, value2 in b.sets:
            if i == j and not (how == how2 == "inc" or ("inc" not in (how, how2) and value == value2)):
                return False
    keys = {(i[0], tuple(i[1][k] for k in once[i[0]])) for i in a.causes if i[0] in once}
    return not any((i[0], tuple(i[1][k] for k in once[i[0]])) in keys for i in b.causes if i[0] in once)
