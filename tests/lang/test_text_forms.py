"""The model written as text resolves to the same model, in the house layout."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from cfrc.lang.format import format_source
from cfrc.lang.load import load
from cfrc.lang.textforms import contract_to_text, ledger_to_text, proposal_to_text
from cfrc.lang.unparse import quote, unparse_value
from cfrc.model.contract import Contract
from cfrc.model.types import ANY
from cfrc.model.values import bag, mapping, record
from cfrc.source import Source
from tests.lang.test_json_forms import DOMAIN, spec_text


def test_round_trip() -> None:
    spec = load(Source("<t>", spec_text()))
    contract, proposal, ledger = spec.contracts["c"], spec.proposals["p"], spec.ledgers["L"]
    parts = [contract_to_text(contract), proposal_to_text(proposal), ledger_to_text(ledger)]
    again = load(Source("<again>", DOMAIN + "\n".join(parts)))
    for name in (f.name for f in fields(Contract) if f.compare):
        assert getattr(again.contracts["c"], name) == getattr(contract, name), name
    assert again.proposals["p"] == proposal
    assert again.ledgers["L"] == ledger
    for part in parts:
        assert format_source(Source("<part>", part)) == part


def test_an_empty_scope_has_no_text() -> None:
    spec = load(Source("<t>", DOMAIN + 'contract c for shop owes mailed("a", "b")'))
    with pytest.raises(ValueError, match="scope"):
        contract_to_text(replace(spec.contracts["c"], scope=()))


def test_strings_are_escaped() -> None:
    assert quote('a"b\\c\n\x1b\u202e😀é') == '"a\\"b\\\\c\\u000a\\u001b\\u202e😀é"'


def test_values_without_a_type() -> None:
    value = record({"a": (1, True), "b": bag(["x"]), "c": mapping({"k": None})})
    assert unparse_value(value, ANY) == '{a: [1, true], b: bag(["x"]), c: map({"k": absent})}'
