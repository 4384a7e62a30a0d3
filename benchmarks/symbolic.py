"""Turns a size into symbolic contracts and proposals, as text: receipts that may alias, conditional effects, guards.

``desk`` holds pairs of obligations: a ticket has to be found, and then closed, whichever level the receipt reports
(one call acts by its guard, the other by a conditional effect). ``guards`` covers one obligation by many guarded calls
with one level left out: only a counterexample with exactly that level shows the hole.
"""

from __future__ import annotations

DESK = """\
domain desk
    id Item, Ticket
    effect found(item: Item)
    effect closed(ticket: Ticket)
    effect filed(item: Item, level: int)
    read find(item: Item) -> { ticket: Ticket, level: int }
        ensures result.level >= 0 and result.level < 1000
        witnesses found(item)
    write close(ticket: Ticket) causes closed(ticket)
    write settle(ticket: Ticket, really: bool free)
        causes closed(ticket) when really
    write file(item: Item) causes filed(item, 0)
"""


def desk(obligations: int) -> str:
    """A spec with about that many obligations (an even number), and the proposal ``all`` that discharges them."""
    pairs = range(max(1, obligations // 2))
    lines = [DESK, "contract tickets for desk", '    kept found("seen") from receipt c0 of find']
    lines += [f'    known x{i}: Item = "item-{i}" from user turn 1' for i in pairs]
    for i in pairs:
        lines += [f"    owes f{i}: found(x{i})", f"    owes c{i}: closed(f{i}.ticket)"]
    lines += [
        "    allow find, close, settle",
        "    within found(_)",
        "    within closed(_)",
        "",
        "proposal all for tickets",
    ]
    for i in pairs:
        lines += [
            f"    r{i} = find(item: x{i})",
            f"    a{i} = close(ticket: r{i}.ticket) when r{i}.level > 500",
            f"    b{i} = settle(ticket: r{i}.ticket, really: r{i}.level <= 500) when r{i}.level < 600",
        ]
    return "\n".join([*lines, "    done", ""])


def guards(count: int, hole: bool = True) -> str:
    """A spec whose proposal ``branches`` has a guarded call for each of ``count`` levels, or for all but one."""
    missing = count * 2 // 3 if hole else -1
    lines = [
        DESK.replace("< 1000", f"< {count}"),
        "contract filing for desk",
        '    kept found("seen") from receipt c0 of find',
        '    known x: Item = "item" from user turn 1',
        "    owes filing: filed(x, 0)",
        "    allow find, file",
        "    within filed(_, _)",
        "",
        "proposal branches for filing",
        "    r = find(item: x)",
    ]
    lines += [f"    g{i} = file(item: x) when r.level == {i}" for i in range(count) if i != missing]
    return "\n".join([*lines, "    done", ""])


def text(lines: int) -> str:
    """A valid spec of exactly that many lines (at least 60)."""
    written = desk(2 * ((lines - 30) // 6)).splitlines()
    return "\n".join([*("# filler" for _ in range(lines - len(written))), *written, ""])
