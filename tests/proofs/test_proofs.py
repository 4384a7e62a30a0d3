"""Turns the lemmas in ``proofs`` into tests: each is proved, and each of its named assumptions is needed for it."""

from __future__ import annotations

import re
from itertools import combinations, permutations
from pathlib import Path

import pytest
import z3

PROOFS = Path(__file__).parents[2] / "proofs"
LEMMAS = sorted(PROOFS.glob("*.smt2"))
BUDGET = 20_000_000


def answer(text: str) -> str:
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", BUDGET)
    solver.from_string(text.replace("(check-sat)", ""))
    return str(solver.check())


def assumptions(text: str) -> list[tuple[str, str]]:
    """Each named assumption with the lemma's text without it."""
    found = []
    for name in re.finditer(r":named ([\w-]+)\)+", text):
        start = text.rindex("(assert (!", 0, name.start())
        found.append((name[1], text[:start] + text[name.end() :]))
    return found


CASES = [(lemma, name, rest) for lemma in LEMMAS for name, rest in assumptions(lemma.read_text("utf-8"))]


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda p: p.stem)
def test_the_lemma_is_proved(lemma: Path) -> None:
    assert answer(lemma.read_text("utf-8")) == "unsat"


@pytest.mark.parametrize(("lemma", "name", "rest"), CASES, ids=[f"{p.stem}-{n}" for p, n, _ in CASES])
def test_each_assumption_is_needed(lemma: Path, name: str, rest: str) -> None:
    assert answer(rest) == "sat", f"{lemma.name} holds without {name}"


def test_every_lemma_is_explained() -> None:
    listed = re.findall(r"^\| `([\w.]+)`", (PROOFS / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == [p.name for p in LEMMAS]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_linearizations_are_connected_by_swaps_of_neighbours(size: int) -> None:
    pairs = list(combinations(range(size), 2))
    for chosen in range(1 << len(pairs)):
        order = {p for i, p in enumerate(pairs) if chosen >> i & 1}
        legal = {
            s for s in permutations(range(size)) if all(s.index(a) < s.index(b) for a, b in order)
        }  # fmt: skip
        reached, todo = set(), [next(iter(legal))]
        while todo:
            now = todo.pop()
            if now in reached:
                continue
            reached.add(now)
            swaps = ((*now[:i], now[i + 1], now[i], *now[i + 2 :]) for i in range(size - 1))
            todo += [s for s in swaps if s in legal]
        assert reached == legal
