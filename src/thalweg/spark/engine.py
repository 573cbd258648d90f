"""The engine on Spark.

The stages of a batch are one Spark job. Stage after stage, rows and the messages of earlier stages are shuffled to
their shards; a shuffle ends only when all of its rows are there, so a stage starts when the one before it has gone to
the batch's query time. Rows that lie in Parquet files as they are, the shards read themselves: with one stage, Spark
then has nothing to plan. Only notes of what was done come back to the driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thalweg.spark.footers import Footers, read_footers
from thalweg.spark.landing import Landing
from thalweg.spark.letters import Letter, sealed
from thalweg.spark.orders import Note, Order, most_unsorted
from thalweg.spark.places import Sources
from thalweg.spark.routing import ARRIVAL, MESSAGE_SCHEMA, first_number, knocked, knocks, numbered, shuffled
from thalweg.spark.sessions import TRACEBACKS
from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey, earliest_arrival, survey
from thalweg.spark.task import make_ready, run_order, run_shard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Given:
    """The rows of a batch, numbered, for who asks for them, and what the footers of its files say, where it consists of
    Parquet files."""

    rows: Callable[[], DataFrame]
    footers: Footers | None


@dataclass(frozen=True)
class SparkEngine:
    """Batches are DataFrames; `row` is the column with row numbers, where there is one. `streams`: they are those of a
    stream, as `foreachBatch` gives them. `landing`: where rows are put down that are not in files as they are; None:
    Spark brings them to the shards."""

    spark: SparkSession
    row: str | None = None
    streams: bool = False
    landing: Landing | None = None
    sorts = True

    def numbered(
        self, df: DataFrame, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[Given, Sources]:
        sources = Sources((settings.label,), offset=first_number(batch, self.row))
        return self._given(df, settings), sources

    def _given(self, df: DataFrame, settings: Settings) -> Given:
        footers = read_footers(df, settings, self.row, batch_plan(self.spark) if self.streams else None)
        given = Given(partial(numbered, df, settings, self.row), footers)
        if self.landing is None or (footers is not None and footers.files is not None):
            return given
        landed = self.landing.land(given.rows(), settings)
        return given if landed is None else Given(landed.rows, landed.footers)

    def release(self) -> None:
        if self.landing is not None:
            self.landing.clear()

    def follows(self, given: Given) -> bool:
        return given.footers is None

    def survey(self, given: Given, settings: Settings, clock: int | None) -> Survey:
        return survey(given.rows(), settings, clock) if given.footers is None else given.footers.survey

    def run(self, given: Given | None, order: Order) -> list[Note]:
        files = given.footers.files if given is not None and given.footers is not None else None
        if files is not None and order.ordered and files.most_held() > most_unsorted(order.settings):
            files = None
        if given is not None and files is None:
            notes = carried_out(order, rows=given.rows())
            if notes:
                return notes  # else Spark knew that there are no rows, and ran nothing
        return woken(self.spark, replace(order, ordered=False, files=files))


def batch_plan(spark: SparkSession) -> Any:
    """What the batch of a stream under way consists of, as Spark planned it: in `foreachBatch`, the DataFrame itself
    does not say."""
    query = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    running = spark._jsparkSession.streams().get(query) if query is not None else None
    return None if running is None else running.streamingQuery().lastExecution().optimizedPlan()


def carried_out(
    order: Order,
    *,
    rows: DataFrame | None = None,
    messages: DataFrame | None = None,
    knocks: DataFrame | None = None,
) -> list[Note]:
    """All stages as one Spark job: from rows of the stream, from messages for any stage, or from a mere knock at each
    shard."""
    settings = order.settings
    for stage in range(len(settings.stages)):
        if knocks is not None and stage == 0:
            given = knocked(knocks)
        else:
            given = shuffled(rows, settings, stage, messages)
        if order.ordered and settings.header.when[0] in given.columns:
            given = given.withColumn(ARRIVAL, earliest_arrival(given, settings)).sortWithinPartitions(ARRIVAL)
        letter = sealed(given.sparkSession.sparkContext, replace(order, stage=stage))
        # Spark looks for the columns of such a function by name, and takes some names for something else
        places = given.toDF(*map(str, range(len(given.columns))))
        messages = places.mapInArrow(_shard_function(letter, tuple(given.columns)), MESSAGE_SCHEMA)
    assert messages is not None
    found = messages.where("kind = 'note'").select("content").toArrow().column(0)
    return [Note(**json.loads(content.as_py())) for content in found]


def woken(spark: SparkSession, order: Order) -> list[Note]:
    """All stages without rows from Spark: the shards read files, or only the clock moves."""
    if len(order.settings.stages) == 1 and (order.files is not None or _one_pool(spark)):
        return _alone(spark, order)
    return carried_out(order, knocks=knocks(spark, order.settings))


def _alone(spark: SparkSession, order: Order) -> list[Note]:
    """The only stage, as a job that Spark need not plan."""
    shards = order.settings.stages[0].shards
    letter = sealed(spark.sparkContext, order)

    def run(shard: int, _: Iterable[int]) -> Iterator[bytes]:
        order = letter.opened()
        make_ready(order)
        for found in run_shard(order, shard, ()):
            yield found.column("content")[0].as_py()

    found = spark.sparkContext.parallelize(range(shards), shards).mapPartitionsWithIndex(run).collect()
    return [Note(**json.loads(content)) for content in found]


def _one_pool(spark: SparkSession) -> bool:
    """True where Spark runs functions over tables and other functions in the same Python workers, so that both find the
    same reasoners there: it starts workers of their own for shortened tracebacks."""
    return spark.conf.get(TRACEBACKS) == "false"


def _shard_function(
    letter: Letter, names: tuple[str, ...]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a stage; `names` are those of its columns."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_order(letter.opened(), (batch.rename_columns(names) for batch in batches))

    return run
