"""Turns a clause and the call that carries it out into the instance in words: ``sent(receipt, g.payer)``."""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.model import expr as ex
from cfrc.model.domain import Tool
from cfrc.model.graph import Call
from cfrc.model.show import show_expr

MOST = 200
"""Characters of an instance; arguments that make it longer are left out."""


def instance(call: Call, tool: Tool | None, name: str, args: Sequence[ex.Expr | None]) -> str:
    """The effect or fluent instance of a clause, with the call's own arguments in the place of the parameters."""
    shown = ", ".join("_" if a is None else show_expr(_given(a, call, tool)) for a in args)
    if len(shown) > MOST:
        shown = "…"
    return f"{name}({shown})" if args else name


def _given(e: ex.Expr, call: Call, tool: Tool | None) -> ex.Expr:
    if isinstance(e, ex.Var) and e.kind == "param":
        declared = tool.param(e.name) if tool is not None else None
        return call.args.get(e.name) or (declared.default if declared is not None else None) or e
    if isinstance(e, ex.Var) and e.kind == "result":
        return ex.NodeResult(node=call.id, type=e.type)
    return ex.rebuild(e, lambda x: _given(x, call, tool))
