"""Turns a tool under a contract into a recipe: which positions of a call's row of values its clauses are about.

The row of a call holds its argument values and then the recipe's constants; every fluent instance or effect identity of
a clause is a *cell*, its name followed by its arguments, picked out of the row by position. Only tools have a recipe
whose calls do the same whatever they return: clauses without conditions, over plain parameters and literals. What a
value must be to be of the right type, from an allowed source and as bound, is settled for a parameter once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from cfrc.model import expr as ex
from cfrc.model import types as ty
from cfrc.model.canon import default_value, has_type, needs_canonical
from cfrc.model.contract import Contract, EffectGoal, Licence
from cfrc.model.domain import EffectClause, FluentClause, Param, Tool
from cfrc.model.values import Value
from cfrc.verify.conditions.grounding import supported_values

Row = tuple[Value, ...]
Cell = tuple[Value, ...]
Pick = Callable[[Row], Cell]

Declared = Sequence[tuple[str, ty.Type]]
"""The parameters of an effect or fluent."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter: the values that a call may give it as a literal (``None``: any of the type), or by a name.

    ``defaults`` holds the value of an argument that is left out, if it may be.
    """

    name: str
    type: ty.Type
    plain: ty.Type
    literals: frozenset[Value] | None
    names: Mapping[str, Value]
    defaults: Row


@dataclass(frozen=True, slots=True)
class Licensed:
    """The cells of one effect or fluent that the scope licenses: ``all``, those in ``exact``, and those that agree with
    some of ``partly`` in the given positions."""

    all: bool
    exact: frozenset[Cell]
    partly: tuple[tuple[tuple[int, Value], ...], ...]

    def allows(self, cell: Cell) -> bool:
        return cell in self.exact or any(all(cell[i] == v for i, v in some) for some in self.partly)


@dataclass(frozen=True, slots=True)
class Read:
    """``requires`` asks that the cell holds the row's value at ``value``."""

    cell: Pick
    value: int


@dataclass(frozen=True, slots=True)
class Write:
    fluent: str
    cell: Pick
    value: int
    licensed: Licensed


@dataclass(frozen=True, slots=True)
class Cause:
    """``mark`` is what must not be kept: the key of a ``once`` effect, the identity of others. ``columns`` are those of
    the cell."""

    effect: str
    columns: tuple[int, ...]
    cell: Pick
    mark: Pick
    once: bool
    licensed: Licensed


@dataclass(slots=True)
class Recipe:
    """What a call of the tool does. ``tests`` are the conditions of ``requires`` over parameters alone; ``approved``
    says that it needs an approval."""

    tool: Tool
    slots: tuple[Slot, ...]
    approved: bool
    constants: list[Value] = field(default_factory=list)
    tests: list[ex.Expr] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)

    def gives(self, cause: Cause, cell: Cell) -> bool:
        """Whether some arguments make the cause be about the cell."""
        row: dict[int, Value] = dict(enumerate(self.constants, len(self.slots)))
        return all(row.setdefault(column, value) == value for column, value in zip(cause.columns, cell, strict=True))


class Beyond(Exception):
    """The tool does something that no recipe describes."""


class Recipes:
    """The recipes of the tools that a contract allows, each worked out when it is first asked for."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.scope = _scope(contract)
        self._known: dict[str, Recipe | None] = {}

    def of(self, name: str) -> Recipe | None:
        if name not in self._known:
            tool = self.contract.domain.tools.get(name) if name in self.contract.allow else None
            try:
                self._known[name] = None if tool is None else self._recipe(tool)
            except Beyond:
                self._known[name] = None
        return self._known[name]

    def _recipe(self, tool: Tool) -> Recipe:
        denied = any(a.tool == tool.name and a.denied for a in self.contract.approvals)
        if denied or not _plain(tool):
            raise Beyond
        slots = tuple(_slot(self.contract, tool, p) for p in tool.params)
        recipe = Recipe(tool, slots, tool.approved == ex.TRUE)
        columns = _Columns(recipe)
        for condition in tool.requires:
            for c in ex.conjuncts(condition):
                self._requires(columns, c)
        recipe.causes = [self._cause(columns, c) for c in tool.causes]
        recipe.writes = [self._write(columns, s) for s in tool.sets]
        return recipe

    def _requires(self, columns: _Columns, c: ex.Expr) -> None:
        if not any(isinstance(x, ex.FluentRead) or _result(x) for x in ex.walk(c)):
            columns.recipe.tests.append(c)
            return
        read, wanted = _asked(c)
        fluent = self.contract.domain.fluents[read.fluent]
        if fluent.volatile:
            raise Beyond
        cell = _pick(columns.cell(read.fluent, read.args, fluent.params))
        columns.recipe.reads.append(Read(cell, columns.column(wanted, fluent.type)))

    def _cause(self, columns: _Columns, c: EffectClause) -> Cause:
        effect = self.contract.domain.effects[c.effect]
        cell = columns.cell(c.effect, c.args, effect.params)
        mark = (cell[0], *(cell[i + 1] for i in effect.key)) if effect.once else cell
        licensed = self._licensed("effect", c.effect)
        return Cause(c.effect, cell, _pick(cell), _pick(mark), effect.once, licensed)

    def _write(self, columns: _Columns, s: FluentClause) -> Write:
        fluent = self.contract.domain.fluents[s.fluent]
        if fluent.volatile:
            raise Beyond
        cell = _pick(columns.cell(s.fluent, s.args, fluent.params))
        return Write(s.fluent, cell, columns.column(s.value, fluent.type), self._licensed("fluent", s.fluent))

    def _licensed(self, kind: str, name: str) -> Licensed:
        every, exact, partly = False, set(), []
        for licence in self.scope.get((kind, name), ()):
            given = [(i, a.value) for i, a in enumerate(licence.args, 1) if isinstance(a, ex.Lit)]
            if not given:
                every = True
            elif len(given) == len(licence.args):
                exact.add((name, *(v for _, v in given)))
            else:
                partly.append(tuple(given))
        return Licensed(every, frozenset(exact), tuple(partly))


class _Columns:
    """The columns of a recipe's row."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.params = {s.name: (i, s.type) for i, s in enumerate(recipe.slots)}

    def constant(self, value: Value) -> int:
        self.recipe.constants.append(value)
        return len(self.params) + len(self.recipe.constants) - 1

    def column(self, e: ex.Expr | None, wanted: ty.Type) -> int:
        """Where the value of a clause's expression stands: a literal or a parameter, of the declared type."""
        if isinstance(e, ex.Lit) and e.type == wanted:
            return self.constant(e.value)
        if isinstance(e, ex.Var) and e.kind == "param" and self.params.get(e.name, (0, None))[1] == wanted:
            return self.params[e.name][0]
        raise Beyond

    def cell(self, name: str, args: Sequence[ex.Expr | None], declared: Declared) -> tuple[int, ...]:
        return self.constant(name), *(self.column(a, t) for a, (_, t) in zip(args, declared, strict=True))


def _pick(columns: tuple[int, ...]) -> Pick:
    if len(columns) == 1:
        return lambda row: (row[columns[0]],)
    return itemgetter(*columns)


def _asked(c: ex.Expr) -> tuple[ex.FluentRead, ex.Expr]:
    """The fluent that a condition reads and the value that it asks for."""
    match c:
        case ex.FluentRead(type=ty.BOOL):
            return c, ex.TRUE
        case ex.Apply(op="not", args=(ex.FluentRead(type=ty.BOOL) as read,)):
            return read, ex.Lit(value=False, type=ty.BOOL)
        case ex.Apply(op="==", args=(ex.FluentRead() as read, wanted)):
            return read, wanted
        case ex.Apply(op="==", args=(wanted, ex.FluentRead() as read)):
            return read, wanted
    raise Beyond


def _plain(tool: Tool) -> bool:
    """Whether a call does the same whatever it returns, and needs nothing beside its arguments."""
    beyond = (
        tool.undeclared, tool.undoes, tool.witnesses, tool.refutes, tool.may_cause, tool.ensures, tool.observes,
        tool.approved not in (None, ex.TRUE), any(c.when is not None or c.generators for c in tool.causes),
        any(s.when is not None or s.generators for s in tool.sets),
        any(needs_canonical(p.type) for p in tool.params),
    )  # fmt: skip
    return not any(beyond) and has_type(default_value(tool.result), tool.result) and tool.result != ty.ANY


def _result(x: ex.Expr) -> bool:
    return isinstance(x, ex.Var) and x.kind == "result"


def _slot(contract: Contract, tool: Tool, p: Param) -> Slot:
    plain = p.type.item if isinstance(p.type, ty.Optional) else p.type
    names, literals = supported_values(contract, p)
    defaults: Row = (p.default.value,) if isinstance(p.default, ex.Lit) and p.default.type == p.type else ()
    for bound in _bound(contract, tool, p, plain):
        names = {n: v for n, v in names.items() if v in bound}
        literals = bound if literals is None else literals & bound
        defaults = tuple(v for v in defaults if v in bound)
    return Slot(p.name, p.type, plain, literals, names, defaults)


def _bound(contract: Contract, tool: Tool, p: Param, plain: ty.Type) -> Iterator[frozenset[Value]]:
    """The values to which each binding that governs the parameter limits it; stricter than need be for reads."""
    fixed = [n for n in contract.names.values() if n.fixed]
    yield from (frozenset({n.value}) for n in fixed if (tool.name, p.name) in n.targets)
    governing = [n for n in fixed if not n.targets and isinstance(n.type, ty.Id)]
    if governing and ty.holds_identifier(plain) and not isinstance(plain, ty.Id):
        raise Beyond
    same = frozenset(n.value for n in governing if n.type == plain)
    if same:
        yield same


def _scope(contract: Contract) -> dict[tuple[str, str], list[Licence]]:
    """The licences whose instances depend on nothing; the tight scope where none are written."""
    goals = [g for o in contract.obligations for g in o.goals if isinstance(g, EffectGoal)]
    written = contract.scope
    found: dict[tuple[str, str], list[Licence]] = defaultdict(list)
    for x in written if written is not None else [Licence("effect", g.effect, g.args) for g in goals]:
        if x.where is None and not x.exists and all(a is None or isinstance(a, ex.Lit) for a in x.args):
            found[x.kind, x.name].append(x)
    return found
