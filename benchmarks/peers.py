"""Turns a ground plan into what others need to judge it, and gives back a function to time: one judgement, no parsing.

A peer that is not installed gives ``None``: its column says *absent*. Every function checks once that the peer agrees
that the plan is right, so that nothing is compared with a tool that did something else.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from benchmarks.graphs import Ground

Judge = Callable[[], object]


def floor(plan: Ground) -> Judge:
    """The least that any checker in Python has to do: replay the plan on two sets, and compare with what is owed."""
    steps, size = plan.steps, len(plan.steps)
    licensed = frozenset(range(1, size + 1))

    def replay() -> bool:
        ready, made = {0}, {0}
        for item, needs, also in steps:
            if needs not in ready or also not in ready or item in made or item not in licensed:
                return False
            made.add(item)
            ready.add(item)
        return licensed <= made

    assert replay()
    return replay


def unified_planning(plan: Ground) -> Judge | None:
    """``SequentialPlanValidator`` on the same steps as a classical plan."""
    if find_spec("unified_planning") is None:
        return None
    from unified_planning.engines import SequentialPlanValidator
    from unified_planning.plans import ActionInstance, SequentialPlan
    from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, Object, Problem, UserType

    item = UserType("Item")
    ready, made = Fluent("ready", BoolType(), x=item), Fluent("made", BoolType(), x=item)
    make = InstantaneousAction("make", x=item, needs=item, also=item)
    make.add_precondition(ready(make.parameter("needs")))
    make.add_precondition(ready(make.parameter("also")))
    make.add_effect(ready(make.parameter("x")), True)
    make.add_effect(made(make.parameter("x")), True)
    problem = Problem("relay")
    for fluent in (ready, made):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(make)
    objects = [Object(f"item-{i}", item) for i in range(len(plan.steps) + 1)]
    problem.add_objects(objects)
    problem.set_initial_value(ready(objects[0]), True)
    for o in objects[1:]:
        problem.add_goal(made(o))
    actions = [ActionInstance(make, tuple(objects[i] for i in step)) for step in plan.steps]
    sequence, validator = SequentialPlan(actions), SequentialPlanValidator()

    def validate() -> object:
        return validator.validate(problem, sequence)

    assert validate().status.name == "VALID"  # type: ignore[attr-defined]  # the package is untyped
    return validate


def cedar(policies: int) -> Judge | None:
    """One decision of one call by Cedar, with as many policies, each permitting the call for one item."""
    if find_spec("cedarpy") is None:
        return None
    import cedarpy

    permits = "\n".join(
        f'permit(principal == Agent::"a", action == Action::"make", resource == Item::"item-{i}");'
        for i in range(1, policies + 1)
    )
    parsed, entities = cedarpy.PolicySet.from_str(permits), cedarpy.Entities.from_json_str("[]")
    request = {"principal": 'Agent::"a"', "action": 'Action::"make"', "resource": 'Item::"item-1"', "context": {}}

    def decide() -> object:
        return cedarpy.is_authorized(request, parsed, entities)

    assert decide().allowed  # type: ignore[attr-defined]  # the package is untyped
    return decide
