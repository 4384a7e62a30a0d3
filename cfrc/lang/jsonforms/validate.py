"""Turns a JSON value of the wrong shape into diagnostics that point at the member in question."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from cfrc.lang.diagnostics import Diagnostic, did_you_mean, quoted
from cfrc.lang.jsonread import Json
from cfrc.lang.jsonvalues import kind_of
from cfrc.source import Span

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_ERRORS = 100

_WANTED = {
    "string_type": "a string", "int_type": "a whole number", "bool_type": "a truth value", "list_type": "an array",
    "dict_type": "an object", "model_type": "an object", "model_attributes_type": "an object",
}  # fmt: skip


def plain(j: Json) -> Any:
    """The value as Python's plain JSON (decimals stay exact fractions)."""
    if isinstance(j.value, list):
        return [plain(i) for i in j.value]
    if isinstance(j.value, dict):
        return {k: plain(v) for k, v in j.value.items()}
    return j.value


def validate(j: Json, form: str) -> list[Diagnostic]:
    """What is wrong with the shape of a ``contract``, ``proposal`` or ``ledger`` form; nothing if it is right."""
    from pydantic import ValidationError

    from cfrc.lang.jsonforms.shapes import FORMS

    found = list(_version(j))
    try:
        FORMS[form].model_validate(plain(j))
    except ValidationError as error:
        found += [_diagnostic(j, e) for e in error.errors(include_url=False, include_context=True)[:MAX_ERRORS]]
    return list(dict.fromkeys(found))


def _version(j: Json) -> Iterator[Diagnostic]:
    """``true`` and ``1.0`` equal 1 in Python, but they are not the version 1."""
    version = j.value.get("cfrc") if isinstance(j.value, dict) else None
    if version is not None and isinstance(version.value, bool | Fraction) and version.value == 1:
        shown = "`true`" if version.value is True else "`1.0`"
        yield Diagnostic("JSN014", f"unsupported version {shown}", version.span, 'write "cfrc": 1, without a point')


def locate(j: Json, loc: tuple[int | str, ...]) -> tuple[Json, Span | None]:
    """The value at a pydantic location, and the span of it or (where it is missing) of what should hold it."""
    for step in loc:
        match j.value:
            case dict() as members if step in members:
                j = members[str(step)]
            case list() as items if isinstance(step, int) and step < len(items):
                j = items[step]
            # Any other step is the name of a union's branch.
    return j, j.span


def _diagnostic(root: Json, error: ErrorDetails) -> Diagnostic:
    loc, kind = error["loc"], error["type"]
    last = next((s for s in reversed(loc) if isinstance(s, str)), "")
    if kind == "missing":
        _, span = locate(root, loc[:-1])
        return Diagnostic("JSN010", f"member {quoted(last)} is missing", span, _missing_help(last))
    if kind == "extra_forbidden":
        owner, _ = locate(root, loc[:-1])
        return Diagnostic("JSN011", f"unknown member {quoted(last)}", owner.key_span(last), _known(owner, last))
    found, span = locate(root, loc)
    context = error.get("ctx", {})
    if "[key]" in loc:
        owner, _ = locate(root, loc[:-2])
        span = owner.key_span(str(loc[-2]))
        return Diagnostic("JSN013", f"{quoted(str(loc[-2]))} is not a name", span, "names are letters, digits and `_`")
    if kind in _WANTED:
        empty = "write `{}`" if last in ("done", "yield") and found.value is True else None
        return Diagnostic("JSN012", f"expected {_WANTED[kind]}, found {kind_of(found)}", span, empty)
    if kind == "literal_error":
        shown = found.value if isinstance(found.value, str | int) else kind_of(found)
        code = "JSN014" if loc == ("cfrc",) else "JSN012"
        what = "unsupported version" if loc == ("cfrc",) else "unknown word"
        return Diagnostic(
            code, f"{what} {quoted(str(shown))}", span, f"expected {context.get('expected', '')}".replace("'", "`")
        )
    if kind == "string_pattern_mismatch":
        return Diagnostic(
            "JSN013", f"{quoted(str(found.value))} is not a name", span, _pattern_help(str(context.get("pattern", "")))
        )
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = context.get("ge", context.get("le"))
        side = "at least" if kind == "greater_than_equal" else "at most"
        return Diagnostic("JSN012", f"expected a number of {side} {bound}", span)
    if kind in ("too_short", "too_long"):
        return Diagnostic(
            "JSN012", f"the array has {context.get('actual_length')} element(s)", span, error["msg"].lower()
        )
    return Diagnostic("JSN012", error["msg"][:1].lower() + error["msg"][1:], span)


def _missing_help(name: str) -> str | None:
    return {
        "cfrc": 'write "cfrc": 1, the version of the form',
        "call": "a node has one of `call`, `done` and `yield`",
        "receipt": "an entry has one of `receipt`, `accepted` and `approval`",
        "pattern": "a licence has one of `pattern` and `tool`",
    }.get(name)


def _pattern_help(pattern: str) -> str:
    if pattern.endswith(r"\.cfrc$"):
        return "name the domain, or the spec file that declares it"
    return "names are letters, digits and `_`" + ("; parts are joined by `.`" if r"\." in pattern else "")


def _known(owner: Json, word: str) -> str | None:
    """What may be written instead of an unknown member: what is close to it, or all that the object may have."""
    given = set(owner.value) - {word} if isinstance(owner.value, dict) else set()
    overlap = {members: len(given & set(members)) for members in _forms()}
    most = max(overlap.values())
    likely = [members for members, n in overlap.items() if n == most]
    close = did_you_mean(word, [m for members in likely for m in members if m not in given])
    if close is not None or len(likely) > 1:
        return close
    left = [m for m in likely[0] if m not in given]
    return "expected one of " + ", ".join(quoted(m) for m in left) if left else None


@cache
def _forms() -> tuple[tuple[str, ...], ...]:
    """The member names of each kind of object, for suggestions."""
    from cfrc.lang.jsonforms import shapes

    kinds = [k for k in vars(shapes).values() if isinstance(k, type) and issubclass(k, shapes.Form)]
    return tuple({tuple(f.alias or n for n, f in k.model_fields.items()): None for k in kinds if k.model_fields})
