"""Turns the options that commands share into one value: how to write, and which findings to show."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, get_args

import click

from cfrc.cli.exits import Exit
from cfrc.cli.output import Color, terminal_width, wants_color, write_result, write_stream

Command = Callable[..., Exit]


@dataclass(frozen=True, slots=True)
class Output:
    """Where and how results go. ``select`` and ``ignore`` are code prefixes (``CFRC-COV``) or kinds (``coverage``)."""

    format: Literal["text", "json"] = "text"
    path: str | None = None
    quiet: bool = False
    color: Color = "auto"
    exit_zero: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def colored(self) -> bool:
        return wants_color(self.color, sys.stdout, to_file=self.path not in {None, "-"})

    @property
    def width(self) -> int:
        return terminal_width()

    def shows(self, code: str, kind: str) -> bool:
        """Whether a finding is shown. ``code`` is a full code. Filters never change a verdict."""
        wanted = not self.select or any(_matches(s, code, kind) for s in self.select)
        return wanted and not any(_matches(s, code, kind) for s in self.ignore)

    def write(self, text: str) -> None:
        write_result(text, self.path)

    def complain(self, text: str) -> None:
        """Writes diagnostics of bad input, to standard error."""
        write_stream(text, sys.stderr)

    @property
    def complaints_colored(self) -> bool:
        return wants_color(self.color, sys.stderr)

    def exit(self, code: Exit) -> Exit:
        """``--exit-zero`` silences verdicts, never bad input or internal errors."""
        return Exit.HOLDS if self.exit_zero and code in {Exit.FAILS, Exit.UNDECIDED} else code


def _matches(pattern: str, code: str, kind: str) -> bool:
    return pattern == kind or code.startswith(pattern)


def _patterns(_context: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated, repeatable; a pattern that can match nothing is a usage error, not a silent pass."""
    if not given:
        return ()
    from cfrc.codes import explanations, full
    from cfrc.model.graph import Kind

    found = []
    for text in (part.strip() for value in given for part in value.split(",")):
        if text in get_args(Kind):
            found.append(text)
        elif text and any(code.startswith(full(text)) for code in explanations()):
            found.append(full(text))
        else:
            raise click.BadParameter(f"no kind is called and no code starts with {text!r}: see `cfrc explain`")
    return tuple(found)


def output_options(command: Command) -> Command:
    """Adds the options of :class:`Output` to a command, which receives them as its argument ``out``."""

    @click.option(
        "--format", "format_", type=click.Choice(["text", "json"]), default="text", help="How to write results."
    )
    @click.option("--output", "-o", metavar="FILE", help="Write results there, at once, instead of standard output.")
    @click.option("--quiet", "-q", is_flag=True, help="Say only the last line, or the heading.")
    @click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Terminal colours.")
    @click.option("--exit-zero", is_flag=True, help="Exit 0 whatever the verdict; bad input still exits 2.")
    @wraps(command)
    def wrapped(*args: Any, format_: Any, output: Any, quiet: Any, color: Any, exit_zero: Any, **rest: Any) -> Exit:
        select, ignore = rest.pop("select", ()), rest.pop("ignore", ())
        out = Output(format_, output, quiet, color, exit_zero, select, ignore)
        return out.exit(command(*args, out=out, **rest))

    return wrapped


def root_option(command: Command) -> Command:
    """Adds ``--root``, received as ``roots``."""
    help = "A further folder that imports may name files of (repeatable)."
    option = click.option(
        "--root", "roots", multiple=True, metavar="DIR", type=click.Path(exists=True, file_okay=False), help=help
    )
    return option(command)


def finding_options(command: Command) -> Command:
    """Adds ``--select``, ``--ignore`` and ``--budget``. Stands above :func:`output_options`."""
    selects = "Show only findings with these codes, code prefixes or kinds (comma-separated). Verdicts do not change."
    budget = "Give up as undecided after so much solver work (a count of steps, the same on every machine)."
    for option in (
        click.option("--select", multiple=True, metavar="CODES", callback=_patterns, help=selects),
        click.option("--ignore", multiple=True, metavar="CODES", callback=_patterns, help="Hide these findings."),
        click.option("--budget", type=click.IntRange(min=1), metavar="N", help=budget),
    ):
        command = option(command)
    return command
