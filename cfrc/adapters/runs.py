"""Turns a file of recorded task runs (one JSON object a line) into calls whose arguments and results have types.

Such files hold what tools really returned: ``{"id", "request", "actions": [{"name", "arguments", "result", "write",
"error"?}], "user_turns"?, "user_id"?, "trajectory_is_gold"?}``. Other members are passed over. What does not fit the
domain is kept as a problem of its call, never guessed: such a call cannot support anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from cfrc.handoff.closing.made import Made
from cfrc.lang.jsonread import Json, JsonProblem, read_json
from cfrc.lang.jsonvalues import Mismatch, from_json
from cfrc.model.domain import Domain
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.source import Source

T = TypeVar("T")


class RunProblem(ValueError):
    """A line is not a task run; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class TaskRun:
    """``turns`` are what the user said after the request, ``user`` is whose session it is, ``gold`` whether the run
    met what was owed: as far as the file tells."""

    id: str
    request: str
    calls: tuple[Made, ...]
    turns: tuple[str, ...] = ()
    user: str | None = None
    gold: bool | None = None


@dataclass(slots=True)
class _Reports:
    found: list[str] = field(default_factory=list)

    def __call__(self, message: str, help: str | None, at: Json) -> None:
        self.found.append(message)


def read_runs(source: Source, domain: Domain) -> tuple[TaskRun, ...]:
    """All runs of the file, in order. Raises :class:`RunProblem` at the first line that is not a run."""
    runs = []
    for number, line in enumerate(source.text.splitlines(), 1):
        if line.strip():
            runs.append(_run(Source(f"{source.name}:{number}", line), domain, str(number)))
    return tuple(runs)


def _run(source: Source, domain: Domain, default_id: str) -> TaskRun:
    try:
        top = read_json(source)
    except JsonProblem as problem:
        hint = "; one run stands in one line" if source.text.strip() in ("{", "[") else ""
        raise RunProblem(f"{source.name}: {problem.message}{hint}") from None
    members = _object(top, source, "a task run")
    calls = _member(members, "actions", list, source)
    request = _member(members, "request", str, source)
    name = members["id"].value if "id" in members else default_id
    typed = tuple(_call(i, _object(c, source, "an action"), domain, source) for i, c in enumerate(calls))
    turns = members["user_turns"].value if "user_turns" in members else []
    said = tuple(str(t.value) for t in turns) if isinstance(turns, list) else ()
    user, gold = (members[k].value if k in members else None for k in ("user_id", "trajectory_is_gold"))
    known = user if isinstance(user, str) else None
    return TaskRun(str(name), request, typed, said, known, gold if isinstance(gold, bool) else None)


def _object(j: Json, source: Source, what: str) -> dict[str, Json]:
    if not isinstance(j.value, dict):
        raise RunProblem(f"{source.name}: expected {what}, a JSON object")
    return j.value


def _member(members: dict[str, Json], name: str, kind: type[T], source: Source) -> T:
    found = members.get(name)
    if found is None or not isinstance(found.value, kind):
        raise RunProblem(f"{source.name}: expected a member `{name}`, {'text' if kind is str else 'an array'}")
    return found.value


def _call(index: int, members: dict[str, Json], domain: Domain, source: Source) -> Made:
    name = _member(members, "name", str, source)
    arguments = _object(members["arguments"], source, "arguments") if "arguments" in members else {}
    failed = "error" in members and members["error"].value not in (None, False)
    write = "write" in members and members["write"].value is True
    tool = domain.tools.get(name)
    if tool is None:
        return Made(index, name, None, {}, None, failed, write, f"the domain has no tool `{name}`")
    problems: list[str] = []
    args: dict[str, Value] = {}
    for key, value in arguments.items():
        param = tool.param(key)
        if param is None:
            problems.append(f"`{name}` has no parameter `{key}`")
            continue
        args[key] = _typed(value, param.type, f"argument `{key}`", problems)
    problems.extend(f"argument `{p.name}` is missing" for p in tool.params if p.name not in args and p.default is None)
    result: Value = None
    if not failed:
        if "result" in members:
            result = _typed(members["result"], tool.result, "the result", problems)
        else:
            problems.append("the call has no result")
    return Made(index, name, tool, args, result, failed, write, "; ".join(problems) or None)


def _typed(j: Json, wanted: Type, what: str, problems: list[str]) -> Value:
    reports = _Reports()
    try:
        return from_json(j, wanted, reports)
    except Mismatch:
        problems.extend(f"{what}: {message}" for message in reports.found[:3])
        return None
