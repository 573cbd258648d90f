"""Draw the dependency graph of a program: HTML, SVG, DOT or Mermaid."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli._options import Background


def graph(
    file: Annotated[Path, typer.Argument(help="The program file.")],
    background: Background = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write; the ending says how: .html .svg .dot .mmd"),
    ] = None,
) -> None:
    """Draw the dependency graph of a program. Without --out, an HTML file with the program's name in the current
    directory; `-o -.dot` and the like print to the terminal."""
    from thalweg.cli._files import refuse_missing
    from thalweg.language.diagnostics import has_errors, render
    from thalweg.language.parser import read_files
    from thalweg.language.wording import counted
    from thalweg.show.graph import graph as draw

    refuse_missing([file, *(background or [])])
    program, found = read_files(file, *(background or []))
    if has_errors(found):
        typer.echo(render(found, program.sources), err=True)
        raise typer.Exit(1)
    drawn = draw(program)
    target = out or Path(f"{file.stem}.html")
    try:
        if target.stem == "-":
            typer.echo(drawn.as_text(target.suffix), nl=False)
            return
        drawn.save(target)
    except OSError as error:
        typer.echo(f"error: cannot write {target}: {error.strerror}", err=True)
        raise typer.Exit(2) from None
    except ValueError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(
        f"{counted(len(drawn.boxes), 'box', 'boxes')} and {counted(len(drawn.arrows), 'arrow')} in {target}"
    )
