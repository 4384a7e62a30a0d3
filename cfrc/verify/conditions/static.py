"""Turns what is wrong with a graph as such into findings: faults seen in resolution, authority, cycles, terminals'
place.

``docs/semantics.md`` §3, *typing*, *authority*, *dependency* (closure, acyclicity) and the structural part of
*evidence*.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.graph import Call, Fault, Terminal
from cfrc.model.verdict import Finding
from cfrc.verify.condition import spans
from cfrc.verify.order import find_cycle, mentioned, sources
from cfrc.verify.paths import Paths
from cfrc.verify.suggest import did_you_mean


def findings(paths: Paths) -> Iterator[Finding]:
    yield from _answers(paths)
    yield from _other_contract(paths)
    for f in paths.proposal.faults:
        yield _fault(f, None)
    for n in paths.proposal.nodes:
        for f in n.faults:
            yield _fault(f, n.id)
    needs = [_needs(n) for n in paths.proposal.nodes]
    yield from _authority(paths)
    yield from _dangling(paths, needs)
    yield from _cycle(paths, needs)
    yield from _terminal_dependencies(paths, needs)
    yield from _claims(paths)


def _answers(paths: Paths) -> Iterator[Finding]:
    p, c = paths.proposal, paths.contract
    if p.answers is not None and p.answers != c.digest:
        yield Finding(
            code="CFRC-TYP010",
            kind="typing",
            message=f"the proposal answers `{p.answers}`, not this contract",
            help=f"the contract's digest is `{c.digest}`: author the proposal against this contract",
            where=p.span,
        )


def _other_contract(paths: Paths) -> Iterator[Finding]:
    """A proposal names the contract that it answers; a digest, where it gives one, is the better name."""
    p, c = paths.proposal, paths.contract
    if p.answers is None and p.contract and p.contract != c.name:
        yield Finding(
            code="CFRC-TYP010",
            kind="typing",
            message=f"the proposal is for the contract `{p.contract}`, not for `{c.name}`",
            help="author the proposal against this contract",
            where=p.span,
        )


def _fault(f: Fault, node: str | None) -> Finding:
    code = f.code if f.code.startswith("CFRC-") else f"CFRC-{f.code}"
    return Finding(code=code, kind=f.kind, message=f.message, help=f.help, where=f.span, node=node)


def _authority(paths: Paths) -> Iterator[Finding]:
    """A tool that does not exist is no question of authority: it is a typing finding already."""
    allowed = set(paths.contract.allow)
    for n in paths.proposal.nodes:
        if isinstance(n, Call) and n.tool not in allowed and n.tool in paths.contract.domain.tools:
            hint = did_you_mean(n.tool, allowed)
            yield Finding(
                code="CFRC-AUT001",
                kind="authority",
                message=f"`{n.tool}` is not among the tools that `{paths.contract.name}` allows",
                help=hint or ("allowed: " + (", ".join(f"`{a}`" for a in sorted(allowed)) or "nothing")),
                where=n.span,
                node=n.id,
                clauses=spans(("the contract", paths.contract.span)),
            )


def _needs(n: Call | Terminal) -> set[str]:
    """The names that a node depends on: in ``after``, sources, guard, ``until`` and ``expect``."""
    return {*(n.after or ()), *(sources(n) if isinstance(n, Call) else mentioned(n.when))}


def _dangling(paths: Paths, needs: list[set[str]]) -> Iterator[Finding]:
    """Names of steps that are not in the graph, unless resolution has reported the node already."""
    known = {n.id for n in paths.proposal.nodes}
    for n, wanted in zip(paths.proposal.nodes, needs, strict=True):
        if any(f.code.endswith("DEP001") for f in n.faults):
            continue
        for name in sorted(wanted - known):
            yield Finding(
                code="CFRC-DEP001",
                kind="dependency",
                message=f"`{n.id}` depends on `{name}`, which is not a step of this proposal",
                help=did_you_mean(name, known - {n.id}),
                where=n.span,
                node=n.id,
            )


def _cycle(paths: Paths, needs: list[set[str]]) -> Iterator[Finding]:
    cycle = paths.order.cycle or _through_terminal(paths, needs)
    if cycle:
        loop = " -> ".join(f"`{n}`" for n in (*reversed(cycle), cycle[-1]))
        node = next(n for n in paths.proposal.nodes if n.id == cycle[0])
        yield Finding(
            code="CFRC-DEP002",
            kind="dependency",
            message=f"the steps wait for each other: {loop}",
            help="remove one of these dependencies",
            where=node.span,
            node=node.id,
        )


def _through_terminal(paths: Paths, needs: list[set[str]]) -> tuple[str, ...]:
    """A cycle that passes a terminal; only where something depends on one (which is a finding as well)."""
    terminals = {t.id for t in paths.order.terminals}
    if not any(terminals & names for names in needs):
        return ()
    wanted = {n.id: names for n, names in zip(paths.proposal.nodes, needs, strict=True)}
    return find_cycle({n: [p for p in sorted(names) if p in wanted] for n, names in wanted.items()})


def _terminal_dependencies(paths: Paths, needs: list[set[str]]) -> Iterator[Finding]:
    terminals = {t.id for t in paths.order.terminals}
    for n, names in zip(paths.proposal.nodes, needs, strict=True):
        if not names & terminals:
            continue
        before = set(n.after or ())  # (what `until` and `expect` read does not wait for them)
        exprs = [n.when, *(n.args.values() if isinstance(n, Call) else ())]
        for e in exprs:
            before |= mentioned(e)
        for t in sorted(before & terminals):
            if n.id != t or isinstance(n, Terminal):
                yield Finding(
                    code="CFRC-EVD002",
                    kind="evidence",
                    message=f"`{n.id}` depends on the terminal `{t}`",
                    help="nothing can follow the end of a run: depend on the calls before it",
                    where=n.span,
                    node=n.id,
                )


def _claims(paths: Paths) -> Iterator[Finding]:
    known = {o.name for o in paths.contract.obligations}
    reported = {f.code for n in paths.proposal.nodes for f in n.faults}
    if "EVD005" in reported or "CFRC-EVD005" in reported:
        return
    for n in paths.proposal.nodes:
        for claim in n.claims if isinstance(n, Terminal) else n.covers:
            if claim not in known:
                yield Finding(
                    code="CFRC-EVD005",
                    kind="evidence",
                    message=f"`{n.id}` claims `{claim}`, which the contract does not owe",
                    help=did_you_mean(claim, known),
                    where=n.span,
                    node=n.id,
                )
