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
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.requests import MOST_QUERIES
from thalweg.columns.compiled import owned
from thalweg.columns.pieces import whole
from thalweg.columns.wording import worded
from thalweg.io.assemble import filtered
from thalweg.io.decoding import as_text
from thalweg.io.fold import concatenate
from thalweg.io.rejects import REJECTED, Rejects, repeat
from thalweg.io.sinks import STANDING
from thalweg.io.tabular import Table, read_table, rows_as_text
from thalweg.language.rules import Kind
from thalweg.protocol import Ints, Rows
from thalweg.reasons import TOO_FAR_AHEAD
from thalweg.runs import up_to
from thalweg.spark.checkpoint import Lineage, Step, Stored, batch_name, shard_key
from thalweg.spark.files import Directory
from thalweg.spark.parcel import alone, packed, unpacked
from thalweg.spark.parquet import Files, own_rows
from thalweg.spark.places import Sources
from thalweg.spark.routing import MESSAGE, ROW, message_column
from thalweg.spark.settings import Settings, is_known
from thalweg.spark.shard import Outcome, Shard, latest_arrival

CHUNK_ROWS = 512 * 1024
"""Rows that are read together."""
_NO_NUMBER = np.int64(-(2**63))
MOST_STEPS = 40
"""Batches that are logged before the state is written anew, however small they are."""
MOST_STOPS = 100
"""Batches in a row without rows for a shard, in which only its clock moves, before the state is written anew."""
KEPT_BATCHES = 8
"""A reasoner that was not used for so many batches leaves the worker's memory."""


@dataclass(frozen=True)
class Order:
    """What to do. `state` is None for a run that keeps none; `passing`: the result is provisional and leaves no state.
    `ordered`: rows come in the order of arrival, so that the clock can follow them. `follows`: nobody has looked at the
    rows, so a shard goes as far beyond `to` as its own rows let it; `again`: it did, and others went further. `files`
    are those that every shard reads itself."""

    settings: Settings
    stage: int
    batch: int
    mark: str
    to: int
    out: Directory
    lineages: dict[str, Lineage] = field(default_factory=dict)
    state: Directory | None = None
    passing: bool = False
    ordered: bool = False
    follows: bool = False
    again: bool = False
    limit: int | None = None
    files: Files | None = None
    sources: Sources = Sources(("input",))


@dataclass(slots=True)
class Note:
    """What a shard did, for the driver. `to` is the query time it went to."""

    stage: int
    shard: int
    to: int = 0
    rows: int = 0
    unread: int = 0
    latest: int | None = None
    rejected: dict[str, int] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    revised: int = 0
    first_rejected: dict[str, Any] | None = None
    lineage: dict[str, Any] | None = None
    restored: int = 0
    seconds: float = 0.0


def run_order(order: Order, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function of `mapInArrow`."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    make_ready(order)
    yield from run_shard(order, context.partitionId(), batches)


def make_ready(order: Order) -> None:
    """Read the program of an order, where this worker sees it for the first time. A worker collects garbage after every
    task: the program, which may have a hundred thousand facts, is exempt from that."""
    if not is_known(order.settings.stages[order.stage].text):
        order.settings.stage_plan(order.stage)
        gc.collect()
        gc.freeze()


def run_shard(order: Order, shard: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run one shard; messages for others, and at last a note."""
    began = time.perf_counter()
    note = Note(order.stage, shard)
    reader = _Reader(order, shard, note)
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
    return goal if 0 < (goal - order.to) // schedule.step <= MOST_QUERIES else order.to


def message(stage: int, shard: int, kind: str, content: bytes) -> pa.RecordBatch:
    place = [pa.array([stage], pa.int32()), pa.array([shard], pa.int32())]
    return pa.record_batch([*place, pa.array([kind]), pa.array([content], pa.binary())], names=list(MESSAGE))


# --------------------------------------------------------------------------- reading


class _Reader:
    """Turns record batches into rows; what cannot be read is rejected, what is for others is passed on."""

    def __init__(self, order: Order, shard: int, note: Note) -> None:
        self.order = order
        self.settings = order.settings
        self.shard = shard
        self.note = note
        self.rejected: list[pa.Table] = []
        self.passed: list[pa.RecordBatch] = []

    def chunks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[list[Rows], int | None]]:
        """Rows in large pieces: of the stream, and of earlier stages. With each, the arrival up to which there are no
        further ones, where that is known."""
        for table in _as_they_come(batches) if self.order.state is None else _by_number(batches):
            rows = self._rows(table)
            last = latest_arrival(rows) if self.order.ordered else None
            yield rows, None if last is None else last - 1
        if self.order.files is not None:
            for table, own, complete in own_rows(self.order.files, self.settings, self.order.stage, self.shard):
                yield self._read(table, own), complete

    def _rows(self, table: pa.Table) -> list[Rows]:
        found: list[Rows] = []
        if message_column("content") in table.column_names:
            sent = table.column(message_column("kind")).is_valid()
            found = self._messages(table.filter(sent))
            table = table.filter(pc.invert(sent))
        if table.num_rows:
            found += self._read(table if self.order.state is None else _in_order(table))
        return found

    def _messages(self, table: pa.Table) -> list[Rows]:
        found: list[Rows] = []
        sent = table.select([message_column(n) for n in ("stage", "to", "kind", "content")]).to_pylist()
        for stage, to, kind, content in sorted(tuple(row.values()) for row in sent):
            if stage == self.order.stage:
                found += unpacked(content)
            else:
                self.passed.append(message(stage, to, kind, content))
        return found

    def _read(self, table: pa.Table, own: Ints | None = None) -> list[Rows]:
        """The rows of a table; `own`: which of them, where others stand between them."""
        settings = self.settings
        self.note.rows += table.num_rows if own is None else len(own)
        names = settings.header.needed(settings.shapes)
        columns = {name: _flat(table.column(name)) for name in names}
        number = pc.max_element_wise(table.column(ROW), 0).to_numpy() + self.order.sources.offset  # of null it is 0
        piece = Table(columns, number, lambda where: rows_as_text(columns, where), own)
        rejects = Rejects(settings.label)
        rows = read_table(
            piece,
            settings.header,
            settings.event,
            settings.shapes,
            settings.plan.clock,
            offset=0,
            rejected=rejects,
        )
        before = sum(map(len, rows))
        rows = up_to(rows, settings.plan.schedule.end)
        self.note.unread += before - sum(map(len, rows))
        rows, far = within(rows, self.order.limit, settings.max_ahead, self.order.sources)
        self.rejected += [rejects.table(), far]
        latest = latest_arrival(rows)
        if latest is not None:
            self.note.latest = latest if self.note.latest is None else max(latest, self.note.latest)
        return rows


def _as_they_come(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in large pieces."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size >= CHUNK_ROWS:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if size:
        yield pa.Table.from_batches(held)


def _by_number(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in large pieces that follow each other by their numbers, wherever a shuffle brings them: a batch that
    comes again is to leave the same bytes. Messages, which have no number, are in the first."""
    held = [(_numbers(batch), batch) for batch in batches if batch.num_rows]
    if not held:
        return
    numbers = np.concatenate([found for found, _ in held])
    starts = range(CHUNK_ROWS, len(numbers), CHUNK_ROWS)
    cuts = np.unique(np.partition(numbers, starts)[starts.start :: CHUNK_ROWS]) if starts else numbers[:0]
    for place in range(len(cuts) + 1):
        parts = []
        for found, batch in held:
            here = np.searchsorted(cuts, found, side="right") == place
            if here.any():
                parts.append(batch if here.all() else batch.filter(pa.array(here)))
        if parts:
            yield pa.Table.from_batches(parts)


def _in_order(table: pa.Table) -> pa.Table:
    """The rows in the order of their numbers, and those that share one in that of what they say."""
    numbers = _numbers(table)
    if (np.diff(numbers) > 0).all():
        return table
    order = np.argsort(numbers)
    if (np.diff(numbers[order]) == 0).any():
        said = [name for name in table.column_names if not pa.types.is_nested(table.schema.field(name).type)]
        order = pc.sort_indices(table, [(name, "ascending") for name in (ROW, *said)]).to_numpy()
    return table.take(pa.array(order))


def _numbers(rows: pa.RecordBatch | pa.Table) -> Ints:
    """The numbers of rows; that of messages is less than any other."""
    if ROW not in rows.schema.names:
        return np.full(rows.num_rows, _NO_NUMBER)
    return owned(pc.fill_null(rows.column(ROW), _NO_NUMBER).to_numpy(zero_copy_only=False))


def within(
    rows: list[Rows], limit: int | None, ahead: int | None, sources: Sources
) -> tuple[list[Rows], pa.Table]:
    """The rows that do not claim to come from too far in the future, and the others as rejected ones."""
    if ahead is None or limit is None:
        return rows, REJECTED.empty_table()
    kept: list[Rows] = []
    refused = [REJECTED.empty_table()]
    for part in rows:
        far = (part.arrival > limit) | (part.time > np.minimum(part.arrival, limit) + ahead)
        if not far.any():
            kept.append(part)
            continue
        source, place = sources.locate(part.row[far])
        detail = f"more than {ahead} time-points after everything known, {limit}"
        told = [source, place, repeat(TOO_FAR_AHEAD, len(place)), repeat(detail, len(place))]
        refused.append(pa.table([*told, pa.nulls(len(place), pa.string())], schema=REJECTED))
        rest = filtered(part, ~far)
        if rest is not None:
            kept.append(rest)
    return kept, pa.concat_tables(refused)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece; texts as words, which are looked for once and not for each event name."""
    flat = whole(column)
    return as_text(worded(flat) if pa.types.is_string(flat.type) else flat)


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


def staging(batch: int) -> tuple[str, ...]:
    """Where the tables of a batch lie until it is committed."""
    return "_staging", batch_name(batch)


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
        if order.state is None:
            return
        run.batch = order.batch
        identity = order.settings.identity
        self._runs[identity, order.stage, run.shard.shard] = run
        stale = [
            key
            for key, other in self._runs.items()
            if key[0] == identity and other.batch < order.batch - KEPT_BATCHES
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
