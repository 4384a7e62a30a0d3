"""Turns accepted choices into bindings: the latest word about a name wins, and nothing that was bound is lost."""

from __future__ import annotations

from dataclasses import replace

from cfrc.handoff.naming import Names, plain_name
from cfrc.handoff.past import Past
from cfrc.handoff.refer import rename
from cfrc.model.canon import has_type
from cfrc.model.contract import Contract, Name, Origin
from cfrc.model.ledger import Choice
from cfrc.model.types import STRING, Type
from cfrc.model.values import Value


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


def _fits(choice: Choice, wanted: Type) -> bool:
    return choice.type == wanted or (choice.type == STRING and has_type(choice.value, wanted))


def _bound(found: dict[str, Name], type_: Type, value: Value) -> bool:
    return any(n.fixed and n.type == type_ and n.value == value for n in found.values())
