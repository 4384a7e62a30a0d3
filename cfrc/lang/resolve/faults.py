"""Turns what resolution finds wrong in a proposal into faults that admission judges.

A proposal is untrusted input of the checker, not a spec: only its syntax can make it unusable. Everything else becomes
a :class:`~cfrc.model.graph.Fault` with an admission code, and a finding later.
"""

from __future__ import annotations

from collections.abc import Callable

from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.resolve.problems import Problems
from cfrc.model.graph import Fault, Kind
from cfrc.source import Span

_KINDS: dict[str, Kind] = {
    "TYP": "typing", "GRD": "grounding", "DEP": "dependency", "EVD": "evidence",
}  # fmt: skip

# An unknown name as an argument has no source; before a field (``s.id``) or in a guard it refers to no node. What is
# not about names is about types: of the argument (TYP004) or within the expression (TYP005).
_ARGUMENT = {"NAM001": "GRD001", "NAM013": "DEP001", "EXP001": "TYP004", "EXP007": "TYP004"}
_GUARD = {"NAM001": "DEP001", "NAM013": "DEP001"}


def fault(code: str, message: str, span: Span | None, help: str | None = None) -> Fault:
    """A fault; its kind follows from its code."""
    return Fault(_KINDS[code[:3]], code, message, help, span)


def in_argument(found: Diagnostic) -> Fault:
    """The fault that a diagnostic about an argument's expression stands for."""
    return fault(_ARGUMENT.get(found.code, "TYP005"), found.message, found.span, found.help)


def in_guard(found: Diagnostic) -> Fault:
    """The fault that a diagnostic about a guard, an expectation or an ``until`` stands for."""
    return fault(_GUARD.get(found.code, "TYP005"), found.message, found.span, found.help)


def collect(problems: Problems, into: list[Fault], as_fault: Callable[[Diagnostic], Fault]) -> bool:
    """Move what was found into ``into``; whether there was anything."""
    taken = problems.take()
    into.extend(as_fault(d) for d in taken)
    return bool(taken)
