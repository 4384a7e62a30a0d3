"""Turns small texts into verdicts: a domain, a contract and steps, judged as one proposal."""

from __future__ import annotations

from itertools import islice
from random import Random

from cfrc.lang.load import load
from cfrc.model.judge import Replayer
from cfrc.model.simulate import simulations
from cfrc.model.verdict import Status, Verdict
from cfrc.source import Source
from cfrc.verify.admission import admit

RUNS = 10


def judged(domain: str, contract: str, steps: str) -> Verdict:
    """The verdict on a proposal of these steps. Both ways of deciding must say the same, and no random run of an
    admitted proposal may go wrong."""
    text = f"domain d\n{domain}\ncontract z for d\n{contract}\nproposal h for z\n{steps}\n"
    spec = load(Source("<string>", text))
    verdict = admit(spec.contracts["z"], spec.proposals["h"])
    solved = admit(spec.contracts["z"], spec.proposals["h"], normalize=False)
    assert (verdict.status, errors(verdict)) == (solved.status, errors(solved))
    if verdict.status is Status.ADMITTED:
        replayer = Replayer(spec.contracts["z"], spec.proposals["h"])
        for scenario in islice(simulations(spec.contracts["z"], spec.proposals["h"], Random(steps)), RUNS):
            trace = replayer.replay(scenario)
            assert trace.legal and not trace.violations, (scenario, trace.violations)
    return verdict


def errors(verdict: Verdict) -> set[str]:
    return {f.code.removeprefix("CFRC-") for f in verdict.errors}


def said(domain: str, contract: str, steps: str) -> str:
    """The codes of the errors in order, or the verdict's name where there are none."""
    verdict = judged(domain, contract, steps)
    return " ".join(sorted(errors(verdict))) or verdict.status.word
