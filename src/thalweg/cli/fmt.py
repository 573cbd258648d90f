"""Print programs in canonical form, or rewrite their files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fmt(
    files: Annotated[list[Path], typer.Argument(help="Program files.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail where a file would change.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Rewrite the files in place.")] = False,
) -> None:
    """Print programs in canonical form, comments kept; --write rewrites the files."""
    from thalweg.cli._files import missing_one
    from thalweg.language.diagnostics import ProgramError, render
    from thalweg.language.includes import decode
    from thalweg.language.layout import format_text

    if check and write:
        typer.echo("error: --check changes nothing and --write does; choose one", err=True)
        raise typer.Exit(2)
    changed = failed = missing = False
    for path in files:
        if not path.is_file():
            typer.echo(missing_one(path), err=True)
            missing = True
            continue
        try:
            before, wrong = decode(path.read_bytes(), str(path))
            if wrong:
                typer.echo(render(wrong, {str(path): before}), err=True)
                failed = True
                continue
            after = format_text(before, str(path))
        except OSError as error:
            typer.echo(f"error: cannot read {path}: {error.strerror}", err=True)
            failed = True
            continue
        except ProgramError as error:
            typer.echo(str(error), err=True)
            failed = True
            continue
        if check:
            if before != after:
                typer.echo(f"would change {path}")
                changed = True
        elif write:
            if before != after:
                try:
                    path.write_text(after, encoding="utf-8")
                except OSError as error:
                    typer.echo(f"error: cannot write {path}: {error.strerror}", err=True)
                    failed = True
                    continue
                typer.echo(f"changed {path}")
        else:
            typer.echo(after, nl=False)
    if failed or changed or missing:
        raise typer.Exit(1 if failed or changed else 2)
