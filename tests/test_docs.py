"""Documented commands print what the documents say. ``--update-golden`` writes the real outputs into them."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from cfrc.cli.main import cli
from tests.cli.run import run

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md"]
_CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)\)")
_LEFT_OUT = "…"
_FREE = re.compile(r"^(  what can happen.*\n|  what it changes\n)(?:    .*\n)+", re.MULTILINE)


def transcript(block: str) -> str:
    """The block with the real output of each of its commands. ``$ echo $?`` prints the last exit code."""
    out: list[str] = []
    code = 0
    for line in (line for line in block.splitlines() if line.startswith("$ ")):
        out.append(line)
        if line == "$ echo $?":
            out.append(str(code))
            continue
        program, *arguments = shlex.split(line[2:])
        assert program == "cfrc", f"only cfrc is run: {line}"
        done = run(*arguments)
        code = done.code
        out += (done.out + done.err).splitlines()
    return "".join(line + "\n" for line in out)


def told(text: str) -> str:
    """The text without what the solver was free to choose: the sentences of a counterexample and what it changes."""
    return _FREE.sub(r"\1", text)


def agrees(documented: str, real: str) -> bool:
    """Whether the texts say the same; a line ``…`` in the documented one stands for any lines."""
    documented, real = told(documented), told(real)
    parts = [re.escape(part) for part in re.split(rf"^{_LEFT_OUT}\n", documented, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(parts), real) is not None


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_outputs_are_real(document: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    if update_golden:
        text = _CONSOLE.sub(lambda m: m[0] if f"\n{_LEFT_OUT}\n" in m[0] else transcript(m[0]), text)
        path.write_text(text, encoding="utf-8")
    for block in _CONSOLE.findall(text):
        real = transcript(block)
        assert agrees(block, real), f"{document} says\n{block}\nbut the output is\n{real}"


@pytest.mark.parametrize("document", [*DOCUMENTS, "ARCHITECTURE.md"])
def test_files_that_documents_name_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in _LINK.findall(text):
        assert (ROOT / target).exists(), f"{document} links to {target}"


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in cli.commands or cli.list_commands(None):  # type: ignore[arg-type]  # needs no context
        assert f"cfrc {name}" in text


def test_the_two_commands_of_the_readme_use_what_exists() -> None:
    """The commands themselves run in ``.ci/run``; here: the files that the first one checks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = next(line for line in text.splitlines() if ".venv/bin/cfrc check" in line)
    files = command.rpartition("cfrc check ")[2].split()
    assert files and all((ROOT / f).is_file() for f in files)
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        assert run("check", *files).code == 0
    finally:
        os.chdir(here)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_python_runs(document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(
        r"(?<=^```python\n).*?(?=^```$)", (ROOT / document).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert blocks
    for block in blocks:
        exec(compile(block, document, "exec"), {})
