"""Hypothesis strategies for syntax trees of every declaration kind, straight from the classes of the tree.

Names are drawn from a pool with many keywords in it. Where a keyword would have to be a name in a place in which both
fit (an expression that begins with ``not``, a nameless ``owes any``…), the pool of plain names is used.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cfrc.lang import tree as t
from cfrc.source import Source, Span

SPAN = Span(Source("generated", ""), 0, 0)

PLAIN = ["a", "b", "status", "x1", "_y", "Invoice", "open", "count", "map", "turn", "user", "e5", "s"]
WORDS = [
    *PLAIN,
    "from",
    "when",
    "after",
    "if",
    "for",
    "of",
    "in",
    "check",
    "domain",
    "contract",
    "policy",
    "one",
    "done",
]


def make(kind: type[t.Node], *parts: Any, **named: Any) -> st.SearchStrategy[Any]:
    return st.builds(kind, *parts, **named, span=st.just(SPAN))


def few(s: st.SearchStrategy[Any], least: int = 0, most: int = 2) -> st.SearchStrategy[Any]:
    return st.lists(s, min_size=least, max_size=most).map(tuple)


def maybe(s: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | s


plain = make(t.Name, st.sampled_from(PLAIN))
name = make(t.Name, st.sampled_from(WORDS))
texts = st.text(st.characters(codec="utf-8"), max_size=6)
text = make(t.Text, texts)
number = make(t.Number, st.integers(0, 999))
receipt_id = plain | make(t.Name, st.sampled_from(["c-1", "1", "a b", ""]))
date = make(t.DateLit, st.dates().map(str))
time = make(t.TimeLit, st.sampled_from(["2026-12-01T10:00Z", "2026-12-01T10:00:00.25+01:00", "2026-12-01T23:59:59Z"]))
instant = date | time

literal = (
    make(t.StringLit, texts)
    | make(t.IntLit, st.integers(0, 10**30).map(str))
    | make(t.DecimalLit, st.sampled_from(["0.10", "98.70", "1e5", "2.5E-3", "007.0"]))
    | make(t.BoolLit, st.booleans())
    | make(t.AbsentLit)
    | date
    | time
    | make(t.DurationLit, st.sampled_from(["5s", "1h30m", "2w3d", "0.5s"]))
)
ref = make(t.Ref, st.sampled_from(PLAIN))
OPS = ["implies", "or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "+", "-", "*"]


def _inner(e: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    argument = make(t.Arg, e | make(t.Wildcard), maybe(name))
    generator = make(t.GeneratorNode, name, e)
    plain_kind = make(t.Name, st.sampled_from(["all", "any", "sum", "count", "only", "list", "bag", "if"]))
    not_bare_braces = few(argument, 0, 3)
    return (
        make(t.Member, e, name)
        | make(t.Subscript, e, e)
        | make(t.Unary, st.sampled_from(["not", "-"]), e)
        | make(t.Binary, st.sampled_from(OPS), e, e, op_span=st.just(SPAN))
        | make(t.Call, plain.filter(lambda n: n.text != "map") | plain_kind, not_bare_braces)
        | make(t.ComprehensionNode, plain_kind, e, few(generator, 1), maybe(e))
        | make(t.ComprehensionNode, make(t.Name, st.just("map")), e, few(generator, 1), maybe(e), e)
        | make(t.ListLit, few(e))
        | make(t.RecordLit, few(make(t.FieldInit, name, e)))
        | make(t.MapLit, few(make(t.MapEntry, e, e)))
    )


expr = st.recursive(literal | ref, _inner, max_leaves=8)
arg = make(t.Arg, expr | make(t.Wildcard), maybe(name))
pattern = make(t.Pattern, plain, maybe(few(arg)))
call = make(t.Pattern, plain, few(arg))
types = st.recursive(
    make(t.NamedType, st.sampled_from([*PLAIN, "bool"])),
    lambda ty: (
        make(t.OptionalType, ty)
        | make(t.AppliedType, name, few(ty, 1))
        | make(t.RecordType, few(make(t.FieldType, name, ty, maybe(name))))
    ),
    max_leaves=4,
)
record_type = make(t.RecordType, few(make(t.FieldType, name, types, maybe(name))))
typed_name = make(t.TypedName, name, types)
generator = make(t.GeneratorNode, name, expr)

source = (
    make(t.SourceNode, st.just("user"), quoted=st.booleans())
    | make(t.SourceNode, st.just("receipt"), path=few(name), quoted=st.booleans())
    | make(t.SourceNode, st.just("tool"), plain.filter(lambda n: n.text != "user"), few(name), st.booleans())
)
param = make(t.ParamDecl, name, types, maybe(few(source, 1, 3)), st.booleans(), st.booleans(), maybe(expr))
clause = (
    make(t.ConditionClause, st.sampled_from(["requires", "ensures"]), expr)
    | make(t.ConditionClause, st.just("approved"), maybe(expr))
    | make(t.FluentClauseNode, st.sampled_from(["sets", "observes"]), pattern, expr, maybe(expr), few(generator))
    | make(
        t.EffectClauseNode,
        st.sampled_from(["causes", "undoes", "witnesses", "refutes", "failure may cause"]),
        pattern,
        maybe(expr),
        few(generator),
    )
    | make(t.FlagClause, st.sampled_from(["causes nothing", "idempotent"]))
)
domain_item = (
    make(t.IdDecl, few(name, 1), few(plain))
    | make(t.EnumDecl, name, few(make(t.EnumMember, name, maybe(text)), 1))
    | make(t.RecordDecl, name, record_type)
    | make(t.FluentDecl, name, few(typed_name), types, st.booleans())
    | make(t.EffectDecl, name, few(typed_name), st.booleans(), maybe(few(name, 1)))
    | make(
        t.ToolDecl,
        st.sampled_from(["read", "write"]),
        name,
        few(param),
        maybe(name),
        maybe(types),
        st.booleans(),
        few(clause, 0, 4),
    )
    | make(t.RuleDecl, name, pattern, pattern)
)
domain = make(t.DomainDecl, name, few(domain_item, 0, 4))

STATUS = ["success", "failure", "pending", "partial", "unknown"]
status = make(t.Name, st.sampled_from(STATUS))
origin = (
    make(t.OriginNode, st.just("user"), maybe(number))
    | make(t.OriginNode, st.just("policy"))
    | make(
        t.OriginNode,
        st.just("receipt"),
        st.none(),
        receipt_id,
        few(name),
        maybe(pattern),
        maybe(st.tuples(number, number)),
        maybe(status),
    )
)
target = make(t.Target, plain, name)
approval = make(
    t.ApprovalItem, st.sampled_from(["approved", "denied"]), call, maybe(text), maybe(instant), maybe(origin)
)
header = make(t.RequestItem, text) | make(t.AsOfItem, instant) | make(t.HeadItem, text)
owes_rest = {
    "exists": few(typed_name),
    "where": maybe(expr),
    "condition": maybe(expr),
    "before": few(name),
    "shared": st.booleans(),
    "origin": maybe(origin),
}
contract_item = (
    make(t.NameItem, st.sampled_from(["fixed", "known"]), name, types, expr, few(target), maybe(origin))
    | make(t.FactItem, st.just("kept"), pattern, maybe(expr), maybe(origin))
    | make(t.FactItem, st.just("holds"), pattern, expr, maybe(origin))
    | make(t.DoubtItem, pattern, maybe(call), maybe(origin))
    | make(t.OwesItem, maybe(name), st.tuples(expr), st.just("all"), maybe(number), **owes_rest)
    | make(t.OwesItem, maybe(name), few(expr, 1, 3), st.sampled_from(["one", "any"]), st.none(), **owes_rest)
    | make(t.AllowItem, few(name, 1))
    | make(t.WithinItem, few(pattern, 1), st.just(()), few(typed_name), maybe(expr))
    | make(t.WithinItem, st.just(()), few(name, 1))
    | make(t.LimitItem, st.just("sum"), expr, pattern, expr)
    | make(t.LimitItem, st.just("count"), st.none(), pattern, expr)
    | approval
    | make(t.TrustItem, call, target)
)
opening = st.lists(header | make(t.PolicyItem, text), max_size=3)
later = st.lists(header | contract_item, max_size=3)
contract_items = st.one_of(
    opening.map(tuple),
    st.tuples(opening, contract_item, later).map(lambda p: (*p[0], p[1], *p[2])),
)
contract = make(t.ContractDecl, name, name, contract_items)

# a step is told from the clause before it by its `=`, so any word will do
after = maybe(few(name, 1))
step = (
    make(t.CallStep, name, name, few(arg), maybe(expr), after, st.none(), st.none(), maybe(expr), after)
    | make(t.CallStep, name, name, few(arg), maybe(expr), after, expr, number, maybe(expr), after)
    | make(t.TerminalStep, st.just("done"), maybe(name), after, st.none(), maybe(expr), after)
    | make(t.TerminalStep, st.just("yield"), maybe(name), st.none(), maybe(text), maybe(expr), after)
)
proposal = make(t.ProposalDecl, name, name, maybe(text), few(step, 0, 4))

entry = (
    make(t.ReceiptItem, receipt_id, call, status, maybe(expr), maybe(number), maybe(name), maybe(time))
    | make(t.ChoiceItem, name, types, expr, maybe(origin))
    | approval
)
ledger = make(t.LedgerDecl, name, name, few(entry, 0, 3))

expected = make(t.ExpectedNode, plain, maybe(receipt_id))


def verdicts(words: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    accepted = st.fixed_dictionaries({"verdict": make(t.Name, st.sampled_from(words))})
    rejects = make(t.Name, st.just("rejects"))
    some = st.fixed_dictionaries({"verdict": rejects, "only": st.booleans(), "expected": few(expected, 1)})
    return accepted | some | st.fixed_dictionaries({"verdict": rejects})


def checked(target: str, words: list[str], **parts: Any) -> st.SearchStrategy[t.CheckDecl]:
    def build(subject: t.Name, verdict: dict[str, Any], rest: dict[str, Any]) -> t.CheckDecl:
        return t.CheckDecl(target, subject, **verdict, **rest, span=SPAN)  # type: ignore[arg-type]

    return st.builds(build, plain, verdicts(words), st.fixed_dictionaries(parts))


check = (
    checked("proposal", ["admits", "undecided", "withheld", "complete", "fresh"], without=few(name))
    | checked("contract", ["supported", "withheld", "complete", "fresh", "accepts"], against=maybe(name))
    | checked("claim", ["accepts"], claims=few(plain, 1), against=name)
)
declaration = make(t.Import, text) | domain | contract | proposal | ledger | check
file = make(t.File, few(declaration, 1, 3))
