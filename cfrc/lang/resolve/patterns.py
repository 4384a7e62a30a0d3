"""Turns a written argument list into arguments by parameter name: ``f(x, to: y)``, each mismatch reported once."""

from __future__ import annotations

from collections.abc import Sequence

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.problems import Problems
from cfrc.model.types import Type


def bind(
    problems: Problems,
    func: t.Name,
    params: Sequence[tuple[str, Type]],
    args: Sequence[t.Arg],
    *,
    partial: bool = False,
) -> dict[str, t.ExprNode]:
    """The written argument of each parameter. Positional arguments come first, as declared.

    Reports too many (``EXP003``), unknown, repeated and (unless ``partial``) missing ones (``EXP004``). Parameters
    that have no argument are left out of the result.
    """
    names = [n for n, _ in params]
    bound: dict[str, t.ExprNode] = {}
    before = len(problems.found)
    for i, arg in enumerate(args):
        if arg.name is None:
            if i >= len(names):
                problems.add(
                    "EXP003", f"{quoted(func.text)} takes {len(names)} argument(s), found {len(args)}", arg.span,
                    _signature(func.text, params),
                )  # fmt: skip
                return bound
            if names[i] in bound:
                problems.add("EXP004", f"argument `{names[i]}` is given twice", arg.span, "name the later ones")
                continue
            bound[names[i]] = arg.value
        elif arg.name.text not in names:
            help = problems.suggest(arg.name.text, names, _signature(func.text, params))
            problems.add("EXP004", f"{quoted(func.text)} has no parameter {quoted(arg.name.text)}", arg.name.span, help)
        elif arg.name.text in bound:
            problems.add("EXP004", f"argument {quoted(arg.name.text)} is given twice", arg.name.span)
        else:
            bound[arg.name.text] = arg.value
    missing = [n for n in names if n not in bound]
    if missing and not partial and len(problems.found) == before:
        what = ", ".join(f"`{n}`" for n in missing)
        problems.add(
            "EXP004", f"{quoted(func.text)} lacks its argument {what}", func.span, _signature(func.text, params)
        )
    return bound


def _signature(name: str, params: Sequence[tuple[str, Type]]) -> str:
    inner = ", ".join(f"{n}: {t_}" for n, t_ in params)
    return f"it is declared as {name}({inner})"
