"""Turns an admitted plan and one recorded thing after another into what may be called next: all decisions of a run.

A session touches nothing: no clock, no file, no tool. What happened comes in with its time, and what follows goes out
as records for the journal. Whoever feeds it the same records again gets the same decisions; that is how a killed run
is resumed, and how a journal is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from cfrc.handoff.freezing.heads import heads
from cfrc.handoff.freezing.past import past_of
from cfrc.handoff.running.live import Barred, Ending, Live
from cfrc.handoff.running.settle import settlement
from cfrc.handoff.running.wishes import Doubted, Flight, Trouble, Wish
from cfrc.handoff.tools import Answer
from cfrc.handoff.wire import NOTHING, Malformed, incoming, outgoing
from cfrc.lang.jsonvalues import Mismatch
from cfrc.model.contract import Contract
from cfrc.model.domain import Tool
from cfrc.model.graph import Proposal, Terminal
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.values import Record, Value
from cfrc.verify.discharged import Discharges

Entry = dict[str, Any]

_CODES = {"held": "RUN009", "yield": "RUN012"}


class Session:
    """One run. ``prefix`` begins the name of every call, so that no two runs share one; ``retries`` bounds how often a
    harmless call is repeated when nobody answers."""

    def __init__(self, contract: Contract, proposal: Proposal, now: datetime, prefix: str, retries: int = 2) -> None:
        self.live = Live(contract, proposal, now)
        self.contract, self.proposal, self.prefix, self.retries = contract, proposal, prefix, retries
        self.receipts: list[Receipt] = []
        self.flights: dict[tuple[str, int], Flight] = {}
        self.trouble: Trouble | None = None
        self._again: dict[str, tuple[Flight, int]] = {}
        self._doubt: Doubted | None = None
        self._latest = now
        self._lost: dict[str, int] = {}

    # -- what may be done -------------------------------------------------------------------------------------------

    @property
    def ending(self) -> Ending | None:
        """How the run ended, once no call is in the air. What is in doubt by then stays so in the ledger."""
        return None if self.flights else self.live.ending

    @property
    def doubtful_since(self) -> datetime | None:
        """When the call was begun that is being settled. It may have been on its way for some time after that."""
        return self._doubt.flight.at if self._doubt is not None else None

    @property
    def ledger(self) -> Ledger:
        """The receipts since the freeze. What could not be taken for what the tool declares is in doubt there."""
        return Ledger(f"{self.contract.name}_run", self.contract.domain, tuple(self.receipts))

    def wishes(self) -> list[Wish]:
        """The calls that may be made now, first what settles a doubt: nothing else is begun before that is done."""
        return list(self.pending())

    def pending(self, writes: Callable[[], bool] = lambda: True) -> Iterator[Wish]:
        """The same one by one, with begun ones in between; those that write only while ``writes`` says so."""
        if self.live.ending is not None:
            return
        if self._doubt is not None:
            yield from self._settling(self._doubt)
        elif self._again:
            yield from [flight.wish.again_as(n) for flight, n in self._again.values()]
        else:
            yield from self._enabled(writes)

    def _enabled(self, writes: Callable[[], bool]) -> Iterator[Wish]:
        busy = {f.wish.node for f in self.flights.values()}
        polls = self.live.machine.state.polls
        for node, args in self.live.ready.items():
            entry = self.live.plan.nodes[node]
            if node in busy or entry.tool is None or (entry.tool.writes and not writes()):
                continue
            poll = polls.get(node, 0)
            name = f"{self.prefix}.{node}" + (f".{poll + 1}" if poll else "")
            yield Wish(name, 1, node, entry.tool, args, poll=poll)

    def _settling(self, doubt: Doubted) -> list[Wish]:
        if self.flights:
            return []
        tool, args = doubt.settlement.reads[doubt.asked]
        about = doubt.flight.wish
        name = f"{about.call}.about{about.attempt}.{doubt.asked + 1}"
        return [Wish(name, doubt.attempt, about.node, tool, args, settles=about.call)]

    # -- what is done -----------------------------------------------------------------------------------------------

    def begin(self, wish: Wish, at: datetime) -> list[Entry]:
        """The intention of a call, to be written before it is made; or why it must not be made (then there is no
        ``intent`` among the records)."""
        step = None
        try:
            if wish.settles is None:
                # A clock that goes back does not make an expired approval good again.
                self._latest = max(self._latest, at)
                self.live.now = self._latest
                step = self.live.begin(wish.node)
            args = outgoing(wish.args, wish.tool)
        except Barred as barred:
            said = [f"{v.code}: {v.failing}" if v.failing else v.code for v in barred.violations]
            why = f"`{wish.node}` must not be called now: {', '.join(said)}"
            return self._barred(wish, Trouble("RUN001", why, wish.node), at)
        except Mismatch as problem:
            why = f"an argument of `{wish.node}` cannot be sent: {problem}"
            return self._barred(wish, Trouble("RUN011", why, wish.node), at)
        self._again.pop(wish.call, None)
        read = self._doubt.settlement.reads[self._doubt.asked] if wish.settles and self._doubt is not None else None
        self.flights[wish.call, wish.attempt] = Flight(wish, step, at, read)
        return [{
            "is": "intent", "call": wish.call, "attempt": wish.attempt, "node": wish.node, "tool": wish.tool.name,
            "args": args, "writes": wish.writes, "settles": wish.settles, "at": at.isoformat(),
        }]  # fmt: skip

    def _barred(self, wish: Wish, trouble: Trouble, at: datetime) -> list[Entry]:
        self._again.pop(wish.call, None)
        self.hold(trouble)
        because = trouble.message
        return [{"is": "decision", "call": wish.call, "after": "barred", "because": because, "at": at.isoformat()}]

    def hold(self, trouble: Trouble) -> None:
        """Ends the run in ⊥: nothing is begun any more. The first trouble counts."""
        self.trouble = self.trouble or trouble
        self.live.hold(trouble.message)

    def answer(self, call: str, attempt: int, answer: Answer, at: datetime, lost: bool = False) -> list[Entry]:
        """The receipt of a call that was begun, and what follows from it. ``lost``: the process ended before any answer
        was written. Raises ``KeyError`` for a call that is not in the air."""
        flight = self.flights.pop((call, attempt))
        self._latest = max(self._latest, at)
        known = len(self.live.status)
        receipt: Entry = {
            "is": "receipt", "call": call, "attempt": attempt, "status": answer.status, "result": answer.result,
            "error": answer.error, "broken": answer.broken, "late": answer.late, "lost": lost, "at": at.isoformat(),
        }  # fmt: skip
        take = self._take if flight.read is None else self._read
        after = take(flight, answer, at, lost)
        self._audit()
        settled = {n: s for n, s in islice(self.live.status.items(), known, None)}
        return [receipt, {"is": "decision", "call": call, "after": after, "settled": settled, "over": self._over}]

    def _audit(self) -> None:
        """``done`` is believed only if the receipts, read as any ledger is read, discharge everything owed and claimed.
        Only values that an ``ensures`` told (a ledger's reader looks at observations) are taken from the run."""
        ending = self.ending
        if ending is None or ending.kind != "done":
            return
        claims = {
            c for n in self.proposal.nodes if n.id == ending.terminal and isinstance(n, Terminal) for c in n.claims
        }
        owed = {o.name for o in self.contract.obligations if self.live.run.active(o.name)}
        past = past_of(self.contract, self.ledger)
        past.world.values.update(
            {k: v for k, v in self.live.told.items() if not past.world.is_lost(*k)} | past.world.values
        )
        _, missing = Discharges(self.contract, past.happened, fresh=True).assign(owed | claims)
        if missing:
            said = ", ".join(f"`{name}`" for name in sorted(missing))
            self.hold(Trouble("RUN009", f"no receipt of this run discharges {said}"))

    @property
    def _over(self) -> str | None:
        return self.live.ending.kind if self.live.ending is not None else None

    def _take(self, flight: Flight, answer: Answer, at: datetime, lost: bool) -> str:
        """The answer of a step of the plan."""
        wish, step = flight.wish, flight.step
        assert step is not None
        value, wrong = self._typed(wish.tool, answer)
        if wrong is not None:
            self._note(wish, "unknown", None, at)
            self.trouble = self.trouble or Trouble("RUN003", f"`{wish.node}` answered what is no receipt: {wrong}")
            return self.live.take(step, "unknown", why=wrong)
        if answer.status in ("success", "failure"):
            after = self.live.take(step, answer.status, value)
            self._note(wish, "unknown" if after == "outside" else answer.status, value, at)
            if after == "outside" and self.live.ending is not None:
                self.trouble = self.trouble or Trouble("RUN004", self.live.ending.reason, wish.node)
            return after
        self._note(wish, answer.status, None, at)
        return self._doubted(flight, answer, lost)

    def _doubted(self, flight: Flight, answer: Answer, lost: bool) -> str:
        """Nobody knows whether the call took place: again where that does no harm, else by what settles it, else ⊥."""
        wish = flight.wish
        if self.live.ending is not None:
            return self._give_up(flight, answer.error or "")
        if wish.again and (answer.status == "unknown" or not wish.writes):
            # An attempt that only the end of this process cut short does not count.
            uncounted = self._lost[wish.call] = self._lost.get(wish.call, 0) + lost
            if wish.attempt - uncounted <= self.retries:
                self._again[wish.call] = flight, wish.attempt + 1
                return "again"
        elif answer.status == "unknown" and self._doubt is None:
            found = settlement(self.live.machine, wish.tool, wish.args)
            if found is not None:
                self._doubt = Doubted(flight, found, answer.late)
                return "settling"
        return self._give_up(flight, answer.error or "")

    def _give_up(self, flight: Flight, said: str) -> str:
        assert flight.step is not None
        why = f"nobody knows whether `{flight.wish.node}` took place" + (f": {said}" if said else "")
        self.trouble = self.trouble or Trouble("RUN005", why, flight.wish.node)
        return self.live.take(flight.step, "unknown", why=why)

    # -- settling a doubt -------------------------------------------------------------------------------------------

    def _read(self, flight: Flight, answer: Answer, at: datetime, lost: bool) -> str:
        """The answer of a read that settles a doubt."""
        doubt, wish = self._doubt, flight.wish
        assert doubt is not None and flight.read is not None
        value, wrong = self._typed(wish.tool, answer)
        usable = answer.status == "success" and wrong is None
        self._note(wish, "success" if usable else answer.status if wrong is None else "unknown", value, at)
        if usable:
            doubt.settlement.learn(self.live.machine, flight.read, value)
        elif answer.status not in ("success", "failure") and (lost or doubt.silent < self.retries):
            doubt.attempt, doubt.silent = doubt.attempt + 1, doubt.silent + (not lost)
            return "again"
        doubt.asked, doubt.attempt, doubt.silent = doubt.asked + 1, 1, 0
        if doubt.asked < len(doubt.settlement.reads):
            return "settling"
        self._doubt = None
        return self._settled(doubt, at)

    def _settled(self, doubt: Doubted, at: datetime) -> str:
        flight, happened = doubt.flight, doubt.settlement.happened
        assert flight.step is not None
        if happened is False and doubt.late:
            # A refutation is about the past: the ledger must not end with it, or a later freeze would believe it.
            self._note(flight.wish, "pending", None, at)
            return self._give_up(flight, "it had not yet, and may still be under way")
        if happened is False and flight.wish.attempt <= self.retries:
            self._again[flight.wish.call] = flight, flight.wish.attempt + 1
            return "did not happen"
        if happened and flight.wish.tool.result == NOTHING:
            # Its effect is there, and it had nothing else to say: that is its receipt.
            return self.live.take(flight.step, "success", Record(()))
        if happened:
            return self._give_up(flight, "it did, but its result is not known")
        return self._give_up(flight, "the reads that could tell do not say" if happened is None else "it keeps failing")

    # -- the frame of the run ---------------------------------------------------------------------------------------

    def guard(self, head: str | None, at: datetime) -> Entry:
        """Where the shared ledger ends just before the first write. The run is held if somebody else has written."""
        if head is not None and self.contract.head is not None and not self._continues(head):
            self.hold(Trouble("RUN006", "the ledger has moved on since the freeze: somebody else has written"))
        return {"is": "guard", "head": head, "over": self._over, "at": at.isoformat()}

    def _continues(self, head: str) -> bool:
        """Whether nobody else has written: receipts of this very run may have reached the ledger already."""
        return head in heads(self.ledger, self.contract.head)

    def withdraw(self, call: str, attempt: int) -> None:
        """Forgets a call that was begun and never made."""
        self.flights.pop((call, attempt), None)

    def outcome(self, at: datetime) -> Entry:
        """The record that closes the run. Only for one that has ended."""
        ending = self.ending
        assert ending is not None
        code = self.trouble.code if self.trouble is not None else _CODES.get(ending.kind)
        reason = self.trouble.message if self.trouble is not None else ending.reason
        return {
            "is": "outcome", "kind": ending.kind, "code": code, "reason": reason, "terminal": ending.terminal,
            "failing": [f"{v.code}: {v.failing}" for v in ending.violations], "at": at.isoformat(),
        }  # fmt: skip

    # -- receipts ---------------------------------------------------------------------------------------------------

    def _typed(self, tool: Tool, answer: Answer) -> tuple[Value, str | None]:
        if answer.status != "success":
            return None, None
        if answer.broken is not None and tool.result != NOTHING:
            return None, answer.broken
        try:
            return incoming(answer.result, tool.result), None
        except Malformed as problem:
            return None, str(problem)

    def _note(self, wish: Wish, status: Any, result: Value, at: datetime) -> None:
        args = tuple(wish.args.items())
        shown = result if status == "success" else None
        self.receipts.append(Receipt(wish.call, wish.tool.name, args, shown, status, wish.attempt, wish.tool.actor, at))
