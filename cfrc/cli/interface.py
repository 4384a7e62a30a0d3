"""Turns what a live MCP server says about its tools into reasons not to call them: where its interface has drifted."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from cfrc.model.domain import Domain
from cfrc.source import Source


def live_drift(domain: Domain, tools: Sequence[dict[str, Any]], names: Collection[str]) -> list[str]:
    """The differences between the domain and the tools as listed just now (``tools/list``), for the tools called
    ``names`` in the domain. The domain's file may record digests (``cfrc import``): then any change counts; without
    them, what does not fit the declaration. Raises :class:`cfrc.lang.diagnostics.SpecError` for an unreadable list."""
    from cfrc.adapters.interfaces import drifted
    from cfrc.adapters.interfaces.read import read_interface

    interface = read_interface(Source("<tools/list>", json.dumps({"tools": list(tools)})), "mcp")
    text = domain.span.source.text if domain.span is not None else ""
    found = drifted(domain, text, interface)
    return [f"[CFRC-{d.code}] `{d.tool}`: {d.message}" for d in found if d.tool in names]
