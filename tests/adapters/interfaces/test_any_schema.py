"""Whatever schema a server publishes, its scaffold loads, is laid out, and has not drifted from itself."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import cfrc
from cfrc.adapters.interfaces import drifted, read_interface, scaffold
from cfrc.source import Source

_NAMES = st.sampled_from(
    ["a", "id", "order_id", "item_ids", "Order", "order", "read", "write", "domain", "result", "x-y", "", "_", "enum", "text",
     "true", "absent", "when", "from", "free", "rule", "record", "b c", "é", "userId", "List", "string", "key", "causes"]
)  # fmt: skip
_WORDS = _NAMES | st.text(max_size=6)
_SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | _WORDS
)
_REF = st.sampled_from(
    ["#", "#/$defs/A", "#/$defs/B", "#/$defs/Order", "#/properties/a", "other.json#/x", "#/$defs/missing"]
)


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.dictionaries(_WORDS, inner, max_size=4)
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": members},
            optional={"required": st.lists(_WORDS, max_size=3), "additionalProperties": inner | st.booleans()},
        ),
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, max_size=3)}, optional={"default": _SCALAR}),
        st.fixed_dictionaries({"allOf": st.lists(inner, max_size=3)}, optional={"properties": members}),
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner}),
    )


_LEAF = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                ["string", "integer", "number", "boolean", "null", "file", ["string", "null"], ["integer", "string"]]
            )
        },
        optional={
            "format": st.sampled_from(["date", "date-time", "duration", "uuid", "email"]),
            "default": _SCALAR,
            "title": _WORDS,
        },
    ),
    st.fixed_dictionaries(
        {"enum": st.lists(_SCALAR, max_size=4)}, optional={"default": _SCALAR, "type": st.just("string")}
    ),
    st.fixed_dictionaries({"const": _SCALAR}),
    st.fixed_dictionaries({"$ref": _REF}),
    st.just({}),
    st.booleans(),
)
_SCHEMA = st.recursive(_LEAF, _grown, max_leaves=12)
_TOP = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(_WORDS, _SCHEMA, max_size=4)},
    optional={
        "required": st.lists(_WORDS, max_size=3),
        "$defs": st.dictionaries(st.sampled_from(["A", "B", "Order"]), _SCHEMA),
    },
)
_HINTS = st.dictionaries(
    st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]), st.booleans() | st.none()
)
_TOOL = st.fixed_dictionaries(
    {"name": _WORDS.filter(bool), "inputSchema": _TOP},
    optional={
        "outputSchema": _TOP | _SCHEMA.filter(lambda s: isinstance(s, dict)),
        "annotations": _HINTS,
        "description": st.text(),
    },
)


@given(st.lists(_TOOL, min_size=1, max_size=3, unique_by=lambda t: t["name"]), st.booleans())
def test_every_scaffold_loads(tools: list[dict[str, Any]], hinted: bool) -> None:
    published = json.dumps(tools)
    if "\\ud" in published:
        return  # half a surrogate pair is refused by the reader
    interface = read_interface(Source("tools.json", published), "mcp")
    text = scaffold(interface, "surface", hinted)
    assert cfrc.format_source(Source("s.cfrc", text)) == text
    domain = cfrc.load(Source("s.cfrc", text)).domains["surface"]
    read_only = {t.name for t in interface.tools if t.hints.read_only}
    assert hinted or all(t.undeclared for t in domain.tools.values())
    assert all(t.undeclared or t.kind == "read" for t in domain.tools.values())
    assert sum(t.kind == "read" for t in domain.tools.values()) <= len(read_only)
    assert drifted(domain, text, interface) == []
    # Without the digest of the whole the parts have to say the same; without any, the declarations.
    assert drifted(domain, text.replace("# interface", "# was"), interface) == []
    told = [d.message for d in drifted(domain, "", interface)]
    assert not any("require" in m or "takes" in m for m in told)
