"""Turns recorded handoffs into the audit table of the residual-completion paper (Table 4), for one's own runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from cfrc.handoff.auditing.deeds import begun, followed, retold, writes, wrote
from cfrc.handoff.auditing.rates import Rate
from cfrc.handoff.auditing.trials import Judgement, Trial, bindings, obligations
from cfrc.handoff.running.journal import json_text
from cfrc.handoff.running.replay import Replayed
from cfrc.handoff.running.retell import HOSTILE
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.verdict import Status, Verdict


@dataclass(slots=True)
class Audit:
    """What the trials show.

    ``grounded``: bound values that were said, accepted or returned, of trials with a transcript. ``recovered``:
    obligations of the reference, of trials with one. ``supported``: live writes whose identifiers have a source.
    ``admitted``: journals whose plan is admitted when it is judged again. ``followed``: journals that are of the
    contract and proposal that they are said to be of. ``replayed``: journals that replay. ``repeated``: refusals that
    come out the same twice. ``early``: interventions (refusals and holds) before the first live write. ``verdicts``
    counts the plans by what they are when judged now, ``kinds`` the refused ones with a finding of each kind,
    ``outcomes`` the runs, ``held`` those held by each code, ``tokens`` the provider's counters by stage.
    """

    trials: int = 0
    grounded: list[Judgement] = field(default_factory=list)
    recovered: list[Judgement] = field(default_factory=list)
    supported: list[Judgement] = field(default_factory=list)
    admitted: list[Judgement] = field(default_factory=list)
    followed: list[Judgement] = field(default_factory=list)
    replayed: list[Judgement] = field(default_factory=list)
    repeated: list[Judgement] = field(default_factory=list)
    early: list[Judgement] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def ungrounded(self) -> Rate:
        """The executed plans that made a live write with an identifier from nowhere, of those that made a write."""
        bad = {j.trial for j in self.supported if not j.good}
        return Rate(len(bad), len({j.trial for j in self.supported}))

    def rows(self) -> Mapping[str, list[Judgement]]:
        """The judgements of each row, by its name."""
        return {
            "bindings": self.grounded,
            "obligations": self.recovered,
            "writes": self.supported,
            "admissions": self.admitted,
            "records": self.followed,
            "replays": self.replayed,
            "refusals": self.repeated,
            "interventions": self.early,
        }

    def add(self, other: Audit) -> None:
        """Takes over what another audit found."""
        self.trials += other.trials
        for mine, more in zip(self.rows().values(), other.rows().values(), strict=True):
            mine.extend(more)
        for counted, added in (
            (self.verdicts, other.verdicts), (self.outcomes, other.outcomes), (self.kinds, other.kinds),
            (self.held, other.held),
        ):  # fmt: skip
            counted.update(added)
        for stage, tokens in other.tokens.items():
            self.tokens.setdefault(stage, Counter()).update(tokens)

    def lapses(self) -> Iterator[tuple[str, Judgement]]:
        """Every judgement that is not as one hopes, with the name of its row."""
        return ((name, j) for name, row in self.rows().items() for j in row if not j.good)


def rate(row: Iterable[Judgement]) -> Rate:
    """How many judgements of a row are good."""
    all_ = list(row)
    return Rate(sum(j.good for j in all_), len(all_))


def audit(trials: Iterable[Trial], *, today: date | datetime | None = None, budget: int | None = None) -> Audit:
    """Audits the trials, whose names are their own. ``today`` is when the approvals of plans without a journal are
    judged, ``budget`` bounds the solver's work for each plan. A run counts once: a journal that was audited already,
    under another name or as a copy, says nothing that is independent of the first.

    Raises :class:`~cfrc.handoff.running.journal.JournalError` where a journal cannot be read.
    """
    found, seen = Audit(), set[str]()
    for trial in trials:
        told = retold(trial)
        of = _run_of(trial, told)
        if of is None or of not in seen:
            found.add(_one(trial, told, today, budget))
        if of is not None:
            seen.add(of)
    return found


def _run_of(trial: Trial, told: Replayed | Judgement | None) -> str | None:
    """Which run a trial's journal is of, as its opening says; of a journal without sense, which file it is."""
    if isinstance(told, Replayed):
        return json_text(told.entries[0])
    return None if trial.journal is None else str(trial.journal.resolve())


def _one(trial: Trial, told: Replayed | Judgement | None, today: date | datetime | None, budget: int | None) -> Audit:
    """One trial's part of the whole."""
    found = Audit(1, tokens={stage: Counter(counts) for stage, counts in trial.usage.items()})
    if isinstance(told, Replayed):
        try:
            return _executed(trial, trial.contract or told.contract, told, budget, found)
        except HOSTILE as problem:
            why = f"what it holds means nothing ({type(problem).__name__}: {problem})"
            told = Judgement(trial.name, "journal", False, why)
            found = Audit(1, tokens=found.tokens)
    if told is not None:
        found.replayed.append(told)
    if trial.contract is not None:
        _frozen(found, trial, trial.contract)
        if trial.proposal is not None and told is None:
            _proposed(found, trial.name, trial.contract, trial.proposal, today, budget)
    return found


def _frozen(found: Audit, trial: Trial, contract: Contract) -> None:
    """What the contract says."""
    found.grounded += bindings(trial, contract)
    found.recovered += obligations(trial, contract)


def _executed(trial: Trial, contract: Contract, told: Replayed, budget: int | None, found: Audit) -> Audit:
    """A journal. That its plan was admitted is not believed: nothing in the journal could tell."""
    _frozen(found, trial, contract)
    found.replayed.append(Judgement(trial.name, "journal", True))
    verdict = _admit(contract, told.proposal, begun(told), budget)
    found.verdicts[verdict.status.word] += 1
    good = verdict.status is Status.ADMITTED
    codes = ", ".join(dict.fromkeys(f.code for f in verdict.findings if f.severity != "note"))
    why = "" if good else f"the plan that ran is {verdict.status.word} ({codes})"
    found.admitted.append(Judgement(trial.name, told.proposal.name, good, why))
    found.followed += followed(trial, told)
    found.supported += writes(trial, contract, told)
    closed = told.outcome or {}
    kind = str(closed.get("kind", "unfinished"))
    found.outcomes[kind] += 1
    if kind == "held":
        code = f"CFRC-{closed.get('code')}"
        found.held[code] += 1
        why = f"held ({code}) after a live write: {closed.get('reason')}" if wrote(told) else ""
        found.early.append(Judgement(trial.name, "held", not why, why))
    return found


def _proposed(
    found: Audit, name: str, contract: Contract, proposal: Proposal, today: date | datetime | None, budget: int | None
) -> None:
    """A proposal without a journal: judged twice, to see that the verdict is the same."""
    first, again = (_admit(contract, proposal, today, budget) for _ in range(2))
    found.verdicts[first.status.word] += 1
    if first.status not in (Status.REFUSED, Status.WITHHELD):
        return
    found.kinds.update({f.kind for f in first.findings if f.severity == "error"})
    found.early.append(Judgement(name, first.status.word, True))
    why = "" if _told(first) == _told(again) else "the findings of two admissions differ"
    found.repeated.append(Judgement(name, first.status.word, not why, why))


def _admit(contract: Contract, proposal: Proposal, today: date | datetime | None, budget: int | None) -> Verdict:
    from cfrc.verify.admission import DEFAULT_BUDGET, admit

    return admit(contract, proposal, today=today, budget=budget or DEFAULT_BUDGET)


def _told(v: Verdict) -> tuple[object, ...]:
    return v.status, tuple((f.code, f.node, f.obligation, f.message, f.counterexample) for f in v.findings)
