"""Turns a contract into the terms that every question about it shares: facts, constants, kept identities, doubts.

Built once for a contract; each admission forks its terms and adds its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cfrc.model.contract import Contract, Doubt, Fact, KeptEffect
from cfrc.model.footprint import Wild
from cfrc.model.values import Value
from cfrc.verify.licences import licences_of
from cfrc.verify.owed import references
from cfrc.verify.shapes import Shape, leaves, literal
from cfrc.verify.spelled import spelled_out
from cfrc.verify.terms import Term, Terms

Key = tuple[Term, ...]


class Frame:
    """The frame of a contract: what holds and what must stay, as terms of ``terms``."""

    def __init__(self, terms: Terms, contract: Contract) -> None:
        contract = spelled_out(contract)
        self.terms = terms
        self.contract = contract
        self.domain = contract.domain
        self.constants: dict[str, Shape] = {n: literal(terms, v.value, v.type) for n, v in contract.names.items()}
        self.facts: dict[tuple[str, Key], Shape] = {}
        self.facts_of: dict[str, list[tuple[Key, Shape]]] = defaultdict(list)
        self.kept_facts: dict[str, list[tuple[Fact, Key, Shape]]] = defaultdict(list)
        self.kept: dict[str, list[tuple[KeptEffect, tuple[Key, ...]]]] = defaultdict(list)
        self._kept_by_key: dict[tuple[str, tuple[Key, ...]], list[tuple[KeptEffect, tuple[Key, ...]]]] = defaultdict(
            list
        )
        self.doubts: dict[str, list[tuple[Doubt, tuple[Key | None, ...]]]] = defaultdict(list)
        self.references = {o.name: references(o) for o in contract.obligations}
        self.licences = licences_of(terms, contract)
        for fact in contract.facts:
            self._fact(fact)
        for k in contract.kept:
            args = self.key_of(k.effect, k.args)
            self.kept[k.effect].append((k, args))
            self._kept_by_key[k.effect, self.project(k.effect, args)].append((k, args))
        for d in contract.doubts:
            self.doubts[d.effect].append((d, self.pattern_of(d.effect, d.args)))

    def _fact(self, fact: Fact) -> None:
        fluent = self.domain.fluents[fact.fluent]
        params = zip(fact.args, fluent.params, strict=True)
        key = tuple(t for v, (_, want) in params for t in leaves(self.terms, literal(self.terms, v, want)))
        value = literal(self.terms, fact.value, fluent.type)
        if fact.kept:
            self.kept_facts[fact.fluent].append((fact, key, value))
        if not fluent.volatile:  # others may change a volatile one before the first step
            self.facts[fact.fluent, key] = value
            self.facts_of[fact.fluent].append((key, value))

    def project(self, effect: str, args: tuple[Key, ...]) -> tuple[Key, ...]:
        return tuple([args[i] for i in self.domain.effects[effect].key])

    def kept_like(self, effect: str, args: tuple[Key | None, ...]) -> list[tuple[KeptEffect, tuple[Key, ...]]]:
        """The kept identities that an instance may have, or share a key with: by hashing where it is literal."""
        own = self.kept.get(effect)
        if not own:
            return []
        known = tuple([a for a in args if a is not None])
        if len(known) == len(args) and all(t.ground for a in known for t in a):
            return self._kept_by_key.get((effect, self.project(effect, known)), [])
        return own

    def pattern_of(self, effect: str, values: Sequence[Value | Wild]) -> tuple[Key | None, ...]:
        """The canonical key of an effect pattern; ``None`` for an argument that nobody knows."""
        t = self.terms
        params = self.domain.effects[effect].params
        return tuple(
            None if isinstance(v, Wild) else tuple(leaves(t, literal(t, v, want)))
            for v, (_, want) in zip(values, params, strict=True)
        )

    def key_of(self, effect: str, values: Sequence[Value]) -> tuple[Key, ...]:
        """The canonical key of an effect instance with concrete arguments."""
        t = self.terms
        params = self.domain.effects[effect].params
        return tuple(tuple(leaves(t, literal(t, v, want))) for v, (_, want) in zip(values, params, strict=True))
