"""Turns any syntax tree into text (ugly, but right): what the parser must turn back into the same tree."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cfrc.lang import tree as t

_LEVEL = {"implies": 1, "or": 2, "and": 3} | dict.fromkeys(["==", "!=", "<", "<=", ">", ">=", "in", "not in"], 5)
_LEVEL |= {"+": 6, "-": 6, "*": 7}


def quote(text: str) -> str:
    return json.dumps(text)


def each(nodes: Iterable[t.Node | None], separator: str = ", ") -> str:
    return separator.join(show(n) for n in nodes if n is not None)


def opt(word: str, node: t.Node | None) -> str:
    return f" {word} {show(node)}" if node is not None else ""


def names(word: str, found: tuple[t.Name, ...] | None) -> str:
    return f" {word} {each(found)}" if found else ""


def typed(found: tuple[t.TypedName, ...]) -> str:
    return each(found)


def modifiers(c: t.FluentClauseNode | t.EffectClauseNode) -> str:
    return "".join(" " + show(g) for g in c.generators) + opt("when", c.when)


def level(e: t.Node) -> int:
    match e:
        case t.Binary(op=op):
            return _LEVEL[op]
        case t.Unary(op=op):
            return 4 if op == "not" else 8
    return 10


def bracket(e: t.Node, least: int) -> str:
    return show(e) if level(e) >= least else f"({show(e)})"


def show(node: t.Node) -> str:
    match node:
        case t.File(ds):
            return "\n".join(show(d) for d in ds)
        case t.Import(path):
            return f"import {show(path)}"
        case t.Name(text):
            return text if text.isidentifier() and text.isascii() else quote(text)
        case t.Text(value) | t.StringLit(value):
            return quote(value)
        case t.Number(value):
            return str(value)
        case t.NamedType(name) | t.Ref(name):
            return name
        case t.AppliedType(head, args):
            return f"{show(head)}[{each(args)}]"
        case t.OptionalType(item):
            return f"{show(item)}?"
        case t.RecordType(fields):
            return "{" + each(fields) + "}"
        case t.FieldType(name, type, echoes):
            return f"{show(name)}: {show(type)}{opt('echoes', echoes)}"
        case t.TypedName(name, type):
            return f"{show(name)}: {show(type)}"
        case t.Pattern(name, args):
            return show(name) + (f"({each(args)})" if args is not None else "")
        # expressions
        case t.IntLit(text) | t.DecimalLit(text) | t.DateLit(text) | t.TimeLit(text) | t.DurationLit(text):
            return text
        case t.BoolLit(value):
            return str(value).lower()
        case t.AbsentLit():
            return "absent"
        case t.Wildcard():
            return "_"
        case t.Member(base, name):
            return f"{bracket(base, 9)}.{show(name)}"
        case t.Subscript(base, key):
            return f"{bracket(base, 9)}[{show(key)}]"
        case t.Unary(op, operand):
            return f"{op} {bracket(operand, level(node))}"
        case t.Binary(op, left, right):
            own = _LEVEL[op]
            tighter_left = own + 1 if op in ("implies",) or own == 5 else own
            return f"{bracket(left, tighter_left)} {op} {bracket(right, own if op == 'implies' else own + 1)}"
        case t.Arg(value, name):
            return (f"{show(name)}: " if name else "") + show(value)
        case t.Call(func, args):
            return f"{show(func)}({each(args)})"
        case t.GeneratorNode(var, source):
            return f"for {show(var)} in {show(source)}"
        case t.ComprehensionNode(kind, body, generators, cond, key):
            start = f"{show(key)}: " if key else ""
            return f"{show(kind)}({start}{show(body)} {each(generators, ' ')}{opt('if', cond)})"
        case t.ListLit(items):
            return f"[{each(items)}]"
        case t.RecordLit(fields):
            return "{" + each(fields) + "}"
        case t.MapLit(entries):
            return "map({" + each(entries) + "})"
        case t.FieldInit(name, value):
            return f"{show(name)}: {show(value)}"
        case t.MapEntry(key, value):
            return f"{show(key)}: {show(value)}"
        # domain
        case t.DomainDecl(name, items):
            return f"domain {show(name)} {each(items, ' ')}"
        case t.IdDecl(ids, canonical):
            return f"id {each(ids)}{names('canonical', canonical)}"
        case t.EnumDecl(name, members):
            return f"enum {show(name)} {{{each(members)}}}"
        case t.EnumMember(name, wire):
            return show(name) + opt("=", wire)
        case t.RecordDecl(name, type):
            return f"record {show(name)} {show(type)}"
        case t.FluentDecl(name, params, type, volatile):
            head = f"({typed(params)})" if params else ""
            return f"fluent {show(name)}{head}: {show(type)}{' volatile' if volatile else ''}"
        case t.EffectDecl(name, params, once, key):
            return f"effect {show(name)}({typed(params)}){' once' if once else ''}{names('key', key)}"
        case t.ToolDecl(kind, name, params, actor, result, grounds, clauses):
            head = f"{kind} {show(name)}({each(params)}){opt('by', actor)}{opt('->', result)}"
            return f"{head}{' grounds nothing' if grounds else ''} {each(clauses, ' ')}"
        case t.ParamDecl(name, type, sources, free, unquoted, default):
            source = " from " + each(sources, " | ") if sources else ""
            flags = (" free" if free else "") + (" unquoted" if unquoted else "")
            return f"{show(name)}: {show(type)}{source}{flags}{opt('=', default)}"
        case t.SourceNode(kind, tool, path, quoted):
            place = show(tool) if tool else kind
            return ("quoted " if quoted else "") + place + "".join(f".{show(p)}" for p in path)
        case t.ConditionClause("approved", condition):
            return "approved" + opt("when", condition)
        case t.ConditionClause(kind, condition):
            return kind + opt("", condition)
        case t.FluentClauseNode(kind, target, value):
            return f"{kind} {show(target)} = {show(value)}{modifiers(node)}"
        case t.EffectClauseNode(kind, effect):
            return f"{kind} {show(effect)}{modifiers(node)}"
        case t.FlagClause(kind):
            return kind
        case t.RuleDecl(name, when, owes):
            return f"rule {show(name)}: {show(when)} owes {show(owes)}"
        # contract
        case t.ContractDecl(name, domain, items):
            return f"contract {show(name)} for {show(domain)} {each(items, ' ')}"
        case t.OriginNode("user", turn):
            return "from user" + opt("turn", turn)
        case t.OriginNode("policy"):
            return "from policy"
        case t.OriginNode(_, _, receipt, path, call, quoted, status):
            assert receipt is not None
            place = show(receipt) + "".join(f".{show(p)}" for p in path)
            part = f" quoted {show(quoted[0])}..{show(quoted[1])}" if quoted else ""
            return f"from receipt {place}{opt('of', call)}{part}{opt('', status)}"
        case t.Target(tool, param):
            return f"{show(tool)}.{show(param)}"
        case t.RequestItem(text):
            return f"request {show(text)}"
        case t.PolicyItem(version):
            return f"policy {show(version)}"
        case t.AsOfItem(when):
            return f"as of {show(when)}"
        case t.HeadItem(head):
            return f"head {show(head)}"
        case t.NameItem(kind, name, type, value, targets, origin):
            goes = f" for {each(targets)}" if targets else ""
            return f"{kind} {show(name)}: {show(type)} = {show(value)}{goes}{opt('', origin)}"
        case t.FactItem(kind, subject, value, origin):
            return f"{kind} {show(subject)}{opt('==', value)}{opt('', origin)}"
        case t.DoubtItem(effect, call, origin):
            return f"doubt {show(effect)}{opt('by', call)}{opt('', origin)}"
        case t.OwesItem(name, goals, choice, count, exists, where, condition, before, shared, origin):
            label = f"{show(name)}: " if name else ""
            goal = f"{choice} of {{{each(goals)}}}" if choice != "all" else show(goals[0])
            number = f"{show(count)} of " if count else ""
            some = f" exists {typed(exists)}" if exists else ""
            rest = opt("where", where) + opt("if", condition) + names("before", before) + (" shared" if shared else "")
            return f"owes {label}{number}{goal}{some}{rest}{opt('', origin)}"
        case t.AllowItem(tools):
            return f"allow {each(tools)}"
        case t.WithinItem(patterns, tools, exists, where):
            if tools:
                return f"within tool {each(tools)}"
            some = f" exists {typed(exists)}" if exists else ""
            return f"within {each(patterns)}{some}{opt('where', where)}"
        case t.LimitItem(kind, amount, effect, bound):
            return f"limit {kind}{f'({show(amount)})' if amount else ''} of {show(effect)} <= {show(bound)}"
        case t.ApprovalItem(kind, call, policy, expires, origin):
            return f"{kind} {show(call)}{opt('policy', policy)}{opt('expires', expires)}{opt('', origin)}"
        case t.TrustItem(call, target):
            return f"trust {show(call)} for {show(target)}"
        # proposal, ledger, check
        case t.ProposalDecl(name, contract, answers, steps):
            return f"proposal {show(name)} for {show(contract)}{opt('answers', answers)} {each(steps, ' ')}"
        case t.CallStep(id, tool, args, when, after, until, polls, expect, covers):
            wait = f" until {show(until)} within {show(polls)} polls" if until and polls else ""
            rest = opt("when", when) + names("after", after) + wait + opt("expect", expect) + names("covers", covers)
            return f"{show(id)} = {show(tool)}({each(args)}){rest}"
        case t.TerminalStep(kind, id, claims, reason, when, after):
            label = f"{show(id)} = " if id else ""
            return f"{label}{kind}{opt('', reason)}{names('claims', claims)}{opt('when', when)}{names('after', after)}"
        case t.LedgerDecl(name, domain, items):
            return f"ledger {show(name)} for {show(domain)} {each(items, ' ')}"
        case t.ReceiptItem(id, call, status, result, attempt, actor, at):
            rest = opt("attempt", attempt) + opt("by", actor) + opt("at", at)
            return f"receipt {show(id)}: {show(call)}{opt('->', result)} {show(status)}{rest}"
        case t.ChoiceItem(name, type, value, origin):
            return f"accepted {show(name)}: {show(type)} = {show(value)}{opt('', origin)}"
        case t.CheckDecl(target, subject, verdict, without, against, claims, only, expected):
            match target:
                case "proposal":
                    head = show(subject) + names("without", without)
                case "contract":
                    head = f"contract {show(subject)}{opt('against', against)}"
                case _:
                    head = f"claim {each(claims)} of {show(subject)}{opt('against', against)}"
            return f"check {head} {show(verdict)}{' only' if only else ''} {each(expected)}"
        case t.ExpectedNode(kind, subject):
            return show(kind) + (f"({show(subject)})" if subject else "")
    raise AssertionError(f"no text for {type(node).__name__}")
