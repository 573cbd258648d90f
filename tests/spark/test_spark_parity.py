"""One stream, run embedded and on Spark, whatever the shards and the batches: the same tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from stories import Story, assert_same_tables, rows_of

from thalweg import spark as ts

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_batch_gives_the_tables_of_an_embedded_run(
    spark: Any, story: Story, embedded: dict[str, pa.Table], shards: int, way: str
) -> None:
    df = spark.createDataFrame(story.rows).repartition(3)
    found = ts.recognise(df, story.program, row="nr", shards=shards, **story.options)
    assert_same_tables(embedded, found)


def test_shards_are_the_same_in_every_stage(
    spark: Any, story: Story, embedded: dict[str, pa.Table], tmp_path: Path
) -> None:
    """One file is one partition, which no partition of a later stage may be taken for."""
    df = spark.read.parquet(str(story.write(tmp_path / "in", 1)))
    found = ts.recognise(df, story.program, row="nr", shards=3, **story.options)
    assert_same_tables(embedded, found)


def test_rows_that_share_a_number_are_rows_of_their_own(
    spark: Any, story: Story, embedded: dict[str, pa.Table], tmp_path: Path, way: str
) -> None:
    at = story.rows.column_names.index("nr")
    shared = replace(story, rows=story.rows.set_column(at, "nr", pc.bit_wise_and(story.rows["nr"], 1)))
    df = spark.read.parquet(str(shared.write(tmp_path / "in", 2)))
    given = df.withColumn("time", df.time + 0)
    found = ts.recognise(given, story.program, row="nr", shards=3, **story.options)
    columns = ["reason", "detail", "text"]
    mine, yours = (rows_of(t, columns) for t in (embedded["rejected"], found.rejected.toArrow()))
    assert mine == yours and sum(reason == "too-late" for reason, *_ in mine.elements()) > 30


@pytest.mark.parametrize(("files", "per_trigger", "shards"), [(50, 50, 1), (20, 7, 5), (8, 1, 2)])
def test_micro_batches_give_the_tables_of_an_embedded_run(
    spark: Any, story: Story, embedded: dict[str, pa.Table], tmp_path: Path, files: int, per_trigger: int, shards: int
) -> None:
    """Files as they are, which the shards read themselves."""
    sdf = read(spark, story, story.write(tmp_path / "in", files), per_trigger)
    assert_same_tables(embedded, streamed(sdf, story, tmp_path, shards))


def test_micro_batches_that_spark_has_to_compute_give_the_same_tables(
    spark: Any, story: Story, embedded: dict[str, pa.Table], tmp_path: Path, way: str
) -> None:
    sdf = read(spark, story, story.write(tmp_path / "in", 20), 7)
    assert_same_tables(embedded, streamed(sdf.withColumn("time", sdf.time + 0), story, tmp_path, 2))


def read(spark: Any, story: Story, folder: Path, per_trigger: int) -> Any:
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", per_trigger).parquet(str(folder))


def streamed(sdf: Any, story: Story, folder: Path, shards: int) -> ts.Tables:
    checkpoint = folder / "checkpoint"
    options = {"trigger": "available", "row": "nr", "shards": shards, **story.options}
    running = ts.stream(sdf, story.program, checkpoint=checkpoint, **options)
    assert running.wait()
    return running.tables
