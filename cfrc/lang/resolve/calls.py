"""Turns written calls with constant arguments (approvals, denials, trusted reads, in-doubt calls) into values."""

from __future__ import annotations

from datetime import date

from cfrc.lang import tree as t
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.lookups import tool_named
from cfrc.lang.resolve.origins import origin
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.values import call_values, said_values
from cfrc.model.contract import Approval, Trust
from cfrc.model.expr import Lit
from cfrc.model.values import Value

Call = tuple[str, tuple[tuple[str, Value], ...]]


def resolve_call(pattern: t.Pattern, scope: Scope, problems: Problems) -> Call | None:
    """A complete call with constant arguments, defaults filled in."""
    tool = tool_named(pattern.name, scope.domain, problems)
    if tool is None:
        return None
    values = call_values(pattern, tool, scope, problems, wildcards=False, partial=False)
    return None if values is None else (tool.name, tuple(values.items()))


def resolve_approval(item: t.ApprovalItem, scope: Scope, problems: Problems) -> Approval | None:
    """An approval (every argument known, defaults filled in) or a denial (what is not said is any)."""
    tool = tool_named(item.call.name, scope.domain, problems)
    if tool is None:
        return None
    denied = item.kind == "denied"
    values = call_values(item.call, tool, scope, problems, wildcards=denied, partial=denied)
    expires = None
    if item.expires is not None:
        found = Resolver(problems).resolve(item.expires, scope)
        expires = found.value if isinstance(found, Lit) and isinstance(found.value, date) else None
    if values is None:
        return None
    policy = item.policy.value if item.policy is not None else None
    return Approval(
        tool.name, tuple(values.items()), denied, policy, expires, origin(item.origin, scope, problems), item.span
    )


def resolve_trust(item: t.TrustItem, scope: Scope, problems: Problems) -> Trust | None:
    """``trust read_file(bill) for send_money.recipient``."""
    tool = tool_named(item.call.name, scope.domain, problems)
    target = tool_named(item.target.tool, scope.domain, problems)
    if target is not None and target.param(item.target.param.text) is None:
        names = [p.name for p in target.params]
        problems.unknown("parameter", item.target.param.text, names, item.target.param.span, "NAM006")
        target = None
    if tool is None:
        return None
    args = said_values(item.call, tool, scope, problems)
    if target is None or args is None:
        return None
    return Trust(tool.name, args, target.name, item.target.param.text, item.span)
