"""Hostile files through the whole command: exit 2 with a place or a verdict; never a traceback, a hang or an escape."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cfrc.model.verdict import Status
from tests.cli.conftest import CONTRACT, DOMAIN, PROPOSAL
from tests.cli.run import run

ESCAPES = "\x1b[31mred\x1b]0;title\x07\u202egnp\u200b"

TEXTS: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \r\n\t\n",
    "byte order mark only": b"\xef\xbb\xbf",
    "utf-16": "domain d".encode("utf-16"),
    "latin-1": "domain caf\u00e9".encode("latin-1"),
    "nul": b"domain d\x00",
    "escapes": f"domain {ESCAPES}".encode(),
    "escapes in a string": (DOMAIN + CONTRACT.replace("I-1", ESCAPES)).encode(),
    "a lone surrogate": b"domain \xed\xa0\x80",
    "deep parentheses": b"contract c for d owes " + b"(" * 10_000,
    "deep brackets": b"contract c for d known x: A = " + b"[" * 10_000 + b"]" * 10_000,
    "deep nots": b"contract c for d owes " + b"not " * 10_000 + b"x",
    "deep types": b"domain d fluent f: " + b"list[" * 10_000,
    "long line": b"domain d id " + b"a, " * 10_000,
    "long name": b"domain " + b"d" * 1_000_000,
    "huge number": b"contract c for d known x: int = " + b"9" * 100_000,
    "unended string": b'contract c for d request "never ends',
    "markup": b"domain [bold]d[/bold] [link=x]",
}

JSONS: dict[str, bytes] = {
    "duplicate": b'{"cfrc": 1, "nodes": [], "nodes": []}',
    "not a number": b'{"cfrc": NaN, "nodes": []}',
    "huge exponent": b'{"cfrc": 1e999999999, "nodes": []}',
    "huge number": b'{"cfrc": ' + b"9" * 100_000 + b', "nodes": []}',
    "deep": b'{"cfrc": 1, "nodes": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "truncated": b'{"cfrc": 1, "nodes": [{"id": "s"',
    "trailing": b'{"cfrc": 1, "nodes": []} {}',
    "unknown field": b'{"cfrc": 1, "nodes": [], "more": 1}',
    "wrong version": b'{"cfrc": 2, "nodes": []}',
    "a list": b"[]",
    "escapes": json.dumps({"cfrc": 1, "nodes": [], ESCAPES: ESCAPES}).encode(),
    "surrogate": b'{"cfrc": 1, "nodes": [{"id": "\\ud800", "call": "sell", "args": {}}]}',
}

Installer = Callable[..., object]


def is_harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.splitlines()) and len(text) < 200_000


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("command", [["check"], ["verify"], ["test"], ["fmt", "--check"]], ids=lambda c: c[0])
def test_hostile_texts(name: str, command: list[str], verdict_is: Installer, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    path = tmp_path / "a.cfrc"
    path.write_bytes(TEXTS[name])
    done = run(*command, path)
    assert done.code in ({0, 1, 2} if command[0] == "fmt" else {1, 2} if command[0] == "test" else {0, 2})
    if done.code == 0:
        assert name == "escapes in a string" or command[0] == "fmt"
    if done.code == 2:
        assert done.out == "" and done.err
    assert is_harmless(done.out) and is_harmless(done.err)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", JSONS)
@pytest.mark.parametrize("format_", ["text", "json"])
def test_hostile_json_proposals(
    name: str, format_: str, verdict_is: Installer, contract_file: Path, tmp_path: Path
) -> None:
    verdict_is(Status.ADMITTED)
    path = tmp_path / "a.json"
    path.write_bytes(JSONS[name])
    done = run("check", contract_file, path, "--format", format_)
    assert done.code == 2 and "error[CFRC-" in done.err
    assert is_harmless(done.out) and is_harmless(done.err)


def test_a_hostile_file_name(verdict_is: Installer, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    path = tmp_path / f"{ESCAPES}.cfrc"
    for make in (lambda: None, lambda: path.write_text("domain ("), lambda: path.write_text(DOMAIN)):
        make()
        for command in ("check", "verify", "test", "fmt"):
            done = run(command, path)
            assert is_harmless(done.out) and is_harmless(done.err), (command, done.err)
            assert done.code in {0, 1, 2}
    assert is_harmless(run("fmt", "--diff", path).out)


def test_escapes_in_a_formatted_file_are_the_file_s_own(tmp_path: Path) -> None:
    """What ``fmt -`` writes is the file itself, not a report; what ``--diff`` writes is for eyes."""
    path = tmp_path / "a.cfrc"
    path.write_text(f"domain   d # {ESCAPES}\n")
    assert is_harmless(run("fmt", "--diff", path).out)


def test_escapes_in_names_of_a_verdict(contract_file: Path, proposal_file: Path, verdict_is: Installer) -> None:
    verdict_is(Status.REFUSED)
    proposal_file.write_text(PROPOSAL.format(name="plan").replace("item: item", f'item: "{ESCAPES}"'))
    done = run("check", contract_file, proposal_file)
    assert is_harmless(done.out) and is_harmless(done.err)


def test_a_directory_and_a_device(verdict_is: Installer, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    assert run("check", tmp_path).code == 2
    assert run("check", "/dev/null").code == 2
    assert run("check", "/dev/zero").code == 2
