"""The engine for files of any format that an embedded run reads: Spark finds and hands out the files, the readers of
`thalweg.io` read them in its tasks.

Rows are read, told apart by shard and sent on as messages, so that they stand under the same names and numbers as in an
embedded run. Files must lie where all workers see them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thalweg.io import feed
from thalweg.io.errors import InputError
from thalweg.io.fold import concatenate
from thalweg.io.open import expand, has_format, open_sources
from thalweg.io.rejects import REJECTED
from thalweg.io.sources import Reading, Source
from thalweg.protocol import Rows
from thalweg.runs import ahead, up_to
from thalweg.spark.copies import told_apart
from thalweg.spark.engine import carried_out, woken
from thalweg.spark.files import local_part
from thalweg.spark.letters import Letter, sealed
from thalweg.spark.orders import Note, Order, message, staging
from thalweg.spark.parcel import packed
from thalweg.spark.places import Sources, numbered, offset_of
from thalweg.spark.reading import within
from thalweg.spark.routing import MESSAGE_SCHEMA, knocks
from thalweg.spark.settings import Settings
from thalweg.spark.shard import latest_arrival
from thalweg.spark.survey import Survey, reachable
from thalweg.spark.task import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEPT_SOURCES = 10_000
"""Files whose names are remembered, for causes."""
READER = -1
"""The stage of the notes of readers."""


@dataclass(frozen=True, slots=True)
class File:
    """A file, what people call it, and its number."""

    path: str
    label: str
    number: int


@dataclass(frozen=True)
class FilesEngine:
    """A batch is a list of (path, label), or a DataFrame with a column `path`; `roots` are the directories that labels
    are relative to."""

    spark: SparkSession
    roots: tuple[str, ...] = ()
    sorts = False

    def numbered(
        self, df: Any, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[list[File], Sources]:
        given = df if isinstance(df, list) else [(path, self._label(path)) for path in _paths(df)]
        labels, forgotten = (before.labels, before.forgotten) if before is not None else ((), 0)
        first = forgotten + len(labels)
        files = [File(path, label, first + i) for i, (path, label) in enumerate(given)]
        labels = (*labels, *(file.label for file in files))
        drop = max(0, len(labels) - max(KEPT_SOURCES, len(files)))
        return files, Sources(labels[drop:], forgotten + drop, several=True)

    def _label(self, path: str) -> str:
        for root in self.roots:
            if Path(path).is_relative_to(root):
                return str(Path(path).relative_to(root))
        return Path(path).name

    def survey(self, rows: list[File], settings: Settings, clock: int | None) -> Survey:
        if not rows:
            return Survey(0, None, None)
        found = self._spread(rows).mapInArrow(_surveyor(settings), "extent string").toArrow().column(0)
        extents = [json.loads(text.as_py()) for text in found]
        firsts = [extent["first"] for extent in extents if extent["first"] is not None]
        spans = sorted((low, high) for extent in extents for low, high in extent["spans"])
        size = sum(extent["size"] for extent in extents)
        return Survey(size, min(firsts, default=None), reachable(spans, clock, settings.max_ahead))

    def release(self) -> None:
        pass  # files stay where they are

    def follows(self, rows: list[File]) -> bool:
        return False

    def run(self, rows: list[File] | None, order: Order) -> list[Note]:
        if not rows:
            return woken(self.spark, order)
        read = self._spread(rows).mapInArrow(_file_reader(sealed(self.spark.sparkContext, order)), MESSAGE_SCHEMA)
        return carried_out(order, messages=knocks(self.spark, order.settings).unionByName(read))

    def _spread(self, files: list[File]) -> DataFrame:
        """The files over as many tasks as can run side by side."""
        told = [(file.path, file.label, file.number) for file in files]
        parts = min(len(files), max(1, self.spark.sparkContext.defaultParallelism))
        shares = self.spark.sparkContext.parallelize(told, parts)
        return self.spark.createDataFrame(shares, "path string, label string, number bigint")


def _paths(df: DataFrame) -> list[str]:
    """The files of a batch that hold events, in order."""
    found = {local_path(row["path"]) for row in df.select("path").collect()}
    return sorted(path for path in found if has_format(Path(path)))


def local_path(address: str) -> str:
    """The path of a file that Spark has found. Spark writes it as it is, whatever its letters."""
    path = local_part(address)
    if "://" in path:
        raise InputError(
            "input",
            f"{address} is not on a file system that workers see as a path",
            "read it with Spark and pass the DataFrame to thalweg.spark",
        )
    return path


def listed(inputs: Iterable[str]) -> list[tuple[str, str]]:
    """The files behind paths, directories and globs, with their labels, as an embedded run finds them."""
    return [(str(path.absolute()), label) for given in inputs for path, label in expand(given)]


# --------------------------------------------------------------------------- in the workers


def _opened(batches: Iterable[pa.RecordBatch], settings: Settings) -> Iterator[tuple[Source, int]]:
    reading = Reading(settings.shapes, settings.plan.clock)
    for batch in batches:
        for row in batch.to_pylist():
            for source in open_sources(row["path"], reading):
                yield replace(source, label=row["label"]), row["number"]  # type: ignore[type-var]


def _surveyor(settings: Settings) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for source, _ in _opened(batches, settings):
            chunks = source.survey().chunks
            spans = [
                (c.earliest, c.latest) for c in chunks if c.earliest is not None and c.latest is not None
            ]
            if settings.max_ahead is not None:
                spans = _spans(source, settings.max_ahead, settings.known_start)
            firsts = [c.first for c in chunks if c.first is not None]
            told = {"size": sum(c.size for c in chunks), "first": min(firsts, default=None), "spans": spans}
            yield pa.record_batch([pa.array([json.dumps(told)])], names=["extent"])

    return look


def _spans(source: Source, ahead: int, start: int | None) -> list[tuple[int, int]]:
    """Arrivals of a source after the start as stretches without larger gaps."""
    found: list[tuple[int, int]] = []
    arrivals = sorted({int(a) for chunk in source.chunks(0) for rows in chunk.rows for a in rows.arrival})
    for arrival in arrivals if start is None else [a for a in arrivals if a > start]:
        if found and arrival - found[-1][1] <= ahead:
            found[-1] = (found[-1][0], arrival)
        else:
            found.append((arrival, arrival))
    return found


def _file_reader(letter: Letter) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context, order = TaskContext.get(), letter.opened()
        assert context is not None
        yield from read_files(order, context.partitionId(), _opened(batches, order.settings))

    return read


def read_files(order: Order, reader: int, sources: Iterable[tuple[Source, int]]) -> Iterator[pa.RecordBatch]:
    """Read files: rows for the shards of every stage that reads them, and a note."""
    settings, note = order.settings, Note(READER, reader, to=order.to)
    names: set[str] = set()
    rejected = [REJECTED.empty_table()]
    for source, number in sources:
        end = settings.plan.schedule.end
        count, beyond = (None, 0) if end is None else feed.up_to(source.survey(), end)
        note.rows += beyond
        note.unread += beyond
        for chunk in islice(source.chunks(offset_of(number)), count):
            rows = up_to(chunk.rows, end)
            note.unread += sum(map(len, chunk.rows)) - sum(map(len, rows))
            rows = [numbered(part) for part in rows]
            rows, far = within(rows, order.limit, settings.max_ahead, order.sources)
            rejected += [chunk.rejected, far]
            note.rows += chunk.rejected.num_rows + sum(map(len, chunk.rows))
            note.waiting += sum(int((ahead(part) > order.to).sum()) for part in rows)
            names.update(part.name for part in rows)
            latest = latest_arrival(rows)
            if latest is not None:
                note.latest = latest if note.latest is None else max(latest, note.latest)
            found: dict[tuple[int, int], list[Rows]] = {}
            for part in rows:
                for place, own in told_apart(part, settings).items():
                    found.setdefault(place, []).append(own)
            for (stage, shard), parts in sorted(found.items()):
                yield message(stage, shard, "rows", packed(parts))
    refused = concatenate(rejected)
    counted(refused, note)
    note.names = sorted(names)
    if refused.num_rows:
        order.out.write_table(refused, *staging(order.batch), "rejected", f"part-files-{reader:05d}.parquet")
    yield message(READER, reader, "note", json.dumps(asdict(note)).encode())

