"""Turns plain receipts, one JSON object a line, into a transcript: the form for everything that has no other.

| line | members |
|---|---|
| ``{"type": "message", …}`` | ``role``, ``text`` |
| ``{"type": "call", …}`` | ``id``, ``tool``, ``arguments``, ``attempt``?, ``actor``?, ``time``?, ``group``? |
| ``{"type": "result", …}`` | ``id``, ``status``, ``result``?, ``error``?, ``time``? |
| ``{"type": "receipt", …}`` | a call and its result in one |
| ``{"type": "accepted", …}`` | ``name``, ``value``, ``of``? (a type's name), ``turn``? |
| ``{"type": "approved", …}``, ``"denied"`` | ``tool``, ``arguments``?, ``policy``?, ``expires``?, ``turn``? |

Nothing is passed over here: an unknown member or line is an error, because whoever writes this form writes it for us.
"""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from cfrc.adapters.transcripts import shape
from cfrc.adapters.transcripts.collect import Answer, Collector
from cfrc.adapters.transcripts.shape import Members
from cfrc.lang.diagnostics import did_you_mean, quoted
from cfrc.lang.jsonread import Json
from cfrc.lang.scalars import parse_date
from cfrc.model.ledger import Status
from cfrc.model.transcript import JSON, Accepted, Approved, Attempt, Role

_CALL = {"id", "tool", "arguments", "attempt", "actor", "time", "group"}
_RESULT = {"id", "status", "result", "error", "time"}
_APPROVAL = {"tool", "arguments", "policy", "expires", "turn"}
MEMBERS: dict[str, set[str]] = {
    "message": {"role", "text"},
    "call": _CALL,
    "result": _RESULT,
    "receipt": _CALL | _RESULT,
    "accepted": {"name", "value", "of", "turn"},
    "approved": _APPROVAL,
    "denied": _APPROVAL,
}
_MOST = 10**9 - 1
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_STATUS: dict[str, Status] = {s: s for s in get_args(Status)}


def read(items: list[Json], out: Collector) -> None:
    """Raises :class:`cfrc.lang.diagnostics.SpecError` (``TRN005``) at the first line that is not as above."""
    group: JSON = None
    for item in items:
        members = shape.obj(item, "TRN005", "a line of receipts")
        kind = shape.string(members, "type")
        if kind not in MEMBERS:
            message = "a line without a type" if kind is None else f"a line of the type {quoted(kind)}"
            help = did_you_mean(kind or "", MEMBERS, f"one of {', '.join(MEMBERS)}")
            raise shape.wrong("TRN005", message, members.get("type", item), help)
        for name in members:
            if name not in MEMBERS[kind] | {"type"}:
                help = did_you_mean(name, MEMBERS[kind], f"it has {', '.join(sorted(MEMBERS[kind]))}")
                raise shape.wrong("TRN005", f"{quoted(kind)} has no member {quoted(name)}", item.key_span(name), help)
        if kind in ("call", "receipt"):
            here = shape.plain(members["group"]) if "group" in members else None
            if here is None or here != group:
                out.new_group()
            group = here
        _line(kind, members, item, out)


def _line(kind: str, members: Members, item: Json, out: Collector) -> None:
    match kind:
        case "message":
            role = _ROLES.get(_text(members, "role", item))
            if role is None:
                raise shape.wrong("TRN005", "an unknown role", members["role"], f"one of {', '.join(_ROLES)}")
            said = members.get("text")
            if said is None or not isinstance(said.value, str):
                raise shape.wrong("TRN005", "a message without `text`", said or item)
            out.say(role, said.value, item.span)
        case "call":
            out.call(_call(members, item), "attempt" in members)
        case "result":
            out.result(_text(members, "id", item), _answer(members, item), item.span, settles=True)
        case "receipt":
            call = _call(members, item)
            out.call(call, "attempt" in members)
            out.result(call.id, _answer(members, item), item.span, settles=True)
        case "accepted":
            value = members.get("value")
            if value is None:
                raise shape.wrong("TRN005", "an accepted choice without `value`", item)
            of, turn = shape.string(members, "of"), _turn(members, out)
            out.events.append(Accepted(_text(members, "name", item), of, shape.plain(value), turn, item.span))
        case _:
            given = members.get("arguments")
            arguments, broken = (None, None) if given is None else shape.arguments(given)
            if broken is not None:
                raise shape.wrong("TRN005", broken, given)
            policy, turn = shape.string(members, "policy"), _turn(members, out)
            expires = _time(members, "expires", item)
            tool = _text(members, "tool", item)
            out.events.append(Approved(tool, arguments, policy, expires, turn, kind == "denied", item.span))


def _call(members: Members, item: Json) -> Attempt:
    arguments, broken = shape.arguments(members.get("arguments"))
    time = _time(members, "time", item)
    actor = shape.string(members, "actor") or "agent"
    number = _count(members, "attempt", item, 1)
    id, tool = _text(members, "id", item), _text(members, "tool", item)
    return Attempt(id, number, tool, arguments, broken=broken, actor=actor, time=time, span=item.span)


def _answer(members: Members, item: Json) -> Answer:
    status = _STATUS.get(_text(members, "status", item))
    if status is None:
        raise shape.wrong("TRN005", "an unknown status", members["status"], f"one of {', '.join(_STATUS)}")
    result = members.get("result")
    value = shape.plain(result) if result is not None else None
    return Answer(status, value, shape.string(members, "error"), _time(members, "time", item))


def _text(members: Members, name: str, item: Json) -> str:
    found = shape.string(members, name)
    if found is None:
        raise shape.wrong("TRN005", f"expected a string in `{name}`", members.get(name, item))
    return found


def _count(members: Members, name: str, item: Json, default: int) -> int:
    j = members.get(name)
    if j is None:
        return default
    if not isinstance(j.value, int) or isinstance(j.value, bool) or not 0 <= j.value <= _MOST:
        raise shape.wrong("TRN005", f"expected a count in `{name}`", j, "a whole number of at most nine digits")
    return j.value


def _turn(members: Members, out: Collector) -> int:
    return _count(members, "turn", Json(None, None), out.turn)


def _time(members: Members, name: str, item: Json) -> datetime | None:
    """An instant; for ``expires`` a date too, which ends when it begins."""
    text = shape.string(members, name)
    if text is None:
        return None
    found = shape.instant(members, name)
    if found is None and name == "expires" and (day := parse_date(text)) is not None:
        return datetime.fromisoformat(f"{day.isoformat()}T00:00:00+00:00")
    if found is None:
        raise shape.wrong("TRN005", f"{quoted(text)} is no time", members[name], 'written "2026-12-01T09:00:00Z"')
    return found
