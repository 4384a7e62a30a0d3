"""Turns ``sys.argv`` into an exit code. Commands are imported when they are called, and import what they need then."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from cfrc import __version__
from cfrc.cli.exits import Exit
from cfrc.cli.output import write_stream

_COMMANDS = (
    "check",
    "verify",
    "test",
    "fmt",
    "convert",
    "explain",
    "schema",
    "sweep",
    "guard",
    "import",
    "freeze",
    "close",
    "run",
    "replay",
    "audit",
)


class _Commands(click.Group):
    """A group whose commands live in ``cfrc.cli.<name>``, in the attribute ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        found = import_module(f"cfrc.cli.{module}").command
        assert isinstance(found, click.Command)
        return found


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, "--version", "-V", message="cfrc %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Contracts for the rest of an agent's task, checked before anything runs.

    \b
    Exit codes: 0 everything holds or is admitted (or there is nothing to do)
                1 something is refused, fails, is vacuous, withheld or unresolved
                2 the input or the usage is wrong
                3 undecided within the budget, and nothing worse
                4 internal error
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(Exit.INPUT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code. Never raises, except on ``SystemExit`` and when debugging."""
    try:
        result: Any = cli.main(list(arguments) if arguments is not None else None, "cfrc", standalone_mode=False)
    except click.ClickException as problem:
        write_stream(_wrong_usage(problem), sys.stderr)
        return Exit.INPUT
    except click.Abort:
        return 130
    except Exception as problem:  # the one place where a fault of cfrc itself is caught
        if os.environ.get("CFRC_DEBUG"):
            raise
        write_stream(_internal(problem), sys.stderr)
        return Exit.INTERNAL
    return int(result) if isinstance(result, int) else Exit.HOLDS


def _wrong_usage(problem: click.ClickException) -> str:
    """Click's message with what the user gave made safe: a file name may hold terminal escapes."""
    from cfrc.report.escape import message

    usage = ""
    if isinstance(problem, click.UsageError) and problem.ctx is not None:
        usage = f"{problem.ctx.get_usage()}\nTry '{problem.ctx.command_path} --help' for help.\n\n"
    return f"{usage}Error: {message(problem.format_message())}\n"


def _internal(problem: Exception) -> str:
    """One paragraph about a fault of cfrc itself, with the place in its code."""
    from cfrc.report.escape import clip

    place = "an unknown place"
    home = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
    trace = problem.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(home):
            place = f"cfrc{file[len(home) - 1 :]}:{trace.tb_lineno}"
        trace = trace.tb_next
    cause = clip(f"{type(problem).__name__}: {problem}", 300)
    return (
        f"cfrc: internal error at {place} ({cause}). This is a fault of cfrc, not a verdict about your input. "
        "Please report it with the input; CFRC_DEBUG=1 shows the traceback.\n"
    )
