"""Running a program over stored input: read, reason, collect.

The driver hands chunks of rows to a reasoner and moves its clock to the largest query time that no row to
come can touch. What the reasoner says goes to a sink: tables in memory (`run`, the Python face) or files (the
command line).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.requests import MOST_QUERIES
from thalweg.io.assemble import filtered
from thalweg.io.errors import InputError
from thalweg.io.feed import NEVER
from thalweg.io.fold import concatenate
from thalweg.io.open import open_sources
from thalweg.io.rejects import REJECTED
from thalweg.io.shapes import name_in, shapes
from thalweg.io.sinks import Memory
from thalweg.io.sources import Reading
from thalweg.io.times import Duration, Point
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Options, Plan, as_program, clock_of, prepare
from thalweg.protocol import Ints, Reasoner, Rows
from thalweg.reasons import UNKNOWN_NAME
from thalweg.result import TOLD, Origin, Result, Summary, kind_of


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    rows: int
    of: int
    query_time: int | None
    seconds: float


class Sink(Protocol):
    """Where the tables of a run go."""

    def add(self, name: str, table: pa.Table) -> None:
        """Rows of one of the tables."""

    def settle(self, reach: int) -> None:
        """What lies so far before the last query time, or farther, is final."""


MANY_ROWS = 500_000
"""Rows of tables that are better handed on than kept while the next ones are made."""


class RowRejected(InputError):
    """A bad row, where the run was told to stop at the first."""


# --------------------------------------------------------------------------- driving


class Unknown:
    """The names that rows were rejected for, and how often. Where there are very many, they are no names, and only the
    first ones are counted."""

    MOST = 10_000

    def __init__(self) -> None:
        self._details: Counter[str] = Counter()

    def take(self, rejected: pa.Table) -> None:
        """Count the rows of a table of rejected ones."""
        details = rejected.filter(pc.equal(rejected.column("reason").cast(pa.string()), UNKNOWN_NAME)).column("detail")
        for found in pc.value_counts(details.combine_chunks()).to_pylist():
            if found["values"] in self._details or len(self._details) < self.MOST:
                self._details[found["values"]] += found["counts"]

    def most_frequent(self) -> dict[str, int]:
        """A few of them, the most frequent ones first."""
        names: Counter[str] = Counter()
        for detail, number in self._details.items():
            names[name_in(detail)] += number
        return dict(sorted(names.items(), key=lambda item: (-item[1], item[0]))[:TOLD])


@dataclass(slots=True)
class _Count:
    """What a run has seen so far."""

    places: int = 0
    rows: int = 0
    accepted: int = 0
    dropped: int = 0
    stopped: bool = False
    latest: int | None = None
    query_time: int | None = None
    rejected: Counter[str] = field(default_factory=Counter)
    unknown: Unknown = field(default_factory=Unknown)
    names: set[str] = field(default_factory=set)
    """Of which rows were accepted."""
    stride: int = 1
    """How many query times are run in one go."""
    ahead: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """The times of rows that have arrived and may not be due at the last query time."""

    def await_rows(self, rows: Sequence[Rows]) -> None:
        """Note the rows that arrive before their time."""
        self.ahead = np.concatenate([self.ahead, *map(ahead, rows)])
        if self.query_time is not None:
            self.ahead = self.ahead[self.ahead > self.query_time]

    def waiting(self) -> int:
        """How many rows are about times after the last query time."""
        return 0 if self.query_time is None else int((self.ahead > self.query_time).sum())

    def found(self, rows: int) -> None:
        """So many rows came of the last query times: few are cheaper together, many one query time after the other."""
        if rows > MANY_ROWS:
            self.stride = max(1, self.stride // 2)
        elif rows < MANY_ROWS // 2:
            self.stride = min(2 * self.stride, MOST_QUERIES)


def drive(plan: Plan, sink: Sink, progress: Callable[[Progress], None] | None = None) -> Summary:
    """Run to the end of the input (or to the plan's end); everything found goes to the sink."""
    began = plan.began
    reasoner = plan.make()
    count = _Count()
    end = plan.schedule.end
    count.stopped = end is not None and plan.feed.begins > end
    for chunk, next_arrival in () if count.stopped else plan.feed:
        count.places += chunk.size
        count.rows += chunk.rejected.num_rows + sum(map(len, chunk.rows))
        _stop_at_the_first(plan, chunk.rejected)
        _reject(sink, chunk.rejected, count)
        rows = up_to(chunk.rows, end)
        if plan.program.kind is Kind.EVENTS:
            count.await_rows(rows)
        count.dropped += sum(map(len, chunk.rows)) - sum(map(len, rows))
        if rows:
            reasoner.accept(rows)
            count.accepted += sum(map(len, rows))
            count.names.update(part.name for part in rows)
            latest = max(int(part.arrival.max()) for part in rows)
            count.latest = latest if count.latest is None else max(latest, count.latest)
        if next_arrival != NEVER:
            _advance(plan, reasoner, sink, plan.schedule.at_or_before(next_arrival - 1), count)
        if progress is not None:
            progress(Progress(count.places, plan.feed.size, count.query_time, time.perf_counter() - began))
        if end is not None and next_arrival > end:
            count.stopped = True
            break
    last = end if end is not None else count.latest
    if last is not None:
        _advance(plan, reasoner, sink, plan.schedule.at_or_after(last), count)
    return _summary(plan, count, time.perf_counter() - began)


def ahead(rows: Rows) -> Ints:
    """The times of rows that arrive before their time."""
    found: Ints = rows.time[(rows.time > rows.arrival) & (rows.op > 0)]
    return found


def up_to(rows: Sequence[Rows], end: int | None) -> list[Rows]:
    """The rows that arrive no later than the end."""
    if end is None or all(int(part.arrival.max()) <= end for part in rows):
        return list(rows)
    return [kept for part in rows if (kept := filtered(part, part.arrival <= end)) is not None]


def _advance(plan: Plan, reasoner: Reasoner, sink: Sink, to: int, count: _Count) -> None:
    now = plan.schedule.start if count.query_time is None else count.query_time
    if to <= now:
        return
    advice = "is that time right? choose --start and --end, or a larger step"
    plan.schedule.refuse_too_many(now, to, advice)
    while now < to:
        now = min(to, now + count.stride * plan.schedule.step) if plan.program.kind is Kind.EVENTS else to
        revision = reasoner.advance(now)
        count.query_time = now
        for name, table in revision.tables.items():
            if name == "rejected":
                _reject(sink, plan.feed.rejected(table), count)
            else:
                sink.add(name, plan.feed.with_causes(table))
        if plan.reach is not None:
            sink.settle(plan.reach)
        count.found(sum(table.num_rows for table in revision.tables.values()))


def _stop_at_the_first(plan: Plan, rejected: pa.Table) -> None:
    """Where the run was told so, a row that cannot be read ends it; late rows are no such rows."""
    if plan.on_error == "stop" and rejected.num_rows:
        first = rejected.slice(0, 1).to_pylist()[0]
        place = f"{first['source']}:{first['row']}"
        raise RowRejected(first["reason"], f"{place}: {first['detail']}", f"the row is: {first['text']}")


def _reject(sink: Sink, rejected: pa.Table, count: _Count) -> None:
    if not rejected.num_rows:
        return
    for found in pc.value_counts(rejected.column("reason")).to_pylist():
        count.rejected[found["values"]] += found["counts"]
    count.unknown.take(rejected)
    sink.add("rejected", rejected)


def absent(plan: Plan, found: Collection[str], *, accepted: int, unread: int) -> tuple[str, ...]:
    """The names that the rules read and of which no row was accepted: some may be misspelt in the rules. None where
    there were no rows at all, or further ones that might have them."""
    return tuple(name for name in plan.inputs if name not in found) if accepted and not unread else ()


def _summary(plan: Plan, count: _Count, seconds: float) -> Summary:
    beyond = plan.feed.size - count.places if count.stopped else 0
    unread = count.dropped + beyond
    times = 0 if count.query_time is None else plan.schedule.count(count.query_time)
    return Summary(
        kind=plan.program.kind,
        sources=tuple(source.label for source in plan.feed.sources),
        rows=count.rows + beyond,
        accepted=count.accepted,
        rejected=dict(count.rejected),
        unknown=count.unknown.most_frequent(),
        unread=unread,
        waiting=count.waiting(),
        absent=absent(plan, count.names, accepted=count.accepted, unread=unread),
        query_times=times,
        first_query_time=plan.schedule.start + plan.schedule.step if times else None,
        last_query_time=count.query_time,
        seconds=seconds,
    )


def rows(
    program: Program | str | Path, events: Any, *, tick: Duration | None = None, first: int = 1
) -> tuple[list[Rows], pa.Table]:
    """Events as a reasoner's `accept` takes them, and the table of those that were rejected.

    For online use: events are anything that `run` takes, and their rows are numbered from `first` on.

    >>> program = as_program("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    >>> batch, rejected = rows(program, [{"name": "press", "time": 3, "x": "lamp"}])
    >>> batch[0].name, batch[0].time.tolist(), rejected.num_rows
    ('press', [3], 0)
    """
    program = as_program(program)
    clock = clock_of(program, tick)
    found: list[Rows] = []
    rejected = [REJECTED.empty_table()]
    offset = first - 1
    for source in open_sources(events, Reading(shapes(program), clock)):
        for chunk in source.chunks(offset):
            found += chunk.rows
            rejected.append(chunk.rejected)
            offset += chunk.size
    return found, concatenate(rejected)


def run(
    program: Program | str | Path,
    events: Any,
    *,
    window: Duration | None = None,
    step: Duration | None = None,
    start: Point | None = None,
    end: Point | None = None,
    tick: Duration | None = None,
    background: Sequence[str | Path] | str | Path = (),
    lateness: Duration | None = None,
    horizon: Duration | None = None,
    models: int | str | None = None,
    query: str | None = None,
    recompute: bool = False,
    allow_gaps: bool = False,
    on_error: str = "reject",
    labels: bool = False,
) -> Result:
    """Run a program over events and return what it found.

    The program is a `Program`, a path or a text. Events are a path, directory or glob, a table (pandas,
    Polars, Arrow, a DuckDB relation, anything with the Arrow C stream interface), a list of rows as dictionaries, a
    mapping from event names to such tables or paths, or a sequence of these. Tables come back in the kind they were
    given.

    An event description needs a `window` (how far back each query looks) and a `step` (how often there is one), as
    numbers of time-points, texts like ``"4h"`` or timedeltas; the other kinds of program may have a `lateness`.
    Rows that arrive at or before `start` are rejected, those that arrive after `end` are not read.

    >>> rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    >>> result = run(rules, [{"name": "press", "time": 3, "x": "lamp"}], window=10, step=10)
    >>> result["timeline"].to_pylist()
    [{'fluent': 'on(lamp)', 'value': 'true', 'start': 4, 'end': None}]
    """
    options = Options.among(locals())
    plan = prepare(as_program(program, background), events, options)
    memory = Memory(plan.program.kind)
    summary = drive(plan, memory)
    return Result(plan.program, memory.tables(), summary, kind_of(events), Origin(events, options))
