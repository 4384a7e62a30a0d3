"""Turns the productions of the shared grammar (names, types, expressions, patterns) into tree nodes.

One method an action name of ``grammars/cfrc.lark``; each gets the start and end offsets and the kept parts. Tokens
arrive as tuples, parts of the tree as nodes, clauses of free order as :class:`Clause`. Rooms with further declaration
kinds derive from :class:`SharedBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cfrc.lang import nodes as n
from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.lexer import Token
from cfrc.lang.tree import Pattern, Target, TypedName
from cfrc.source import Source, Span


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of free order, not yet in the field ``kind`` of its owner."""

    kind: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class Loop:
    """The inside of a comprehension, before its call is known."""

    key: n.ExprNode | None
    body: n.ExprNode
    generators: tuple[n.GeneratorNode, ...]
    cond: n.ExprNode | None
    span: Span


class SharedBuilder:
    """Builds nodes over one source; ``diagnostics`` collects what the grammar cannot say."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.loose: dict[int, n.MapLit] = {}

    def action(self, name: str) -> Callable[..., Any]:
        """The method for an action name. A missing one is a defect of the room, found when its tables are loaded."""
        return getattr(self, f"on_{name}")  # type: ignore[no-any-return]

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def complain(self, code: str, message: str, span: Span, help: str | None = None, *notes: tuple[str, Span]) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, help, notes=notes))

    def clauses(self, parts: Iterable[Clause], repeatable: str | None = None) -> dict[str, Any]:
        """Fields by clause name. One given twice is complained of; the first counts. ``repeatable`` gathers a tuple."""
        found: dict[str, Clause] = {}
        many: list[Any] = []
        for clause in parts:
            if clause.kind == repeatable:
                many.append(clause.value)
            elif clause.kind in found:
                first = found[clause.kind].span
                word = "from" if clause.kind == "origin" else clause.span.text.split()[0]
                note = ("first given here", first)
                self.complain("SYN010", f"`{word}` is given twice", clause.span, "keep one of them", note)
            else:
                found[clause.kind] = clause
        fields = {kind: clause.value for kind, clause in found.items()}
        if many and repeatable:
            fields[repeatable] = tuple(many)
        return fields

    # --- names and small parts --------------------------------------------------------------------------------------

    def on_name(self, s: int, e: int, token: Token) -> n.Name:
        return n.Name(token[1], span=Span(self.source, s, e))

    on_string_name = on_name

    def on_names(self, s: int, e: int, *names: n.Name) -> tuple[n.Name, ...]:
        return names

    on_dots = on_names

    def on_text(self, s: int, e: int, token: Token) -> n.Text:
        return n.Text(token[1], span=self.span(s, e))

    def on_number(self, s: int, e: int, token: Token) -> n.Number:
        return n.Number(int(token[1]), span=self.span(s, e))

    def on_typed_name(self, s: int, e: int, name: n.Name, type: n.TypeNode) -> TypedName:
        return TypedName(name, type, span=self.span(s, e))

    def on_typed_params(self, s: int, e: int, *params: TypedName) -> tuple[TypedName, ...]:
        return params

    def on_target(self, s: int, e: int, tool: n.Name, param: n.Name) -> Target:
        return Target(tool, param, span=self.span(s, e))

    def on_flag(self, s: int, e: int) -> bool:
        return True

    def on_pattern(self, s: int, e: int, name: n.Name, args: tuple[n.Arg | Loop, ...] | None) -> Pattern:
        return Pattern(name, None if args is None else self.plain(args), span=self.span(s, e))

    def on_when(self, s: int, e: int, condition: n.ExprNode) -> Clause:
        return Clause("when", condition, self.span(s, e))

    # --- types ------------------------------------------------------------------------------------------------------

    def on_named_type(self, s: int, e: int, name: n.Name) -> n.NamedType:
        return n.NamedType(name.text, span=name.span)

    def on_applied_type(self, s: int, e: int, head: n.Name, *args: n.TypeNode) -> n.AppliedType:
        return n.AppliedType(head, args, span=self.span(s, e))

    def on_optional_type(self, s: int, e: int, item: n.TypeNode) -> n.OptionalType:
        return n.OptionalType(item, span=self.span(s, e))

    def on_record_type(self, s: int, e: int, *fields: n.FieldType) -> n.RecordType:
        return n.RecordType(fields, span=self.span(s, e))

    def on_field_type(self, s: int, e: int, name: n.Name, type: n.TypeNode, echoes: n.Name | None) -> n.FieldType:
        return n.FieldType(name, type, echoes, span=self.span(s, e))

    # --- expressions ------------------------------------------------------------------------------------------------

    def on_binary(self, s: int, e: int, left: n.ExprNode, op: Any, right: n.ExprNode) -> n.Binary:
        text, start, end = op[1:]
        return n.Binary(text, left, right, span=Span(self.source, s, e), op_span=Span(self.source, start, end))

    def on_comparator(self, s: int, e: int, *words: Token) -> Token:
        return ("OP", " ".join(w[1] for w in words), s, e)

    def on_unary(self, s: int, e: int, op: Token, operand: n.ExprNode) -> n.Unary:
        return n.Unary(op[1], operand, span=self.span(s, e))

    def on_member(self, s: int, e: int, base: n.ExprNode, name: n.Name) -> n.Member:
        return n.Member(base, name, span=self.span(s, e))

    def on_subscript(self, s: int, e: int, base: n.ExprNode, key: n.ExprNode) -> n.Subscript:
        return n.Subscript(base, key, span=self.span(s, e))

    def on_ref(self, s: int, e: int, name: n.Name) -> n.Ref:
        return n.Ref(name.text, span=name.span)

    def on_paren(self, s: int, e: int, inner: n.ExprNode) -> n.ExprNode:
        return inner

    def on_string_lit(self, s: int, e: int, token: Token) -> n.StringLit:
        return n.StringLit(token[1], span=Span(self.source, s, e))

    def on_int_lit(self, s: int, e: int, token: Token) -> n.IntLit:
        return n.IntLit(token[1], span=self.span(s, e))

    def on_decimal_lit(self, s: int, e: int, token: Token) -> n.DecimalLit:
        return n.DecimalLit(token[1], span=self.span(s, e))

    def on_duration_lit(self, s: int, e: int, token: Token) -> n.DurationLit:
        return n.DurationLit(token[1], span=self.span(s, e))

    def on_date(self, s: int, e: int, token: Token) -> n.DateLit:
        return n.DateLit(token[1], span=self.span(s, e))

    def on_time(self, s: int, e: int, token: Token) -> n.TimeLit:
        return n.TimeLit(token[1], span=self.span(s, e))

    def on_true_lit(self, s: int, e: int) -> n.BoolLit:
        return n.BoolLit(True, span=self.span(s, e))

    def on_false_lit(self, s: int, e: int) -> n.BoolLit:
        return n.BoolLit(False, span=self.span(s, e))

    def on_absent_lit(self, s: int, e: int) -> n.AbsentLit:
        return n.AbsentLit(span=self.span(s, e))

    def on_wildcard(self, s: int, e: int) -> n.Wildcard:
        return n.Wildcard(span=self.span(s, e))

    def on_list_lit(self, s: int, e: int, *items: n.ExprNode) -> n.ListLit:
        return n.ListLit(items, span=self.span(s, e))

    def on_entry(self, s: int, e: int, key: n.ExprNode, value: n.ExprNode) -> n.MapEntry:
        return n.MapEntry(key, value, span=self.span(s, e))

    def on_braces(self, s: int, e: int, *entries: n.MapEntry) -> n.RecordLit | n.MapLit:
        """A record, if its keys are names; anything else only makes sense inside ``map(…)``, see :meth:`on_call`."""
        span = self.span(s, e)
        if all(isinstance(entry.key, n.Ref) for entry in entries):
            return n.RecordLit(tuple(_field(entry) for entry in entries), span=span)
        self.loose[s] = n.MapLit(entries, span=span)
        return self.loose[s]

    def on_positional(self, s: int, e: int, value: n.ExprNode) -> n.Arg:
        return n.Arg(value, span=self.span(s, e))

    def on_named(self, s: int, e: int, key: n.ExprNode, value: n.ExprNode) -> n.Arg:
        if isinstance(key, n.Ref):
            return n.Arg(value, n.Name(key.name, span=key.span), span=self.span(s, e))
        self.complain("SYN013", "an argument's name must be a plain name", key.span, "write `name: value`")
        return n.Arg(value, span=self.span(s, e))

    def on_comprehension(self, s: int, e: int, body: n.ExprNode, *rest: Any) -> Loop:
        return Loop(None, body, rest[:-1], rest[-1], self.span(s, e))

    def on_map_comprehension(self, s: int, e: int, key: n.ExprNode, body: n.ExprNode, *rest: Any) -> Loop:
        return Loop(key, body, rest[:-1], rest[-1], self.span(s, e))

    def on_generator(self, s: int, e: int, var: n.Name, source: n.ExprNode) -> n.GeneratorNode:
        return n.GeneratorNode(var, source, span=self.span(s, e))

    def on_args(self, s: int, e: int, *args: n.Arg | Loop) -> tuple[n.Arg | Loop, ...]:
        return args

    def on_call(self, s: int, e: int, func: n.Name, args: tuple[n.Arg | Loop, ...]) -> n.ExprNode:
        span = self.span(s, e)
        if len(args) == 1:
            only = args[0]
            if isinstance(only, Loop):
                return n.ComprehensionNode(func, only.body, only.generators, only.cond, only.key, span=span)
            if func.text == "map" and only.name is None:
                if isinstance(only.value, n.MapLit) and self.loose.pop(only.value.span.start, None) is not None:
                    return n.MapLit(only.value.entries, span=span)
                if isinstance(only.value, n.RecordLit):
                    return n.MapLit(tuple(_entry(f) for f in only.value.fields), span=span)
        return n.Call(func, self.plain(args), span=span)

    def plain(self, args: tuple[n.Arg | Loop, ...]) -> tuple[n.Arg, ...]:
        """Arguments where no ``for`` may stand."""
        for arg in args:
            if isinstance(arg, Loop):
                help = "a comprehension is the only argument of its call: `sum(x for x in xs)`"
                self.complain("SYN014", "`for` does not belong in this argument list", arg.span, help)
        return tuple(arg for arg in args if isinstance(arg, n.Arg))

    def done(self) -> None:
        """Complains of map entries that no ``map(…)`` took up. Called once, after the last declaration."""
        for literal in self.loose.values():
            key = next(entry.key for entry in literal.entries if not isinstance(entry.key, n.Ref))
            help = 'a map is written `map({ "key": value })`'
            self.complain("SYN013", "a record's field must be a plain name", key.span, help)
        self.loose.clear()


def _field(entry: n.MapEntry) -> n.FieldInit:
    assert isinstance(entry.key, n.Ref)
    return n.FieldInit(n.Name(entry.key.name, span=entry.key.span), entry.value, span=entry.span)


def _entry(field: n.FieldInit) -> n.MapEntry:
    return n.MapEntry(n.Ref(field.name.text, span=field.name.span), field.value, span=field.span)
