"""The parser: the syntax of ``docs/language.md``, contextual keywords, spans, and what the tree says."""

from __future__ import annotations

import re

import pytest

from cfrc.lang import tree as t
from cfrc.lang.parse import parse_expression, parse_file
from cfrc.source import Source
from tests.lang.texts import DESIGN, EVERYTHING, SURFACES


def parse(text: str) -> t.File:
    file, diagnostics = parse_file(Source("spec.cfrc", text))
    assert not diagnostics, [str(d) for d in diagnostics]
    return file


def expression(text: str) -> t.ExprNode:
    value, diagnostics = parse_expression(Source("e", text))
    assert not diagnostics and value is not None, [str(d) for d in diagnostics]
    return value


def items(text: str) -> tuple[t.Node, ...]:
    declaration = parse(text).declarations[0]
    return declaration.steps if isinstance(declaration, t.ProposalDecl) else declaration.items  # type: ignore[attr-defined]


def show(e: t.Node) -> str:
    """Fully bracketed, so that precedence can be read off."""
    match e:
        case t.Binary(op, left, right):
            return f"({show(left)} {op} {show(right)})"
        case t.Unary(op, operand):
            return f"({op} {show(operand)})"
        case t.Ref(name):
            return name
        case t.IntLit(text):
            return text
        case t.Member(base, name):
            return f"{show(base)}.{name}"
        case t.Subscript(base, key):
            return f"{show(base)}[{show(key)}]"
        case t.Call(func, args):
            return f"{func}({', '.join(show(a.value) for a in args)})"
    raise AssertionError(e)


def test_the_example_of_the_design_parses() -> None:
    file = parse(DESIGN)
    kinds = [type(d).__name__ for d in file.declarations]
    assert kinds == ["DomainDecl", "ContractDecl", "ProposalDecl", "CheckDecl", "CheckDecl"]
    domain, contract, proposal, admits, rejects = file.declarations
    assert isinstance(domain, t.DomainDecl) and len(domain.items) == 15
    assert isinstance(contract, t.ContractDecl) and len(contract.items) == 10
    assert isinstance(proposal, t.ProposalDecl) and len(proposal.steps) == 3
    assert isinstance(admits, t.CheckDecl) and admits.verdict.text == "admits"
    assert isinstance(rejects, t.CheckDecl)
    assert [str(n) for n in rejects.without] == ["d"]
    assert [(str(x.kind), x.subject and str(x.subject)) for x in rejects.expected] == [
        ("coverage", "confirmation"),
        ("evidence", None),
    ]


def test_the_one_line_features_of_the_design_parse() -> None:
    contract = parse(SURFACES).declarations[0]
    assert isinstance(contract, t.ContractDecl)
    assert [type(i).__name__ for i in contract.items] == [
        *["OwesItem"] * 5, "DoubtItem", *["ApprovalItem"] * 2, *["LimitItem"] * 2, "TrustItem", "NameItem",
    ]  # fmt: skip
    nameless = contract.items[4]
    assert isinstance(nameless, t.OwesItem) and nameless.name is None
    assert nameless.count is not None and nameless.count.value == 2
    assert [str(n) for n in nameless.before] == ["refund", "note"]


def test_everything_parses_and_every_span_lies_in_its_parent() -> None:
    source = Source("spec.cfrc", EVERYTHING)
    file, diagnostics = parse_file(source)
    assert not diagnostics

    def inside(node: t.Node) -> None:
        assert 0 <= node.span.start <= node.span.end <= len(source.text)
        assert node.span.source is source
        for child in t.children(node):
            assert node.span.start <= child.span.start and child.span.end <= node.span.end, (node, child)
            inside(child)

    inside(file)


def test_names_carry_the_place_they_are_written_at() -> None:
    for node in t.walk(parse(EVERYTHING)):
        match node:
            case t.Name(text):
                assert node.span.text.strip('"') == text
            case t.Ref(name) | t.NamedType(name):
                assert node.span.text == name
            case t.IntLit(text) | t.DecimalLit(text) | t.DateLit(text) | t.TimeLit(text) | t.DurationLit(text):
                assert node.span.text == text
            case t.Binary(op=op):
                assert node.op_span.text.split() == op.split()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a implies b implies c", "(a implies (b implies c))"),
        ("a or b and not c == d", "(a or (b and (not (c == d))))"),
        ("not a and b", "((not a) and b)"),
        ("a - b - c + d", "(((a - b) - c) + d)"),
        ("-a * -b + c", "(((- a) * (- b)) + c)"),
        ("a + b * c <= d", "((a + (b * c)) <= d)"),
        ("x not in xs or y in ys", "((x not in xs) or (y in ys))"),
        ("(a or b) and c", "((a or b) and c)"),
        ("f(x)[1].b", "f(x)[1].b"),
        ("not not a", "(not (not a))"),
        ("- - 1", "(- (- 1))"),
        ("a.from.to.not", "a.from.to.not"),
        ("if(a, b, c)", "if(a, b, c)"),
        ("count == when", "(count == when)"),
    ],
)
def test_precedence_and_names_in_expressions(text: str, shown: str) -> None:
    assert show(expression(text)) == shown


def test_literals_keep_their_text_and_strings_lose_their_escapes() -> None:
    assert expression("120.00") == t.DecimalLit("120.00", span=SPAN)
    assert expression("007") == t.IntLit("007", span=SPAN)
    assert expression("2.5e-3") == t.DecimalLit("2.5e-3", span=SPAN)
    assert expression(r'"a\"\\\/\b\f\n\r\té😀"') == t.StringLit('a"\\/\b\f\n\r\té😀', span=SPAN)
    assert expression("2026-12-01") == t.DateLit("2026-12-01", span=SPAN)
    assert expression("2026-12-01T10:00:00Z") == t.TimeLit("2026-12-01T10:00:00Z", span=SPAN)
    assert expression("1h30m") == t.DurationLit("1h30m", span=SPAN)
    assert expression("absent") == t.AbsentLit(span=SPAN)
    assert [expression(w) for w in ("true", "false")] == [t.BoolLit(True, span=SPAN), t.BoolLit(False, span=SPAN)]


def test_map_literals_and_records_are_told_apart_by_their_call() -> None:
    record, mapping, empty = expression("{ a: 1 }"), expression("map({ a: 1 })"), expression("map({})")
    assert isinstance(record, t.RecordLit) and isinstance(mapping, t.MapLit) and isinstance(empty, t.MapLit)
    assert isinstance(mapping.entries[0].key, t.Ref)
    assert mapping.span.text == "map({ a: 1 })"


def test_comprehensions() -> None:
    e = expression("map(k: v for k in ks for v in vs[k] if v > 1 and k != v)")
    assert isinstance(e, t.ComprehensionNode)
    assert e.kind.text == "map" and isinstance(e.key, t.Ref) and [g.var.text for g in e.generators] == ["k", "v"]
    assert e.cond is not None and show(e.cond) == "((v > 1) and (k != v))"


def test_keywords_may_be_names_of_fields_parameters_enum_members_steps_and_obligations() -> None:
    domain = items(
        "domain d enum E { from, if, done, domain } fluent limit(from: E, contract: E): { id: int, state: E, not: int }"
    )
    enum, fluent = domain
    assert isinstance(enum, t.EnumDecl) and [m.name.text for m in enum.members] == ["from", "if", "done", "domain"]
    assert isinstance(fluent, t.FluentDecl) and [p.name.text for p in fluent.params] == ["from", "contract"]
    steps = items(
        "proposal p for c when = t(after: 1) until = done(x: when.yield) done claims check, after after until"
    )
    assert [s.id.text for s in steps if isinstance(s, t.CallStep)] == ["when", "until"]
    done = steps[2]
    assert isinstance(done, t.TerminalStep) and done.claims is not None and done.after is not None
    assert [c.text for c in done.claims] == ["check", "after"]
    owed = items(
        "contract c for d owes before: a() owes one: b() owes any: any of { a(), b() } owes any(x for x in xs)"
    )
    assert [o.name and o.name.text for o in owed if isinstance(o, t.OwesItem)] == ["before", "one", "any", None]


def test_a_declaration_ends_where_the_next_begins_on_any_line() -> None:
    file = parse(
        'import "a" domain d id X contract c for d allow x proposal p for c done check p admits check p undecided'
    )
    assert [type(d).__name__ for d in file.declarations] == [
        "Import", "DomainDecl", "ContractDecl", "ProposalDecl", "CheckDecl", "CheckDecl",
    ]  # fmt: skip


def test_layout_has_no_meaning() -> None:
    squeezed = " ".join(line.split("#")[0] for line in DESIGN.splitlines())
    assert parse(squeezed) == parse(DESIGN)
    one_word_a_line = re.sub(r'"[^"]*"|\s+', lambda m: m.group() if m.group()[0] == '"' else "\n", squeezed)
    assert parse(one_word_a_line) == parse(DESIGN)
    assert parse(DESIGN.replace("\n", "\r\n")) == parse(DESIGN)


def test_clauses_come_in_any_order() -> None:
    one = items("proposal p for c x = t() when a after b until c within 2 polls expect d covers e")
    two = items("proposal p for c x = t() covers e expect d until c within 2 polls after b when a")
    assert one == two
    one = items("contract c for d owes n: g() exists x: T where a if b before o shared from user")
    two = items("contract c for d owes n: g() from user shared before o if b where a exists x: T")
    assert one == two


def test_policy_in_force_and_policy_of_an_approval() -> None:
    policy, approved = items('contract c for d policy "v1" approved f(a: 1) policy "v2"')
    assert isinstance(policy, t.PolicyItem) and policy.version.value == "v1"
    assert isinstance(approved, t.ApprovalItem) and approved.policy is not None and approved.policy.value == "v2"


def test_within_tool_and_within_a_pattern_called_tool() -> None:
    tools, pattern = items("contract c for d within tool a, b within tool(x)")
    assert isinstance(tools, t.WithinItem) and [n.text for n in tools.tools] == ["a", "b"]
    assert isinstance(pattern, t.WithinItem) and pattern.patterns[0].name.text == "tool"


def test_a_part_of_a_source_can_be_parsed_with_its_own_places() -> None:
    source = Source("x.json", '{"until": "d.state == delivered"}')
    value, diagnostics = parse_expression(source, 11, 31)
    assert not diagnostics and isinstance(value, t.Binary)
    assert value.span.text == "d.state == delivered"
    value, diagnostics = parse_expression(source, 11, 22)
    assert value is None and diagnostics[0].span is not None and diagnostics[0].span.start == 22


SPAN = expression("x").span
