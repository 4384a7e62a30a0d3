"""``cfrc fmt``: exit codes, what is written where, and what is left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.cli.run import run, run_process

UNTIDY = "domain   d\n  id A # a\n"
TIDY = "domain d\n    id A                                                            # a\n"
BROKEN = "domain d\n  effect (\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.cfrc"
    path.write_text(UNTIDY)
    return path


def test_a_file_is_laid_out_in_place(file: Path) -> None:
    file.chmod(0o600)
    done = run("fmt", file)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{file} laid out\n"
    assert file.read_text() == TIDY
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("fmt", file).err == ""


def test_quiet(file: Path) -> None:
    assert run("fmt", "-q", file).err == ""


def test_a_tidy_file_is_not_touched(file: Path) -> None:
    file.write_text(TIDY)
    os.utime(file, (1, 1))
    assert run("fmt", file).code == 0
    assert file.stat().st_mtime == 1


def test_check_writes_nothing(file: Path) -> None:
    done = run("fmt", "--check", file)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"{file} would be laid out anew\n"
    assert file.read_text() == UNTIDY
    file.write_text(TIDY)
    assert run("fmt", "--check", file).code == 0


def test_diff_writes_nothing(file: Path) -> None:
    done = run("fmt", "--diff", file)
    assert done.code == 1
    assert "-domain   d\n-  id A # a\n+domain d\n" in done.out
    assert file.read_text() == UNTIDY
    file.write_text(TIDY)
    assert run("fmt", "--diff", file) == type(done)(0, "", "")


def test_standard_input() -> None:
    assert run("fmt", "-", stdin=UNTIDY.encode()).out == TIDY
    assert run("fmt", "--check", "-", stdin=UNTIDY.encode()).code == 1
    assert run("fmt", "-", stdin=TIDY.encode()).out == TIDY


def test_a_broken_file_is_left_alone_and_the_others_are_done(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "b.cfrc"
    broken.write_text(BROKEN)
    done = run("fmt", broken, file)
    assert done.code == 2 and done.out == ""
    assert "error[CFRC-SYN" in done.err and "b.cfrc:2" in done.err
    assert broken.read_text() == BROKEN and file.read_text() == TIDY


@pytest.mark.parametrize("mode", [[], ["--check"], ["--diff"]])
def test_broken_input_never_passes(mode: list[str]) -> None:
    assert run("fmt", *mode, "-", stdin=BROKEN.encode()).code == 2
    assert run("fmt", *mode, "no such file").code == 2


def test_bad_input_is_worse_than_untidy(file: Path) -> None:
    assert run("fmt", "--check", file, "no such file").code == 2


def test_directories_are_searched(file: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "sub" / "b.cfrc").write_text(UNTIDY)
    (tmp_path / ".hidden" / "c.cfrc").write_text(UNTIDY)
    assert run("fmt", tmp_path).code == 0
    assert file.read_text() == (tmp_path / "sub" / "b.cfrc").read_text() == TIDY
    assert (tmp_path / ".hidden" / "c.cfrc").read_text() == UNTIDY
    assert run("fmt", tmp_path / ".hidden" / "nothing").code == 2


def test_a_directory_without_spec_files_is_a_usage_error(tmp_path: Path) -> None:
    done = run("fmt", tmp_path)
    assert done.code == 2 and "no .cfrc file" in done.err


def test_byte_order_mark_and_windows_line_ends_go(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + TIDY.encode())
    assert run("fmt", "--check", file).code == 1
    assert run("fmt", "--diff", file).out == f"{file}: only its line ends or byte order mark would change\n"
    assert run("fmt", file).code == 0
    assert file.read_bytes() == TIDY.encode()
    file.write_bytes(TIDY.replace("\n", "\r\n").encode())
    assert run("fmt", file).code == 0
    assert file.read_bytes() == TIDY.encode()


def test_a_file_that_may_not_be_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)
    done = run("fmt", file)
    assert done.code == 2 and "Permission denied" in done.err
    assert [p.name for p in file.parent.iterdir()] == ["a.cfrc"]


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run_process(["fmt", "-"], tmp_path, UNTIDY.encode())
    assert (done.code, done.out, done.err) == (0, TIDY, "")


def test_json_has_no_layout(tmp_path: Path) -> None:
    form = tmp_path / "plan.json"
    form.write_text('{"cfrc": 1, "nodes": []}')
    done = run("fmt", form)
    assert done.code == 2 and "only spec text has a layout" in done.err
    assert form.read_text() == '{"cfrc": 1, "nodes": []}'
