"""Turns a Lark grammar into LALR tables that are plain JSON, and loads them again without Lark.

Building the tables takes Lark a quarter of a second; reading them takes milliseconds, so they are built ahead of time:
``python -m cfrc.lang.tables`` writes ``tables.json`` from ``grammars/cfrc.lark`` and a test pins that the two agree.
Building is strict: any shift/reduce conflict or colliding terminal is an error, never silently resolved.

Terminals are named by their own text (``from``, ``==``) or, if they are patterns, by their grammar name (``NAME``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

END = "$END"
PASS = ""
LIST = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One production: its nonterminal, its length, what to do (an action name, PASS or LIST), and what to hand on.

    ``keep`` lists positions of the right-hand side: ``k`` is that value, ``-1`` is ``None`` (an optional part that is
    not there), ``-2 - k`` is the list at ``k``, spliced in.
    """

    lhs: str
    size: int
    action: str
    keep: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """``actions[s][terminal]`` is a state to shift to, or ``-1 - r`` to reduce by rule ``r``; ``gotos`` likewise.

    ``first`` maps each nonterminal to the terminals that may begin it.
    """

    rules: tuple[Rule, ...]
    actions: tuple[Mapping[str, int], ...]
    gotos: tuple[Mapping[str, int], ...]
    starts: Mapping[str, int]
    first: Mapping[str, frozenset[str]]


@cache
def load(path: Path) -> Tables:
    """The tables of one JSON file (package data: trusted, but data all the same)."""
    data = json.loads(path.read_text("utf-8"))
    rows, moves = data["rows"], data["gotos"]
    return Tables(
        rules=tuple(Rule(lhs, size, action, tuple(keep)) for lhs, size, action, keep in data["rules"]),
        actions=tuple(rows[r] for r, _ in data["states"]),
        gotos=tuple(moves[g] for _, g in data["states"]),
        starts=data["starts"],
        first={name: frozenset(terminals) for name, terminals in data["first"].items()},
    )


def build(grammar: str, starts: Sequence[str], first_of: Sequence[str]) -> dict[str, Any]:
    """The JSON form of a grammar's tables. Raises Lark's ``GrammarError`` if the grammar has a conflict."""
    from lark import Lark

    parser = Lark(grammar, parser="lalr", lexer="contextual", start=list(starts), maybe_placeholders=True, strict=True)
    table = parser.parser.parser._parse_table  # Lark has no public way to its tables
    text = {t.name: t.pattern.value if t.pattern.type == "str" else t.name for t in parser.terminals} | {END: END}
    number = _numbered(table, starts)
    rules = sorted(parser.rules, key=lambda r: (r.origin.name, r.order, len(r.expansion), str(r)))
    position = {rule: i for i, rule in enumerate(rules)}
    rows: dict[str, int] = {}
    moves: dict[str, int] = {}
    states = []
    ends = set(table.end_states.values())
    for state in number:
        actions = table.states[state]
        row: dict[str, int] = {END: number[state]} if state in ends else {}
        move: dict[str, int] = {}
        for symbol, (action, argument) in actions.items():
            if symbol in text:
                row[text[symbol]] = number[argument] if action.name == "Shift" else -1 - position[argument]
            else:
                move[symbol] = number[argument]
        states.append([_index(rows, row), _index(moves, move)])
    return {
        "rules": [_rule(r) for r in rules],
        "rows": [json.loads(r) for r in rows],
        "gotos": [json.loads(m) for m in moves],
        "states": states,
        "starts": {s: number[table.start_states[s]] for s in starts},
        "first": {name: sorted(_first(name, rules, text)) for name in first_of},
    }


def _numbered(table: Any, starts: Sequence[str]) -> dict[Any, int]:
    """Lark's states in an order that does not depend on hashing: breadth first from the start symbols."""
    order = dict.fromkeys(table.start_states[s] for s in starts)
    todo = list(order)
    for state in todo:
        shifts = sorted((symbol, to) for symbol, (action, to) in table.states[state].items() if action.name == "Shift")
        for _, to in shifts:
            if to not in order:
                order[to] = None
                todo.append(to)
    return {state: i for i, state in enumerate(order)}


def _index(known: dict[str, int], row: dict[str, int]) -> int:
    return known.setdefault(json.dumps(row, sort_keys=True), len(known))


def _rule(rule: Any) -> list[Any]:
    """One production as JSON. Which children count follows Lark: keywords are dropped unless the rule says ``!``."""
    name, options = rule.origin.name, rule.options
    gaps = "".join("1" if b else "0" for b in options.empty_indices).split("0")
    gaps = gaps if options.empty_indices else [""] * (len(rule.expansion) + 1)
    keep: list[int] = []
    for i, symbol in enumerate(rule.expansion):
        keep += [-1] * len(gaps[i])
        if not symbol.is_term and symbol.name.startswith("_"):
            keep.append(-2 - i)
        elif options.keep_all_tokens or not symbol.is_term or not symbol.filter_out:
            keep.append(i)
    keep += [-1] * len(gaps[-1])
    action = rule.alias or name
    if name.startswith("_"):
        action = LIST
    elif not rule.alias and options.expand1 and len(keep) == 1:
        action = PASS
    if not rule.expansion:
        raise ValueError(f"rule `{name}` may be empty: the parser needs a place for every part")
    return [name, len(rule.expansion), action, keep]


def _first(name: str, rules: Sequence[Any], text: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    seen: set[str] = set()
    todo = [name]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for symbol in (r.expansion[0] for r in rules if r.origin.name == current):
            if symbol.is_term:
                found.add(text[symbol.name])
            else:
                todo.append(symbol.name)
    return found


def main() -> None:
    """Rewrites the tables of every grammar that the declaration kinds use."""
    from cfrc.lang.kinds import ROOMS, kind_of

    for grammar in {kind_of(keyword).grammar.path: kind_of(keyword).grammar for keyword in ROOMS}.values():
        data = grammar.build()
        grammar.path.write_text(json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")
        print(f"{grammar.path}: {len(data['states'])} states, {len(data['rules'])} rules")


if __name__ == "__main__":
    main()
