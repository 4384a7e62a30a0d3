"""Turns ``check`` declarations into executable expectations: what is checked, and which verdict it must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cfrc.model.contract import Contract
from cfrc.model.domain import Domain
from cfrc.model.graph import Kind, Proposal
from cfrc.model.ledger import Ledger
from cfrc.source import Span


@dataclass(frozen=True, slots=True)
class Expected:
    """One expected finding kind, optionally about one obligation or node: ``coverage(confirmation)``."""

    kind: Kind
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """``check TARGET [without n, m] [against L] admits | rejects [only] k…``, and the contract verdicts.

    ``target``: ``proposal`` (subject is a proposal name), ``contract`` (a contract name; verdict ``supported``,
    ``withheld``, ``complete``, ``fresh``, or ``accepts``/``rejects`` against a ledger), ``claim`` (obligation names
    ``claims`` of contract ``subject`` against a ledger; verdict ``accepts``/``rejects``).
    """

    target: Literal["proposal", "contract", "claim"]
    subject: str
    verdict: Literal["admits", "rejects", "undecided", "supported", "withheld", "complete", "fresh", "accepts"]
    without: tuple[str, ...] = ()
    against: str | None = None
    claims: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()
    only: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that one file and its imports declare. ``checks`` are those of the file itself."""

    domains: Mapping[str, Domain] = field(default_factory=dict)
    contracts: Mapping[str, Contract] = field(default_factory=dict)
    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    ledgers: Mapping[str, Ledger] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
