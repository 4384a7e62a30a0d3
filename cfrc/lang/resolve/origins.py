"""Turns ``from …`` into the origin of a trusted value."""

from __future__ import annotations

from cfrc.lang import tree as t
from cfrc.lang.resolve.lookups import tool_named
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.values import said_values
from cfrc.model.contract import Origin
from cfrc.model.values import Value


def origin(node: t.OriginNode | None, scope: Scope, problems: Problems) -> Origin | None:
    """The origin; ``None`` when none is written (the value is then unsupported, which the contract's check reports).

    What ``of TOOL(…)`` says of the call is left out, after a report, where it does not fit the domain.
    """
    if node is None:
        return None
    return Origin(
        kind=node.kind,
        turn=node.turn.value if node.turn is not None else None,
        receipt=node.receipt.text if node.receipt is not None else None,
        tool=node.call.name.text if node.call is not None else None,
        path=tuple(n.text for n in node.path),
        status=node.status.text if node.status is not None else None,
        quoted=(node.quoted[0].value, node.quoted[1].value) if node.quoted is not None else None,
        args=_args(node.call, scope, problems) if node.call is not None else None,
        span=node.span,
    )


def _args(call: t.Pattern, scope: Scope, problems: Problems) -> tuple[Value | None, ...] | None:
    """What is said of the call's arguments, by position; ``None`` where nothing is."""
    tool = tool_named(call.name, scope.domain, problems)
    if tool is None or call.args is None:
        return None
    return said_values(call, tool, scope, problems)
