"""Turns OpenAI Responses items into a transcript.

A call is an item whose type ends in ``_call``, its result an item ``…_call_output`` with the same ``call_id`` (never
``id``, which names the item). Calls that the provider runs itself (``mcp_call``, hosted tools) carry their result with
them. An approval is a pair of ``mcp_approval_request`` and ``mcp_approval_response``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfrc.adapters.transcripts import shape
from cfrc.adapters.transcripts.collect import Answer, Collector, answer, answer_of
from cfrc.adapters.transcripts.shape import Members
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.transcript import JSON, Approved, Attempt, Role, may_have_run

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip
_SILENT = {"reasoning", "mcp_list_tools", "compaction"}
_CLIENT = {"function_call", "custom_tool_call", "tool_call", "handoff_call", "local_shell_call", "shell_call"}
_CLIENT |= {"computer_call", "apply_patch_call"}
_RUNNING = ("in_progress", "calling", "searching", "interpreting", "generating")
_ENDED = (None, "completed")
_OUTPUTS = ("output", "results", "outputs", "result")


def read(items: list[Json], out: Collector) -> None:
    """Raises :class:`cfrc.lang.diagnostics.SpecError` for what is no item (``TRN003``) or call (``TRN004``)."""
    _Items(out).read(items)


class _Items:
    def __init__(self, out: Collector) -> None:
        self.out, self.asked, self.in_group = out, dict[str, tuple[str, Mapping[str, JSON] | None]](), False

    def read(self, items: list[Json]) -> None:
        for n, item in enumerate(self.flat(items)):
            members = shape.obj(item, "TRN003", "an item")
            inner = shape.given(members, "raw_item")
            if inner is not None:  # an agents SDK wraps the provider's item
                item, members = inner, shape.obj(inner, "TRN003", "an item")
            self.item(item, members, f"items[{n}]")

    def flat(self, items: list[Json]) -> Iterator[Json]:
        """The items themselves, those of requests (``input``) and of responses (``output``)."""
        for item in items:
            members = shape.obj(item, "TRN003", "an item")
            whole = shape.string(members, "object") == "response" or not {"type", "role", "raw_item"} & set(members)
            if not whole or not {"input", "output", "instructions"} & set(members):
                yield item
                continue
            yield from self.body(members, item)

    def body(self, members: Members, item: Json) -> Iterator[Json]:
        said = shape.string(members, "instructions")
        if said is not None:
            self.out.say("system", said, item.span)
        asked = members.get("input")
        if asked is not None and isinstance(asked.value, str):
            self.out.say("user", asked.value, asked.span)
        else:
            yield from shape.items_of(asked, "TRN003", "input")
        yield from shape.items_of(members.get("output"), "TRN003", "output")
        self.out.used(members.get("usage"))
        why = members.get("incomplete_details")
        reason = shape.string(why.value, "reason") if why is not None and isinstance(why.value, dict) else None
        self.out.stopped(reason or shape.string(members, "status"), item.span)

    def item(self, item: Json, members: Members, place: str) -> None:
        kind = shape.string(members, "type") or ("message" if "role" in members else "")
        if kind.endswith("_call") and kind not in _SILENT:
            if not self.in_group:
                self.out.new_group()
            self.in_group = True
            self.call(item, members, kind, place)
            return
        self.in_group = False
        if kind == "message":
            role = shape.string(members, "role")
            if role not in _ROLES:
                raise shape.wrong("TRN003", "a message without a known role", members.get("role", item))
            self.out.say(_ROLES[role], shape.prose(members.get("content"), "TRN003"), item.span)
        elif kind.endswith("_call_output"):
            self.output(item, members)
        elif kind == "mcp_approval_request":
            arguments, _ = shape.arguments(members.get("arguments"))
            self.asked[shape.string(members, "id") or ""] = (shape.name_of(members, item, "name"), arguments)
        elif kind == "mcp_approval_response":
            self.approval(item, members)
        elif kind not in _SILENT:
            self.out.passed_over(f"an item of the type {quoted(kind)}", item.span)

    def call(self, item: Json, members: Members, kind: str, place: str) -> None:
        client = kind in _CLIENT
        if kind in ("function_call", "custom_tool_call", "mcp_call"):
            tool = shape.name_of(members, item, "name")
        else:
            tool = shape.string(members, "name") or kind.removesuffix("_call")
        arguments, broken = _arguments(members, kind)
        id = shape.string(members, "call_id") if client else shape.string(members, "id")
        id = id or (shape.string(members, "id") if kind in ("tool_call", "handoff_call") else None)
        if id is None:
            id = place
            self.out.note("TRN012", f"a call of {quoted(tool)} has no id", item.span, "its place names it")
        self.out.call(Attempt(id, 1, tool, arguments, broken=broken, span=item.span))
        if not client:
            self.inline(id, item, members)

    def inline(self, id: str, item: Json, members: Members) -> None:
        """The outcome of a call that the provider ran: its ``error``, its output, or the status alone."""
        status = shape.string(members, "status")
        error = shape.given(members, "error")
        output = shape.given(members, *_OUTPUTS)
        if error is not None or status == "failed":
            self.result(id, _failed(error), item)
        elif status not in _ENDED:
            return
        elif output is not None and isinstance(output.value, str):
            self.result(id, answer(output.value, False), item)
        elif output is not None or status == "completed":
            self.result(id, answer_of(shape.plain(output) if output is not None else None, False), item)

    def result(self, id: str, found: Answer, item: Json) -> None:
        self.out.result(id, found, item.span)
        if found.status == "unknown":
            self.out.note("TRN019", f"the result of {quoted(id)} reads like an error", item.span, "no evidence")

    def output(self, item: Json, members: Members) -> None:
        id = shape.string(members, "call_id")
        if id is None:
            raise shape.wrong("TRN003", "a result without the id of its call", item, "expected a string in `call_id`")
        output = members.get("output")
        if output is None or output.value is None:
            self.out.note(
                "TRN011", f"the result of {quoted(id)} is null", item.span, "its outcome is taken for unknown"
            )
            return
        status = shape.string(members, "status")
        failed = True if shape.flag(members, "is_error") or status == "failed" else None
        if status not in (*_ENDED, "failed"):
            said = "is not all of it" if status == "incomplete" else "is not the last word"
            help = "its outcome is taken for unknown"
            self.out.note("TRN011", f"the result of {quoted(id)} {said}: {quoted(status or '')}", item.span, help)
            self.out.result(id, Answer("pending" if status in _RUNNING else "unknown", error=status), item.span)
        elif isinstance(output.value, dict) and shape.part_text(output) is None:
            self.result(id, answer_of(shape.plain(output), failed), item)
        else:
            self.result(id, answer(shape.prose(output, "TRN003"), failed), item)

    def approval(self, item: Json, members: Members) -> None:
        """A response whose request is not here approves nothing: nobody knows what it was about."""
        request = shape.string(members, "approval_request_id") or ""
        decided = members.get("approve")
        if request not in self.asked:
            self.out.note("TRN020", f"an approval of {quoted(request)}, which nothing asked for", item.span)
            return
        if decided is None or not isinstance(decided.value, bool):
            raise shape.wrong("TRN003", "an approval that says neither yes nor no", item, "expected `approve`, a bool")
        tool, arguments = self.asked[request]
        if arguments is None and decided.value:
            self.out.note(
                "TRN020", f"an approval of {quoted(tool)} with unreadable arguments", item.span, "no approval"
            )
            return
        approved = Approved(tool, arguments, turn=self.out.turn, denied=not decided.value, span=item.span)
        self.out.events.append(approved)


def _failed(error: Json | None) -> Answer:
    """What an error of a provider's own call proves. Only the tool itself can say that it failed; when the server did
    not answer, or not as it should, or nobody says who it was, the tool may have done everything."""
    said = error.value if error is not None else None
    words = said if isinstance(said, str) else str(shape.plain(error)) if error is not None else "failed"
    own = isinstance(said, dict) and shape.string(said, "type") == "mcp_tool_execution_error"
    content = said.get("content") if isinstance(said, dict) else None
    if own and content is not None and isinstance(content.value, list | str):
        own = not may_have_run(shape.prose(content, "TRN003"))
    return Answer("failure" if own else "unknown", None, words)


def _arguments(members: Members, kind: str) -> tuple[Mapping[str, JSON] | None, str | None]:
    """A function's are an object or a string that spells one; a custom tool takes one text; hosted tools differ."""
    if kind == "custom_tool_call":
        return {"input": shape.string(members, "input") or ""}, None
    given = shape.given(members, "arguments", "action", "operation")
    if given is not None or kind in _CLIENT or kind == "mcp_call":
        return shape.arguments(given)
    return {name: shape.plain(members[name]) for name in ("queries", "code", "prompt") if name in members}, None
