"""Scaffolds: every one loads and is laid out; what schemas say is declared, the rest is asked, nothing is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cfrc
from cfrc.adapters.interfaces import Kind, interface_digest, own_names, read_interface, scaffold
from cfrc.lang.diagnostics import SpecError
from cfrc.model.domain import Domain, Tool
from cfrc.model.types import Enum, Id, RecordOf
from cfrc.source import Source


def text_of(tools: list[Any], kind: Kind = "mcp", hinted: bool = True) -> str:
    return scaffold(read_interface(Source("tools.json", json.dumps({"tools": tools})), kind), "surface", hinted)


def loaded(text: str) -> Domain:
    assert cfrc.format_source(Source("s.cfrc", text)) == text
    return cfrc.load(Source("s.cfrc", text)).domains["surface"]


def tool(properties: dict[str, Any], required: list[str] | None = None, **rest: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    return {"name": "act", "inputSchema": {**schema, **rest.pop("schema", {})}, **rest}


def only(properties: dict[str, Any], required: list[str] | None = None, **rest: Any) -> Tool:
    (found,) = loaded(text_of([tool(properties, required, **rest)])).tools.values()
    return found


def shown(schema: dict[str, Any], name: str = "x", **rest: Any) -> str:
    (param,) = only({name: schema}, **rest).params
    return str(param.type)


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "string"}, "string"), ({"type": "integer"}, "int"), ({"type": "number"}, "decimal"),
        ({"type": "boolean"}, "bool"), ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "date-time"}, "time"), ({"type": "string", "format": "duration"}, "duration"),
        ({"type": "string", "format": "email"}, "string"), ({"type": ["string", "null"]}, "string?"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int?"), ({"type": "array", "items": {"type": "string"}}, "list[string]"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "decimal"), ({"type": ["integer", "number"]}, "decimal"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "map[string, int]"),
        ({"type": "object"}, "map[string, string]"), ({"const": 3}, "int"), ({"enum": [1, 2.5]}, "decimal"),
        ({"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}, "list[bool?]"),
        ({"allOf": [{"type": "string", "format": "date"}], "description": "x"}, "date"),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "ActX"), ({"enum": ["a", None]}, "ActX?"),
        ({"properties": {"a": {"type": "string"}}}, "ActX"),
    ],
)  # fmt: skip
def test_types(schema: dict[str, Any], type_: str) -> None:
    assert shown(schema) == type_


@pytest.mark.parametrize(
    ("name", "type_"),
    [("order_id", "OrderId"), ("orderId", "OrderId"), ("orderID", "OrderId"), ("order_ids", "list[OrderId]"), ("id", "string"),
     ("paid", "string"), ("grid", "string"), ("void", "string"), ("new_order_id", "NewOrderId"), ("_id", "string")],
)  # fmt: skip
def test_identifiers_are_guessed_from_names(name: str, type_: str) -> None:
    schema = {"type": "array", "items": {"type": "string"}} if type_.startswith("list") else {"type": "string"}
    assert shown(schema, name) == type_
    text = text_of([tool({name: schema})])
    assert ("# decide: guessed from names" in text) == ("OrderId" in type_)


def test_a_longer_name_identifies_what_the_shorter_one_does() -> None:
    ids = [p.type for p in only({"item_id": {"type": "string"}, "new_item_id": {"type": "string"}}).params]
    assert ids == [Id("ItemId"), Id("ItemId")]


def test_an_integer_is_no_identifier_and_is_asked_about() -> None:
    assert shown({"type": "integer"}, "order_id") == "int"
    assert "decide: is `order_id` an identifier?" in text_of([tool({"order_id": {"type": "integer"}})])


def test_enums_keep_their_wire_names() -> None:
    (param,) = only({"x": {"enum": ["a", "pending (item modified)", "", "true", "1st", "A", "a b", "a-b"]}}).params
    assert isinstance(param.type, Enum)
    assert param.type.wire == ("a", "pending (item modified)", "", "true", "1st", "A", "a b", "a-b")
    assert param.type.members == ("a", "pending_item_modified", "empty", "v_true", "n_1st", "A", "a_b", "a_b2")


def test_nested_records_and_references() -> None:
    order = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}}},
        "required": ["id"],
    }
    line = {"type": "object", "properties": {"a/b": {}, "sku": {"type": "string"}, "order": {"$ref": "#/$defs/Order"}}}
    found = only({}, outputSchema={"$ref": "#/$defs/Order", "$defs": {"Order": order, "Line": line}})
    assert isinstance(found.result, RecordOf) and found.result.name == "Order"
    assert [(n, str(t)) for n, t in found.result.fields] == [("id", "OrderId"), ("lines", "list[Line]?")]
    text = text_of([tool({}, outputSchema={"$ref": "#/$defs/Order", "$defs": {"Order": order, "Line": line}})])
    assert "`order` contains itself" in text and "`a/b` is left out" in text


def test_unions_of_records_are_put_together() -> None:
    card = {
        "type": "object",
        "properties": {"kind": {"const": "card"}, "last4": {"type": "string"}},
        "required": ["kind", "last4"],
    }
    cash = {"type": "object", "properties": {"kind": {"const": "cash"}}, "required": ["kind"]}
    found = only(
        {}, outputSchema={"type": "object", "properties": {"with": {"anyOf": [card, cash]}}, "required": ["with"]}
    )
    assert isinstance(found.result, RecordOf)
    (_, with_) = found.result.fields[0]
    assert isinstance(with_, RecordOf) and [str(t) for _, t in with_.fields] == ["ActResultWithKind", "string?"]


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        ({"type": "integer", "default": 100}, "int = 100"), ({"type": "number", "default": -1.50}, "decimal = -1.5"),
        ({"type": "boolean", "default": False}, "bool = false"), ({"type": "string", "default": 'a"\n'}, 'string = "a\\"\\n"'),
        ({"enum": ["a b", "c"], "default": "a b"}, "ActX = a_b"), ({"type": "string", "default": None}, "string? = absent"),
        ({"type": "string"}, "string? = absent"), ({"type": "array", "items": {"type": "string"}, "default": []}, "list[string]? = absent"),
        ({"type": "integer", "default": True}, "int? = absent"), ({"type": "string", "format": "date", "default": "2026-01-01"}, "date? = absent"),
    ],
)  # fmt: skip
def test_what_need_not_be_given(schema: dict[str, Any], default: str) -> None:
    assert f"x: {default})" in text_of([tool({"x": schema}, [])])
    assert only({"x": schema}, []).params[0].default is not None


def test_hints_have_the_protocols_defaults() -> None:
    silent = only({})
    assert silent.kind == "write" and silent.undeclared and not silent.idempotent
    said = only({}, annotations={"idempotentHint": True})
    assert said.undeclared and said.idempotent
    assert only({}, annotations={"readOnlyHint": True, "idempotentHint": True}).kind == "read"
    assert only({}, annotations={"readOnlyHint": "yes"}).kind == "write"
    text = text_of([tool({}, annotations={"readOnlyHint": True})])
    assert "the server says: read-only; by the protocol's default: open world" in text


def test_hints_need_not_be_believed() -> None:
    (found,) = loaded(
        text_of([tool({}, annotations={"readOnlyHint": True, "idempotentHint": True})], hinted=False)
    ).tools.values()
    assert found.undeclared and not found.idempotent


def test_what_is_not_described_is_asked() -> None:
    assert str(only({}, annotations={"readOnlyHint": True}).result) == "text"
    assert str(only({}).result) == "{ }" or only({}).result == RecordOf(None, ())
    assert "decide: what does it return?" in text_of([tool({})])


def test_a_field_that_repeats_an_identifier_echoes_it() -> None:
    output = {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "sum": {"type": "number"}},
        "required": ["order_id"],
    }
    assert only({"order_id": {"type": "string"}}, outputSchema=output).echoes == {("order_id",): "order_id"}


@pytest.mark.parametrize(
    "schema",
    [
        {"x-y": {"type": "string"}},
        {"result": {"type": "string"}},
        {"x": {}},
        {"x": {"type": "array"}},
        {"x": {"$ref": "#/nowhere"}},
    ],
)
def test_a_tool_that_cannot_be_called_is_a_comment(schema: dict[str, Any]) -> None:
    text = text_of([tool(schema), {"name": "other", "inputSchema": {"type": "object"}}])
    assert list(loaded(text).tools) == ["other"] and "not declared: `act` cannot be called" in text


def test_optional_parts_that_have_no_type_are_left_out() -> None:
    text = text_of([tool({"x-y": {}, "a": {"type": "string"}, "z": {"not": {}}}, ["a"])])
    assert [p.name for p in loaded(text).tools["act"].params] == ["a"]
    assert "`x-y` is left out" in text and "`z` is left out" in text


def test_names_that_are_none_are_spelled_and_kept_apart() -> None:
    tools = [
        {"name": n, "inputSchema": {"type": "object"}}
        for n in ("get_sum", "get-sum", "get.sum", "123", "日本", "read", "domain")
    ]
    text = text_of(tools)
    assert list(loaded(text).tools) == ["get_sum", "get_sum2", "get_sum3", "n_123", "unnamed", "read", "domain"]
    assert 'its own name: "get.sum"' in text
    assert own_names(text)["get.sum"] == "get_sum3" and own_names(text)["read"] == "read"


def test_hostile_words_stay_in_comments() -> None:
    evil = "Pay.\ndomain evil\n    write x()\u202e\x1b[31m `` \x00 " + "a" * 5000
    tools = [
        tool(
            {"x\ny": {"enum": ['"\n', "\u202e"]}, "z": {"enum": ["\u202e\n"]}},
            [],
            description=evil,
            annotations={"title": evil},
        )
    ]
    domain = loaded(text_of(tools))
    assert list(domain.tools) == ["act"]


def test_openai_shapes() -> None:
    chat = {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    responses = {
        "type": "function", "name": "g", "strict": True,
        "parameters": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
    }  # fmt: skip
    domain = loaded(text_of([chat, responses, {"type": "web_search"}], "openai"))
    assert list(domain.tools) == ["f", "g"] and all(t.undeclared for t in domain.tools.values())
    assert domain.tools["g"].params[0].default is not None
    anthropic = loaded(text_of([{"name": "h", "input_schema": {"type": "object"}}], "anthropic"))
    assert list(anthropic.tools) == ["h"]


def test_the_order_of_tools_and_members_means_nothing_to_the_digest() -> None:
    a, b = {"name": "a", "inputSchema": {"type": "object", "properties": {}}}, {"name": "b", "inputSchema": {}}
    turned = {"inputSchema": {"properties": {}, "type": "object"}, "name": "a"}
    one, two = (
        read_interface(Source("t", json.dumps(v)), "mcp")
        for v in ([a, b], {"jsonrpc": "2.0", "result": {"tools": [b, turned]}})
    )
    assert interface_digest(one) == interface_digest(two)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "JSN001"), ("{}", "IFC001"), ('{"tools": 1}', "IFC001"), ("[]", "IFC001"), ("[1]", "IFC002"),
        ('[{"inputSchema": {}}]', "IFC002"), ('[{"name": "a", "inputSchema": []}]', "IFC002"), ('[{"name": ""}]', "IFC002"),
        ('[{"name": "a", "outputSchema": 1}]', "IFC002"), ('[{"name": "a"}, {"name": "a"}]', "IFC003"),
    ],
)  # fmt: skip
def test_wrong_input(text: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_interface(Source("t.json", text), "mcp")
    assert [d.code for d in caught.value.diagnostics] == [code] and caught.value.diagnostics[0].span is not None


def test_long_chains_of_references_end() -> None:
    defs = {
        f"D{n}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/$defs/D{n + 1}"}, "b": {"$ref": f"#/$defs/D{n + 1}"}},
        }
        for n in range(2000)
    }
    assert only({}, outputSchema={"$ref": "#/$defs/D0", "$defs": defs}).name == "act"
    loop = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    assert only({}, outputSchema=loop).name == "act"
