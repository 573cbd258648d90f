"""Running a workload through the event reasoner and measuring it: CPU seconds of accepting and advancing.

CPU time of one process is what is compared; on a machine that does other things too it is steadier than the clock.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import thalweg
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Rows
from workloads.catalogue import Workload


@dataclass(frozen=True, slots=True)
class Run:
    """What one run took: CPU seconds, events, query times and rows of `changes`."""

    seconds: float
    events: int
    queries: int
    changes: int

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds


def first_and_last(rows: Sequence[Rows]) -> tuple[int, int]:
    """The first time and the last arrival of a stream."""
    full = [r for r in rows if len(r)]
    return int(min(r.time.min() for r in full)), int(max(r.arrival.max() for r in full))


def run(
    workload: Workload,
    *,
    window: int,
    step: int,
    recompute: bool = False,
    rows: Sequence[Rows] | None = None,
    skip: int = 0,
) -> Run:
    """One run over the whole stream; the first `skip` query times are not counted."""
    batch = list(rows if rows is not None else workload.rows())
    first, last = first_and_last(batch)
    program = thalweg.parse(workload.source())
    reasoner = Reasoner(program, window=window, step=step, start=first - 1, tick=workload.tick, recompute=recompute)
    started = time.process_time()
    reasoner.accept(batch)
    seconds = time.process_time() - started
    changes = queries = 0
    query = first - 1
    while query < last:
        query += step
        started = time.process_time()
        revision = reasoner.advance(query)
        if queries >= skip:
            seconds += time.process_time() - started
            changes += revision["changes"].num_rows
        queries += 1
    return Run(seconds, sum(len(r) for r in batch), queries - skip, changes)


def stored(workload: Workload, *, step: int) -> Run:
    """One run in windows that do not overlap with all rows at hand, as over files: every query time in one call."""
    batch = workload.rows()
    first, last = first_and_last(batch)
    reasoner = Reasoner(thalweg.parse(workload.source()), window=step, step=step, start=first - 1, tick=workload.tick)
    queries = -(-(last - first + 1) // step)
    started = time.process_time()
    reasoner.accept(batch)
    changes = reasoner.advance(first - 1 + queries * step)["changes"].num_rows
    return Run(time.process_time() - started, workload.events, queries, changes)


def warm(workload: Workload, **options: int) -> None:
    """Compile the kernels before anything is measured."""
    run(workload, window=options.get("window", workload.window), step=options.get("step", workload.step))
