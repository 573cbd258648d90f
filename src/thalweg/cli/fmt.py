"""Print programs in canonical form, or rewrite their files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

STANDARD_INPUT = Path("-")


def fmt(
    files: Annotated[list[Path], typer.Argument(help="Program files, or - for standard input.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail where a file would change.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Rewrite the files in place.")] = False,
) -> None:
    """Print programs in canonical form, comments kept; --write rewrites the files."""
    from thalweg.cli._files import missing_one

    if check and write:
        typer.echo("error: --check changes nothing and --write does; choose one", err=True)
        raise typer.Exit(2)
    if write and STANDARD_INPUT in files:
        typer.echo("error: standard input is not rewritten; leave out --write", err=True)
        raise typer.Exit(2)
    changed = failed = missing = False
    for path in files:
        if not path.is_file() and path != STANDARD_INPUT:
            typer.echo(missing_one(path), err=True)
            missing = True
            continue
        texts = _before_and_after(path)
        if texts is None:
            failed = True
        elif not check and not write:
            typer.echo(texts[1], nl=False)
        elif texts[0] != texts[1]:
            if check:
                typer.echo(f"would change {path}")
                changed = True
            elif not _rewritten(path, texts[1]):
                failed = True
    if failed or changed or missing:
        raise typer.Exit(1 if failed or changed else 2)


def _before_and_after(path: Path) -> tuple[str, str] | None:
    """The text of a file and its canonical form; None where something is wrong, which is said."""
    from thalweg.language.diagnostics import ProgramError, render
    from thalweg.language.includes import decode
    from thalweg.language.layout import format_file, format_text

    try:
        text, wrong = decode(_read(path), str(path))
        if not wrong:
            return text, format_text(text, str(path)) if path == STANDARD_INPUT else format_file(text, path)
        typer.echo(render(wrong, {str(path): text}), err=True)
    except OSError as error:
        typer.echo(f"error: cannot read {path}: {error.strerror}", err=True)
    except ProgramError as error:
        typer.echo(str(error), err=True)
    return None


def _rewritten(path: Path, text: str) -> bool:
    """Replace a file by its new text, and say so, or why not."""
    try:
        _rewrite(path, text)
    except OSError as error:
        typer.echo(f"error: cannot write {path}: {error.strerror}", err=True)
        return False
    typer.echo(f"changed {path}")
    return True


def _read(path: Path) -> bytes:
    return sys.stdin.buffer.read() if path == STANDARD_INPUT and not path.is_file() else path.read_bytes()


def _rewrite(path: Path, text: str) -> None:
    """Replace a file by its new text, whole or not at all."""
    import shutil
    import tempfile

    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        shutil.copymode(path, name)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
