"""Turns expressions whose parts are all known into values: facts, kept effects and bindings hold no expressions."""

from __future__ import annotations

from cfrc.lang.resolve.expressions import Resolver, Written
from cfrc.lang.resolve.scope import Scope
from cfrc.model.canon import canonical
from cfrc.model.evaluate import Env, Undefined, evaluate
from cfrc.model.expr import Discharge, FluentRead, NodeResult, Outcome, Var, walk
from cfrc.model.types import Type
from cfrc.model.values import Value


class NotConstant(Exception):
    """The expression has no value here; the reason has been reported."""


def constant(r: Resolver, node: Written, wanted: Type, scope: Scope, what: str) -> Value:
    """The canonical value of a constant of the wanted type.

    Raises :class:`NotConstant` after reporting a wrong type, a part that is not known here (``EXP005``), or an
    undefined projection (``EXP009``).
    """
    before = len(r.problems.found)
    found = r.check(node, wanted, scope, what)
    if len(r.problems.found) > before:
        raise NotConstant
    for part in walk(found):
        unknown = isinstance(part, FluentRead | Discharge | NodeResult | Outcome)
        if unknown or (isinstance(part, Var) and part.kind != "bound"):
            help = "write the value itself; only names declared by the contract stand for values"
            r.problems.add("EXP005", f"the {what} must be a constant", part.span or node.span, help)
            raise NotConstant
    try:
        return canonical(wanted, evaluate(found, Env()))
    except Undefined as undefined:
        r.problems.add("EXP009", f"the {what} is undefined", undefined.expr.span or node.span)
        raise NotConstant from None
