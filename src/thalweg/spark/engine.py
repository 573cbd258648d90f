"""The engine on Spark.

The stages of a batch are one Spark job. Stage after stage, rows and the messages of earlier stages are shuffled to
their shards; a shuffle ends only when all of its rows are there, so a stage starts when the one before it has gone to
the batch's query time. Only notes of what was done come back to the driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from thalweg.spark.footers import footer_survey
from thalweg.spark.places import Sources
from thalweg.spark.routing import MESSAGE_SCHEMA, first_number, knocks, numbered, shuffled
from thalweg.spark.settings import Settings
from thalweg.spark.survey import Survey, survey
from thalweg.spark.task import Note, Order, run_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SparkEngine:
    """Rows are DataFrames; `row` is the column with row numbers, where there is one."""

    spark: SparkSession
    row: str | None = None
    sorts = True
    follows = True

    def numbered(
        self, df: DataFrame, settings: Settings, batch: int, before: Sources | None
    ) -> tuple[DataFrame, Sources]:
        return numbered(df, settings, self.row), Sources(
            (settings.label,), offset=first_number(batch, self.row)
        )

    def survey(self, rows: DataFrame, settings: Settings, clock: int | None) -> Survey:
        return footer_survey(rows, settings) or survey(rows, settings, clock)

    def run(self, rows: DataFrame | None, order: Order) -> list[Note]:
        messages = knocks(self.spark, order.settings.stages[0].shards) if rows is None else None
        return carried_out(rows, messages, order)


def carried_out(rows: DataFrame | None, messages: DataFrame | None, order: Order) -> list[Note]:
    """All stages as one Spark job, from rows of the stream and messages for any stage."""
    settings = order.settings
    for stage in range(len(settings.stages)):
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
