"""The shortcut for literal calls and the general way agree: what the one admits, the other admits, for the same nodes.

Cases are drawn as text, near the border of what is right: facts and licences that may be missing, calls that may be in
the wrong order or in none, values that may be bound, kept or unsupported.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.lang.load import load
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify.admission import Admission
from cfrc.verify.ground import Ground

DOMAIN = """
domain works
    id Item, Person
    enum Mood { calm, loud }
    fluent ready(item: Item): bool
    fluent level(item: Item): int
    fluent mood: Mood
    effect made(item: Item, amount: int) once key item
    effect noted(item: Item)
    write make(item: Item, needs: Item, amount: int = 1)
        requires ready(needs)
        requires amount > 0
        causes made(item, amount)
        sets ready(item) = true
    write note(item: Item, words: text? = absent, by: Person? = absent) causes noted(item)
    write fill(item: Item from user, to: int free)
        requires not ready(item)
        sets level(item) = to
    write drop(item: Item)
        requires ready(item) and level(item) == 2
        causes noted(item)
        sets ready(item) = false
        sets level(item) = 0
    read look(item: Item) -> { found: Item, state: int }
    write turn(to: Mood) sets mood = to
    write ask(item: Item, amount: int free = 1)
        approved
        causes noted(item)
    write shout(item: Item) requires mood == loud causes noted(item)
"""

Pick = Callable[[Sequence[str]], str]


def call(pick: Pick) -> tuple[str, list[str]]:
    """A call's text, and what it may be good for."""
    x, y, n = pick(["a", "b", "c", "c", '"A"', '"B"', '"C"'] * 3 + ['"X"']), pick("aaabc"), pick("11120")
    tool = pick(["make"] * 4 + ["note", "note", "fill", "drop", "turn", "turn", "shout", "ask", "ask"])
    if tool == "make":
        amount = pick(["", f", amount: {n}"])
        return f"make(item: {x}, needs: {y}{amount})", [f"made({x}, {n if amount else '1'})"]
    if tool == "note":
        more = pick(["", ', words: "hm"', ", by: p"])
        return f"note(item: {x}{more})", [f"noted({x})"]
    if tool == "ask":
        return f"ask(item: {x}{pick(['', ', amount: 1', ', amount: 2'])})", [f"noted({x})"]
    if tool == "fill":
        return f"fill(item: {x}, to: {n})", []
    if tool == "turn":
        return f"turn(to: {pick(['calm', 'loud'])})", []
    return f"{tool}(item: {x})", [f"noted({x})"]


def graph(pick: Pick) -> tuple[list[str], list[str]]:
    """The lines of a proposal's calls, and goals that they may discharge."""
    lines, goals = [], []
    for i in range(int(pick("11223345"))):
        made, good_for = call(pick)
        goals += good_for
        after = f" after {', '.join(f's{j}' for j in range(i) if pick('yyyn') == 'y') or 's0'}" if i else ""
        lines.append(f"    s{i} = {made}{after}{pick([''] * 9 + [' covers o0'])}")
    return lines if pick("yyn") == "y" else lines[::-1], goals  # the order of listing never matters


def names(pick: Pick) -> list[str]:
    return [
        pick(['fixed a: Item = "A" for drop.item from user turn 1'] + ['known a: Item = "A" from user turn 1'] * 4),
        'known b: Item = "B" from ' + pick(["user turn 1"] * 3 + ["receipt r1 of look"]),
        'known c: Item = "C" from user turn 1',
        'known p: Person = "P" from user turn 1',
        "known n: int = 2 from user turn 1",
        "known z: int = 0 from user turn 1",
        pick(['fixed q: Person = "P" from user turn 1', 'kept noted("K") from receipt r0 of note']),
    ]


def facts(pick: Pick) -> list[str]:
    kept = ['kept made("A", 1) from receipt r0 of make', 'kept noted("A") from receipt r0 of note']
    found = [x for x in [pick([*kept, *[""] * 12])] if x]
    for f in ('ready("A") == true', 'ready("B") == false', 'level("A") == 2', 'level("B") == 2', "mood == loud"):
        if pick("yyyyyyyn") == "y":
            found.append(f"{pick(['holds'] * 5 + ['kept'])} {f} from receipt r1 of look")
    return found


def approvals(pick: Pick) -> list[str]:
    """Some for calls that may be made, in force or not."""
    ends = ["", "", "", " expires 2020-01-01", " expires 2999-01-01"]
    found = []
    for item in "AABBCC":
        if pick("yyn") == "y":
            word = pick(["approved"] * 12 + ["denied"])
            amount = pick(["", "", "", ", amount: 1", ", amount: 2"])
            found.append(
                f'{word} ask(item: "{item}"{amount}) from user turn 2{pick(ends) if word == "approved" else ""}'
            )
    return found


def scope(pick: Pick) -> list[str]:
    effects = pick(["made(_, _), noted(_)"] * 6 + ['made("A", _), made("B", 1), noted("A")', ""])
    fluents = pick(["ready(_), level(_), mood"] * 6 + ['ready("A"), level(_)'])
    return [f"within {effects}{', ' if effects else ''}{fluents}"] if pick("yyyyyyyyyn") == "y" else []


def case(pick: Pick) -> str:
    """A contract and a proposal."""
    calls, goals = graph(pick)
    owed = dict.fromkeys(goals[: int(pick("111222"))])
    clauses = [
        *names(pick),
        *facts(pick),
        *approvals(pick),
        *(f"owes o{i}: {g}" for i, g in enumerate(owed)),
        "allow " + pick(["make, note, fill, drop, turn, shout, ask"] * 9 + ["make, note"]),
        *scope(pick),
    ]
    done = pick(["    done"] * 6 + ["    done claims o0", "    done after s0"])
    contract = ["contract c for works", *(f"    {c}" for c in clauses)]
    return "\n".join([DOMAIN, *contract, "", "proposal p for c", *calls, done, ""])


def shortcut_agrees(text: str) -> bool:
    """Whether the shortcut admits; then the general way must as well."""
    spec = load(Source("<case>", text))
    admission = Admission(spec.contracts["c"])
    proposal = spec.proposals["p"]
    if admission.supported.status is not Status.ADMITTED:
        return False
    quick = Ground(admission._frame.contract, admission.today).admit(proposal)
    if quick is None:
        return False
    admission._ground = None
    general = admission.admit(proposal)
    assert general.status is Status.ADMITTED, text
    assert (general.needed, general.unneeded) == (quick.needed, quick.unneeded), text
    assert not general.findings, text
    solved = Admission(spec.contracts["c"], normalize=False).admit(proposal)
    assert solved.status is Status.ADMITTED, text
    return True


@settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_shortcut_and_general_way_agree(data: st.DataObject) -> None:
    shortcut_agrees(case(lambda options: data.draw(st.sampled_from(list(options)))))


def test_the_shortcut_is_taken_often_enough_to_be_tested() -> None:
    rng = random.Random(7)
    assert sum(shortcut_agrees(case(rng.choice)) for _ in range(200)) > 20
