"""Turns a neutral transcript and a domain into a ledger of typed receipts, accepted choices and approvals.

What does not fit the domain is never guessed: a "success" whose arguments or result do not have the declared types is
no evidence, so what it may have done is in doubt; a call of an unknown tool is told in a note. A call without a result
may have happened. Identifiers that the user said word for word are accepted choices, as soon as a receipt tells their
type. A transcript that grows makes a ledger that grows: what was read before stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cfrc.handoff.freezing.constructor import Said
from cfrc.handoff.freezing.known import leaves
from cfrc.handoff.freezing.naming import plain_name
from cfrc.handoff.freezing.prose import find_value
from cfrc.handoff.wire import Malformed, incoming
from cfrc.lang.diagnostics import Diagnostic, quoted
from cfrc.model.contract import Approval, Origin
from cfrc.model.domain import Domain, Tool
from cfrc.model.ledger import Choice, Ledger, Receipt, Status
from cfrc.model.plan import full_args
from cfrc.model.transcript import JSON, Accepted, Approved, Attempt, Message, Transcript
from cfrc.model.types import BOOL, DECIMAL, INT, STRING, Id, Optional, Prim, Type
from cfrc.model.values import Value
from cfrc.source import Span

Notes = tuple[Diagnostic, ...]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PRIMITIVE = {"text", "string", "int", "decimal", "bool", "date", "time", "duration"}


def ledger_of(
    domain: Domain,
    transcript: Transcript | Sequence[Transcript],
    *,
    name: str = "record",
    types: Mapping[str, Type] | None = None,
    words: bool = True,
) -> tuple[Ledger, Notes]:
    """The ledger of one transcript, or of several that follow each other, and what a reader should know of it.

    ``types`` are the types of names that a contract has already, for choices that do not say their own. Without
    ``words``, an identifier that the user only mentioned is no choice: structured choices alone bind.
    """
    transcripts = (transcript,) if isinstance(transcript, Transcript) else tuple(transcript)
    reader = _Reader(domain, dict(types or {}), words)
    for t in transcripts:
        reader.read(t)
    return Ledger(name, domain, tuple(reader.entries)), tuple(reader.notes)


def said_in(transcript: Transcript | Sequence[Transcript]) -> tuple[Said, ...]:
    """What the user said, by turn; turns are counted on through several transcripts."""
    transcripts = (transcript,) if isinstance(transcript, Transcript) else transcript
    found, offset = [], 0
    for t in transcripts:
        mine = [m for m in t.messages if m.role == "user"]
        found += [Said(m.turn + offset, m.text) for m in mine]
        offset += max((m.turn for m in mine), default=0)
    return tuple(found)


class _Reader:
    """One reading: the entries so far, and what the user and the receipts have said."""

    def __init__(self, domain: Domain, types: dict[str, Type], bind_words: bool) -> None:
        self.domain, self.types, self.bind_words = domain, types, bind_words
        self.entries: list[Receipt | Choice | Approval] = []
        self.notes: list[Diagnostic] = []
        self.attempts: dict[tuple[str, int], Receipt] = {}
        self.words: list[Said] = []
        self.values: dict[tuple[Id, str], bool] = {}
        self.accepted: dict[str, Choice] = {}
        self.offset = 0

    def read(self, transcript: Transcript) -> None:
        last = 0
        for event in transcript.events:
            match event:
                case Message(role="user"):
                    last = max(last, event.turn)
                    self._message(event)
                case Attempt():
                    self._attempt(event)
                case Accepted():
                    self._accepted(event)
                case Approved():
                    self._approved(event)
        self.offset += last

    def note(self, code: str, message: str, span: Span | None, help: str) -> None:
        self.notes.append(Diagnostic(code, message, span, help, severity="warning"))

    # -- calls ------------------------------------------------------------------------------------------------------

    def _attempt(self, event: Attempt) -> None:
        tool = self.domain.tools.get(event.tool)
        if tool is None:
            self.note(
                "FRZ014", f"call {quoted(event.id)} is of {quoted(event.tool)}, which the domain does not declare",
                event.span, "what it did is not in the ledger: declare the tool, if it can matter",
            )  # fmt: skip
            return
        args, problem = self._arguments(tool, event)
        status: Status = "unknown" if event.status == "open" else event.status
        result: Value = None
        if status != "failure" and problem is None:
            result, problem = _result(tool, event, status)
        if problem is not None and status != "failure":
            self.note("FRZ013", f"call {quoted(event.id)} of `{tool.name}` is no evidence: {problem}", event.span,
                      "what it may have done is in doubt")  # fmt: skip
            status, result = ("unknown", None) if status == "success" else (status, None)
        receipt = Receipt(
            event.id, tool.name, tuple(args.items()), result, status, event.attempt, event.actor, event.time, event.span
        )
        self._add(receipt)
        self._learn(tool, receipt)

    def _arguments(self, tool: Tool, event: Attempt) -> tuple[dict[str, Value], str | None]:
        """The arguments that have their types, and what is wrong with the first that has not."""
        if event.arguments is None:
            return {}, event.broken or "its arguments cannot be read"
        problem: str | None = None
        found: dict[str, Value] = {}
        for name, value in event.arguments.items():
            param = tool.param(name)
            if param is None:
                problem = problem or f"it has no parameter {quoted(name)}"
                continue
            try:
                found[name] = incoming(value, param.type)
            except Malformed as mismatch:
                problem = problem or f"argument `{name}`: {mismatch}"
        complete = full_args(tool, tuple(found.items()))
        missing = next((p.name for p in tool.params if p.name not in complete), None)
        if missing is not None:
            problem = problem or f"it lacks its argument `{missing}`"
        return found, problem

    def _add(self, receipt: Receipt) -> None:
        """One attempt that is told twice is one; two different ones of one number are two attempts."""
        key = (receipt.id, receipt.attempt)
        while key in self.attempts and self.attempts[key] != replace(receipt, attempt=key[1]):
            key = (key[0], key[1] + 1)
        if key not in self.attempts:
            self.attempts[key] = replace(receipt, attempt=key[1])
            self.entries.append(self.attempts[key])

    # -- what the user said -----------------------------------------------------------------------------------------

    def _message(self, event: Message) -> None:
        said = Said(event.turn + self.offset, event.text)
        self.words.append(said)
        for (t, value), bound in list(self.values.items()):
            if not bound and find_value(said.text, t, value):
                self._say(t, value, said.turn)

    def _learn(self, tool: Tool, receipt: Receipt) -> None:
        """Identifiers that a call passed or a success returned: now their type is known."""
        for t, value in _identifiers(tool, receipt):
            if (t, value) in self.values:
                continue
            self.values[t, value] = False
            turn = next((s.turn for s in self.words if find_value(s.text, t, value)), None)
            if turn is not None:
                self._say(t, value, turn)

    def _say(self, t: Id, value: str, turn: int) -> None:
        self.values[t, value] = True
        if self.bind_words and not any(c.type == t and c.value == value for c in self.accepted.values()):
            self.entries.append(Choice(plain_name(value, t), t, value, turn))

    def _accepted(self, event: Accepted) -> None:
        t = self._type(event)
        try:
            value = incoming(event.value, t)
        except Malformed as mismatch:
            self.note("FRZ015", f"the accepted {quoted(event.name)} is not a `{t}`: {mismatch}", event.span,
                      "it binds nothing: say its value as its type wants it")  # fmt: skip
            return
        name = event.name
        if not _NAME.fullmatch(name):
            # a record is hostile: its words become part of a contract's text only where they are names
            name = plain_name(value, t)
            self.note("FRZ015", f"the accepted {quoted(event.name)} has no name that a contract can use", event.span,
                      f"its value is bound as `{name}`")  # fmt: skip
        choice = Choice(name, t, value, event.turn + self.offset, event.span)
        old = self.accepted.get(name)
        self.accepted[name] = choice
        self.entries.append(choice)
        if old is not None and isinstance(t, Id) and old.type == t and old.value != value:
            auto = plain_name(old.value, t)
            if any(isinstance(e, Choice) and e.name == auto for e in self.entries):
                # The user's words bound the old value too: the newer word is about that as well.
                self.entries.append(replace(choice, name=auto))

    def _type(self, event: Accepted) -> Type:
        if event.type_name is not None:
            declared = self.domain.types.get(event.type_name)
            if declared is not None:
                return declared
            if event.type_name in _PRIMITIVE:
                return Prim(event.type_name)  # type: ignore[arg-type]  # one of the names just looked up
        if event.name in self.types:
            return self.types[event.name]
        named = {_plain(p.type) for t in self.domain.tools.values() for p in t.params if p.name == event.name}
        if len(named) == 1:
            return named.pop()
        known = {t for t, v in self.values if v == event.value}
        return known.pop() if len(known) == 1 else _kind(event.value)

    # -- approvals --------------------------------------------------------------------------------------------------

    def _approved(self, event: Approved) -> None:
        word = "denial" if event.denied else "approval"
        tool = self.domain.tools.get(event.tool)
        if tool is None:
            self.note("FRZ014", f"the {word} is of {quoted(event.tool)}, which the domain does not declare", event.span,
                      "it binds nothing: declare the tool")  # fmt: skip
            return
        attempt = Attempt("", 1, event.tool, event.arguments if event.arguments is not None else {})
        args, problem = self._arguments(tool, attempt)
        if problem is not None and not (event.denied and set(args) == set(event.arguments or {})):
            if event.denied:
                # A denial that cannot be read in full is one of more calls, not of fewer.
                self.note("FRZ015", f"a denial of `{tool.name}` is read as wider than it is: {problem}", event.span,
                          "say its arguments as the domain declares them")  # fmt: skip
            else:
                self.note("FRZ015", f"an approval of `{tool.name}` approves nothing: {problem}", event.span,
                          "an approval names every argument of the call")  # fmt: skip
                return
        full = args if event.denied else full_args(tool, tuple(args.items()))
        origin = Origin("user", turn=event.turn + self.offset)
        self.entries.append(
            Approval(tool.name, tuple(full.items()), event.denied, event.policy, event.expires, origin, event.span)
        )


def _result(tool: Tool, event: Attempt, status: Status) -> tuple[Value, str | None]:
    if event.result is None and status != "success":
        return None, None
    try:
        return incoming(event.result, tool.result), None
    except Malformed as mismatch:
        return None, f"its result is not what the tool declares: {mismatch}" if status == "success" else None


def _identifiers(tool: Tool, receipt: Receipt) -> Iterator[tuple[Id, str]]:
    given = dict(receipt.args)
    found = [x for p in tool.params if p.name in given for x in leaves(given[p.name], p.type)]
    if receipt.status == "success":
        found += leaves(receipt.result, tool.result)
    for leaf in found:
        if isinstance(leaf.type, Id) and isinstance(leaf.value, str):
            yield leaf.type, leaf.value


def _plain(t: Type) -> Type:
    return _plain(t.item) if isinstance(t, Optional) else t


def _kind(value: JSON) -> Type:
    """The type of a value that nothing else tells."""
    match value:
        case bool():
            return BOOL
        case int():
            return INT
        case str():
            return STRING
    return DECIMAL
