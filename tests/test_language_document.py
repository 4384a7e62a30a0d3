"""The blocks of the documents are true: one file a document, its checks pass, and its JSON forms say what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cfrc
from cfrc.lang.format import format_source
from cfrc.lang.jsonforms import contract_to_json
from cfrc.lang.jsonforms.schema import NAMES, json_schema
from cfrc.lang.textforms import contract_to_text
from cfrc.source import Source
from cfrc.verify import run_check
from tests.cli.run import run

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
LANGUAGE = ROOT / "docs" / "language.md"


def blocks(path: Path, kind: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", DOCS, ids=[p.name for p in DOCS])
def test_all_blocks_resolve_and_their_checks_pass(path: Path) -> None:
    spec = cfrc.load(Source(path.name, "\n".join(blocks(path, "cfrc"))))
    wrong = [r.message for check in spec.checks if not (r := run_check(spec, check)).passed]
    assert not wrong


def test_the_blocks_are_laid_out_and_say_everything() -> None:
    found = blocks(LANGUAGE, "cfrc")
    assert all(format_source(Source("block", text)) == text for text in found)
    spec = cfrc.load(Source("language.md", "\n".join(found)))
    assert {c.target for c in spec.checks} == {"proposal", "contract", "claim"} and len(spec.checks) >= 12


def test_every_keyword_is_told() -> None:
    """What the grammar asks for by name stands in the text (in a table or an example)."""
    grammar = (ROOT / "grammars" / "cfrc.lark").read_text(encoding="utf-8")
    rules = re.sub(r"//.*", "", grammar)
    keywords = set(re.findall(r'"([a-z]+)"', rules))
    told = set(re.findall(r"[a-z]+", LANGUAGE.read_text(encoding="utf-8")))
    assert keywords and keywords <= told, sorted(keywords - told)


def test_the_json_forms_mean_what_text_means(tmp_path: Path) -> None:
    text = "\n".join(blocks(LANGUAGE, "cfrc"))
    (tmp_path / "till.cfrc").write_text(text, encoding="utf-8")
    for name, form in zip(("contract", "proposal", "parts", "steps", "ledger"), blocks(LANGUAGE, "json"), strict=True):
        (tmp_path / f"{name}.json").write_text(form, encoding="utf-8")
    contract = cfrc.load_contract(tmp_path / "contract.json")
    proposal = cfrc.load_proposal(tmp_path / "proposal.json", contract)
    assert cfrc.admit(contract, proposal).status is cfrc.Status.ADMITTED
    again = cfrc.load(Source("again", text + contract_to_text(contract))).contracts[contract.name]
    assert again == contract and contract_to_json(again) == contract_to_json(contract)
    spec = cfrc.load(tmp_path / "till.cfrc")
    parts = cfrc.load_contract(tmp_path / "parts.json")
    steps = cfrc.load_proposal(tmp_path / "steps.json", parts)
    assert parts == spec.contracts["every_part"] and steps == spec.proposals["every_step"]
    assert steps.answers == parts.digest
    assert cfrc.load(tmp_path / "ledger.json").ledgers["afternoon"] == spec.ledgers["afternoon"]
    for name, form in (("every_part", "parts"), ("every_step", "steps"), ("afternoon", "ledger")):
        written = run("convert", str(tmp_path / "till.cfrc"), "--name", name, "-o", str(tmp_path / "out.json"))
        assert written.code == 0
        assert json.loads((tmp_path / "out.json").read_text()) == json.loads((tmp_path / f"{form}.json").read_text())


def test_every_member_of_the_json_forms_is_shown() -> None:
    """In a block, or, what has no place there (an import, an actor), in the text."""
    text = LANGUAGE.read_text(encoding="utf-8")
    shown, told = set(re.findall(r'"(\w+)":', text)), set(re.findall(r"`(\w+)`", text))
    schemas = [json_schema(name) for name in NAMES]
    models = [m for schema in schemas for m in (schema, *schema.get("$defs", {}).values())]
    members = {name for model in models for name in model.get("properties", {})}
    assert len(members) > 50 and members <= shown | told, sorted(members - shown - told)


def test_the_kinds_of_audit_findings_are_told() -> None:
    """The table of what ``rejects`` means against a ledger names the kinds that audits give."""
    folder = ROOT / "cfrc" / "verify"
    source = "".join(p.read_text(encoding="utf-8") for p in sorted(folder.glob("audit*.py")))
    kinds = set(re.findall(r'\bkind="(\w+)"', source))
    table = LANGUAGE.read_text(encoding="utf-8").partition("| `rejects` | where")[2]
    assert kinds and kinds == set(re.findall(r"^\| `(\w+)`", table.partition("\n\n")[0], re.MULTILINE))
