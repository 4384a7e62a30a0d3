"""Every spec file in this folder is true: its checks pass, and its verdicts read as the text beside it says.

A file stands in the folder of its verdict. ``NAME.out`` holds the verdicts as the command prints them;
``--update-golden`` writes it anew. Runs that a solver makes up are left out of it, since another solver may make up
others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import cfrc
from cfrc.codes import explanations
from cfrc.lang.load import load
from cfrc.model.check import Spec
from cfrc.model.verdict import Verdict
from cfrc.report.checks import describe
from cfrc.report.naming import Naming
from cfrc.report.terminal import render_verdict
from cfrc.source import Source
from cfrc.verify import run_check
from cfrc.verify.checks import CheckResult
from tests.cli.run import run

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.cfrc"))
NAMES = [str(f.relative_to(HERE).with_suffix("")) for f in FILES]
CASES = HERE.parents[2] / "shared" / "cases" / "cases.jsonl"

UNREACHABLE = {"CFRC-GRD003"}
"""No operator of the language computes an identifier, so only a proposal built in memory can have this finding."""

SAME_VERDICT = {
    "reject": {"rejects", "withheld"},
    "block": {"rejects", "withheld"},
    "admit": {"admits", "accepts"},
    "allow": {"admits", "accepts"},
}
"""How the reports' words are said here."""


@cache
def results(path: Path) -> tuple[Spec, tuple[CheckResult, ...]]:
    spec = load(Source(path.relative_to(HERE).as_posix(), path.read_text(encoding="utf-8")))
    return spec, tuple(run_check(spec, check) for check in spec.checks)


def plain(verdict: Verdict) -> Verdict:
    """The verdict without what depends on the solver: its runs, its effort, and what it happened to need."""
    findings = tuple(replace(f, counterexample=None, advice=None) for f in verdict.findings)
    return replace(verdict, findings=findings, needed=(), unneeded=(), stats=cfrc.model.verdict.Stats())


def transcript(path: Path) -> str:
    spec, ran = results(path)
    parts = []
    for result in ran:
        proposal = spec.proposals.get(result.check.subject)
        name = proposal.contract if proposal is not None else result.check.subject
        text = render_verdict(plain(result.verdict), Naming(spec.contracts.get(name)), width=100)
        parts.append(f"{describe(result.check)}\n\n{text}")
    return "\n\n".join(parts)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_check_passes(path: Path) -> None:
    _, ran = results(path)
    assert ran, "a file without a check says nothing"
    wrong = [f"{describe(r.check)}: {r.message}" for r in ran if not r.passed]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_verdicts_read_as_expected(path: Path, golden: Callable[[Path, str], None]) -> None:
    golden(path.with_suffix(".out"), transcript(path))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_counterexample_was_replayed(path: Path) -> None:
    for r in results(path)[1]:
        assert all(f.counterexample.replayed for f in r.verdict.findings if f.counterexample is not None)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_the_folder_names_the_verdict(path: Path) -> None:
    verdict, *rest = path.relative_to(HERE).parts
    words = {c.verdict for c in results(path)[0].checks}
    match verdict:
        case "admitted":
            assert words == {"admits"}
        case "refused":
            assert any(e.kind == rest[0] for c in results(path)[0].checks for e in c.expected)
        case "ledger":
            assert {"accepts", "rejects"} <= words
        case "cases" | "features":
            assert len(words) > 1, "a case has its controls, and a feature matters"
        case _:
            assert verdict in words


def test_every_code_of_admission_is_exercised() -> None:
    seen = {f.code for path in FILES for r in results(path)[1] for f in r.verdict.findings}
    wanted = {e.code for e in explanations().values() if e.area in ("admission", "contract")}
    assert wanted - seen <= UNREACHABLE


def test_what_is_no_fault_has_a_near_miss() -> None:
    """Beside each thing that a checker must not refuse stands one of the same name that it must."""
    no_faults = {p.stem for p in (HERE / "admitted" / "not-faults").glob("*.cfrc")}
    near_misses = {p.stem for p in (HERE / "refused").glob("*/*.cfrc")}
    assert len(no_faults) == 8 and no_faults <= near_misses


def test_files_are_laid_out() -> None:
    assert run("fmt", "--check", *FILES).code == 0


def test_the_command_agrees() -> None:
    done = run("test", HERE)
    assert done.code == 0, done.out


@pytest.mark.skipif(not CASES.exists(), reason="the reported cases are not at hand")
def test_every_reported_case_has_its_file() -> None:
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        path = HERE / "cases" / f"{case['id']}.cfrc"
        if case["capability"] not in ("contract", "admission") and not path.exists():
            continue
        assert path.exists(), f"{case['id']} has no file: {case['what']}"
        words = {r.check.verdict for r in results(path)[1] if r.passed}
        assert words & SAME_VERDICT[case["expected"]["verdict"]], f"{case['id']} is not {case['expected']['verdict']}"
