"""Turns what has happened into kept effects and doubts: nothing that was realized is lost, nothing open is assumed."""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.handoff.freezing.past import Carried, Past
from cfrc.handoff.freezing.reasons import note, reason
from cfrc.model.contract import Doubt, KeptEffect, Origin
from cfrc.model.footprint import Wild, matches
from cfrc.model.instances import Instance
from cfrc.model.ledger import Receipt
from cfrc.model.plan import full_args
from cfrc.model.show import show_instance
from cfrc.model.values import Value
from cfrc.model.verdict import Finding
from cfrc.verify.happened import distinct


def kept_effects(past: Past) -> tuple[KeptEffect, ...]:
    """Every realized effect, whether or not the request asked for it. What may have been undone since is in doubt
    instead. Where a limit counts the effect, every occurrence is listed."""
    done = {**past.happened.witnessed, **past.happened.effects}
    counted = {x.effect for x in past.before.limits}
    found: list[KeptEffect] = []
    for identity in _in_order(past, done):
        receipt = done[identity]
        if identity in past.happened.shaken:
            continue
        times = past.happened.counts.get(identity, 1) if identity[0] in counted else 1
        found += [_kept(identity, receipt)] * max(1, times)
    return tuple(found)


def _in_order(past: Past, done: dict[Instance, Receipt]) -> list[Instance]:
    """What was kept before comes first, in its order; then what the receipts realized, in theirs."""
    steps = {id(k): i - len(past.before.kept) for i, k in enumerate(past.before.kept)}
    steps |= {id(r): i for i, (_, r) in enumerate(distinct(past.ledger))}
    return sorted(done, key=lambda i: steps[id(r.entry) if isinstance(r := done[i], Carried) else id(r)])


def _kept(identity: Instance, receipt: Receipt) -> KeptEffect:
    if isinstance(receipt, Carried):
        assert isinstance(receipt.entry, KeptEffect)
        return receipt.entry
    effect, args = identity
    return KeptEffect(effect, args, Origin("receipt", receipt=receipt.id, tool=receipt.tool))


def undone(past: Past) -> Iterator[Finding]:
    """What the contract kept and somebody undid all the same."""
    for identity, receipt in past.happened.ended.items():
        if any((k.effect, _canonical(past, k)) == identity for k in past.before.kept):
            yield reason(
                "FRZ002",
                f"{_shown(past, identity)} was kept, and receipt `{receipt.id}` undid or refuted it",
                "say whether it is owed again: nobody else knows whether that was wanted",
                receipt.span,
            )


def _canonical(past: Past, k: KeptEffect) -> tuple[object, ...]:
    return past.world.signatures.effect(k.effect, k.args)


def doubts(past: Past) -> tuple[Doubt, ...]:
    """Every effect that may have happened, and every one that may have been undone."""
    found: dict[tuple[str, tuple[Value | Wild, ...]], Doubt] = {}
    open_ = [*past.happened.doubts.items(), *past.happened.shaken.items()]
    for (effect, args), receipt in open_:
        found.setdefault((effect, args), _doubt(past, effect, args, receipt))
    return tuple(found.values())


def _doubt(past: Past, effect: str, args: tuple[Value | Wild, ...], receipt: Receipt) -> Doubt:
    if isinstance(receipt, Carried) and isinstance(receipt.entry, Doubt):
        return receipt.entry
    status = receipt.status if receipt.status != "success" else None
    origin = Origin("receipt", receipt=receipt.id, tool=receipt.tool, status=status)
    return Doubt(effect, args, origin, _call(past, receipt))


def _call(past: Past, receipt: Receipt) -> tuple[str, tuple[tuple[str, Value], ...]] | None:
    """The call that may have done it, where all its arguments are known: an idempotent one may be made again."""
    tool = past.before.domain.tools.get(receipt.tool)
    if tool is None or receipt.status == "success":
        return None
    args = full_args(tool, receipt.args)
    if len(args) < len(tool.params) or any(v is None for v in args.values()):
        return None
    return tool.name, tuple(args.items())


def more_than_once(past: Past) -> Iterator[Finding]:
    """Occurrences that a limit counts and a contract cannot say: what happened for sure may have happened again."""
    counted = {x.effect for x in past.before.limits}
    if not counted:
        return
    seen: dict[tuple[str, tuple[Value | Wild, ...]], Receipt] = {}
    for _, receipt in distinct(past.ledger):
        if receipt.status in ("success", "failure"):
            continue
        for pattern in _possible(past, receipt):
            if pattern[0] not in counted:
                continue
            sure = any(i[0] == pattern[0] and matches(pattern[1], i[1]) for i in past.happened.effects)
            first = seen.setdefault(pattern, receipt)
            if sure or first is not receipt:
                yield reason(
                    "FRZ005",
                    f"`{pattern[0]}` may have happened once more than a contract can say (receipt `{receipt.id}` is "
                    f"`{receipt.status}`), and a limit counts it",
                    "find out what that call did, and freeze again with its receipt",
                    receipt.span,
                )


def _possible(past: Past, receipt: Receipt) -> Iterator[tuple[str, tuple[Value | Wild, ...]]]:
    from cfrc.model.receipts import World

    tool = past.before.domain.tools[receipt.tool]
    yield from World(past.before.domain).take(tool, dict(receipt.args), receipt.result, receipt.status).doubted


def undeclared(past: Past) -> Iterator[Finding]:
    """Calls whose effects the domain does not declare: no contract can keep them."""
    for _, receipt in distinct(past.ledger):
        tool = past.before.domain.tools[receipt.tool]
        if tool.undeclared and receipt.status != "failure":
            yield note(
                "FRZ011",
                f"the effects of `{tool.name}` are not declared: what receipt `{receipt.id}` did cannot be kept",
                "declare what the tool causes, or keep the tool out of `allow` and `within`",
                receipt.span,
            )


def _shown(past: Past, identity: Instance) -> str:
    effect, args = identity
    return f"`{show_instance(effect, args, past.before.domain.effects[effect].params)}`"
