"""A progress bar on a terminal: rows, query time, rate. Nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from thalweg.language.wording import counted
from thalweg.runs import Progress


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[Progress], None] | None]:
    """What to call as a run goes on; None where nothing is shown."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    from thalweg.columns.compiled import told_of_compiling

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(now: Progress) -> None:
            rate = now.rows / now.seconds if now.seconds else 0.0
            at = "" if now.query_time is None else f", query time {now.query_time:,}"
            bar.update(
                task,
                completed=now.rows,
                total=now.of,
                description=f"{counted(now.rows, 'row')}{at}, {rate:,.0f}/s",
            )

        def compiling() -> None:
            bar.update(task, description="compiling kernels, once for this machine: about a minute")

        with told_of_compiling(compiling):
            yield report
