"""What the command line needs: `thalweg run --engine spark`, over files or following a directory.

`drive` has the contract of `runs.drive`: everything found goes to the sink, and a summary comes back.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.io.fold import concatenate
from thalweg.io.order import time_column
from thalweg.io.sinks import FOLDED, STANDING
from thalweg.io.times import Duration
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Options
from thalweg.result import Summary
from thalweg.runs import Progress, Sink, Unknown, absent
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory
from thalweg.spark.files_engine import FilesEngine, listed
from thalweg.spark.gathering import as_written, by_time
from thalweg.spark.outputs import Outputs
from thalweg.spark.pipeline import BatchReport, Pipeline
from thalweg.spark.sessions import session
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.starting import quiet_py4j
from thalweg.spark.streaming import Stream, how_often, started

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def drive(
    program: Program,
    inputs: Sequence[str],
    options: Options,
    sink: Sink,
    *,
    master: str | None = None,
    shards: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Run a program over files on Spark; the tables are those of an embedded run."""
    began = time.perf_counter()
    files = listed(inputs)
    # refuses a wrong request before Spark starts
    settings_of(program, options, None, shards=1 if shards is None else shards)
    quiet_py4j()
    spark = session(master, shards=shards)
    count = shards or spark.sparkContext.defaultParallelism
    settings = settings_of(program, options, None, shards=count)
    with tempfile.TemporaryDirectory(prefix="thalweg-spark-") as place:
        outputs = Outputs(Directory(place), settings.kind, spark)
        pipeline = Pipeline(settings, outputs, FilesEngine(spark))
        report = pipeline.whole(files)
        unknown = Unknown()
        if report is not None:
            _hand_over(outputs, settings, sink, unknown)
            if progress is not None:
                seconds = time.perf_counter() - began
                progress(Progress(report.rows, report.rows, report.moment.query_time, seconds))
    summary = _summary(
        pipeline.settings, tuple(label for _, label in files), report, time.perf_counter() - began
    )
    return replace(summary, unknown=unknown.most_frequent())


def _hand_over(outputs: Outputs, settings: Settings, sink: Sink, unknown: Unknown) -> None:
    """Give the tables to the sink, each with the rows of all shards; also those that have none. Those that say how
    things stand are given as a whole, the others piece by piece; the names of rejected rows are counted."""
    place, kind = outputs.directory, Kind(settings.kind)
    folds = {target for target, _ in FOLDED[kind].values()}
    for name, schema in settings.schemas().items():
        if name not in folds:
            sink.add(name, schema.empty_table())
    for name in outputs.present():
        if name in STANDING[kind]:
            sink.add(name, concatenate([place.table(*file) for file in place.parts(name)]))
        elif name == "rejected":
            for piece in as_written(place, name):
                unknown.take(piece)
                sink.add(name, piece)
        else:
            for piece in by_time(place, name, time_column(name, kind)):
                sink.add(name, piece)
                if settings.plan.reach is not None:
                    sink.settle(settings.plan.reach)


def _summary(
    settings: Settings, sources: tuple[str, ...], report: BatchReport | None, seconds: float
) -> Summary:
    plan, kind = settings.plan, settings.program.kind
    if report is None:
        return Summary(kind, sources, 0, 0, {}, 0, 0, None, None, seconds)
    times = plan.schedule.count(report.moment.query_time)
    return Summary(
        kind=kind,
        sources=sources,
        rows=report.rows,
        accepted=report.accepted,
        rejected=report.rejected,
        unread=report.unread,
        waiting=report.waiting if kind is Kind.EVENTS else 0,
        absent=absent(plan, report.names, accepted=report.accepted, unread=report.unread),
        query_times=times,
        first_query_time=plan.schedule.start + plan.schedule.step if times else None,
        last_query_time=report.moment.query_time if times else None,
        seconds=seconds,
    )


# --------------------------------------------------------------------------- following a directory


def follow(
    program: Program,
    inputs: Sequence[str],
    options: Options,
    *,
    checkpoint: str | Path,
    out: str | Path | None = None,
    master: str | None = None,
    shards: int | None = None,
    trigger: str | None = None,
    files_per_batch: int | None = None,
    disorder: Duration = 0,
    max_ahead: Duration | None = None,
    metrics_port: int | None = None,
) -> Stream:
    """Follow directories: every file that appears in them is read once. ``trigger="available"`` takes what is there and
    ends. Files are taken by age; within a batch the rows may stand in any order."""
    roots = [Path(given).absolute() for given in inputs]
    for root in roots:
        if not root.is_dir():
            raise InputError("input", f"{root} is no directory that could be followed")
    _refuse_inside(roots, [Path(place).absolute() for place in (out, checkpoint) if place is not None])
    trigger = how_often(trigger)
    checked = Checkpoint(Directory(str(checkpoint)))
    planned = partial(settings_of, program, options, None, disorder=disorder, max_ahead=max_ahead)
    kept = checked.settings().shards if checked.begun else None
    settings = planned(shards=kept or 1 if shards is None else shards)  # refuses a wrong request before Spark starts
    if kept is not None:
        checked.begin(settings)
    quiet_py4j()
    spark = session(master, shards=shards)
    settings = planned(shards=shards or kept or spark.sparkContext.defaultParallelism)
    place = Directory(str(out)) if out is not None else Directory(f"{str(checkpoint).rstrip('/')}/tables")
    engine = FilesEngine(spark, tuple(map(str, roots)))
    running = started(settings, checked, Outputs(place, settings.kind, spark), engine, None)
    found = [_arrivals(spark, root, files_per_batch) for root in roots]
    together = found[0]
    for other in found[1:]:
        together = together.unionByName(other)
    running.begin(together, trigger=trigger, port=metrics_port, name=None)
    return running


def _refuse_inside(roots: Sequence[Path], places: Sequence[Path]) -> None:
    """Refuse to write into a directory that is followed: what is written would be read."""
    for place in places:
        root = next((root for root in roots if place.resolve().is_relative_to(root.resolve())), None)
        if root is not None:
            raise InputError(
                "out", f"{place} lies in {root}, which is followed: its files would be read", "choose another place"
            )


_FOR_EVER = "36500d"


def _arrivals(spark: SparkSession, root: Path, files_per_batch: int | None) -> DataFrame:
    """The files of a directory as they appear, however old they are; Spark does not read them."""
    schema = "path string, modificationTime timestamp, length bigint, content binary"
    reader = spark.readStream.format("binaryFile").schema(schema).option("recursiveFileLookup", "true")
    reader = reader.option("maxFileAge", _FOR_EVER)
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    return reader.load(Directory(str(root)).readable()).select("path")
