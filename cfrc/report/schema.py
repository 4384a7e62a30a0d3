"""Turns the shapes of :mod:`cfrc.report.json` into pydantic models, and those into the published JSON Schema.

Only this module loads pydantic; it is imported when a schema is asked for, or by programs that read verdicts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(_Shape):
    """A place in an input: 1-based line and column, 0-based character offsets, ``end`` exclusive."""

    file: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Note(_Shape):
    """A further place in play, with a few words."""

    label: str
    where: Place


class Fact(_Shape):
    """A fluent instance and its value at the start of the counterexample."""

    fluent: str
    value: Any


class Receipt(_Shape):
    """What one call of the counterexample answered. ``relevant`` is false when no other answer that was tried makes the
    run go right."""

    node: str
    tool: str
    outcome: Literal["ok", "failed", "poll"]
    args: dict[str, Any]
    result: Any
    relevant: bool


class Guard(_Shape):
    guard: str
    holds: bool


class Change(_Shape):
    """One line of the state difference at the offending step."""

    what: str
    before: str
    after: str


class CounterexampleModel(_Shape):
    """A concrete run that was replayed and goes wrong at ``step`` (``null``: at its end)."""

    world: list[Fact]
    receipts: list[Receipt]
    branch: list[Guard]
    order: list[str]
    step: str | None
    difference: list[Change]
    failing: str | None
    failing_where: Place | None
    replayed: bool


class FindingModel(_Shape):
    """One finding. ``error`` refuses, ``undecided`` leaves the verdict open, ``note`` does neither."""

    code: str = Field(pattern=r"^CFRC-[A-Z]+\d{3}$")
    kind: str
    severity: Literal["error", "undecided", "note"]
    message: str
    help: str | None
    advice: str | None
    where: Place | None
    node: str | None
    obligation: str | None
    clauses: list[Note]
    counterexample: CounterexampleModel | None


class StatsModel(_Shape):
    """How many conditions there were, how many of them were decided without the solver, and how many it was asked.
    (What could not be formed as a question counts in neither.)"""

    obligations: int = Field(ge=0)
    normalized: int = Field(ge=0)
    solved: int = Field(ge=0)
    seconds: float = Field(ge=0)


Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class VerdictModel(_Shape):
    """The judgement of one proposal against one contract; ``proposal`` is ``null`` for a contract's own checks. The
    digests name what was judged by its content: the contract's is the one that ``answers`` takes."""

    cfrc: Literal[1]
    verdict: Literal["admitted", "supported", "complete", "fresh", "undecided", "refused", "withheld"]
    contract: str
    contract_digest: Digest | None
    proposal: str | None
    proposal_digest: Digest | None
    findings: list[FindingModel]
    hidden: int = Field(ge=0, description="findings left out by --select and --ignore")
    needed: list[str]
    unneeded: list[str]
    stats: StatsModel


class DiagnosticModel(_Shape):
    """One complaint about an input that cannot be used."""

    code: str = Field(pattern=r"^CFRC-[A-Z]+\d{3}$")
    severity: Literal["error", "warning", "note"]
    message: str
    help: str | None
    where: Place | None
    notes: list[Note]


class VerdictsModel(_Shape):
    """Any number of verdicts with the worst word on top; ``invalid`` when an input cannot be used (exit code 2),
    ``vacuous`` when there is no contract and that is allowed."""

    cfrc: Literal[1]
    verdict: Literal[
        "admitted", "supported", "complete", "fresh", "undecided", "refused", "withheld", "invalid", "vacuous"
    ]
    verdicts: list[VerdictModel]
    diagnostics: list[DiagnosticModel]


class CheckModel(_Shape):
    """One executed ``check``; ``undecided`` is neither a pass nor a failure."""

    file: str
    check: str
    where: Place | None
    outcome: Literal["passed", "failed", "undecided"]
    expected: str
    found: str
    message: str | None
    result: VerdictModel | None


class ChecksModel(_Shape):
    """The report of ``cfrc test``. ``vacuous``: no check to run; ``invalid``: an input cannot be used."""

    cfrc: Literal[1]
    verdict: Literal["passed", "failed", "undecided", "vacuous", "invalid"]
    checks: list[CheckModel]
    diagnostics: list[DiagnosticModel]


class VerdictDocument(RootModel[VerdictModel | VerdictsModel | ChecksModel]):
    """What ``cfrc check``, ``cfrc verify`` and ``cfrc test`` write with ``--format json``."""


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of :class:`VerdictDocument`."""
    schema = VerdictDocument.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "cfrc verdict", **schema}
