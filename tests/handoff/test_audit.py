"""An audit counts what is right, names every planted fault in its row, and its bounds are exact."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfrc
from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.auditing import audit as audits
from cfrc.handoff.auditing.audit import Audit, audit, rate
from cfrc.handoff.auditing.rates import Rate
from cfrc.handoff.auditing.trials import Judgement, Trial
from cfrc.handoff.running.execute import Settings
from cfrc.handoff.running.journal import _SEED, JournalError, _next, json_text
from cfrc.handoff.running.run import Outcome, run
from cfrc.model.contract import Contract, KeptEffect
from cfrc.model.graph import Proposal
from cfrc.model.transcript import Transcript
from cfrc.model.verdict import Finding, Status, Verdict
from cfrc.source import Source
from tests.handoff.shop import TEXT, Shop, case
from tests.handoff.test_guarded import ORDER, call, opened

stats = pytest.importorskip("scipy.stats")

CONTRACT, PROPOSAL = case()
INVOICE = Path(__file__).parents[2] / "examples" / "invoice"
FAST = Settings(interval=lambda poll: 0.0)


def go(folder: Path, tools: object = None, contract: Contract = CONTRACT, proposal: Proposal = PROPOSAL) -> Outcome:
    tools = tools if tools is not None else Shop(folder / "world")
    return run(contract, proposal, tools, folder / "journal", settings=FAST)


def of(folder: Path, **more: Any) -> Audit:
    return audit([Trial("one", journal=folder / "journal", **more)])


def lapses(found: Audit) -> list[tuple[str, str]]:
    return [(row, j.subject) for row, j in found.lapses()]


def words(*said: str) -> Transcript:
    return read_transcript([{"role": "user", "content": text} for text in said])


# -- rates ------------------------------------------------------------------------------------------------------------


def test_the_bound_of_the_paper() -> None:
    assert round(100 * Rate(0, 50).upper(), 1) == 5.8
    assert Rate(0, 50).upper() == pytest.approx(1 - 0.05 ** (1 / 50))
    assert Rate(62, 68).value == pytest.approx(0.912, abs=0.0005)


def test_without_trials_nothing_is_known() -> None:
    assert Rate(0, 0).value is None and Rate(0, 0).interval() == (0.0, 1.0) and Rate(0, 0).upper() == 1.0


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_bounds_are_those_of_the_beta_distribution(count: tuple[int, int], confidence: float) -> None:
    """The closed form of Clopper and Pearson, worked out another way than in the product."""
    hits, total = count
    tail = (1 - confidence) / 2
    low = float(stats.beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0
    high = float(stats.beta.ppf(1 - tail, hits + 1, total - hits)) if hits < total else 1.0
    assert Rate(hits, total).interval(confidence) == pytest.approx((low, high), abs=1e-6)
    upper = Rate(hits, total).upper(confidence)
    assert low <= hits / total <= upper <= high + 1e-9
    if hits < total:  # so few hits are just as improbable as they may be
        assert float(stats.binom.cdf(hits, total, upper)) == pytest.approx(1 - confidence, abs=1e-6)


@given(counts)
def test_bounds_are_monotone(count: tuple[int, int]) -> None:
    hits, total = count
    here = Rate(hits, total)
    assert here.upper(0.9) <= here.upper(0.95) <= here.upper(0.99)
    assert Rate(hits, total + 1).upper() <= here.upper() + 1e-9  # one more trial without a hit
    assert Rate(hits + 1, total + 1).upper() >= here.upper() - 1e-9


# -- runs -------------------------------------------------------------------------------------------------------------


def test_a_good_run_has_no_lapse(tmp_path: Path) -> None:
    assert go(tmp_path).kind == "done"
    told = words("please send order O1")
    found = of(tmp_path, contract=CONTRACT, proposal=PROPOSAL, reference=CONTRACT, transcripts=(told,))
    assert not lapses(found)
    sizes = {name: (rate(row).hits, rate(row).total) for name, row in found.rows().items()}
    assert sizes == {
        "bindings": (0, 0), "obligations": (4, 4), "writes": (4, 4), "admissions": (1, 1), "records": (2, 2),
        "replays": (1, 1), "refusals": (0, 0), "interventions": (0, 0),
    } | {"bindings": sizes["bindings"]}  # fmt: skip
    assert sizes["bindings"] == (1, 1)
    assert found.ungrounded == Rate(0, 1) and found.outcomes == {"done": 1} and found.verdicts == {"admitted": 1}


def test_a_journal_alone_is_judged_by_its_own_contract(tmp_path: Path) -> None:
    go(tmp_path)
    found = of(tmp_path)
    assert not lapses(found) and found.ungrounded == Rate(0, 1) and len(found.supported) == 4
    assert not found.grounded and not found.followed


def test_the_journal_of_a_guard_is_one_too(tmp_path: Path) -> None:
    guarded = opened(tmp_path)
    for tool, arguments in ORDER:
        call(guarded, tool, arguments)
    guarded.close()
    found = of(tmp_path)
    assert not lapses(found) and found.outcomes == {"done": 1} and found.ungrounded == Rate(0, 1)


def test_a_run_that_did_not_end_is_counted_as_such(tmp_path: Path) -> None:
    guarded = opened(tmp_path)
    call(guarded, *ORDER[0])
    guarded.close()
    found = of(tmp_path)
    assert not lapses(found) and found.outcomes == {"unfinished": 1} and found.ungrounded == Rate(0, 0)


def test_a_touched_journal_does_not_replay(tmp_path: Path) -> None:
    go(tmp_path)
    with sqlite3.connect(tmp_path / "journal") as db:
        db.execute("update entries set body = replace(body, 'slip-1', 'slip-2')")
    found = of(tmp_path, contract=CONTRACT, reference=CONTRACT)
    assert lapses(found) == [("replays", "journal")]
    assert not found.supported and not found.outcomes and len(found.recovered) == 4


def forge(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Another opening, with valid hashes all the way."""
    with sqlite3.connect(path) as db:
        bodies = [body for (body,) in db.execute("select body from entries order by seq")]
        first = json.loads(bodies[0], parse_float=Decimal)
        first["contract"]["digest"] = ""
        change(first)
        head = _SEED
        for number, body in enumerate([json_text(first), *bodies[1:]]):
            head = _next(head, body)
            db.execute("update entries set body = ?, hash = ? where seq = ?", (body, head, number))


@pytest.mark.parametrize("what", ["polls", "covers", "faults", "args", "tool"])
@pytest.mark.parametrize("value", [None, "x", 3, {}])
def test_a_forged_journal_is_a_lapse_and_no_crash(tmp_path: Path, what: str, value: object) -> None:
    go(tmp_path)
    same = False

    def change(first: dict[str, Any]) -> None:
        nonlocal same
        node = first["proposal"]["nodes"][-2]
        same = node[what] == value
        node[what] = value

    forge(tmp_path / "journal", change)
    told = words("order O1")
    found = of(tmp_path, reference=CONTRACT, transcripts=(told,))
    assert same or what in ("polls", "faults") or lapses(found)
    assert "replays" in found.rows() and found.trials == 1
    found = of(tmp_path, contract=CONTRACT)  # the digest was blanked, too
    assert lapses(found)


def test_a_journal_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="run one: ") as caught:
        of(tmp_path)
    assert caught.value.code == "JRN001"


def admitted(*_: object, **__: object) -> Verdict:
    return Verdict(Status.ADMITTED, "rest", "plan")


def test_a_plan_that_slipped_past_admission_is_found_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal replays: it does not tell whether the plan was admitted. The audit judges it again, and looks."""

    class Careless(Shop):
        def ship(self, order: str, slip: str) -> dict[str, object]:
            return {"label": "label-1"}

    contract, proposal = case(TEXT.replace("slip: c.slip", 'slip: "slip-9"'))
    monkeypatch.setattr("cfrc.handoff.running.run._admit", admitted)
    assert go(tmp_path, Careless(tmp_path / "world"), contract, proposal).kind == "done"
    found = of(tmp_path)
    assert [row for row, _ in found.lapses() or ()] == ["writes", "admissions"]
    (bad,) = [j for j in found.supported if not j.good]
    assert "(ship)" in bad.subject and bad.why == "nothing supports `slip`"
    assert "CFRC-GRD001" in found.admitted[0].why and found.ungrounded == Rate(1, 1)


def test_what_a_lax_domain_lets_through_a_strict_one_does_not(tmp_path: Path) -> None:
    """The parameter was ``free`` in the domain that the run was begun with; the manifest names the real contract."""

    class Careless(Shop):
        def ship(self, order: str, slip: str) -> dict[str, object]:
            return {"label": "label-1"}

    lax = TEXT.replace("slip: Slip) -> { label", "slip: Slip free) -> { label")
    contract, proposal = case(lax.replace("slip: c.slip", 'slip: "slip-9"'))
    assert go(tmp_path, Careless(tmp_path / "world"), contract, proposal).kind == "done"
    assert not lapses(of(tmp_path))
    found = of(tmp_path, contract=CONTRACT)
    assert {row for row, _ in found.lapses()} == {"writes", "admissions", "records"}
    assert found.ungrounded == Rate(1, 1)


def test_an_echo_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool repeats the slip that it is asked about: asking about one does not make it real."""

    class Echoing(Shop):
        def slips(self, slip: str) -> dict[str, object]:
            return {"slip": slip}

        def ship(self, order: str, slip: str) -> dict[str, object]:
            return {"label": "label-1"}

    bent = TEXT.replace(
        "    read stock(order: Order)", "    read slips(slip: Slip) -> { slip: Slip }\n    read stock(order: Order)"
    )
    bent = bent.replace("allow look", "allow slips, look").replace(
        "k = stock(order: order)", 'k = slips(slip: "slip-9")'
    )
    contract, proposal = case(bent.replace("slip: c.slip", "slip: k.slip"))
    monkeypatch.setattr("cfrc.handoff.running.run._admit", admitted)
    assert go(tmp_path, Echoing(tmp_path / "world"), contract, proposal).kind == "done"
    found = of(tmp_path)
    assert [j.why for j in found.supported if not j.good] == ["nothing supports `slip`"]


def test_a_hold_before_and_after_the_first_write(tmp_path: Path) -> None:
    class Early(Shop):
        def look(self, order: str) -> dict[str, object]:
            return {"order": "O7", "price": 12.5}

    class Late(Shop):
        def mail(self, order: str) -> None:
            raise OSError("gone")

        def outbox(self, order: str) -> dict[str, object]:
            raise OSError("gone")

    folders = [tmp_path / "early", tmp_path / "late"]
    for folder, tools in zip(folders, (Early, Late), strict=True):
        folder.mkdir()
        assert go(folder, tools(folder / "world")).kind == "held"
    found = audit([Trial(f.name, journal=f / "journal") for f in folders])
    assert [(j.trial, j.good) for j in found.early] == [("early", True), ("late", False)]
    assert found.outcomes == {"held": 2} and sum(found.held.values()) == 2
    assert all(code.startswith("CFRC-RUN") for code in found.held)
    ((row, lapse),) = found.lapses()
    assert row == "interventions" and "after a live write" in lapse.why


# -- bindings and obligations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "good"),
    [
        (("order O1, please",), True), (("order O11, please",), False), (("hello", "order O1"), False),
        (("hello",), False), (("O1", "no, wait"), True),
    ],
)  # fmt: skip
def test_a_binding_is_what_somebody_said_in_that_turn(said: tuple[str, ...], good: bool) -> None:
    found = audit([Trial("one", CONTRACT, transcripts=(words(*said),))])
    assert [j.good for j in found.grounded] == [good]


def test_turns_are_counted_through_several_transcripts() -> None:
    text = TEXT.replace("from user turn 1", "from user turn 2")
    contract, _ = case(text)
    assert not lapses(audit([Trial("one", contract, transcripts=(words("hello"), words("O1")))]))
    assert lapses(audit([Trial("one", contract, transcripts=(words("O1"), words("hello")))])) == [("bindings", "order")]


def test_a_binding_from_a_receipt_is_what_it_returned() -> None:
    contract, _ = case(TEXT.replace("from user turn 1", "from receipt c1.order of look"))
    call = {"type": "receipt", "id": "c1", "tool": "look", "arguments": {"order": "O1"}, "status": "success"}
    for order, good in (("O1", True), ("O2", False)):
        told = read_transcript([call | {"result": {"order": order, "price": 1}}], "receipts")
        found = audit([Trial("one", contract, transcripts=(told,))])
        assert [j.good for j in found.grounded] == [good]


def test_an_accepted_value_need_not_be_said() -> None:
    event = {"type": "accepted", "name": "order", "value": "O1", "turn": 1}
    hello = {"type": "message", "role": "user", "text": "hello"}
    for value, good in (("O1", True), ("O2", False)):
        told = read_transcript([hello, event | {"value": value}], "receipts")
        found = audit([Trial("one", CONTRACT, transcripts=(told,))])
        assert [j.good for j in found.grounded] == [good]


def test_what_freeze_writes_is_grounded() -> None:
    task = cfrc.load(INVOICE / "task.cfrc").contracts["task"]
    record = read_transcript(INVOICE / "record.jsonl")
    frozen = cfrc.freeze(task, cfrc.ledger_of(task.domain, record)[0])
    found = audit([Trial("one", frozen.contract, reference=frozen.contract, transcripts=(record,))])
    assert not lapses(found) and rate(found.grounded) == Rate(1, 1) and rate(found.recovered) == Rate(2, 2)


def less(*names: str, contract: Contract = CONTRACT) -> Contract:
    return replace(contract, obligations=tuple(o for o in contract.obligations if o.name not in names))


def test_a_missed_obligation_is_named() -> None:
    found = audit([Trial("one", less("mail"), reference=CONTRACT)])
    assert lapses(found) == [("obligations", "mail")] and rate(found.recovered) == Rate(3, 4)


def test_what_was_done_is_not_missed_and_names_do_not_matter() -> None:
    kept = replace(less("mail"), kept=(KeptEffect("mailed", ("O1",), None),))
    assert not lapses(audit([Trial("one", kept, reference=CONTRACT)]))
    other = replace(kept, kept=(KeptEffect("mailed", ("O2",), None),))
    assert lapses(audit([Trial("one", other, reference=CONTRACT)])) == [("obligations", "mail")]
    renamed, _ = case(
        TEXT.replace("owes tag:", "owes label_it:").replace("claims charge, mail, tag", "claims charge, mail, label_it")
    )
    assert not lapses(audit([Trial("one", renamed, reference=CONTRACT)]))


def test_existentials_are_compared_by_what_they_are() -> None:
    one, other, done = (
        case(TEXT.replace("owes tag: tagged(order)", f"owes tag: tagged({name}) exists {name}: Order"))[0]
        for name in ("x", "whichever", "x")
    )
    assert not lapses(audit([Trial("one", one, reference=other)]))
    done = replace(less("tag", contract=done), kept=(KeptEffect("tagged", ("O5",), None),))
    assert lapses(audit([Trial("one", done, reference=other)])) == [("obligations", "tag")]  # which one was meant?


def test_an_obligation_may_refer_to_another_one_of_any_name() -> None:
    text = TEXT.partition("contract")[0].replace(
        "shipped(order: Order) once", "shipped(order: Order) once\n    effect filed(label: Label)"
    )
    text += 'contract rest for shop\n    fixed order: Order = "O1" from user turn 1\n    owes NAME: shipped(WHAT)\n    owes file: filed(NAME.label)\n'
    one, same, other = (
        case_of(text.replace("NAME", a).replace("WHAT", b)) for a, b in (("a", "order"), ("b", "order"), ("a", '"O2"'))
    )
    assert not lapses(audit([Trial("one", one, reference=same)]))
    assert [s for _, s in lapses(audit([Trial("one", one, reference=other)]))] == ["a", "file"]


def case_of(text: str) -> Contract:
    (contract,) = cfrc.load(Source("shop.cfrc", text)).contracts.values()
    return contract


def test_nothing_is_counted_for_two_obligations() -> None:
    """Any label, twice: one that is owed is only one of them, whatever the two are called."""
    some = "    owes {0}: tagged(x{0}) exists x{0}: Order\n"
    text = TEXT.partition("proposal")[0]
    once, twice = (
        case_of(text.replace("    owes tag: tagged(order)\n", "".join(map(some.format, names))))
        for names in (["tag"], ["tag", "tag2"])
    )
    assert not lapses(audit([Trial("one", twice, reference=twice)]))
    assert lapses(audit([Trial("one", once, reference=twice)])) == [("obligations", "tag2")]


def test_something_done_is_shared_out_so_that_it_goes_furthest() -> None:
    text = TEXT.partition("proposal")[0]
    reference = case_of(
        text.replace("    owes tag: tagged(order)\n", "    owes any: tagged(_)\n    owes tag: tagged(order)\n")
    )
    kept = [KeptEffect("tagged", (o,), None) for o in ("O1", "O7")]
    for done, missing in ((kept, []), (kept[::-1], []), (kept[:1], ["tag"])):
        contract = replace(less("any", "tag", contract=reference), kept=tuple(done))
        assert [s for _, s in lapses(audit([Trial("one", contract, reference=reference)]))] == missing


def test_a_run_counts_once(tmp_path: Path) -> None:
    go(tmp_path)
    copied = tmp_path / "copy"
    copied.write_bytes((tmp_path / "journal").read_bytes())
    (tmp_path / "link").symlink_to(tmp_path / "journal")
    places = [tmp_path / n for n in ("journal", "copy", "link")]
    found = audit(Trial(p.name, journal=p) for p in places)
    assert found.trials == 1 and len(found.supported) == len(audit([Trial("a", journal=places[0])]).supported)


def test_an_obligation_for_something_else_is_another_one() -> None:
    other, _ = case(TEXT.replace('= "O1" from', '= "O2" from'))
    assert len(lapses(audit([Trial("one", other, reference=CONTRACT)]))) == 4


# -- proposals that did not run ---------------------------------------------------------------------------------------


def test_refusals_are_counted_by_kind() -> None:
    worse = [
        case(TEXT.replace("slip: c.slip", 'slip: "slip-9"')),
        case(TEXT.replace("    t = tag(order: order) after m\n", "").replace("after t, k", "after k")),
    ]
    trials = [Trial(str(n), contract, proposal) for n, (contract, proposal) in enumerate(worse)]
    found = audit([*trials, Trial("good", CONTRACT, PROPOSAL)])
    assert found.verdicts == {"refused": 2, "admitted": 1} and not lapses(found)
    assert found.kinds["grounding"] == 1 and found.kinds["coverage"] == 1
    assert rate(found.repeated) == Rate(2, 2) == rate(found.early)


def test_a_refusal_that_comes_out_otherwise_is_a_lapse(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = iter(("COV001", "GRD001"))

    def fickle(*_: object, **__: object) -> Verdict:
        return Verdict(Status.REFUSED, "rest", "plan", (Finding(next(codes), "coverage", "so it is"),))

    monkeypatch.setattr(audits, "_admit", fickle)
    assert lapses(audit([Trial("one", CONTRACT, PROPOSAL)])) == [("refusals", "refused")]


def test_tokens_are_added_up_by_stage() -> None:
    usage = {"construct": {"input_tokens": 3}, "residual": {"output_tokens": 4}}
    found = audit([Trial("a", CONTRACT, usage=usage), Trial("b", CONTRACT, usage=usage)])
    assert found.tokens == {"construct": {"input_tokens": 6}, "residual": {"output_tokens": 8}}


def test_every_row_can_lapse() -> None:
    """No row is for show: each has a planted fault above."""
    found = Audit()
    for row in found.rows().values():
        row.append(Judgement("x", "y", False, "z"))
    assert len(list(found.lapses())) == len(found.rows()) == 8
