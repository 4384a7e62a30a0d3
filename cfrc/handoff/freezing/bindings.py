"""Turns accepted choices into bindings: the latest word about a name wins, and nothing that was bound is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfrc.handoff.freezing.naming import Names, plain_name
from cfrc.handoff.freezing.past import Past
from cfrc.handoff.freezing.reasons import note, reason
from cfrc.handoff.freezing.refer import rename
from cfrc.model.canon import has_type
from cfrc.model.contract import Contract, EffectGoal, Name, Origin
from cfrc.model.expr import Lit, walk
from cfrc.model.ledger import Choice
from cfrc.model.show import show_instance, show_value
from cfrc.model.types import STRING, Id, Type
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.verify.spelled import spelled_out


def bind_choices(contract: Contract, past: Past, names: Names) -> Contract:
    """The contract with every accepted choice bound. A choice that was accepted under the name of a binding replaces
    its value, and so corrects whatever is owed of it; under any other taken name it gets one of its own."""
    found = dict(contract.names)
    renamed: dict[str, str] = {}
    for entry in past.ledger.entries:
        if isinstance(entry, Choice):
            _bind(found, renamed, entry, names)
    return rename(replace(contract, names=found), renamed)


def _bind(found: dict[str, Name], renamed: dict[str, str], choice: Choice, names: Names) -> None:
    origin = Origin("user", turn=choice.turn)
    mine = found.get(choice.name)
    if mine is not None and mine.fixed:
        if not _fits(choice, mine.type):
            # Something else is called so by now. What was bound stays bound, and what is owed of it stays owed.
            other = names.free(choice.name)
            renamed.setdefault(choice.name, other)
            found[other] = replace(mine, name=other)
            mine = replace(mine, type=choice.type, targets=())
        found[choice.name] = replace(mine, value=choice.value, origin=origin, span=None)
        return
    if mine is not None and (mine.type, mine.value) == (choice.type, choice.value):
        found[choice.name] = Name(choice.name, choice.type, choice.value, True, origin)
        return
    said = choice.name == plain_name(choice.value, choice.type)
    if said and _bound(found, choice.type, choice.value):
        return  # the user's own words only repeat what is bound under a better name
    name = names.free(choice.name)
    found[name] = Name(name, choice.type, choice.value, True, origin)


def corrected(past: Past) -> Iterator[Finding]:
    """Bindings that were corrected after an effect was realized with their old value. What asked for the effect is not
    owed any more, and may be owed again with the new one."""
    params = {n: e.params for n, e in past.before.domain.effects.items()}
    for entry in past.ledger.entries:
        old = past.before.names.get(entry.name) if isinstance(entry, Choice) else None
        if not isinstance(entry, Choice) or old is None or not old.fixed or entry.value == old.value:
            continue
        for k in past.before.kept:
            if any(v == old.value and t == old.type for v, (_, t) in zip(k.args, params[k.effect], strict=True)):
                yield reason(
                    "FRZ016",
                    f"`{old.name}` was corrected from {show_value(old.value, old.type)} to "
                    f"{show_value(entry.value, entry.type)} after {show_instance(k.effect, k.args, params[k.effect])} "
                    "was realized",
                    "say whether that is owed again with the new value",
                    entry.span,
                )
                break


def in_the_way(contract: Contract) -> Iterator[Finding]:
    """Open obligations about identifiers that the bindings of their type leave out: no plan may pass those."""
    bound: dict[Type, set[Value]] = {}
    for n in contract.names.values():
        if n.fixed and not n.targets and isinstance(n.type, Id):
            bound.setdefault(n.type, set()).add(n.value)
    for o in spelled_out(contract).obligations:
        for x in (x for g in o.goals if isinstance(g, EffectGoal) for a in g.args if a is not None for x in walk(a)):
            if isinstance(x, Lit) and x.value not in bound.get(x.type, {x.value}):
                yield note(
                    "FRZ017",
                    f"`{o.name}` is about {show_value(x.value, x.type)}, and the bindings allow other values of "
                    f"`{x.type}` only",
                    "bind it too, or do not bind what the user only mentioned (`--no-words`)",
                    o.span, o.name,
                )  # fmt: skip
                break


def _fits(choice: Choice, wanted: Type) -> bool:
    return choice.type == wanted or (choice.type == STRING and has_type(choice.value, wanted))


def _bound(found: dict[str, Name], type_: Type, value: Value) -> bool:
    return any(n.fixed and n.type == type_ and n.value == value for n in found.values())
