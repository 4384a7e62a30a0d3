"""Turns writes along one linearization into reads: the state in single-assignment form.

A read of a fluent at a step is the value of the last write before it that touches the same instance; where instances
may or may not be the same, a conditional over the writes; at the bottom the initial world. Reads through literal
instances are answered by hashing. For a volatile fluent the bottom is a fresh value at every step, because others may
have changed it, unless an observation or an own write on every path since pins it (``docs/semantics.md`` §2, ENV).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cfrc.model.domain import FluentClause
from cfrc.verify.frame import Frame, Key
from cfrc.verify.shapes import Scalar, Shape, choose, convert, equal, leaves, unknown
from cfrc.verify.terms import INT, REAL, Term, Terms


@dataclass(frozen=True, slots=True)
class Write:
    """One fluent instance that a call sets, or (``observed``) that it pins; it takes place iff ``cond``.

    ``amount`` is what the write adds, where it increments the instance by something that does not depend on it;
    ``value`` then counts only the increments that surely came before.
    """

    fluent: str
    key: Key
    args: tuple[Shape, ...]
    value: Shape
    cond: Term
    pos: int
    clause: FluentClause
    observed: bool = False
    amount: Term | None = None


@dataclass(slots=True)
class World:
    """The initial world and all writes so far. ``initials`` lists every instance whose initial value is asked for,
    ``fresh`` every unpinned volatile read as (fluent, position of the reader)."""

    terms: Terms
    frame: Frame
    anc: Sequence[int] = ()
    """The bitset of the calls that each position comes after."""
    initials: dict[tuple[str, Key], tuple[tuple[Shape, ...], Shape]] = field(default_factory=dict)
    fresh: dict[tuple[str, int, Key], tuple[tuple[Shape, ...], Shape]] = field(default_factory=dict)
    cells: dict[tuple[str, Key], list[Write]] = field(default_factory=lambda: defaultdict(list))
    open: dict[str, list[Write]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[str, list[tuple[int, Callable[[], list[Write]]]]] = field(default_factory=lambda: defaultdict(list))
    """Pins of every row of an opaque collection, by fluent: the observer's position, and the rows that are read so
    far."""
    all: dict[str, list[Write]] = field(default_factory=lambda: defaultdict(list))

    rivals: Callable[[str, Key, Shape, int, int, int], Shape] | None = None
    """What other orders may make of the value of a volatile fluent."""

    def key(self, args: tuple[Shape, ...]) -> Key:
        return tuple(t for a in args for t in leaves(self.terms, a))

    def typed(self, fluent: str, args: tuple[Shape, ...]) -> tuple[tuple[Shape, ...], Term]:
        """Arguments converted to the fluent's parameter types, and when that is defined."""
        params = self.frame.domain.fluents[fluent].params
        done = [convert(self.terms, a, t) for a, (_, t) in zip(args, params, strict=True)]
        return tuple(a for a, _ in done), self.terms.and_(*(ok for _, ok in done))

    def write(self, w: Write) -> None:
        self.all[w.fluent].append(w)
        if all(t.ground for t in w.key):
            self.cells[w.fluent, w.key].append(w)
        else:
            self.open[w.fluent].append(w)

    def before(self, fluent: str, key: Key, mask: int, upto: int) -> Iterator[Write]:
        """The writes that may touch the instance, of calls in ``mask`` or at position ``upto``, last first."""
        if all(t.ground for t in key):
            found = self.cells.get((fluent, key), [])
            if self.open.get(fluent):
                found = sorted((*found, *self.open[fluent]), key=lambda w: w.pos)
        else:
            found = self.all.get(fluent, [])
        for _, pins in self.rows.get(fluent, ()):
            found = sorted((*found, *pins()), key=lambda w: w.pos)
        return (w for w in reversed(found) if w.pos == upto or mask >> w.pos & 1)

    def read(self, fluent: str, args: tuple[Shape, ...], mask: int, at: int, upto: int = -1) -> Shape:
        """The value of ``fluent(args)`` after the calls in ``mask`` (and after ``upto`` itself, for a post-state).

        ``at`` names the reader: unpinned volatile values differ from reader to reader.
        """
        t = self.terms
        key = self.key(args)
        pending: list[tuple[Term, Shape]] = []
        volatile = self.frame.domain.fluents[fluent].volatile
        own: list[tuple[Term, Shape]] = []
        writes = list(self.before(fluent, key, mask, upto))
        for n, w in enumerate(writes):
            if w.observed and not volatile:
                continue
            cond = t.and_(w.cond, t.eq_all(key, w.key))
            if cond is t.false:
                continue
            written = w.value if w.amount is None or w.pos == upto else self._summed(w, key, writes[n + 1 :])
            if cond is t.true and w.pos != upto:
                value = written
                break
            (own if w.pos == upto else pending).append((cond, written))
        else:
            value = self.unpinned(fluent, args, key, at) if volatile else self.initial(fluent, args, key)
        for cond, written in reversed(pending):
            value = choose(t, cond, written, value)
        if volatile and self.rivals is not None:
            value = self.rivals(fluent, key, value, mask, at, upto)
        for cond, written in reversed(own):
            value = choose(t, cond, written, value)
        return value

    def _summed(self, w: Write, key: Key, earlier: Sequence[Write]) -> Shape:
        """What an increment leaves behind: those that nothing orders against it have been added as well, whichever came
        first (``docs/semantics.md`` §4: they are independent)."""
        t = self.terms
        assert isinstance(w.value, Scalar)
        more = []
        for u in earlier:
            if u.amount is not None and u.pos != w.pos and not self.anc[w.pos] >> u.pos & 1:
                cond = t.and_(u.cond, t.eq_all(key, u.key))
                more.append(t.ite(cond, u.amount, t.const(REAL if u.amount.sort == REAL else INT, 0)))
        return Scalar(t.add(w.value.term, *more), w.value.type) if more else w.value

    def initial(self, fluent: str, args: tuple[Shape, ...], key: Key) -> Shape:
        """The instance's value at the freeze: a known fact, or an uninterpreted function of the instance."""
        known = self.frame.facts.get((fluent, key))
        if known is not None:
            return known
        t = self.terms
        value = unknown(t, self.frame.domain.fluents[fluent].type, lambda s, sort: t.app(sort, f"{fluent}#0{s}", key))
        self.initials.setdefault((fluent, key), (args, value))
        for other, fact in self.frame.facts_of.get(fluent, ()):
            value = choose(t, t.eq_all(key, other), fact, value)
        return value

    def unpinned(self, fluent: str, args: tuple[Shape, ...], key: Key, at: int) -> Shape:
        t = self.terms
        if at == -1:  # the freeze state itself, where what is kept still has its value
            for _, known, fact in self.frame.kept_facts.get(fluent, ()):
                if known == key:
                    return fact
        name = f"{fluent}@{at}"
        value = unknown(t, self.frame.domain.fluents[fluent].type, lambda s, sort: t.app(sort, f"{name}{s}", key))
        self.fresh.setdefault((fluent, at, key), (args, value))
        return value

    def same(self, a: Shape, b: Shape) -> Term:
        return equal(self.terms, a, b)
