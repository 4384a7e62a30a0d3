"""Turns the place where parsing stopped into one friendly complaint: what is there, what could be, and a guess."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cfrc.lang.diagnostics import Diagnostic, closest, quoted
from cfrc.lang.engine import Failure
from cfrc.lang.lexer import Token
from cfrc.lang.tables import END
from cfrc.source import Source, Span

_FRIENDLY = {
    "NAME": "a name",
    "STRING": "a string in double quotes",
    "INT": "a whole number",
    "DECIMAL": "a decimal number",
    "DATE": "a date",
    "TIME": "a time",
    "DURATION": "a duration",
    END: "the end of the declaration",
}
_VALUE = frozenset(
    [
        "STRING",
        "INT",
        "DECIMAL",
        "DATE",
        "TIME",
        "DURATION",
        "NAME",
        "[",
        "{",
        "(",
        "-",
        "not",
        "true",
        "false",
        "absent",
    ]
)
_OPERATORS = frozenset(
    ["==", "!=", "<", "<=", ">", ">=", "in", "not", "+", "-", "*", "and", "or", "implies", ".", "[", "("]
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_FEW = 5


def complaint(source: Source, tokens: Sequence[Token], failure: Failure, openers: Collection[str]) -> Diagnostic:
    """The diagnostic of one failure. ``openers`` are the keywords that begin declarations."""
    token = tokens[failure.index]
    kind, text, start, end = token
    span = Span(source, start, max(end, start))
    notes = _unclosed(source, tokens, failure)
    if kind == END:
        message = "the text ends too early"
    elif kind == "STRING":
        message = "unexpected string"
    else:
        message = f"unexpected {quoted(source.text[start:end])}"
    choices = _choices(failure)
    guess = None
    if kind == "NAME" and not _unlabelled(tokens, failure):
        words = [e for e in failure.expected if e.isalpha() and e not in _FRIENDLY]
        guess = closest(text, words + (list(openers) if END in failure.expected else []))
        if guess == text:
            guess = None
    if guess is not None:
        help: str | None = f"did you mean `{guess}`?"
    elif hint := _hint(tokens, failure):
        help = hint
    elif 0 < len(choices) <= _FEW:
        message += f", expected {_listing(choices)}"
        help = None
    else:
        help = f"here may stand {_listing(choices, 12)}" if choices else None
    return Diagnostic("SYN001", message, span, help, notes=notes)


def _choices(failure: Failure) -> list[str]:
    """What could stand there, in a reader's words: values, operators and items as one, other keywords each."""
    rest = set(failure.expected)
    out = []
    if {"STRING", "INT", "NAME"} <= rest:
        out.append("a value")
        rest -= _VALUE
    if {"and", "or"} <= rest:
        rest -= _OPERATORS
        out.append("an operator")
    items = failure.items & rest
    next_item = len(items) > _FEW and len(items) < len(rest) - (END in rest)
    if next_item:
        rest -= items
    out += [_FRIENDLY[k] for k in _FRIENDLY if k in rest and k != END]
    out += sorted(f"`{k}`" for k in rest if k not in _FRIENDLY)
    if next_item:
        out.append("the next item")
    return out + ([_FRIENDLY[END]] if END in rest else [])


def _listing(choices: Sequence[str], most: int = 20) -> str:
    if len(choices) > most:
        return ", ".join(choices[:most]) + " and more"
    return choices[0] if len(choices) == 1 else ", ".join(choices[:-1]) + " or " + choices[-1]


def _unclosed(source: Source, tokens: Sequence[Token], failure: Failure) -> tuple[tuple[str, Span], ...]:
    """The innermost bracket of the item that is still open, if a closing one is what is missing."""
    still_open: list[Token] = []
    for token in tokens[failure.item : failure.index]:
        if token[0] in _CLOSING:
            still_open.append(token)
        elif token[0] in _CLOSING.values() and still_open:
            still_open.pop()
    if not still_open or _CLOSING[still_open[-1][0]] not in failure.expected:
        return ()
    bracket = still_open[-1]
    return ((f"this `{bracket[0]}` is not closed", Span(source, bracket[2], bracket[3])),)


def _hint(tokens: Sequence[Token], failure: Failure) -> str | None:
    """Help for slips that people coming from other languages make."""
    kind, text = tokens[failure.index][:2]
    if _unlabelled(tokens, failure):
        return f"a colon follows the name: write `{tokens[failure.index - 1][1]}: {text}…`"
    if kind == "=" and "==" in failure.expected:
        return "compare with `==`; a single `=` sets"
    if kind == "==" and "=" in failure.expected:
        return "write a single `=` here"
    if kind in ("<", "<=", ">", ">=", "==", "!=") and "and" in failure.expected:
        return "comparisons do not chain: write `a < b and b < c`"
    if kind == "." and tokens[failure.index - 1][0] == "INT":
        return "a decimal number has digits on both sides of its point"
    if text == "policy" and kind == "NAME":
        return "the policy in force is written before all other items of the contract"
    if kind == "{" and tokens[failure.index - 1][1] in ("one", "any"):
        return f"write `{tokens[failure.index - 1][1]} of {{ … }}`"
    if text == "_":
        return "`_` may only stand as an argument"
    return None


def _unlabelled(tokens: Sequence[Token], failure: Failure) -> bool:
    """Whether a name stands before a name and a bracket, where a colon would make it a label (``owes p paid(b)``)."""
    i = failure.index
    words = i > 0 and i + 1 < len(tokens) and tokens[i - 1][0] == tokens[i][0] == "NAME"
    return words and ":" in failure.expected and tokens[i + 1][0] == "("


def misplaced(source: Source, token: Token, openers: Collection[str]) -> Diagnostic:
    """Something that is no declaration, where one must begin."""
    kind, text, start, end = token
    found = "string" if kind == "STRING" else quoted(source.text[start:end])
    guess = closest(text, openers) if kind == "NAME" else None
    words = _listing([f"`{o}`" for o in openers])
    help = f"did you mean `{guess}`?" if guess else f"a declaration begins with {words}"
    return Diagnostic("SYN002", f"expected a declaration, found {found}", Span(source, start, end), help)
