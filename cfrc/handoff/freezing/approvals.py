"""Turns the approvals of before and those on record into the ones that no call has used.

An approval is good for one call: the next successful call with exactly its arguments that needs one uses it up. A
definite failure uses nothing. A call without an answer may have used it: then it is carried over all the same, since
the call itself is in doubt and may not be repeated. Denials stay.
"""

from __future__ import annotations

from cfrc.handoff.freezing.past import Past
from cfrc.model.contract import Approval
from cfrc.model.domain import Domain
from cfrc.model.ledger import Receipt
from cfrc.model.plan import full_args
from cfrc.model.values import Value

Call = tuple[str, frozenset[tuple[str, Value]]]


def unused(past: Past, policy: str | None) -> tuple[Approval, ...]:
    """The denials and the approvals that are left, in the order in which they were given. ``policy`` is the version in
    force: of several approvals of one call, one of this version is used first."""
    left = list(past.before.approvals)
    for position, entry in enumerate(past.ledger.entries):
        if isinstance(entry, Approval):
            if not (entry.denied and entry in left):
                left.append(entry)
        elif isinstance(entry, Receipt) and entry.status == "success" and past.happened.asked.get(position) is True:
            call = _call(past.before.domain, entry.tool, entry.args)
            fitting = [a for a in left if not a.denied and _call(past.before.domain, a.tool, a.args) == call]
            used = next((a for a in fitting if a.policy == policy), None) or next(iter(fitting), None)
            if used is not None:
                left.remove(used)
    return tuple(left)


def _call(domain: Domain, tool: str, args: tuple[tuple[str, Value], ...]) -> Call:
    declared = domain.tools.get(tool)
    return tool, frozenset(args if declared is None else full_args(declared, args).items())
