"""Files of rules that a command is given and that are none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer


def missing_one(path: Path) -> str:
    """What is said of a path that is no file."""
    return f"error: {path} is a directory, not a file of rules" if path.is_dir() else f"error: there is no file {path}"


def refuse_missing(paths: Iterable[Path]) -> None:
    """End the command with exit code 2 unless all of them are files."""
    missing = [path for path in paths if not path.is_file()]
    for path in missing:
        typer.echo(missing_one(path), err=True)
    if missing:
        raise typer.Exit(2)
