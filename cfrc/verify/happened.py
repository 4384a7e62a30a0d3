"""Turns a ledger into what happened: realized effects with their receipts, what is in doubt, the fluents' values.

One log entry repeated is one receipt; an effect declared ``once`` counts once, however often it was logged. What a
later receipt undoes is not realized any more, and what a later receipt settles is not in doubt any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cfrc.model.coverage import Evidence
from cfrc.model.footprint import Wild, matches
from cfrc.model.ledger import Ledger, Receipt
from cfrc.model.receipts import Effects, Identity, Pattern, World


@dataclass(slots=True)
class Happened:
    """``effects`` and ``witnessed`` map each realized identity to its latest receipt, ``doubts`` each identity that may
    have been realized, ``shaken`` each realized one that may have been undone since; ``ended``
    names the receipt that undid or refuted one. ``repeated`` are the occurrences of a ``once`` key that
    another receipt had caused before, and nothing undid since.

    ``evidence`` are the receipts that discharge (``counts`` of them are occurrences), ``since`` is the step that first
    realized an identity. ``asked`` are the positions in the ledger of calls that needed an approval; ``None`` where
    nobody knows whether they did, or whether they took place.
    """

    ledger: Ledger
    world: World
    effects: dict[Identity, Receipt] = field(default_factory=dict)
    witnessed: dict[Identity, Receipt] = field(default_factory=dict)
    doubts: dict[Pattern, Receipt] = field(default_factory=dict)
    shaken: dict[Identity, Receipt] = field(default_factory=dict)
    ended: dict[Identity, Receipt] = field(default_factory=dict)
    evidence: dict[str, dict[Identity, list[Evidence]]] = field(default_factory=dict)
    counts: dict[Identity, int] = field(default_factory=dict)
    since: dict[Identity, int] = field(default_factory=dict)
    asked: dict[int, bool | None] = field(default_factory=dict)
    repeated: list[tuple[Identity, Receipt, Receipt]] = field(default_factory=list)

    def realized(self, identity: Identity) -> Receipt | None:
        """The receipt that caused or witnessed the identity, if it was not undone since."""
        return self.effects.get(identity) or self.witnessed.get(identity)

    def in_doubt(self, identity: Pattern) -> bool:
        """Whether an unsettled receipt may have realized the identity, or undone it."""
        return identity in self.shaken or any(d[0] == identity[0] and matches(d[1], identity[1]) for d in self.doubts)


def distinct(ledger: Ledger) -> Iterator[tuple[int, Receipt]]:
    """The receipts with their positions; an entry that was logged again word for word is left out."""
    seen = set()
    for position, entry in enumerate(ledger.entries):
        if isinstance(entry, Receipt) and entry.tool in ledger.domain.tools:
            key = (entry.id, entry.attempt, entry.tool, entry.args, entry.result, entry.status)
            if key not in seen:
                seen.add(key)
                yield position, entry


def happened(ledger: Ledger, each: Callable[[World], None] | None = None, begun: Happened | None = None) -> Happened:
    """Replays the ledger. ``each`` is told the world at first and after every receipt; ``begun`` is what had happened
    before the ledger began: it is carried on in place."""
    found = Happened(ledger, World(ledger.domain)) if begun is None else begun
    if each is not None:
        each(found.world)
    for step, (position, receipt) in enumerate(distinct(ledger)):
        tool, args = ledger.domain.tools[receipt.tool], dict(receipt.args)
        if receipt.status != "failure":
            needed = found.world.asks(tool, args)
            found.asked[position] = needed if receipt.status == "success" or needed is False else None
        _note(found, found.world.take(tool, args, receipt.result, receipt.status), receipt, step)
        if each is not None:
            each(found.world)
    return found


def _note(found: Happened, effects: Effects, receipt: Receipt, step: int) -> None:
    for pattern in effects.undone:
        for known in (found.effects, found.witnessed, found.shaken):
            for gone in _covered(pattern, known):
                del known[gone]
                found.ended[gone] = receipt
        _disprove(found, pattern)
    for pattern in effects.shaken:
        for i in [*_covered(pattern, found.effects), *_covered(pattern, found.witnessed)]:
            found.shaken[i] = receipt
        _disprove(found, pattern)
    for caused, identities in ((True, effects.caused), (False, effects.witnessed)):
        for i in identities:
            if caused:
                found.repeated += _again(found, i, receipt)
            (found.effects if caused else found.witnessed)[i] = receipt
            found.shaken.pop(i, None)
            found.ended.pop(i, None)
            _prove(found, i, receipt, step, caused)
            _settle(found, i)
            _recognize(found, i, caused)
    for pattern in effects.refuted:
        # What was caused stays kept, since repeating it is the greater harm; but it is evidence no more.
        for gone in _covered(pattern, found.witnessed):
            del found.witnessed[gone]
            if gone not in found.effects:
                found.ended[gone] = receipt
        _disprove(found, pattern)
        _settle(found, pattern)
    for pattern in effects.doubted:
        # A realized identity is kept, and so protected, already.
        if pattern not in found.effects and pattern not in found.witnessed:
            found.doubts[pattern] = receipt


def _again(found: Happened, identity: Identity, receipt: Receipt) -> Iterator[tuple[Identity, Receipt, Receipt]]:
    """The earlier occurrence of the same ``once`` key, if there is one."""
    declared = found.ledger.domain.effects[identity[0]]
    if declared.once:
        for i, first in found.effects.items():
            same = i[0] == identity[0] and all(i[1][p] == identity[1][p] for p in declared.key)
            retried = (first.tool, first.args) == (receipt.tool, receipt.args) and (
                first.id == receipt.id or found.ledger.domain.tools[receipt.tool].idempotent
            )
            if same and first is not receipt and not retried:
                yield identity, first, receipt
                return


def _prove(found: Happened, identity: Identity, receipt: Receipt, step: int, caused: bool) -> None:
    counted = found.counts.get(identity, 0)
    caused = caused and not (counted and found.ledger.domain.effects[identity[0]].once)
    evidence = Evidence(step, receipt.id, receipt.result, identity, caused)
    found.evidence.setdefault(identity[0], {}).setdefault(identity, []).append(evidence)
    found.since.setdefault(identity, step)
    if caused:
        found.counts[identity] = counted + 1


def _disprove(found: Happened, pattern: Pattern) -> None:
    known = found.evidence.get(pattern[0], {})
    for gone in [i for i in known if matches(pattern[1], i[1])]:
        del known[gone]
        found.counts.pop(gone, None)
        found.since.pop(gone, None)


def _settle(found: Happened, pattern: Pattern | Identity) -> None:
    """A success settles the doubts that it covers entirely."""
    for d in [d for d in found.doubts if d[0] == pattern[0] and _covers(pattern[1], d[1])]:
        del found.doubts[d]


def _recognize(found: Happened, identity: Identity, caused: bool) -> None:
    """An effect whose arguments nobody knew is the one that was seen; or the one that was caused, where there cannot be
    two."""
    declared = found.ledger.domain.effects[identity[0]]
    for effect, args in list(found.doubts):
        if effect == identity[0] and matches(args, identity[1]):
            one = declared.once and not any(isinstance(args[i], Wild) for i in declared.key)
            if not caused or one:
                del found.doubts[effect, args]


def _covers(pattern: tuple[object, ...], args: tuple[object, ...]) -> bool:
    return all(isinstance(p, Wild) or p == a for p, a in zip(pattern, args, strict=True))


def _covered(pattern: Pattern, known: dict[Identity, Receipt]) -> list[Identity]:
    return [i for i in known if i[0] == pattern[0] and matches(pattern[1], i[1])]
