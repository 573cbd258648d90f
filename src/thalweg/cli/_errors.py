"""How commands report what went wrong: one message on standard error, and an exit code.

1   the rules have errors, or a run was told to stop at a bad row
2   the request cannot be carried out: a missing file or solver, an unreadable format, options that make no sense
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from thalweg.cli.check import more_about
from thalweg.io.errors import InputError
from thalweg.language.diagnostics import ProgramError
from thalweg.protocol import PartMissing, TooLarge
from thalweg.runs import RowRejected


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors that are the user's to mend into a message and an exit code, and warnings of ours into lines."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _plainly(warnings.showwarning)
            yield
    except ProgramError as error:
        typer.echo(f"{error}\n{more_about(error.diagnostics)}", err=True)
        raise typer.Exit(1) from error
    except RowRejected as error:
        typer.echo(f"stopped at a bad row: {error}", err=True)
        raise typer.Exit(1) from error
    except (InputError, PartMissing, TooLarge) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        raise typer.Exit(130) from None


Shown = Callable[..., None]
"""What Python calls with a warning, its class, and where it was given."""


def _plainly(show: Shown) -> Shown:
    """The same, with warnings of ours in one line; those of libraries are shown as ever."""

    def shown(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__module__.startswith("thalweg."):
            typer.echo(f"warning: {message}", err=True)
        else:
            show(message, category, *where, **more)

    return shown
