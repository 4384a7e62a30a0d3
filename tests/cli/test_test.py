"""``cfrc test``: exit codes, what is printed about a failed check, and that no check is no pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import cfrc.verify
from cfrc.model.check import Check, Spec
from cfrc.model.verdict import Status, Verdict
from cfrc.report.checks import describe
from cfrc.report.schema import VerdictDocument
from tests.cli.conftest import CONTRACT, DOMAIN, PROPOSAL, finding
from tests.cli.run import run

CHECKS = "check plan admits\ncheck plan without s rejects coverage(sale), evidence\ncheck contract deal supported\n"


@dataclass(frozen=True)
class Result:
    check: Check
    passed: bool
    verdict: Verdict
    message: str


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "spec.cfrc"
    path.write_text(DOMAIN + CONTRACT + PROPOSAL.format(name="plan") + CHECKS)
    return path


@pytest.fixture
def results_are(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``results_are((passed, status), …)``: the results of the checks, in order, the last for all that follow."""

    def install(*results: tuple[bool, Status]) -> None:
        left = list(results)

        def run_check(spec: Spec, check: Check, **_: object) -> Result:
            passed, status = left.pop(0) if len(left) > 1 else left[0]
            proposal = check.subject if check.target == "proposal" else None
            return Result(check, passed, Verdict(status, "deal", proposal, finding(status)), "" if passed else "not so")

        monkeypatch.setattr(cfrc.verify, "run_check", run_check, raising=False)

    return install


GOOD, BAD, OPEN = (True, Status.ADMITTED), (False, Status.REFUSED), (False, Status.UNDECIDED)


@pytest.mark.parametrize(
    ("results", "code", "last"),
    [
        ([GOOD], 0, "passed: 3 checks in 1 file: 3 passed"),
        ([BAD], 1, "failed: 3 checks in 1 file: 3 failed"),
        ([(False, Status.ADMITTED), GOOD], 1, "failed: 3 checks in 1 file: 2 passed, 1 failed"),
        ([GOOD, OPEN], 3, "undecided: 3 checks in 1 file: 1 passed, 2 undecided"),
        ([BAD, OPEN], 1, "failed: 3 checks in 1 file: 1 failed, 2 undecided"),
        ([(True, Status.UNDECIDED)], 0, "passed: 3 checks in 1 file: 3 passed"),
    ],
)
def test_exit_codes(
    results: list[tuple[bool, Status]], code: int, last: str, results_are: Callable[..., None], file: Path
) -> None:
    results_are(*results)
    done = run("test", file)
    assert (done.code, done.out.splitlines()[-1], done.err) == (code, last, "")
    assert run("test", file, "--exit-zero").code == 0


def test_a_failed_check_is_shown_with_what_was_found(results_are: Callable[..., None], file: Path) -> None:
    results_are(GOOD, (False, Status.REFUSED), GOOD)
    done = run("test", file)
    assert "failed: `check plan without s rejects coverage(sale), evidence`" in done.out
    assert "expected: rejects coverage(sale), evidence" in done.out
    assert "found: refused: coverage(sale)" in done.out
    assert "note: not so" in done.out
    assert "error[CFRC-COV001]" in done.out and "spec.cfrc:14:1" in done.out


def test_quiet_is_the_summary_only(results_are: Callable[..., None], file: Path) -> None:
    results_are(BAD)
    assert run("test", "-q", file).out == "failed: 3 checks in 1 file: 3 failed\n"


def test_no_check_is_no_pass(results_are: Callable[..., None], tmp_path: Path) -> None:
    results_are(GOOD)
    empty = tmp_path / "empty.cfrc"
    empty.write_text(DOMAIN)
    done = run("test", empty)
    assert (done.code, done.out) == (1, "vacuous: there is no check to run\n")
    assert run("test", "--allow-empty", empty).code == 0


def test_directories(results_are: Callable[..., None], file: Path) -> None:
    results_are(GOOD)
    (file.parent / "more").mkdir()
    (file.parent / "more" / "empty.cfrc").write_text(DOMAIN)
    (file.parent / "more" / "again.cfrc").write_text(file.read_text())
    assert run("test", file.parent).out == "passed: 6 checks in 2 files: 6 passed\n"


def test_good_files_run_beside_bad_ones(results_are: Callable[..., None], file: Path) -> None:
    results_are(GOOD)
    (file.parent / "broken.cfrc").write_text("domain")
    done = run("test", file.parent)
    assert done.code == 2
    assert done.out == "passed: 3 checks in 1 file: 3 passed\n" and "broken.cfrc" in done.err
    document = json.loads(run("test", file.parent, "--format", "json").out)
    assert document["verdict"] == "invalid" and len(document["checks"]) == 3


def test_json(results_are: Callable[..., None], file: Path) -> None:
    results_are(GOOD, BAD, OPEN)
    done = run("test", file, "--format", "json")
    VerdictDocument.model_validate_json(done.out)
    document = json.loads(done.out)
    assert (done.code, document["verdict"]) == (1, "failed")
    assert [c["outcome"] for c in document["checks"]] == ["passed", "failed", "undecided"]


def test_filters_do_not_change_outcomes(results_are: Callable[..., None], file: Path) -> None:
    results_are(BAD)
    done = run("test", file, "--ignore", "COV")
    assert done.code == 1 and "CFRC-COV001" not in done.out and "not shown" in done.out


@pytest.mark.parametrize(
    "text",
    [
        "check plan admits",
        "check plan rejects",
        "check plan without s, end rejects only coverage(sale), typing",
        "check plan undecided",
        "check contract deal supported",
        "check contract deal against book accepts",
        "check claim sale of deal against book rejects",
    ],
)
def test_checks_are_described_as_they_are_written(text: str, tmp_path: Path) -> None:
    from cfrc.lang.load import load

    path = tmp_path / "a.cfrc"
    named = PROPOSAL.format(name="plan").replace("done", "end = done")
    path.write_text(DOMAIN + CONTRACT + named + "ledger book for shop\n" + text + "\n")
    assert describe(load(path).checks[0]) == text


def test_the_note_of_a_failed_check_has_no_empty_parentheses(tmp_path: Path) -> None:
    path = tmp_path / "spec.cfrc"
    path.write_text(
        DOMAIN + CONTRACT + 'proposal gives_up for deal\n    yield "no"\n'
        "check gives_up rejects scope\ncheck contract deal supported\n"
    )  # fmt: skip
    done = run("test", path)
    assert done.code == 1 and "found coverage" in done.out and "()" not in done.out
    told = json.loads(run("test", path, "--format", "json").out)["checks"]
    assert told[1]["message"] == "supported, as expected"
