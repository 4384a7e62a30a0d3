"""Turns a file of calls, one JSON object a line, into the calls that a successor plans.

``{"call": tool, "args": {…}, "id"?, "result"?, "error"?, "expect"?, "until"?, "polls"?, "after"?, "when"?}``: a node of
a proposal's JSON form, with what a replica returned where there was one. ``tool`` or ``name`` may stand for ``call``,
and ``arguments`` for ``args``.
"""

from __future__ import annotations

import re
from typing import Any

from cfrc.handoff.closing.author import Planned
from cfrc.handoff.tools import Answer
from cfrc.lang.diagnostics import Diagnostic, SpecError, quoted
from cfrc.lang.jsonforms.validate import plain
from cfrc.lang.jsonread import Json, JsonProblem, read_json
from cfrc.source import Source

EXTRA = ("expect", "until", "polls", "after", "when")
KNOWN = {"call", "tool", "name", "args", "arguments", "id", "result", "error", *EXTRA}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_calls(source: Source) -> list[Planned]:
    """The calls in order. Raises :class:`SpecError` at the first line that is not one."""
    planned: list[Planned] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        if line.strip():
            planned.append(_call(Source(f"{source.name}:{number}", line), planned))
    return planned


def _call(source: Source, before: list[Planned]) -> Planned:
    try:
        top = read_json(source)
    except JsonProblem as problem:
        raise SpecError([Diagnostic(problem.code, problem.message, problem.span, problem.help)]) from None
    if not isinstance(top.value, dict):
        raise _wrong("JSN012", "expected a call, a JSON object", top)
    members = top.value
    for name in members:
        if name not in KNOWN:
            raise SpecError([Diagnostic("JSN011", f"unknown member {quoted(name)}", top.key_span(name))])
    tool = _one(top, ("call", "tool", "name"), str, "the name of a tool")
    args = _one(top, ("args", "arguments"), dict, "an object of arguments", {})
    taken = {p.id for p in before}
    given = members["id"].value if "id" in members else f"c{len(before) + 1}"
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise _wrong("JSN013", "expected a name", members["id"])
    if given in taken:
        raise _wrong("JSN013", f"two calls are named {quoted(given)}", members.get("id", top), "give each its own `id`")
    extra = {k: plain(members[k]) for k in EXTRA if k in members}
    return Planned(tool, args, given, _answer(members), extra)


def _answer(members: dict[str, Json]) -> Answer | None:
    error = members.get("error")
    if error is not None and error.value not in (None, False):
        return Answer("failure", error=str(plain(error)))
    return Answer("success", plain(members["result"])) if "result" in members else None


def _one(top: Json, names: tuple[str, ...], kind: type, what: str, default: Any = None) -> Any:
    assert isinstance(top.value, dict)
    found = next((top.value[n] for n in names if n in top.value), None)
    if found is None:
        if default is not None:
            return default
        raise _wrong("JSN010", f"the call has no member {quoted(names[0])}: {what}", top)
    if not isinstance(found.value, kind):
        raise _wrong("JSN012", f"expected {what}", found)
    return plain(found)


def _wrong(code: str, message: str, at: Json, help: str | None = None) -> SpecError:
    return SpecError([Diagnostic(code, message, at.span, help)])


__all__ = ["read_calls"]
