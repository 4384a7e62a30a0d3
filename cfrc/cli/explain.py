"""Turns a code or a verdict's word into its explanation, and a kind, or nothing, into a list of codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from cfrc.cli.exits import Exit
from cfrc.cli.options import Output, output_options

if TYPE_CHECKING:
    from cfrc.codes import Explanation


@click.command()
@click.argument("code", required=False, metavar="[CODE|KIND|WORD]")
@output_options
def command(code: str | None, out: Output) -> Exit:
    """Say what a code means and how to mend it, or what the word of a verdict or outcome means (fresh, withheld, held).

    With a kind (coverage), the letters of a code (COV) or an area (admission) instead: list its codes. With nothing:
    list all codes by kind.
    """
    from cfrc.codes import about, explanations, full, near, words

    known = explanations()
    if code is None:
        out.write(_listed(known.values(), out))
        return Exit.HOLDS
    found = known.get(full(code)) or words().get(code.strip().lower())
    if found is None:
        several = about(code)
        if not several:
            likely = near(code)
            hint = f"did you mean {' or '.join(likely)}?" if likely else "`cfrc explain` lists all codes by kind"
            raise click.UsageError(f"there is no code, no kind and no verdict {code!r}; {hint}")
        out.write(_listed(several, out))
    elif out.format == "json":
        from cfrc.report.json import dumps

        document = {"code": found.code, "title": found.title, "kind": found.kind, "area": found.area}
        out.write(dumps({"cfrc": 1, **document, "text": found.text}))
    else:
        from cfrc.report.explanation import render_explanation

        out.write(render_explanation(found, quiet=out.quiet, color=out.colored, width=out.width))
    return Exit.HOLDS


def _listed(every: Iterable[Explanation], out: Output) -> str:
    if out.format == "json":
        from cfrc.report.json import dumps

        codes = [{"code": e.code, "title": e.title, "kind": e.kind, "area": e.area} for e in every]
        return dumps({"cfrc": 1, "codes": codes})
    from cfrc.report.explanation import render_list

    return render_list(every, color=out.colored)
