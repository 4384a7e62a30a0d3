"""Turns a contract's bindings, known values and facts and a ledger into those that were lost or that it contradicts."""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.canon import canonical
from cfrc.model.contract import Contract, Fact, Name, Origin
from cfrc.model.domain import Tool
from cfrc.model.evaluate import equal
from cfrc.model.instances import Signatures
from cfrc.model.ledger import Choice, Ledger, Receipt
from cfrc.model.plan import full_args
from cfrc.model.show import show_instance, show_value
from cfrc.model.types import Id, Type
from cfrc.model.values import Bag, Map, Record, Value
from cfrc.model.verdict import Finding
from cfrc.source import Span
from cfrc.verify.condition import spans
from cfrc.verify.happened import Happened


def audit_values(contract: Contract, past: Happened, before: Contract | None = None) -> Iterator[Finding]:
    """The latest accepted word is bound; a known value says what its receipt says, a fact what the ledger says, and a
    user's word what the user accepted (or what the contract ``before`` said)."""
    lost = list(_choices(contract, past.ledger))
    yield from lost
    misread = {f.where for f in lost}
    yield from (f for f in _unsaid(contract, past.ledger, before) if f.where is None or f.where not in misread)
    for n in contract.names.values():
        if n.origin is not None and n.origin.kind == "receipt" and n.origin.receipt is not None:
            problem = _source(n, n.origin, past.ledger)
            if problem is not None:
                said = f"`{n.name}` comes from receipt `{n.origin.receipt}`, {problem}"
                help = "point it at the receipt that holds the value, and copy the value as it is there"
                yield _evidence("LED008", said, help, n.span)
    sig = Signatures(contract.domain)
    for f in contract.facts:
        yield from _fact(contract, f, past, sig)


def _choices(contract: Contract, ledger: Ledger) -> Iterator[Finding]:
    latest = {c.name: c for c in ledger.entries if isinstance(c, Choice)}
    bound = {n.name: n for n in contract.names.values() if n.fixed}
    for name, choice in latest.items():
        mine = bound.get(name)
        renamed = [n for n in bound.values() if n.name not in latest and n.type == choice.type]
        if _binds(mine, choice) or (mine is None and any(_binds(n, choice) for n in bound.values())):
            continue
        if mine is None and len(renamed) == 1 and renamed[0].origin is not None and _same_turn(renamed[0], choice):
            mine = renamed[0]
        yield Finding(
            code="CFRC-LED003",
            kind="binding",
            message=f"`{name}` was accepted as {show_value(choice.value, choice.type)}, but the contract "
            + ("does not bind it" if mine is None else f"binds {show_value(mine.value, mine.type)}"),
            help="bind the latest accepted value with `fixed`",
            where=contract.span if mine is None else mine.span,
            clauses=spans(("in the ledger", choice.span)),
        )


def _unsaid(contract: Contract, ledger: Ledger, before: Contract | None) -> Iterator[Finding]:
    """Values of the user's that nobody accepted. A ledger without any choice does not record them: then it is a
    note."""
    accepted = [c for c in ledger.entries if isinstance(c, Choice)]
    earlier = [] if before is None else [n for n in before.names.values() if _from_user(n)]
    for n in contract.names.values():
        if not _from_user(n) or any(_binds(n, c) for c in accepted) or any(_same(n, m) for m in earlier):
            continue
        yield Finding(
            code="CFRC-LED012",
            kind="grounding",
            message=f"`{n.name}` is {show_value(n.value, n.type)} by the user's word, but "
            + ("the ledger holds no such choice" if accepted else "the ledger holds no choices at all"),
            help="take values from what the ledger says was accepted; record there what the user said",
            where=n.span,
            clauses=spans(("the ledger", ledger.span)),
            severity="error" if accepted else "note",
        )


def _from_user(n: Name) -> bool:
    return n.origin is not None and n.origin.kind == "user"


def _same(n: Name, m: Name) -> bool:
    return n.type == m.type and equal(canonical(n.type, n.value), canonical(m.type, m.value))


def _same_turn(n: Name, choice: Choice) -> bool:
    return n.origin is not None and n.origin.turn is not None and n.origin.turn == choice.turn


def _binds(n: Name | None, choice: Choice) -> bool:
    """Whether the binding is of this value; an identifier's type decides what it governs."""
    if n is None or (n.type != choice.type and (isinstance(choice.type, Id) or isinstance(n.type, Id))):
        return False
    return equal(canonical(n.type, n.value), canonical(choice.type, choice.value))


def _source(n: Name, origin: Origin, ledger: Ledger) -> str | None:
    """What is wrong with the receipt that a value names: one of its attempts must say the value."""
    attempts = [r for r in ledger.entries if isinstance(r, Receipt) and r.id == origin.receipt]
    problem = "which is not in the ledger"
    for r in attempts:
        found = _attempt(n, origin, r, ledger.domain.tools.get(r.tool))
        if found is None:
            return None
        problem = found
    return problem


def _attempt(n: Name, origin: Origin, r: Receipt, tool: Tool | None) -> str | None:
    if r.status != "success":
        return f"which is `{r.status}`, not a success"
    if origin.tool is not None and origin.tool != r.tool:
        return f"which is of `{r.tool}`, not of `{origin.tool}`"
    if origin.args is not None and tool is not None:
        args = full_args(tool, r.args)
        for p, value in zip(tool.params, origin.args, strict=False):
            if value is not None and not equal(args.get(p.name), canonical(p.type, value)):
                return f"which is of another call of `{r.tool}`"
    if origin.quoted is not None:
        quoted = list(_quotes(r.result, origin.path, origin.quoted, n.type))
        if isinstance(n.value, str) and quoted and canonical(n.type, n.value) not in quoted:
            return "which says otherwise at the quoted place"
    elif origin.path and not _holds(r.result, origin.path, n):
        return f"which says otherwise at `{'.'.join(origin.path)}`"
    return None


def _holds(result: Value, path: tuple[str, ...], n: Name) -> bool:
    """Whether the value is at the path; through lists and maps, at any element."""
    return any(equal(canonical(n.type, v), canonical(n.type, n.value)) for v in _at(result, path))


def _at(result: Value, path: tuple[str, ...]) -> Iterator[Value]:
    if not path:
        yield result
        match result:
            case Map(items):
                for _, v in items:
                    yield from _at(v, path)
            case tuple() | Bag():
                for v in result:
                    yield from _at(v, path)
        return
    match result:
        case Record() if path[0] in result:
            yield from _at(result.get(path[0]), path[1:])
        case Map(items):
            for k, v in items:
                yield from _at(v, path)
                if k == path[0]:
                    yield from _at(v, path[1:])
        case tuple() | Bag():
            for v in result:
                yield from _at(v, path)


def _quotes(result: Value, path: tuple[str, ...], place: tuple[int, int], t: Type) -> Iterator[Value]:
    """What stands at the quoted place of the texts at the path."""
    for v in _at(result, path):
        if isinstance(v, str):
            yield canonical(t, v[place[0] : place[1]])


def _fact(contract: Contract, f: Fact, past: Happened, sig: Signatures) -> Iterator[Finding]:
    declared = contract.domain.fluents[f.fluent]
    what = show_instance(f.fluent, f.args, declared.params)
    receipt = f.origin.receipt if f.origin is not None and f.origin.kind == "receipt" else None
    if receipt is not None and not any(
        isinstance(r, Receipt) and r.id == receipt and r.status == "success" for r in past.ledger.entries
    ):
        problem = f"`{what}` comes from receipt `{receipt}`, which is no success in the ledger"
        yield _evidence("LED009", problem, "point it at the receipt that says so", f.span)
        return
    said = f"`{what}` is {show_value(f.value, declared.type)} in the contract"
    try:
        value = past.world.read(f.fluent, sig.fluent(f.fluent, f.args))
    except LookupError:
        if past.world.is_lost(f.fluent, f.args):
            problem = f"{said}, but a call whose outcome is not known may have changed it"
            yield _evidence("LED009", problem, "leave it out, or look it up again", f.span)
        elif receipt is not None:
            yield _evidence("LED009", f"{said}, but no receipt says so", "leave it out, or look it up", f.span)
        return
    if not equal(value, canonical(declared.type, f.value)):
        problem = f"{said}, but {show_value(value, declared.type)} by the ledger"
        yield _evidence("LED009", problem, "take the value of the latest receipt", f.span)


def _evidence(code: str, message: str, help: str, where: Span | None) -> Finding:
    return Finding(code=f"CFRC-{code}", kind="evidence", message=message, help=help, where=where)
