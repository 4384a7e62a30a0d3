"""Turns calls that somebody wants to make into the ones that an admitted plan allows now, and refusals that say why.

No tool is called here, and nothing is written: a guard (or any other runtime) offers a call, makes it if it is
allowed, and records the answer; the records for the journal come out of both. A call is allowed when it is that of a
node which is enabled now, with exactly the arguments that the node's sources give from what receipts have said so far.
Every answer is held against what admission assumed before a later call may use it. All decisions are a ``Session``'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cfrc.handoff.running.live import Ending
from cfrc.handoff.running.session import Entry, Session
from cfrc.handoff.running.wishes import Wish
from cfrc.handoff.tools import Answer, loose
from cfrc.handoff.wire import outgoing
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import wrap
from cfrc.lang.jsonvalues import Mismatch, from_json
from cfrc.model.closing import show_goal
from cfrc.model.contract import Contract, Obligation
from cfrc.model.domain import Tool
from cfrc.model.evaluate import equal
from cfrc.model.graph import Call, Proposal
from cfrc.model.plan import full_args
from cfrc.model.transcript import JSON
from cfrc.model.types import Type
from cfrc.model.values import Value
from cfrc.model.verdict import Status as Judged
from cfrc.model.verdict import Verdict

Before = Callable[[Wish], None]


class NotAdmitted(Exception):
    """The plan was not admitted: nothing of it may be called. ``verdict`` says why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"{verdict.status.word}: {verdict.proposal} for {verdict.contract}")
        self.verdict = verdict


def ensure_admitted(contract: Contract, proposal: Proposal, verdict: Verdict | None = None) -> Verdict:
    """The verdict, if it admits this very plan. ``verdict`` spares the admission where it was just made.
    Raises :class:`NotAdmitted`."""
    if verdict is None:
        from cfrc.verify.admission import admit

        verdict = admit(contract, proposal)
    about = (verdict.contract, verdict.proposal) == (contract.name, proposal.name)
    if verdict.status is not Judged.ADMITTED or not about:
        raise NotAdmitted(verdict)
    return verdict


@dataclass(frozen=True, slots=True)
class Open:
    """One call that is allowed now."""

    node: str
    tool: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Allowed:
    """An offered call that may be made, once. ``arguments`` are what to send: those of the plan, as the server spells
    them, however the caller did. ``entries`` belong in the journal before that."""

    wish: Wish
    arguments: Mapping[str, object]
    entries: list[Entry] = field(repr=False)

    @property
    def node(self) -> str:
        return self.wish.node


@dataclass(frozen=True, slots=True)
class Refusal:
    """An offered call that must not be made, with the code of the reason and what to do instead."""

    code: str
    reason: str
    advice: str
    entries: list[Entry] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        return f"[{self.code}] {self.reason}\n{self.advice}"


class Monitor:
    """One run of an admitted plan, call by call: a :class:`Session` that others make the calls of."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._order = {n.id: i for i, n in enumerate(session.proposal.nodes)}

    @classmethod
    def open(
        cls, contract: Contract, proposal: Proposal, now: datetime, verdict: Verdict | None = None, prefix: str = "g"
    ) -> Monitor:
        """A new run. Raises :class:`NotAdmitted`. ``now`` is the time against which approvals expire."""
        ensure_admitted(contract, proposal, verdict)
        return cls(Session(contract, proposal, now, prefix))

    # -- what may be called -----------------------------------------------------------------------------------------

    @property
    def ending(self) -> Ending | None:
        """How the run ended; ``None`` while it goes on."""
        return self.session.ending

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that the plan may call."""
        return tuple(dict.fromkeys(n.tool for n in self.session.proposal.nodes if isinstance(n, Call)))

    def questions(self) -> list[Wish]:
        """The reads that settle a call of which nobody knows whether it took place: not the caller's, to be made (and
        recorded) before anything else is offered."""
        return [w for w in self.session.wishes() if w.settles is not None]

    def ask(self, question: Wish, at: datetime) -> Allowed:
        """Begins one of the ``questions``."""
        entries = self.session.begin(question, at)
        return Allowed(question, _sent(question), entries)

    def enabled(self) -> list[Open]:
        """The calls that are allowed now, in the plan's order, without those that are being made."""
        return [Open(w.node, w.tool.name, outgoing(w.args, w.tool)) for w in self._wishes()]

    def _wishes(self) -> list[Wish]:
        open_calls = [w for w in self.session.wishes() if w.settles is None]
        return sorted(open_calls, key=lambda w: self._order[w.node])

    def offer(
        self, tool: str, arguments: Mapping[str, object], at: datetime, before: Before | None = None
    ) -> Allowed | Refusal:
        """Whether the call may be made now. An allowed one counts as being made until its answer is recorded.
        ``before`` is told of one that would be allowed, and may still end the run."""
        over = self.over()
        if over is not None:
            return over
        declared = self.session.contract.domain.tools.get(tool)
        if declared is None or tool not in self.tools:
            return self._refuse("RUN101", f"{quoted(tool)} is not part of the plan")
        try:
            given = _given(declared, arguments)
        except Mismatch as problem:
            return self._refuse("RUN103", f"the arguments of `{tool}` are not what it takes: {problem}")
        wishes = [w for w in self._wishes() if w.tool is declared]
        for wish in wishes:
            if not _differences(declared, wish.args, given):
                return self._begin(wish, at, before)
        known = self._known(declared, given)
        if known is not None:
            return self._refuse("RUN102", known)
        if not wishes:
            return self._refuse("RUN104", self._not_yet(tool))
        fewest = min((_differences(declared, w.args, given) for w in wishes), key=len)
        names = ", ".join(f"`{n}`" for n in fewest)
        return self._refuse("RUN103", f"the plan gives other values for {names} of `{tool}`")

    def _known(self, tool: Tool, given: Mapping[str, Value]) -> str | None:
        """Whether this very call is being made, or was made."""
        if any(
            f.wish.tool is tool and not _differences(tool, f.wish.args, given) for f in self.session.flights.values()
        ):
            return f"this call of `{tool.name}` is being made already"
        for r in self.session.receipts:
            if r.tool == tool.name and r.status == "success" and not _differences(tool, dict(r.args), given):
                return f"this call of `{tool.name}` was made already (`{r.id}`): do not repeat it"
        return None

    def _begin(self, wish: Wish, at: datetime, before: Before | None) -> Allowed | Refusal:
        if before is not None:
            before(wish)
            over = self.over()
            if over is not None:
                return over
        entries = self.session.begin(wish, at)
        if (wish.call, wish.attempt) not in self.session.flights:
            trouble = self.session.trouble
            return self._refuse(
                "RUN105", trouble.message if trouble is not None else f"`{wish.node}` is barred", entries
            )
        return Allowed(wish, _sent(wish), entries)

    # -- what came of it --------------------------------------------------------------------------------------------

    def record(self, allowed: Allowed, answer: Answer, at: datetime) -> tuple[str, list[Entry]]:
        """Takes the answer of an allowed call: the node's x after it, and what belongs in the journal.

        ``outside`` and ``doubt`` end the run: a success whose result is not of the declared type, or says what cannot
        be, is no success. ``settling`` asks for :meth:`questions` first."""
        wish = allowed.wish
        entries = self.session.answer(wish.call, wish.attempt, answer, at)
        after = str(entries[-1]["after"])
        return after, entries

    # -- words ------------------------------------------------------------------------------------------------------

    def owed(self) -> list[str]:
        """The obligations that no receipt discharges yet, as text."""
        run = self.session.live.run
        owed = [e for e in run.book.owed if run.active(e.obligation.name)]
        missing = set(run.coverage().assign(owed, ordered=True)[1])
        return [f"{o.name}: {_wanted(o)}" for o in self.session.contract.obligations if o.name in missing]

    def advice(self) -> str:
        """What to do instead of a call that was refused."""
        lines = []
        if self.session.live.ending is None:
            calls = self.enabled()
            lines.append("Now:" if calls else "Now: wait for the calls that are being made.")
            lines += [f"  call {c.tool} with {json.dumps(loose(dict(c.arguments)), default=str)}" for c in calls]
        done = [n for n, s in self.session.live.status.items() if s == "ok"]
        if done:
            lines.append("Done already (do not repeat): " + ", ".join(done))
        owed = self.owed()
        if owed:
            lines.append("Still owed: " + "; ".join(owed))
        return "\n".join(lines)

    def why(self) -> str:
        """Why the run ended, in words; nothing while it goes on."""
        ending = self.session.live.ending
        if ending is None:
            return ""
        trouble = self.session.trouble
        return trouble.message if trouble is not None and ending.kind == "held" else ending.reason

    def _refuse(self, code: str, reason: str, entries: list[Entry] | None = None) -> Refusal:
        return Refusal(f"CFRC-{code}", reason, self.advice(), entries or [])

    def over(self) -> Refusal | None:
        """What every call is told once the run has ended; ``None`` while it goes on."""
        ending = self.session.live.ending
        return self._refuse(*self._over(ending)) if ending is not None else None

    def _over(self, ending: Ending) -> tuple[str, str]:
        match ending.kind:
            case "done":
                return "RUN106", "everything owed is done, by evidence: report it, and call nothing more"
            case "yield":
                return "RUN107", f"the plan hands back here ({self.why()}): tell the user, and call nothing more"
        return "RUN105", f"the run is held ({self.why()}): call nothing more, and do not try again"

    def _not_yet(self, tool: str) -> str:
        session = self.session
        status, busy = session.live.status, {f.wish.node for f in session.flights.values()}
        calls = [n for n in session.proposal.nodes if isinstance(n, Call) and n.tool == tool and n.id not in status]
        preds = {p for n in calls for p in session.live.plan.nodes[n.id].preds}
        first = sorted(p for p in preds if p not in status or p in busy)
        if not calls:
            return f"the plan has no further call of `{tool}`"
        return f"it is not yet the turn of `{tool}`" + (
            f": first {', '.join(f'`{p}`' for p in first)}" if first else ""
        )


def _sent(wish: Wish) -> dict[str, object]:
    return {n: loose(v) for n, v in outgoing(wish.args, wish.tool).items()}


def _given(tool: Tool, arguments: Mapping[str, object]) -> dict[str, Value]:
    """The offered arguments, typed, with the declared defaults. Raises :class:`Mismatch`."""
    found: list[tuple[str, Value]] = []
    for name, value in arguments.items():
        p = tool.param(name)
        if p is None:
            raise Mismatch(f"there is no {quoted(name)}")
        try:
            found.append((name, _typed(value, p.type)))
        except Mismatch as problem:
            raise Mismatch(f"`{name}`: {problem}") from None
    full = full_args(tool, tuple(found))
    missing = [p.name for p in tool.params if p.name not in full]
    if missing:
        raise Mismatch(f"`{missing[0]}` is missing")
    return full


def _typed(value: object, t: Type) -> Value:
    said: list[str] = []
    try:
        return from_json(wrap(value), t, lambda message, help, where: said.append(message))
    except (ValueError, TypeError) as problem:
        raise Mismatch("; ".join(said[:3]) or str(problem)) from None


def _wanted(o: Obligation) -> str:
    word = {"one": "one of ", "any": "any of "}.get(o.choice, "" if o.count == 1 else f"{o.count} of ")
    return word + " or ".join(show_goal(g) for g in o.goals)


def _differences(tool: Tool, wanted: Mapping[str, Value], given: Mapping[str, Value]) -> list[str]:
    return [p.name for p in tool.params if not equal(wanted[p.name], given[p.name])]
