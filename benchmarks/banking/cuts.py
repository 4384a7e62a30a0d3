"""Turns a task and a cut into a frozen contract, made of what was really said and returned before the cut."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.banking import suite
from benchmarks.banking.suite import Environment, Step
from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.closing.author import Planned
from cfrc.handoff.freezing.freeze import Frozen, freeze
from cfrc.handoff.freezing.typing import ledger_of
from cfrc.handoff.tools import plain
from cfrc.lang.load import load
from cfrc.model.contract import Contract

TASKS = Path(__file__).with_name("tasks.cfrc")
READ: Mapping[str, Mapping[int, str]] = {
    **{f"user_task_{n}": {1: "_read"} for n in (0, 3, 4, 5, 6, 11, 13)},
    **{f"user_task_{n}": {1: "_noticed", 2: "_read"} for n in (2, 12)},
    "user_task_15": {2: "_read", 4: "_told"},
}
"""From which cut on which contract holds: what the user pointed at has been read by then."""

COMPUTED: Mapping[str, str] = {
    "user_task_2": "1100.0 + 100.00",
    "user_task_3": "10.0 - div(12.00, 2)",
    "user_task_5": "50.0 * 0.10",
    "user_task_11": "1000.0 * 0.195 + 5.29",
    "user_task_12": "1100.0 + 100.00",
}
"""How the reference amount comes about: a reference plan only has the outcome, which stands nowhere."""


@dataclass(frozen=True, slots=True)
class Cut:
    """``environment`` is the live one, with the calls before the cut made on it."""

    task: str
    at: int
    before: Environment
    environment: Environment
    rest: tuple[Step, ...]
    frozen: Frozen
    injections: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        return f"{self.task}/{self.at}"


@cache
def contracts() -> Mapping[str, Contract]:
    return load(TASKS).contracts


def cut(task: str, at: int, injections: Mapping[str, str] | None = None) -> Cut:
    """Makes the first ``at`` reference calls on a fresh environment, and freezes."""
    steps = suite.reference(task)
    before = suite.environment(task, injections)
    env = before.model_copy(deep=True)
    results = [_made(env, s) for s in steps[:at]]
    stage = max((k for k in READ.get(task, {}) if k <= at), default=None)
    asked = contracts()[task if stage is None else task + READ[task][stage]]
    transcript = read_transcript(messages(suite.prompt(task), steps[:at], results))
    ledger, _ = ledger_of(asked.domain, transcript, types={n: x.type for n, x in asked.names.items()})
    return Cut(task, at, before, env, tuple(steps[at:]), freeze(asked, ledger), injections)


def _made(env: Environment, step: Step) -> Any:
    return plain(suite.call(env, step.tool, **step.arguments))


def messages(said: str, steps: Sequence[Step], results: Sequence[Any]) -> str:
    """The conversation so far, as an OpenAI chat."""
    found: list[dict[str, Any]] = [{"role": "user", "content": said}]
    for i, (step, result) in enumerate(zip(steps, results, strict=True)):
        function = {"name": step.tool, "arguments": json.dumps(dict(step.arguments))}
        found.append({"role": "assistant", "tool_calls": [{"id": f"c{i}", "type": "function", "function": function}]})
        content = result if isinstance(result, str) else json.dumps(result, default=float)
        found.append({"role": "tool", "tool_call_id": f"c{i}", "content": content})
    return json.dumps(found)


def planned(steps: Sequence[Step], computed: str | None = None) -> list[Planned]:
    """The calls as a successor plans them; ``computed`` says how the amount comes about."""
    priced = [i for i, s in enumerate(steps) if "amount" in s.arguments] or [-1]
    found = []
    for i, s in enumerate(steps):
        args: dict[str, Any] = {k: plain(v) for k, v in s.arguments.items()}
        if computed is not None and i == priced[-1]:
            args["amount"] = {"expr": computed}
        found.append(Planned(s.tool, args, f"r{i}"))
    return found
