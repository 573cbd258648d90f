"""The pipeline without Spark: batches are Arrow tables, shards run one after the other in this process.

Everything but the shuffle is the real thing, so that clocks, commits, recovery and stages can be tested fast.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.fold import concatenate
from thalweg.io.sinks import FOLDED, Memory
from thalweg.io.times import read_times
from thalweg.plans import Options, as_program
from thalweg.spark import task
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory
from thalweg.spark.keying import shards_of
from thalweg.spark.orders import Note, Order
from thalweg.spark.outputs import Outputs
from thalweg.spark.pipeline import Pipeline
from thalweg.spark.places import Sources
from thalweg.spark.routing import ARRIVAL, ROW, message_column
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.stages import first_readers
from thalweg.spark.survey import Survey, reachable
from thalweg.spark.task import run_shard

BATCH_ROWS = 50
"""Rows that come together, as Spark sends them in pieces."""


@dataclass
class InProcess:
    """An engine whose rows are Arrow tables with a column `nr` of row numbers. `forgets`: nothing stays in memory
    between batches, as if every batch ran in a new worker. `shuffles`: rows and messages come in any order."""

    forgets: bool = False
    shuffles: Random | None = None
    orders: list[Order] = field(default_factory=list)

    sorts = True

    def follows(self, rows: pa.Table) -> bool:
        return True

    def numbered(
        self, df: pa.Table, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[pa.Table, Sources]:
        names = settings.header.needed(settings.shapes)
        return df.select(list(names)).append_column(ROW, df.column("nr")), Sources((settings.label,))

    def release(self) -> None:
        pass

    def survey(self, rows: pa.Table, settings: Settings, clock: int | None) -> Survey:
        header = settings.header
        times = read_times(rows.column(header.time).combine_chunks(), settings.plan.clock).values
        told = read_times(rows.column(header.arrival or header.time).combine_chunks(), settings.plan.clock)
        arrivals = np.where(told.missing, times, told.values)
        start = settings.known_start if settings.max_ahead is not None else None
        spans = [(int(a), int(a)) for a in sorted(arrivals) if start is None or a > start]
        first = min(map(int, [*times, *arrivals]), default=None)
        return Survey(rows.num_rows, first, reachable(spans, clock, settings.max_ahead))

    def run(self, rows: pa.Table | None, order: Order) -> list[Note]:
        self.orders.append(order)
        if self.forgets:
            task._MEMORY._runs.clear()
        messages: list[dict[str, Any]] = []
        if rows is not None and order.ordered:
            rows = _sorted(rows, order.settings)
        for stage, plan in enumerate(order.settings.stages):
            sent: list[dict[str, Any]] = []
            for shard in range(plan.shards):
                mine = [m for m in messages if m["shard"] % plan.shards == shard]
                given = rows
                if self.shuffles is not None:
                    self.shuffles.shuffle(mine)
                    given = rows and rows.take(self.shuffles.sample(range(rows.num_rows), rows.num_rows))
                batches = _batches(given, mine, order.settings, stage, shard)
                for batch in run_shard(replace(order, stage=stage), shard, batches):
                    sent += batch.to_pylist()
            messages = sent
        return [Note(**json.loads(m["content"])) for m in messages if m["kind"] == "note"]


def _sorted(rows: pa.Table, settings: Settings) -> pa.Table:
    """The rows in the order in which they arrive."""
    header = settings.header
    arrival = pc.coalesce(*(rows.column(name) for name in (header.arrival, header.time) if name is not None))
    return rows.append_column(ARRIVAL, arrival).sort_by(ARRIVAL)


def _batches(
    rows: pa.Table | None, messages: list[dict[str, Any]], settings: Settings, stage: int, shard: int
) -> list[pa.RecordBatch]:
    found = []
    for message in messages:  # they come first where rows are sorted: they say no arrival
        names = {"stage": pa.int32(), "to": pa.int32(), "kind": pa.string(), "content": pa.binary()}
        told = {**message, "to": message["shard"]}
        found.append(
            pa.record_batch({message_column(n): pa.array([told[n]], kind) for n, kind in names.items()})
        )
    if rows is not None:
        read = rows.take(pa.array(_rows_for(rows, settings, stage, shard), pa.int64()))
        found += read.to_batches(max_chunksize=BATCH_ROWS)
    if len({batch.schema for batch in found}) < 2:
        return found
    return pa.concat_tables(map(pa.table, found), promote_options="default").to_batches()


def _rows_for(rows: pa.Table, settings: Settings, stage: int, shard: int) -> list[int]:
    plan, header = settings.stages[stage], settings.header
    known = {name.name for name in first_readers(settings.stages)}
    found = []
    for place, row in enumerate(rows.to_pylist()):
        name = row[header.name] if header.name else settings.event
        routes = [(key, route) for key, routes in plan.inputs.items() if key.name == name for route in routes]
        here = any(key.name == name for key in plan.inputs)
        if shard == 0 and ((name not in known and stage == 0) or (here and not routes)):
            found.append(place)
        targets = {
            target
            for key, route in routes
            for target in shards_of(
                plan.grid, route, [_constant(row, settings, key, p) for p in route.positions]
            )
        }
        if shard in targets:
            found.append(place)
    return found


def _constant(row: dict[str, Any], settings: Settings, key: Any, path: tuple[int, ...]) -> str:
    shape = settings.shapes.by_name[key.name][key.arity]
    columns = settings.header.arguments(shape) or settings.header.free
    value = row[columns[path[0]]]
    return "" if value is None else str(value)


@dataclass
class Made:
    """A pipeline in a directory, and what it has written."""

    pipeline: Pipeline
    engine: InProcess
    directory: Directory

    def tables(self) -> dict[str, pa.Table]:
        memory = Memory(self.pipeline.settings.program.kind)
        folded = {target for target, _ in FOLDED[memory.kind].values()}
        for name, schema in self.pipeline.settings.schemas().items():
            if name in folded:
                continue
            parts = [
                self.directory.table(name, batch, file)
                for batch in self.directory.names(name)
                for file in self.directory.names(name, batch)
            ]
            memory.add(name, concatenate(parts) if parts else schema.empty_table())
        return memory.tables()


def made(
    story: Any,
    directory: Path | None,
    *,
    shards: int = 2,
    out: Path,
    forgets: bool = False,
    shuffles: Random | None = None,
    sinks: dict[str, Any] | None = None,
    **more: Any,
) -> Made:
    """A pipeline for the story, with a checkpoint where a directory is given."""
    extra = {name: more.pop(name) for name in ("disorder", "max_ahead") if name in more}
    options = Options(**{**story.options, **more})
    columns = [name for name in story.rows.column_names if name != "nr"]
    settings = settings_of(as_program(story.program), options, columns, shards=shards, **extra)
    place = Directory(str(out))
    engine = InProcess(forgets, shuffles)
    checkpoint = Checkpoint(Directory(str(directory))) if directory is not None else None
    outputs = Outputs(place, settings.kind, None, sinks or {})
    return Made(Pipeline(settings, outputs, engine, checkpoint), engine, place)


def pieces(rows: pa.Table, count: int) -> list[pa.Table]:
    """The rows in so many batches at most, in their order; none is empty."""
    size = -(-rows.num_rows // count)
    return [rows.slice(first, size) for first in range(0, rows.num_rows, size)]
