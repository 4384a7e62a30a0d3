"""A dump of the model is complete: reading it back gives an equal model, with an equal digest."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from cfrc.handoff.running.dump import Unreadable, dump, undump
from cfrc.lang.diagnostics import SpecError
from cfrc.lang.jsonforms.digests import contract_digest
from cfrc.lang.load import load
from cfrc.model.types import Id
from cfrc.model.values import bag, mapping, record

SPECS = Path(__file__).parents[1] / "specs"


@pytest.mark.parametrize("folder", sorted(p.name for p in SPECS.iterdir() if p.is_dir() and p.name[0] not in "._"))
def test_what_spec_files_declare_survives(folder: str) -> None:
    for path in sorted((SPECS / folder).rglob("*.cfrc")):
        try:
            spec = load(path)
        except SpecError:
            continue
        for x in (*spec.domains.values(), *spec.contracts.values(), *spec.proposals.values()):
            assert undump(json.loads(json.dumps(dump(x)))) == x, (path, x.name)
        for contract in spec.contracts.values():
            assert contract_digest(undump(dump(contract))) == contract.digest


def test_values_survive() -> None:
    for value in (2**60, Fraction(1, 3), bag(["b", "a"]), mapping({1: ("x",)}), record({"n": None}), Id("Order")):
        assert undump(json.loads(json.dumps(dump(value)))) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"is": "Path"}',
        '{"is": "Id"}',
        '{"is": "Id", "nome": 1}',
        '{"fraction": "1/0"}',
        '{"x": 1}',
        '{"date": "soon"}',
    ],
)
def test_what_is_no_dump_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        undump(json.loads(text))
