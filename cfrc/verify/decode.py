"""Turns a model of the solver (or none, where normalization already knows) into a concrete scenario.

A :class:`View` gives every leaf term a value; shapes become typed values, opaque collections are rebuilt from what the
accessors say about them. The result is only a proposal for a counterexample: replay has the last word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cfrc.model import types as ty
from cfrc.model.scenario import Event, Scenario
from cfrc.model.values import Value, bag, mapping, record
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Run
from cfrc.verify.shapes import Fields, Items, Maybe, Scalar, Shape, leaves, unknown, unleaf
from cfrc.verify.terms import Term, Terms

if TYPE_CHECKING:
    from cfrc.verify.solve import Result, Session

Changes = tuple[tuple[str, tuple[Value, ...], Value], ...]

LONGEST = 12
"""Opaque collections are rebuilt up to this length; a model that wants more is not shown."""


class View:
    """The value of every leaf term. Without a model every unknown gets the default of its sort, names of their own."""

    def __init__(self, terms: Terms, session: Session | None = None, result: Result | None = None) -> None:
        self.terms = terms
        self._session = session
        self._model: Any = result.model if result is not None else None
        self._memo: dict[int, Any] = {}
        self._elements: dict[str, dict[str, Any]] = defaultdict(dict)
        self._apps: dict[Any, list[Term]] | None = None
        if self._model is not None and session is not None:
            for sort, known in session.encoder.literals.items():
                for value, constant in known.items():
                    element = self._model.eval(constant, model_completion=True).sexpr()
                    self._elements[sort][element] = value

    def truth(self, term: Term) -> bool:
        return bool(self.leaf(term))

    def leaf(self, term: Term) -> Any:
        """The Python value of a leaf term: bool, int, Fraction, or a name of its own for an opaque element."""
        if term.is_const:
            return term.data
        if term.id not in self._memo:
            self._memo[term.id] = self._from_model(term) if self._model is not None else self._default(term)
        return self._memo[term.id]

    def _from_model(self, term: Term) -> Any:
        assert self._session is not None
        value = self._model.eval(self._session.encoder.encode(term), model_completion=True)
        if term.sort == "Bool":
            return value.eq(self._session.encoder.encode(self.terms.true))
        if term.sort == "Int" or term.sort.startswith("Enum:"):
            return value.as_long()
        if term.sort == "Real":
            return Fraction(value.numerator_as_long(), value.denominator_as_long())
        return self._name(term.sort, value.sexpr())

    def _name(self, sort: str, element: str) -> Any:
        """A readable name for an element that no literal denotes, different from all literals."""
        names = self._elements[sort]
        if element not in names:
            stem = sort.split(":")[-1].lower() if sort.startswith("Id:") else "text"
            taken = set(names.values()) | {t.data for t in self.terms.literals(sort)}
            number = len(names) + 1
            while f"{stem}-{number}" in taken:
                number += 1
            names[element] = f"{stem}-{number}"
        return names[element]

    def _default(self, term: Term) -> Any:
        t = self.terms
        if term.op in ("sym", "app"):
            if term.sort == "Bool":
                return False
            if term.sort == "Int" or term.sort == "Real" or term.sort.startswith("Enum:"):
                return Fraction(0) if term.sort == "Real" else 0
            key = term.data if term.op == "sym" else (term.data, *(self.leaf(a) for a in term.args))
            return self._name(term.sort, repr(key))
        if term.op == "coll":
            return ("coll", tuple(self.leaf(a) for a in term.args))
        args = [t.const(a.sort, self.leaf(a)) for a in term.args]
        return self.leaf(t.rebuild(term, args))

    # -- shapes -------------------------------------------------------------------------------------------------

    def value(self, shape: Shape) -> Value:
        match shape:
            case Scalar(term, (ty.ListOf() | ty.BagOf() | ty.MapOf()) as t):
                return self._collection(term, t)
            case Scalar(term, t):
                return unleaf(self.leaf(term), t)
            case Maybe(present, inner):
                return self.value(inner) if self.truth(present) else None
            case Fields(items):
                return record({n: self.value(x) for n, x in items.items()})
            case Items(items, t, keys):
                if keys is not None:
                    return mapping([(self.value(k), self.value(x)) for k, x in zip(keys, items, strict=True)])
                found = [self.value(x) for x in items]
                return bag(found) if isinstance(t, ty.BagOf) else tuple(found)

    def _literal_rows(self, term: Term) -> Term | None:
        """The literal collection that a term denotes under this view, if it is one."""
        while term.op == "ite":
            term = term.args[1] if self.truth(term.args[0]) else term.args[2]
        return term if term.op == "coll" else None

    def _accessors(self, term: Term) -> list[Term]:
        if self._apps is None:
            self._apps = defaultdict(list)
            for app in self.terms.apps():
                if app.args and app.args[0].sort.split(":")[0] in ("List", "Bag", "Map"):
                    self._apps[app.args[0].sort, self.leaf(app.args[0])].append(app)
        return self._apps.get((term.sort, self.leaf(term)), [])

    def _collection(self, term: Term, t: ty.Type) -> Value:
        coll = self._literal_rows(term)
        coll = coll if coll is not None else self._equal_literal(term)
        if coll is not None:
            return self._from_rows(coll, t)
        apps = self._accessors(term)
        if isinstance(t, ty.MapOf):
            return self._map(term, t, apps)
        size = next((self.leaf(a) for a in apps if a.data == "len"), None)
        item = t.item if isinstance(t, ty.ListOf | ty.BagOf) else ty.ANY
        wanted = [self._decode_row(item, a.args[1:]) for a in apps if a.data == "has" and self.truth(a)]
        found: list[Value] = []
        for w in wanted:
            if w not in found:
                found.append(w)
        positions = {self.leaf(a.args[1]): a.args[1] for a in apps if str(a.data).startswith("nth")}
        if size is None:
            size = max(len(found), *(p + 1 for p in positions), 0)
        out: list[Value] = []
        # only a row inside the list is one that what is known of every row is known of
        inside = (at for place, at in positions.items() if 0 <= place < size)
        spare = found[-1] if found else self._spare(term, item, next(inside, None))
        for i in range(min(size, LONGEST)):
            if i in positions:
                at = positions[i]
                element = unknown(self.terms, item, lambda s, so, at=at: self.terms.app(so, f"nth{s}", (term, at)))  # type: ignore[misc]
                out.append(self.value(element))
            else:
                # a row that nothing asks for looks like one that is known to be possible
                out.append(found.pop(0) if found else spare)
        return bag(out) if isinstance(t, ty.BagOf) else tuple(out)

    def _spare(self, term: Term, item: ty.Type, at: Term | None) -> Value:
        """A row to fill up with: one that some term reads, if there is one."""
        if at is None:
            return self.value(unknown(self.terms, item, self._filler))
        return self.value(unknown(self.terms, item, lambda s, so: self.terms.app(so, f"nth{s}", (term, at))))

    def _equal_literal(self, term: Term) -> Term | None:
        if self._model is None:
            return None
        mine = self.leaf(term)
        return next((c for c in self.terms.colls(term.sort) if self.leaf(c) == mine), None)

    def _from_rows(self, coll: Term, t: ty.Type) -> Value:
        rows = self.terms.rows(coll)
        if isinstance(t, ty.MapOf):
            width = len(list(leaves(self.terms, unknown(self.terms, t.key, self._filler))))
            pairs = [(self._decode_row(t.key, r[:width]), self._decode_row(t.value, r[width:])) for r in rows]
            return mapping(pairs)
        assert isinstance(t, ty.ListOf | ty.BagOf)
        found = [self._decode_row(t.item, r) for r in rows]
        return bag(found) if isinstance(t, ty.BagOf) else tuple(found)

    def _map(self, term: Term, t: ty.MapOf, apps: list[Term]) -> Value:
        pairs: list[tuple[Value, Value]] = []
        size = next((self.leaf(a) for a in apps if a.data == "len"), 0)
        for a in apps:
            if a.data == "has" and self.truth(a):
                key = a.args[1:]
                element = unknown(self.terms, t.value, lambda s, so, k=key: self.terms.app(so, f"get{s}", (term, *k)))  # type: ignore[misc]
                pairs.append((self._decode_row(t.key, key), self.value(element)))
        done = mapping(pairs)
        while len(done) < min(size, LONGEST):
            extra = f"key-{len(done) + 1}"
            if not isinstance(t.key, ty.Id | ty.Prim):
                break
            pairs.append((extra, self.value(unknown(self.terms, t.value, self._filler))))
            done = mapping(pairs)
        return done

    def _filler(self, suffix: str, sort: str) -> Term:
        return self.terms.sym(sort, f"!filler{suffix}")

    def _decode_row(self, t: ty.Type, row: tuple[Term, ...]) -> Value:
        """The value whose leaves are these terms, in canonical order."""
        rest: Iterator[Term] = iter(row)

        def go(want: ty.Type) -> Value:
            match want:
                case ty.Optional(i):
                    present = self.truth(next(rest))
                    inner = go(i)
                    return inner if present else None
                case ty.RecordOf(_, fields):
                    return record({n: go(f) for n, f in sorted(fields)})
            return self.value(Scalar(next(rest), want))

        return go(t)


def scenario(
    paths: Paths, view: View, nodes: int, step: int | None, pre: bool, order: Sequence[int] | None = None
) -> Scenario:
    """The run of the calls in ``nodes`` (a bitset) under the view, in linearization order.

    ``step`` is the call at which it goes wrong; ``pre`` says that it does so before the call returns: then how it would
    return does not matter and it is left in doubt. ``order`` is another linearization to follow.
    """
    events: list[Event] = []
    executed = 0
    for run in paths.runs if order is None else [paths.runs[p] for p in order]:
        if not nodes >> run.pos & 1 or not view.truth(run.called):
            continue
        changes = _changes(paths, view, run.pos, executed)
        events += _events(view, run, changes, run.pos == step, pre)
        executed |= 1 << run.pos
    return Scenario(_world(paths, view), tuple(events), _changes(paths, view, len(paths.runs), executed))


def _events(view: View, run: Run, changes: Changes, wrong: bool, pre: bool) -> Iterator[Event]:
    """The polls of a call and its receipt; where it goes ``wrong`` before it returns (``pre``) it is left in doubt.

    Where ``until`` is false of the receipt too it is one more poll: with the k-th the node has failed. A failure that
    nothing handles would end the run: then the node is still to be polled.
    """
    last = Event(run.call.id, "doubt", None) if wrong and pre else _event(view, run)
    earlier = view.value(run.poll_result) if run.poll_result is not None else None
    polled = run.polled is not None and view.truth(run.polled)
    times = (run.call.polls - 1 if run.call.polls <= LONGEST else 1) if polled else 0
    if last.outcome == "poll" and not wrong:
        if run.fail is view.terms.false:
            times = min(times, run.call.polls - 2)
        else:
            times = run.call.polls - 1
            earlier = earlier if polled else last.result
    for event in [Event(run.call.id, "poll", earlier)] * times + [last]:
        yield replace(event, changes=changes)
        changes = ()


def _event(view: View, run: Run) -> Event:
    if run.fail is not view.terms.false and not view.truth(run.happened):
        return Event(run.call.id, "fail", None)
    assert run.result is not None
    again = run.until is not None and not view.truth(run.until)
    return Event(run.call.id, "poll" if again else "ok", view.value(run.result))


def _world(paths: Paths, view: View) -> dict[tuple[str, tuple[Value, ...]], Value]:
    world: dict[tuple[str, tuple[Value, ...]], Value] = {}
    for (fluent, _), (args, value) in paths.world.initials.items():
        world.setdefault((fluent, tuple(view.value(a) for a in args)), view.value(value))
    for (fluent, at, _), (args, value) in paths.world.fresh.items():
        if at == -1:
            world.setdefault((fluent, tuple(view.value(a) for a in args)), view.value(value))
    for f in paths.contract.facts:
        if f.kept or not paths.domain.fluents[f.fluent].volatile:
            world[f.fluent, f.args] = f.value
    return world


def _changes(paths: Paths, view: View, at: int, executed: int) -> tuple[tuple[str, tuple[Value, ...], Value], ...]:
    """ENV steps before the reader at position ``at``: its unpinned volatile reads get the values that the view gives
    them."""
    found = {}
    for (fluent, reader, key), (args, value) in paths.world.fresh.items():
        if reader != at:
            continue
        pinned = any(
            view.truth(paths.terms.and_(w.cond, paths.terms.eq_all(key, w.key)))
            for w in paths.world.before(fluent, key, executed, -1)
        )
        if not pinned:
            found[fluent, tuple(view.value(a) for a in args)] = view.value(value)
    return tuple((f, a, v) for (f, a), v in found.items())
