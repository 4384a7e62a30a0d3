"""Turns calls and results as they come by into attempts: pairs them by id, tells repetition from retry, loses nothing.

What cannot be paired or told apart is kept in the reading that asks for more care: a call without a result stays open,
two results that disagree leave its outcome unknown, a result without a call is an attempt whose arguments nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from cfrc.adapters.transcripts.shape import json_of, plain
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.ledger import Status
from cfrc.model.transcript import JSON, Attempt, Event, Message, Note, Role, Transcript, may_have_run
from cfrc.source import Span

_MARKUP = re.compile(
    r"<\|?/?(?:tool_call|function_calls?|tool_use|invoke|call)\b|\[TOOL_CALLS\]|```tool_code"
    r"|\"tool_calls?\"\s*:|^[ \t]*Action Input:",
    re.MULTILINE,
)
_ERROR = re.compile(
    r"\s*(?:\W{0,3}(?:tool |internal |unexpected )?(?:error|failed|failure|fatal|exception)\b"
    r"|[A-Z]\w*(?:Error|Exception)\b|traceback \(most recent)",
    re.IGNORECASE,
)
_ENVELOPE = {"content", "structuredContent", "isError", "is_error", "_meta", "meta"}
_UNFINISHED = {"max_tokens", "pause_turn", "length", "incomplete", "content_filter", "max_output_tokens", "refusal"}
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a call."""

    status: Status
    result: JSON = None
    error: str | None = None
    time: datetime | None = None


class Collector:
    """The transcript so far. Readers of formats call :meth:`say`, :meth:`call`, :meth:`result` in order."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.events: list[Event] = []
        self.notes: list[Note] = []
        self.turn = self.group = 0
        self.stop: str | None = None
        self.usage: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        self._again: dict[str, Attempt] = {}
        self._passed: set[str] = set()
        self._alike: set[str] = set()

    def note(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:
        self.notes.append(Note(code, message, span, help))

    def say(self, role: Role, text: str, span: Span | None) -> None:
        """A message. Empty ones of the assistant are left out; a user's message begins a turn."""
        if role == "user":
            self.turn += 1
        elif not text:
            return
        self.events.append(Message(self.turn, role, text, span))
        if role == "assistant" and _MARKUP.search(text):
            self.note("TRN017", "the text shows a call, which is not a call", span, "only structured calls count")

    def new_group(self) -> None:
        self.group += 1

    def call(self, attempt: Attempt, numbered: bool = False) -> None:
        """A call that was issued. ``attempt`` carries id, tool, arguments, actor, time; the rest is filled in here.

        ``numbered``: its number is the record's own; otherwise attempts of one id are counted here.
        """
        attempt = replace(attempt, turn=self.turn, group=self.group)
        if attempt.broken is not None:
            self.note("TRN010", f"call {quoted(attempt.id)}: {attempt.broken}", attempt.span)
        at = self._latest.get(attempt.id)
        if at is None:
            self._append(attempt)
            return
        before = self._at(at)
        if numbered and attempt.attempt > before.attempt:
            self._append(attempt)
            return
        if _same(before, attempt) and before.status == "open":
            return  # one call, written down twice
        if numbered and _same(before, attempt) and (before.status, before.attempt) == ("unknown", attempt.attempt):
            return  # what comes next settles it
        if _same(before, attempt) and before.status == "success":
            self._again[attempt.id] = replace(attempt, attempt=before.attempt + 1)
            return
        if before.status in ("open", "success"):
            self.note(
                "TRN013", f"two calls have the id {quoted(attempt.id)}", attempt.span, "they are kept as two attempts"
            )
        self._append(replace(attempt, attempt=before.attempt + 1))

    def result(
        self, id: str, answer: Answer, span: Span | None, tool: str | None = None, settles: bool = False
    ) -> None:
        """What came back for a call. ``settles``: an unknown outcome is on record as such, and this one settles it;
        otherwise it was only read that way, and a second result cannot tell which of the two to believe."""
        again = self._again.pop(id, None)
        at = self._latest.get(id)
        if at is None:
            self.note("TRN011", f"a result for {quoted(id)}, which no call has", span, "is the beginning cut off?")
            lost = Attempt(id, 1, tool or "", None, self.turn, self.group, broken="its call is not in the transcript")
            self._append(_answered(replace(lost, span=span), answer))
            return
        before = self._at(at)
        if id in self._alike:
            self.note("TRN011", f"a result for {quoted(id)} may be of several calls", span, "all are taken for open")
            return
        if again is not None and not _equal(before, answer):
            self.note("TRN013", f"the call {quoted(id)} was made again", again.span, "it is kept as another attempt")
            self._append(_answered(again, answer))
        elif before.status in ("open", "pending") or (settles and before.status == "unknown"):
            self.events[at] = _answered(before, answer)
        elif not _equal(before, answer):
            self.note("TRN014", f"two results for {quoted(id)} disagree", span, "its outcome is taken for unknown")
            self.events[at] = replace(before, status="unknown", result=None)

    def open_calls(self, tool: str | None) -> list[str]:
        """The ids of the last group's open calls (of this tool, if given): what a result without an id can mean."""
        found = []
        for e in reversed(self.events):
            if isinstance(e, Attempt) and e.group != self.group:
                break
            if isinstance(e, Attempt) and e.status == "open" and tool in (None, e.tool):
                found.append(e.id)
        return found[::-1]

    def is_open(self, id: str) -> bool:
        return id in self._latest and self._at(self._latest[id]).status == "open"

    def passed_over(self, what: str, span: Span | None) -> None:
        """Something that this reader does not know; said once for each kind."""
        if what not in self._passed:
            self._passed.add(what)
            self.note("TRN018", f"{what} is not understood and passed over", span)

    def stopped(self, reason: str | None, span: Span | None) -> None:
        """Why the model stopped, in the provider's word. The last one counts."""
        if reason is None:
            return
        self.stop = reason
        if reason in _UNFINISHED:
            self.note("TRN016", f"stopped by {quoted(reason)}, which is not the end of the work", span)

    def used(self, j: Json | None) -> None:
        """Adds up the whole-number counters of a usage object."""
        for name, value in (j.value if j is not None and isinstance(j.value, dict) else {}).items():
            if isinstance(value.value, int) and not isinstance(value.value, bool) and value.value >= 0:
                name = _USAGE.get(name, name)
                self.usage[name] = self.usage.get(name, 0) + value.value

    def finish(self) -> Transcript:
        for e in self.events:
            if isinstance(e, Attempt) and e.status == "open":
                self.note(
                    "TRN015", f"call {quoted(e.id)} of {quoted(e.tool)} has no result: it may have happened", e.span
                )
        request = next((e.text for e in self.events if isinstance(e, Message) and e.role == "user"), "")
        return Transcript(request, tuple(self.events), self.usage, self.source, tuple(self.notes), self.stop)

    def _append(self, attempt: Attempt) -> None:
        """Calls of one group that wait under one id are alike: a result can be of any of them."""
        at = self._latest.get(attempt.id)
        before = self._at(at) if at is not None else None
        if before is not None and (before.status, before.group) == ("open", attempt.group):
            self._alike.add(attempt.id)
        else:
            self._alike.discard(attempt.id)
        self._latest[attempt.id] = len(self.events)
        self.events.append(attempt)

    def _at(self, index: int) -> Attempt:
        found = self.events[index]
        assert isinstance(found, Attempt)
        return found


def _same(a: Attempt, b: Attempt) -> bool:
    """Whether two calls say the same. Unreadable arguments are only known to be unreadable: never the same."""
    return a.tool == b.tool and None not in (a.arguments, b.arguments) and _key(a.arguments) == _key(b.arguments)


def _equal(a: Attempt, b: Answer) -> bool:
    return (a.status, _key(a.result), a.error) == (b.status, _key(b.result), b.error)


def _key(value: object) -> object:
    """Equal for equal JSON only: Python takes ``1``, ``True`` and ``1.0`` for the same."""
    if isinstance(value, Mapping):
        return {k: _key(v) for k, v in value.items()}
    return [_key(v) for v in value] if isinstance(value, list) else (type(value), value)


def _answered(attempt: Attempt, b: Answer) -> Attempt:
    return replace(attempt, status=b.status, result=b.result, error=b.error, time=b.time or attempt.time)


def answer(text: str, failed: bool | None, time: datetime | None = None) -> Answer:
    """The answer that a text is. ``failed``: whether the provider's own flag says so; ``None`` where it has no flag.

    Without a flag a text that reads like an error leaves the outcome unknown: it is no evidence of success, and no
    proof that nothing happened either. An object with MCP's ``isError`` has a flag; a whole result of MCP is taken out
    of its envelope.
    """
    return _judged(read_text(text), text, text, failed, time)


def answer_of(value: JSON, failed: bool | None, time: datetime | None = None) -> Answer:
    """The answer that a value is which is no text, in the same way."""
    return _judged(value, value, str(value), failed, time)


def _judged(value: JSON, shown: JSON, text: str, failed: bool | None, time: datetime | None) -> Answer:
    if isinstance(value, dict):
        said = value.get("isError", value.get("is_error"))
        if failed is False and said is True:
            return Answer("unknown", shown, text, time)  # one flag says so, the other not
        if failed is None and isinstance(said, bool):
            failed = said
        if isinstance(said, bool) and isinstance(value.get("content"), list) and set(value) <= _ENVELOPE:
            shown = _opened(value)
    if failed:
        ran = may_have_run(shown if isinstance(shown, str) else text)
        return Answer("unknown" if ran else "failure", shown, text, time)
    if failed is None and reads_like_error(value):
        return Answer("unknown", shown, text, time)
    return Answer("success", shown, None, time)


def _opened(envelope: dict[str, JSON]) -> JSON:
    """The structured content of an MCP result, or its text."""
    if isinstance(envelope.get("structuredContent"), dict):
        return envelope["structuredContent"]
    content = envelope["content"]
    parts = [p.get("text") for p in content if isinstance(p, dict)] if isinstance(content, list) else []
    return "\n".join(p for p in parts if isinstance(p, str))


def read_text(text: str) -> JSON:
    """The object or array that a text spells, else the text."""
    if text.lstrip()[:1] in ("{", "["):
        found = json_of(text)
        if isinstance(found, Json):
            return plain(found)
    return text


def reads_like_error(value: JSON) -> bool:
    if isinstance(value, str):
        return _ERROR.match(value) is not None
    return isinstance(value, dict) and bool(value.get("error"))
