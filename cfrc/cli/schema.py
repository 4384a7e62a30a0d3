"""Turns the name of a JSON form into its published JSON Schema."""

from __future__ import annotations

import json
from typing import Literal

import click

from cfrc.cli.exits import Exit
from cfrc.cli.output import write_result


@click.command()
@click.argument("form", type=click.Choice(["contract", "proposal", "ledger", "verdict"]))
@click.option("--output", "-o", metavar="FILE", help="Write it there, at once, instead of standard output.")
def command(form: Literal["contract", "proposal", "ledger", "verdict"], output: str | None) -> Exit:
    """Print the JSON Schema of what programs write (contract, proposal, ledger) or read (verdict)."""
    if form == "verdict":
        from cfrc.report.schema import verdict_schema

        schema = verdict_schema()
    else:
        from cfrc.lang.jsonforms.schema import json_schema

        schema = json_schema(form)
    write_result(json.dumps(schema, indent=2) + "\n", output)
    return Exit.HOLDS
