"""Turns contracts, proposals and ledgers into verdicts. The names below load their stages, and Z3, on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfrc.verify.admission import admit as admit
    from cfrc.verify.audit import audit_claims as audit_claims
    from cfrc.verify.audit import audit_contract as audit_contract
    from cfrc.verify.checks import CheckResult as CheckResult
    from cfrc.verify.checks import run_check as run_check
    from cfrc.verify.supported import support as support

_HOME = {
    "admit": "admission",
    "audit_claims": "audit",
    "audit_contract": "audit",
    "CheckResult": "checks",
    "run_check": "checks",
    "support": "supported",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    from importlib import import_module

    value = getattr(import_module(f"cfrc.verify.{_HOME[name]}"), name)
    globals()[name] = value
    return value
