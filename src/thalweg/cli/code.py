"""Say what a diagnostic code means, with a wrong and a right example where there is one."""

from __future__ import annotations

from typing import Annotated

import typer

ROOMS = (
    "thalweg.analysis.codes",
    "thalweg.events.relations",
    "thalweg.answers.datalog",
    "thalweg.answers.offline",
    "thalweg.lars.stratify",
)
"""The modules that register codes, beside the language's own."""


def code(
    codes: Annotated[list[str], typer.Argument(help="Codes such as TW103.")],
) -> None:
    """Say what diagnostic codes mean; the same text is under docs/errors."""
    from importlib import import_module

    from thalweg.language.diagnostics import CODES, page

    wanted = [f"TW{name}" if name.isdigit() else name.upper() for name in codes]
    if not set(wanted) <= set(CODES):
        for room in ROOMS:
            import_module(room)
    unknown = [name for name in wanted if name not in CODES]
    if unknown:
        typer.echo(f"there is no code {', '.join(unknown)}; there are {', '.join(sorted(CODES))}", err=True)
        raise typer.Exit(2)
    typer.echo("\n".join(page(CODES[name]).rstrip() + "\n" for name in wanted).rstrip())
