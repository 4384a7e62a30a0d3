"""``_`` in a doubt: an argument that nobody knows, in text and in JSON, and nowhere else where a value must be known."""

from __future__ import annotations

import json

import pytest

import cfrc
from cfrc.lang.jsonforms import contract_digest, contract_to_json
from cfrc.lang.textforms import contract_to_text
from cfrc.model.footprint import WILD
from cfrc.source import Source

DOMAIN = """\
domain till
    id Invoice, Ref
    effect made(ref: Ref, invoice: Invoice, note: string?)
    write make(invoice: Invoice) -> { ref: Ref }
        causes made(result.ref, invoice, absent)
"""
CONTRACT = """\
contract z for till
    fixed invoice: Invoice = "I1" from user turn 1
    doubt made(_, "I1", absent) by make(invoice: "I1") from receipt c2 unknown
    owes  it: made(x, invoice, _) exists x: Ref
    allow make
"""


def test_both_forms_keep_what_nobody_knows() -> None:
    contract = cfrc.load(Source("z.cfrc", DOMAIN + CONTRACT)).contracts["z"]
    assert contract.doubts[0].args == (WILD, "I1", None)
    text = cfrc.load(Source("z.cfrc", DOMAIN + contract_to_text(contract))).contracts["z"]
    assert text.doubts == contract.doubts and text.digest == contract.digest


def test_the_json_form_names_what_nobody_knows(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "till.cfrc").write_text(DOMAIN)
    contract = cfrc.load(Source("z.cfrc", DOMAIN + CONTRACT)).contracts["z"]
    form = contract_to_json(contract, "till.cfrc")
    assert form["doubts"][0]["any"] == ["ref"]
    (folder / "z.json").write_text(json.dumps(form))
    loaded = cfrc.load_contract(folder / "z.json")
    assert loaded.doubts == contract.doubts and contract_digest(loaded) == contract.digest


@pytest.mark.parametrize(
    "line", ['kept made(_, "I1", absent) from receipt c1', 'doubt made("R1", "I1") from receipt c1']
)
def test_what_is_kept_is_known_and_nothing_is_left_out(line: str) -> None:
    text = DOMAIN + CONTRACT.replace("    allow make", f"    {line}\n    allow make")
    with pytest.raises(cfrc.SpecError) as error:
        cfrc.load(Source("z.cfrc", text))
    assert error.value.diagnostics[0].code in ("EXP006", "EXP004")
