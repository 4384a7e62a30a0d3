"""The stories in ``examples`` are true: their checks pass, both forms say the same, and the texts show real outputs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cfrc
from tests.cli.run import run
from tests.test_docs import agrees, transcript

ROOT = Path(__file__).parent.parent
INVOICE = ROOT / "examples" / "invoice"
README = INVOICE / "README.md"
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_every_check_passes_and_is_laid_out() -> None:
    assert run("test", INVOICE).code == 0
    assert run("fmt", "--check", INVOICE).code == 0


def test_every_bad_plan_is_refused_and_has_a_check() -> None:
    spec = cfrc.load(INVOICE / "bad.cfrc")
    assert len(spec.proposals) >= 12
    assert {c.subject for c in spec.checks} == set(spec.proposals)
    assert {c.verdict for c in spec.checks} == {"rejects"}


def test_the_bad_plans_are_refused_for_different_reasons() -> None:
    spec = cfrc.load(INVOICE / "bad.cfrc")
    contract = spec.contracts["send_receipt"]
    reasons = {
        name: frozenset((f.code, f.obligation) for f in cfrc.admit(contract, p).findings)
        for name, p in spec.proposals.items()
    }
    same = {("looks_up", "wrong_file")}  # the same damage, once by a look-up and once by a name
    assert len(set(reasons.values())) >= len(reasons) - len(same)


def test_both_forms_of_the_contract_are_one_contract() -> None:
    text, json = (cfrc.load_contract(INVOICE / f"contract.{form}") for form in ("cfrc", "json"))
    assert text == json and text.digest == json.digest


def test_both_forms_of_the_good_plan_are_one_plan() -> None:
    contract = cfrc.load_contract(INVOICE / "contract.cfrc")
    text, json = (cfrc.load_proposal(INVOICE / f"good.{form}", contract) for form in ("cfrc", "json"))
    assert [n.id for n in text.nodes][:2] == [n.id for n in json.nodes][:2]
    assert cfrc.admit(contract, text).status is cfrc.admit(contract, json).status is cfrc.Status.ADMITTED


def test_the_bad_plan_in_json_answers_this_contract_and_is_refused() -> None:
    contract = cfrc.load_contract(INVOICE / "contract.json")
    bad = cfrc.load_proposal(INVOICE / "bad.json", contract)
    assert bad.answers == contract.digest
    kinds = {f.kind for f in cfrc.admit(contract, bad).findings}
    assert {"preservation", "grounding", "evidence", "coverage"} <= kinds


def test_the_readme_shows_real_outputs(update_golden: bool) -> None:
    text = README.read_text(encoding="utf-8")
    if update_golden:
        text = CONSOLE.sub(lambda block: transcript(block[0]), text)
        README.write_text(text, encoding="utf-8")
    for block in CONSOLE.findall(text):
        assert agrees(block, transcript(block))


def test_the_readme_names_files_that_exist_and_every_plan() -> None:
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (INVOICE / target).exists(), target
    for name in cfrc.load(INVOICE / "bad.cfrc").proposals:
        assert name in text, f"{name} is not told"


def test_the_program_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"(?<=^```python\n).*?(?=^```$)", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(block, str(README), "exec"), {})
    assert capsys.readouterr().out.startswith("good admitted []\nbad refused")
