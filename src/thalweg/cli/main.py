"""Entry point of `thalweg`: finds the commands in this folder and imports only the one that is called."""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

# typer reads options with pydantic, which looks through every installed package for plugins unless told not to
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
# hundreds of thousands of objects that are loaded now stay: looking through them for garbage takes a tenth of the start
gc.set_threshold(200_000, 20, 20)

_HERE = Path(__file__).parent
_ORDER = ("check", "run", "explain", "graph", "fmt")
"""The commands that come first in the help; others follow by name."""


class CommandFolder(TyperGroup):
    """A group whose commands are the modules of this folder."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = [p.stem for p in _HERE.glob("[a-z]*.py") if p.stem != "main"]
        return sorted(names, key=lambda n: (_ORDER.index(n) if n in _ORDER else len(_ORDER), n))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """For the help: the command without importing it."""
        return _listed(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def invoke(self, ctx: Any) -> Any:
        """Run a command. A full disk and the like are the user's to mend: one sentence instead of a traceback."""
        _open_streams()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            typer.echo(f"error: {error.strerror or error}{place}", err=True)
            raise typer.Exit(2) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """For a call: the command itself."""
        if args and args[0] in self.list_commands(ctx):
            return args[0], _imported(args[0]), args[1:]
        return super().resolve_command(ctx, args)


def _imported(name: str) -> Any:
    module = import_module(f"thalweg.cli.{name}")
    called = getattr(module, name)
    command = typer.Typer(add_completion=False)
    command.command(name, help=_flowing(called.__doc__ or ""))(called)
    return get_command(command)


def _flowing(text: str) -> str:
    """A docstring with each paragraph on one line, to be broken at the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _open_streams() -> None:
    """Where standard output or error is closed, as some services start their programs, what is printed goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


def _listed(name: str) -> Any:
    """A command that knows only its line in the help: the first line of its module."""
    text = (_HERE / f"{name}.py").read_text(encoding="utf-8")
    line = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    listed = typer.Typer(add_completion=False)
    listed.command(name, help=re.sub(r"^`[^`]*`: ", "", line))(lambda: None)
    return get_command(listed)


app = typer.Typer(
    cls=CommandFolder,
    add_completion=False,
    no_args_is_help=True,
    help="A stream reasoner: events and states, open answers, windows over atoms.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from thalweg import __version__

        typer.echo(f"thalweg {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """What stands before the command."""
