"""Turns the shapes of the JSON forms into published JSON Schema documents (draft 2020-12)."""

from __future__ import annotations

from typing import Any

NAMES = ("contract", "proposal", "ledger")


def json_schema(form: str) -> dict[str, Any]:
    """The JSON Schema of a form (one of :data:`NAMES`). Raises ``KeyError`` for another name."""
    from cfrc.lang.jsonforms.shapes import FORMS

    found = FORMS[form].model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
