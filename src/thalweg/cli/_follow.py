"""`thalweg run --follow`: a stream on Spark that tells of each batch and ends when it is told to."""

from __future__ import annotations

import json
import signal
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
    if running.endpoint is not None and not quiet:
        typer.echo(f"metrics: http://127.0.0.1:{running.endpoint.port}/metrics", err=True)
    with _interruptible() as asked:
        _told(running, asked, quiet=quiet, as_json=as_json)
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


def _told(running: Stream, asked: list[int], *, quiet: bool, as_json: bool) -> None:
    """Tell of the batches as they are done."""
    last = -1
    ended = False
    while not ended:
        ended = running.wait(PATIENCE)
        if asked and not ended:
            running.stop()
            ended = True
        for report in [r for r in list(running.reports) if r.batch > last]:
            last = report.batch
            if as_json:
                typer.echo(json.dumps(asdict(report)))
            elif not quiet:
                typer.echo(_line(report), err=True)


def _line(report: BatchReport) -> str:
    found = tallied({name: n for name, n in sorted(report.tables.items()) if n})
    rejected = ", ".join(f"{n} {reason}" for reason, n in sorted(report.rejected.items()))
    seconds = sum(v for step, v in report.seconds.items() if not step.startswith("stage"))
    return (
        f"batch {report.batch}: {counted(report.rows, 'row')} to query time {report.moment.query_time:,}"
        f"{': ' + found if found else ''}{' (' + rejected + ')' if rejected else ''}, {seconds:.1f} s"
    )
