"""The formatter: the house layout, and that it keeps tokens, comments and meaning and settles at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfrc.data import data_dir
from cfrc.lang.format import format_file, format_source
from cfrc.lang.lexer import lex
from cfrc.lang.parse import parse_file
from cfrc.source import Source
from tests.lang import trees
from tests.lang.texts import DESIGN, EVERYTHING, SURFACES
from tests.lang.tree_text import show

LIBRARY = sorted(data_dir("specs").rglob("*.cfrc"))


def formatted(text: str) -> str:
    result, diagnostics = format_file(Source("x", text))
    assert not diagnostics, [str(d) for d in diagnostics]
    return result


def comments(text: str) -> list[str]:
    return [text[s:e].rstrip() for s, e in lex(Source("x", text)).comments]


def tokens(text: str) -> list[str]:
    found = [text[s:e] for _, _, s, e in lex(Source("x", text)).tokens]
    return [a for a, b in zip(found, [*found[1:], ""], strict=True) if not (a == "," and b in (")", "]", "}"))]


def keeps_everything(text: str) -> str:
    once = formatted(text)
    assert tokens(once) == tokens(text)
    assert comments(once) == comments(text)
    assert parse_file(Source("x", once))[0] == parse_file(Source("x", text))[0]
    assert formatted(once) == once
    assert all(line == line.rstrip() for line in once.split("\n"))
    assert "\n\n\n" not in once and not once.startswith("\n") and not once.endswith("\n\n")
    return once


@pytest.mark.parametrize("text", [DESIGN, SURFACES, EVERYTHING], ids=["design", "surfaces", "everything"])
def test_examples_keep_everything(text: str) -> None:
    keeps_everything(text)
    keeps_everything(text.replace("\n", "\r\n"))
    keeps_everything(" ".join(line.split("#")[0] for line in text.splitlines()))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: p.name)
def test_the_library_keeps_everything(path: object) -> None:
    keeps_everything(path.read_text("utf-8"))  # type: ignore[attr-defined]


def test_the_layout_is_that_of_the_design() -> None:
    squeezed = " ".join(line.split("#")[0] for line in DESIGN.splitlines())
    lines = formatted(squeezed).splitlines()
    assert lines[:4] == [
        "domain billing",
        "    id Invoice, Txn, File, SendId, Email",
        "    enum Delivery { queued, delivered, bounced }",
        '    enum InvoiceStatus { open, paid, void = "voided" }',
    ]
    at = lines.index(
        "    write pay_invoice(invoice: Invoice, amount: decimal from user | get_invoice.amount, confirm: bool = false)"
    )
    assert lines[at + 1 : at + 6] == [
        "        -> { txn: Txn, file: File }",
        "        requires amount > 0 and status(invoice) == open",
        "        causes   paid(invoice, amount) when confirm",
        "        sets     status(invoice) = paid when confirm",
        "        approved when confirm",
    ]
    at = lines.index("contract send_receipt for billing")
    assert lines[at + 2 : at + 4] == [
        '    fixed invoice: Invoice = "INV-42" from user turn 3',
        '    kept  paid("INV-42", 120.00) from receipt c7',
    ]


def test_blank_lines_are_kept_but_one_in_a_row() -> None:
    assert formatted("\n\ndomain d\n\n\n\n  id A\n  id B\n\n\ncheck p admits\n\n") == (
        "domain d\n\n    id A\n    id B\n\ncheck p admits\n"
    )


def test_comments_stay_where_they_belong() -> None:
    text = """\
# top

domain d                                                            # head
    # before the item
    id A,                                                           # after a comma
        # on its own inside
        B
    enum E {
        a,                                                          # first
        b                                                           # second
        # before the bracket
    }
    read f(x: A) -> { a: A }                                        # result
        # before a clause
        ensures x                                                   # one
            and y
        # after the clauses
    # after the items
# between
contract c for d
    owes  x: f(
        a,                                                          # c1
        b                                                           # c2
    )
    # last of c
# last
"""
    assert keeps_everything(text) == text


def test_long_items_are_broken_where_a_reader_would() -> None:
    wide = "a_rather_long_name_of_something"
    text = (
        f"contract c for d owes x: f({wide}, {wide}) exists n: T where g({wide}, {wide}) == 1 and h({wide}) from user"
    )
    assert formatted(text) == (
        "contract c for d\n"
        f"    owes  x: f({wide}, {wide})\n"
        "        exists n: T\n"
        f"        where g({wide}, {wide}) == 1\n"
        f"            and h({wide})\n"
        "        from user\n"
    )
    record = "domain d record R { " + ", ".join(f"{wide}{i}: string" for i in range(4)) + " }"
    assert formatted(record).splitlines()[1:4] == [
        "    record R {",
        f"        {wide}0: string,",
        f"        {wide}1: string,",
    ]


def test_text_with_errors_comes_back_untouched() -> None:
    bad = "domain   d\n   idd A\n"
    text, diagnostics = format_file(Source("x", bad))
    assert text == bad and diagnostics
    assert format_source(Source("x", bad)) == bad


def test_an_empty_file_and_one_of_comments() -> None:
    assert formatted("") == "" and formatted("\n\n") == ""
    assert formatted("   # only\n\n\n# this") == "# only\n\n# this\n"


@settings(max_examples=150)
@given(trees.file)
def test_any_tree_survives_text_parser_and_formatter(file: object) -> None:
    text = show(file)  # type: ignore[arg-type]
    parsed, diagnostics = parse_file(Source("x", text))
    assert not diagnostics, (text, [str(d) for d in diagnostics])
    assert parsed == file, text
    once = formatted(text)
    assert parse_file(Source("x", once))[0] == file
    assert formatted(once) == once


@settings(max_examples=100)
@given(st.data())
def test_comments_anywhere_survive(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([DESIGN, EVERYTHING, SURFACES]) | trees.file.map(show))
    ends = [end for _, _, _, end in lex(Source("x", text)).tokens]
    places = sorted(data.draw(st.sets(st.sampled_from(ends), max_size=4)), reverse=True)
    for n, place in enumerate(places):
        before = data.draw(st.sampled_from([" ", "\n", "\n\n   "]))
        text = f"{text[:place]}{before}# comment {n}\n{text[place:]}"
    keeps_everything(text)
