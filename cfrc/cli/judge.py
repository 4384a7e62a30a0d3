"""Turns verdicts and complaints into what ``cfrc check`` and ``cfrc verify`` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cfrc.cli.exits import Exit
from cfrc.cli.inputs import complain
from cfrc.cli.options import Output
from cfrc.codes import full
from cfrc.lang.diagnostics import Diagnostic
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.verdict import Finding, Status, Verdict

Judged = tuple[Verdict, Contract, Proposal | None]


def shown(verdict: Verdict, out: Output) -> list[Finding]:
    """The findings that ``--select`` and ``--ignore`` leave."""
    return [f for f in verdict.findings if out.shows(full(f.code), f.kind)]


def judged(verdicts: Sequence[Judged], diagnostics: Sequence[Diagnostic], out: Output) -> Exit:
    """Writes everything, and returns :attr:`Exit.INPUT` if there are complaints. Verdicts keep their own exit codes. Of
    a contract alone its digest is told too."""
    if out.format == "json":
        from cfrc.report.json import dumps, verdicts_json
        from cfrc.report.naming import Naming

        hidden = {id(f) for v, _, _ in verdicts for f in v.findings} - {
            id(f) for v, _, _ in verdicts for f in shown(v, out)
        }
        about = [Naming(c, p) for _, c, p in verdicts]
        out.write(dumps(verdicts_json([v for v, _, _ in verdicts], diagnostics, hidden=hidden, about=about)))
    elif verdicts:
        out.write(_text(verdicts, out))
    if diagnostics:
        complain(diagnostics, out)
        return Exit.INPUT
    return Exit.HOLDS


def _digest(contract: Contract, proposal: Proposal | None, out: Output) -> str:
    """The line that tells what `answers` takes; nothing where a proposal was judged."""
    from cfrc.report.pieces import paint

    return "" if proposal is not None else paint([(("  digest: ", "dim"), (contract.digest, ""))], out.colored)


def _text(verdicts: Sequence[Judged], out: Output) -> str:
    from cfrc.report.naming import Naming
    from cfrc.report.terminal import render_summary, render_verdict

    told: set[tuple[Finding, ...]] = set()  # what is wrong with a contract is said once, not for each proposal
    texts = []
    for verdict, contract, proposal in verdicts:
        again = verdict.status is Status.WITHHELD and verdict.findings in told
        told.add(verdict.findings)
        texts.append(
            render_verdict(
                verdict,
                Naming(contract, proposal),
                shown=shown(verdict, out),
                quiet=out.quiet or again,
                color=out.colored,
                width=out.width,
            )
        )
    between = "" if out.quiet or all(len(t.splitlines()) == 1 for t in texts) else "\n"
    if not out.quiet:
        texts = [t + _digest(c, p, out) for t, (_, c, p) in zip(texts, verdicts, strict=True)]
    text = between.join(texts)
    if len(verdicts) > 1:
        counts = Counter(v.status for v, _, _ in verdicts)
        text += between + render_summary(counts, color=out.colored, alone=all(p is None for _, _, p in verdicts))
    return text
