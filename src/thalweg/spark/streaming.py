"""Recognition over a streaming DataFrame: batch after batch, each exactly once.

Spark decides what is in a batch and remembers it; the checkpoint holds Spark's part and ours side by side. The clock
follows the arrival times in the data: a query time is answered when a later arrival has been seen, so it does not
matter how rows are split into batches, as long as they come in the order of arrival, give or take `disorder`.
"""

from __future__ import annotations

import math
import re
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.io.errors import InputError
from thalweg.io.times import Duration, Point
from thalweg.language.program import Program
from thalweg.plans import Options, as_program
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.engine import SparkEngine
from thalweg.spark.failures import plainly, told_plainly
from thalweg.spark.files import Directory
from thalweg.spark.files_engine import FilesEngine
from thalweg.spark.given import given_columns, refuse_foreign, told_apart
from thalweg.spark.landing import Landing
from thalweg.spark.metrics import Endpoint, Metrics, listener, metrics_of
from thalweg.spark.origin import forget
from thalweg.spark.outputs import Outputs, Sink
from thalweg.spark.pipeline import BatchReport, Pipeline
from thalweg.spark.sessions import carry_package
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.tables import Tables, refuse_hidden, refuse_sinks, tables_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

BEAT = "_thalweg_beat"
"""A column of rows that come from the clock on the wall; it is null in rows of the stream."""
AVAILABLE = "available"
_SHORT = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours"}
_INTERVAL = re.compile(r"(?:\d+\s+(?:millisecond|second|minute|hour|day)s?\s*)+")
KEPT_REPORTS = 1000
GLANCE = 0.2
"""Seconds between looks at whether a batch that is broken off has ended."""


class Stopped(RuntimeError):
    """A batch that does not begin, or does not end, because the stream is to stop."""


class Stream:
    """A running pipeline. `query` is Spark's StreamingQuery; `reports` are those of the last batches."""

    def __init__(self, pipeline: Pipeline, tables: Tables, idle: int | None) -> None:
        self.pipeline = pipeline
        self.tables = tables
        self.reports: deque[BatchReport] = deque(maxlen=KEPT_REPORTS)
        self.query: StreamingQuery
        self.endpoint: Endpoint | None = None
        self._idle = idle
        self._rate = 0.0
        self._failure: BaseException | None = None
        self._closing: threading.Thread | None = None
        self._stopping = False
        self._broken_off = False
        self._busy = threading.Lock()
        self._batch_thread: int | None = None
        """The thread of the batch that is under way."""
        self._listener: Any = None

    # ------------------------------------------------------------------ what it says

    @property
    def metrics(self) -> Metrics | None:
        """The numbers; None before the first batch."""
        last = self.pipeline.provisional or self.pipeline.last
        if last is None:
            return None
        report = self.reports[-1] if self.reports and self.reports[-1].batch == last.batch else None
        return metrics_of(last, report, self._rate)

    @property
    def active(self) -> bool:
        return self.query.isActive or (self._closing is not None and self._closing.is_alive())

    def __repr__(self) -> str:
        state = "running" if self.active else "stopped"
        return f"<thalweg stream, {state}: {self.metrics or 'no batch yet'}>"

    # ------------------------------------------------------------------ what it does

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, or so many seconds; False where the time is up before. What stopped the stream is raised
        here."""
        ended = self._ended(timeout)
        if ended and self._closing is not None:
            self._closing.join(timeout)
            ended = not self._closing.is_alive()
        if self._failure is not None:
            raise self._failure
        return bool(ended)

    def _ended(self, timeout: float | None) -> bool:
        """Wait for Spark's query. What a batch raised counts for more than what Spark says of it."""
        if timeout is not None and timeout <= 0 and self.query.isActive:
            return False
        try:
            if timeout is not None and timeout > 0:
                return bool(self.query.awaitTermination(timeout))  # type: ignore[arg-type]  # fractions will do
            self.query.awaitTermination()
        except Exception as error:
            if self._stopping and self._failure is None:
                return True
            told = self._failure or plainly(error)
            whole = isinstance(told, InputError) and told.code != "spark"
            raise told from (None if whole else error)
        return True

    def stop(self) -> None:
        """Stop after the batch that is under way. Spark would break it off, with pages about that; no other begins.
        From within a batch, in a sink, this returns at once."""
        self._stopping = True
        if self._within_a_batch():
            threading.Thread(target=self.stop, name="thalweg-stopping").start()
            return
        with self._busy:  # until that batch is done; the next one finds that it is not to begin
            pass
        self.query.stop()
        if self._closing is not None:
            self._closing.join()
        self._release()

    def _within_a_batch(self) -> bool:
        """True in the thread of a batch, or of the last query times."""
        here, closing = threading.get_ident(), self._closing
        return here == self._batch_thread or (closing is not None and closing.is_alive() and closing.ident == here)

    def break_off(self) -> None:
        """Stop at once. The batch that is under way does not count, and comes first at the next start; `stop` may be
        waiting for it in another thread."""
        self._stopping = self._broken_off = True
        jobs = self.tables.spark.sparkContext
        while not self._busy.acquire(timeout=GLANCE):  # one job of a batch may follow another
            jobs.cancelJobGroup(str(self.query.runId))
        self._busy.release()
        while self._closing is not None and self._closing.is_alive():
            jobs.cancelJobGroup(self._closing_group)
            self.query.stop()
            self._closing.join(GLANCE)
        self.stop()

    def _release(self) -> None:
        self._release_port()
        self._release_listener()

    def _release_port(self) -> None:
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            endpoint.close()

    def _release_listener(self) -> None:
        heard, self._listener = self._listener, None
        if heard is not None:
            self.tables.spark.streams.removeListener(heard)

    @property
    def _closing_group(self) -> str:
        """What Spark's jobs at the end of the input are called: its query is over then, and does not cancel them."""
        return f"thalweg-closing-{self.query.runId}"

    # ------------------------------------------------------------------ batches

    def _batch(self, df: DataFrame, batch: int) -> None:
        """The function of `foreachBatch`."""
        with self._busy:
            if self._stopping:
                raise Stopped("the stream is being stopped: this batch comes first at the next start")
            self._batch_thread = threading.get_ident()
            try:
                self._take(df, batch)
            finally:
                self._batch_thread = None

    def _take(self, df: DataFrame, batch: int) -> None:
        try:
            now = None
            if self._idle is not None:
                now, df = _beat(df)
            report = self.pipeline.batch(df, batch, now=now, idle=self._idle)
            if report is not None:
                self._forget_origin()
                self.reports.append(report)
        except BaseException as error:
            if self._broken_off:  # in few words: Spark looks for its own interruptions in all that is said
                raise Stopped("the batch was broken off: it comes first at the next start") from None
            self._failure = plainly(error)
            raise

    def _forget_origin(self) -> None:
        """After the first batch, forget what it was before the program was changed."""
        if self.pipeline.checkpoint is not None and not self.reports:
            forget(self.pipeline.checkpoint.directory)

    def begin(self, sdf: DataFrame, *, trigger: str | None, port: int | None, name: str | None) -> None:
        """Start taking batches of a streaming DataFrame."""
        checkpoint = self.pipeline.checkpoint
        assert checkpoint is not None
        checkpoint.refuse_forgotten(self.pipeline.last)
        writer = sdf.writeStream.foreachBatch(self._batch)
        writer = writer.option("checkpointLocation", checkpoint.directory.url("spark"))
        if name is not None:
            writer = writer.queryName(name)
        if trigger == AVAILABLE:
            writer = writer.trigger(availableNow=True)
        elif trigger is not None:
            writer = writer.trigger(processingTime=trigger)
        if port is not None:
            self.endpoint = Endpoint(lambda: self.metrics, port)
        try:
            self.query = writer.start()
        except BaseException:
            self._release()
            raise
        if trigger == AVAILABLE:
            self._closing = threading.Thread(target=self._close, name="thalweg-closing")
        heard = self._listener = listener(str(self.query.runId), self._hear, self._hear_end)
        self.tables.spark.streams.addListener(heard)
        over = not self.query.isActive
        for progress in self.query.recentProgress:  # of batches that were done before anybody listened
            self._hear(progress.batchId, progress.batchDuration / 1000)
        if over:
            self._hear_end()
        if self._closing is not None:
            self._closing.start()

    def _hear(self, batch: int, seconds: float) -> None:
        """Note the rate of a batch with rows. They are counted here: Spark counts only what it has read itself."""
        rows = next((report.rows for report in reversed(list(self.reports)) if report.batch == batch), 0)
        if rows and seconds:
            self._rate = rows / seconds

    def _hear_end(self) -> None:
        """Spark's query is over: nothing more is to be heard, and nothing told where no query times are to come."""
        self._release_listener()
        if self._closing is None:
            self._release_port()

    def _close(self) -> None:
        """When all that was available has been taken, run the query times that are still to come."""
        try:
            self._ended(None)
            if self._stopping:
                return
            self.tables.spark.sparkContext.setJobGroup(self._closing_group, "the last query times", True)
            report = self.pipeline.close()
            if report is not None:
                self.reports.append(report)
        except BaseException as error:
            if not self._broken_off:
                self._failure = self._failure or plainly(error)
        finally:
            self._release_port()


def _beat(df: DataFrame) -> tuple[int | None, DataFrame]:
    """The time on the wall of a batch, in microseconds, and its rows of the stream."""
    from pyspark.sql import functions as F

    now = df.where(F.col(BEAT).isNotNull()).agg(F.max(F.unix_micros(BEAT))).collect()[0][0]
    return now, df.where(F.col(BEAT).isNull()).drop(BEAT)


def _with_beats(sdf: DataFrame) -> DataFrame:
    """The stream with a row every second: Spark remembers when they came, so that a replay sees the same time."""
    from pyspark.sql import functions as F

    beats = sdf.sparkSession.readStream.format("rate").option("rowsPerSecond", 1).load()
    marked = sdf.withColumn(BEAT, F.lit(None).cast("timestamp"))
    return marked.unionByName(beats.select(F.col("timestamp").alias(BEAT)), allowMissingColumns=True)


def stream(
    sdf: DataFrame,
    program: Program | str | Path,
    *,
    checkpoint: str | Path,
    out: str | Path | None = None,
    trigger: str | timedelta | None = None,
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
    event: str | None = None,
    row: str | None = None,
    disorder: Duration = 0,
    max_ahead: Duration | None = None,
    idle_timeout: float | timedelta | None = None,
    shards: int | None = None,
    sinks: Mapping[str, Sink] | None = None,
    metrics_port: int | None = None,
    name: str | None = None,
) -> Stream:
    """Run a program over a streaming DataFrame; the options that `recognise` has mean the same here.

    - `checkpoint`: a directory that all workers see. Starting again with it goes on exactly where the last commit is.
    - `out`: where the tables are written; ``checkpoint/tables`` without it. `sinks` maps table names to functions that
      get (DataFrame, batch number) after a batch is committed, and once more after a crash.
    - `trigger`: ``"available"`` takes what there is and stops, having run the query times up to the last arrival as at
      the end of the input; ``"10 seconds"`` or a timedelta takes a batch so often; without it, a batch follows the
      other.
    - `start`: without it the stream starts before the first batch, and earlier rows in later batches are rejected.
    - `disorder`: by how much rows may come out of the order of their arrival times.
    - `max_ahead`: a row that arrives by more than this after everything known is rejected, so that one wrong clock does
      not close the windows of everybody. Of the first batch the earliest row after `start` is believed: without a
      `start`, a clock that is far behind there has all others rejected.
    - `idle_timeout`: seconds after which a silent stream's clock follows the time on the wall.
    - `metrics_port`: where Prometheus finds the numbers (0: any free port, see `endpoint.port`).
    """
    refuse_foreign(sdf)
    spark = sdf.sparkSession
    carry_package(spark)
    if not sdf.isStreaming:
        raise InputError("input", "this DataFrame is not a streaming one", "use recognise")
    often = how_often(trigger)
    idle_timeout = _seconds(idle_timeout)
    if idle_timeout is not None and often == AVAILABLE:
        raise InputError("idle_timeout", "a stream that takes what is available and stops is never idle")
    options = Options(
        window, step, start, end, tick, lateness, horizon, models, query, recompute, allow_gaps, on_error
    )
    directory = Directory(str(checkpoint))
    checked = Checkpoint(directory)
    settings = settings_of(
        as_program(program, background),
        options,
        given_columns(sdf, row),
        shards=shards
        if shards is not None
        else (checked.settings().shards if checked.begun else spark.sparkContext.defaultParallelism),
        event=event,
        disorder=disorder,
        max_ahead=max_ahead,
    )
    told_apart(sdf, settings, row)
    refuse_sinks(sinks or {}, settings)
    place = Directory(str(out)) if out is not None else Directory(f"{str(checkpoint).rstrip('/')}/tables")
    outputs = Outputs(place, settings.kind, spark, dict(sinks or {}))
    engine = SparkEngine(spark, row, streams=idle_timeout is None, landing=Landing.beside(place))
    running = started(settings, checked, outputs, engine, idle_timeout)
    given = _with_beats(sdf) if idle_timeout is not None else sdf
    running.begin(given, trigger=often, port=metrics_port, name=name)
    return running


def _seconds(given: float | timedelta | None) -> float | None:
    """A time to wait, in seconds."""
    if given is None:
        return None
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    except (TypeError, ValueError):
        raise InputError("idle_timeout", f"idle_timeout {given} is no number of seconds") from None
    if not 0 < seconds < math.inf:
        raise InputError("idle_timeout", f"idle_timeout {given} is not positive")
    return seconds


def how_often(trigger: str | timedelta | None) -> str | None:
    """A trigger as Spark writes it.

    >>> how_often("10s"), how_often("1 minute"), how_often(timedelta(seconds=2))
    ('10 seconds', '1 minute', '2000 milliseconds')
    """
    if isinstance(trigger, timedelta):
        if trigger < timedelta(milliseconds=1):
            raise InputError("trigger", f"the trigger {trigger} is not positive", "give at least a millisecond")
        return f"{trigger // timedelta(milliseconds=1)} milliseconds"
    if trigger is None or trigger == AVAILABLE or _INTERVAL.fullmatch(str(trigger)):
        return trigger
    short = re.fullmatch(r"(\d+)\s*(ms|s|m|h)", str(trigger))
    if short is None:
        raise InputError(
            "trigger", f"the trigger '{trigger}' does not say how often", f"write '10 seconds', or {AVAILABLE}"
        )
    return f"{short[1]} {_SHORT[short[2]]}"


def started(
    settings: Settings,
    checkpoint: Checkpoint,
    outputs: Outputs,
    engine: SparkEngine | FilesEngine,
    idle_timeout: float | None,
) -> Stream:
    """A pipeline that is ready for its first batch, or for the next one."""
    refuse_hidden(engine.spark, settings)
    with told_plainly():
        pipeline = Pipeline(settings, outputs, engine, checkpoint)
        tables = tables_of(engine.spark, outputs.directory, pipeline.settings, stream=True)
    return Stream(pipeline, tables, None if idle_timeout is None else int(idle_timeout * 1_000_000))
