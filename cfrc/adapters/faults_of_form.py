"""Turns proposals into proposals whose graph or whose calls are not well-formed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfrc.adapters.edits import edit
from cfrc.adapters.mutant import Mutant, View
from cfrc.model.expr import Lit, NodeResult, Outcome, walk
from cfrc.model.types import INT


def _edges(view: View) -> Iterator[tuple[str, str]]:
    """Dependencies that an argument, an expectation or a guard carries."""
    for call in view.calls:
        parts = [*call.args.values(), *(e for e in (call.expect, call.when) if e is not None)]
        found = {x.node for e in parts for x in walk(e) if isinstance(x, NodeResult | Outcome)} - {call.id}
        yield from ((a, call.id) for a in sorted(found))


def reverse_dependency(view: View) -> Iterator[Mutant]:
    by_id = {c.id: c for c in view.calls}
    for a, b in _edges(view):
        first = by_id[a]
        turned = edit(view.proposal, replace(first, after=(*first.after, b)))
        yield view.mutant("reverse a dependency", f"{a} after {b}", turned, "dependency")
    reach = _reach(view)
    for a, b in sorted(view.case.added_after):
        first, second = by_id[a], by_id[b]
        turned = edit(view.proposal, replace(second, after=tuple(x for x in second.after if x != a)))
        turned = edit(turned, replace(first, after=(*first.after, b)))
        around = any(a in reach[x] for x in reach[b])  # calls in between keep the old order
        free = "either order will do: the two touch different things"
        if not view.serves(first):
            free = f"nothing relies on what {a} reads"
        equivalent = free if ((a, b) in view.case.either_way or not view.serves(first)) and not around else None
        kinds = ("dependency", "preservation", "coverage")
        what = f"{a} after {b}, instead of before"
        yield view.mutant("reverse a dependency", what, turned, *kinds, equivalent=equivalent)


def _reach(view: View) -> dict[str, set[str]]:
    """What precedes each call."""
    edges = [*_edges(view), *sorted(view.case.added_after)]
    found: dict[str, set[str]] = {}
    for call in view.calls:
        found[call.id] = {a for a, b in edges if b == call.id}
        found[call.id] |= set().union(*(found.get(a, set()) for a in found[call.id]))
    return found


def drop_order(view: View) -> Iterator[Mutant]:
    by_id = {c.id: c for c in view.calls}
    for a, b in sorted(view.case.added_after):
        second = by_id[b]
        loose = edit(view.proposal, replace(second, after=tuple(x for x in second.after if x != a)))
        yield view.mutant("drop an order", f"{a}, {b}", loose, "preservation", "dependency")


def close_cycle(view: View) -> Iterator[Mutant]:
    reach = _reach(view)
    pairs = [(a, b) for b, before in reach.items() for a in sorted(before)] or [(c.id, c.id) for c in view.calls[:1]]
    by_id = {c.id: c for c in view.calls}
    for a, b in sorted(pairs, key=lambda p: len(reach[p[0]])):
        first = by_id[a]
        looped = edit(view.proposal, replace(first, after=(*first.after, b)))
        yield view.mutant("close a cycle", f"{a} after {b}", looped, "dependency")


def dangling(view: View) -> Iterator[Mutant]:
    for call in view.calls[:1]:
        yield view.mutant(
            "wait for nothing", call.id, edit(view.proposal, replace(call, after=(*call.after, "ghost"))), "dependency"
        )


def wrong_form(view: View) -> Iterator[Mutant]:
    for call in view.calls:
        tool = view.tool(call)
        for p in tool.params:
            if p.name in call.args:
                wrong = replace(call, args={**call.args, p.name: Lit(value=7, type=INT)})
                if p.type not in (INT,) and "decimal" not in str(p.type):
                    yield view.mutant("wrong type", f"{call.id}.{p.name}", edit(view.proposal, wrong), "typing")
                break


def missing_argument(view: View) -> Iterator[Mutant]:
    for call in view.calls:
        for p in view.tool(call).params:
            if p.name in call.args and p.default is None:
                short = replace(call, args={k: v for k, v in call.args.items() if k != p.name})
                yield view.mutant("missing argument", f"{call.id}.{p.name}", edit(view.proposal, short), "typing")
                break


def extra_argument(view: View) -> Iterator[Mutant]:
    for call in view.calls[:2]:
        long = replace(call, args={**call.args, "surprise": Lit(value=7, type=INT)})
        yield view.mutant("extra argument", call.id, edit(view.proposal, long), "typing")


def other_digest(view: View) -> Iterator[Mutant]:
    mutant = view.mutant("answer another contract", "digest", view.proposal, "typing", code="TYP010")
    yield replace(mutant, answers="sha256:" + "0" * 64)
