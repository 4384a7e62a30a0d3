"""Turns tokens into a tree by LALR tables, deciding word by word what is a keyword, and goes on after errors.

Words are contextual. A word is a keyword where the parser can take it as one and nothing else; where a name fits too,
it is a keyword unless the next token says otherwise: a ``:`` makes it a name (``{ from: 1 }``), a ``=`` too where a
step may begin (``when = f()``), and so does what :data:`_NAME_IF` lists. A declaration ends where it may end and the
keyword of a declaration follows. Every decision asks what the automaton would really shift, not its tables alone.

After an error the parser skips to the next line that begins with a keyword of an item or a clause, or with a word
indented like the item that failed, drops what is unfinished, and goes on. Layout matters for nothing but this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cfrc.lang.lexer import MAX_NESTING, Token
from cfrc.lang.tables import END, LIST, PASS, Tables

_MAX_STACK = 20 * MAX_NESTING
# In places where a name fits as well: the next token that turns these words into names, or that they need as keywords.
_NAME_IF = {"nothing": "(", "tool": "(", "done": "(", "yield": "("}
_LITERALS = frozenset({"true", "false", "absent"})  # always mean their value where a value may stand
_KEYWORD_IF = {"any": "of", "one": "of"}


class Builder(Protocol):
    """Makes nodes: one method an action name of the grammar, called with start, end and the kept parts."""

    def action(self, name: str) -> Callable[..., Any]: ...


@dataclass(frozen=True, slots=True)
class Failure:
    """Where parsing stopped: the token, what could have stood there, where the declaration and the item began.

    ``items`` are the keywords that begin an item of this declaration.
    """

    index: int
    expected: frozenset[str]
    first: int
    item: int
    items: frozenset[str]


@dataclass(slots=True)
class _Stack:
    states: list[int]
    values: list[Any]
    starts: list[int]
    ends: list[int]
    depths: list[int]

    def cut(self, size: int) -> None:
        del self.states[size + 1 :], self.values[size:], self.starts[size:], self.ends[size:], self.depths[size:]


class TooDeep(Exception):
    """The tree would be deeper than anything later may be asked to walk; ``start`` to ``end`` is the culprit."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        super().__init__(start)


class Engine:
    """Parses declarations out of one token list. ``closers`` are the keywords that begin a declaration.

    ``names`` holds the indices of the words that were taken as names, not keywords (the formatter asks).
    """

    def __init__(
        self, tables: Tables, text: str, tokens: Sequence[Token], builder: Builder, closers: Collection[str]
    ) -> None:
        self.tables, self.text, self.tokens, self.closers = tables, text, tokens, closers
        self.before: list[int] = []  # the states before the failing token, and before the last name
        self.earlier: list[int] = []
        self.names: set[int] = set()
        self.builder = builder
        self.perform: dict[str, Callable[..., Any]] = {}  # bound on first use: most expressions need few actions

    def parse(
        self, index: int, start: str, resync: Collection[str], failed: Callable[[Failure], bool]
    ) -> tuple[Any, int]:
        """One start symbol from ``tokens[index]`` on: its value (``None`` if nothing could be saved), the next index.

        ``failed`` is told each error and says whether to go on. ``resync`` are the terminals that may begin an item.
        """
        stack = _Stack([self.tables.starts[start]], [], [], [], [])
        first = last = index
        while True:
            stop = self.advance(stack, index)
            if self.kind(stack.states, stop) == END and self.accepts(stack.states, END):
                self.finish(stack)
                return stack.values[-1], stop
            failure = self.failure(first, stop, resync)
            if not failed(failure):
                return None, self.boundary(stop)
            index, over = self.resume(stack, max(failure.index, last + 1), failure)
            last = index
            if over:
                while stack.values and not self.accepts(stack.states, END):
                    stack.cut(len(stack.values) - 1)
                if not stack.values:
                    return None, index
                self.finish(stack)
                return stack.values[-1], index

    # --- the automaton ----------------------------------------------------------------------------------------------

    def advance(self, stack: _Stack, index: int) -> int:
        """Shifts as many tokens as fit; the index of the first that does not (or of the end)."""
        tokens, actions = self.tokens, self.tables.actions
        states, values, starts, ends, depths = stack.states, stack.values, stack.starts, stack.ends, stack.depths
        while True:
            token = tokens[index]
            kind = token[0]
            if kind == "NAME":
                kind = self.kind(states, index)
            if kind == END:
                self.before = states
                return index
            act = actions[states[-1]].get(kind)
            before = states
            if act is not None and act < 0:
                before = states[:]  # tables reduce too eagerly before an error; what was expected is known here
                while act is not None and act < 0:
                    self.reduce(stack, -1 - act)
                    act = actions[states[-1]].get(kind)
            if act is None:
                self.before = before
                return index
            if kind == "NAME":
                self.names.add(index)
                self.earlier = states[:] if before is states else before
            if len(states) > _MAX_STACK:
                raise TooDeep(token[2], token[3])
            states.append(act)
            values.append(token if kind == token[0] else (kind, *token[1:]))
            starts.append(token[2])
            ends.append(token[3])
            depths.append(0)
            index += 1

    def reduce(self, stack: _Stack, number: int) -> None:
        rule = self.tables.rules[number]
        states, values, starts, ends, depths = stack.states, stack.values, stack.starts, stack.ends, stack.depths
        size = rule.size
        if size == 1 and rule.action == PASS:
            states[-1] = self.tables.gotos[states[-2]][rule.lhs]
            return
        parts = values[-size:]
        kept: list[Any] = []
        for k in rule.keep:
            if k >= 0:
                kept.append(parts[k])
            elif k == -1:
                kept.append(None)
            else:
                kept.extend(parts[-2 - k])
        start, end, depth = starts[-size], ends[-1], max(depths[-size:])
        action = rule.action
        if action != PASS and action != LIST:
            depth += 1
            if depth > MAX_NESTING:
                raise TooDeep(start, end)
            perform = self.perform.get(action)
            if perform is None:
                perform = self.perform[action] = self.builder.action(action)
            value = perform(start, end, *kept)
        else:
            value = kept if action == LIST else kept[0]
        stack.cut(len(values) - size)
        states.append(self.tables.gotos[states[-1]][rule.lhs])
        values.append(value)
        starts.append(start)
        ends.append(end)
        depths.append(depth)

    def finish(self, stack: _Stack) -> None:
        """Reduces to the start symbol, the end having been seen."""
        while (act := self.tables.actions[stack.states[-1]][END]) < 0:
            self.reduce(stack, -1 - act)

    # --- words ------------------------------------------------------------------------------------------------------

    def kind(self, states: list[int], index: int) -> str:
        """What the token counts as in this state: itself, a keyword, a name, or the end of the declaration."""
        kind, text, _, _ = self.tokens[index]
        if kind != "NAME":
            return kind
        if text == "_":
            return text
        row = self.tables.actions[states[-1]]
        following = self.tokens[index + 1][0]
        if text in self.closers and END in row and following not in ("=", ":") and self.ends_before(states, text):
            return END
        if text not in row:
            return "NAME"
        if "NAME" not in row:
            return text
        if self.names_something(states, text, index + 1):
            return "NAME" if self.accepts(states, "NAME") else text
        return text if row[text] >= 0 or self.accepts(states, text) else "NAME"

    def names_something(self, states: list[int], text: str, following: int) -> bool:
        """Whether a word that may be a keyword or a name is a name, going by the token after it."""
        kind, after, _, _ = self.tokens[following]
        if kind == ":":
            return text not in _LITERALS
        if kind == "=":
            return self.accepts(states, END)  # a step begins here
        return _NAME_IF.get(text) == kind or (text in _KEYWORD_IF and after != _KEYWORD_IF[text])

    def ends_before(self, states: list[int], keyword: str) -> bool:
        return self.accepts(states, END) and not self.accepts(states, keyword)

    def accepts(self, states: list[int], kind: str) -> bool:
        """Whether the terminal can be shifted after the reductions it calls for (tables alone claim too much)."""
        actions, gotos, rules = self.tables.actions, self.tables.gotos, self.tables.rules
        below = len(states)
        above: list[int] = []
        top = states[-1]
        while True:
            act = actions[top].get(kind)
            if act is None:
                return False
            if act >= 0:
                return True
            rule = rules[-1 - act]
            from_above = min(rule.size, len(above))
            if from_above:
                del above[-from_above:]
            below -= rule.size - from_above
            under: int = above[-1] if above else states[below - 1]
            top = gotos[under][rule.lhs]
            above.append(top)

    def expected(self, states: list[int]) -> frozenset[str]:
        return frozenset(kind for kind in self.tables.actions[states[-1]] if self.accepts(states, kind))

    # --- recovery ---------------------------------------------------------------------------------------------------

    def begins_line(self, index: int) -> bool:
        return index == 0 or "\n" in self.text[self.tokens[index - 1][3] : self.tokens[index][2]]

    def closes(self, index: int) -> bool:
        """Whether a declaration seems to begin here: its keyword, first on a line, with a word or a string after it."""
        kind, text, _, _ = self.tokens[index]
        if kind != "NAME" or text not in self.closers or self.tokens[index + 1][0] not in ("NAME", "STRING"):
            return False
        return self.begins_line(index)

    def begins_item(self, index: int, resync: Collection[str]) -> bool:
        """Whether an item or clause seems to begin here: one of ``resync`` first on a line."""
        kind, text, _, _ = self.tokens[index]
        if kind != "NAME" or not self.begins_line(index):
            return False
        return text in resync or ("NAME" in resync and self.tokens[index + 1][0] == "=")

    def failure(self, first: int, stop: int, resync: Collection[str]) -> Failure:
        """What to report: the token that does not fit, or the word before it that was taken as a name by mistake."""
        at, expected = stop, self.expected(self.before)
        if stop - 1 > first and stop - 1 in self.names:
            swallowed = self.begins_item(stop - 1, resync) or self.closes(stop - 1)
            misspelt = expected == {"="} and self.tokens[stop][0] != "=="
            if swallowed or misspelt:
                at, expected = stop - 1, self.expected(self.earlier)
        item = max(at - 1, first)
        while item > first and not self.begins_item(item, resync):
            item -= 1
        return Failure(at, expected, first, item, frozenset(resync))

    def takes_item(self, states: list[int], index: int, resync: Collection[str]) -> bool:
        """Whether the word can be shifted as what :meth:`begins_item` took it for, not as a name inside an item."""
        kind, text = self.kind(states, index), self.tokens[index][1]
        if kind == "NAME" and "NAME" in resync:
            return self.accepts(states, END) and self.accepts(states, kind)
        return kind == text and self.accepts(states, kind)

    def resume(self, stack: _Stack, index: int, failure: Failure) -> tuple[int, bool]:
        """The next token to go on with, the stack cut to where it fits; and whether the declaration is over.

        Besides keywords of items, any word that is indented like the item that failed may begin one, misspelt.
        """
        margin = self.column(failure.item)
        refused: set[tuple[str, str]] = set()
        while self.tokens[index][0] != END:
            if self.closes(index):
                return index, True
            if self.begins_item(index, failure.items):
                word, following = self.tokens[index][1], self.tokens[index + 1][0]
                size = 0 if (word, following) in refused else len(stack.values)
                while size and not self.takes_item(stack.states[: size + 1], index, failure.items):
                    size -= 1
                if size:
                    stack.cut(size)
                    return index, False
                refused.add((word, following))
            elif index > failure.index and self.begins_line(index) and self.tokens[index][0] == "NAME":
                column = self.column(index)
                if column == 0 and (margin > 0 or failure.item == failure.first):
                    return index, True
                if column == margin:
                    size = len(stack.values)
                    while size and not self.accepts(stack.states[: size + 1], END):
                        size -= 1
                    if size:
                        stack.cut(size)
                        return index, False
            index += 1
        return index, True

    def column(self, index: int) -> int:
        """How far a token is from the beginning of its line."""
        start = self.tokens[index][2]
        return start - (self.text.rfind("\n", 0, start) + 1)

    def boundary(self, index: int) -> int:
        """The next declaration, or the end."""
        while self.tokens[index][0] != END and not self.closes(index):
            index += 1
        return index
