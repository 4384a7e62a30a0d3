"""Turns a JSON form into the declarations that its text form would give, with places in the JSON document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal, cast

from cfrc.lang import scalars
from cfrc.lang import tree as t
from cfrc.lang.diagnostics import Diagnostic
from cfrc.lang.jsonforms.parts import Parts
from cfrc.lang.jsonforms.validate import validate
from cfrc.lang.jsonnodes import DomainImport
from cfrc.lang.jsonread import Json, JsonProblem, read_json
from cfrc.source import Source, Span

FormKind = Literal["contract", "proposal", "ledger"]
Members = dict[str, Json]


def read_form(source: Source, wanted: FormKind | None = None) -> tuple[tuple[t.Declaration, ...], list[Diagnostic]]:
    """The declarations of a JSON document (an import of the domain among them), and what is wrong with its shape.

    ``wanted`` says which form is expected; otherwise the members tell. With errors there are no declarations.
    """
    try:
        j = read_json(source)
    except JsonProblem as problem:
        return (), [Diagnostic(problem.code, problem.message, problem.span, problem.help)]
    if not isinstance(j.value, dict):
        return (), [
            Diagnostic("JSN012", "expected an object", j.span, "the forms are those that `cfrc schema` describes")
        ]
    found = form_of(j.value)
    form = wanted or found
    if form is None or (wanted is not None and found not in (None, wanted)):
        what = f"expected the JSON form of a {wanted}" if wanted else "not a contract, a proposal or a ledger"
        help = "a contract has `contract` and `domain`, a proposal `nodes`, a ledger `ledger` and `entries`"
        return (), [Diagnostic("JSN017", what, j.span, help)]
    diagnostics = validate(j, form)
    if diagnostics:
        return (), diagnostics
    reader = _Reader(Parts(source))
    declarations = reader.read(form, j)
    return (() if reader.parts.diagnostics else declarations), reader.parts.diagnostics


def form_of(members: Members) -> FormKind | None:
    """Which form an object is, by its members."""
    if "nodes" in members:
        return "proposal"
    if "ledger" in members or "entries" in members:
        return "ledger"
    return "contract" if "contract" in members or "domain" in members else None


def _members(j: Json | None) -> Members:
    return cast("Members", j.value) if j is not None and j.value is not None else {}


def _items(j: Json | None) -> list[Json]:
    return cast("list[Json]", j.value) if j is not None and j.value is not None else []


def _given(members: Members, key: str) -> Json | None:
    """A member that is there and not null."""
    j = members.get(key)
    return j if j is not None and j.value is not None else None


class _Reader:
    """Builds declarations of a document whose shape was validated."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def read(self, form: FormKind, j: Json) -> tuple[t.Declaration, ...]:
        m, span = _members(j), self.parts.span(j)
        if form == "proposal":
            return (self.proposal(m, span),)
        imported, domain = self.domain(m["domain"])
        if form == "ledger":
            entries = tuple(self.entry(e) for e in _items(m.get("entries")))
            return imported, t.LedgerDecl(self.parts.name(m["ledger"]), domain, entries, span=span)
        return imported, t.ContractDecl(self.parts.name(m["contract"]), domain, tuple(self.contract(m)), span=span)

    def domain(self, j: Json) -> tuple[t.Import, t.Name]:
        """The import of the domain's file, and the domain's name."""
        p = self.parts
        if isinstance(j.value, dict):
            name = p.name(j.value["name"])
            path = _given(j.value, "import")
            if path is not None:
                return t.Import(p.text(path), span=p.span(path)), name
            return DomainImport(p.text(j.value["name"]), span=p.span(j)), name
        text = p.text(j)
        if text.value.endswith(".cfrc"):
            stem = PurePosixPath(text.value).stem
            return t.Import(text, span=p.span(j)), t.Name(stem, span=p.inside(j))
        return DomainImport(text, span=p.span(j)), p.name(j)

    # --- contracts --------------------------------------------------------------------------------------------------

    def contract(self, m: Members) -> list[t.ContractItem]:
        p = self.parts
        items: list[t.ContractItem] = []
        if (request := _given(m, "request")) is not None:
            items.append(t.RequestItem(p.text(request), span=p.span(request)))
        if (policy := _given(m, "policy")) is not None:
            items.append(t.PolicyItem(p.text(policy), span=p.span(policy)))
        if (as_of := _given(m, "as_of")) is not None:
            items.append(t.AsOfItem(self.moment(as_of), span=p.span(as_of)))
        if (head := _given(m, "head")) is not None:
            items.append(t.HeadItem(p.text(head), span=p.span(head)))
        items += [self.name(x) for x in _items(m.get("names"))]
        items += [self.kept(x) for x in _items(m.get("kept"))]
        items += [self.fact(x) for x in _items(m.get("facts"))]
        items += [self.doubt(x) for x in _items(m.get("doubts"))]
        items += [self.owes(x) for x in _items(m.get("owes"))]
        allow = m.get("allow")
        if allow is not None and allow.value:
            items.append(t.AllowItem(p.names(allow), span=p.span(allow)))
        within = _given(m, "within")
        if within is not None:
            items += [self.within(x) for x in _items(within)] or [t.WithinItem(span=p.span(within))]
        items += [self.limit(x) for x in _items(m.get("limits"))]
        items += [self.approval(x) for x in _items(m.get("approvals"))]
        items += [self.trust(x) for x in _items(m.get("trusts"))]
        return items

    def moment(self, j: Json) -> t.DateLit | t.TimeLit:
        text = str(j.value)
        if scalars.parse_date(text) is not None:
            return t.DateLit(text, span=self.parts.span(j))
        if scalars.parse_time(text) is None:
            help = 'write "2026-12-01", or with a time and its offset "2026-12-01T09:00:00Z"'
            self.parts.complain("JSN018", "not a date or an instant", self.parts.span(j), help)
        return t.TimeLit(text, span=self.parts.span(j))

    def origin(self, j: Json | None) -> t.OriginNode | None:
        if j is None or j.value is None:
            return None
        p, m = self.parts, _members(j)
        turn, receipt, tool, status = (_given(m, k) for k in ("turn", "receipt", "tool", "status"))
        quoted = [p.number(x) for x in _items(_given(m, "quoted"))]
        path = m.get("path")
        return t.OriginNode(
            kind=cast("Literal['user', 'receipt', 'policy']", m["kind"].value),
            turn=p.number(turn) if turn is not None else None,
            receipt=p.name(receipt) if receipt is not None else None,
            path=p.names(path) if path is not None else (),
            call=self._of(tool, _given(m, "args")) if tool is not None else None,
            quoted=(quoted[0], quoted[1]) if quoted else None,
            status=p.name(status) if status is not None else None,
            span=p.span(j),
        )

    def _of(self, tool: Json, args: Json | None) -> t.Pattern:
        return (
            self.call(tool, args) if args is not None else t.Pattern(self.parts.name(tool), span=self.parts.span(tool))
        )

    def call(self, name: Json, args: Json | None) -> t.Pattern:
        """A name with plain arguments by parameter name."""
        p, owner = self.parts, args
        found = tuple(
            t.Arg(p.plain(v), t.Name(k, span=(owner and owner.key_span(k)) or p.span(v)), span=p.span(v))
            for k, v in _members(args).items()
        )
        return t.Pattern(p.name(name), found, span=p.span(name))

    def name(self, j: Json) -> t.NameItem:
        p, m = self.parts, _members(j)
        fixed = "fixed" in m and m["fixed"].value is True
        return t.NameItem(
            kind="fixed" if fixed else "known",
            name=p.name(m["name"]),
            type=p.type(m["type"]),
            value=p.plain(m["value"]),
            targets=tuple(p.target(x) for x in _items(m.get("for"))),
            origin=self.origin(m.get("from")),
            span=p.span(j),
        )

    def kept(self, j: Json) -> t.FactItem:
        m = _members(j)
        subject = self.call(m["effect"], m.get("args"))
        return t.FactItem("kept", subject, None, self.origin(m.get("from")), span=self.parts.span(j))

    def fact(self, j: Json) -> t.FactItem:
        m = _members(j)
        kept = "kept" in m and m["kept"].value is True
        subject, value = self.call(m["fluent"], m.get("args")), self.parts.plain(m["value"])
        origin = self.origin(m.get("from"))
        return t.FactItem("kept" if kept else "holds", subject, value, origin, span=self.parts.span(j))

    def doubt(self, j: Json) -> t.DoubtItem:
        m = _members(j)
        by = _given(m, "by")
        call = self.call(_members(by)["tool"], _members(by).get("args")) if by is not None else None
        said = self.call(m["effect"], m.get("args"))
        unknown = tuple(
            t.Arg(t.Wildcard(span=self.parts.span(n)), self.parts.name(n), span=self.parts.span(n))
            for n in _items(m.get("any"))
        )
        return t.DoubtItem(
            replace(said, args=(*(said.args or ()), *unknown)),
            call,
            self.origin(m.get("from")),
            span=self.parts.span(j),
        )

    def owes(self, j: Json) -> t.OwesItem:
        p, m = self.parts, _members(j)
        name, count = _given(m, "name"), _given(m, "count")
        before = m.get("before")
        choice = m["choice"].value if "choice" in m else "all"
        goals = tuple(p.expression(g) for g in _items(m["goals"]))
        if choice == "all" and len(goals) != 1:
            p.complain(
                "JSN012",
                "`goals` has several elements but no `choice`",
                p.span(m["goals"]),
                'add "choice": "one" or "any"',
            )
        return t.OwesItem(
            name=p.name(name) if name is not None else None,
            goals=goals,
            choice=cast("Literal['all', 'one', 'any']", choice),
            count=p.number(count) if count is not None and count.value != 1 else None,
            exists=p.typed_names(m.get("exists")),
            where=p.optional_expression(m.get("where")),
            condition=p.optional_expression(m.get("if")),
            before=p.names(before) if before is not None else (),
            shared="shared" in m and m["shared"].value is True,
            origin=self.origin(m.get("from")),
            span=p.span(j),
        )

    def within(self, j: Json) -> t.WithinItem:
        p, m = self.parts, _members(j)
        if "tool" in m:
            return t.WithinItem(tools=(p.name(m["tool"]),), span=p.span(j))
        where = p.optional_expression(m.get("where"))
        return t.WithinItem((p.pattern(m["pattern"]),), (), p.typed_names(m.get("exists")), where, span=p.span(j))

    def limit(self, j: Json) -> t.LimitItem:
        p, m = self.parts, _members(j)
        amount = p.optional_expression(m.get("sum"))
        kind: Literal["sum", "count"] = "count" if amount is None else "sum"
        return t.LimitItem(kind, amount, p.pattern(m["of"]), p.plain(m["at_most"]), span=p.span(j))

    def approval(self, j: Json) -> t.ApprovalItem:
        p, m = self.parts, _members(j)
        policy, expires = _given(m, "policy"), _given(m, "expires")
        return t.ApprovalItem(
            kind="denied" if "denied" in m and m["denied"].value is True else "approved",
            call=self.call(m["tool"], m.get("args")),
            policy=p.text(policy) if policy is not None else None,
            expires=self.moment(expires) if expires is not None else None,
            origin=self.origin(m.get("from")),
            span=p.span(j),
        )

    def trust(self, j: Json) -> t.TrustItem:
        m = _members(j)
        return t.TrustItem(self.call(m["tool"], m.get("args")), self.parts.target(m["for"]), span=self.parts.span(j))

    # --- proposals --------------------------------------------------------------------------------------------------

    def proposal(self, m: Members, span: Span) -> t.ProposalDecl:
        p = self.parts
        name, contract, answers = (_given(m, k) for k in ("name", "contract", "answers"))
        steps = tuple(self.step(n) for n in _items(m["nodes"]))
        return t.ProposalDecl(
            name=p.name(name) if name is not None else t.Name("proposal", span=span),
            contract=p.name(contract) if contract is not None else t.Name("", span=span),
            answers=p.text(answers) if answers is not None else None,
            steps=steps,
            span=span,
        )

    def step(self, j: Json) -> t.CallStep | t.TerminalStep:
        p, m = self.parts, _members(j)
        after = _given(m, "after")
        when = p.optional_expression(m.get("when"))
        order = p.names(after) if after is not None else None
        if "call" not in m:
            return self.terminal(j, m, when, order)
        args = m.get("args")
        found = tuple(
            t.Arg(p.argument(v), t.Name(k, span=(args and args.key_span(k)) or p.span(v)), span=p.span(v))
            for k, v in _members(args).items()
        )
        polls, covers = _given(m, "polls"), _given(m, "covers")
        until = p.optional_expression(m.get("until"))
        if polls is not None and until is None:
            p.complain("JSN019", "`polls` without `until`", p.span(polls), "say what the polls wait for")
        if until is not None and polls is None:
            p.complain("JSN010", "member `polls` is missing", p.span(j), "`until` needs a bound on the number of polls")
        return t.CallStep(
            id=p.name(m["id"]),
            tool=p.name(m["call"]),
            args=found,
            when=when,
            after=order or None,
            until=until,
            polls=p.number(polls) if polls is not None else None,
            expect=p.optional_expression(m.get("expect")),
            covers=p.names(covers) if covers is not None else None,
            span=p.span(j),
        )

    def terminal(
        self, j: Json, m: Members, when: t.ExprNode | None, after: tuple[t.Name, ...] | None
    ) -> t.TerminalStep:
        p = self.parts
        kind: Literal["done", "yield"] = "done" if "done" in m else "yield"
        body, id_ = _members(m[kind]), _given(m, "id")
        claims, reason = _given(body, "claims"), _given(body, "reason")
        return t.TerminalStep(
            kind=kind,
            id=p.name(id_) if id_ is not None else None,
            claims=p.names(claims) if claims is not None else None,
            reason=p.text(reason) if reason is not None else None,
            when=when,
            after=after,
            span=p.span(j),
        )

    # --- ledgers ----------------------------------------------------------------------------------------------------

    def entry(self, j: Json) -> t.ReceiptItem | t.ChoiceItem | t.ApprovalItem:
        p, m = self.parts, _members(j)
        if "approval" in m:
            return self.approval(m["approval"])
        if "accepted" in m:
            c = _members(m["accepted"])
            turn, span = _given(c, "turn"), p.span(m["accepted"])
            origin = t.OriginNode("user", p.number(turn), span=span) if turn is not None else None
            return t.ChoiceItem(p.name(c["name"]), p.type(c["type"]), p.plain(c["value"]), origin, span=span)
        r = _members(m["receipt"])
        attempt, actor, at = (_given(r, k) for k in ("attempt", "actor", "at"))
        moment = self.moment(at) if at is not None else None
        if at is not None and isinstance(moment, t.DateLit):
            p.complain("JSN018", "a receipt needs an instant, not a date", p.span(at))
        return t.ReceiptItem(
            id=p.name(r["id"]),
            call=self.call(r["tool"], r.get("args")),
            status=p.name(r["status"]),
            result=p.plain(r["result"]) if "result" in r else None,
            attempt=p.number(attempt) if attempt is not None else None,
            actor=p.name(actor) if actor is not None else None,
            at=moment if isinstance(moment, t.TimeLit) else None,
            span=p.span(m["receipt"]),
        )
