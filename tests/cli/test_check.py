"""``cfrc check`` and ``cfrc verify``: exit codes for every verdict, and which proposals are judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cfrc.cli.exits import of_status
from cfrc.model.verdict import Status
from cfrc.report.schema import VerdictDocument
from cfrc.verify.admission import DEFAULT_BUDGET
from tests.cli.conftest import CONTRACT, DOMAIN, PROPOSAL
from tests.cli.run import run

VerdictIs = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize("status", Status)
def test_check_exits_by_the_verdict(
    status: Status, verdict_is: VerdictIs, contract_file: Path, proposal_file: Path
) -> None:
    verdict_is(status)
    done = run("check", contract_file, proposal_file)
    assert (done.code, done.err) == (of_status(status), "")
    assert done.out.splitlines()[-1].startswith(f"{status.word}: plan for deal")


@pytest.mark.parametrize("status", Status)
def test_verify_exits_by_the_verdict(status: Status, verdict_is: VerdictIs, contract_file: Path) -> None:
    verdict_is(status)
    done = run("verify", contract_file)
    assert (done.code, done.err) == (of_status(status), "")
    word = "supported" if status is Status.ADMITTED else status.word
    told, digest = done.out.splitlines()[-2:]
    assert told.startswith(f"{word}: contract deal") and digest.startswith("  digest: sha256:")
    assert run("verify", contract_file, "--quiet").out.splitlines() == [told]


def test_one_file_with_both_judges_every_proposal(verdict_is: VerdictIs, spec_file: Path) -> None:
    verdict_is(Status.ADMITTED, two=Status.REFUSED)
    done = run("check", spec_file)
    assert done.code == 1
    assert "admitted: one for deal" in done.out and "refused: two for deal" in done.out
    assert done.out.endswith("2 verdicts: 1 admitted, 1 refused\n")


@pytest.mark.parametrize(
    ("one", "two", "code"),
    [
        (Status.ADMITTED, Status.COMPLETE, 0),
        (Status.ADMITTED, Status.UNDECIDED, 3),
        (Status.UNDECIDED, Status.REFUSED, 1),
        (Status.WITHHELD, Status.UNDECIDED, 1),
    ],
)
def test_the_worst_verdict_wins(one: Status, two: Status, code: int, verdict_is: VerdictIs, spec_file: Path) -> None:
    verdict_is(one, two=two)
    assert run("check", spec_file).code == code


def test_proposals_can_be_chosen(verdict_is: VerdictIs, spec_file: Path) -> None:
    verdict_is(Status.ADMITTED, two=Status.REFUSED)
    assert run("check", spec_file, "--proposal", "one").code == 0
    assert run("check", spec_file, "--proposal", "two").code == 1
    assert run("check", spec_file, "--contract", "deal", "--proposal", "one", "--proposal", "two").code == 1


@pytest.mark.parametrize("option", ["--proposal", "--contract"])
def test_an_unknown_choice_is_a_usage_error(option: str, verdict_is: VerdictIs, spec_file: Path) -> None:
    verdict_is(Status.ADMITTED)
    done = run("check", spec_file, option, "three")
    assert done.code == 2 and "'three'" in done.err and done.out == ""


def test_every_proposal_of_the_second_file_is_judged(
    verdict_is: VerdictIs, contract_file: Path, proposal_file: Path
) -> None:
    verdict_is(Status.ADMITTED, other=Status.REFUSED)
    proposal_file.write_text(PROPOSAL.format(name="plan") + PROPOSAL.format(name="other"))
    assert run("check", contract_file, proposal_file).code == 1
    assert run("check", contract_file, proposal_file, "--proposal", "plan").code == 0
    assert run("check", contract_file, proposal_file, "--proposal", "none").code == 2


@pytest.mark.parametrize("place", [0, 1])
def test_standard_input(place: int, verdict_is: VerdictIs, contract_file: Path, proposal_file: Path) -> None:
    verdict_is(Status.ADMITTED)
    files: list[str | Path] = [contract_file, proposal_file]
    data = Path(files[place]).read_bytes()
    files[place] = "-"
    done = run("check", *files, stdin=data)
    assert (done.code, done.err) == (0, "")
    assert run("check", "-", "-").code == 2


def test_nothing_to_judge_is_no_success(verdict_is: VerdictIs, contract_file: Path, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    empty = tmp_path / "empty.cfrc"
    empty.write_text(DOMAIN)
    for arguments in (["check", contract_file], ["check", empty], ["check", contract_file, empty], ["verify", empty]):
        done = run(*arguments)
        assert done.code == 2 and done.out == "", arguments


BROKEN = {
    "missing": None,
    "syntax": b"contract (",
    "names": (DOMAIN + CONTRACT.replace("sold(item)", "bought(item)")).encode(),
    "types": (DOMAIN + CONTRACT.replace("sold(item)", "sold(3)")).encode(),
    "encoding": b"\xff\xfe\x00",
    "binary": b"\x00\x01",
    "json": b'{"cfrc": 1, "cfrc": 2}',
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("command", ["check", "verify", "test"])
def test_bad_input_exits_2_with_the_place(kind: str, command: str, verdict_is: VerdictIs, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    path = tmp_path / "a.cfrc"
    if (data := BROKEN[kind]) is not None:
        path.write_bytes(data)
    done = run(command, path)
    assert done.code == 2 and done.out == ""
    assert "error[CFRC-" in done.err and "a.cfrc" in done.err
    assert run(command, path, "--exit-zero").code == 2


def test_bad_input_as_json(verdict_is: VerdictIs, tmp_path: Path) -> None:
    verdict_is(Status.ADMITTED)
    path = tmp_path / "a.cfrc"
    path.write_text("contract (")
    for command in ("check", "verify", "test"):
        done = run(command, path, "--format", "json")
        assert done.code == 2 and "error[CFRC-SYN" in done.err
        VerdictDocument.model_validate_json(done.out)
        assert json.loads(done.out)["verdict"] == "invalid"


def test_good_files_are_verified_beside_bad_ones(verdict_is: VerdictIs, contract_file: Path) -> None:
    verdict_is(Status.ADMITTED)
    done = run("verify", contract_file, contract_file.parent / "missing.cfrc")
    assert done.code == 2
    assert "supported: contract deal" in done.out and "there is no file" in done.err


def test_json(verdict_is: VerdictIs, contract_file: Path, proposal_file: Path, spec_file: Path) -> None:
    verdict_is(Status.ADMITTED, two=Status.REFUSED)
    done = run("check", contract_file, proposal_file, "--format", "json")
    VerdictDocument.model_validate_json(done.out)
    assert json.loads(done.out)["verdict"] == "admitted" and done.code == 0
    done = run("check", spec_file, "--format", "json")
    VerdictDocument.model_validate_json(done.out)
    assert done.code == 1
    assert [v["verdict"] for v in json.loads(done.out)["verdicts"]] == ["admitted", "refused"]
    assert json.loads(done.out)["verdict"] == "refused"


@pytest.mark.parametrize("filters", [["--select", "TYP"], ["--ignore", "COV001"], ["--ignore", "coverage"]])
def test_filters_hide_findings_but_never_a_refusal(
    filters: list[str], verdict_is: VerdictIs, contract_file: Path, proposal_file: Path
) -> None:
    verdict_is(Status.REFUSED)
    done = run("check", contract_file, proposal_file, *filters)
    assert done.code == 1
    assert "CFRC-COV001" not in done.out
    assert done.out == "1 finding not shown (--select, --ignore)\nrefused: plan for deal (coverage)\n"
    done = run("check", contract_file, proposal_file, *filters, "--format", "json")
    document = json.loads(done.out)
    VerdictDocument.model_validate_json(done.out)
    assert (done.code, document["verdict"], document["findings"], document["hidden"]) == (1, "refused", [], 1)


@pytest.mark.parametrize("filters", [["--select", "COV"], ["--select", "typing,CFRC-COV001"], ["--ignore", "TYP"]])
def test_filters_that_match_show(
    filters: list[str], verdict_is: VerdictIs, contract_file: Path, proposal_file: Path
) -> None:
    verdict_is(Status.REFUSED)
    assert "CFRC-COV001" in run("check", contract_file, proposal_file, *filters).out


@pytest.mark.parametrize("status", Status)
def test_exit_zero_silences_verdicts(
    status: Status, verdict_is: VerdictIs, contract_file: Path, proposal_file: Path
) -> None:
    verdict_is(status)
    done = run("check", contract_file, proposal_file, "--exit-zero")
    assert done.code == 0 and f"{status.word}: plan" in done.out


def test_quiet_prints_verdict_lines_only(verdict_is: VerdictIs, spec_file: Path) -> None:
    verdict_is(Status.REFUSED)
    done = run("check", spec_file, "-q")
    assert done.out.splitlines() == [
        "refused: one for deal (coverage)",
        "refused: two for deal (coverage)",
        "2 verdicts: 2 refused",
    ]


def test_the_budget_is_passed_on(verdict_is: VerdictIs, contract_file: Path, proposal_file: Path) -> None:
    calls = verdict_is(Status.ADMITTED)
    run("check", contract_file, proposal_file, "--budget", "17")
    run("check", contract_file, proposal_file)
    assert [c["budget"] for c in calls] == [17, DEFAULT_BUDGET]
    assert run("check", contract_file, proposal_file, "--budget", "0").code == 2
    assert run("check", contract_file, proposal_file, "--budget", "much").code == 2


def test_output_file(verdict_is: VerdictIs, contract_file: Path, proposal_file: Path, tmp_path: Path) -> None:
    verdict_is(Status.REFUSED)
    target = tmp_path / "verdict.json"
    done = run("check", contract_file, proposal_file, "--format", "json", "--output", target)
    assert (done.code, done.out) == (1, "")
    assert json.loads(target.read_text())["verdict"] == "refused"


def test_an_output_that_cannot_be_written_is_not_a_verdict(
    verdict_is: VerdictIs, contract_file: Path, proposal_file: Path, tmp_path: Path
) -> None:
    verdict_is(Status.ADMITTED)
    assert run("check", contract_file, proposal_file, "-o", tmp_path / "no" / "file").code == 2


def test_a_third_file_is_a_usage_error(verdict_is: VerdictIs, contract_file: Path) -> None:
    verdict_is(Status.ADMITTED)
    assert run("check", contract_file, contract_file, contract_file).code == 2


def test_imports_are_found_in_given_roots(verdict_is: VerdictIs, tmp_path: Path, proposal_file: Path) -> None:
    verdict_is(Status.ADMITTED)
    (tmp_path / "roots").mkdir()
    (tmp_path / "roots" / "shop_domain.cfrc").write_text(DOMAIN)
    (tmp_path / "main").mkdir()
    contract = tmp_path / "main" / "contract.cfrc"
    contract.write_text('import "shop_domain.cfrc"\n' + CONTRACT)
    assert run("check", contract, proposal_file).code == 2
    assert run("check", contract, proposal_file, "--root", tmp_path / "roots").code == 0
    assert run("check", contract, proposal_file, "--root", tmp_path / "none").code == 2


@pytest.mark.parametrize("form", ["text", "json"])
def test_swapped_files_are_said_to_be_swapped(form: str, contract_file: Path, tmp_path: Path) -> None:
    plan = tmp_path / f"plan.{'cfrc' if form == 'text' else 'json'}"
    nodes = '{"cfrc": 1, "nodes": [{"id": "s", "call": "sell", "args": {"item": {"ref": "item"}}}, {"id": "e", "done": {}}]}'
    plan.write_text(PROPOSAL.format(name="plan") if form == "text" else nodes)
    done = run("check", plan, contract_file)
    assert done.code == 2 and done.out == "" and "error[CFRC-NAM012]" in done.err
    assert "wrong way round" in done.err and "give the contract first" in done.err
    assert run("check", contract_file, plan).code == 0


def test_a_json_proposal_alone_is_asked_for_its_contract(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"cfrc": 1, "nodes": []}')
    done = run("check", plan)
    assert done.code == 2 and "names no contract" in done.err and "`cfrc check CONTRACT PROPOSAL`" in done.err
    plan.write_text('{"cfrc": 1, "contract": "deal", "nodes": []}')
    assert "`cfrc check CONTRACT PROPOSAL`" in run("check", plan).err


def test_what_is_wrong_with_a_contract_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.cfrc"
    path.write_text(
        DOMAIN + CONTRACT.replace(" from user turn 1", "") + PROPOSAL.format(name="one") + PROPOSAL.format(name="two")
        + "check one admits\ncheck two admits\n"
    )  # fmt: skip
    for command in ("check", "test"):
        done = run(command, path)
        assert done.code == 1 and done.out.count("error[CFRC-CON001]") == 1
        assert done.out.count("withheld: one for deal") == done.out.count("withheld: two for deal") == 1
    verdicts = json.loads(run("check", path, "--format", "json").out)["verdicts"]
    assert all(v["findings"] for v in verdicts), "a document is complete"


def test_arguments_without_names_are_one_finding_with_the_names(contract_file: Path, proposal_file: Path) -> None:
    proposal_file.write_text(PROPOSAL.format(name="plan").replace("item: item", "item"))
    done = run("check", contract_file, proposal_file)
    assert done.code == 1 and "write `sell(item: item)`" in done.out
    assert done.out.splitlines()[-1] == "refused: plan for deal (typing)"


def test_what_does_not_matter_is_not_shown(tmp_path: Path) -> None:
    domain = DOMAIN.replace("    write sell", "    read look(item: Item) -> { price: int }\n    write sell")
    contract = CONTRACT.replace("allow sell", "allow sell, look")
    plan = "proposal plan for deal\n    l = look(item: item)\n    done after l\n"
    path = tmp_path / "spec.cfrc"
    path.write_text(domain + contract + plan)
    done = run("check", path)
    assert done.code == 1 and "succeeds, whatever it answers" in done.out and "·" not in done.out


def test_a_file_without_a_contract_is_told_from_one_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "domain.cfrc").write_text(DOMAIN)
    done = run("verify", tmp_path / "domain.cfrc")
    assert done.code == 2 and "can be read" in done.err and "--allow-empty" in done.err
    allowed = run("verify", tmp_path / "domain.cfrc", "--allow-empty")
    assert (allowed.code, allowed.out, allowed.err) == (0, "vacuous: there is no contract to check\n", "")
    form = run("verify", tmp_path / "domain.cfrc", "--allow-empty", "--format", "json")
    assert form.code == 0 and json.loads(form.out)["verdict"] == "vacuous"
    (tmp_path / "domain.cfrc").write_text("domain")
    assert run("verify", tmp_path / "domain.cfrc", "--allow-empty").code == 2


def test_digests_bind_a_verdict_to_what_was_judged(spec_file: Path) -> None:
    first = json.loads(run("check", spec_file, "--proposal", "one", "--format", "json").out)
    answers = json.loads(run("verify", spec_file, "--format", "json").out)["contract_digest"]
    assert first["contract_digest"] == answers and first["proposal_digest"].startswith("sha256:")
    text = spec_file.read_text()
    spec_file.write_text(
        "# a comment\n" + text.replace("proposal one for deal", f'proposal one for deal answers "{answers}"')
    )
    again = json.loads(run("check", spec_file, "--proposal", "one", "--format", "json").out)
    assert again["contract_digest"] == answers and again["proposal_digest"] != first["proposal_digest"]
    spec_file.write_text("# a comment\n" + text)
    assert json.loads(run("check", spec_file, "--proposal", "one", "--format", "json").out) | {"stats": None} == (
        first | {"stats": None}
    )
