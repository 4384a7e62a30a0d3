"""Files and imports: found, confined, read once, bounded; digests depend on meaning only; loading text stays light."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cfrc.lang.diagnostics import SpecError
from cfrc.lang.files import MAX_BYTES, decode
from cfrc.lang.load import load, load_contract, load_proposal
from cfrc.source import Source

DOMAIN = """
domain shop
    id Order, Mail
    fluent paused: bool
    fluent busy: bool
    effect mailed(to: Mail, order: Order)
    write mail(to: Mail, order: Order)
        causes mailed(to, order)
        sets paused = true
        sets busy = true
"""
CONTRACT = """
contract c for shop
    known to: Mail = "a@b" from user turn 1
    known order: Order = "O-1" from user turn 1
    owes note: mailed(to, order)
    owes again: 2 of mailed(_, order)
    allow mail
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".cfrc")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def codes(path: Path | Source, *roots: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load(path, roots=roots)
    assert all(d.span is not None for d in caught.value.diagnostics)
    return [d.code for d in caught.value.diagnostics]


def test_imports_are_relative_to_the_importing_file(tmp_path: Path) -> None:
    write(tmp_path, main='import "parts/contract.cfrc"\ncheck contract c supported', parts__contract='import "domain.cfrc"\n' + CONTRACT,
          parts__domain=DOMAIN + "domain other")  # fmt: skip
    spec = load(tmp_path / "main.cfrc")
    assert list(spec.domains) == ["shop", "other"] and list(spec.contracts) == ["c"] and len(spec.checks) == 1


def test_cycles_and_repeats_are_read_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        a='import "b.cfrc"\nimport "c.cfrc"\n' + DOMAIN,
        b='import "a.cfrc"\nimport "./c.cfrc"',
        c='import "sub/../a.cfrc"\n' + CONTRACT,
    )
    (tmp_path / "sub").mkdir()
    assert list(load(tmp_path / "a.cfrc").contracts) == ["c"]


def test_checks_are_those_of_the_file_itself(tmp_path: Path) -> None:
    write(tmp_path, a='import "b.cfrc"', b=DOMAIN + CONTRACT + "check contract c supported")
    assert load(tmp_path / "a.cfrc").checks == ()
    assert len(load(tmp_path / "b.cfrc").checks) == 1


def test_roots_and_library(tmp_path: Path) -> None:
    write(tmp_path, lib__shop=DOMAIN, work__main='import "shop.cfrc"\n' + CONTRACT)
    assert codes(tmp_path / "work" / "main.cfrc") == ["IMP001"]
    assert load(tmp_path / "work" / "main.cfrc", roots=[tmp_path / "lib"]).contracts
    assert load(Source("<stdin>", 'import "domains/retail.cfrc"')).domains


def test_imports_stay_inside(tmp_path: Path) -> None:
    write(
        tmp_path,
        secret=DOMAIN,
        work__a='import "../secret.cfrc"',
        work__b=f'import "{tmp_path.as_posix()}/secret.cfrc"',
    )
    assert codes(tmp_path / "work" / "a.cfrc") == ["IMP002"]
    assert codes(tmp_path / "work" / "b.cfrc") == ["IMP002"]
    assert load(tmp_path / "work" / "a.cfrc", roots=[tmp_path]).domains
    os.symlink(tmp_path / "secret.cfrc", tmp_path / "work" / "link.cfrc")
    write(tmp_path, work__c='import "link.cfrc"')
    assert codes(tmp_path / "work" / "c.cfrc") == ["IMP002"]


def test_dots_that_stay_inside_are_fine(tmp_path: Path) -> None:
    write(tmp_path, shop=DOMAIN, sub__contract='import "../shop.cfrc"\n' + CONTRACT, main='import "sub/contract.cfrc"')
    assert load(tmp_path / "main.cfrc").contracts
    assert codes(tmp_path / "sub" / "contract.cfrc") == ["IMP002"]


@pytest.mark.parametrize("path", ["", "sub/", "a\\\\b.cfrc", "C:x.cfrc", "a*.cfrc", "a\\u0000b"])
def test_odd_paths(tmp_path: Path, path: str) -> None:
    write(tmp_path, main=f'import "{path}"')
    assert codes(tmp_path / "main.cfrc") == ["IMP003"]


def test_a_misspelt_import_is_guessed(tmp_path: Path) -> None:
    write(tmp_path, shop=DOMAIN, main='import "shpo.cfrc"')
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "main.cfrc")
    (found,) = caught.value.diagnostics
    assert found.code == "IMP001" and found.help == "did you mean `shop.cfrc`?"
    assert found.span is not None and found.span.text == '"shpo.cfrc"'


def test_errors_of_imported_files_have_their_own_places(tmp_path: Path) -> None:
    write(
        tmp_path, shop=DOMAIN.replace("id Order, Mail", "id Order, Male"), main='import "shop.cfrc"\nimport "gone.cfrc"'
    )
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "main.cfrc")
    assert [d.code for d in caught.value.diagnostics] == ["IMP001"]
    write(tmp_path, main='import "shop.cfrc"')
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "main.cfrc")
    found = caught.value.diagnostics
    assert [d.code for d in found] == ["NAM003", "NAM003"]
    assert all(d.span is not None and d.span.source.name.endswith("shop.cfrc") for d in found)


def test_declarations_that_clash_across_files(tmp_path: Path) -> None:
    write(tmp_path, a=DOMAIN, main='import "a.cfrc"\n' + DOMAIN)
    assert codes(tmp_path / "main.cfrc") == ["NAM002"]


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfrc.lang.imports.MAX_FILES", 3)
    write(
        tmp_path, main="\n".join(f'import "x{i}.cfrc"' for i in range(5)), **{f"x{i}": f"domain d{i}" for i in range(5)}
    )
    assert codes(tmp_path / "main.cfrc") == ["IMP004", "IMP004", "IMP004"]


# --- files
# --------------------------------------------------------------------------------------------------------------


def test_unreadable_files(tmp_path: Path) -> None:
    assert codes(tmp_path / "gone.cfrc") == ["INP001"]
    assert codes(tmp_path) == ["INP002"]
    (tmp_path / "dir.cfrc").mkdir()
    write(tmp_path, main='import "dir.cfrc"')
    assert codes(tmp_path / "main.cfrc") == ["INP002"]
    assert codes(Path("a\0b")) == ["INP003"]
    assert codes(tmp_path / "gone.cfrc" / "x") == ["INP001"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs permissions that bind")
def test_forbidden_files(tmp_path: Path) -> None:
    write(tmp_path, main=DOMAIN)
    (tmp_path / "main.cfrc").chmod(0)
    assert codes(tmp_path / "main.cfrc") == ["INP003"]


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b"domain d\n    id \xff", "INP004", (2, 8)),
        ("domain d\n# é ".encode() + b"\xe9", "INP004", (2, 5)),
        ("domain d".encode("utf-16"), "INP004", (1, 1)),
        (b"domain d\n\0", "INP005", (2, 1)),
        (b"#" * (MAX_BYTES + 1), "INP006", (1, 1)),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, code: str, place: tuple[int, int]) -> None:
    (tmp_path / "x.cfrc").write_bytes(data)
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "x.cfrc")
    (found,) = caught.value.diagnostics
    assert found.code == code and found.span is not None and (found.span.line, found.span.column) == place


def test_byte_order_mark_and_line_ends_change_nothing(tmp_path: Path) -> None:
    text = DOMAIN + CONTRACT
    (tmp_path / "x.cfrc").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load(tmp_path / "x.cfrc").contracts["c"] == load(Source("<t>", text)).contracts["c"]
    assert decode("x", b"\xef\xbb\xbfdomain d").text == "domain d"


def test_a_file_as_large_as_allowed(tmp_path: Path) -> None:
    text = DOMAIN + "#" * (MAX_BYTES - len(DOMAIN))
    (tmp_path / "x.cfrc").write_text(text, encoding="utf-8")
    assert load(tmp_path / "x.cfrc").domains


def test_json_is_known_by_name_or_content(tmp_path: Path) -> None:
    write(tmp_path, shop=DOMAIN)
    form = '{"cfrc": 1, "contract": "c", "domain": "shop", "owes": [{"goals": ["mailed(_, _)"]}]}'
    (tmp_path / "c.json").write_text(form)
    (tmp_path / "c.txt").write_text("  \n" + form)
    assert load_contract(tmp_path / "c.json") == load_contract(tmp_path / "c.txt")
    (tmp_path / "bad.json").write_text("domain d")
    assert codes(tmp_path / "bad.json") == ["JSN001"]
    write(tmp_path, main='import "c.json"\nproposal p for c done claims owes1')
    assert load(tmp_path / "main.cfrc").proposals["p"].nodes[0].faults == ()


# --- digests
# ------------------------------------------------------------------------------------------------------------


def digest(text: str) -> str:
    return load(Source("<t>", text)).contracts["c"].digest


def test_layout_comments_and_order_do_not_change_the_digest() -> None:
    first = digest(DOMAIN + CONTRACT)
    assert first.startswith("sha256:") and len(first) == 71
    moved = """
contract c for shop    # a comment
    allow mail
    owes again: 2 of mailed(order: order, to: _)
    owes note: mailed("a@b", "O-1")
    known order: Order = "O-1" from user turn 1
    known to: Mail = "a@b" from user turn 1
"""
    assert digest(DOMAIN + moved) == first
    swapped = DOMAIN.replace(
        "        sets paused = true\n        sets busy = true", "        sets busy = true\n        sets paused = true"
    )
    assert digest(swapped + CONTRACT) == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"O-1"', '"O-2"'),
        ("turn 1", "turn 2"),
        ("allow mail", ""),
        ("2 of", "3 of"),
        ("known to", "fixed to"),
        ("owes note", "owes notes"),
        ("sets paused = true", "sets paused = false"),
        ("id Order, Mail", "id Order, Mail canonical lower"),
        ("causes mailed(to, order)", "causes mailed(to, order) when paused"),
    ],
)
def test_meaning_changes_the_digest(old: str, new: str) -> None:
    text = DOMAIN + CONTRACT
    assert old in text and digest(text.replace(old, new)) != digest(text)


# --- start-up
# -----------------------------------------------------------------------------------------------------------


def test_loading_text_is_light() -> None:
    code = (
        "import sys; from cfrc.lang.load import load; from cfrc.source import Source\n"
        f"load(Source('<t>', {DOMAIN + CONTRACT!r} + 'proposal p for c done claims note'))\n"
        "heavy = {'pydantic', 'z3', 'networkx', 'rich', 'hypothesis', 'lark', 'difflib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_proposals_may_be_many(tmp_path: Path) -> None:
    contract = load(Source("<t>", DOMAIN + CONTRACT)).contracts["c"]
    steps = "\n".join(f"    n{i} = mail(to: to, order: order){f' after n{i - 1}' if i else ''}" for i in range(2000))
    write(tmp_path, p="proposal p for c\n" + steps)
    assert len(load_proposal(tmp_path / "p.cfrc", contract).nodes) == 2000


def test_two_proposals_of_one_name() -> None:
    contract = load(Source("<t>", DOMAIN + CONTRACT)).contracts["c"]
    with pytest.raises(SpecError, match="NAM002"):
        load_proposal(Source("<p>", "proposal p for c done proposal p for c yield"), contract)


def test_an_import_without_its_folder_is_helped(tmp_path: Path) -> None:
    (tmp_path / "main.cfrc").write_text('import "retail.cfrc"\n')
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "main.cfrc")
    assert [d.help for d in caught.value.diagnostics] == ["did you mean `domains/retail.cfrc`?"]
