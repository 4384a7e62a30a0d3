"""Verdicts as text: golden files for each shape, and the properties that hold for every rendering."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cfrc.model.graph import Call, Proposal, Terminal
from cfrc.model.verdict import Counterexample, Difference, Finding, Status, Step, Verdict
from cfrc.report.escape import columns
from cfrc.report.naming import Naming
from cfrc.report.terminal import render_verdict
from cfrc.source import Source, Span
from tests.report.samples import missing_argument, naming, repeated_payment, verdicts

GOLDEN = Path(__file__).parent / "golden"
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("name", verdicts())
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.txt", render_verdict(verdicts()[name], naming(), width=100))


@pytest.mark.parametrize("width", [40, 60, 200])
def test_golden_widths(width: int, golden: Callable[[Path, str], None]) -> None:
    text = render_verdict(verdicts()["refused"], naming(), width=width)
    golden(GOLDEN / f"refused-{width}.txt", text)
    assert all(columns(line) <= width for line in text.splitlines())


def test_without_the_contract_and_the_proposal_everything_is_still_said() -> None:
    text = render_verdict(verdicts()["refused"], width=100)
    assert "the plan" not in text
    assert 'in a world where `status("INV-42")` is `"void"`' in text


@pytest.mark.parametrize("name", verdicts())
def test_colours_change_no_word(name: str) -> None:
    plain = render_verdict(verdicts()[name], naming(), width=100)
    colored = render_verdict(verdicts()[name], naming(), width=100, color=True)
    assert "\x1b[" in colored
    assert [line.rstrip() for line in SGR.sub("", colored).splitlines()] == plain.splitlines()


def test_quiet_prints_the_verdict_only() -> None:
    text = render_verdict(verdicts()["refused"], naming(), quiet=True)
    assert text == "refused: again for send_receipt (preservation, dependency, coverage, typing)\n"


def test_filtered_findings_are_counted_and_the_verdict_stays() -> None:
    text = render_verdict(verdicts()["refused"], naming(), shown=())
    assert text == (
        "5 findings not shown (--select, --ignore)\n"
        "refused: again for send_receipt (preservation, dependency, coverage, typing)\n"
    )


HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 [bold]x[/bold] \u202egnp.exe \u200b\u2066 \r\nfake: admitted \ud800 \x9b2J"
)


def hostile_verdict(text: str) -> Verdict:
    source = Source(text, f"first line\n{text} and more\nlast line")
    span = Span(source, 11, 11 + len(text))
    run = Counterexample(
        order=(Step(text, text, "ok", ((text, text),), text), Step(text, text, "failed", ((text, text),), None)),
        step=text,
        world=((text, text),),
        branch=((text, True),),
        difference=(Difference(text, text, text),),
        failing=text,
        failing_span=span,
    )
    finding = Finding("COV001", "coverage", text, text, span, text, text, "error", ((text, span),), text, run)
    return Verdict(Status.REFUSED, text, text, (finding,), (text,), (text,))


def hostile_naming(text: str) -> Naming:
    nodes = (Call(text, text, {}, after=(text + "2",)), Call(text + "2", text, {}), Terminal("end", "done", (text,)))
    return Naming(None, Proposal(text, text, nodes))


@pytest.mark.parametrize("color", [False, True])
def test_hostile_strings_are_printed_but_never_obeyed(color: bool) -> None:
    text = render_verdict(hostile_verdict(HOSTILE), hostile_naming(HOSTILE), color=color, width=200)
    for line in SGR.sub("", text).splitlines():
        assert line.isprintable(), repr(line)
    plain = re.sub(r"\s+", " ", SGR.sub("", text))
    assert "[bold]x[/bold]" in plain and "\\u{202e}" in plain and "\\u{1b}[31mred" in plain
    assert not any(line.startswith("fake") for line in text.splitlines())


def test_hostile_strings_add_no_colours() -> None:
    plain_name = render_verdict(hostile_verdict("x"), hostile_naming("x"), color=True, width=200)
    codes = set(SGR.findall(plain_name))
    hostile = render_verdict(hostile_verdict(HOSTILE), hostile_naming(HOSTILE), color=True, width=200)
    assert set(SGR.findall(hostile)) <= codes


def test_huge_values_are_cut_with_a_note_of_their_length() -> None:
    text = render_verdict(hostile_verdict("v" * 1_000_000), hostile_naming("n" * 1_000_000), width=100)
    assert len(text) < 20_000
    assert "(1,000,000 characters)" in text
    assert all(columns(line) <= 100 for line in text.splitlines())


def test_wide_characters_keep_the_carets_in_place() -> None:
    source = Source("a.cfrc", 'x = "注文注文" bad\n')
    start = source.text.index("bad")
    text = render_verdict(
        Verdict(Status.REFUSED, "c", "p", (replace(missing_argument(), where=Span(source, start, start + 3)),))
    )
    code, marks = text.splitlines()[2:4]
    assert columns(code[: code.index("bad")]) == columns(marks[: marks.index("^")])
    assert marks.count("^") == 3


def test_an_imitated_character_is_named() -> None:
    finding = replace(missing_argument(), message="`ІNV-42` differs from `INV-42`", help=None, where=None)
    text = render_verdict(Verdict(Status.REFUSED, "c", "p", (finding,)))
    assert "`І` is U+0406 CYRILLIC CAPITAL LETTER BYELORUSSIAN-UKRAINIAN I" in text


def test_ordinary_foreign_words_are_not_suspected() -> None:
    finding = replace(missing_argument(), message="`Łódź` and `Сообщение` and `注文` and `naïve-1`", help=None)
    assert "note:" not in render_verdict(Verdict(Status.REFUSED, "c", "p", (finding,)))


def test_a_large_plan_is_drawn_around_the_offending_step() -> None:
    nodes: list[Call | Terminal] = [Call("n0", "t", {})]
    nodes += [Call(f"n{i}", "t", {}, after=(f"n{i - 1}",)) for i in range(1, 2_000)]
    plan = Proposal("again", "send_receipt", (*nodes, Terminal("end", "done")))
    finding = replace(repeated_payment(), node="n1000", counterexample=None)
    text = render_verdict(Verdict(Status.REFUSED, "c", "p", (finding,)), Naming(None, plan))
    assert "▶ n1000" in text and "← n999" in text and "n1001" in text and "more steps" in text
    assert len(text.splitlines()) < 30


def test_a_long_line_is_cut_around_the_place() -> None:
    source = Source("a.cfrc", "x " * 5_000 + "HERE" + " y" * 5_000)
    span = Span(source, 10_000, 10_004)
    finding = replace(missing_argument(), where=span)
    lines = render_verdict(Verdict(Status.REFUSED, "c", "p", (finding,)), width=80).splitlines()
    assert "HERE" in lines[2] and columns(lines[2]) <= 80
    assert lines[2].index("HERE") == lines[3].index("^^^^")


def test_a_place_of_many_lines_is_marked_at_its_side(golden: Callable[[Path, str], None]) -> None:
    source = Source("a.cfrc", "".join(f"line {i}\n" for i in range(1, 30)))
    finding = replace(missing_argument(), where=Span(source, source.text.index("line 5"), source.text.index("line 20")))
    golden(GOLDEN / "many-lines.txt", render_verdict(Verdict(Status.REFUSED, "c", "p", (finding,))))


def test_a_run_is_told_again_unless_it_was_the_last_one() -> None:
    def finding(*nodes: str) -> Finding:
        run = Counterexample(tuple(Step(n, "t", "ok") for n in nodes), nodes[-1], failing="x")
        return Finding("COV001", "coverage", "m", counterexample=run)

    def stories(*findings: Finding) -> list[bool]:
        text = render_verdict(Verdict(Status.REFUSED, "c", "p", findings))
        labels = [line for line in text.splitlines() if "what can happen" in line]
        return [label.endswith("in the run above") for label in labels]

    a, b = finding("a"), finding("a", "b")
    assert stories(a, a, b, b, a) == [False, True, False, True, False]
