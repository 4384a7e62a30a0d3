"""Every resolution error has its code, its place and its help; many come at once, and none causes another."""

from __future__ import annotations

import re

import pytest

from cfrc.codes import explanations
from cfrc.data import data_dir
from cfrc.lang.diagnostics import Diagnostic, SpecError
from cfrc.lang.load import load, load_contract, load_proposal
from cfrc.source import Source

NAMES = (data_dir("explanations") / "names.md").read_text("utf-8")
SHOP = re.findall(r"^```cfrc\n(.*?)^```$", NAMES, re.MULTILINE | re.DOTALL)[0]
EXAMPLES = [
    (e.code.removeprefix("CFRC-"), text)
    for e in explanations().values()
    if e.area == "names"
    for text in re.findall(r"^```text\n(.*?)^```$", e.text, re.MULTILINE | re.DOTALL)
]
CONTRACT = """
contract c for shop
    known order: Order = "O-1" from user
    known mail_to: Mail = "a@b.example" from user
    fixed price: decimal = 5 from user
"""


def errors(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        load(Source("<test>", SHOP + text))
    return caught.value.diagnostics


def only(text: str) -> Diagnostic:
    found = errors(text)
    assert len(found) == 1, "\n".join(str(d) for d in found)
    return found[0]


def test_the_shop_is_right() -> None:
    assert load(Source("<test>", SHOP)).domains


@pytest.mark.parametrize(("code", "text"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_the_examples_of_the_explanations_have_exactly_their_code(code: str, text: str) -> None:
    found = errors(text)
    assert [d.code for d in found] == [code]
    assert found[0].span is not None and found[0].span.start >= len(SHOP)


def test_every_code_has_an_example() -> None:
    without = {e.code for e in explanations().values() if e.area == "names"} - {f"CFRC-{c}" for c, _ in EXAMPLES}
    assert without == {"CFRC-NAM012", "CFRC-IMP004"}


@pytest.mark.parametrize(
    ("item", "code", "place", "help"),
    [
        ('owes x: mailed(mail_too, order)', "NAM001", "mail_too", "`mail_to`"),
        ('owes x: status(order) == opne', "NAM001", "opne", "`open`"),
        ('owes x: paused == open', "NAM001", "open", "member of `Status`"),
        ('owes x: status(order) == "open"', "EXP001", '"open"', "without quotes"),
        ('owes x: status(order) == "canceled"', "EXP001", '"canceled"', "`cancelled`"),
        ('owes x: statsu(order) == open', "NAM005", "statsu", "`status`"),
        ('owes x: cancel(order)', "NAM005", "cancel", None),
        ('kept cancel(order)', "NAM005", "cancel", None),
        ('kept paused', "EXP018", "paused", "== value"),
        ('holds mailed(mail_to, order) == true', "NAM005", "mailed", None),
        ('owes x: lines(order).price == 5', "NAM006", "price", "element"),
        ('owes x: lines(order)[0].prcie == 5', "NAM006", "prcie", "`price`"),
        ('owes x: lines(order)[mail_to].price == 5', "EXP001", "mail_to", None),
        ('owes x: lines == 5', "EXP003", "lines", "lines(order)"),
        ('owes x: order + 1 == 2', "EXP002", "+", "never computed"),
        ('owes x: order < order', "EXP002", "<", "numbers"),
        ('owes x: lines(order)[0].gift + 1 == 2', "EXP002", "+", "absent"),
        ('owes x: price == mail_to', "EXP002", "==", "never be equal"),
        ('owes x: price in mail_to', "EXP002", "in", None),
        ('owes x: all(x for x in price)', "EXP002", "price", "ranges over"),
        ('owes x: sum(l.item for l in lines(order)) == 1', "EXP002", "l.item", None),
        ('owes x: all(l.price for l in lines(order))', "EXP001", "l.price", None),
        ('owes x: count(price) == 1', "EXP002", "count(price)", None),
        ('owes x: present(price)', "EXP002", "present(price)", "can be absent"),
        ('owes x: price == absent', "EXP001", "absent", "T?"),
        ('owes x: div(1, 2, 3) == 1', "EXP003", "div(1, 2, 3)", None),
        ('owes x: div(a: 1, b: 2) == 1', "EXP004", "a", None),
        ('owes x: if(paused, 1, order) == 1', "EXP001", "if(paused, 1, order)", "one type"),
        ('owes x: {a: 1, a: 2} == {a: 1}', "NAM002", "a", None),
        ('owes x: [1, order] == [1]', "EXP001", "order", None),
        ('owes x: min(order, order) == order', "EXP002", "min(order, order)", None),
        ('owes x: not price', "EXP001", "price", None),
        ('owes x: -order == order', "EXP002", "-order", None),
        ('owes x: price', "EXP001", "price", None),
        ('owes x: mailed(_, _) if price', "EXP001", "price", None),
        ('owes x: mailed(_, n) exists n: Order where price', "EXP001", "price", None),
        ('owes x: mailed(order, _) exists order: Mail', "NAM002", "order", None),
        ('owes order: mailed(_, _)', "NAM002", "order", None),
        ('owes x: mailed(_, _) before x', "EXP017", "x", None),
        ('owes x: mailed(_, to: _)', "EXP004", "to", None),
        ('owes x: mailed(_, _, _)', "EXP003", "_", "declared as"),
        ('owes x: mailed(tto: _, order: _)', "EXP004", "tto", "`to`"),
        ('allow cancle', "NAM004", "cancle", "`cancel`"),
        ('within cancel', "NAM005", "cancel", "within tool"),
        ('within tool cancelled', "NAM004", "cancelled", None),
        ('fixed y: Order = "O-2" for cancel.ordr', "NAM006", "ordr", "`order`"),
        ('fixed y: Order = "O-2" for cancell.order', "NAM004", "cancell", "`cancel`"),
        ('limit sum(a) of mailed(_, a) <= 5', "EXP002", "a", None),
        ('limit count of mailed(_, ordr) <= 5', "NAM001", "ordr", "`order`"),
        ('limit count of mailed(_, _) <= 5.5', "EXP001", "5.5", None),
        ('approved cancel(order)', "EXP004", "cancel(order)", None),
        ('approved cancel(order, _)', "EXP006", "_", None),
        ('approved cancel(order, 5)', "EXP001", "5", None),
        ('denied cancel(reeson: _)', "EXP004", "reeson", "`reason`"),
        ('trust get_order(order) for cancel.reesons', "NAM006", "reesons", None),
        ('trust get_ordr(order) for cancel.reason', "NAM004", "get_ordr", "`get_order`"),
        ('doubt cancelled(order) by cancel(order)', "EXP004", "cancel(order)", None),
        ('doubt cancelled(5)', "EXP001", "5", "opaque"),
        ('known z: list[Order] = [mail_to]', "EXP001", "mail_to", None),
        ('known z: map[Line, int] = map({})', "EXP002", "Line", "NONE"),
        ('known z: list[Order, Order] = []', "EXP003", "list[Order, Order]", None),
        ('known z: lst[Order] = []', "NAM003", "lst", "`list`"),
        ('known z: Line = { item: "i" }', "EXP001", '{ item: "i" }', None),
        ('known z: Line = { item: "i", price: 1, colour: 2 }', "NAM006", "colour", None),
        ('known z: Status = cancelld', "NAM001", "cancelld", "`cancelled`"),
        ('known open: Status = shipped', "NAM011", "open", None),
        ('known z: Order = "1" from receipt c0 of get_ordr', "NAM004", "get_ordr", "`get_order`"),
        ('known z: Order = "1" from receipt c0 of get_order(ordr: "1")', "EXP004", "ordr", "`order`"),
        ('known z: Order = "1" from receipt c0 of get_order(true)', "EXP001", "true", None),
    ],
)  # fmt: skip
def test_contract_items(item: str, code: str, place: str, help: str | None) -> None:
    found = errors(CONTRACT + item)
    assert code in {d.code for d in found}, found
    first = next(d for d in found if d.code == code)
    assert first.span is not None and first.span.text == place
    if help not in (None, "NONE"):
        assert first.help is not None and help in first.help


@pytest.mark.parametrize(
    ("item", "code", "place"),
    [
        ("id int", "NAM010", "int"),
        ("id A, A", "NAM002", "A"),
        ("id A canonical upcase", "NAM003", "upcase"),
        ("enum E { a, a }", "NAM002", "a"),
        ('enum E { a, b = "a" }', "NAM002", 'b = "a"'),
        ("effect only(x: int)", "NAM010", "only"),
        ("effect e(x: int) effect e(x: int)", "NAM002", "e"),
        ("effect e(x: int) fluent e: int", "NAM002", "e"),
        ("effect e(x: int, x: int)", "NAM002", "x"),
        ("effect e(x: int) key y", "NAM001", "y"),
        ("effect e(x: int) key x, x", "NAM002", "x"),
        ("effect e(x: text) key x", "EXP014", "x"),
        ("read t() read t()", "NAM002", "t"),
        ("read t(x: int, x: int)", "NAM002", "x"),
        ("read t(result: int)", "NAM010", "result"),
        ("read t(x: int = y)", "NAM001", "y"),
        ("read t(x: int from u.a)", "NAM004", "u"),
        ("read t(x: int from t.a) -> { b: int }", "NAM006", "a"),
        ("read t(x: int) -> { b: int echoes y }", "NAM001", "y"),
        ("read t(x: int) -> { b: bool echoes x }", "EXP001", "x"),
        ("read t() requires result.x == 1", "NAM013", "result"),
        ("read t() -> { x: int } ensures result.y == 1", "NAM006", "y"),
        ("write t() causes e()", "NAM005", "e"),
        ("effect e(x: int) write t() causes e()", "EXP004", "e"),
        ("effect e(x: int) write t() causes e(_)", "EXP006", "_"),
        ("effect e(x: int) write t() causes e(1) causes nothing", "EXP016", "causes nothing"),
        ("fluent f: int write t() sets f = true", "EXP001", "true"),
        ("fluent f: int write t() sets g = 1", "NAM005", "g"),
        ("fluent f: int write t() sets f = 1 when 2", "EXP001", "2"),
        ("write t() causes nothing approved approved", "EXP016", "approved"),
        ("effect e(x: int) rule r: e(x) owes e(y)", "NAM001", "y"),
        ("effect e(x: int) rule r: e(x) owes e(x) rule r: e(x) owes e(x)", "NAM002", "r"),
        ("effect e(x: int, y: int) rule r: e(x, x) owes e(x, 1)", "NAM002", "x"),
        ("record R { x: int, x: int }", "NAM002", "x"),
        ("record R { x: R }", "EXP011", "R"),
    ],
)
def test_domain_items(item: str, code: str, place: str) -> None:
    found = only("domain other " + item)
    assert found.code == code and found.span is not None and found.span.text == place


@pytest.mark.parametrize(
    ("item", "code", "place"),
    [
        ('receipt c1: cancl("O", "x") failure', "NAM004", "cancl"),
        ('receipt c1: cancel("O") unknown', "EXP004", 'cancel("O")'),
        ("receipt c1: cancel(5) failure", "EXP001", "5"),
        ('receipt c1: cancel("O", "x") -> { mail: 5 } success', "EXP001", "5"),
        ('receipt c1: cancel("O", "x") -> { mial: "m" } success', "NAM006", "mial"),
        ('receipt c1: cancel("O") failure attempt 0', "EXP017", "0"),
        ('receipt c1: cancel("O") failure receipt c1: cancel("P") failure', "NAM002", "c1"),
        ('accepted n: Order = "O" accepted n: Order = "P"', "NAM002", "n"),
        ('accepted n: Order = status("O")', "EXP001", 'status("O")'),
    ],
)
def test_ledger_items(item: str, code: str, place: str) -> None:
    found = errors("ledger L for shop " + item)
    first = next(d for d in found if d.code == code)
    assert first.span is not None and first.span.text == place


def test_one_handoff_may_be_logged_twice() -> None:
    line = ' receipt c1: cancel("O", "late") -> { mail: "m" } success'
    ledger = load(Source("<test>", SHOP + "ledger L for shop" + line + line)).ledgers["L"]
    assert len(ledger.entries) == 2


@pytest.mark.parametrize(
    ("check", "code", "place"),
    [
        ("check q admits", "NAM008", "q"),
        ("check contract d supported", "NAM008", "d"),
        ("check contract c against K accepts", "NAM008", "K"),
        ("check contract c accepts", "NAM009", "accepts"),
        ("check p without nowhere admits", "NAM008", "nowhere"),
        ("check p rejects coverage(nothing)", "NAM007", "nothing"),
        ("check p rejects covrage", "NAM009", "covrage"),
        ("check claim y of c against L accepts", "NAM007", "y"),
    ],
)
def test_checks(check: str, code: str, place: str) -> None:
    found = only("contract c for shop owes x: mailed(_, _) proposal p for c done ledger L for shop " + check)
    assert found.code == code and found.span is not None and found.span.text == place


def test_unknown_domain_and_contract() -> None:
    assert only("contract c for shpo").code == "NAM008"
    assert only("proposal p for c done").code == "NAM008"
    assert only("ledger L for shpo").code == "NAM008"


def test_many_errors_at_once_and_no_cascades() -> None:
    text = """
    contract c for shop
        known order: Ordre = "O-1" from user
        known list_of: list[Ordre] = [order] from user
        owes a: mailed(nobody, order)
        owes b: nobody.x == order
        owes c: lines(order)[0].prise + 1 == 2
        owes d: sum(nobody) == 1
    """
    found = errors(text)
    assert [d.code for d in found] == ["NAM003", "NAM003", "NAM001", "NAM013", "NAM006", "NAM001"]


def test_the_choice_must_be_clear() -> None:
    two = SHOP + "contract a for shop contract b for shop"
    with pytest.raises(SpecError, match="NAM012"):
        load_contract(Source("<test>", two))
    with pytest.raises(SpecError, match="NAM012"):
        load_contract(Source("<test>", SHOP))
    with pytest.raises(SpecError, match="NAM008"):
        load_contract(Source("<test>", two), "x")
    a = load_contract(Source("<test>", two), "a")
    proposals = "proposal p for a done proposal q for a done proposal r for b done"
    with pytest.raises(SpecError, match="NAM012"):
        load_proposal(Source("<p>", proposals), a)
    assert load_proposal(Source("<p>", proposals), a, "q").name == "q"
    assert load_proposal(Source("<p>", "proposal p for a done proposal r for b done"), a).name == "p"


def test_suggestions_are_rationed() -> None:
    text = "contract c for shop " + " ".join(f"allow x{i}" for i in range(3000))
    assert len(errors(text)) == 3000
