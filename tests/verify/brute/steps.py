"""Turns a state and an enabled call into all states after it: failures, results, polls (semantics §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cfrc.model.expr import Apply
from cfrc.model.graph import Call
from cfrc.model.types import is_identifier
from tests.verify.brute.doing import Finding, Illegal, Step, carry_out, compare, filled, full_args, instances
from tests.verify.brute.evaluate import canonical, force, raw
from tests.verify.brute.goals import defined, true
from tests.verify.brute.setting import Setting
from tests.verify.brute.state import FAIL, OK, READY, Choose, Entry, Raw, Slot, State
from tests.verify.brute.universe import leaf_types


def branch(states: Iterable[State], work: Callable[[State], list[State]], z: Setting) -> Iterator[State]:
    """Everything that ``work`` yields, over all values of the slots that it turns out to read."""
    stack = list(states)
    while stack:
        state = stack.pop()
        try:
            yield from work(state)
        except Choose as c:
            stack.extend(state.assume(c.slot, v) for v in z.universe.values(c.slot.type))


Note = Callable[[set[Finding], State], None]
"""Takes findings, and a state whose log shows how they come about."""


def perform(z: Setting, name: str, state: State, note: Note) -> list[State]:
    """All outcomes of the call in this state; what goes wrong is noted.

    Raises:
        Choose: a slot must be chosen first; nothing has been added then that would not hold for every choice.
    """
    call = z.calls[name]
    tool = z.domain.tools[call.tool]
    step = Step(z, call, tool, state, z.scene(state, me=name, params=arguments(z, call, state)), set())
    _bindings(step)
    used = _approval(step)
    fine = _requires(step)
    if step.found:
        tried = state.copy()
        tried.log = (*tried.log, Entry(name, "fail", (), tuple(tried.now.items())))
        note(step.found, tried)
        step.found = set()
    after = list(_return(step, used, note, fine))
    # where `requires` is false the effects of this very step are judged, and the run goes no further
    return [*_fail(step), *after] if fine else []


def arguments(z: Setting, call: Call, state: State) -> dict[str, Raw]:
    """The call's arguments, defaults filled in. Raises ``NotOk`` and ``Undefined`` where a source has no value."""
    found: dict[str, Raw] = {}
    for p in z.domain.tools[call.tool].params:
        source = call.args.get(p.name, p.default)
        assert source is not None
        value = raw(source, z.scene(state))
        found[p.name] = value if isinstance(value, Slot) else canonical(value, p.type)
    return found


def _bindings(step: Step) -> None:
    z, tool = step.z, step.tool
    for p in tool.params:
        aimed = z.aimed(tool.name).get(p.name)
        if aimed is not None:
            if any(force(step.scene.params[p.name]) != v for v in aimed):
                step.found.add(("binding", "BND002"))
        elif step.call.id in z.governed and is_identifier(p.type):
            allowed = z.bound(tool.name, p.name)
            if allowed is not None and force(step.scene.params[p.name]) not in allowed:
                step.found.add(("binding", "BND001"))


def _approval(step: Step) -> frozenset[int]:
    """Checks authority for these arguments; the approvals that are used after the call."""
    z, tool = step.z, step.tool
    listed = [(i, a) for i, a in enumerate(z.contract.approvals) if a.tool == tool.name]
    for _, a in listed:
        if a.denied:
            params = step.scene.params
            wanted = {p.name: canonical(dict(a.args)[p.name], p.type) for p in tool.params if p.name in dict(a.args)}
            if all(force(params[n]) == v for n, v in wanted.items()):
                step.found.add(("authority", "AUT005"))
    # where the condition is undefined nobody has said that the call may go without an approval
    if tool.approved is None or (defined(tool.approved, step.scene) and not true(tool.approved, step.scene)):
        return step.pre.used
    granted = [(i, a) for i, a in listed if not a.denied]
    if not granted:
        step.found.add(("authority", "AUT002"))
        return step.pre.used
    z_time, policy = z.contract.as_of, z.contract.policy
    good = [
        i
        for i, a in granted
        if full_args(z, tool.name, a.args) == frozenset(filled(step).items())
        and (a.policy is None or a.policy == policy)
        and (a.expires is None or z_time is None or a.expires > z_time)
    ]
    if not good:
        step.found.add(("authority", "AUT003"))
        return step.pre.used
    unused = [i for i in good if i not in step.pre.used]
    if not unused:
        step.found.add(("authority", "AUT004"))
        return step.pre.used
    return step.pre.used | {unused[0]}


def _requires(step: Step) -> bool:
    for condition in step.tool.requires:
        if not true(condition, step.scene):
            step.found.add(("dependency", "DEP004"))
            return False
    return True


def _fail(step: Step) -> Iterator[State]:
    """FAIL: a definite failure. Without a handler the run ends here, so there is no state to go on from."""
    if step.call.id not in step.z.handled:
        return
    after = step.pre.copy()
    after.x[step.call.id] = FAIL
    _forget(after, step.call.id)
    after.log = (*after.log, Entry(step.call.id, "fail", (), tuple(after.now.items())))
    after.now = {}
    mine = (step.tool.name, frozenset(filled(step).items()))
    new = {(i, "?", mine) for c in step.tool.may_cause for i in instances(c, step.scene)}
    after.doubts = tuple(sorted({*after.doubts, *new}, key=repr))
    yield after


def _forget(state: State, name: str) -> None:
    for key in [k for k in state.res if k[0] == name]:
        del state.res[key]


def _return(step: Step, used: frozenset[int], note: Note, fine: bool) -> list[State]:
    """OK, POLL, and a false ``expect``: the call returns a result of Res."""
    try:
        _known(step)
        after = carry_out(step)
    except Illegal:
        return []
    after.used = used
    name, call = step.call.id, step.call
    seen = step.z.scene(after, me=name)
    over = returned = True
    failed = False
    if call.until is not None and not true(call.until, seen):
        returned = False
        over = failed = after.polls[name] + 1 >= call.polls
    elif call.expect is not None and not true(call.expect, seen):
        failed = True
    if fine:
        compare(step, after)
    _log(step, after, "ok" if returned else "poll")
    note(step.found, after)
    after.now = {}
    if failed:
        after.x[name] = FAIL
        return [after] if name in step.z.handled else []
    after.x[name] = OK if over else READY
    if not over:
        _forget(after, name)
        after.polls[name] += 1
    return [after]


def _log(step: Step, after: State, outcome: str) -> None:
    name = step.call.id
    fields = leaf_types(step.tool.result).items()
    values = [(p, after.res.get((name, p), Slot(("r", name, after.polls[name], p), t))) for p, t in fields]
    after.log = (*after.log, Entry(name, outcome, tuple(values), (*after.now.items(), *step.pins)))


def _known(step: Step) -> None:
    """Res, first part: the result satisfies ``ensures``. An equation with an unread field fixes the field."""
    for e in step.tool.ensures:
        if isinstance(e, Apply) and e.op == "==":
            left, right = raw(e.args[0], step.scene), raw(e.args[1], step.scene)
            if isinstance(left, Slot) != isinstance(right, Slot):
                slot, value = (left, right) if isinstance(left, Slot) else (right, left)
                assert isinstance(slot, Slot)
                if slot.where[:2] == ("r", step.call.id) and slot.type in (e.args[0].type, e.args[1].type):
                    _learn(step, slot, value)
                    continue
        if not true(e, step.scene):
            raise Illegal


def _learn(step: Step, slot: Slot, value: Raw) -> None:
    """Goes on in the state where the slot has this value; it is the only legal one."""
    step.pre = step.scene.state = step.pre.assume(slot, canonical(force(value), slot.type))
