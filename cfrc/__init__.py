"""Turns contracts, proposals and ledgers into verdicts: ``cfrc.load`` reads them, ``cfrc.admit`` judges them.

    spec = cfrc.load("examples/invoice/good.cfrc")
    verdict = cfrc.admit(spec.contracts["send_receipt"], spec.proposals["good"])

Importing this package costs nothing: every public name is fetched from its room on first use, so that neither Z3
nor networkx nor pydantic is loaded before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfrc.handoff.closing.close import Closed, close
    from cfrc.handoff.closing.replica import CopyReplica, Replica
    from cfrc.handoff.closing.simulated import SimulatedReplica
    from cfrc.handoff.freezing.freeze import Frozen, freeze
    from cfrc.handoff.freezing.typing import ledger_of
    from cfrc.handoff.mcp_tools import McpTools
    from cfrc.handoff.running.execute import Settings
    from cfrc.handoff.running.journal import JournalError
    from cfrc.handoff.running.replay import Replayed, replay
    from cfrc.handoff.running.run import Outcome, Stopper, resume, run
    from cfrc.handoff.tools import Answer, PythonTools, ToolError, Tools
    from cfrc.lang.diagnostics import Diagnostic, SpecError
    from cfrc.lang.format import format_source
    from cfrc.lang.load import load, load_contract, load_proposal
    from cfrc.model.check import Check, Expected, Spec
    from cfrc.model.contract import Contract, Obligation
    from cfrc.model.domain import Domain, Tool
    from cfrc.model.graph import Call, Proposal, Terminal
    from cfrc.model.ledger import Ledger, Receipt
    from cfrc.model.verdict import Counterexample, Difference, Finding, Stats, Status, Step, Verdict
    from cfrc.source import Source, Span
    from cfrc.verify import CheckResult, admit, audit_claims, audit_contract, run_check, support

__version__ = "0.1.0"

_HOMES = {
    "cfrc.handoff.closing.close": ("Closed", "close"),
    "cfrc.handoff.closing.replica": ("CopyReplica", "Replica"),
    "cfrc.handoff.closing.simulated": ("SimulatedReplica",),
    "cfrc.handoff.running.execute": ("Settings",),
    "cfrc.handoff.freezing.freeze": ("Frozen", "freeze"),
    "cfrc.handoff.freezing.typing": ("ledger_of",),
    "cfrc.handoff.running.journal": ("JournalError",),
    "cfrc.handoff.mcp_tools": ("McpTools",),
    "cfrc.handoff.running.replay": ("Replayed", "replay"),
    "cfrc.handoff.running.run": ("Outcome", "Stopper", "resume", "run"),
    "cfrc.handoff.tools": ("Answer", "PythonTools", "ToolError", "Tools"),
    "cfrc.lang.diagnostics": ("Diagnostic", "SpecError"),
    "cfrc.lang.format": ("format_source",),
    "cfrc.lang.load": ("load", "load_contract", "load_proposal"),
    "cfrc.model.check": ("Check", "Expected", "Spec"),
    "cfrc.model.contract": ("Contract", "Obligation"),
    "cfrc.model.domain": ("Domain", "Tool"),
    "cfrc.model.graph": ("Call", "Proposal", "Terminal"),
    "cfrc.model.ledger": ("Ledger", "Receipt"),
    "cfrc.model.verdict": ("Counterexample", "Difference", "Finding", "Stats", "Status", "Step", "Verdict"),
    "cfrc.source": ("Source", "Span"),
    "cfrc.verify": ("CheckResult", "admit", "audit_claims", "audit_contract", "run_check", "support"),
}

__all__ = [
    "admit",
    "support",
    "freeze",
    "Frozen",
    "ledger_of",
    "close",
    "Closed",
    "Replica",
    "CopyReplica",
    "SimulatedReplica",
    "audit_contract",
    "audit_claims",
    "run_check",
    "CheckResult",
    "run",
    "resume",
    "replay",
    "Outcome",
    "Replayed",
    "Settings",
    "Stopper",
    "Tools",
    "PythonTools",
    "McpTools",
    "ToolError",
    "Answer",
    "JournalError",
    "load",
    "load_contract",
    "load_proposal",
    "format_source",
    "SpecError",
    "Diagnostic",
    "Status",
    "Verdict",
    "Finding",
    "Counterexample",
    "Step",
    "Difference",
    "Stats",
    "Spec",
    "Check",
    "Expected",
    "Domain",
    "Tool",
    "Contract",
    "Obligation",
    "Proposal",
    "Call",
    "Terminal",
    "Ledger",
    "Receipt",
    "Source",
    "Span",
    "__version__",
]

if not TYPE_CHECKING:  # a module-level __getattr__ would make every misspelt name type-check

    def __getattr__(name: str) -> object:
        """A public name, imported from its room. Raises ``AttributeError`` for any other name."""
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(__all__)
