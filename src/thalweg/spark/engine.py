"""The engine on Spark.

The stages of a batch are one Spark job. Stage after stage, rows and the messages of earlier stages are shuffled to
their shards; a shuffle ends only when all of its rows are there, so a stage starts when the one before it has gone to
the batch's query time. Rows that lie in Parquet files as they are, the shards read themselves. Only notes of what was
done come back to the driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thalweg.spark.footers import Footers, read_footers
from thalweg.spark.places import Sources
from thalweg.spark.routing import MESSAGE_SCHEMA, first_number, knocked, knocks, numbered, shuffled
from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey, survey
from thalweg.spark.task import Note, Order, run_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Given:
    """The rows of a batch, numbered, and what the footers of its files say, where it consists of Parquet files."""

    rows: DataFrame
    footers: Footers | None


@dataclass(frozen=True)
class SparkEngine:
    """Batches are DataFrames; `row` is the column with row numbers, where there is one. `streams`: they are those of a
    stream, as `foreachBatch` gives them."""

    spark: SparkSession
    row: str | None = None
    streams: bool = False
    sorts = True

    def numbered(
        self, df: DataFrame, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[Given, Sources]:
        footers = read_footers(df, settings, self.row, batch_plan(self.spark) if self.streams else None)
        rows = numbered(df, settings, self.row)
        return Given(rows, footers), Sources((settings.label,), offset=first_number(batch, self.row))

    def follows(self, given: Given) -> bool:
        return given.footers is None

    def survey(self, given: Given, settings: Settings, clock: int | None) -> Survey:
        return survey(given.rows, settings, clock) if given.footers is None else given.footers.survey

    def run(self, given: Given | None, order: Order) -> list[Note]:
        files = given.footers.files if given is not None and given.footers is not None else None
        if given is not None and files is None:
            notes = carried_out(order, rows=given.rows)
            if notes:
                return notes  # else Spark knew that there are no rows, and ran nothing
        return carried_out(replace(order, ordered=False, files=files), knocks=knocks(self.spark, order.settings))


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
        if order.ordered:
            given = given.sortWithinPartitions(_arrival(settings))
        messages = given.mapInArrow(_shard_function(replace(order, stage=stage)), MESSAGE_SCHEMA)
    assert messages is not None
    found = messages.where("kind = 'note'").select("content").toArrow().column(0)
    return [Note(**json.loads(content.as_py())) for content in found]


def _arrival(settings: Settings) -> str:
    header = settings.header
    return f"`{header.arrival or header.time or header.start}`"


def _shard_function(order: Order) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_order(order, batches)

    return run
