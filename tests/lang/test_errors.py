"""What the parser says about wrong texts: all errors at once, one each, in a reader's words, at the right place."""

from __future__ import annotations

import re

import pytest

from cfrc.codes import explanations
from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.lexer import MAX_COMPLAINTS
from cfrc.lang.parse import parse_expression, parse_file
from cfrc.source import Source
from tests.lang.texts import DESIGN


def errors(text: str) -> list[Diagnostic]:
    return parse_file(Source("x", text))[1]


def told(text: str) -> list[str]:
    return [f"{d.span and d.span.line} {d.code} {d.message} | {d.help}" for d in errors(text)]


def test_many_errors_at_once_without_cascades() -> None:
    text = """\
domain d
    fluentt status(x: A): B
    id A,
    effect paid(a: A
    read f(x: A) -> { y: A }
        ensurs x == y
        requires x = y
        causes paid(x) whn y
    write g(x A)
        sets f(x) == 3
contract c for d
    fixed invoice Invoice = "a"
    fixed b: T = from user
    kept paid("x") form receipt c1
    owes x: one { a, b }
    fixed y: T =
    kept paid(a)
    policy "v2"
    limit sum(a) of b(a) < 3
    fooo bar
    within a b
contrct c2 for d
    owes x: a()
proposal p for c
    x = t(a: 1
    y = u(b: 2) unti c within 3 polls
    z == u()
    w = u() until c
    done claim a
    v = u() when a when b
check p admit
check p rejects cov erage
check contract c admits
"""
    assert told(text) == [
        "2 SYN001 unexpected `fluentt` | did you mean `fluent`?",
        "4 SYN001 unexpected `effect`, expected a name | None",
        "5 SYN001 unexpected `read`, expected `)`, `,`, `?` or `[` | None",
        "6 SYN001 unexpected `ensurs` | did you mean `ensures`?",
        "7 SYN001 unexpected `=` | compare with `==`; a single `=` sets",
        "8 SYN001 unexpected `whn` | did you mean `when`?",
        "9 SYN001 unexpected `A`, expected `:` | None",
        "12 SYN001 unexpected `Invoice`, expected `:` | None",
        "13 SYN001 unexpected `user`, expected an operator, `for`, `from`, the next item or the end of the declaration | None",
        "14 SYN001 unexpected `form` | did you mean `from`?",
        "15 SYN001 unexpected `{` | write `one of { … }`",
        "17 SYN001 unexpected `kept`, expected a value | None",
        "18 SYN001 unexpected `policy` | the policy in force is written before all other items of the contract",
        "19 SYN001 unexpected `<`, expected `<=` | None",
        "20 SYN001 unexpected `fooo` | here may stand `allow`, `approved`, `as`, `denied`, `doubt`, `fixed`, `head`, `holds`, `kept`, `known`, `limit`, `owes` and more",
        "21 SYN001 unexpected `b` | here may stand `(`, `,`, `exists`, `where`, the next item or the end of the declaration",
        "22 SYN002 expected a declaration, found `contrct` | did you mean `contract`?",
        "26 SYN001 unexpected `y`, expected an operator, `)`, `,` or `for` | None",
        "26 SYN001 unexpected `unti` | did you mean `until`?",
        "27 SYN001 unexpected `==` | write a single `=` here",
        "29 SYN001 unexpected `done`, expected an operator or `within` | None",
        "29 SYN001 unexpected `claim` | did you mean `claims`?",
        "30 SYN010 `when` is given twice | keep one of them",
        "31 SYN001 unexpected `admit` | did you mean `admits`?",
        "32 SYN001 unexpected `erage`, expected `(`, `,` or the end of the declaration | None",
        "33 SYN001 unexpected `admits` | here may stand `accepts`, `against`, `complete`, `fresh`, `rejects`, `supported` or `withheld`",
    ]


def test_a_bracket_that_is_not_closed_is_pointed_out() -> None:
    (found,) = errors("domain d\n    effect paid(a: A\n    id X\n")
    ((words, place),) = found.notes
    assert words == "this `(` is not closed" and (place.line, place.column) == (2, 16)


def test_names_of_the_grammar_never_show() -> None:
    words = DESIGN.split()
    for i in range(0, len(words), 3):
        for text in (" ".join(words[:i] + words[i + 1 :]), " ".join([*words[:i], ")", *words[i:]])):
            for d in errors(text):
                assert not re.search(
                    r"\b(__\w+|ANON|NAME|STRING|LPAR|[A-Z]{4,}_\w+)\b|\$END", f"{d.message} {d.help}"
                ), d


def test_what_could_be_read_is_in_the_tree() -> None:
    file, found = parse_file(Source("x", "domain d\n    id A\n    idd B\n    id C\ncontract\ncheck p admits\n"))
    assert [d.code for d in found] == ["SYN001", "SYN001"]
    assert [type(d).__name__ for d in file.declarations] == ["DomainDecl", "CheckDecl"]
    assert len(file.declarations[0].items) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "told_is"),
    [
        ("a < b < c", "unexpected `<` | comparisons do not chain: write `a < b and b < c`"),
        ("a = b", "unexpected `=` | compare with `==`; a single `=` sets"),
        ("(a", "the text ends too early, expected an operator or `)` | None"),
        ("", "the text ends too early, expected a value | None"),
        ("1.", "the text ends too early, expected a name"),
        ("1. + 2", "unexpected `+`, expected a name"),
        ("a b", "unexpected `b`"),
        ("_ + 1", "unexpected `_` | `_` may only stand as an argument"),
        ("[_]", "unexpected `_` | `_` may only stand as an argument"),
        ("a && b", "unexpected character `&` | write `and`"),
        ("f(x for x in xs, y)", "`for` does not belong in this argument list"),
        ('{ "a": 1 }', "a record's field must be a plain name"),
        ("f(a.b: 1)", "an argument's name must be a plain name"),
        ("5x", "`5x` is neither a number nor a name"),
        ("2026-02-30", "`2026-02-30` is not a valid date"),
        ("2026-12-01T25:00:00Z", "`2026-12-01T25:00:00Z` is not a valid time"),
        ("3m5h", "`3m5h` is not a valid duration"),
        ("1" * 101, "number has more than 100 digits"),
        ("1e101", "exponent is beyond ±100"),
        ("1e99999999999", "exponent is beyond ±100"),
        (r'"\x"', r"`\x` is not an escape"),
        (r'"\ud800"', r"`\ud800` is not an escape"),
        ('"a', "string is not closed"),
        ('"a\tb"', "tab is not allowed in a string"),
        ("“a”", "unexpected quote `“` (U+201C LEFT DOUBLE QUOTATION MARK)"),
        ("pаy", "name `pаy` contains `а` (U+0430 CYRILLIC SMALL LETTER A)"),
        ("a\u00a0b", "unexpected character `\\u{a0}` (U+00A0 NO-BREAK SPACE)"),
        ('"\u202e"', "character U+202E is not allowed in a source file"),
        ("a # \x1b[31m", "character U+001B is not allowed in a source file"),
        ("a\rb", "lone carriage return is not allowed in a source file"),
    ],
)
def test_messages_about_expressions(text: str, told_is: str) -> None:
    value, found = parse_expression(Source("x", text))
    assert value is None
    assert f"{found[0].message} | {found[0].help}".startswith(told_is), found[0]


def test_one_slip_is_one_complaint() -> None:
    for text in ("f(“a”)", '"a', "5x + 1", "pаy(b)", "a && b", '["\\x", 1]', "3m5h == x"):
        assert len({(d.code, d.message) for d in parse_expression(Source("x", text))[1]} - {()}) <= 2, text
    for text in ('"a', "5x + 1", "pаy(b)", '["\\x", 1]', "3m5h == x"):
        assert len(parse_expression(Source("x", text))[1]) == 1, text


def test_too_many_errors_stop_the_run() -> None:
    assert len(errors("domain d\n" + "    id ,\n" * 10_000)) == MAX_COMPLAINTS
    assert len(errors("$ " * 10_000)) <= MAX_COMPLAINTS + 1
    assert len(errors("domain d\n" + "\x00" * 10_000)) <= MAX_COMPLAINTS + 1


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "[" * 201 + "]" * 201,
        "not " * 10_000 + "a",
        "- " * 10_000 + "1",
        "a implies " * 10_000 + "a",
        "a + " * 10_000 + "a",
        "a" + ".b" * 10_000,
        "a" + "[0]" * 10_000,
        "{a: " * 10_000,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    value, found = parse_expression(Source("x", text))
    assert value is None and [d.code for d in found][:1] == ["SYN011"]


def test_deep_types_and_what_is_just_not_too_deep() -> None:
    assert [d.code for d in errors(f"domain d fluent f: T{'?' * 300} id A")] == ["SYN011"]
    assert not errors(f"domain d fluent f: {'list[' * 100}T{']' * 100}")
    assert not parse_expression(Source("x", "(" * 150 + "a" + ")" * 150))[1]
    assert not parse_expression(Source("x", " and ".join(["a"] * 190)))[1]


def test_a_long_list_is_not_deep() -> None:
    value, found = parse_expression(Source("x", "[" + ", ".join(["1"] * 20_000) + "]"))
    assert not found and value is not None


SECTIONS = [e for e in explanations().values() if e.code.startswith("CFRC-SYN")]
BLOCK = re.compile(r"^```(text|cfrc)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda e: e.code)
def test_the_examples_of_the_explanations_are_true(section: object) -> None:
    for language, text in BLOCK.findall(section.text):  # type: ignore[attr-defined]
        codes = {f"CFRC-{d.code}" for d in errors(text)}
        assert (section.code in codes) if language == "text" else not codes, (text, codes)  # type: ignore[attr-defined]


def test_a_missing_colon_is_said() -> None:
    text = "domain d\n    id A\n    effect did(a: A)\ncontract c for d\n    owes p did(b)\n"
    found = [d for d in parse_file(Source("s", text))[1] if d.code == "SYN001"]
    assert [d.help for d in found] == ["a colon follows the name: write `p: did…`"]
