"""`thalweg run --follow`: a stream on Spark that tells of each batch and ends when it is told to."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thalweg.language.wording import counted, tallied

if TYPE_CHECKING:
    from thalweg.language.program import Program
    from thalweg.plans import Options
    from thalweg.spark.pipeline import BatchReport
    from thalweg.spark.streaming import Stream

PATIENCE = 1
"""Seconds between looks at what has been done."""
GLANCE = 0.2
"""Seconds between looks at whether to stop at once."""


def followed(
    program: Program,
    inputs: Sequence[str],
    options: Options,
    out: Path | None,
    master: str | None,
    shards: int | None,
    settings: Mapping[str, Any],
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Follow directories until the end, or until a signal asks to stop."""
    from thalweg.io.errors import InputError
    from thalweg.spark.cli import follow

    given = {name: value for name, value in settings.items() if value is not None}
    if out is None and "checkpoint" not in given:
        raise InputError(
            "out", "following keeps its state and its tables in a directory", "say which one: --out DIR"
        )
    given.setdefault("checkpoint", out / "_checkpoint" if out is not None else None)
    running = follow(program, inputs, options, out=out, master=master, shards=shards, **given)
    endpoint = running.endpoint
    if endpoint is not None and not quiet:
        typer.echo(f"metrics: http://127.0.0.1:{endpoint.port}/metrics", err=True)
    with _interruptible() as asked:
        whole = _told(running, asked, quiet=quiet, as_json=as_json)
    if not whole:
        typer.echo("broken off: the rows of the batch that was under way come first at the next start", err=True)
        raise typer.Exit(130)
    if not quiet and not as_json:
        typer.echo(f"tables in {running.tables.directory.address}", err=True)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """A list that gets the signals that ask to stop."""
    asked: list[int] = []
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, lambda number, _: asked.append(number)) for each in wanted]
    try:
        yield asked
    finally:
        for each, old in zip(wanted, before, strict=True):
            signal.signal(each, old)


def _told(running: Stream, asked: list[int], *, quiet: bool, as_json: bool) -> bool:
    """Tell of the batches as they are done; False where the last one was broken off."""
    last = -1
    ended, whole = False, True
    while not ended:
        ended = running.wait(PATIENCE)
        if asked and not ended:
            whole = _stopped(running, asked, quiet=quiet)
            ended = running.wait()  # what the batch under way failed with is raised here
        for report in [r for r in list(running.reports) if r.batch > last]:
            last = report.batch
            if as_json:
                typer.echo(json.dumps(asdict(report)))
            elif not quiet:
                typer.echo(_line(report), err=True)
    return whole


def _stopped(running: Stream, asked: list[int], *, quiet: bool) -> bool:
    """Stop after the batch that is under way, or at once when that is asked for again; False: it was broken off."""
    if not quiet:
        typer.echo("stopping after the batch under way; at once if interrupted again", err=True)
    stopping = threading.Thread(target=running.stop, name="thalweg-stopping")
    stopping.start()
    while stopping.is_alive():
        if len(asked) > 1:
            running.break_off()
            stopping.join()
            return False
        stopping.join(GLANCE)
    return True


def _line(report: BatchReport) -> str:
    found = tallied({name: n for name, n in sorted(report.tables.items()) if n})
    rejected = ", ".join(f"{n} {reason}" for reason, n in sorted(report.rejected.items()))
    seconds = sum(v for step, v in report.seconds.items() if not step.startswith("stage"))
    return (
        f"batch {report.batch}: {counted(report.rows, 'row')} to query time {report.moment.query_time:,}"
        f"{': ' + found if found else ''}{' (' + rejected + ')' if rejected else ''}, {seconds:.1f} s"
    )
