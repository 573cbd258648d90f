"""A progress bar on a terminal: rows, query time, rate; or query times and how long they will still take. Nothing in a
pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from thalweg.language.wording import counted
from thalweg.runs import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

MEASURED = 3.0
"""So many seconds are measured before anybody is told how long it takes."""
FEW = 8
"""So many query times at least, unless they take too long."""
TOO_LONG = 20.0
LONG = 30.0
"""What takes longer is worth saying how to shorten it."""


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[Progress], None] | None]:
    """What to call as a run goes on; None where nothing is shown."""
    with _bar(shown=shown) as drawn:
        if drawn is None:
            yield None
            return
        bar, task = drawn

        def report(now: Progress) -> None:
            rate = now.rows / now.seconds if now.seconds else 0.0
            at = "" if now.query_time is None else f", query time {now.query_time:,}"
            bar.update(
                task,
                completed=now.rows,
                total=now.of,
                description=f"{counted(now.rows, 'row')}{at}, {rate:,.0f}/s",
            )

        yield report


@contextmanager
def query_times(
    *, shown: bool, shorter: str, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int, int], None] | None]:
    """What to call after each query time, with how many are done and how many there are; None where nothing is shown.
    Once the first ones have shown how long it will take, and that is long, it is said with what makes it `shorter`."""
    with _bar(shown=shown) as drawn:
        if drawn is None:
            yield None
            return
        bar, task = drawn
        seconds: list[float] = []
        last: float | None = None
        told = False

        def report(done: int, of: int) -> None:
            nonlocal last, told
            now = clock()
            if last is not None:  # the first one also loads kernels
                seconds.append(now - last)
            last = now
            text = f"{done:,} of {counted(of, 'query time')}"
            few = 1 if sum(seconds) > TOO_LONG else FEW
            if len(seconds) >= few and sum(seconds) >= MEASURED and done < of:
                left = remaining(seconds, of - done)
                text += f", {lasting(*left)} left"
                if not told and left[1] > LONG:
                    whole = lasting(*(sum(seconds) + some for some in left))
                    bar.console.print(f"{counted(of, 'query time')} take {whole}; {shorter}", soft_wrap=True)
                told = True
            bar.update(task, completed=done, total=of, description=text)

        yield report


def remaining(seconds: Sequence[float], steps: int) -> tuple[float, float]:
    """How long so many further steps take: as long as the latest ones each, up to how long it is when they go on
    getting slower as these did. A window that fills makes them slower for a while, a timeline that grows to the end.

    >>> remaining([9.0] * 4 + [1.0] * 4, 10), remaining([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2)
    ((10.0, 10.0), (15.0, 19.0))
    """
    recent = seconds[len(seconds) // 2 :]
    half = max(1, len(recent) // 2)
    early, late = sum(recent[:half]) / half, sum(recent[-half:]) / half
    slower = max(0.0, late - early) / max(1, len(recent) - half)
    return steps * late, steps * (late + slower * (half + steps) / 2)


def lasting(least: float, most: float) -> str:
    """A length of time, as one says it who does not know better.

    >>> lasting(42.0, 42.3), lasting(42.0, 100.0), lasting(600.0, 9000.0)
    ('about 42 seconds', '42 seconds to 2 minutes', '10 minutes to 2.5 hours')
    """
    short, long = _lasting(least), _lasting(most)
    return f"about {short}" if short == long else f"{short} to {long}"


def _lasting(seconds: float) -> str:
    if seconds < 90:
        return counted(max(1, round(seconds)), "second")
    if seconds < 90 * 60:
        return counted(round(seconds / 60), "minute")
    return f"{seconds / 3600:,.1f} hours"


@contextmanager
def _bar(*, shown: bool) -> Iterator[tuple[Bar, TaskID] | None]:
    """A bar that also says when kernels are compiled; None where nothing is shown."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    from thalweg.columns.compiled import told_of_compiling

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def compiling() -> None:
            bar.update(task, description="compiling kernels, once for this machine: about a minute")

        with told_of_compiling(compiling):
            yield bar, task
