"""Turns the names of measurements into rows, one at a time, so that a long run shows what it already has."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks import peers, symbolic
from benchmarks.graphs import SHAPES, ground
from benchmarks.live import run_rows
from benchmarks.rows import Row
from benchmarks.timing import cold, run, warm
from cfrc.lang.format import format_source
from cfrc.lang.load import load
from cfrc.lang.parse import parse_file
from cfrc.model.check import Spec
from cfrc.model.contract import Contract
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify.admission import Admission
from cfrc.verify.supported import support

AIMS = {20: 0.2, 200: 2.0, 2000: 25.0}
PEER_LIMIT = 1000
"""Steps up to which unified-planning is asked: it needs about a second for that many."""
CUTOFF = 150.0
"""Seconds after which a case in a process of its own is given up."""
MEMORY_LIMIT = 500
"""Megabytes that the largest ground case may need."""


def ground_rows(quick: bool) -> Iterator[Row]:
    """Admission of ground graphs. Each case is a process: its memory is its own, and it can be cut off."""
    sizes = (20,) if quick else (20, 200, 2_000, 10_000)
    for shape in ("chain",) if quick else SHAPES:
        before: Row | None = None
        for size in sizes:
            before = _ground(shape, size, False, before)
            yield before
            if before.ms is None:
                break
    for size in sizes[:3]:
        yield _ground("chain", size, True, None)


def _ground(shape: str, size: int, named: bool, smaller: Row | None) -> Row:
    name = f"admit {shape}, {size:,} nodes" + (", by name" if named else "")
    aim = AIMS.get(size)
    try:
        done = run(["-m", "benchmarks.worker", shape, str(size), *(["named"] if named else [])], CUTOFF)
    except subprocess.TimeoutExpired:
        return Row("ground", name, None, aim, note=f"given up after {CUTOFF:.0f} s")
    if done.returncode != 0:
        return Row("ground", name, None, aim, note=f"failed: {done.stderr.strip().splitlines()[-1:]}")
    found = json.loads(done.stdout)
    notes = [f"{found['status']}, {found['normalized']:,} of {found['obligations']:,} conditions without the solver"]
    notes.append(f"contract prepared in {found['prepare']:,.0f} ms")
    if smaller is not None and smaller.ms:
        notes.append(f"{found['ms'] / smaller.ms:.1f}x the size before")
    if size == 10_000:
        word = "below" if found["megabytes"] < MEMORY_LIMIT else "ABOVE"
        notes.append(f"{word} the limit of {MEMORY_LIMIT} MB")
    compared = _compared(shape, size) if not named else {}
    return Row("ground", name, found["ms"], aim, compared, "; ".join(notes), found["megabytes"])


def _compared(shape: str, size: int) -> dict[str, float | None]:
    plan = ground(shape, size)
    found: dict[str, float | None] = {"replay floor": warm(peers.floor(plan))}
    if size <= PEER_LIMIT:
        judge = peers.unified_planning(plan)
        found["unified-planning"] = None if judge is None else warm(judge, most=5)
    return found


def decision_rows(quick: bool) -> Iterator[Row]:
    """May this one call be made? A contract with as many licences against Cedar with as many policies."""
    for licences in (1,) if quick else (1, 10, 100):
        plan = ground("wide", licences)
        one, done = plan.proposal.nodes[0], plan.proposal.nodes[-1]
        contract = replace(plan.contract, obligations=plan.contract.obligations[:1])
        admission, proposal = Admission(contract), replace(plan.proposal, nodes=(one, done))
        status = admission.admit(proposal).status
        judge = peers.cedar(licences)
        theirs = {"Cedar": None if judge is None else warm(judge, most=50)}
        ms = warm(partial(admission.admit, proposal), most=50)
        yield Row(
            "decision",
            f"one call, {licences} licence{'s' if licences > 1 else ''}",
            ms,
            None,
            theirs,
            f"{status.word}, all kinds of findings",
        )


def _spec(text: str) -> Spec:
    return load(Source("<benchmark>", text))


def symbolic_rows(quick: bool) -> Iterator[Row]:
    """Receipts that may alias, conditional effects, guards: what only the solver can settle."""
    for size in (10,) if quick else (10, 50, 200):
        yield _admit(f"admit {size} symbolic obligations", symbolic.desk(size), 20.0 if size == 50 else None)
    for count in (20,) if quick else (50, 200):
        yield _admit(f"admit {count} guards, all covered", symbolic.guards(count, hole=False), None)
        aim = 40.0 if count == 200 else None
        yield _admit(f"refute {count} guards with a hole, replayed", symbolic.guards(count), aim)


def _admit(name: str, text: str, aim: float | None) -> Row:
    spec = _spec(text)
    (contract,), (proposal,) = spec.contracts.values(), spec.proposals.values()
    admission = Admission(contract)
    verdict = admission.admit(proposal)
    ms = warm(lambda: admission.admit(proposal), most=7)
    note = f"{verdict.status.word}, {verdict.stats.solved} of {verdict.stats.obligations:,} conditions by the solver"
    stories = [f.counterexample for f in verdict.findings if f.counterexample is not None]
    if verdict.status is Status.REFUSED:
        replayed = sum(1 for s in stories if s.replayed)
        note += f", {replayed} of {len(verdict.findings)} findings with a replayed counterexample"
    return Row("symbolic", name, ms, aim, note=note)


def contract_rows(quick: bool) -> Iterator[Row]:
    """Contract checks alone: is it supported, and can what is owed be done?"""
    for size in (20,) if quick else (20, 200):
        plan = ground("chain", size)
        yield _support(f"check a contract of {size} literal obligations", plan.contract)
    for size in (10,) if quick else (10, 50, 200):
        (contract,) = _spec(symbolic.desk(size)).contracts.values()
        yield _support(f"check a contract of {size} symbolic obligations", contract)


def _support(name: str, contract: Contract) -> Row:
    verdict = support(contract)
    ms = warm(lambda: support(contract), most=7)
    note = "supported" if verdict.status is Status.ADMITTED else verdict.status.word
    return Row("contract", name, ms, note=f"{note}, {verdict.stats.solved} questions to the solver")


def text_rows(quick: bool) -> Iterator[Row]:
    """Parse, resolve and format a text."""
    count = 120 if quick else 1_200
    source = Source("<benchmark>", symbolic.text(count))
    yield Row("text", f"parse {count:,} lines", warm(lambda: parse_file(source), most=7))
    yield Row("text", f"format {count:,} lines", warm(lambda: format_source(source), most=7), note="parse included")
    yield Row("text", f"load {count:,} lines", warm(lambda: load(source), most=7), note="parsed, resolved, digest")


COMMANDS: tuple[tuple[str, tuple[str, ...], float | None], ...] = (
    ("--version", (), 200.0),
    ("fmt", ("--check",), 200.0),
    ("check", (), 500.0),
    ("test", (), None),
    ("verify", (), None),
    ("explain", ("CFRC-COV001",), None),
    ("schema", ("contract",), None),
)


def start_rows(quick: bool) -> Iterator[Row]:
    """Whole processes, from ``python -m cfrc`` to the exit code, on a small spec."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "desk.cfrc"
        text = format_source(Source("desk.cfrc", symbolic.desk(4))) + "check all admits\n"
        spec.write_text(text, encoding="utf-8")
        yield Row("start", "python -c pass", cold(["-c", "pass"], 1 if quick else 5)[0], note="the interpreter alone")
        for command, options, aim in COMMANDS:
            files = [str(spec)] if command in {"fmt", "check", "test", "verify"} else []
            ms, code = cold(["-m", "cfrc", command, *options, *files], 1 if quick else 5)
            yield Row("start", f"cfrc {command}", ms, aim, note="" if code == 0 else f"exit code {code}")


MEASURES: dict[str, Callable[[bool], Iterator[Row]]] = {
    "ground": ground_rows,
    "decision": decision_rows,
    "symbolic": symbolic_rows,
    "contract": contract_rows,
    "text": text_rows,
    "run": run_rows,
    "start": start_rows,
}
"""The groups of rows, in the order of the table."""
