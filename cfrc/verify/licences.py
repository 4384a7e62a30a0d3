"""Turns a contract's scope into an index of licences: literal instances by hashing, patterns by name.

``docs/semantics.md`` §3, *scope*. Without ``within`` the scope is tight: exactly the obligations' own instances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from cfrc.model import expr as ex
from cfrc.model.contract import Contract, EffectGoal, Licence
from cfrc.verify.shapes import leaves, literal
from cfrc.verify.terms import Term, Terms

Key = tuple[Term, ...]


@dataclass(slots=True)
class Licences:
    """The scope by kind and name. Literal instances are licensed by hashing; ``by_name`` holds all, ``open`` the
    others."""

    by_name: dict[tuple[str, str], list[Licence]] = field(default_factory=lambda: defaultdict(list))
    exact: set[tuple[str, str, Key]] = field(default_factory=set)
    open: dict[tuple[str, str], list[tuple[Licence, set[str]]]] = field(default_factory=lambda: defaultdict(list))
    literal: dict[tuple[str, str], list[tuple[Licence, set[str]]]] = field(default_factory=lambda: defaultdict(list))


def licences_of(terms: Terms, contract: Contract) -> Licences:
    """The scope of a contract; tight when it declares none."""
    found = Licences()
    for licence in contract.scope if contract.scope is not None else _tight(contract):
        name = (licence.kind, licence.name)
        found.by_name[name].append(licence)
        refs = {x.obligation for a in licence.args if a is not None for x in ex.walk(a) if isinstance(x, ex.Discharge)}
        key = _literal(terms, contract, licence)
        if key is not None:
            found.exact.add((*name, key))
            found.literal[name].append((licence, refs))
        else:
            found.open[name].append((licence, refs))
    return found


def _literal(terms: Terms, contract: Contract, licence: Licence) -> Key | None:
    """The instance that a licence without any condition names."""
    if licence.where is not None or licence.exists or not all(isinstance(a, ex.Lit) for a in licence.args):
        return None
    declared = contract.domain.effects if licence.kind == "effect" else contract.domain.fluents
    params = declared[licence.name].params if licence.name in declared else ()
    values = [a.value for a in licence.args if isinstance(a, ex.Lit)]
    return tuple(x for v, (_, t) in zip(values, params, strict=False) for x in leaves(terms, literal(terms, v, t)))


def _tight(contract: Contract) -> Iterator[Licence]:
    """The obligations' own instances: goals of effects, and the fluent instances that state goals read."""
    for o in contract.obligations:
        for g in o.goals:
            if isinstance(g, EffectGoal):
                yield Licence("effect", g.effect, g.args, o.exists, o.where, g.span)
            else:
                for x in ex.walk(g.condition):
                    if isinstance(x, ex.FluentRead):
                        yield Licence("fluent", x.fluent, x.args, o.exists, o.where, g.span)
