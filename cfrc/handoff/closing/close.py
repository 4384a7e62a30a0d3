"""Turns a successor's work on a replica, or a list of its calls, into a closed proposal for the contract.

    closed = cfrc.close(contract, author, CopyReplica(environment, tools))
    verdict = cfrc.admit(contract, closed.proposal)

The bridge is deterministic and never adds, replaces or repairs a call. It may leave out reads that nothing needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cfrc.handoff.closing.author import Author, Desk, Planned, drafted, perform
from cfrc.handoff.closing.graph import Closing
from cfrc.handoff.closing.made import Made
from cfrc.handoff.closing.notes import Note
from cfrc.handoff.closing.prune import idle, polled, repeats
from cfrc.handoff.closing.replica import Replica
from cfrc.handoff.closing.simulated import SimulatedReplica
from cfrc.model.contract import Contract
from cfrc.model.graph import Call, Proposal

SOURCES = ("CLO001", "CLO002")
"""Notes about where a value stands: also a call that is left out later may be what it looked like coming from."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The proposal, what there is to say about it, and the calls as they went on the replica."""

    proposal: Proposal
    notes: tuple[Note, ...]
    calls: tuple[Made, ...]

    @property
    def problems(self) -> tuple[Note, ...]:
        """The notes that somebody must look at: each of them can be the reason of a refusal."""
        return tuple(n for n in self.notes if not n.minor)


def close(
    contract: Contract,
    author: Author | Sequence[Planned],
    replica: Replica | None = None,
    *,
    prune: bool = True,
    name: str = "closed",
) -> Closed:
    """Closes what the author does on the replica, or a list of planned calls.

    Without a replica one is simulated from the domain's declarations: what it says is made up, and only shows the way.
    Calls that have an answer already are not made again. Raises :class:`cfrc.lang.diagnostics.SpecError` where an
    argument is no JSON form of a source.
    """
    place = replica if replica is not None else SimulatedReplica(contract)
    if callable(author):
        desk = Desk(place)
        author(desk)
        planned: Sequence[Planned] = desk.planned
    else:
        planned = author
    draft = drafted(contract, planned, name)
    given = {n.id: n for n in draft.nodes if isinstance(n, Call)}
    made = perform(contract, planned, draft, place)
    every = made
    notes = list(_attempts(made))
    closing, proposal = _closed(contract, made, given, name)
    sources = [n for n in closing.notes if n.code in SOURCES]
    while prune and (left := idle(closing, proposal)):
        gone = {c.id for c in left}
        notes += [Note("CLO004", f"`{c.id}` ({c.name}) is left out: nothing needs it", c.id, minor=True) for c in left]
        made = [replace(c, index=i) for i, c in enumerate(c for c in made if c.id not in gone)]
        closing, proposal = _closed(contract, made, given, name)
    owed = [
        Note("CLO005", f"`{o}` is still owed after these calls", None, "go on until it is done, or hand back")
        for o in closing.evidence.missing
    ]
    here = {c.id for c in made}
    found = [n for n in sources if n.node in here] + [n for n in closing.notes if n.code not in SOURCES]
    return Closed(polled(proposal, repeats(every, here)), (*notes, *found, *owed), tuple(made))


def _closed(contract: Contract, made: Sequence[Made], given: dict[str, Call], name: str) -> tuple[Closing, Proposal]:
    closing = Closing(contract, made, given)
    return closing, closing.proposal(name)


def _attempts(made: Sequence[Made]) -> list[Note]:
    """What went wrong on the replica."""
    found = []
    for c in made:
        if c.problem is not None:
            found.append(Note("CLO006", f"`{c.id}` ({c.name}): {c.problem}", c.id))
        elif c.failed:
            found.append(
                Note("CLO007", f"`{c.id}` ({c.name}) failed on the replica", c.id, minor=not (c.tool and c.tool.writes))
            )
    return found


__all__ = ["Closed", "close"]
