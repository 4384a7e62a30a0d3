"""Turns every cause, undo and fluent write into a condition: it is licensed by the scope.

``semantics.md`` §3, *scope*. Without ``within`` the scope is tight: exactly the obligations' own instances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.model import expr as ex
from cfrc.model.contract import EffectGoal, Licence
from cfrc.model.show import show_expr
from cfrc.verify.condition import Condition, spans
from cfrc.verify.goals import Unbound, pattern_match
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Run
from cfrc.verify.shapes import Shape, leaves, literal
from cfrc.verify.state import Write
from cfrc.verify.terms import Term

Key = tuple[Term, ...]


@dataclass(slots=True)
class Licences:
    """The scope by kind and name. Literal instances are licensed by hashing; ``by_name`` holds all, ``open`` the others."""

    by_name: dict[tuple[str, str], list[Licence]] = field(default_factory=lambda: defaultdict(list))
    exact: set[tuple[str, str, Key]] = field(default_factory=set)
    open: dict[tuple[str, str], list[tuple[Licence, set[str]]]] = field(default_factory=lambda: defaultdict(list))
    literal: dict[tuple[str, str], list[tuple[Licence, set[str]]]] = field(default_factory=lambda: defaultdict(list))


def conditions(paths: Paths) -> Iterator[Condition]:
    licences = _licences(paths)
    for run in paths.runs:
        if run.tool is not None and run.tool.undeclared and ("tool", run.tool.name) not in licences.by_name:
            yield _condition(
                paths, run, "SCP003", run.called,
                f"`{run.tool.name}` declares no effects and has no licence by name",
                f"declare what it causes or sets, or license it: `within tool {run.tool.name}`", None,
            )  # fmt: skip
        for i in (*run.causes, *run.undoes):
            licensed = _licensed(paths, run, licences, "effect", i.effect, i.shapes)
            bad = paths.terms.and_(i.cond, paths.terms.not_(licensed))
            yield _condition(
                paths, run, "SCP001", bad, f"`{run.call.id}` may act outside the scope: `{i.effect}` is not licensed here",
                _within(licences, "effect", i.effect), i.clause.span,
            )  # fmt: skip
        for w in run.writes:
            yield _fluent(paths, run, licences, w)


def _licences(paths: Paths) -> Licences:
    found = Licences()
    scope = paths.contract.scope
    for licence in scope if scope is not None else _tight(paths):
        name = (licence.kind, licence.name)
        found.by_name[name].append(licence)
        refs = {x.obligation for a in licence.args if a is not None for x in ex.walk(a) if isinstance(x, ex.Discharge)}
        key = _literal(paths, licence)
        if key is not None:
            found.exact.add((*name, key))
            found.literal[name].append((licence, refs))
        else:
            found.open[name].append((licence, refs))
    return found


def _literal(paths: Paths, licence: Licence) -> Key | None:
    """The instance that a licence without any condition names."""
    if licence.where is not None or licence.exists or not all(isinstance(a, ex.Lit) for a in licence.args):
        return None
    declared = paths.domain.effects if licence.kind == "effect" else paths.domain.fluents
    params = declared[licence.name].params if licence.name in declared else ()
    values = [a.value for a in licence.args if isinstance(a, ex.Lit)]
    return tuple(
        x for v, (_, t) in zip(values, params, strict=False) for x in leaves(paths.terms, literal(paths.terms, v, t))
    )


def _tight(paths: Paths) -> Iterator[Licence]:
    """The obligations' own instances: goals of effects, and the fluent instances that state goals read."""
    for o in paths.contract.obligations:
        for g in o.goals:
            if isinstance(g, EffectGoal):
                yield Licence("effect", g.effect, g.args, o.exists, o.where, g.span)
            else:
                for x in ex.walk(g.condition):
                    if isinstance(x, ex.FluentRead):
                        yield Licence("fluent", x.fluent, x.args, o.exists, o.where, g.span)


def _licensed(
    paths: Paths, run: Run, licences: Licences, kind: str, name: str, shapes: tuple[Shape | None, ...]
) -> Term:
    t = paths.terms
    parts = []
    candidates = licences.open.get((kind, name), [])
    key = tuple(x for s in shapes if s is not None for x in leaves(t, s))
    if None not in shapes and all(x.ground for x in key):
        if (kind, name, key) in licences.exact:
            return t.true
    else:
        candidates = [*candidates, *licences.literal.get((kind, name), ())]
    for licence, refs in candidates:
        for discharges in _receipts(paths, run, refs):
            try:
                hit = pattern_match(
                    paths, shapes, licence, licence.exists, licence.where, run.pos, paths.order.anc[run.pos],
                    discharges=discharges,
                )  # fmt: skip
            except Unbound:
                continue
            if hit is t.true:
                return hit
            parts.append(hit)
    return t.or_(*parts)


def _receipts(paths: Paths, run: Run, refs: set[str]) -> Iterator[dict[str, Shape]]:
    """The ways in which earlier calls may stand for the referenced obligations (their effect is enough)."""
    if not refs:
        yield {}
        return
    by_name = {o.name: o for o in paths.contract.obligations}
    choices: list[dict[str, Shape]] = [{}]
    for ref in sorted(refs):
        effects = {g.effect for g in by_name[ref].goals if isinstance(g, EffectGoal)}
        earlier = [
            r for r in paths.runs[: run.pos]
            if paths.order.anc[run.pos] >> r.pos & 1 and any(i.effect in effects for i in (*r.causes, *r.witnesses))
        ]  # fmt: skip
        choices = [{**c, ref: r.result} for c in choices for r in earlier if r.result is not None]
    yield from choices


def _fluent(paths: Paths, run: Run, licences: Licences, w: Write) -> Condition:
    licensed = _licensed(paths, run, licences, "fluent", w.fluent, w.args)
    bad = paths.terms.and_(w.cond, paths.terms.not_(licensed))
    return _condition(
        paths, run, "SCP002", bad, f"`{run.call.id}` may write outside the scope: `{w.fluent}` is not licensed here",
        _within(licences, "fluent", w.fluent), w.clause.span,
    )  # fmt: skip


def _within(licences: Licences, kind: str, name: str) -> str:
    own = licences.by_name.get((kind, name), [])
    if not own:
        return f"nothing licenses `{name}`: if it is wanted, add it to the contract with `within {name}(…)`"
    shown = ", ".join(f"`{name}({', '.join('_' if a is None else show_expr(a) for a in lic.args)})`" for lic in own[:5])
    return f"licensed: {shown}"


def _condition(paths: Paths, run: Run, code: str, bad: Term, message: str, help: str, clause: object) -> Condition:
    contract = paths.contract.span
    return Condition(
        kind="scope",
        code=code,
        bad=bad,
        message=message,
        help=help,
        mask=paths.order.anc[run.pos],
        returned=1 << run.pos,
        step=run.pos,
        node=run.call.id,
        where=run.call.span,
        clauses=spans(("the clause", clause), ("the contract", contract)),  # type: ignore[arg-type]
    )
