"""Turns ``from …`` into the origin of a trusted value."""

from __future__ import annotations

from cfrc.lang import tree as t
from cfrc.model.contract import Origin


def origin(node: t.OriginNode | None) -> Origin | None:
    """The origin; ``None`` when none is written (the value is then unsupported, which the contract's check reports)."""
    if node is None:
        return None
    return Origin(
        kind=node.kind,
        turn=node.turn.value if node.turn is not None else None,
        receipt=node.receipt.text if node.receipt is not None else None,
        tool=node.tool.text if node.tool is not None else None,
        path=tuple(n.text for n in node.path),
        status=node.status.text if node.status is not None else None,
        quoted=(node.quoted[0].value, node.quoted[1].value) if node.quoted is not None else None,
        span=node.span,
    )
