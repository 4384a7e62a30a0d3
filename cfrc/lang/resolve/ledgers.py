"""Turns a ledger declaration into receipts, accepted choices and approvals with typed values."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.calls import resolve_approval
from cfrc.lang.resolve.constants import NotConstant, constant
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.lookups import tool_named
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.types_ import Types
from cfrc.lang.resolve.values import call_values
from cfrc.model.contract import Approval
from cfrc.model.domain import Domain, Tool
from cfrc.model.expr import Expr, Lit
from cfrc.model.ledger import Choice, Ledger, Receipt, Status
from cfrc.model.types import RecordOf
from cfrc.model.values import Record, Value

STATUSES: tuple[Status, ...] = get_args(Status)


def resolve_ledger(decl: t.LedgerDecl, domain: Domain, problems: Problems) -> Ledger:
    """The ledger. What is wrong is added to ``problems`` and left out. Accepted choices are names for later entries."""
    entries: list[Receipt | Choice | Approval] = []
    names: dict[str, Expr] = {}
    attempts: dict[tuple[str, int], t.ReceiptItem] = {}
    for item in decl.items:
        scope = Scope(domain, names)
        match item:
            case t.ReceiptItem():
                receipt = _receipt(item, scope, problems)
                key = (item.id.text, item.attempt.value if item.attempt is not None else 1)
                if key in attempts:
                    _repeated(item, attempts[key], problems)
                attempts.setdefault(key, item)
                if receipt is not None:
                    entries.append(receipt)
            case t.ChoiceItem():
                choice = _choice(item, scope, problems)
                if choice is not None:
                    names[choice.name] = Lit(value=choice.value, type=choice.type, span=choice.span)
                    entries.append(choice)
            case t.ApprovalItem():
                approval = resolve_approval(item, scope, problems)
                if approval is not None:
                    entries.append(approval)
    return Ledger(decl.name.text, domain, tuple(entries), decl.span)


def _repeated(item: t.ReceiptItem, first: t.ReceiptItem, problems: Problems) -> None:
    """One handoff may be logged twice, word for word; two different receipts of one attempt are an error."""
    if item != first:
        notes = (("the other one", first.span),)
        help = "a retry has its own number: `attempt 2`"
        problems.add(
            "NAM002", f"two different receipts of one attempt of {quoted(item.id.text)}", item.id.span, help, notes
        )


def _receipt(item: t.ReceiptItem, scope: Scope, problems: Problems) -> Receipt | None:
    status = next((s for s in STATUSES if s == item.status.text), None)
    if status is None:
        shown = ", ".join(f"`{s}`" for s in STATUSES)
        problems.unknown("status", item.status.text, STATUSES, item.status.span, "NAM009", f"one of {shown}")
    if item.attempt is not None and item.attempt.value < 1:
        problems.add("EXP017", "attempts are counted from 1", item.attempt.span)
    tool = tool_named(item.call.name, scope.domain, problems)
    if tool is None:
        return None
    # A call that failed may have been refused for its arguments; one that may have had an effect is known completely.
    values = call_values(item.call, tool, scope, problems, wildcards=False, partial=status == "failure")
    result = _result(item, tool, scope, problems)
    time = None
    if item.at is not None:
        found = Resolver(problems).resolve(item.at, scope)
        time = found.value if isinstance(found, Lit) and isinstance(found.value, datetime) else None
    if status is None or values is None:
        return None
    return Receipt(
        id=item.id.text,
        tool=tool.name,
        args=tuple(values.items()),
        result=result,
        status=status,
        attempt=item.attempt.value if item.attempt is not None else 1,
        actor=item.actor.text if item.actor is not None else tool.actor,
        time=time,
        span=item.span,
    )


def _result(item: t.ReceiptItem, tool: Tool, scope: Scope, problems: Problems) -> Value:
    if item.result is None:
        if item.status.text == "success":
            if tool.result == RecordOf(None, ()):
                return Record(())
            help = f"write `-> …` with a value of `{tool.result}`"
            problems.add("EXP008", f"a successful receipt of {quoted(tool.name)} needs its result", item.span, help)
        return None
    try:
        return constant(Resolver(problems), item.result, tool.result, scope, "result")
    except NotConstant:
        return None


def _choice(item: t.ChoiceItem, scope: Scope, problems: Problems) -> Choice | None:
    if scope.lookup(item.name.text) is not None:
        first = scope.lookup(item.name.text)
        problems.duplicate("choice", item.name.text, item.name.span, first.span if first is not None else None)
        return None
    type_ = Types(problems, dict(scope.domain.types)).resolve(item.type)
    try:
        value = constant(Resolver(problems), item.value, type_, scope, f"value of `{item.name.text}`")
    except NotConstant:
        return None
    turn = item.origin.turn.value if item.origin is not None and item.origin.turn is not None else None
    return Choice(item.name.text, type_, value, turn, item.span)
