"""Turns a contract into what in it no plan could respect: two values for one parameter, a limit exceeded already.

``docs/semantics.md`` §3: a bound parameter equals its bound value, so that it cannot have two; every limit holds at
every prefix, and nothing has been done yet at the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cfrc.model.canon import canonical
from cfrc.model.contract import Contract, Limit, Name
from cfrc.model.graph import Proposal
from cfrc.model.show import show_value
from cfrc.model.verdict import Finding
from cfrc.verify.condition import spans
from cfrc.verify.conditions.limits import frozen
from cfrc.verify.frame import Frame
from cfrc.verify.paths import Paths
from cfrc.verify.terms import Terms


def conflicts(contract: Contract) -> Iterator[Finding]:
    """CON003 for each binding that another one contradicts, CON008 for each limit that is exceeded at the freeze."""
    yield from _bindings(contract)
    if contract.limits and (contract.kept or contract.doubts):
        paths = Paths(Frame(Terms(), contract), Proposal("", contract.name, ()))
        for limit in contract.limits:
            least = _least(paths, limit)
            if least is not None and isinstance(limit.bound, int | Fraction) and least > limit.bound:
                yield Finding(
                    code="CFRC-CON008",
                    kind="support",
                    message=f"a limit is exceeded before anything is done: "
                    f"{limit.kind} of `{limit.effect}` is {show_value(least)}",
                    help="what is kept and what may have happened counts: settle what is in doubt and freeze again, or "
                    "have the limit raised",
                    where=limit.span,
                    clauses=spans(
                        *(("kept", k.span) for k in contract.kept if k.effect == limit.effect),
                        *(("in doubt", d.span) for d in contract.doubts if d.effect == limit.effect),
                    ),
                )


def _bindings(contract: Contract) -> Iterator[Finding]:
    seen: dict[tuple[str, str], Name] = {}
    for n in contract.names.values():
        for tool, param in n.targets if n.fixed else ():
            first = seen.setdefault((tool, param), n)
            if canonical(first.type, first.value) != canonical(n.type, n.value):
                yield Finding(
                    code="CFRC-CON003",
                    kind="support",
                    message=f"`{tool}.{param}` is fixed as both {show_value(first.value)} and {show_value(n.value)}",
                    help="a call has one value for it: keep the one that was accepted last",
                    where=n.span,
                    clauses=spans(("the other binding", first.span)),
                )


def _least(paths: Paths, limit: Limit) -> int | Fraction | None:
    """What surely counts at the freeze; ``None`` where it may be less than what is known."""
    total = Fraction(0)
    for f in frozen(paths, limit):
        amount = f.amount
        if f.cond is paths.terms.true and amount.is_const:
            total += Fraction(amount.data)
        elif limit.kind != "count":
            return None
    return int(total) if total.denominator == 1 else total
