"""Turns one receipt of a ledger into what it is evidence of: caused, undone, witnessed, refuted and in-doubt
identities.

Only a terminal success is evidence. An unsettled receipt (``pending``, ``partial``, ``unknown``) puts everything that
it may have caused in doubt; a definite failure only what its tool says a failure may cause (``semantics.md`` §1, §2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cfrc.model.domain import Domain, Tool
from cfrc.model.evaluate import Env
from cfrc.model.footprint import Wild
from cfrc.model.instances import Signatures, call_instances, failure_instances
from cfrc.model.ledger import Status
from cfrc.model.values import Value

Identity = tuple[str, tuple[Value, ...]]
Pattern = tuple[str, tuple[Value | None, ...]]
"""``None`` is an argument that nobody knows (it depends on a result that did not arrive)."""


@dataclass(slots=True)
class Effects:
    caused: list[Identity] = field(default_factory=list)
    undone: list[Pattern] = field(default_factory=list)
    witnessed: list[Identity] = field(default_factory=list)
    refuted: list[Pattern] = field(default_factory=list)
    doubted: list[Pattern] = field(default_factory=list)


class World:
    """The fluent values that the receipts so far imply; an instance that none of them mentions is unknown."""

    def __init__(self, domain: Domain) -> None:
        self.signatures = Signatures(domain)
        self.values: dict[Identity, Value] = {}

    def read(self, fluent: str, args: tuple[Value, ...]) -> Value:
        """``LookupError`` when nothing says it."""
        return self.values[fluent, self.signatures.fluent(fluent, args)]

    def take(self, tool: Tool, args: dict[str, Value], result: Value, status: Status) -> Effects:
        """What the receipt is evidence of; the world moves on."""
        env = self._env(tool, args, result if status in ("success", "partial", "pending") else None)
        found = Effects()
        if status == "failure":
            found.doubted = [_open(p) for p in failure_instances(tool, env, self.signatures)]
            return found
        possible = [_open(p) for p in failure_instances(replace(tool, may_cause=tool.causes), env, self.signatures)]
        if status != "success":
            found.doubted = possible
            for clause in tool.sets:
                for known in [k for k in self.values if k[0] == clause.fluent]:
                    del self.values[known]
            return found
        instances = call_instances(tool, env, self.read, self.signatures)
        found.caused = instances.causes
        found.undone = [_open(p) for p in instances.undoes]
        found.witnessed = instances.witnesses
        found.refuted = [_open(p) for p in instances.refutes]
        # a success whose condition reads something unknown may or may not have caused the effect
        found.doubted = [p for p in possible if p not in found.caused]
        for w in instances.writes:
            self.values[w.fluent, w.args] = w.value
        for fluent, where, value in instances.observes:
            self.values[fluent, where] = value
        return found

    def _env(self, tool: Tool, args: dict[str, Value], result: Value) -> Env:
        env = Env(read=self.read)
        for p in tool.params:
            if p.name in args:
                env.vars["param", p.name] = args[p.name]
            elif p.default is not None and hasattr(p.default, "value"):
                env.vars["param", p.name] = p.default.value
        if result is not None:
            env.vars["result", "result"] = result
        return env


def _open(pattern: tuple[str, tuple[Value | Wild, ...]]) -> Pattern:
    name, args = pattern
    return name, tuple(None if isinstance(a, Wild) else a for a in args)
