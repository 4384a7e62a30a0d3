"""Execution cases from real reports, through the executor and its journal. The verdicts: block, reject, allow.

Each plan comes from the spec file of its case. What is to be blocked is never called, what is to be rejected never ends
as ``done``, and what is to be allowed does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cfrc
from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.journal import JournalError
from cfrc.handoff.running.replay import replay
from cfrc.handoff.running.run import Outcome, run
from cfrc.handoff.tools import Answer
from cfrc.model.domain import Domain
from cfrc.model.graph import without
from cfrc.model.transcript import JSON
from cfrc.source import Source

SPECS = Path(__file__).parents[1] / "specs" / "cases"
FAST = Settings(interval=lambda poll: 0.0, grace=0.0)


class Told:
    """Tools that answer as they are told: a value, an answer, or a list of them (one a call)."""

    def __init__(self, domain: Domain, answers: dict[str, Any]) -> None:
        self.domain, self.answers = domain, answers
        self.calls = list[tuple[str, dict[str, JSON]]]()

    def call(self, tool: str, arguments: Any, call: str) -> Answer:
        self.calls.append((tool, dict(arguments)))
        said = self.answers.get(tool)
        if isinstance(said, list):
            said = said.pop(0)
        return said if isinstance(said, Answer) else Answer("success", said)

    def interface(self) -> Any:
        return dict.fromkeys(self.domain.tools)

    @property
    def made(self) -> list[str]:
        return [tool for tool, _ in self.calls]


NOBODY_KNOWS = Answer("unknown", error="no answer")


Go = Callable[..., tuple[Outcome, Told]]


@pytest.fixture
def go(tmp_path: Path) -> Go:
    count = iter(range(100))

    def run_case(case: str, proposal: str, *, cut: tuple[str, ...] = (), more: str = "", **answers: Any) -> Any:
        text = (SPECS / f"{case}.cfrc").read_text()
        spec = cfrc.load(Source(f"{case}.cfrc", text + more))
        plan = without(spec.proposals[proposal], cut)
        folder = tmp_path / str(next(count))
        folder.mkdir()
        tools = Told(spec.contracts[plan.contract].domain, answers)
        outcome = run(spec.contracts[plan.contract], plan, tools, folder / "journal", settings=FAST)
        if (folder / "journal").exists():
            told = replay(folder / "journal", head=outcome.journal)
            assert told.ledger == outcome.ledger and told.outcome is not None
            if outcome.kind == "done":
                again = run(spec.contracts[plan.contract], plan, tools, folder / "journal", settings=FAST)
                assert (again.kind, again.ledger, again.journal) == ("done", outcome.ledger, outcome.journal)
                return outcome, tools
            with pytest.raises(JournalError) as closed:
                run(spec.contracts[plan.contract], plan, tools, folder / "journal", settings=FAST)
            assert closed.value.code == "JRN005"
        return outcome, tools

    return run_case


def blocked(go: Go, case: str, *proposals: str) -> None:
    """The plan is refused, and nothing at all is called."""
    for proposal in proposals:
        outcome, tools = go(case, proposal)
        assert outcome.kind == "refused" and outcome.verdict is not None, proposal
        assert not tools.calls and outcome.journal is None


def test_case_027_block_a_charge_in_doubt_planned_again(go: Go) -> None:
    blocked(go, "case-027", "charges_again", "looks_away", "the_wrong_way")
    charged = {"charged": True, "amount": 5}
    outcome, tools = go("case-027", "after_failure", charge=NOBODY_KNOWS, lookup=charged)
    assert outcome.kind == "done" and tools.made == ["charge", "lookup"]
    outcome, tools = go("case-027", "after_failure", charge=NOBODY_KNOWS, lookup={"charged": True, "amount": 6})
    assert outcome.kind == "held" and tools.made == ["charge", "lookup"], "another amount was charged: nobody knows"
    free = {"charged": False, "amount": 0}
    outcome, tools = go("case-027", "after_failure", charge=[NOBODY_KNOWS, None], lookup=free)
    assert outcome.kind == "done" and tools.made == ["charge", "lookup", "charge"]


def test_case_029_block_a_turn_replayed_after_a_late_timeout(go: Go) -> None:
    blocked(go, "case-029", "replays")
    outcome, tools = go("case-029", "finds_out", outbox={"sent": True})
    assert outcome.kind == "done" and tools.made == ["outbox"]
    outcome, tools = go("case-029", "finds_out", outbox={"sent": False})
    assert outcome.kind == "done" and tools.made == ["outbox", "notify"]


def test_case_031_block_a_workflow_started_anew(go: Go) -> None:
    blocked(go, "case-031", "from_the_top")
    outcome, tools = go("case-031", "from_the_top", cut=("a",))
    assert outcome.kind == "done" and tools.calls == [("run", {"command": "make Y"})]


def test_case_033_block_a_node_with_two_pauses_run_again(go: Go) -> None:
    blocked(go, "case-033", "node_again", "both_pauses")
    outcome, tools = go("case-033", "node_again", cut=("s",))
    assert outcome.kind == "done" and tools.calls == [("answer", {"pause": "p2"})]


def test_case_035_block_a_handler_that_ran_runs_again(go: Go) -> None:
    blocked(go, "case-035", "again")
    outcome, tools = go("case-035", "again", cut=("h",))
    assert outcome.kind == "done" and tools.made == ["close"]


def test_case_037_reject_a_join_before_both_inputs(go: Go) -> None:
    blocked(go, "case-037", "frontier", "only_join", "does_not_wait", "half_ready")
    running, finished = {"finished": False}, {"finished": True}
    outcome, tools = go("case-037", "waits", poll_step=finished)
    assert outcome.kind == "done" and tools.made == ["poll_step", "join"]
    # The domain does not say that others finish steps meanwhile (`volatile`): what was said first must still be true.
    outcome, tools = go("case-037", "waits", poll_step=[running, finished])
    assert outcome.kind == "held" and outcome.findings[0].code == "CFRC-RUN004" and "join" not in tools.made
    outcome, tools = go("case-037", "waits", poll_step=running)
    assert outcome.kind == "yield" and "join" not in tools.made
    outcome, tools = go("case-037", "in_order")
    assert outcome.kind == "done" and tools.made[-1] == "join"


def test_case_039_reject_a_resumption_of_a_finished_run(go: Go) -> None:
    blocked(go, "case-039", "resumes", "does_both")
    outcome, tools = go("case-039", "resumes", cut=("w",))
    assert outcome.kind == "idle" and not tools.calls
    assert go("case-039", "does_both", cut=("w",))[0].kind == "done", "the fixture sees that it cannot be run again"


def test_case_041_block_two_runs_of_one_request(go: Go, tmp_path: Path) -> None:
    blocked(go, "case-041", "mails_again", "both")
    more = "\nproposal once for second_run\n    m = mail(to: to)\n    done claims q1\n"
    text = (SPECS / "case-041.cfrc").read_text() + more
    spec = cfrc.load(Source("case-041.cfrc", text))
    contract, plan, tools = spec.contracts["second_run"], spec.proposals["once"], Told(spec.domains["mail"], {})
    assert run(contract, plan, tools, tmp_path / "first").kind == "done"
    second = run(contract, plan, tools, tmp_path / "second")
    assert second.kind == "held" and second.findings[0].code == "CFRC-RUN007"
    assert tools.made == ["mail"]


def test_case_043_block_a_second_call_after_an_error(go: Go) -> None:
    blocked(go, "case-043", "same_again", "retries")
    more = "\nproposal once for forgot\n    a = start(job: job)\n    done\n"
    outcome, tools = go("case-043", "once", more=more, start=Answer("failure", error="remote error"))
    assert outcome.kind == "yield" and tools.made == ["start"] and "failed" in outcome.steps["a"]
    outcome, tools = go("case-043", "looks_first", status={"runs": True})
    assert outcome.kind == "done" and tools.made == ["status"]


def test_case_045_allow_an_idempotent_call_again(go: Go) -> None:
    outcome, tools = go("case-045", "retries")
    assert outcome.kind == "done" and tools.made == ["start"]
    outcome, tools = go("case-045", "retries", start=[NOBODY_KNOWS, None])
    assert outcome.kind == "done" and tools.made == ["start", "start"]
    outcome, tools = go("case-045", "reads", status=[NOBODY_KNOWS, {"runs": True}])
    assert outcome.kind == "done" and tools.made == ["start", "status", "status"]
    blocked(go, "case-045", "other_tool", "retries_unnamed", "retries_other", "switches")


def test_case_047_block_steps_done_before_the_drop(go: Go) -> None:
    blocked(go, "case-047", "retries", "all_three")
    outcome, tools = go("case-047", "the_rest")
    assert outcome.kind == "done" and tools.calls == [("apply", {"writes": ["w2", "w3"]})]
    outcome, tools = go("case-047", "the_rest", apply=Answer("partial"))
    assert outcome.kind == "held" and tools.made == ["apply"]
    # No answer at all: one is there and the other is not, so it was partly done, and is not done again.
    dropped = {"apply": NOBODY_KNOWS, "applied_so_far": [{"applied": True}, {"applied": False}]}
    outcome, tools = go("case-047", "the_rest", **dropped)
    assert outcome.kind == "held" and tools.made == ["apply", "applied_so_far", "applied_so_far"]


def test_case_049_reject_a_story_about_a_command(go: Go) -> None:
    more = """
proposal tells for fetch
    done claims call
proposal calls for fetch
    c = bash(command: command)
    done claims call
"""
    outcome, tools = go("case-049", "tells", more=more)
    assert outcome.kind == "refused" and not tools.calls
    for answer in (NOBODY_KNOWS, Answer("pending"), Answer("failure"), Answer("success", "I ran curl.")):
        outcome, _ = go("case-049", "calls", more=more, bash=answer)
        assert outcome.kind in ("held", "yield")
    assert go("case-049", "calls", more=more, bash={"output": "200"})[0].kind == "done"


def test_case_051_reject_call_markup_in_text(go: Go) -> None:
    blocked(go, "case-051", "talks")
    more = """
proposal audits for review
    a = audit(system: system) expect a.finished
    done claims audit
"""
    markup = Answer("success", "<call name=audit>..</call> output: ok")
    assert go("case-051", "audits", more=more, audit=markup)[0].kind == "held"
    assert go("case-051", "audits", more=more, audit={"finished": False})[0].kind == "yield"
    assert go("case-051", "audits", more=more, audit={"finished": True})[0].kind == "done"


def test_case_053_reject_done_after_a_broken_loop(go: Go) -> None:
    blocked(go, "case-053", "breaks_off", "claims_anyway")


def test_case_055_reject_one_worker_of_three(go: Go) -> None:
    blocked(go, "case-055", "one_worker", "merges_early")
    outcome, tools = go("case-055", "all", work={"report": "R"})
    assert outcome.kind == "done" and tools.made == ["work"] * 3 + ["merge"]
    outcome, tools = go("case-055", "all", work=[{"report": "R"}, Answer("failure"), {"report": "R"}])
    assert outcome.kind == "yield" and "merge" not in tools.made


def test_case_057_reject_a_mail_that_was_only_planned(go: Go) -> None:
    blocked(go, "case-057", "half")
    outcome, tools = go("case-057", "whole", search={"hits": 3})
    assert outcome.kind == "done" and tools.made == ["search", "mail"]


def test_case_059_reject_a_missing_hand_over(go: Go) -> None:
    blocked(go, "case-059", "reads_only")
    outcome, tools = go("case-059", "hands_over", lookup={"note": ""})
    assert outcome.kind == "done" and tools.made == ["lookup", "hand_over"]


def test_case_061_allow_a_new_attempt_after_a_definite_failure(go: Go) -> None:
    outcome, tools = go("case-061", "retries")
    assert outcome.kind == "done" and tools.made == ["pay"]
    blocked(go, "case-061", "blind")
