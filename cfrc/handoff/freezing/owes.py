"""Turns what somebody says is owed, as text or JSON, into obligations of a contract: resolved and typed like any other.

Text is one ``owes`` item each, of a person who may say so. JSON is the form of obligations in the contract's JSON form,
and may come from anybody: its expressions are parsed as expressions and nothing else, so that no other item (an
``allow``, a ``within``) can hide in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import Diagnostic, SpecError, has_errors
from cfrc.lang.parse import parse_file
from cfrc.lang.resolve.contracts import resolve_contract
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.textforms import contract_to_text
from cfrc.model.contract import Contract, Obligation
from cfrc.source import Source, Span

Form = Mapping[str, Any]


def owed_by_text(contract: Contract, owes: Sequence[str]) -> tuple[Obligation, ...]:
    """The obligations of texts such as ``delivery: sent(receipt, payee)``, over the contract's names and obligations.

    Raises :class:`SpecError` with the place in the text.
    """
    found: list[Obligation] = []
    for number, text in enumerate(owes, 1):
        shell = replace(contract, obligations=(*contract.obligations, *found))
        found.append(_one(shell, text, f"<owes {number}>"))
    return tuple(found)


def _one(contract: Contract, text: str, name: str) -> Obligation:
    source = Source(name, f"contract c for d\n    owes {text}\n")
    file, diagnostics = parse_file(source)
    if has_errors(diagnostics):
        raise SpecError(diagnostics)
    items = [i for d in file.declarations if isinstance(d, t.ContractDecl) for i in d.items]
    if len(file.declarations) != 1 or len(items) != 1 or not isinstance(items[0], t.OwesItem):
        place = Span(source, 0, len(source.text))
        message = "one obligation is wanted here, and nothing else"
        raise SpecError([Diagnostic("FRZ012", message, place, "give every obligation its own `owes`")])
    return _resolved(contract, [items[0]])[-1]


def owed_by_json(contract: Contract, forms: Sequence[Form]) -> tuple[Obligation, ...]:
    """The obligations of JSON forms. Raises :class:`SpecError`."""
    from cfrc.lang.jsonforms.read import read_form

    form = {"cfrc": 1, "contract": "c", "domain": contract.domain.name, "owes": list(forms)}
    declarations, diagnostics = read_form(Source("<constructor>", json.dumps(form)), "contract")
    if has_errors(diagnostics):
        raise SpecError(diagnostics)
    items = [i for d in declarations if isinstance(d, t.ContractDecl) for i in d.items]
    owed = [i for i in items if isinstance(i, t.OwesItem)]
    return _resolved(contract, owed)[-len(owed) :] if owed else ()


def _resolved(contract: Contract, more: Sequence[t.OwesItem]) -> tuple[Obligation, ...]:
    """All obligations of the contract and the new ones. Raises :class:`SpecError`."""
    shell = replace(contract, kept=(), facts=(), doubts=(), approvals=(), scope=None, limits=(), trusts=())
    file, _ = parse_file(Source("<contract>", contract_to_text(shell)))
    (decl,) = (d for d in file.declarations if isinstance(d, t.ContractDecl))
    problems = Problems()
    resolved = resolve_contract(replace(decl, items=(*decl.items, *more)), contract.domain, problems)
    if has_errors(problems.found):
        raise SpecError(problems.found)
    return resolved.obligations
