"""Every spec file of the repository is laid out as the formatter does it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.run import run

ROOT = Path(__file__).parents[2]
FOLDERS = [str(ROOT / name) for name in ("specs", "examples", "tests")]


def test_all_spec_files_are_laid_out() -> None:
    done = run("fmt", "--check", *FOLDERS)
    assert done.code == 0, done.err
