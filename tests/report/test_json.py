"""Verdict JSON: complete on success too, exact, always encodable, and valid by its published schema."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfrc.lang.diagnostics import Diagnostic
from cfrc.model.values import Value, bag, mapping, record
from cfrc.report.json import dumps, value_json, verdict_json, verdicts_json
from cfrc.report.schema import VerdictDocument, verdict_schema
from cfrc.source import Source, Span
from tests.report.samples import verdicts
from tests.report.test_terminal import HOSTILE, hostile_verdict


@pytest.mark.parametrize("name", verdicts())
def test_every_verdict_is_valid_by_the_schema(name: str) -> None:
    text = dumps(verdict_json(verdicts()[name]))
    VerdictDocument.model_validate_json(text)
    assert json.loads(text)["cfrc"] == 1


def test_success_is_as_complete_as_a_refusal() -> None:
    admitted, refused = (verdict_json(verdicts()[n]) for n in ("admitted", "refused"))
    assert admitted.keys() == refused.keys()
    assert admitted["needed"] == ["s", "d", "owes delivery"]
    assert admitted["stats"] == {"obligations": 14, "normalized": 12, "solved": 2, "seconds": 0.004}


def test_several_verdicts_say_the_worst_word() -> None:
    several = verdicts_json(list(verdicts().values()))
    VerdictDocument.model_validate_json(dumps(several))
    assert several["verdict"] == "withheld" and len(several["verdicts"]) == len(verdicts())
    assert verdicts_json([])["verdict"] == "invalid"  # no verdict is never a good one


def test_bad_input_is_never_mistaken_for_a_verdict() -> None:
    source = Source("a.cfrc", "x")
    diagnostics = [Diagnostic("SYN001", "m", Span(source, 0, 1), notes=(("n", Span(source, 0, 1)),))]
    document = verdicts_json([verdicts()["admitted"]], diagnostics)
    VerdictDocument.model_validate_json(dumps(document))
    assert document["verdict"] == "invalid"
    assert document["diagnostics"][0]["code"] == "CFRC-SYN001"


def test_hostile_strings_survive_and_can_be_encoded() -> None:
    text = dumps(verdict_json(hostile_verdict(HOSTILE)))
    assert text.isascii()
    assert json.loads(text)["findings"][0]["message"] == HOSTILE


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**53, str(2**53)),
        (Fraction("98.70"), "98.7"),
        (Fraction(1, 3), "1/3"),
        (date(2026, 12, 1), "2026-12-01"),
        (datetime(2026, 12, 1, 9, tzinfo=UTC), "2026-12-01T09:00:00Z"),
        (timedelta(hours=1), "PT1H"),
        (bag(["b", "a", "a"]), ["a", "a", "b"]),
        (mapping({"a": 1}), {"a": 1}),
        (mapping({1: "a"}), [[1, "a"]]),
        (record({"f": (1, None)}), {"f": [1, None]}),
    ],
)
def test_values_are_exact(value: Value, expected: object) -> None:
    assert value_json(value) == expected


leaves = st.none() | st.booleans() | st.integers() | st.fractions() | st.text()


@given(
    st.recursive(
        leaves,
        lambda v: st.lists(v).map(tuple) | st.lists(v).map(bag) | st.dictionaries(st.text(), v).map(record),
        max_leaves=20,
    )
)
def test_every_value_has_json(value: Value) -> None:
    json.loads(dumps({"value": value_json(value)}))


def test_the_schema_names_itself() -> None:
    schema = verdict_schema()
    assert schema["$schema"].endswith("2020-12/schema")
    assert {"VerdictModel", "VerdictsModel", "ChecksModel"} <= schema["$defs"].keys()
