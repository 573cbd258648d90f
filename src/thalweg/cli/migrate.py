"""Give the checkpoint of a Spark pipeline changed rules without losing its state."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli._options import Background


def migrate(
    checkpoint: Annotated[str, typer.Argument(help="The directory of the checkpoint, or of the tables.")],
    rules: Annotated[Path, typer.Argument(help="The changed rules.")],
    background: Background = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Give a checkpoint changed rules.

    The window that the state has kept is evaluated again under them. What comes out differently is added to the
    tables as changes; everything else stays. What the changed rules cannot know of the past is said in notes. Stop
    the stream before, and start it again with the changed rules.
    """
    from thalweg.cli._errors import reported
    from thalweg.language.wording import tallied
    from thalweg.spark.checkpoint import located
    from thalweg.spark.migration import migrate as migrated

    with reported():
        done = migrated(located(checkpoint).directory.address, rules, background=background or ())
    if as_json:
        typer.echo(json.dumps(asdict(done)))
    elif done.batch is None:
        typer.echo("no batch yet: the changed rules count from the first one on")
    elif not done.corrections:
        typer.echo("the checkpoint has these rules already")
    else:
        found = tallied({name: n for name, n in sorted(done.corrections.items()) if n and name != "open"})
        if done.undone:
            typer.echo(f"what the last change of the rules had added is taken out again: {tallied(done.undone)}")
        typer.echo(f"the window up to query time {done.query_time:,} was evaluated again: {found or 'nothing changes'}")
        for note in done.notes:
            typer.echo(f"note: {note}")
