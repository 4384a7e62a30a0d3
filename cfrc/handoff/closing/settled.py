"""Turns effects in doubt into what a remainder must have seen before it causes them: that they did not happen.

A call that may cause what is in doubt relies on the last earlier call that refuted it; where it only happened to cause
something else, it relies on the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.handoff.closing.history import History, bindings
from cfrc.handoff.closing.made import Made
from cfrc.model.contract import Contract, Doubt
from cfrc.model.domain import Effect, EffectClause
from cfrc.model.evaluate import Env, Undefined, equal, evaluate
from cfrc.model.expr import Expr, conjuncts
from cfrc.model.footprint import Wild
from cfrc.model.plan import full_args
from cfrc.model.values import Value


def doubted(contract: Contract, history: History, call: Made) -> Iterator[tuple[Doubt, EffectClause, int | None]]:
    """The doubts that the call's effects are about; with a position, only the value there kept them apart."""
    for clause, args in history.deeds[call.index].causes:
        effect = contract.domain.effects[clause.effect]
        for doubt in contract.doubts:
            if doubt.effect == clause.effect and not _identical(contract, doubt, call):
                yield doubt, clause, _difference(effect, doubt.args, args)


def _identical(contract: Contract, doubt: Doubt, call: Made) -> bool:
    """Whether the call is the very one in doubt, of a tool that may be asked twice."""
    tool = call.tool
    if tool is None or not tool.idempotent or doubt.call is None or doubt.call[0] != call.name:
        return False
    return full_args(tool, doubt.call[1]) == full_args(tool, tuple(call.args.items()))


def _difference(effect: Effect, doubt: tuple[Value | Wild, ...], args: tuple[Value, ...]) -> int | None:
    """The first position in which the identities (of ``once`` effects, the keys) differ."""
    positions = effect.key if effect.once else tuple(range(len(args)))
    return next((i for i in positions if not isinstance(d := doubt[i], Wild) and not equal(d, args[i])), None)


def refuters(history: History, doubt: Doubt, calls: list[Made]) -> Iterator[tuple[Made, tuple[Expr, ...]]]:
    """The calls that said it did not happen, the latest first, each with the condition under which its receipt does."""
    for call in reversed(calls):
        for clause in call.tool.refutes if call.tool is not None and call.usable else ():
            if clause.effect == doubt.effect and any(_covers(clause, doubt, e) for e in _places(history, call, clause)):
                yield call, conjuncts(clause.when)


def _places(history: History, call: Made, clause: EffectClause) -> Iterator[Env]:
    return bindings(clause, history.env(call))


def _covers(clause: EffectClause, doubt: Doubt, env: Env) -> bool:
    try:
        return all(
            a is None or (not isinstance(d, Wild) and equal(evaluate(a, env), d))
            for a, d in zip(clause.args, doubt.args, strict=True)
        )
    except Undefined:
        return False


__all__ = ["doubted", "refuters"]
