"""What runs in a Python worker: one shard of one stage, for one batch.

The shard's reasoner is taken from the worker's memory if it is the right one, else from the state; it gets the rows,
runs the query times, writes its tables and its state, and sends a note of what it did, and rows to later stages.
"""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.compiled import Versions
from thalweg.io.fold import concatenate
from thalweg.io.rejects import REJECTED
from thalweg.io.sinks import STANDING
from thalweg.language.rules import Kind
from thalweg.protocol import Rows
from thalweg.spark.checkpoint import Lineage, Step, Stored, batch_name, shard_key
from thalweg.spark.files import Directory
from thalweg.spark.orders import Note, Order, message, staging
from thalweg.spark.parcel import alone, packed, unpacked
from thalweg.spark.reading import Reader
from thalweg.spark.settings import is_known
from thalweg.spark.shard import Outcome, Shard

MOST_STEPS = 40
"""Batches that are logged before the state is written anew, however small they are."""
MOST_STOPS = 100
"""Batches in a row without rows for a shard, in which only its clock moves, before the state is written anew."""
KEPT_BATCHES = 8
"""A reasoner that was not used for so many batches leaves the worker's memory."""
KEPT_SECONDS = 3600.0
"""And one that was not used for so long: its stream may have ended."""


def run_order(order: Order, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of `mapInArrow`."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    make_ready(order)
    yield from run_shard(order, context.partitionId(), batches)


def make_ready(order: Order) -> None:
    """Read the program of an order, where this worker sees it for the first time. A worker collects garbage after every
    task: the program, which may have a hundred thousand facts, is exempt from that, and so is what kernels that were
    compiled or read in the tasks before have left, which is more."""
    if not is_known(order.settings.stages[order.stage].text):
        order.settings.stage_plan(order.stage)
        gc.collect()
    elif Versions.at_hand == _EXEMPT.kernels:
        return
    gc.freeze()
    _EXEMPT.kernels = Versions.at_hand


@dataclass(slots=True)
class _Exempt:
    """The kernels that were at hand when a worker last exempted what it had from collecting."""

    kernels: int = 0


_EXEMPT = _Exempt()


def run_shard(order: Order, shard: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run one shard; messages for others, and at last a note."""
    began = time.perf_counter()
    note = Note(order.stage, shard)
    reader = Reader(order, shard, note)
    found = Found(order, note)
    run = _taken(order, shard, note)
    logged, before = _Log(order, run.lineage), run.shard.query_time
    for rows, complete in reader.chunks(batches):
        run.shard.accept(logged.add(rows))
        if complete is not None:
            to = min(order.to, order.settings.plan.schedule.at_or_before(complete))
            logged.stop(to)
            found.add(run.shard.advance(to))
    note.to = _goal(order, note.latest)
    found.add(run.shard.advance(note.to))
    found.reject(reader.rejected)
    found.write(shard)
    if not order.passing:
        if logged.size or run.shard.query_time > before:
            run.lineage = logged.written(run.shard, shard, note.to)
        note.lineage = asdict(run.lineage)
        _MEMORY.keep(run, order)
    note.seconds = time.perf_counter() - began
    yield from reader.passed
    yield from found.messages()
    yield message(-1, shard, "note", json.dumps(asdict(note)).encode())


def _goal(order: Order, latest: int | None) -> int:
    """The query time to go to. Where a shard follows its own rows and one of them claims to be too far away, it stays
    where it is: the driver will say so."""
    if not order.follows or latest is None:
        return order.to
    schedule = order.settings.plan.schedule
    goal = schedule.at_or_before(latest - order.settings.disorder - 1)
    return max(order.to, schedule.believed(order.to, goal))


# --------------------------------------------------------------------------- results


class Found:
    """Collects what a shard finds, and writes it."""

    def __init__(self, order: Order, note: Note) -> None:
        self.order = order
        self.note = note
        self._tables: dict[str, list[pa.Table]] = {}
        self.forwards: dict[tuple[int, int], list[Rows]] = {}
        self._standing = STANDING[Kind(order.settings.kind)]

    def add(self, outcome: Outcome) -> None:
        for name, table in outcome.tables.items():
            if name in self._standing:
                self._tables[name] = [table]
            elif table.num_rows:
                self._tables.setdefault(name, []).append(table)
        for target, rows in outcome.forwards.items():
            self.forwards.setdefault(target, []).extend(rows)

    def reject(self, rejected: list[pa.Table]) -> None:
        """The rows that could not be read come first."""
        self._tables["rejected"] = [*rejected, *self._tables.get("rejected", [])]

    def write(self, shard: int) -> None:
        for name, parts in self._tables.items():
            table = concatenate(parts) if parts else REJECTED.empty_table()
            self.note.tables[name] = table.num_rows
            if name == "rejected":
                counted(table, self.note)
            if name == "changes" and "cause" in table.column_names:
                self.note.revised = _revised(table.column("cause"))
            again = "-again" if self.order.again and name not in self._standing else ""
            place = (*staging(self.order.batch), name, f"part-{self.order.stage}-{shard:05d}{again}.parquet")
            if table.num_rows:
                self.order.out.write_table(table, *place)
            elif self.order.again and name in self._standing:
                self.order.out.delete(*place)

    def messages(self) -> Iterator[pa.RecordBatch]:
        for (stage, shard), rows in sorted(self.forwards.items()):
            yield message(stage, shard, "rows", packed(rows))


def _revised(causes: pa.ChunkedArray) -> int:
    """How many changes have a row as their cause."""
    words = [cause.as_py() for cause in pc.unique(causes)]
    if words in ([], ["time"]):
        return 0
    return int(pc.sum(pc.not_equal(causes.cast(pa.string()), "time")).as_py())


def counted(rejected: pa.Table, note: Note) -> None:
    """Note how many rows were rejected, by reason, and the first of them."""
    note.rejected = dict(sorted(Counter(rejected.column("reason").to_pylist()).items()))
    if rejected.num_rows:
        note.first_rejected = rejected.slice(0, 1).to_pylist()[0]


# --------------------------------------------------------------------------- state


class _Log:
    """The rows that a shard gets in a batch, as long as logging them is less than writing the state."""

    def __init__(self, order: Order, lineage: Lineage) -> None:
        self.order = order
        self.lineage = lineage
        self.rows: list[Rows] | None = []
        self.stops: list[tuple[int, int]] = []
        self.size = 0
        snapshot = lineage.snapshot.size if lineage.snapshot is not None else 0
        self._room = snapshot - lineage.logged
        if order.state is None or order.passing or len(lineage.steps) >= MOST_STEPS:
            self.rows = None

    def add(self, rows: list[Rows]) -> list[Rows]:
        """The rows as the log gives them back, so that whoever reads it comes to the same state byte by byte."""
        self.size += sum(len(part) * (4 + len(part.args)) for part in rows)
        if self.rows is None or self.size * 4 > self._room:
            self.rows = None
            return rows
        rows = [alone(part) for part in rows]
        self.rows.extend(rows)
        return rows

    def stop(self, to: int) -> None:
        """Note that the shard goes to a query time before it gets further rows."""
        if self.rows is not None:
            self.stops.append((len(self.rows), to))

    def written(self, shard: Shard, number: int, to: int) -> Lineage:
        """The state after the batch, which went to a query time."""
        order, lineage = self.order, self.lineage
        if order.state is None:
            return lineage
        place = ("state", shard_key(order.stage, number))
        if self.size == 0 and len(lineage.steps) < MOST_STEPS:
            steps = _went(lineage.steps, Step(order.mark, to, None, tuple(self.stops)))
            if sum(len(step.stops) for step in steps[-2:]) <= MOST_STOPS:
                return Lineage(lineage.mark, lineage.snapshot, steps)
        if self.rows:
            stored = store(order.state, (packed(self.rows),), place, order.batch, "rows")
            step = Step(order.mark, to, stored, tuple(self.stops))
            return Lineage(lineage.mark, lineage.snapshot, (*lineage.steps, step))
        stored = store(order.state, shard.snapshot(), place, order.batch, "state")
        return Lineage(order.mark, stored)


def _went(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """The steps with one more. Of many in a row without rows the last two are kept, and the query times that the others
    went to."""
    if len(steps) > 1 and steps[-1].rows is None and steps[-2].rows is None:
        before, last = steps[-2:]
        stops = (*before.stops, (0, before.to), *last.stops)
        steps = (*steps[:-2], replace(last, stops=stops))
    return (*steps, step)


def store(directory: Directory, pieces: Sequence[bytes], place: tuple[str, ...], batch: int, kind: str) -> Stored:
    """Write a file of the state. Of several attempts at a task that come to an end only one has its note read; should
    another have written other bytes, these are another file."""
    return Stored(*directory.write_checked(pieces, *place, batch_name(batch), kind=kind), sum(map(len, pieces)))


@dataclass(slots=True)
class _Run:
    """A shard's reasoner, and the state it has reached."""

    shard: Shard
    lineage: Lineage
    batch: int = 0
    used: float = 0.0


class _Memory:
    """Reasoners that stay in a worker between batches."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, int, int], _Run] = {}

    def take(self, order: Order, shard: int, marks: dict[str, int]) -> _Run | None:
        """The reasoner of the shard, if it has been at one of these marks."""
        key = (order.settings.identity, order.stage, shard)
        run = self._runs.get(key)
        if run is None or run.lineage.last not in marks:
            return None
        return self._runs.pop(key)

    def keep(self, run: _Run, order: Order) -> None:
        """Keep a reasoner, and drop those that are not used any more. One that has been nowhere yet is not kept: that
        of any other stream of the program would look the same, though it may start elsewhere."""
        if order.state is None or not run.lineage.last:
            return
        run.batch, run.used = order.batch, time.monotonic()
        identity = order.settings.identity
        self._runs[identity, order.stage, run.shard.shard] = run
        stale = [
            key
            for key, other in self._runs.items()
            if other.used < run.used - KEPT_SECONDS
            or (key[0] == identity and other.batch < order.batch - KEPT_BATCHES)
        ]
        for key in stale:
            del self._runs[key]


_MEMORY = _Memory()


def restored(order: Order, number: int) -> Shard:
    """A shard as the last commit left it."""
    return _taken(order, number, Note(order.stage, number)).shard


def _taken(order: Order, number: int, note: Note) -> _Run:
    """The shard's reasoner as the last commit left it: from memory, brought up to date where it has fallen behind, or
    from the state."""
    lineage = order.lineages.get(shard_key(order.stage, number), Lineage())
    marks = {lineage.mark: 0, **{step.mark: i + 1 for i, step in enumerate(lineage.steps)}}
    run = _MEMORY.take(order, number, marks) if lineage.last else None
    done = 0
    if run is None:
        shard = Shard(order.settings, order.stage, number, lasting=order.state is not None)
        if lineage.snapshot is not None:
            shard.restore(_stored(order, number, lineage.snapshot))
        note.restored = 1
    else:
        shard, done = run.shard, marks[run.lineage.last]
    shard.sources = order.sources  # rows of the steps that are missing may be from newer sources
    for step in lineage.steps[done:]:
        rows = [] if step.rows is None else unpacked(_stored(order, number, step.rows))
        at = 0
        for upto, to in (*step.stops, (len(rows), step.to)):
            shard.accept(rows[at:upto])
            shard.advance(to)
            at = upto
    return _Run(shard, lineage)


def _stored(order: Order, number: int, stored: Stored) -> bytes:
    assert order.state is not None
    return order.state.read_checked(stored.checksum, "state", shard_key(order.stage, number), stored.name)
