"""Cases that ``cfrc sweep --out`` keeps load as they are, wherever the domain is, and run again as checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfrc.cli.sweep import main
from tests.cli.run import Ran, run

HERE = Path(__file__).parent
SPEC = HERE.parents[1] / "specs" / "domains" / "retail.cfrc"
RUNS = HERE / "retail_runs.jsonl"


def sweep(domain: Path, *arguments: str | Path) -> Ran:
    return run("sweep", "--domain", domain, "--no-mutants", "--run", "exchange", "--run", "unread", *arguments, RUNS)


def passes(folder: Path) -> None:
    done = run("test", folder, "--allow-empty")
    assert done.code == 0 and "passed: " in done.out, done.out + done.err
    files = [p for p in folder.rglob("*.cfrc") if "\ncheck " in p.read_text()]
    assert f"{len(files)} passed" in done.out and files


def test_a_domain_of_the_library_is_imported_by_its_name(tmp_path: Path) -> None:
    assert sweep(SPEC, "--out", tmp_path / "kept").code == 0
    kept = sorted((tmp_path / "kept").iterdir())
    assert all(p.read_text().startswith('import "domains/retail.cfrc"\n') for p in kept)
    words = {p.read_text().splitlines()[-1].split()[2] for p in kept}
    assert {"admits", "rejects"} <= words
    passes(tmp_path / "kept")


def test_any_other_domain_is_copied_with_what_it_imports(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "parts").mkdir(parents=True)
    (home / "parts" / "more.cfrc").write_text("domain more\n    id Thing\n")
    (home / "desk.cfrc").write_text('import "parts/more.cfrc"\n' + SPEC.read_text())
    done = sweep(home / "desk.cfrc", "--out", tmp_path / "kept")
    assert done.code == 2 and "declares 2 domains" in done.err
    (home / "parts" / "more.cfrc").write_text("# nothing yet\n")
    assert sweep(home / "desk.cfrc", "--out", tmp_path / "kept").code == 0
    assert (tmp_path / "kept" / "parts" / "more.cfrc").exists()
    passes(tmp_path / "kept")


def test_cases_beside_their_domain_leave_it_alone(tmp_path: Path) -> None:
    text = SPEC.read_text()
    (tmp_path / "desk.cfrc").write_text(text)
    assert sweep(tmp_path / "desk.cfrc", "--out", tmp_path).code == 0
    assert (tmp_path / "desk.cfrc").read_text() == text
    passes(tmp_path)


def test_a_folder_that_cannot_be_made_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = sweep(SPEC, "--out", tmp_path / "file" / "inside")
    assert done.code == 2 and "Traceback" not in done.err


def test_the_report_as_json() -> None:
    done = sweep(SPEC, "--format", "json")
    assert done.code == 0 and json.loads(done.out)["runs"] == 2


def test_progress_is_told_where_it_is_asked_for() -> None:
    assert sweep(SPEC).err == ""
    told = sweep(SPEC, "--progress").err.splitlines()
    assert [line.split()[0] for line in told] == ["[1/2]", "[2/2]"] and "exchange" in told[0]


def test_one_run_is_not_many_and_the_column_is_wide_enough() -> None:
    done = run("sweep", "--domain", SPEC, "--run", "address", "--most", "1", RUNS)
    assert done.out.startswith("1 run, ")
    rules = [line for line in done.out.splitlines() if line.startswith("  ") and " killed " in line]
    assert rules and all("  killed" in line or ", killed" in line for line in rules)


def test_the_module_is_a_command_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["sweep", "--domain", str(SPEC), "nowhere.jsonl"])
    assert main() == 2
