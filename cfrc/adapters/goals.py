"""Turns the writes that are still to come into obligations: ground where a value is known, existential where it is not.

A value that a later read shows first is described by what the domain lets one observe: ``n in keys(variants(product))
and variants(product)[n].available``, ``i == lines(order)[2].item_id``. A description uses no fluent that the remaining
calls change, because it is judged in the final state. A value that no place shows stays literal: it is owed, and
whoever passes it has no source for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cfrc.adapters.arguments import Arguments, Use
from cfrc.adapters.sources import Place, exempt
from cfrc.handoff.closing.bridge import conjunction
from cfrc.handoff.closing.history import History, plain
from cfrc.handoff.closing.leaves import Step, leaves, path_of, project, strip
from cfrc.handoff.closing.made import Made
from cfrc.model.contract import EffectGoal, Licence, Obligation, StateGoal
from cfrc.model.expr import Apply, Build, Expr, FluentRead, Index, Lit, Var, walk
from cfrc.model.types import BOOL, STRING, TEXT, BagOf, Enum, Id, ListOf, MapOf, Optional, RecordOf, Type
from cfrc.model.values import Bag, Map, Record, Value

MOST = 8
"""How many fields describe one record at most."""


@dataclass(slots=True)
class Exists:
    """The existentials of one obligation: their types, what ties them, and what the recorded run passes for each."""

    types: dict[str, Type] = field(default_factory=dict)
    ties: list[Expr] = field(default_factory=list)
    passed: dict[str, Expr] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    known: dict[tuple[Value, int, tuple[Step, ...]], Var] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Owed:
    """An obligation, the call of the run that discharges it, and its existentials."""

    obligation: Obligation
    call: Made
    exists: Exists


class Goals:
    """Obligations and scope for the successful writes from the cut on."""

    def __init__(self, history: History, arguments: Arguments) -> None:
        self.history, self.arguments = history, arguments
        self.run, self.cut, self.domain = arguments.run, arguments.cut, history.domain
        self.rest = [c for c in self.run.calls[self.cut :] if c.usable]
        deeds = history.deeds
        self.changed = {clause.fluent for c in self.rest for clause, _ in deeds[c.index].sets}
        self.uses: dict[tuple[int, Value, Type], list[Use]] = {}
        for use in arguments.uses:
            self.uses.setdefault((use.call.index, use.leaf.value, use.leaf.type), []).append(use)
        self.owed: list[Owed] = []
        self.licences: list[Licence] = []
        for call in self.rest:
            self._call(call)

    # -- one write ----------------------------------------------------------------------------------------------

    def _call(self, call: Made) -> None:
        assert call.tool is not None
        deed = self.history.deeds[call.index]
        for n, (clause, args) in enumerate(deed.causes):
            exists = Exists()
            params = self.domain.effects[clause.effect].params
            goal = tuple(
                None if t == TEXT else self.term(call, a, t, exists, said)
                for a, (_, t), said in zip(args, params, map(parameters, clause.args), strict=True)
            )
            name = f"owed{call.index}" + (f"_{n}" if n else "")
            self._owe(name, call, EffectGoal(clause.effect, goal), exists)
            self._license("effect", clause.effect, goal, exists)
        for n, (set_, at) in enumerate(deed.sets):
            if at is None:
                continue
            exists = Exists()
            params = self.domain.fluents[set_.fluent].params
            instance = tuple(
                self.term(call, a, t, exists, said)
                for a, (_, t), said in zip(at, params, map(parameters, set_.args), strict=True)
            )
            self._license("fluent", set_.fluent, instance, exists)
            if plain(call.tool) and not self._set_again(call, set_.fluent, at):
                condition = self._state(call, set_.fluent, at)
                if condition is not None:
                    self._owe(f"owed{call.index}" + (f"_{n}" if n else ""), call, StateGoal(condition), Exists())

    def _owe(self, name: str, call: Made, goal: EffectGoal | StateGoal, exists: Exists) -> None:
        where = conjunction(exists.ties)
        self.owed.append(Owed(Obligation(name, (goal,), exists=tuple(exists.types.items()), where=where), call, exists))

    def _license(self, kind: str, name: str, args: tuple[Expr | None, ...], exists: Exists) -> None:
        used = {x.name for a in args if isinstance(a, Var) for x in (a,) if x.kind == "exists"}
        nested = any(not isinstance(a, Var) for a in args)
        types = tuple((n, t) for n, t in exists.types.items() if nested or n in used)
        licence = Licence(
            "effect" if kind == "effect" else "fluent", name, args, types, conjunction(exists.ties) if types else None
        )
        if licence not in self.licences:
            self.licences.append(licence)

    def _set_again(self, call: Made, fluent: str, args: tuple[Value, ...]) -> bool:
        """Whether a later call sets the instance too: then only the last value is owed."""
        return any(
            s.fluent == fluent and a in (None, args)
            for later in self.rest
            if later.index > call.index
            for s, a in self.history.deeds[later.index].sets
        )

    def _state(self, call: Made, fluent: str, args: tuple[Value, ...]) -> Expr | None:
        """``f(x) == v``, as far as the value is known or can be described; ``None`` if nothing of it can."""
        seen = self.history.before[call.index + 1].get((fluent, args))
        if seen is None:
            return None
        f = self.domain.fluents[fluent]
        read = FluentRead(
            fluent=fluent,
            args=tuple(self.inline(call, a, t) for a, (_, t) in zip(args, f.params, strict=True)),
            type=f.type,
        )
        parts: list[Expr] = []
        for leaf in leaves(seen.value, f.type):
            term = self._described(call, leaf.value, leaf.type)
            if term is not None and leaf.reachable:
                parts.append(Apply(op="==", args=(project(read, leaf.steps), term), type=BOOL))
        return conjunction(parts)

    # -- terms --------------------------------------------------------------------------------------------------

    def term(self, call: Made, value: Value, type_: Type, exists: Exists, said: frozenset[str]) -> Expr:
        """The value as the obligation says it: literals, names, existentials, in the value's own structure.

        ``said`` are the parameters of the call that the clause takes the value from.
        """
        type_ = strip(type_)

        def inner(v: Value, t: Type) -> Expr:
            return self.term(call, v, t, exists, said)

        match value:
            case tuple() if isinstance(type_, ListOf):
                return Build(kind="list", items=tuple(inner(v, type_.item) for v in value), type=type_)
            case Bag(rows) if isinstance(type_, BagOf):
                return Build(kind="bag", items=tuple(inner(v, type_.item) for v in rows), type=type_)
            case Map(pairs) if isinstance(type_, MapOf):
                keys = tuple(inner(k, type_.key) for k, _ in pairs)
                return Build(kind="map", items=tuple(inner(v, type_.value) for _, v in pairs), keys=keys, type=type_)
            case Record() if isinstance(type_, RecordOf):
                fields = [(n, f) for n, f in type_.fields if n in value and value.get(n) is not None]
                items = tuple(inner(value.get(n), f) for n, f in fields)
                return Build(kind="record", items=items, names=tuple(n for n, _ in fields), type=type_)
        use = self._use(call, value, type_, said)
        if use is None or use.place is None:
            return Lit(value=value, type=type_)
        if use.place.index < self.cut:
            return self.arguments.source(use.place)
        return self._existential(value, type_, use.place, exists)

    def _use(self, call: Made, value: Value, type_: Type, said: frozenset[str]) -> Use | None:
        """Where the call got the value: the same value may come from two places for two parameters."""
        uses = self.uses.get((call.index, value, type_), [])
        return next((u for u in uses if u.param.name in said), uses[0] if uses else None)

    def _existential(self, value: Value, type_: Type, place: Place, exists: Exists) -> Expr:
        at = (value, place.index, place.leaf.steps)
        known = exists.known.get(at)
        if known is not None:
            return known
        base = f"some_{type_.name.lower()}" if isinstance(type_, Id) else f"some_{(place.leaf.names or ('value',))[-1]}"
        var = Var(name=f"{base}{len(exists.types) + 1}", kind="exists", type=type_)
        exists.known[at] = var
        exists.types[var.name] = type_
        exists.passed[var.name] = self.arguments.source(place)
        exists.values[var.name] = value
        exists.ties.extend(self._ties(var, place))
        return var

    def inline(self, call: Made, value: Value, type_: Type) -> Expr:
        """The value as a term without existentials; a literal where it has no description."""
        return self._described(call, value, type_) or Lit(value=value, type=strip(type_))

    def _described(self, call: Made, value: Value, type_: Type) -> Expr | None:
        """A literal, a name, or a definite description; ``None`` for what is read later and cannot be described."""
        type_ = strip(type_)
        use = self._use(call, value, type_, frozenset())
        if use is None or use.place is None:
            return Lit(value=value, type=type_)
        if use.place.index < self.cut:
            return self.arguments.source(use.place)
        found = self._observed(use.place)
        return None if found is None else project(*found)

    # -- descriptions -------------------------------------------------------------------------------------------

    def _observed(self, place: Place) -> tuple[Expr, tuple[Step, ...]] | None:
        """The fluent that shows the leaf, and the path from there: by the ``observes`` clause that comes closest."""
        call = place.call
        assert call is not None and call.tool is not None
        best: tuple[Expr, tuple[Step, ...]] | None = None
        for clause, _ in self.history.deeds[call.index].observes:
            path = path_of(clause.value)
            if path is None or clause.generators or clause.fluent in self.changed:
                continue
            rest = place.leaf.steps[len(path) :]
            if place.leaf.steps[: len(path)] != path or (best is not None and len(rest) >= len(best[1])):
                continue
            args = [self._parameter(call, a) for a in clause.args]
            known = tuple(a for a in args if a is not None)
            if len(known) == len(args):
                type_ = self.domain.fluents[clause.fluent].type
                best = FluentRead(fluent=clause.fluent, args=known, type=type_), rest
        return best

    def _parameter(self, call: Made, e: Expr) -> Expr | None:
        """A clause's argument over the parameters of ``call``, as a term of the contract."""
        if isinstance(e, Lit):
            return e
        if not (isinstance(e, Var) and e.kind == "param") or e.name not in call.args or call.tool is None:
            return None
        param = call.tool.param(e.name)
        if param is None or isinstance(call.args[e.name], tuple | Bag | Map | Record):
            return None
        if call.index < self.cut or exempt(param, param.type):
            return Lit(value=call.args[e.name], type=param.type)
        use = self._use(call, call.args[e.name], strip(param.type), frozenset({e.name}))
        if use is None or use.place is None:
            return None
        return self._described(call, call.args[e.name], param.type)

    def _ties(self, var: Var, place: Place) -> list[Expr]:
        found = self._observed(place)
        if found is None:
            return []
        base, rest = found
        if len(rest) >= 2 and rest[-2] == ("key", place.leaf.value) and rest[-1][0] == "field":
            container = project(base, rest[:-2])
            inside = Apply(op="in", args=(var, Apply(op="keys", args=(container,), type=BagOf(var.type))), type=BOOL)
            row = Index(base=container, key=var, type=project(container, rest[-2:-1]).type)
            return [inside, *self._details(row, place, len(rest), all_fields=False)]
        same = Apply(op="==", args=(var, project(base, rest)), type=BOOL)
        if len(rest) >= 2 and rest[-1][0] == "field" and rest[-2][0] in ("index", "key"):
            return [same, *self._details(project(base, rest[:-1]), place, len(rest), all_fields=None)]
        return [same]

    def _details(self, row: Expr, place: Place, depth: int, all_fields: bool | None) -> list[Expr]:
        """What tells the record from its neighbours: flags, words and enums; if they do not, all words in it."""
        call = place.call
        assert call is not None and call.tool is not None
        steps = place.leaf.steps[:-1]
        mine = _fields(_at(call.result, steps), strip(row.type))
        neighbours = [_fields(v, strip(row.type)) for v in _siblings(call.result, steps)]
        plain_: Details = {s: x for s, x in mine.items() if len(s) == 1 and x[1]}
        chosen: Details = plain_
        if all_fields is not None and any(_same(plain_, n) for n in neighbours):
            chosen = mine
        found: list[Expr] = []
        for path, (value, _, type_) in list(chosen.items())[:MOST]:
            term = project(row, path)
            if type_ == BOOL:
                found.append(term if value is True else Apply(op="not", args=(term,), type=BOOL))
            else:
                found.append(Apply(op="==", args=(term, Lit(value=value, type=type_)), type=BOOL))
        return found


def parameters(e: Expr | None) -> frozenset[str]:
    """The parameters that a clause's expression reads."""
    return (
        frozenset(x.name for x in walk(e) if isinstance(x, Var) and x.kind == "param") if e is not None else frozenset()
    )


Details = dict[tuple[Step, ...], tuple[Value, bool, Type]]


def _fields(value: Value, type_: Type) -> Details:
    """Words, enums and flags of a record, one level deep (and the entries of its maps): (value, always there, type)."""
    found: Details = {}
    if not isinstance(value, Record) or not isinstance(type_, RecordOf):
        return found
    for name, field_type in type_.fields:
        inner, here = strip(field_type), value.get(name) if name in value else None
        if here is None:
            continue
        if inner in (STRING, BOOL) or isinstance(inner, Enum):
            found[("field", name),] = (here, not isinstance(field_type, Optional), inner)
        elif isinstance(inner, MapOf) and inner.value == STRING and isinstance(here, Map):
            for key, word in here.items:
                found[("field", name), ("key", key)] = (word, False, STRING)
    return found


def _same(mine: Details, other: Details) -> bool:
    return all(s in other and other[s][0] == v for s, (v, _, _) in mine.items())


def _at(value: Value, steps: tuple[Step, ...]) -> Value:
    for kind, what in steps:
        match value:
            case Record() if kind == "field":
                value = value.get(str(what))
            case Map():
                value = value.get(what)
            case tuple() if isinstance(what, int):
                value = value[what]
    return value


def _siblings(value: Value, steps: tuple[Step, ...]) -> list[Value]:
    """The other elements of the collection that the path's last step chooses from."""
    match _at(value, steps[:-1]):
        case tuple() as items:
            return [v for i, v in enumerate(items) if i != steps[-1][1]]
        case Map(pairs):
            return [v for k, v in pairs if k != steps[-1][1]]
    return []


__all__ = ["Exists", "Goals", "Owed"]
