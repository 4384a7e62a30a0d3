"""Turns a code into its explanation, or no code into the list of all codes."""

from __future__ import annotations

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options


@click.command()
@click.argument("code", required=False)
@output_options
def command(code: str | None, out: Output) -> Exit:
    """Say what a code means and how to mend it; without CODE, list all codes."""
    from cfrc.codes import explanations, full

    if code is None:
        out.write(_listed(out))
        return Exit.HOLDS
    known = explanations()
    found = known.get(full(code))
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(full(code), known, n=1)
        raise click.UsageError(f"there is no code {code!r}" + (f"; did you mean {near[0]}?" if near else ""))
    if out.format == "json":
        from cfrc.report.json import dumps

        out.write(dumps({"cfrc": 1, "code": found.code, "title": found.title, "area": found.area, "text": found.text}))
    else:
        from cfrc.report.explanation import render_explanation

        out.write(render_explanation(found, quiet=out.quiet, color=out.colored, width=out.width))
    return Exit.HOLDS


def _listed(out: Output) -> str:
    from cfrc.codes import explanations

    every = explanations().values()
    if out.format == "json":
        from cfrc.report.json import dumps

        return dumps({"cfrc": 1, "codes": [{"code": e.code, "title": e.title, "area": e.area} for e in every]})
    from cfrc.report.explanation import render_list

    return render_list(every, color=out.colored)
