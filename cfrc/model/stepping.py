"""Turns what one call does into violations of preservation, scope and interference (``docs/semantics.md`` §3).

Everything is judged in the state before the call, with the call's own effects in the order undo, cause, set.
"""

from __future__ import annotations

from cfrc.model.contract import StateGoal
from cfrc.model.evaluate import equal
from cfrc.model.footprint import Footprint, Key, Wild, matches
from cfrc.model.instances import Instance, Instances, Pattern, Write
from cfrc.model.limits import Total
from cfrc.model.machine import Step
from cfrc.model.run import Run
from cfrc.model.scope import fluents_read
from cfrc.model.show import show_instance, show_value
from cfrc.model.state import InDoubt, covers
from cfrc.model.values import Value


def judge_tool(run: Run, step: Step) -> None:
    """An undeclared tool needs a licence by name."""
    if step.tool.undeclared and step.tool.name not in run.book.scope.tools:
        run.report("SCP003", step.node, failing=f"within tool {step.tool.name}")


def judge_effects(run: Run, step: Step, found: Instances) -> None:
    """Preservation, scope, limits and interference of a call that returned."""
    for pattern in found.undoes:
        _undo(run, step, pattern)
    keys: set[Instance] = set()
    for instance in found.causes:
        _cause(run, step, instance, keys)
        if not run.licensed("effect", instance):
            run.report("SCP001", step.node, failing=f"within {_show_effect(run, instance)}")
    for write in found.writes:
        _write(run, step, write)
    if run.totals:
        _limits(run, step, found)
    if step.footprint is None:
        return
    if run.book.order:
        _order(run, step.footprint, found)
    for position, resource in run.interference.add(step.entry, step.footprint):
        other = run.book.plan.proposal.nodes[position].id
        run.report("PRS007", step.node, others=(other,), failing=_show_resource(run, resource))


def judge_leftovers(run: Run, step: Step) -> None:
    """What a failed call may have caused: judged like a cause, and it counts for limits from now on."""
    keys: set[Instance] = set()
    for pattern in step.leftovers:
        effect, args = pattern
        ground = tuple([a for a in args if not isinstance(a, Wild)])
        if len(ground) == len(args):
            _cause(run, step, (effect, ground), keys)
        if not run.licensed("effect", pattern):
            run.report("SCP001", step.node, failing=f"within {_show_effect(run, pattern)}")
        for total in run.totals:
            if total.add(pattern, run.env) and total.exceeded:
                run.report("SCP004", step.node, failing=show_limit(total))


# -- preservation -----------------------------------------------------------------------------------------------------


def _undo(run: Run, step: Step, pattern: Pattern) -> None:
    state, effect = run.machine.state, pattern[0]
    targets = state.matching(pattern)
    for target in targets:
        if target in state.kept:
            run.report("PRS003", step.node, failing=_show_effect(run, target))
        elif run.book.plan.contract.domain.effects[effect].once and state.count.get(target):
            others = (state.caused_by[target],)
            run.report("PRS004", step.node, failing=_show_effect(run, target), others=others)
    ground = not any(isinstance(a, Wild) for a in pattern[1])
    for instance in (pattern,) if ground else targets:
        if not run.book.scope.written or not run.licensed("effect", instance):
            run.report("SCP001", step.node, failing=f"within {_show_effect(run, instance)}")


def _cause(run: Run, step: Step, instance: Instance, keys: set[Instance]) -> None:
    """Repeats of kept identities, of ``once`` keys, of what is in doubt. ``keys`` are those of this very call."""
    state, plan = run.machine.state, run.book.plan
    if instance in state.kept:
        run.report("PRS001", step.node, failing=_show_effect(run, instance))
    elif plan.contract.domain.effects[instance[0]].once:
        key = (instance[0], plan.sig.key(*instance))
        earlier = state.by_key.get(key)
        if key in run.book.kept_keys:
            before = _show_effect(run, run.book.kept_keys[key])
            run.report("PRS002", step.node, failing=_show_effect(run, instance), before=before)
        elif earlier is not None or key in keys:
            run.report("PRS002", step.node, failing=_show_effect(run, instance), others=(earlier or step.node,))
        keys.add(key)
    for doubt in state.doubts:
        identical = step.tool.idempotent and doubt.call == (step.tool.name, step.args)
        if doubt.effect == instance[0] and doubt.status != "no" and not identical and _may_be(run, doubt, instance):
            others = (doubt.node,) if doubt.node is not None else ()
            run.report("PRS006", step.node, failing=_show_effect(run, instance), others=others)
            break


def _may_be(run: Run, doubt: InDoubt, instance: Instance) -> bool:
    """Whether a doubt is about this identity or, for a ``once`` effect, about its key, and that was not refuted."""
    effect = run.book.plan.contract.domain.effects[instance[0]]
    about: tuple[Value | Wild, ...] = instance[1]
    if effect.once:
        about = tuple(v if i in effect.key else doubt.args[i] for i, v in enumerate(about))
    return matches(doubt.args, about) and not any(covers(p, about) for p in doubt.refuted)


def _write(run: Run, step: Step, write: Write) -> None:
    place = (write.fluent, write.args)
    kept = run.book.kept_fluents
    if kept and place in kept and not equal(write.value, kept[place]):
        _report_write(run, step, write, "PRS005")
    if not run.licensed("fluent", place):
        _report_write(run, step, write, "SCP002")


def _report_write(run: Run, step: Step, write: Write, code: str) -> None:
    fluent = run.book.plan.contract.domain.fluents[write.fluent]
    shown = show_instance(write.fluent, write.args, fluent.params)
    before, after = show_value(write.before, fluent.type), show_value(write.value, fluent.type)
    failing = f"within {shown}" if code == "SCP002" else f"{shown} == {before}"
    run.report(code, step.node, failing=failing, before=before, after=after)


def _limits(run: Run, step: Step, found: Instances) -> None:
    """Adds what the call causes, takes back what it refutes, and looks at every limit that this concerns."""
    settled = [
        d
        for d in run.machine.state.doubts
        if d.status == "?" and (d.node is None or not any(isinstance(a, Wild) for a in d.args))
        if any(d.effect == p[0] and covers(p[1], d.args) for p in found.refutes)
    ]
    for total in run.totals:
        touched = False
        for instance in found.causes:
            touched = total.add(instance, run.env) or touched
        for d in settled:
            touched = total.add((d.effect, d.args), run.env, -1) or touched
        if touched and total.exceeded:
            run.report("SCP004", step.node, failing=show_limit(total))


def _order(run: Run, footprint: Footprint, found: Instances) -> None:
    """Notes in the footprint which orders between obligations the call completes and which it needs."""
    for effect, undone in found.undoes:
        for pattern, completes, _ in run.book.order.get(effect, ()):
            if matches(pattern, undone):
                footprint.writes.update(("order", name) for name in completes)
    for effect, args in (*found.causes, *found.witnesses):
        for pattern, completes, needs in run.book.order.get(effect, ()):
            if not matches(pattern, args):
                continue
            footprint.writes.update(("order", name) for name in completes)
            for name in needs:
                footprint.read(("order", name))
                for goal in run.book.tracked[name].goals if name in run.book.tracked else ():
                    if isinstance(goal, StateGoal):
                        for fluent in fluents_read(goal.condition, run.env):
                            footprint.read(("fluent", fluent[0], run.book.plan.sig.fluent(*fluent)))


# -- text -------------------------------------------------------------------------------------------------------------


def _show_effect(run: Run, instance: Pattern) -> str:
    effect, args = instance
    params = run.book.plan.contract.domain.effects[effect].params
    if not args:
        return f"{effect}()"
    shown = ["_" if isinstance(a, Wild) else show_value(a, t) for a, (_, t) in zip(args, params, strict=True)]
    return f"{effect}({', '.join(shown)})"


def show_limit(total: Total) -> str:
    value = "_" if total.unknown else show_value(total.value)
    return f"{total.limit.kind} of {total.limit.effect}: {value} <= {show_value(total.limit.bound)}"


def _show_resource(run: Run, resource: Key) -> str:
    match resource:
        case ("fluent", str(name), tuple(args)):
            return show_instance(name, args, run.book.plan.contract.domain.fluents[name].params)
        case ("effect", str(name), tuple(args)):
            return f"{name}({', '.join('_' if isinstance(a, Wild) else show_value(a) for a in args)})"
        case ("order", str(name)):
            return name
    return "a tool without declared effects"
