"""``cfrc convert``: each form reads back as what it was written from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import cfrc
from cfrc.lang.diagnostics import SpecError
from cfrc.lang.jsonforms import contract_digest, contract_to_json, proposal_digest, proposal_to_json
from cfrc.lang.jsonforms.read import read_form
from cfrc.lang.parse import parse_file
from cfrc.lang.resolve.contracts import resolve_contract
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.proposals import resolve_proposal
from cfrc.lang.textforms import contract_to_text, proposal_to_text
from cfrc.lang.tree import ContractDecl, ProposalDecl
from cfrc.model.contract import Contract
from cfrc.model.graph import Call, Proposal
from cfrc.testing.strategies import Case, cases
from tests.cli.run import run
from tests.lang.test_json_forms import DOMAIN, reread_contract, reread_proposal, spec_text

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.cfrc").write_text(DOMAIN)
    (tmp_path / "all.cfrc").write_text('import "shop.cfrc"\n' + spec_text().removeprefix(DOMAIN))
    return tmp_path


def judged(*files: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("check", *files, "--format", "json").out)
    return {k: v for k, v in found.items() if k in ("verdict", "contract_digest", "proposal_digest")}


def test_there_and_back(folder: Path) -> None:
    assert spec_text().startswith(DOMAIN)
    for name in ("c", "p", "L"):
        assert run("convert", "all.cfrc", "--name", name, "-o", f"{name}.json").code == 0
    assert json.loads((folder / "c.json").read_text())["domain"] == "shop"
    first = judged("all.cfrc", "--proposal", "p")
    assert first["contract_digest"].startswith("sha256:") and judged("c.json", "p.json") == first
    assert run("convert", "c.json", "-o", "c.cfrc").code == run("convert", "c.json", "p.json", "-o", "p.cfrc").code == 0
    assert run("convert", "L.json", "--to", "text", "-o", "L.cfrc").code == 0
    assert judged("c.cfrc", "p.cfrc") == judged("c.cfrc", "p.json") == judged("c.json", "p.cfrc") == first
    for name in ("c", "L"):
        again = run("convert", f"{name}.cfrc")
        assert again.code == 0 and again.out == (folder / f"{name}.json").read_text()
    assert run("convert", "c.cfrc", "p.cfrc").out == (folder / "p.json").read_text()
    assert run("convert", "c.json", "--to", "json").out == (folder / "c.json").read_text()


def test_a_domain_in_the_same_file(folder: Path) -> None:
    (folder / "one.cfrc").write_text(spec_text())
    assert run("convert", "one.cfrc", "--name", "c", "-o", "c.json").code == 0
    assert run("convert", "one.cfrc", "--name", "c", "--to", "text", "-o", "c.cfrc").code == 0
    assert run("convert", "c.json", "-o", "again.cfrc").code == 0
    digests = [json.loads(run("verify", f, "--format", "json").out)["contract_digest"] for f in ("c.json", "c.cfrc")]
    assert digests[0] == digests[1] == cfrc.load("again.cfrc").contracts["c"].digest


def test_what_is_not_clear_or_would_be_lost(folder: Path) -> None:
    several = run("convert", "all.cfrc")
    assert several.code == 2 and "--name (c, p, L)" in several.err
    assert "declares no contract" in run("convert", "shop.cfrc").err
    assert "'q'" in run("convert", "all.cfrc", "--name", "q").err
    assert run("convert", "all.cfrc", "shop.cfrc", "all.cfrc").code == 2
    (folder / "bad.cfrc").write_text("proposal bad for c\n    x = nothing(a: b.c)\n    done\n")
    bad = run("convert", "all.cfrc", "bad.cfrc")
    assert bad.code == 2 and not bad.out and "would be lost" in bad.err
    form = json.loads(run("convert", "all.cfrc", "--name", "c").out) | {"within": []}
    (folder / "none.json").write_text(json.dumps(form))
    nothing = run("convert", "none.json")
    assert nothing.code == 2 and "only JSON" in nothing.err
    assert run("convert", "none.json", "--to", "json").code == 0
    form = json.loads(run("convert", "all.cfrc", "--name", "c").out)
    form["names"][0]["from"] = {"kind": "user", "turn": 1, "quoted": [3, 9]}
    (folder / "quoted.json").write_text(json.dumps(form))
    assert run("convert", "quoted.json").code == 2
    (folder / "broken.json").write_text("{")
    assert run("convert", "broken.json").code == 2


def test_one_name_for_two(folder: Path) -> None:
    text = (folder / "all.cfrc").read_text().replace("ledger L for", "ledger p for").replace("against L", "against p")
    (folder / "all.cfrc").write_text(text)
    told = run("convert", "all.cfrc", "--name", "p")
    assert told.code == 2 and json.loads(run("convert", "all.cfrc", "--name", "ledger p").out)["ledger"] == "p"


def unquoted(contract: Contract) -> Contract:
    """The contract without what only JSON can say: where in its words a user was quoted."""
    names = {
        n: replace(x, origin=replace(x.origin, quoted=None)) if x.origin and x.origin.kind == "user" else x
        for n, x in contract.names.items()
    }
    return replace(contract, names=names)


def soundly(case: Case) -> tuple[Case, bool]:
    """The case in the words of a first reading, and whether both of its parts have a written form."""
    case = replace(case, contract=unquoted(case.contract))
    try:
        contract = replace(reread_contract(case.contract), digest="")
    except SpecError:
        return case, False
    proposal = reread_proposal(case.proposal, contract)
    fair = not proposal.faults and not any(n.faults for n in proposal.nodes)
    return replace(case, contract=contract, proposal=proposal), fair and contract.scope != ()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_text_and_json_of_random_cases_say_the_same(case: Case) -> None:
    case, written = soundly(case)
    assume(written)
    text = contract_to_text(case.contract) + "\n" + proposal_to_text(case.proposal)
    file, problems = parse_file(cfrc.Source("t.cfrc", text))
    assert not problems
    forms = [contract_to_json(case.contract), proposal_to_json(case.proposal)]
    read = [d for f in forms for d in read_form(cfrc.Source("f.json", json.dumps(f)))[0]]
    digests = []
    for declarations in (file.declarations, read):
        (c,) = (d for d in declarations if isinstance(d, ContractDecl))
        (p,) = (d for d in declarations if isinstance(d, ProposalDecl))
        found = Problems()
        resolved = resolve_contract(c, case.domain, found)
        assert not found.found
        digests.append((contract_digest(resolved), proposal_digest(resolve_proposal(p, resolved))))
    assert digests[0] == digests[1]
    assert digests[0][0] == contract_digest(case.contract)


def test_a_proposal_is_named_by_everything_that_it_says() -> None:
    base = Proposal("p", "c", (Call("x", "act", {}),))
    others = [
        replace(base, name="q"), replace(base, answers="sha256:0"), replace(base, nodes=()),
        replace(base, nodes=(Call("x", "act", {}, after=("y",)),)), replace(base, nodes=(Call("x", "other", {}),)),
    ]  # fmt: skip
    assert len({proposal_digest(p) for p in [base, *others]}) == 6 and proposal_digest(base) == proposal_digest(base)
