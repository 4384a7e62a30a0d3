"""Turns a contract's kept and doubtful effects and what happened into the effects that were lost or made up."""

from __future__ import annotations

from collections.abc import Iterator

from cfrc.model.contract import Contract
from cfrc.model.footprint import Wild
from cfrc.model.instances import Signatures
from cfrc.model.ledger import Receipt
from cfrc.model.receipts import Identity, Pattern
from cfrc.model.show import show_instance
from cfrc.model.verdict import Finding
from cfrc.verify.condition import spans
from cfrc.verify.discharged import canonical_effect
from cfrc.verify.happened import Happened


def audit_effects(contract: Contract, past: Happened) -> Iterator[Finding]:
    """What was realized is kept, what may have been is in doubt, and nothing else is either."""
    sig = Signatures(contract.domain)
    kept = {(k.effect, canonical_effect(sig, k.effect, k.args)): k for k in contract.kept}
    doubted = {(d.effect, sig.effect(d.effect, d.args)): d for d in contract.doubts}
    yield from _lost(contract, past, set(kept), set(doubted))
    for identity, k in kept.items():
        if past.realized(identity) is None:
            ended = past.ended.get(identity)
            why = "no receipt realizes it" if ended is None else f"receipt `{ended.id}` undid or refuted it"
            yield Finding(
                code="CFRC-LED006",
                kind="evidence",
                message=f"{_named(contract, identity)} is kept, but {why}",
                help="keep only what a terminal success caused or witnessed, and nothing undid",
                where=k.span,
                clauses=spans(("in the ledger", ended.span) if ended is not None else ("the ledger", past.ledger.span)),
            )
    for pattern, d in doubted.items():
        if not past.in_doubt(pattern):
            settled = past.realized((pattern[0], tuple(a for a in pattern[1] if not isinstance(a, Wild))))
            why = f"receipt `{settled.id}` realized it" if settled is not None else "no receipt leaves it in doubt"
            yield Finding(
                code="CFRC-LED010",
                kind="preservation",
                message=f"{_named(contract, pattern)} is in doubt in the contract, but {why}",
                help="a success that realizes or refutes an effect settles the doubt: keep the effect, or drop it",
                where=d.span,
                clauses=spans(("in the ledger", settled.span if settled is not None else past.ledger.span)),
            )


def _lost(contract: Contract, past: Happened, kept: set[Identity], doubted: set[Pattern]) -> Iterator[Finding]:
    for identity, receipt in _to_keep(contract, past).items():
        if identity not in kept and not (identity in past.shaken and identity in doubted):
            yield _finding(
                contract, receipt, "LED001",
                f"{_named(contract, identity)} happened (receipt `{receipt.id}`), but the contract does not keep it",
                "keep every realized effect, whether or not the request asked for it",
            )  # fmt: skip
    for (effect, pattern), receipt in past.doubts.items():
        if (effect, pattern) not in kept and not any(e == effect and _covers(a, pattern) for e, a in doubted):
            yield _finding(
                contract, receipt, "LED004",
                f"`{effect}` may have happened (receipt `{receipt.id}` is `{receipt.status}`), "
                "but the contract does not say so",
                "record it as `doubt`: it is neither an effect nor a licence to retry",
            )  # fmt: skip


def audit_repeats(past: Happened) -> Iterator[Finding]:
    """What is declared to happen once, and happened again by another receipt."""
    domain = past.ledger.domain
    for identity, first, again in past.repeated:
        what = show_instance(identity[0], identity[1], domain.effects[identity[0]].params)
        yield Finding(
            code="CFRC-LED013",
            kind="preservation",
            message=f"`{what}` happens once, but receipt `{again.id}` realized it after receipt `{first.id}`",
            help="nothing owed can mend that: settle by hand which of the two stands, and undo the other one",
            where=again.span if again.span is not None else past.ledger.span,
            clauses=spans(("the first time", first.span)),
        )


def _covers(wide: tuple[object, ...], args: tuple[object, ...]) -> bool:
    return all(isinstance(w, Wild) or w == a for w, a in zip(wide, args, strict=True))


def _to_keep(contract: Contract, past: Happened) -> dict[Identity, Receipt]:
    """What was caused; and what was only witnessed, where an allowed tool could cause it again."""
    tools = [contract.domain.tools[t] for t in contract.allow if t in contract.domain.tools]
    causable = {c.effect for t in tools for c in (*t.causes, *t.may_cause)}
    return {**{i: r for i, r in past.witnessed.items() if i[0] in causable}, **past.effects}


def _named(contract: Contract, identity: Pattern) -> str:
    effect, args = identity
    declared = contract.domain.effects.get(effect)
    return f"`{effect}`" if declared is None else f"`{show_instance(effect, args, declared.params)}`"


def _finding(contract: Contract, receipt: Receipt, code: str, message: str, help: str) -> Finding:
    return Finding(
        code=f"CFRC-{code}",
        kind="preservation",
        message=message,
        help=help,
        where=contract.span,
        clauses=spans(("in the ledger", receipt.span)),
    )
