"""Turns every cause, undo and fluent write into a condition: it is licensed by the scope.

``docs/semantics.md`` §3, *scope*. Without ``within`` the scope is tight: exactly the obligations' own instances.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.contract import EffectGoal
from cfrc.model.show import show_expr
from cfrc.source import Span
from cfrc.verify.condition import Condition, Conditions, spans
from cfrc.verify.goals import Unbound, pattern_match
from cfrc.verify.licences import Licences
from cfrc.verify.paths import Paths
from cfrc.verify.runs import Run
from cfrc.verify.shapes import Shape, leaves
from cfrc.verify.spoken import instance
from cfrc.verify.state import Write
from cfrc.verify.terms import Term


def conditions(paths: Paths) -> Conditions:
    licences = paths.frame.licences
    t = paths.terms
    for run in paths.runs:
        if run.tool is not None and run.tool.undeclared and ("tool", run.tool.name) not in licences.by_name:
            yield _condition(
                paths, run, "SCP003", run.called,
                f"`{run.tool.name}` declares no effects and has no licence by name",
                f"to declare what it does is for the domain's owner, to license it for the contract's: "
                f"`within tool {run.tool.name}`", None,
            )  # fmt: skip
        for i in (*run.causes, *run.undoes):
            undone = any(i is u for u in run.undoes)
            # the tight scope asks for the obligations' instances, not for undoing them
            closed = undone and paths.contract.scope is None
            licensed = t.false if closed else _licensed(paths, run, licences, "effect", i.effect, i.shapes)
            bad = t.and_(i.cond, t.not_(licensed))
            if bad is t.false:
                yield None
                continue
            shown = instance(run.call, run.tool, i.effect, i.clause.args)
            yield _condition(
                paths, run, "SCP001", bad, f"{'undoing ' if undone else ''}`{shown}` is not licensed",
                f"without `within` nothing may be undone; {_owner(i.effect, shown)}"
                if closed else _within(licences, "effect", i.effect, shown),
                i.clause.span,
            )  # fmt: skip
        for w in run.writes:
            yield _fluent(paths, run, licences, w)


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


def _fluent(paths: Paths, run: Run, licences: Licences, w: Write) -> Condition | None:
    licensed = _licensed(paths, run, licences, "fluent", w.fluent, w.args)
    bad = paths.terms.and_(w.cond, paths.terms.not_(licensed))
    if bad is paths.terms.false:
        return None
    shown = instance(run.call, run.tool, w.fluent, w.clause.args)
    return _condition(
        paths, run, "SCP002", bad, f"writing `{shown}` is not licensed",
        _within(licences, "fluent", w.fluent, shown), w.clause.span,
    )  # fmt: skip


def _within(licences: Licences, kind: str, name: str, wanted: str) -> str:
    own = licences.by_name.get((kind, name), [])
    if not own:
        return f"nothing licenses `{name}`; {_owner(name, wanted)}"
    shown = ", ".join(
        f"`{name}({', '.join('_' if a is None else show_expr(a) for a in lic.args)})`" if lic.args else f"`{name}`"
        for lic in own[:5]
    )
    return f"licensed: {shown}; to widen that is for the contract's owner"


def _owner(name: str, shown: str) -> str:
    """A plan must not ask for more than it was given: who may give more, and how."""
    pattern = f"{name}(…)" if "(" in shown else name
    return f"to widen the scope is for the contract's owner: `within {pattern}`"


def _condition(paths: Paths, run: Run, code: str, bad: Term, message: str, help: str, clause: Span | None) -> Condition:
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
        clauses=spans(("the clause", clause), ("the contract", contract)),
    )
