"""Turns a task and a cut into what becomes of it: frozen, the remainder closed on a copy, admitted, run, compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.retail.shop import Shop, Step, Task, replica, tools
from cfrc.adapters.handoffs import handoffs
from cfrc.adapters.runs import read_runs
from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.closing.author import Planned
from cfrc.handoff.closing.close import close
from cfrc.handoff.freezing.freeze import freeze
from cfrc.handoff.freezing.typing import ledger_of
from cfrc.handoff.running.run import run
from cfrc.handoff.tools import ToolError, plain
from cfrc.lang.load import load
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify import admit

DOMAIN = Path(__file__).parents[2] / "specs" / "domains" / "retail.cfrc"


@cache
def domain() -> Domain:
    return load(DOMAIN).domains["retail"]


@dataclass(frozen=True, slots=True)
class Went:
    """What became of one cut. ``word`` is the verdict, or what was frozen where that is no open contract; ``same``
    compares the live database with the one after the reference run; ``touched``: anything was changed at all."""

    cut: str
    word: str
    codes: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    outcome: str | None = None
    same: bool | None = None
    touched: bool = False


def cuts(task: Task) -> Iterator[Went]:
    """Every cut of a task. What is owed is what the whole reference run changes, asked before its first call."""
    shop = Shop()
    record = [_made(shop, s) for s in task.steps]
    final = shop.digest()
    asked = _asked(task, record)
    before = Shop()
    for at in range(len(task.steps) + 1):
        yield _cut(f"{task.id}/{at}", asked, task, record[:at], before, final)
        if at < len(task.steps):
            _made(before, task.steps[at])


def _made(shop: Shop, step: Step) -> dict[str, Any]:
    """A call and its real outcome, as a line of receipts."""
    line = {"type": "receipt", "tool": step.tool, "arguments": dict(step.arguments)}
    try:
        return {**line, "status": "success", "result": plain(shop.call(step.tool, **step.arguments))}
    except ToolError as refusal:
        return {**line, "status": "failure", "error": str(refusal)}


def _asked(task: Task, record: list[dict[str, Any]]) -> Contract:
    """The task's contract: values that the request says, and what the reference's successful writes come to."""
    actions = [
        {
            "name": r["tool"],
            "arguments": r["arguments"],
            "result": r.get("result"),
            "write": domain().tools[r["tool"]].writes,
            "error": r["status"] == "failure",
        }
        for r in record
    ]
    text = json.dumps({"id": task.id, "request": task.request, "actions": actions}, default=float)
    (whole,) = read_runs(Source(task.id, text), domain())
    asked = next(iter(handoffs(domain(), whole))).contract
    return asked if asked.scope else replace(asked, scope=None)  # an empty scope has no text form


def _cut(name: str, asked: Contract, task: Task, record: list[dict[str, Any]], before: Shop, final: str) -> Went:
    lines = [{"type": "message", "role": "user", "text": task.request}]
    lines += [{**r, "id": f"p{i}"} for i, r in enumerate(record)]
    ledger, _ = ledger_of(domain(), read_transcript(json.dumps(lines, default=float), "receipts"), words=False)
    frozen = freeze(asked, ledger)
    if frozen.kind != "contract":
        codes = tuple(dict.fromkeys(r.code.removeprefix("CFRC-") for r in frozen.reasons))
        same = before.digest() == final if frozen.kind == "complete" else None
        return Went(name, frozen.kind, codes, tuple(r.message for r in frozen.reasons), same=same)
    rest = [Planned(s.tool, _plain(s.arguments), f"r{i}") for i, s in enumerate(task.steps[len(record) :])]
    closed = close(frozen.contract, rest, replica(before, list(domain().tools)))
    verdict = admit(frozen.contract, closed.proposal)
    codes = tuple(dict.fromkeys(f.code.removeprefix("CFRC-") for f in verdict.errors))
    why = tuple(n.message for n in closed.problems)
    live = Shop.__deepcopy__(before, None)
    with TemporaryDirectory() as folder:
        done = run(frozen.contract, closed.proposal, tools(live, list(domain().tools)), Path(folder) / "run.journal")
    now = live.digest()
    same = now == final if verdict.status is Status.ADMITTED else None
    outcome = done.kind if done.kind == "done" else f"{done.kind}: {done.reason}"
    return Went(name, verdict.status.word, codes, why, outcome, same, now != before.digest())


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {k: plain(v) for k, v in arguments.items()}
