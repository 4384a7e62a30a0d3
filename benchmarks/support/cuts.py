"""Turns a recorded run and a cut into a frozen contract, made of what was said and returned before the cut."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.support.owed import Owed, contract_text, owed
from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.freezing.freeze import Frozen, freeze, reload
from cfrc.handoff.freezing.typing import ledger_of
from cfrc.lang.load import load
from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.ledger import Ledger
from cfrc.model.verdict import Status
from cfrc.verify.audit import audit_claims, audit_contract

DOMAIN = Path(__file__).parents[2] / "specs" / "domains" / "support.cfrc"


@cache
def domain() -> Domain:
    return load(DOMAIN).domains["support"]


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run; ``changes`` are the cuts just behind a call that changed the database."""

    id: str
    user: str
    request: str
    actions: tuple[Mapping[str, Any], ...]
    gold: bool
    owed: Owed
    changes: tuple[int, ...]

    def contract(self) -> Contract:
        return reload(contract_text(self.user, self.request, self.owed), domain())


@dataclass(frozen=True, slots=True)
class Cut:
    """What a freeze behind ``at`` calls says. ``clean``: the audit of the contract against the ledger found nothing.
    ``claimed``: receipts discharge every obligation of the task."""

    run: Run
    at: int
    kind: str
    reasons: tuple[str, ...]
    notes: int
    clean: bool
    claimed: bool

    @property
    def last(self) -> bool:
        return self.at == len(self.run.actions)


def runs(folder: Path) -> Iterator[Run]:
    """The runs of a folder with ``tasks.jsonl`` and ``task_defs.jsonl``."""
    tasks = {d["id"]: d for d in _lines(folder / "task_defs.jsonl")}
    for line in _lines(folder / "tasks.jsonl"):
        actions = tuple(line["actions"])
        changes = tuple(i for i, a in enumerate(actions, 1) if a.get("state_changed"))
        what = owed(tasks[line["id"]]["state_requirements"])
        yield Run(line["id"], line["user_id"], line["request"], actions, line["trajectory_is_gold"], what, changes)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line, parse_float=Decimal)


def cut(run: Run, at: int) -> Cut:
    """Freezes what was there before call number ``at``."""
    asked = run.contract()
    ledger, notes = _ledger(run, at)
    frozen = freeze(asked, ledger)
    claims = [o.name for o in asked.obligations]
    claimed = audit_claims(asked, ledger, claims).status is Status.ADMITTED
    return Cut(run, at, frozen.kind, _reasons(frozen), len(notes), _clean(frozen, ledger), claimed)


def _ledger(run: Run, at: int) -> tuple[Ledger, Sequence[object]]:
    """Words bind nothing: a customer names what the talk is about, not all that may be touched."""
    return ledger_of(domain(), read_transcript(json.dumps(record(run, at), default=float), "receipts"), words=False)


def record(run: Run, at: int) -> list[dict[str, Any]]:
    """The first calls of the run, as plain receipts."""
    found: list[dict[str, Any]] = [{"type": "message", "role": "user", "text": run.request}]
    for number, a in enumerate(run.actions[:at]):
        outcome = {"status": "failure", "error": str(a["error"])} if a.get("error") else {
            "status": "success", "result": a["result"],
        }  # fmt: skip
        found.append({"type": "receipt", "id": f"c{number}", "tool": a["name"], "arguments": a["arguments"], **outcome})
    return found


def _clean(frozen: Frozen, ledger: Ledger) -> bool:
    return not audit_contract(frozen.contract, ledger).errors


def _reasons(frozen: Frozen) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{r.code.removeprefix('CFRC-')} {r.message}" for r in frozen.reasons))
