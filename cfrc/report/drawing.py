"""Turns a proposal graph into a small drawing: its steps in order, what each waits for, and the one that goes wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cfrc.model.expr import Expr, NodeResult, Outcome, walk
from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.verdict import Counterexample
from cfrc.report.escape import clip, columns
from cfrc.report.pieces import Line, Piece

Node = Call | Terminal

_MARKS: Mapping[str, Piece] = {
    "ok": ("✓", "good"),
    "failed": ("✗", "bad"),
    "skipped": ("○", "dim"),
    "poll": ("↻", "good"),
}
_ROWS = 11
_NAME = 28


def waits_for(node: Node) -> tuple[str, ...]:
    """The nodes that a node names, in its ``after`` and in its expressions; itself left out."""
    names = dict.fromkeys(node.after or ())
    for e in _expressions(node):
        names.update(dict.fromkeys(x.node for x in walk(e) if isinstance(x, NodeResult | Outcome)))
    names.pop(node.id, None)
    return tuple(names)


def _expressions(node: Node) -> Iterator[Expr]:
    if isinstance(node, Call):
        yield from node.args.values()
        yield from (e for e in (node.until, node.expect) if e is not None)
    if node.when is not None:
        yield node.when


def draw(proposal: Proposal, offending: str | None, run: Counterexample | None = None) -> list[Line]:
    """The drawing. Of a large graph only the surroundings of the offending step are shown."""
    nodes = _in_run_order(proposal, run)
    edges = {n.id: waits_for(n) for n in nodes}
    outcomes = {s.node: s.outcome for s in run.order} if run else {}
    shown = _chosen(nodes, edges, offending, outcomes)
    rows = [n for n in nodes if n.id in shown]
    name_width = max((columns(clip(n.id, _NAME)) for n in rows), default=0)
    what_width = max((columns(_what(n)) for n in rows if isinstance(n, Call)), default=0)
    lines: list[Line] = []
    left_out = 0
    for n in nodes:
        if n.id not in shown:
            left_out += 1
            continue
        lines += _gap(left_out)
        left_out = 0
        lines.append(_row(n, edges[n.id], offending, outcomes, run is not None, name_width, what_width))
    return lines + _gap(left_out)


def _gap(left_out: int) -> list[Line]:
    return [(("    ⋮ ", "dim"), (f"{left_out:,} more step{'s' if left_out > 1 else ''}", "dim"))] if left_out else []


def _in_run_order(proposal: Proposal, run: Counterexample | None) -> list[Node]:
    """The steps of the run first, in its order; then the others as they are written."""
    place = {s.node: i for i, s in reversed(list(enumerate(run.order)))} if run else {}
    return sorted(proposal.nodes, key=lambda n: place.get(n.id, len(place)))


def _chosen(
    nodes: Sequence[Node], edges: Mapping[str, tuple[str, ...]], offending: str | None, outcomes: Mapping[str, str]
) -> set[str]:
    if len(nodes) <= _ROWS:
        return {n.id for n in nodes}
    wanted = [offending] if offending else []
    wanted += edges.get(offending or "", ())
    wanted += [n.id for n in nodes if offending in edges[n.id]]
    wanted += [n.id for n in nodes if isinstance(n, Terminal)]
    wanted += [n.id for n in nodes if outcomes.get(n.id) in {"failed", "skipped"}]
    wanted += [n.id for n in nodes]
    return set(list(dict.fromkeys(wanted))[: _ROWS - 2])


def _what(node: Node) -> str:
    if isinstance(node, Call):
        return clip(node.tool, _NAME)
    if node.kind == "done":
        return clip("done" + (f" claims {', '.join(node.claims)}" if node.claims else ""), 2 * _NAME)
    return clip(f'yield "{node.reason}"' if node.reason else "yield", 2 * _NAME)


def _row(
    node: Node,
    waits: tuple[str, ...],
    offending: str | None,
    outcomes: Mapping[str, str],
    ran: bool,
    name_width: int,
    what_width: int,
) -> Line:
    outcome = outcomes.get(node.id)
    here = node.id == offending
    style = "error" if here else "dim" if outcome == "skipped" or (ran and outcome is None) else ""
    mark: Piece = ("▶", "error") if here else _MARKS.get(outcome or "", (" ", ""))
    name, what = clip(node.id, _NAME), _what(node)
    pieces: list[Piece] = [("    ", ""), mark, (" ", ""), (_pad(name, name_width), style), ("  ", "")]
    pieces.append((_pad(what, what_width), style if style == "dim" else ""))
    arrow = "  ← " + ", ".join(clip(w, _NAME) for w in waits[:4]) + (f" and {len(waits) - 4} more" if waits[4:] else "")
    pieces.append((arrow if waits else "", "dim" if style == "dim" else "frame"))
    if here:
        pieces.append(("   here", "error"))
    elif outcome in {"failed", "skipped"}:
        pieces.append((f"   {outcome}", "dim"))
    return tuple(pieces)


def _pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))
