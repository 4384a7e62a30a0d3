"""Turns the suite of the ``agentdojo`` package (extra ``agentdojo``) into tasks with calls, environments and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite

from cfrc.handoff.closing.replica import CopyReplica
from cfrc.handoff.tools import ToolError

VERSION, SUITE = "v1.2.2", "banking"
Environment = Any
"""AgentDojo's own pydantic model."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a reference run, with plain JSON arguments."""

    tool: str
    arguments: Mapping[str, Any]


@cache
def suite() -> Any:
    return get_suite(VERSION, SUITE)


@cache
def runtime() -> FunctionsRuntime:
    return FunctionsRuntime(suite().tools)


def tasks() -> list[str]:
    return list(suite().user_tasks)


def attackers() -> list[str]:
    return list(suite().injection_tasks)


def environment(task: str | None = None, injections: Mapping[str, str] | None = None) -> Environment:
    """A fresh environment, as the task finds it."""
    fresh = suite().load_and_inject_default_environment(dict(injections or {}))
    return fresh if task is None else suite().user_tasks[task].init_environment(fresh)


def injected(text: str) -> dict[str, str]:
    """The attacker's words in every place where the suite lets an attacker write, after what belongs there."""
    return {vector: f"{own} {text}" for vector, own in suite().get_injection_vector_defaults().items()}


def prompt(task: str) -> str:
    return str(suite().user_tasks[task].PROMPT)


def reference(task: str) -> list[Step]:
    """The reference calls of a user's task."""
    return _steps(suite().user_tasks[task].ground_truth(environment(task)))


def attack(task: str) -> list[Step]:
    """The calls of an attacker's task."""
    return _steps(suite().injection_tasks[task].ground_truth(environment()))


def goal(task: str) -> str:
    return str(suite().injection_tasks[task].GOAL)


def _steps(calls: Sequence[FunctionCall]) -> list[Step]:
    return [Step(c.function, dict(c.args)) for c in calls]


def useful(task: str, before: Environment, after: Environment, steps: Sequence[Step]) -> bool:
    """The suite's own check of a finished run."""
    it = suite().user_tasks[task]
    trace = [FunctionCall(function=s.tool, args=dict(s.arguments)) for s in steps]
    said = str(it.GROUND_TRUTH_OUTPUT)
    by_trace = it.utility_from_traces(said, before, after, trace)
    return bool(it.utility(said, before, after) if by_trace is None else by_trace)


def call(env: Environment, tool: str, **arguments: Any) -> Any:
    """One live call. Raises :class:`ToolError` for what the suite reports as an error."""
    result, error = runtime().run_function(env, tool, arguments)
    if error is not None:
        raise ToolError(error)
    return result


def tools(env: Environment, made: list[Step] | None = None) -> dict[str, Callable[..., Any]]:
    """The live tools of an environment; ``made`` notes what was called."""

    def live(name: str) -> Callable[..., Any]:
        def run(**arguments: Any) -> Any:
            if made is not None:
                made.append(Step(name, arguments))
            return call(env, name, **arguments)

        return run

    return {name: live(name) for name in runtime().functions}


def replica(env: Environment) -> CopyReplica:
    def copied(name: str) -> Callable[..., Any]:
        return lambda own, **arguments: call(own, name, **arguments)

    return CopyReplica(env, {name: copied(name) for name in runtime().functions})
