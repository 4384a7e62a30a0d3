"""What all commands share: exit codes, filters, output, colours, and the outermost catch-all."""

from __future__ import annotations

import itertools
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from cfrc import __version__
from cfrc.cli import explain as explain_module
from cfrc.cli.exits import Exit, of_status, worst
from cfrc.cli.output import write_file
from cfrc.codes import explanations
from cfrc.model.graph import Kind
from cfrc.model.verdict import Status
from tests.cli.run import run, run_process


def test_exit_codes_are_pinned() -> None:
    assert [(e.name, int(e)) for e in Exit] == [
        ("HOLDS", 0),
        ("FAILS", 1),
        ("INPUT", 2),
        ("UNDECIDED", 3),
        ("INTERNAL", 4),
    ]
    assert {s.name: int(of_status(s)) for s in Status} == {
        "ADMITTED": 0,
        "COMPLETE": 0,
        "FRESH": 0,
        "UNDECIDED": 3,
        "REFUSED": 1,
        "WITHHELD": 1,
    }


def test_the_worst_exit_wins() -> None:
    order = [Exit.INTERNAL, Exit.INPUT, Exit.FAILS, Exit.UNDECIDED, Exit.HOLDS]
    for a, b in itertools.product(range(5), repeat=2):
        assert worst([order[a], order[b]]) is order[min(a, b)]
    assert worst([]) is Exit.HOLDS


def test_version() -> None:
    done = run("--version")
    assert (done.code, done.out, done.err) == (0, f"cfrc {__version__}\n", "")


def test_no_command_is_a_usage_error() -> None:
    done = run()
    assert done.code == 2 and done.out == "" and "Usage: cfrc" in done.err


@pytest.mark.parametrize("arguments", [["nothing"], ["check", "--nothing"], ["explain", "A", "B"], ["fmt"], ["check"]])
def test_wrong_usage_exits_2_and_prints_no_result(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 2 and done.out == "" and "Usage:" in done.err


@pytest.mark.parametrize("command", ["check", "verify", "test", "fmt", "explain", "schema"])
def test_every_command_has_help(command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0 and f"Usage: cfrc {command}" in done.out


def test_help_names_the_exit_codes() -> None:
    assert "3 undecided" in run("--help").out


def test_an_internal_error_is_one_paragraph_and_exit_4(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("x\x1b[31m\ny")

    monkeypatch.setattr(explain_module, "_listed", broken)
    done = run("explain")
    assert done.code == 4 and done.out == ""
    assert len(done.err.splitlines()) == 1
    assert "internal error" in done.err and "KeyError" in done.err and "\x1b" not in done.err
    assert "cfrc/cli/explain.py:" in done.err
    assert "Traceback" not in done.err


def test_internal_errors_show_their_traceback_when_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(explain_module, "_listed", broken)
    with pytest.raises(KeyError):
        run("explain", env={"CFRC_DEBUG": "1"})


def test_exit_zero_does_not_hide_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(explain_module, "_listed", broken)
    assert run("explain", "--exit-zero").code == 4


def test_explain_lists_every_code() -> None:
    done = run("explain")
    assert done.code == 0 and "CFRC-COV001" in done.out and "CFRC-EVD005" in done.out


@pytest.mark.parametrize("code", ["COV001", "cfrc-cov001", "CFRC-COV001"])
def test_explain_one_code(code: str) -> None:
    done = run("explain", code)
    assert done.code == 0 and done.out.startswith("CFRC-COV001 obligation not discharged\n")


def test_explain_an_unknown_code() -> None:
    done = run("explain", "COV999")
    assert done.code == 2 and done.out == "" and "did you mean CFRC-COV" in done.err


def test_explain_without_a_code_lists_all_by_kind() -> None:
    lines = run("explain").out.splitlines()
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert len(heads) == len(set(heads)) and {"coverage", "support", "ledger", "syntax", "json"} <= set(heads)
    assert lines[lines.index("coverage") + 1].split()[0] == "CFRC-COV001"


@pytest.mark.parametrize("word", ["coverage", "COV", "cov", "CFRC-COV"])
def test_explain_a_kind_lists_its_codes(word: str) -> None:
    done = run("explain", word)
    codes = [line.split()[0] for line in done.out.splitlines()[1:]]
    assert done.code == 0 and done.out.startswith("coverage\n")
    assert codes == [f"CFRC-COV00{i}" for i in range(1, 8)]


def test_explain_knows_the_letters_of_every_code() -> None:
    for e in explanations().values():
        assert e.code in run("explain", e.letters).out and e.code in run("explain", e.kind).out


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_of_finding_has_codes_to_list(kind: str) -> None:
    assert run("explain", kind).code == 0


def test_explain_an_area_lists_its_codes() -> None:
    assert "CFRC-CON006" in run("explain", "contract").out and "CFRC-COV001" not in run("explain", "contract").out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("FOO", "`cfrc explain` lists all codes"),
        ("coverge", "did you mean coverage?"),
        ("COV01", "did you mean CFRC-COV001"),
        ("CVO001", "did you mean CFRC-COV001"),
        ("\x1b[31m", "`cfrc explain` lists all codes"),
    ],
)
def test_explain_an_unknown_word_suggests_what_is_close_and_nothing_else(word: str, hint: str) -> None:
    done = run("explain", word)
    assert done.code == 2 and done.out == "" and hint in done.err and "\x1b" not in done.err


def test_explain_as_json() -> None:
    import json

    assert json.loads(run("explain", "COV001", "--format", "json").out)["code"] == "CFRC-COV001"
    assert len(json.loads(run("explain", "--format", "json").out)["codes"]) > 40


@pytest.mark.parametrize(
    ("tty", "color", "env", "colored"),
    [
        (True, "auto", {"TERM": "xterm"}, True),
        (False, "auto", {"TERM": "xterm"}, False),
        (True, "never", {"TERM": "xterm"}, False),
        (False, "always", {}, True),
        (True, "auto", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, "auto", {"TERM": "dumb"}, False),
    ],
)
def test_colours(tty: bool, color: str, env: dict[str, str], colored: bool) -> None:
    done = run("explain", "COV001", "--color", color, tty=tty, env={"NO_COLOR": "", **env})
    assert ("\x1b[" in done.out) is colored


def test_output_to_a_file_has_no_colours_and_leaves_stdout_alone(tmp_path: Path) -> None:
    target = tmp_path / "codes.txt"
    done = run("explain", "--output", target, tty=True, env={"TERM": "xterm", "NO_COLOR": ""})
    assert done.code == 0 and done.out == ""
    assert "CFRC-COV001" in target.read_text() and "\x1b" not in target.read_text()
    assert list(tmp_path.iterdir()) == [target]


def test_output_that_cannot_be_written_is_exit_2(tmp_path: Path) -> None:
    done = run("explain", "--output", tmp_path / "missing" / "file")
    assert done.code == 2 and "No such file" in done.err and "Traceback" not in done.err


def test_writing_keeps_permissions_follows_links_and_does_not_replace_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_file(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    write_file(Path("/dev/null"), "gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    done = run("explain", "TYP001", encoding="ascii")
    assert done.code == 0 and done.out.isascii()


@pytest.mark.parametrize("bad", ["XYZ", "COV9", "coverge", ""])
def test_a_filter_that_can_match_nothing_is_a_usage_error(bad: str, tmp_path: Path) -> None:
    file = tmp_path / "a.cfrc"
    file.write_text("")
    done = run("check", file, "--select", f"COV001,{bad}" if bad else ",")
    assert done.code == 2 and ("--select" in done.err)


def test_a_reader_that_went_away_does_not_change_the_exit_code() -> None:
    script = f'"{sys.executable}" -m cfrc explain | head -n 1; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert run_process(["--version"], tmp_path).out == f"cfrc {__version__}\n"
    assert run_process(["nothing"], tmp_path).code == 2


def test_quick_commands_load_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "a.cfrc").write_text("")
    for arguments in (["--version"], ["fmt", "a.cfrc"], ["explain"]):
        code = f"import sys; sys.argv = ['cfrc', *{arguments!r}]; from cfrc.cli.main import main; main()"
        code += "; print(*sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert not set(done.stderr.split()) & {"z3", "networkx", "pydantic", "rich", "hypothesis"}, arguments
