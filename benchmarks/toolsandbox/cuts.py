"""Turns a task's recorded calls and a cut into what becomes of it: frozen, the remainder closed and admitted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.toolsandbox.owed import contract_text, owed
from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.closing.author import Planned
from cfrc.handoff.closing.close import close
from cfrc.handoff.freezing.freeze import freeze, reload
from cfrc.handoff.freezing.typing import ledger_of
from cfrc.handoff.tools import Answer
from cfrc.lang.load import load
from cfrc.model.domain import Domain
from cfrc.verify import admit
from cfrc.verify.audit import audit_contract

DOMAIN = Path(__file__).parents[2] / "specs" / "domains" / "toolsandbox.cfrc"


@cache
def domain() -> Domain:
    return load(DOMAIN).domains["toolsandbox"]


@dataclass(frozen=True, slots=True)
class Went:
    """``word`` is the verdict on the remainder, or what was frozen where that is no open contract."""

    cut: str
    last: bool
    word: str
    codes: tuple[str, ...]
    goals: int
    hidden: Mapping[str, int]
    clean: bool
    untyped: int


def tasks(folder: Path) -> Iterator[dict[str, Any]]:
    for line in (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line, parse_float=Decimal)


def cuts(task: Mapping[str, Any]) -> Iterator[Went]:
    what = owed(task["milestones"], task["minefields"])
    asked = reload(contract_text(task["request"], list(domain().tools), what), domain())
    actions = task["actions"]
    for at in range(len(actions) + 1):
        lines = [{"type": "message", "role": "user", "text": task["request"]}]
        lines += [_receipt(i, a) for i, a in enumerate(actions[:at])]
        text = json.dumps(lines, default=float)
        ledger, notes = ledger_of(domain(), read_transcript(text, "receipts"), words=False)
        frozen = freeze(asked, ledger)
        clean = not audit_contract(frozen.contract, ledger).errors
        word: str = frozen.kind
        found = frozen.reasons
        if frozen.kind == "contract":
            rest = [Planned(a["name"], a["arguments"], f"r{i}", _answer(a)) for i, a in enumerate(actions[at:])]
            verdict = admit(frozen.contract, close(frozen.contract, rest).proposal)
            word, found = verdict.status.word, tuple(verdict.errors)
        codes = tuple(sorted({f.code.removeprefix("CFRC-") for f in found}))
        yield Went(
            f"{task['id']}/{at}", at == len(actions), word, codes, len(what.goals), what.hidden, clean, len(notes)
        )


def _answer(a: Mapping[str, Any]) -> Answer:
    if a.get("error"):
        return Answer("failure", error=str(a["result"]))
    tool = domain().tools[a["name"]]
    result = a["result"]
    return Answer("success", {} if result is None and tool.writes else result)


def _receipt(number: int, a: Mapping[str, Any]) -> dict[str, Any]:
    answer = _answer(a)
    outcome = {"error": answer.error} if answer.error is not None else {"result": answer.result}
    line = {"type": "receipt", "id": f"p{number}", "tool": a["name"], "arguments": a["arguments"]}
    return {**line, "status": answer.status, **outcome}
