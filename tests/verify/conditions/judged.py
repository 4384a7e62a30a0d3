"""Turns small texts into verdicts: a domain, a contract and steps, judged as one proposal."""

from __future__ import annotations

from cfrc.lang.load import load
from cfrc.model.verdict import Verdict
from cfrc.source import Source
from cfrc.verify.admission import admit


def judged(domain: str, contract: str, steps: str) -> Verdict:
    """The verdict on a proposal of these steps. Both ways of deciding must say the same."""
    text = f"domain d\n{domain}\ncontract z for d\n{contract}\nproposal h for z\n{steps}\n"
    spec = load(Source("<string>", text))
    verdict = admit(spec.contracts["z"], spec.proposals["h"])
    solved = admit(spec.contracts["z"], spec.proposals["h"], normalize=False)
    assert (verdict.status, errors(verdict)) == (solved.status, errors(solved))
    return verdict


def errors(verdict: Verdict) -> set[str]:
    return {f.code.removeprefix("CFRC-") for f in verdict.errors}


def said(domain: str, contract: str, steps: str) -> str:
    """The codes of the errors in order, or the verdict's name where there are none."""
    verdict = judged(domain, contract, steps)
    return " ".join(sorted(errors(verdict))) or verdict.status.word
