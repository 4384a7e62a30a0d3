"""What is left out of a verdict's findings is undecided, said already or a consequence; the verdict stays."""

from __future__ import annotations

from cfrc.model.graph import Call, Fault, Proposal, Terminal
from cfrc.model.verdict import Finding, Status
from cfrc.verify.admission import judge
from cfrc.verify.order import arrange
from cfrc.verify.tidy import tidied

GOOD = Call("good", "t", {})
ILL = Call("ill", "t", {}, faults=(Fault("typing", "TYP002", "lacks an argument"),))
AFTER = Call("after", "t", {}, after=("ill",))
ORDER = arrange(Proposal("p", "c", (GOOD, ILL, AFTER, Terminal("end", "done", after=("after",)))))
TYPING = Finding("CFRC-TYP002", "typing", "lacks an argument", node="ill")


def undecided(node: str | None, message: str = "m") -> Finding:
    return Finding("CFRC-UND001", "scope", message, help="why", node=node, severity="undecided")


def test_the_same_words_are_said_once() -> None:
    twice = [undecided("good"), undecided("good"), undecided("good", "another"), undecided("after")]
    assert tidied(ORDER, twice) == [twice[0], *twice[2:]]


def test_an_error_is_never_left_out() -> None:
    errors = [TYPING, TYPING]
    assert tidied(ORDER, errors) == errors


def test_what_follows_an_ill_formed_call_is_not_undecided() -> None:
    everything = [TYPING, undecided("ill"), undecided("after"), undecided("end"), undecided(None), undecided("good")]
    assert tidied(ORDER, everything) == [TYPING, everything[-1]]
    assert judge(tidied(ORDER, everything[:-1])) is Status.REFUSED


def test_without_its_own_finding_nothing_is_left_out() -> None:
    alone = [undecided("ill"), undecided("after"), undecided(None)]
    assert tidied(ORDER, alone) == alone
    assert judge(tidied(ORDER, alone)) is Status.UNDECIDED
