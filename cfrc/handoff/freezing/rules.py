"""Turns the closure rules of a domain into obligations: whoever asks for the one asks for the other.

``rule r: paid(i, _) owes sent(_, payer(i))``. Asked for is what is owed, and what the receipts show to be realized.
What a rule cannot name yet (an existential, another obligation's receipt) is ``_`` until it is realized.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cfrc.handoff.freezing.naming import Names
from cfrc.handoff.freezing.past import Carried, Past
from cfrc.model.contract import Contract, EffectGoal, Goal, Obligation
from cfrc.model.domain import Rule
from cfrc.model.evaluate import Env
from cfrc.model.expr import Discharge, Expr, Lit, Var, rebuild, walk
from cfrc.model.matching import Quantified, solutions
from cfrc.verify.spelled import spelled_out

MOST = 200
"""The most obligations that rules may add: a cycle of rules over ever new values must end."""

Asked = tuple[str, tuple[Expr | None, ...]]


def closure(past: Past, contract: Contract, done: Collection[str], names: Names) -> tuple[Obligation, ...]:
    """The obligations that the rules add to what the contract still owes (``done`` names what it does not) and what was
    realized since the last one."""
    rules = contract.domain.rules
    if not rules:
        return ()
    known: set[Goal] = {g for o in spelled_out(contract).obligations if o.choice == "all" for g in o.goals}
    found: list[Obligation] = []
    queue = [*_realized(past), *(a for o in contract.obligations if o.name not in done for a in _asked(o))]
    for asked in queue:
        for rule in rules:
            if rule.effect != asked[0] or len(found) >= MOST:
                continue
            goal = _goal(rule, asked)
            plain = _plain(goal, contract)
            if plain in known or _done_before(past, plain):
                continue
            known.add(plain)
            found.append(Obligation(names.free(rule.name), (goal,)))
            queue.append((goal.effect, goal.args))
    return tuple(found)


def _plain(goal: EffectGoal, contract: Contract) -> EffectGoal:
    """The goal without names."""
    only = Contract("", contract.domain, "", names=contract.names, obligations=(Obligation("", (goal,)),))
    (plain,) = spelled_out(only).obligations[0].goals
    assert isinstance(plain, EffectGoal)
    return plain


def _realized(past: Past) -> Iterator[Asked]:
    """What receipts caused since, with its values."""
    for (effect, args), receipt in past.happened.effects.items():
        if not isinstance(receipt, Carried):
            types = (t for _, t in past.before.domain.effects[effect].params)
            yield effect, tuple(Lit(value=v, type=t) for v, t in zip(args, types, strict=True))


def _asked(o: Obligation) -> Iterator[Asked]:
    """The effects that an obligation asks for, whatever else is chosen."""
    if o.choice == "all" and o.condition is None:
        for g in o.goals:
            if isinstance(g, EffectGoal):
                yield g.effect, g.args


def _goal(rule: Rule, asked: Asked) -> EffectGoal:
    bound = {n: a for n, a in zip(rule.params, asked[1], strict=True) if n is not None}
    return EffectGoal(rule.owes, tuple(None if a is None else _argument(a, bound) for a in rule.args))


def _argument(a: Expr, bound: Mapping[str, Expr | None]) -> Expr | None:
    used = [bound.get(x.name) for x in walk(a) if isinstance(x, Var) and x.kind == "param"]
    if any(e is None or not _nameable(e) for e in used):
        return None
    return _put(a, bound)


def _nameable(e: Expr) -> bool:
    return not any(isinstance(x, Discharge) or (isinstance(x, Var) and x.kind != "name") for x in walk(e))


def _put(a: Expr, bound: Mapping[str, Expr | None]) -> Expr:
    if isinstance(a, Var) and a.kind == "param":
        given = bound[a.name]
        assert given is not None
        return given
    return rebuild(a, lambda x: _put(x, bound))


def _done_before(past: Past, goal: EffectGoal) -> bool:
    """Whether an effect that the contract keeps is already what the rule asks for."""
    env = Env(read=past.world.read)
    kept = [k for k in past.before.kept if k.effect == goal.effect]
    return any(any(True for _ in solutions(goal.args, k.args, Quantified(()), env)) for k in kept)
